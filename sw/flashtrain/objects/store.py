"""`Store`: objects by path on one target; each change is whole or not at all."""

import errno
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import RLock

from flashtrain.host.process import Inherited
from flashtrain.host.streams.stored import Extent
from flashtrain.spec import Access

from .errors import ClaimLost
from .leases import Leases
from .names import Names
from .reclaim import Reclaim
from .session import Session, Target
from .space import Space
from .state import Change, Entry, State
from .stream import Stream, joined
from .streams import Streams
from .tree import Tree, exists_already, is_folder
from .url import check_object, stream_of


@dataclass(eq=False)
class Unnamed:
    """Data that are to become an object.

    - exclusive: no object may have the path.
    """

    path: str
    stream: Stream
    exclusive: bool = False
    size: int = 0
    extents: list[Extent] = field(default_factory=list)


class Store(Inherited):
    """The objects of a target. Threads use it by turns.

    - target: how to reach it; names: the stream that has the names.
    """

    def __init__(self, target: Target, names: str) -> None:
        self._names_stream = names
        self._session = Session(target)
        self._streams = Streams(self._session)
        self.leases = Leases(self._session, target.lease)
        self.names = Names(self._session, lambda: self._streams.named(names), self.leases)
        self._space = Space(self.names, self.leases)
        self._reclaim = Reclaim(self._session, self.names, self.leases, self._space)
        self._writing: set[Unnamed] = set()

    def forked(self) -> None:
        """Leave the objects that are being written to the process that writes them."""
        self._writing = set()

    @property
    def lock(self) -> RLock:
        """Held by who needs several operations without one of another thread between them."""
        return self._session.lock

    def close(self) -> None:
        """Release zones and end the connection; the next operation opens another one."""
        with self._session.lock:
            if self._session.is_open and not self._writing:
                self._release()
            self._session.close()

    def _release(self) -> None:
        with suppress(OSError):  # without a target the claims end by themselves
            self.names.commit(lambda state: Change(zones=self._space.done(state, all_of_them=True)))

    # Look.

    def tree(self) -> Tree:
        """Objects and folders as they are now."""
        with self._session.lock:
            return Tree(self.names.sync(), self._folders())

    def _folders(self) -> list[str]:
        return [
            name for name, one in self._streams.all().items() if name != self._names_stream and one.lasting
        ]

    def stream(self, path: str) -> Stream:
        """The stream of an object."""
        name = stream_of(path)
        if name == self._names_stream:
            raise PermissionError(
                errno.EACCES, f"stream {name!r} keeps the names of objects; it has no other"
            )
        stream = self._streams.named(name)
        if not stream.lasting:
            text = f"stream {name!r} is volatile: it is empty after a loss of power, so it keeps no objects"
            raise PermissionError(errno.EACCES, text)
        return stream

    # Data.

    def begin(self, path: str, exclusive: bool) -> Unnamed:
        """Begin an object; what forbids it now is raised now."""
        with self._session.lock:
            tree, stream = self.tree(), self.stream(path)
            if stream.area is not None and Access.APPEND not in stream.area.access:
                raise PermissionError(errno.EACCES, f"this host may not append to stream {stream.name!r}")
            unnamed = Unnamed(path, stream, exclusive)
            self._check(tree, self.names.state, unnamed, {path})
            return unnamed

    def append(self, unnamed: Unnamed, data: memoryview) -> None:
        """Append data: whole blocks, but for the last."""
        stream, size = unnamed.stream, unnamed.stream.block_bytes
        whole = len(data) // size * size
        with self._session.lock:
            self._writing.add(unnamed)
            if whole:
                unnamed.extents += self._reclaim.append(stream, data[:whole])
            if whole < len(data):
                padded = bytes(data[whole:]).ljust(size, b"\0")
                unnamed.extents += self._reclaim.append(stream, memoryview(padded))
            unnamed.extents = joined(unnamed.extents, stream.zone_size)
            unnamed.size += len(data)
            if not stream.durable:
                stream.flush()  # the next connection may be one after a loss of power

    def discard(self, unnamed: Iterable[Unnamed]) -> None:
        """Give data up."""
        with self._session.lock:
            was_writing = bool(self._writing)
            self._writing -= set(unnamed)
            if was_writing and not self._writing:
                self._release()

    def name(self, objects: list[Unnamed]) -> None:
        """Give data their names, all or none."""
        with self._session.lock:
            for stream in {one.stream for one in objects if one.extents}:
                if not stream.durable:
                    stream.flush()
            others = self._writing - set(objects)
            try:
                self.names.commit(lambda state: self._naming(state, objects, release=not others))
            except BaseException:
                self.discard(objects)
                raise
            self._writing = others

    def _naming(self, state: State, objects: list[Unnamed], release: bool) -> Change:
        tree, entries, now = Tree(state, self._folders()), dict[str, Entry | None](), time.time()
        paths = {one.path for one in objects}
        for number, one in enumerate(objects, state.following):
            self._check(tree, state, one, paths)
            if not self._space.owns(state, one.stream, one.extents):
                raise ClaimLost(one.path, self.leases.seconds)
            before = state.entries.get(one.path)
            created = now if before is None else before.created
            entries[one.path] = Entry(number, one.size, created, now, tuple(one.extents))
        return Change(entries, self._space.done(state) if release else {})

    def _check(self, tree: Tree, state: State, one: Unnamed, paths: set[str]) -> None:
        if tree.folder(one.path):
            raise is_folder(one.path)
        if one.exclusive and one.path in state.entries:
            raise exists_already(one.path)
        tree.check_new(check_object(one.path), paths)

    # Names.

    def change(self, build: Callable[[State, Tree], dict[str, Entry | None]]) -> None:
        """Change entries, all or none; `build` is as in `Names.commit`."""
        with self._session.lock:
            self.names.commit(lambda state: Change(build(state, Tree(state, self._folders()))))
