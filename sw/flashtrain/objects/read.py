"""Reads of an object, whatever other clients do to it meanwhile."""

from flashtrain.host.streams.stored import Extent

from .errors import ObjectReplaced, StreamRefused
from .state import Entry, State, ZoneKey
from .store import Store


class StoredObject:
    """An object as it was when it was opened.

    It is read from where it is, also when other clients move, rename or replace it.
    :class:`ObjectReplaced` once its zones have been reset.
    """

    def __init__(self, store: Store, path: str) -> None:
        self._store = store
        self.path = path
        with store.lock:
            self._entry = store.tree().find(path)
            self._stream = store.stream(path)
            self._since = store.names.state.sequence

    @property
    def size(self) -> int:
        assert self._entry.size is not None
        return self._entry.size

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`, as far as there are any."""
        start, end = max(0, start), min(end, self.size)
        if start >= end:
            return b""
        block = self._stream.block_bytes
        first, last = start // block, -(-end // block)
        while True:
            extents = part_of(self._entry.extents, first, last - first)
            failed: StreamRefused | None = None
            data = bytearray()
            with self._store.lock:
                try:
                    data = self._stream.read(extents)
                except StreamRefused as error:
                    failed = error
                there = self._is_there(self._store.names.sync(), extents)
            if there and failed is not None:
                raise OSError(failed.errno, f"{self.path}: {failed.strerror}") from failed
            if there:
                return bytes(memoryview(data)[start - first * block : end - first * block])

    def _is_there(self, state: State, extents: list[Extent]) -> bool:
        """Whether the zones have not been reset since; looks the object up anew if they have."""
        keys = {ZoneKey(self._stream.nsid, self._stream.zone_of(extent)) for extent in extents}
        if all(state.note(key).freed <= self._since for key in keys):
            return True
        self._entry, self._since = self._find(state), state.sequence
        return False

    def _find(self, state: State) -> Entry:
        entry = state.entries.get(self.path)
        if entry is not None and entry.number == self._entry.number:
            return entry
        for entry in state.entries.values():
            if entry.number == self._entry.number:
                return entry
        raise ObjectReplaced(self.path)


def part_of(extents: tuple[Extent, ...], first: int, blocks: int) -> list[Extent]:
    """So many blocks of the extents, from block `first` on."""
    found = []
    for lba, length in extents:
        if first < length and blocks:
            count = min(length - first, blocks)
            found.append(Extent(lba + first, count))
            blocks -= count
        first = max(0, first - length)
    return found
