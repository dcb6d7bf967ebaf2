"""Ownership of what is loaded or run: nobody but this user and root may be able to change it."""

import grp
import os
import pwd
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

from .errors import FlashtrainError

_ROOT = 0
_ALL_USERS = ["0", "0", "4294967295"]
"""`/proc/self/uid_map` outside of user namespaces: first user inside, first outside, count."""


_ANOTHER = "name a folder of your own (--cache-dir; for temporary files TMPDIR)"


class ForeignFile(FlashtrainError):
    """Another user could change what would be loaded.

    The message names the file, its owner, its mode and the cure.
    """


def require_own(path: Path) -> None:
    """Raise `ForeignFile` if anyone but this user and root can change what the resolved `path` names.

    Each folder on the way counts. Whoever can write to a folder can replace all that is in it, unless the
    sticky bit keeps entries of other owners. After the check nobody else can redirect the path.
    """
    require_own_file(path, path.lstat())
    for folder in path.parents:
        status = folder.lstat()
        if not (_is_trusted(status) or (status.st_mode & stat.S_ISVTX and _has_trusted_owner(status))):
            raise ForeignFile(f"{_refusal(folder, status)}; {path} lies in it: {_ANOTHER}")


def require_own_file(path: Path, status: os.stat_result) -> None:
    """Raise `ForeignFile` unless the file or folder at `path`, of this `status`, is this user's or root's.

    The status of a file that is read comes from its descriptor.
    """
    if not _is_trusted(status):
        raise ForeignFile(f"{_refusal(path, status)}: delete it, or {_ANOTHER}")


def users_caches() -> Path | None:
    """The folder that XDG names for the caches of this user; its last parts may be absent.

    None for a user who cannot write there, such as a service, or where others can.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")  # the specification has relative ones ignored
    folder = Path(named if os.path.isabs(named) else os.path.expanduser("~/.cache"))
    if not folder.is_absolute():  # the user has no home
        return None
    existing = Path(os.path.realpath(next(p for p in (folder, *folder.parents) if os.path.exists(p))))
    try:
        require_own(existing)
    except ForeignFile:
        return None
    return folder if os.access(existing, os.W_OK) else None


def make_private(folder: Path) -> None:
    """Make `folder` and the absent folders above it, all of them for this user only."""
    for absent in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
        absent.mkdir(0o700, exist_ok=True)


def withdraw_write(folder: Path) -> None:
    """Take the right to write from group and others, for all that is in `folder`: an umask may grant it."""
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(status.st_mode):
            path.chmod(stat.S_IMODE(status.st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))


def _is_trusted(status: os.stat_result) -> bool:
    writable = status.st_mode & stat.S_IWOTH or (
        status.st_mode & stat.S_IWGRP and not _is_private_group(status.st_gid, status.st_uid)
    )
    return _has_trusted_owner(status) and not writable


def _has_trusted_owner(status: os.stat_result) -> bool:
    return status.st_uid in (_ROOT, os.geteuid(), _root_outside())


@cache
def _root_outside() -> int:
    """The user who stands for root of the machine in a namespace without that root; else root."""
    if Path("/proc/self/uid_map").read_text(encoding="utf-8").split() == _ALL_USERS:
        return _ROOT
    return int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="utf-8"))


@cache
def _is_private_group(group: int, owner: int) -> bool:
    """Whether a group has its owner alone, as distributions make one for each user (`USERGROUPS_ENAB`).

    Others can be listed with the group, or have it as their first one.
    """
    try:
        name, found = pwd.getpwuid(owner).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    others = any(user.pw_gid == group and user.pw_uid != owner for user in pwd.getpwall())
    return found.gr_name == name and set(found.gr_mem) <= {name} and not others


def _refusal(path: Path, status: os.stat_result) -> str:
    owner = f"user {status.st_uid}"
    with suppress(KeyError):
        owner = f"{pwd.getpwuid(status.st_uid).pw_name} ({owner})"
    return (
        f"{path} belongs to {owner} and has mode {stat.S_IMODE(status.st_mode):04o}, but what is loaded and"
        " run must be yours or root's, and nobody else may write to it"
    )
