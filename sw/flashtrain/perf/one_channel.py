"""One channel with large pages: how much of its bus carries data while it reads.

The configuration is that of a published open controller (OCOWFC, FPL'21). With 4 dies, that controller fills
79.1 % of the bus with single-page reads, and 94.8 % with long cached reads.
"""

from collections.abc import Iterator
from enum import Enum

import numpy as np

from flashtrain.host import Device, Extent
from flashtrain.spec import FmsConfig, Geometry, NandTiming, Port
from flashtrain.spec.timing import Duration, ns

from .append import STREAM
from .array_work import ArrayRecorder
from .measurement import BenchmarkError, Measurement
from .progress import pages_read, run_until

OCOWFC = FmsConfig(
    name="ocowfc",
    geometry=Geometry(channels=1, dies=4, planes=1, blocks=16, pages=64, page_bytes=16384, spare_bytes=1216),
    # 333 MT/s: a clock of 166 MHz, so coarse that a die needs more cycles of tRR to look up its first word.
    timing=NandTiming(clock_mhz=166, tr=ns(50_000), trr=Duration(6, 20), tbers=ns(5_000_000 * 64 / 768)),
    write_sets=8,
    read_pages=8,
    read_queue=16,
    max_blocks=256,
)
"""1 channel, 4 dies of 1 plane, pages of 16 KiB, tR 50 us, 333 MT/s."""

SUPERPAGES = 32
QUICK_SUPERPAGES = 16
STRIDE = 5
"""Rows from one single-page read of a die to the next: none follows the one before it."""
MARGIN_SUPERPAGES = 4
ASKED = 0.97


class Reads(Enum):
    """How the pages are asked for, and what the controller of reference reaches."""

    SINGLE_PAGE = 0.791
    CACHED = 0.948


def bus_share(device: Device, recorder: ArrayRecorder, reads: Reads, quick: bool = False) -> Measurement:
    """Share of the bus's raw rate that reads fill, in the steady state; what comes back is checked.

    Single-page: commands of one page each, on the dies in turn, no two pages of a die in sequence.
    Cached: one read of consecutive pages. Bound: the bus all the time, 2 bytes per cycle; the four arrays
    sense 4 pages in 50 us, and the bus moves 1 in 49.3.
    """
    config, g = device.config, device.config.geometry
    stream = device.stream(STREAM, Port.CORE)
    superpages = QUICK_SUPERPAGES if quick else SUPERPAGES
    pages = superpages * g.superpage
    data = device.buffer((pages, g.page_bytes), np.uint8)
    data[:] = np.random.default_rng(9).integers(0, 256, data.shape, np.uint8)
    out = device.buffer(data.shape, np.uint8)
    first_cycle = device.cycles
    first = stream.append(data).extents[0].lba
    stream.flush()

    base = pages_read(device)
    for block, count in _pieces(reads, superpages, g.superpage):
        target = out[block : block + count]
        handle = stream.stored_at([Extent(first + block, count)], target.shape, target.dtype)
        stream.read_async(handle, target)
    margin, most_cycles = MARGIN_SUPERPAGES * g.superpage, 4 * pages * config.page_beats
    start = run_until(device, pages_read, base + margin, 100, most_cycles)
    recorder.start()
    end = run_until(device, pages_read, base + pages - margin, 100, most_cycles)
    recorder.stop()
    device.wait()
    if out.tobytes() != data.tobytes():
        raise BenchmarkError("what was read is not what was appended")
    value = (end.reached - start.reached) * config.page_beats / (end.after - start.before)
    return Measurement(
        value=100 * value,
        unit="% of the bus",
        bound=100,
        cycles=device.cycles - first_cycle,
        asked=f"{ASKED:.0%}",
        met=value >= ASKED,
        note=f"{end.reached - start.reached} pages of {g.page_bytes >> 10} KiB in"
        f" {end.after - start.before:,} cycles; OCOWFC: {reads.value:.1%}",
    )


def _pieces(reads: Reads, superpages: int, superpage: int) -> Iterator[tuple[int, int]]:
    """First block and number of blocks of each command."""
    if reads is Reads.CACHED:
        yield 0, superpages * superpage
    else:
        for turn in range(superpages):
            for die in range(superpage):
                yield turn * STRIDE % superpages * superpage + die, 1
