"""The repair of an image's records when it is opened, so that everything that is whole can be used.

A record with a wrong checksum, or with a value that none has, is replaced by what the rest of the file says:

- the clock: the time of the youngest page.
- a die: it does not hang.
- a block: it has the highest number of erases that a page of it was programmed after. Identities
  show which pages are of earlier erases, as in flash, which has no such record. Its conditions are lost.
- a page whose checksum is right and whose state or time is impossible: it is torn, and its code or its
  checksum decides.
- the handles of a stream or a zone: all are stale. Arrays by name do not depend on them.
- a block with the flag MARKED and without a mark, as a crash of the operating system may leave it: it has its
  mark again. If pages of data lie in it, it never had one, and loses the flag.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.bad_blocks import mark_content
from flashtrain.spec.image import (
    MOST_COUNT,
    MOST_SECONDS,
    BlockFlag,
    BlockRecord,
    PageState,
    StreamRecord,
)
from flashtrain.spec.registers import MAX_STREAMS

from ..errors import ImageDamaged
from .fields import fault_of_page
from .flash_image import FlashImage
from .places import PageRun


def repair(image: FlashImage) -> None:
    """Repair the records of an image that was opened, and set its `damage` and its `clock`."""
    damage = [
        *_clock(image),
        *_dies(image),
        *_blocks(image),
        *_pages(image),
        *_marks(image),
        *_handles(image),
    ]
    image.damage, image.clock = tuple(damage), image.read_clock()


def _damage(read: Callable[..., object], *arguments: object) -> str | None:
    """The damage that `read` finds with these arguments."""
    try:
        read(*arguments)
    except ImageDamaged as damage:
        return str(damage)
    return None


def _clock(image: FlashImage) -> Iterator[str]:
    if damage := _damage(image.read_clock):
        image.set_clock(_youngest(image))
        yield damage


def _youngest(image: FlashImage) -> float:
    """The time of the last program, in whole seconds."""
    youngest = 0.0
    for first, records in image.page_records():
        for index in np.flatnonzero(_possible(records) & (records["time"] > youngest)).tolist():
            record, whole = image.page_record(*divmod(first + index, image.geometry.pages))
            youngest = max(youngest, record.time) if whole else youngest
    return float(np.ceil(youngest))


def _dies(image: FlashImage) -> Iterator[str]:
    g = image.geometry
    for channel in range(g.channels):
        for die in range(g.dies):
            if damage := _damage(image.die, channel, die):
                image.set_die(channel, die, 0)
                yield damage


def _blocks(image: FlashImage) -> Iterator[str]:
    for number, raw in image.written_blocks():
        if damage := _damage(image.block_of, number, raw):
            image.set_block(number, BlockRecord(_erases(image, number)))
            yield damage


def _erases(image: FlashImage, number: int) -> int:
    """The erases of a block by the records of its pages."""
    records = (image.page_record(number, page) for page in range(image.geometry.pages))
    return max(
        (record.erases for record, whole in records if whole and record.erases <= MOST_COUNT), default=0
    )


def _pages(image: FlashImage) -> Iterator[str]:
    for first, records in image.page_records():
        for index in np.flatnonzero(~_possible(records)).tolist():
            number, page = divmod(first + index, image.geometry.pages)
            record, whole = image.page_record(number, page)
            if whole:
                image.set_page_record(number, page, record._replace(state=PageState.TORN, time=0.0))
                where = f"{image.place(number)} page {page}"
                yield f"{image.path}: the record of {where}: {fault_of_page(record)}"


def _possible(records: NDArray[np.void]) -> NDArray[np.bool_]:
    """Whether the state and the time of each record of a page are possible: bool[records]."""
    with np.errstate(invalid="ignore"):
        times = (records["time"] >= 0) & (records["time"] <= MOST_SECONDS)
    state, unused = records["state"], records == np.zeros((), records.dtype)
    return unused | (times & (state >= min(PageState)) & (state <= max(PageState)))


def _marks(image: FlashImage) -> Iterator[str]:
    for number, record in image.flagged_blocks():
        if not record.flags & BlockFlag.MARKED or image.mark_of(number) is not None:
            continue
        where = image.place(number)
        if any(image.is_whole(number, page) for page in image.pages(number)):
            image.set_flag(number, BlockFlag.MARKED, on=False)
            yield f"{image.path}: {where} has the flag MARKED, and pages of data; expected a mark alone"
        else:
            mark = PageRun.of(number, 0, mark_content(image.geometry, whole=True))
            image.program([mark], image.read_clock())
            yield f"{image.path}: {where} has no mark; expected that of its maker"


def _handles(image: FlashImage) -> Iterator[str]:
    # No count of drops reaches the nanoseconds since 1970, so all earlier handles are below them.
    never = time.time_ns()
    for nsid in range(1, MAX_STREAMS + 1):
        if damage := _damage(image.stream, nsid):
            image.set_stream(nsid, StreamRecord(never, never, never))
            yield damage
    for nsid, zone in image.written_zone_drops():
        if damage := _damage(image.zone_drop, nsid, zone):
            image.set_zone_drop(nsid, zone, never)
            yield damage
