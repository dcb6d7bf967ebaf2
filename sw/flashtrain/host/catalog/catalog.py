"""`Catalog`: arrays by name in a non-volatile stream."""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.arguments import instance, listed
from flashtrain.host.errors import ArgumentError
from flashtrain.host.streams.stream import DeviceStream
from flashtrain.spec import Access, Persistency
from flashtrain.spec.streams import Codec

from .array_info import ArrayInfo
from .array_view import ArrayView
from .catalog_log import CatalogLog, Part
from .catalog_room import CatalogRoom
from .entry import Entry, bytes_of, content_of, entry_of
from .errors import CatalogDamaged, CatalogFull, CatalogUnsuitable, NameExists, NameMissing
from .name import check_name
from .page_layout import PageLayout, offsets
from .ranges_read import extents_of
from .run import Run, runs_in

LONG_BYTES = 16 << 20
"""Arrays of more bytes, or of more than half a zone, are appended by themselves, without a copy."""


class Catalog(MutableMapping[str, NDArray[Any]]):
    """NumPy arrays by name in `stream`, which has no other user. `Device.catalog` is the one of a device.

    It is a mutable mapping: `catalog[name] = array` stores or replaces an array, `catalog[name]` reads it,
    `del catalog[name]` deletes it. Names are in the order of their characters.

    Each change is there whole or not at all, whenever the power fails, and for good when its call returns.
    :class:`CatalogFull` when the zones have no room; nothing has changed then. An array of a name that exists
    is replaced; room for both is needed. Several threads may use one catalogue; there must be one per stream.
    """

    def __init__(self, stream: DeviceStream) -> None:
        instance(DeviceStream, "stream", stream, "a stream of a device")
        table = stream.table
        reasons = {
            "it is volatile": table.persistency is Persistency.NON_VOLATILE,
            "it has a codec": table.codec is Codec.RAW,
            "its node records no notes of it in a journal": stream.takes_notes,
            f"port {stream.port.name} may not read it": Access.READ in table.access(stream.port),
        }
        for reason, suitable in reasons.items():
            if not suitable:
                raise CatalogUnsuitable(f"stream {stream.name!r} cannot keep a catalogue: {reason}")
        self._stream = stream
        self._log = CatalogLog(stream)
        self._room = CatalogRoom(self._log)

    def __repr__(self) -> str:
        return f"<catalogue of {len(self)} arrays in stream {self._stream.name!r}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return id(self)

    # Look.

    def __len__(self) -> int:
        return len(self._log.names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._log.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def names(self, prefix: str = "") -> list[str]:
        """The names that begin with `prefix`."""
        instance(str, "prefix", prefix, "a text")
        return sorted(name for name in self._log.names() if name.startswith(prefix))

    def info(self, name: str) -> ArrayInfo:
        """Shape, dtype and place of an array, which is not read."""
        entry = self._entry(name)
        extents = tuple(extents_of(entry.runs, self._stream.block_bytes, self._stream.zone_size))
        return ArrayInfo(name, entry.shape, entry.dtype, entry.nbytes, entry.number, extents)

    # Read.

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The array in C order; :class:`NameMissing`, or :class:`CatalogDamaged` if its checksum is wrong."""
        while True:
            entry = self._entry(name)
            read = self._log.begin_read(name, entry.number, [(0, entry.nbytes)], 0, entry.nbytes)
            if read is not None:  # else it was replaced meanwhile
                break
        data = read.result()
        if crc32(data.data) != entry.crc:
            raise CatalogDamaged(f"array {name!r}: its checksum is wrong")
        return np.ndarray(entry.shape, entry.dtype, data.data)

    def view(self, name: str) -> ArrayView:
        """The array without a read: an index of the view reads what it selects."""
        return ArrayView(self._log, self.info(name))

    # Change.

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        self._put({check_name(name): array}, replace=True)

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Store an array of a new name; :class:`NameExists`."""
        self._put({check_name(name): array}, replace=False)

    def update(self, arrays: Any = (), /, **more: NDArray[Any]) -> None:
        """Store or replace the arrays of a mapping, or of pairs, in one append: all or none."""
        try:
            both = dict(arrays, **more)
        except (TypeError, ValueError) as error:
            kind = type(arrays).__name__
            raise ArgumentError(
                f"arrays is a {kind}; expected a mapping, or pairs of name and array"
            ) from error
        self._put(both, replace=True)

    def __delitem__(self, name: str) -> None:
        self.delete([name])

    def delete(self, names: Iterable[str]) -> None:
        """Delete several arrays, all or none; :class:`NameMissing`."""
        given = listed("names", names, "a list of names")
        with self._log.changing:
            gone: dict[str, Entry | None] = {name: None for name in given if self._entry(name)}
            if gone:
                self._make_room(gone)
                self._log.commit(gone, PageLayout(self._stream.block_bytes), ())

    def clear(self) -> None:
        """Delete all arrays."""
        with self._log.changing:
            self.delete(self.names())

    def rename(self, old: str, new: str) -> None:
        """Give an array another name, without a copy; :class:`NameMissing`, :class:`NameExists`."""
        with self._log.changing:
            entry = self._entry(old)
            self._require_new(check_name(new))
            self._make_room({old: None, new: entry})
            moved = self._entry(old)  # to make room may have moved it
            self._log.commit({old: None, new: moved}, PageLayout(self._stream.block_bytes), ())

    # Implementation.

    def _entry(self, name: str) -> Entry:
        entry = self._log.find(name if isinstance(name, str) else check_name(name))
        if entry is None:
            raise NameMissing(f"no array {name!r} in the catalogue of stream {self._stream.name!r}")
        return entry

    def _require_new(self, name: str) -> None:
        if self._log.find(name) is not None:
            raise NameExists(f"array {name!r} exists in the catalogue of stream {self._stream.name!r}")

    def _put(self, arrays: Mapping[str, Any], replace: bool) -> None:
        room = self._stream.zones * self._stream.zone_capacity * self._stream.block_bytes
        for name, array in arrays.items():  # before a copy in C order
            if isinstance(array, np.ndarray) and array.nbytes > room:
                raise CatalogFull(f"array {name!r} has {array.nbytes:,} bytes; the stream has {room:,}")
        contents = {check_name(name): content_of(name, array) for name, array in arrays.items()}
        if not contents:
            return
        with self._log.changing:
            if not replace:
                for name in contents:
                    self._require_new(name)
            self._log.names()  # the index is read before numbers are given
            entries = {
                name: entry_of(self._log.following + count, array)
                for count, (name, array) in enumerate(contents.items())
            }
            self._store(entries, {name: bytes_of(array) for name, array in contents.items() if array.size})

    def _store(self, entries: dict[str, Entry], contents: Mapping[str, NDArray[np.uint8]]) -> None:
        """Commit new entries; `contents` has the bytes of those that are not empty."""
        size = self._stream.block_bytes
        most = min(LONG_BYTES, self._stream.zone_capacity * size // 2)
        long = {name: data for name, data in contents.items() if len(data) > most}
        short = {name: data for name, data in contents.items() if len(data) <= most}
        layout = PageLayout(size)
        places = offsets([len(data) for data in short.values()], layout)
        self._make_room(entries, layout.blocks + sum(-(-len(data) // size) for data in long.values()))
        for (name, data), place in zip(short.items(), places, strict=True):
            entries[name] = entries[name].at([Run.relative(place, len(data))], 0)
        for name, data in long.items():
            stored = self._log.append(data)
            runs = runs_in(stored.extents, 0, len(data), size)
            entries[name] = entries[name].at(runs, stored.generation)
        parts = [Part(place, data) for place, data in zip(places, short.values(), strict=True)]
        self._log.commit(entries, layout, parts)

    def _make_room(self, changes: Mapping[str, Entry | None], blocks: int | None = None) -> None:
        """Make room for changes, with blocks of data if they add arrays; it may move all arrays."""
        index = self._log.index_blocks(changes)
        self._room.make((blocks or 0) + index, index, may_use_reserve=blocks is None)
