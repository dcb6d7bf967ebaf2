"""Renewal of optimizer state: a copy of a generation, unchanged, to another stream.

The dies sense the operands of an update at the first read level only; a READ tries other levels, too
(`flashtrain.rtl.channel.read_buffer.read_retry`). A READ may therefore still recover state that is too old
for an update, and the copy is as readable as new state.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.queues.command_errors import MediaError, StateLost
from flashtrain.host.streams.stored import join
from flashtrain.spec import Persistency, Status

from .state_stream import GenerationPlace
from .tensor_group import PlacedGroup, rows_of

_BLOCKS_AT_ONCE = 1024


class StateRenewal:
    """The renewal of the generation of `groups` at `source`.

    Both methods raise :class:`StateLost` if a page cannot be read at any level.
    """

    def __init__(self, source: GenerationPlace, groups: Sequence[PlacedGroup]) -> None:
        self._source = source.stream
        self._first_row = source.row
        self._groups = groups

    def helps(self) -> bool:
        """Read the whole generation; returns whether the device has read pages again, which no update can.

        Concurrent reads of other streams may count as well.
        """
        before = self._source.pages_retried
        for _ in self._content():
            pass
        return self._source.pages_retried > before

    def write(self, destination: GenerationPlace) -> None:
        """Copy the generation to `destination`, where nothing is yet; it is programmed when this returns."""
        stream, shift = destination.stream, (destination.row - self._first_row) * self._source.row_blocks
        with stream.admitted():
            for lba, data in self._content():
                stream.write(lba + shift, data)
        if stream.table.persistency is Persistency.VOLATILE:
            stream.flush()

    def _content(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """The generation's blocks in pieces, each with the address of its first, until a page is lost."""
        source, every = self._source, range(self._planes)
        rows = source.planes_of_rows(self._first_row, rows_of(self._groups), every)
        lost: list[MediaError] = []
        for extent in join(rows, source.zone_size):
            for lba in range(extent.lba, sum(extent), _BLOCKS_AT_ONCE):
                data = self._read(lba, min(_BLOCKS_AT_ONCE, sum(extent) - lba), lost)
                if not lost:
                    yield lba, data
        if lost:
            names = [name for error in lost for name in self._names(error.lba)]
            raise StateLost(lost[0], tuple(dict.fromkeys(names))) from lost[0]

    def _read(self, lba: int, blocks: int, lost: list[MediaError]) -> NDArray[np.uint8]:
        """Blocks from `lba` on; `lost` gets an error for each block that is lost."""
        try:
            return self._source.read_blocks(lba, blocks)
        except MediaError as error:
            if error.status != Status.UNRECOVERED_READ_ERROR:
                raise
            if blocks == 1:
                lost.append(error)
                return np.empty(0, np.uint8)
        return np.concatenate([self._read(lba + number, 1, lost) for number in range(blocks)])

    def _names(self, lba: int) -> list[str]:
        """The names of the arrays that lie in a block."""
        source = self._source
        zone, offset = divmod(lba, source.zone_size)
        row, place = divmod(zone * source.zone_capacity + offset, source.row_blocks)
        row -= self._first_row
        plane, channel = divmod(place, source.row_blocks // self._planes)
        group = max((one for one in self._groups if one.first_row <= row), key=lambda one: one.first_row)
        return group.names(row - group.first_row, channel, plane)

    @property
    def _planes(self) -> int:
        return self._groups[0].layout.tile.geometry.planes
