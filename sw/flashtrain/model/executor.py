"""Executors of commands whose time the kernel models."""

from bisect import bisect_left
from collections.abc import Mapping
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.functional.content import StreamContent
from flashtrain.host.functional.executor import Answer, Executor
from flashtrain.host.functional.submission_entry import SubmissionEntry
from flashtrain.spec import Completion, Opcode, Status
from flashtrain.spec.codec import Header, slice_user_bytes
from flashtrain.spec.registers import Counter
from flashtrain.spec.streams import Codec

from .coded import NO_PAGES, filled_pages, pages_of_headers


class TimedExecutor(Executor):
    """Answers commands, and describes the stored pages of coded ones for the kernel."""

    def coded_pages(self, entry: SubmissionEntry, answer: Answer) -> NDArray[np.void]:
        """The pages that an append to a coded stream, or a read of one, has moved; dtype `PAGE`."""
        place = self._coded_place(entry, answer)
        if place is None:
            return NO_PAGES
        codec, content = self._codec(entry), self._contents[entry.nsid]
        pages = np.empty((place.stored, self._page_bytes), np.uint8)
        lost = content.storage.read(place.zone, place.offset, pages)
        end = entry.length // slice_user_bytes(codec)
        headers: list[Header | None] = []
        for number, page in enumerate(pages):
            header = None if lost[number] else Header.unpack(page.tobytes(), codec, end)
            if not isinstance(header, Header) or not header.stands_at(number, len(pages)):
                header = None
            headers.append(header)
        return pages_of_headers(headers, codec, entry.address)

    def _coded_place(self, entry: SubmissionEntry, answer: Answer) -> "_Place | None":
        """The pages of a coded command that moves some."""
        moved = (Status.SUCCESS, Status.CODED_PAGE_ERROR, Status.UNRECOVERED_READ_ERROR)
        coded = entry.opcode in (Opcode.ZONE_APPEND, Opcode.READ)
        if not coded or answer.status not in moved or self._codec(entry) is Codec.RAW:
            return None
        zone_size = self._config.geometry.zone_size
        index, offset = divmod(entry.slba, zone_size)
        if entry.opcode == Opcode.READ:
            return _Place(index, offset, entry.blocks)
        stored = Completion.stored.get(Completion.result.put(answer.result))
        return _Place(index, answer.result % zone_size, stored)


class _Place(NamedTuple):
    """Stored pages: the zone of their stream, the first one within it, their number."""

    zone: int
    offset: int
    stored: int


class _Append(NamedTuple):
    """A coded append without its data: its first page, its pages, its bytes of data, and their codec."""

    offset: int
    stored: int
    length: int
    codec: Codec


class DatalessExecutor(TimedExecutor):
    """Answers commands as the functional model does, with all rules of zones, rights and generations.

    No page is stored or computed. A read leaves the tensor buffer as it is.

    ratios: blocks of data in a full page of a coded stream, by NSID. Appends to others take their bound.
    """

    ratios: Mapping[int, float] = MappingProxyType({})

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._coded: dict[tuple[int, int], list[_Append]] = {}  # by NSID and zone, in their order
        super().__init__(*arguments, **options)

    def _store(self, entry: SubmissionEntry, content: StreamContent, index: int, pointer: int) -> None:
        """Nothing is programmed."""

    def _fetch(self, entry: SubmissionEntry, content: StreamContent, index: int, offset: int) -> int:
        return 0

    def _update_tiles(
        self, entry: SubmissionEntry, content: StreamContent, index: int, source: StreamContent,
        pointer: int, first: int,
    ) -> bool:  # fmt: skip
        return False

    def coded_pages(self, entry: SubmissionEntry, answer: Answer) -> NDArray[np.void]:
        place = self._coded_place(entry, answer)
        if place is None:
            return NO_PAGES
        codec = self._codec(entry)
        slices = entry.length // slice_user_bytes(codec)
        of_block = self._config.geometry.page_bytes / slice_user_bytes(codec)
        per_page = of_block * self.ratios.get(entry.nsid, 0)
        pages = filled_pages(slices, place.stored, per_page, codec, entry.address)
        if answer.status is not Status.SUCCESS:
            pages["slices"] = 0
        return pages

    def _append_encoded(
        self, entry: SubmissionEntry, content: StreamContent, index: int, pointer: int
    ) -> tuple[Status, int]:
        codec = self._codec(entry)
        bound = self._config.coded_bound(entry.blocks, codec)
        ratio = self.ratios.get(entry.nsid)
        stored = bound if ratio is None else min(bound, ceil(entry.blocks / ratio))
        if status := content.zones.append_encoded(index, stored, bound):
            return status, 0
        appends = self._coded.setdefault((entry.nsid, index), [])
        while appends and appends[-1].offset >= pointer:  # of an earlier content of the zone
            appends.pop()
        appends.append(_Append(pointer, stored, entry.length, codec))
        self.counters[Counter.PAGES_APPENDED] += stored
        self.counters[Counter.APPENDS] += 1
        return Status.SUCCESS, self._encoded_result(index, pointer, stored)

    def _read_encoded(
        self, entry: SubmissionEntry, content: StreamContent, index: int, offset: int
    ) -> Status:
        self.counters[Counter.READS] += 1
        self.counters[Counter.PAGES_READ] += entry.blocks
        appends = self._coded.get((entry.nsid, index), [])
        place = bisect_left(appends, offset, key=lambda append: append.offset)
        whole = _Append(offset, entry.blocks, entry.length, self._codec(entry))
        return Status.SUCCESS if appends[place : place + 1] == [whole] else Status.CODED_PAGE_ERROR
