"""The flash in an image: whatever is programmed or erased is in the file before the call returns."""

from collections.abc import Callable, Iterator
from zlib import crc32

from flashtrain.spec import FmsConfig, Place
from flashtrain.spec.bad_blocks import MARK, mark_content
from flashtrain.spec.identity import PageIdentity, is_identity
from flashtrain.spec.image import BlockFlag, PageState

from ..image import FlashImage
from ..image.page_cells import PageCells
from ..image.places import PageRun, StoredPage
from .flash import Flash
from .pages import Bytes, Owner, Page, Stamp, ZonePages


class StoredFlash(Flash):
    """The flash of an open image. Pages of earlier processes are decoded when they are first used.

    - now: the time in seconds, for the ages of pages.

    A page whose checksum is wrong is one that the code has to correct. Without a code it has no identity, as
    after an interrupted program.
    """

    def __init__(self, config: FmsConfig, image: FlashImage, now: Callable[[], float]) -> None:
        super().__init__(config.geometry, config.randomizer, config.code is not None)
        self.image = image
        self._now = now
        self._cells = PageCells(config)
        self._unread: dict[tuple[int, int], dict[int, StoredPage]] = {}  # by block and column, then offset
        self._known: set[tuple[int, int]] = set()  # blocks and columns
        for number, record in image.flagged_blocks():
            place = image.place(number)
            column = self.geometry.lba(Place(0, 0, place.die, place.plane, place.channel))
            if record.flags & BlockFlag.BROKEN:
                self.bad.add((place.block, column))
            if record.flags & BlockFlag.MARKED:
                self.marked[place.block, column] = self._mark_of(number)

    def break_block(self, block: int, column: int) -> None:
        super().break_block(block, column)
        self.image.set_flag(self._number(block, column), BlockFlag.BROKEN)

    def mark(self, block: int, column: int, page: int, whole: bool) -> None:
        super().mark(block, column, page, whole)
        number = self._number(block, column)
        self.image.program([PageRun.of(number, page, mark_content(self.geometry, whole))], self._now())
        self.image.set_flag(number, BlockFlag.MARKED)

    def erase(self, zone: int, but: set[int]) -> set[int]:
        failed = super().erase(zone, but)
        for column in range(self.geometry.superpage):
            if column not in failed and column not in but:
                self._erased(zone, column)
        return failed

    def erase_block(self, block: int, column: int) -> bool:
        passed = super().erase_block(block, column)
        if passed:
            self._erased(block, column)
        return passed

    def program(self, block: int, offset: int, data: Bytes, stamp: Stamp) -> None:
        super().program(block, offset, data, stamp)
        now = self._now()
        identities = (
            None if stamp.owner is None else self._identities(stamp.owner, stamp.updated, offset, len(data))
        )
        self.image.program(self._runs(block, offset, data, identities), now)
        self.image.keep_time(now)

    def _runs(self, block: int, offset: int, data: Bytes, identities: Bytes | None) -> Iterator[PageRun]:
        """The cells of each block for pages from `offset` on."""
        step = self.geometry.superpage
        for first in range(min(step, len(data))):
            place = self.geometry.place(offset + first)
            self._known.add((block, (offset + first) % step))
            own = None if identities is None else identities[first::step]
            cells = self._cells.encode(data[first::step], own, place.page, place.plane)
            yield PageRun(self._number(block, offset + first), place.page, cells)

    def pages(self, block: int, offset: int, count: int) -> ZonePages:
        for column in {number % self.geometry.superpage for number in range(offset, offset + count)}:
            if (block, column) not in self._known:
                self._learn(block, column)
        for number in range(offset, offset + count) if self._unread else ():
            column = number % self.geometry.superpage
            stored = self._unread.get((block, column), {}).pop(number, None)
            if stored is not None:
                self.zones[block][number] = self._decoded(block, number, stored)
        return super().pages(block, offset, count)

    def _erased(self, block: int, column: int) -> None:
        self._known.add((block, column))
        self._unread.pop((block, column), None)
        self.image.erase(self._number(block, column))

    def _learn(self, block: int, column: int) -> None:
        self._known.add((block, column))
        stored = self.image.pages(self._number(block, column))
        if stored:
            self._unread[block, column] = {self._offset(column, page.number): page for page in stored}

    def _decoded(self, block: int, offset: int, stored: StoredPage) -> Page:
        number, place = self._number(block, offset), self.geometry.place(offset)
        cells = self.image.cells(number, stored.number)
        wrong = stored.damaged or crc32(cells) != stored.record.crc
        doubtful = wrong or stored.record.state != PageState.WHOLE
        content = self._cells.decode(cells, place.page, place.plane, correct=doubtful)
        if not is_identity(content.identity) or (wrong and not self.coded):
            return Page(content.data, None, updated=False)
        value, p = int.from_bytes(content.identity, "little"), PageIdentity
        owner = Owner(
            p.stream.get(value) + 1, p.zone.get(value), p.generation.get(value), p.sequence.get(value),
            p.wear.get(value),
        )  # fmt: skip
        page = Page(content.data, owner, bool(p.updated.get(value)))
        return (
            page
            if self._record(owner, page.updated, offset) == content.identity
            else page._replace(owner=None)
        )

    def _mark_of(self, number: int) -> tuple[int, bool]:
        """The marked page of a block, and whether the mark fills it."""
        page = self.image.mark_of(number)
        assert page is not None, "a marked block has its mark from the opening on"
        return page, self.image.cells(number, page)[0] == MARK

    def _offset(self, column: int, page: int) -> int:
        return page * self.geometry.superpage + column

    def _number(self, block: int, offset: int) -> int:
        """The image's number of the block on the plane of this offset."""
        place = self.geometry.place(offset)
        return self.image.layout.block(place.channel, place.die, place.plane, block)
