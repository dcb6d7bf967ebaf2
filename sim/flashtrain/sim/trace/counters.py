"""Counters over the time of a capture: queue depths, buffers, busy dies, rates of data."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from flashtrain.sim.link.recording import SeamKind
from flashtrain.sim.trace.capture import Capture
from flashtrain.sim.trace.commands import CommandSpan
from flashtrain.sim.trace.page_links import PagePlace
from flashtrain.sim.trace.timeline import Sample
from flashtrain.sim.trace.trace import Kind, Track

COUNTERS = "counters"
BINS = 500
"""Of a rate over the window."""

_BEAT_BYTES = 2
"""Of a channel's bus, in a cycle."""

_ARRAYS = (Kind.SENSE, Kind.PROGRAM, Kind.ERASE)
Step = tuple[int, int]
"""A cycle and what is added from it on."""


def counter_samples(capture: Capture, spans: list[CommandSpan]) -> Iterator[Sample]:
    """All counters that the capture has data for."""
    end = capture.window[1]
    for port in sorted({span.logged.port for span in spans}):
        own = [span for span in spans if span.logged.port is port]
        queued = ((s.logged.queued, end if s.logged.completed is None else s.logged.completed) for s in own)
        yield from _level(f"commands in flight, {port.name.lower()}", _steps(queued), capture)
    arrays = capture.events[np.isin(capture.events["kind"], _ARRAYS)]
    busy = zip(arrays["start"].tolist(), arrays["end"].tolist(), strict=True)
    yield from _level("dies busy", _steps(busy), capture)
    for kind, name in ((Kind.DATA_IN, "NAND data in, GB/s"), (Kind.DATA_OUT, "NAND data out, GB/s")):
        moved = capture.events[capture.events["kind"] == kind]
        beats = (moved["end"] - moved["start"] + 1).astype(np.int64) * _BEAT_BYTES
        yield from _rate(name, moved["end"].astype(np.int64), beats, capture)
    if not len(capture.seams):
        return
    yield from _level("page sets in the write buffers", _page_sets(spans, end), capture)
    pages = [page for span in spans for page in span.pages if not page.writes]
    asked = ((page.clock, end if page.ended is None else page.ended) for page in pages)
    yield from _level("pages requested of channels", _steps(asked), capture)
    kept = ((move.start, page.ended) for page in pages if page.ended is not None for move in page.transfers)
    yield from _level("pages in the read buffers", _steps(kept), capture)
    for kind, name in (
        (SeamKind.ARRIVED, "tensor buffer to channels, GB/s"),
        (SeamKind.DELIVERED, "channels to tensor buffer, GB/s"),
    ):
        clocks = capture.seams["clock"][capture.seams["kind"] == kind].astype(np.int64)
        sizes = np.full(len(clocks), capture.config.geometry.page_bytes)
        yield from _rate(name, clocks, sizes, capture)


def _page_sets(spans: list[CommandSpan], end: int) -> Iterator[Step]:
    """Sets from their first page to the end of their program."""
    sets: dict[PagePlace, list[int]] = {}
    for span in spans:
        for page in span.pages:
            if page.writes and page.operations:
                last = max(operation.end for operation in page.operations)
                key = page.place._replace(plane=0)
                known = sets.setdefault(key, [page.clock, last])
                known[0], known[1] = min(known[0], page.clock), max(known[1], last)
    return _steps((begin, min(stop, end)) for begin, stop in sets.values())


def _steps(spans: Iterable[tuple[int, int]]) -> Iterator[Step]:
    for begin, end in spans:
        yield begin, 1
        yield max(begin, end), -1


def _level(name: str, steps: Iterable[Step], capture: Capture) -> Iterator[Sample]:
    """The sum of the steps, where it changes."""
    begin, end = capture.window
    changes: dict[int, int] = defaultdict(int)
    for cycle, change in steps:
        if cycle < end:
            changes[max(cycle, begin)] += change
    counter, value = Track(COUNTERS, name), 0
    if changes:
        changes.setdefault(begin, 0)
    for cycle, change in sorted(changes.items()):
        value += change
        if change or cycle == begin:
            yield Sample(counter, cycle, value)


def _rate(name: str, cycles: np.ndarray, sizes: np.ndarray, capture: Capture) -> Iterator[Sample]:
    """Bytes per time in bins of the window, each counted at its cycle."""
    begin, end = capture.window
    width = max(1, -(-(end - begin) // BINS))
    bins = -(-(end - begin) // width)
    inside = (cycles >= begin) & (cycles < end)
    if not inside.any():
        return
    totals = np.bincount((cycles[inside] - begin) // width, sizes[inside], bins)
    seconds = width / (capture.config.timing.clock_mhz * 1e6)
    for number, total in enumerate(totals.tolist()):
        yield Sample(Track(COUNTERS, name), begin + number * width, round(total / seconds / 1e9, 6))
    yield Sample(Track(COUNTERS, name), end, 0)
