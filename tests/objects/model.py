"""Random changes of objects, and a dictionary that says what is there after each."""

import random
from collections.abc import Callable

from flashtrain.objects.filesystem import FlashFileSystem

Objects = dict[str, bytes]


class Change:
    """A change: what it does to a file system, and to a dictionary."""

    def __init__(self, text: str, run: Callable[[FlashFileSystem], None], after: Objects) -> None:
        self.text = text
        self.run = run
        self.after = after


def random_change(rng: random.Random, before: Objects, most_bytes: int) -> Change:
    """A change that succeeds, as far as there is room."""
    after = dict(before)
    path, other = (f"objects/{rng.choice('abc')}/{rng.randrange(4)}" for _ in range(2))
    data = rng.randbytes(rng.choice([0, 1, 511, 512, 513, rng.randrange(most_bytes)]))
    kind = rng.choice(["write", "write", "write", "remove", "rename", "copy", "transaction", "folder"])
    if kind == "write":
        after[path] = data

        def write(fs: FlashFileSystem) -> None:
            with fs.open(path, "wb", block_size=4096) as file:
                for start in range(0, len(data), 3000):
                    file.write(data[start : start + 3000])

        return Change(f"write {len(data)} to {path}", write, after)
    if kind == "transaction":
        values = {path: data, other: data[: len(data) // 2]}
        after.update(values)
        return Change(f"pipe {list(values)}", lambda fs: fs.pipe(values), after)
    if kind == "folder":
        folder = "objects/" + rng.choice("abc")
        for one in before:
            if one.startswith(folder + "/"):
                after["objects/d" + one.removeprefix(folder)] = after.pop(one)
        if after != before:
            return Change(f"move {folder}", lambda fs: move(fs, folder), after)
    if path in before and kind != "folder":
        if kind == "remove":
            del after[path]
            return Change(f"remove {path}", lambda fs: fs.rm(path), after)
        after[other] = before[path]
        if kind == "copy":
            return Change(f"copy {path} to {other}", lambda fs: fs.cp_file(path, other), after)
        if other != path:
            del after[path]
        return Change(f"rename {path} to {other}", lambda fs: fs.mv(path, other), after)
    removed = sorted(before)[: len(before) // 2]
    for one in removed:
        del after[one]
    return Change(f"remove {removed}", lambda fs: fs.rm(removed) if removed else None, after)


def move(fs: FlashFileSystem, folder: str) -> None:
    """Move what is in a folder to another one, where it replaces what is there."""
    paths = fs.find(folder)
    fs.mv(paths, ["objects/d" + path.removeprefix(folder) for path in paths])


def content(fs: FlashFileSystem) -> Objects:
    """All objects with their bytes."""
    return {path: fs.cat_file(path) for path in fs.find("objects")}
