"""The physical blocks of an image: erases, reads, conditions, and pages."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.image import FlashImage
from flashtrain.spec import Geometry
from flashtrain.spec.geometry import Place
from flashtrain.spec.image import PageState


@dataclass(frozen=True, eq=False)
class BlockTable:
    """Arrays over all physical blocks, each [channel, die, plane, block].

    - erases, reads: since the beginning, and since the last erase.
    - flags: `BlockFlag`.
    - pages, torn: programmed pages since the last erase, and those whose program or erase was cut short.
    - oldest: the time of the oldest of these programs, in seconds; NaN without pages.
    - damaged: records of pages, of all blocks together, whose checksum or content is wrong.
    """

    geometry: Geometry
    erases: NDArray[np.uint32]
    reads: NDArray[np.uint32]
    flags: NDArray[np.uint32]
    pages: NDArray[np.uint16]
    torn: NDArray[np.uint16]
    oldest: NDArray[np.float64]
    damaged: int

    @classmethod
    def read(cls, image: FlashImage) -> "BlockTable":
        g = image.geometry
        shape = (g.channels, g.dies, g.planes, g.blocks)
        erases, reads, flags = (np.zeros(shape, np.uint32) for _ in range(3))
        pages, torn, oldest = np.zeros(shape, np.uint16), np.zeros(shape, np.uint16), np.full(shape, np.nan)
        damaged = 0
        for number, record in image.used_blocks():
            erases.flat[number], reads.flat[number], flags.flat[number] = record
        for number in image.blocks_with_pages():
            stored = image.pages(number)
            whole = [page.record for page in stored if not page.damaged]
            damaged += len(stored) - len(whole)
            pages.flat[number] = len(stored)
            torn.flat[number] = sum(record.state == PageState.TORN for record in whole)
            oldest.flat[number] = min((record.time for record in whole), default=np.nan)
        return cls(g, erases, reads, flags, pages, torn, oldest, damaged)

    def column(self, column: int) -> tuple[int, int, int]:
        """Channel, die and plane of a column: the offset of its first page in a zone."""
        place = self.geometry.place(column)
        return place.channel, place.die, place.plane

    def of_zone(self, physical: int, spares: tuple[tuple[int, int], ...] = ()) -> NDArray[np.intp]:
        """Indices for `numpy.take` of the blocks of a physical zone; `spares`, each by block and column,
        replace the zone's own."""
        g = self.geometry
        blocks = np.full((g.channels, g.dies, g.planes), physical)
        for block, column in spares:
            blocks[self.column(column)] = block
        return np.arange(blocks.size) * g.blocks + blocks.reshape(-1)

    def number(self, block: int, column: int) -> int:
        """The index of one block."""
        channel, die, plane = self.column(column)
        g = self.geometry
        return ((channel * g.dies + die) * g.planes + plane) * g.blocks + block

    def columns(self) -> list[tuple[int, int, int]]:
        """Channel, die and plane of all planes, in the order of the arrays."""
        g = self.geometry
        return [(c, d, p) for c in range(g.channels) for d in range(g.dies) for p in range(g.planes)]

    def column_of(self, channel: int, die: int, plane: int) -> int:
        return self.geometry.lba(Place(0, 0, die, plane, channel))
