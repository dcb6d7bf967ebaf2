"""`FlashFileSystem`: streams behind NVMe over TCP as a file system of fsspec."""

import weakref
from datetime import UTC, datetime
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.core import has_magic
from fsspec.implementations.local import trailing_sep
from fsspec.utils import other_paths, stringify_path

from flashtrain.nvme.client.host import DEFAULT_HOST as DEFAULT_HOST_NQN
from flashtrain.spec.streams import NAMES

from . import changes
from .files import WRITE_BYTES, ObjectReader, ObjectWriter
from .read import StoredObject
from .session import DEFAULT_NQN, Target
from .state import State
from .store import Store
from .transaction import ObjectTransaction
from .tree import missing
from .url import DEFAULT_HOST, DEFAULT_PORT, PROTOCOL, Address, path_of

_ABSENT = (FileNotFoundError, NotADirectoryError)


def _omit_absent(error: OSError) -> None:
    if not isinstance(error, _ABSENT):
        raise error


class FlashFileSystem(AbstractFileSystem):
    """Objects in streams. `flash://host:port/stream/object` is the URL of one.

    Each operation sees what all clients have done before it. Each change is whole or not at all, as it is one
    record in the stream of names.

    Parameters
    ----------
    host, port: where the target listens.
    nqn, host_nqn: names of the subsystem and of this host.
    dhchap_secret: the secret of the host, as `nvme gen-dhchap-key` prints it. A target that does not demand
        its proof is refused.
    names: the stream that keeps the names.
    timeout: seconds without an answer after which the target counts as dead.
    lease: seconds without a sign of life after which a client loses the zones it writes to. It must be the
        same for all clients of a target.
    """

    protocol = PROTOCOL
    root_marker = ""
    transaction_type = ObjectTransaction

    def __init__(
        self,
        host: str = DEFAULT_HOST,
        port: int = DEFAULT_PORT,
        nqn: str = DEFAULT_NQN,
        host_nqn: str = DEFAULT_HOST_NQN,
        dhchap_secret: str | None = None,
        names: str = NAMES,
        timeout: float = 60.0,
        lease: float = 60.0,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.address = Address(host, int(port))
        target = Target(self.address, nqn, host_nqn, dhchap_secret, timeout, lease)
        self.store = Store(target, names)
        self._ended = weakref.finalize(self, self.store.close)

    def close(self) -> None:
        """End the connection; the next operation opens another one."""
        self.store.close()

    # Paths.

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return path_of(stringify_path(path))

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        return Address.of(path)._asdict() if path.startswith(PROTOCOL + "://") else {}

    def unstrip_protocol(self, name: str) -> str:
        return f"{self.address}/{self._strip_protocol(name)}"

    @property
    def fsid(self) -> str:
        return str(self.address)

    # Look.

    def ls(self, path: Any, detail: bool = True, **options: Any) -> list[Any]:
        path = self._strip_protocol(path)
        with self.store.lock:
            tree, state = self.store.tree(), self.store.names.state
            entry = state.entries.get(path)
            paths = [path] if entry is not None and entry.size is not None else tree.inside(path)
            return [self._info(one, state) for one in paths] if detail else paths

    def info(self, path: Any, **options: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        with self.store.lock:
            tree, state = self.store.tree(), self.store.names.state
            if not tree.folder(path) and path not in state.entries:
                raise missing(path)
            return self._info(path, state)

    def _info(self, path: str, state: State) -> dict[str, Any]:
        entry = state.entries.get(path)
        found: dict[str, Any] = {"name": path, "size": 0, "type": "directory"}
        if entry is not None:
            found.update(created=entry.created, modified=entry.modified)
            if entry.size is not None:
                found.update(size=entry.size, type="file", number=entry.number)
        return found

    def walk(
        self,
        path: Any,
        maxdepth: int | None = None,
        topdown: bool = True,
        on_error: Any = "omit",
        **options: Any,
    ) -> Any:
        """As of fsspec, which however takes a folder that cannot be listed for an empty one."""
        if on_error == "omit":
            on_error = _omit_absent
        return super().walk(path, maxdepth, topdown, on_error, **options)

    def exists(self, path: Any, **options: Any) -> bool:
        return self._type(path) != ""

    def isdir(self, path: Any) -> bool:
        return self._type(path) == "directory"

    def isfile(self, path: Any) -> bool:
        return self._type(path) == "file"

    def _type(self, path: Any) -> str:
        """The type of a path. fsspec itself takes a dead server for a path that does not exist."""
        try:
            return self.info(path)["type"]
        except _ABSENT:
            return ""

    def created(self, path: Any) -> Any:
        return self._time(path, "created")

    def modified(self, path: Any) -> Any:
        return self._time(path, "modified")

    def _time(self, path: Any, which: str) -> Any:
        return datetime.fromtimestamp(self.info(path).get(which, 0.0), UTC)

    # Data.

    def _open(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        path: Any,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> ObjectReader | ObjectWriter:
        path = self._strip_protocol(path)
        if mode == "rb":
            stored = StoredObject(self.store, path)
            return ObjectReader(self, stored, block_size=block_size, cache_options=cache_options, **options)
        if mode in ("wb", "xb"):
            batch = block_size or WRITE_BYTES
            return ObjectWriter(self, self.store, path, mode == "xb", autocommit, batch)
        raise ValueError(f"{path}: mode {mode!r}; an object is read or written whole: expected rb, wb or xb")

    def cat_file(self, path: Any, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        stored = StoredObject(self.store, self._strip_protocol(path))
        first, last, _ = slice(start, end).indices(stored.size)
        return stored.read(first, last)

    def pipe_file(self, path: Any, value: Any, mode: str = "overwrite", **options: Any) -> None:
        opened: Any = self.open(path, "xb" if mode == "create" else "wb", **options)
        with opened as file:
            file.write(value)

    def pipe(self, path: Any, value: Any = None, **options: Any) -> None:
        """Store bytes, or the values of a dictionary by path in one change."""
        if isinstance(path, dict) and len(path) > 1 and not self._intrans:
            with self.transaction:
                super().pipe(path, **options)
        else:
            super().pipe(path, value, **options)

    # Names.

    def mkdir(self, path: Any, create_parents: bool = True, **options: Any) -> None:
        self._make_folder(path, create_parents, exist_ok=False)

    def makedirs(self, path: Any, exist_ok: bool = False) -> None:
        self._make_folder(path, True, exist_ok)

    def _make_folder(self, path: Any, parents: bool, exist_ok: bool) -> None:
        path = self._strip_protocol(path)
        if path:
            self.store.stream(path)
        self.store.change(lambda state, tree: changes.make_folder(path, state, tree, parents, exist_ok))

    def rmdir(self, path: Any) -> None:
        path = self._strip_protocol(path)
        self.store.change(lambda state, tree: changes.remove_folder(path, state, tree))

    def rm_file(self, path: Any) -> None:
        path = self._strip_protocol(path)
        self.store.change(lambda state, tree: changes.remove_object(path, tree))

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Delete objects, and with `recursive` folders; all in one change."""
        paths = self.expand_path(path, recursive=recursive, maxdepth=maxdepth)
        self.store.change(lambda state, tree: changes.remove_all(paths, state, tree, recursive))

    def cp_file(self, path1: Any, path2: Any, **options: Any) -> None:
        """Give the data of an object a second name. Only between streams the data are copied."""
        old, new = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.store.stream(old) is self.store.stream(new) or self.isdir(old):
            self.store.change(lambda state, tree: changes.copy(old, new, state, tree))
            return
        source: Any = self.open(old)
        target: Any = self.open(new, "wb")
        with source, target:
            while data := source.read(WRITE_BYTES):
                target.write(data)

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **options: Any
    ) -> None:
        """Rename objects, and with `recursive` folders; all in one change if they stay in their streams."""
        pairs = self._pairs(path1, path2, recursive, maxdepth)
        if any(self.store.stream(old) is not self.store.stream(new) for old, new in pairs):
            super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **options)
        else:
            self.store.change(lambda state, tree: changes.rename(pairs, state, tree, recursive))

    def _pairs(self, old: Any, new: Any, recursive: bool, maxdepth: int | None) -> list[tuple[str, str]]:
        """Old and new paths of a move, as `copy` of fsspec has them."""
        if isinstance(old, list) and isinstance(new, list):
            return list(zip(self._strip_protocol(old), self._strip_protocol(new), strict=True))
        paths = self.expand_path(old, recursive=recursive, maxdepth=maxdepth)
        single = isinstance(old, str)
        into = isinstance(new, str) and (trailing_sep(new) or self.isdir(new))
        pattern = single and has_magic(old)
        exists = single and (
            (pattern and len(paths) == 1) or (not pattern and into and not trailing_sep(old))
        )
        target = self._strip_protocol(new)
        return list(zip(paths, other_paths(paths, target, exists=exists, flatten=not single), strict=True))

    def touch(self, path: Any, truncate: bool = True, **options: Any) -> None:
        """Make an empty object, or set the time of one."""
        path = self._strip_protocol(path)
        if truncate or not self.exists(path):
            super().touch(path, truncate=True, **options)
        else:
            self.store.change(lambda state, tree: changes.touch(path, tree))
