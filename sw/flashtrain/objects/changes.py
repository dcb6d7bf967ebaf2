"""Changes of names that need no data: folders, deletions, renames and copies.

Each function has the names of this moment and gives the new entries; None: the name is gone.
"""

import errno
import os
import time
from collections.abc import Sequence

from .state import Entry, State
from .tree import Tree, exists_already, is_folder, missing
from .url import check_object, parent_of

Entries = dict[str, Entry | None]


def make_folder(path: str, state: State, tree: Tree, parents: bool, exist_ok: bool) -> Entries:
    if tree.folder(path) and exist_ok:
        return {}
    if tree.folder(path) or path in state.entries:
        raise exists_already(path)
    if not parents and not tree.folder(parent_of(path)):
        raise missing(parent_of(path))
    tree.check_new(check_object(path))
    now = time.time()
    return {path: Entry(state.following, None, now, now)}


def remove_folder(path: str, state: State, tree: Tree) -> Entries:
    if tree.inside(path):
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
    if path not in state.entries:
        raise PermissionError(errno.EACCES, "a stream belongs to the node and stays", path)
    return {path: None}


def remove_object(path: str, tree: Tree) -> Entries:
    tree.find(path)
    return {path: None}


def remove_all(paths: Sequence[str], state: State, tree: Tree, folders: bool) -> Entries:
    for path in paths:
        if tree.folder(path) and not folders:
            raise is_folder(path)
        if not tree.folder(path) and path not in state.entries:
            raise missing(path)
    return {path: None for path in paths if path in state.entries}


def copy(old: str, new: str, state: State, tree: Tree) -> Entries:
    """An object of the same data, or a folder like another one."""
    if tree.folder(old):
        return make_folder(new, state, tree, parents=True, exist_ok=True)
    entry, now = tree.find(old), time.time()
    _check_target(new, tree)
    return {new: entry._replace(number=state.following, created=now, modified=now)}


def rename(pairs: Sequence[tuple[str, str]], state: State, tree: Tree, folders: bool) -> Entries:
    """Other names for objects and folders."""
    entries: Entries = {}
    for old, new in pairs:
        if tree.folder(old) and not folders:
            raise is_folder(old)
        if not tree.folder(old) and old not in state.entries:
            raise missing(old)
        if tree.folder(old) and new.startswith(old + "/"):
            raise OSError(errno.EINVAL, "a folder cannot move into itself", old)
        if old in state.entries and old != new:
            entries[old] = None
    for old, new in pairs:
        entry = state.entries.get(old)
        if entry is not None and entry.size is not None:
            _check_target(new, tree)
        if entry is not None and old != new and not (entry.size is None and tree.folder(new)):
            tree.check_new(check_object(new))
            entries[new] = entry
    return entries


def touch(path: str, tree: Tree) -> Entries:
    return {path: tree.find(path)._replace(modified=time.time())}


def _check_target(path: str, tree: Tree) -> None:
    if tree.folder(path):
        raise is_folder(path)
    tree.check_new(check_object(path))
