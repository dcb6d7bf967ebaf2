"""How long small reads take while appends keep the dies busy."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, Extent, Pending
from flashtrain.spec import FmsConfig, Port

from .append import STREAM, settling_superpages
from .array_work import ArrayRecorder, programs_per_cycle
from .feed import Feed
from .measurement import BenchmarkError, Measurement
from .mixed import PIECES
from .progress import pages_programmed, run_until

STORED = "trained"
"""Read by the host, written by the core."""
STORED_SUPERPAGES = 8
READS = 2400
QUICK_READS = 60
LEAST_READS = 20
CYCLES = 15_000_000
QUICK_CYCLES = 1_500_000
"""After so many no further reads are waited for."""
STEP = 50
"""Cycles between two looks for answers: a latency is too long by less than that."""
DIES_PER_READ = 8
"""There is a read in flight for so many dies, so that reads seldom meet."""


def latency_bound(config: FmsConfig) -> float:
    """Seconds: twice the time to sense a page set and to move it over the bus of a channel.

    Twice, since the die may be sensing, or the bus moving, the page set of somebody else.
    """
    t = config.timing
    return 2 * (t.cycles("tr") / t.clock_hz + config.geometry.page_set_bytes / t.bytes_per_second)


def read_latency_p99(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """The 99th percentile of the time of reads of one block each, beside appends at full rate.

    The core appends large pieces to a volatile stream; the host reads random blocks of another, from zones
    that were flushed. Time from before the doorbell until the answer is seen in memory.
    """
    config, g, t = device.config, device.config.geometry, device.config.timing
    stored_superpages = min(STORED_SUPERPAGES, g.pages)
    piece = max(1, g.superpage // PIECES)
    data = device.buffer((PIECES * stored_superpages, piece * g.page_bytes), np.uint8)
    random = np.random.default_rng(8)
    data[:] = random.integers(0, 256, data.shape, np.uint8)
    first_cycle = device.cycles
    writer, reader = device.stream(STORED, Port.CORE), device.stream(STORED, Port.HOST)
    stored = [writer.append_async(part) for part in data]
    first_block = device.wait(stored)[0].extents[0].lba
    writer.flush()
    content = data.reshape(-1, g.page_bytes)

    margin = settling_superpages(config)
    feed = Feed(device.stream(STREAM, Port.CORE), data, PIECES * (margin + 1))
    tprog = t.cycles("tprog")
    feed.keep_going()
    settled = pages_programmed(device) + margin * g.superpage
    run_until(device, pages_programmed, settled, tprog // 20, 100 * tprog)
    recorder.start()
    reads: deque[tuple[int, int, NDArray[np.uint8], Pending[NDArray[np.uint8]]]] = deque()
    latencies: list[int] = []
    wanted = QUICK_READS if quick else READS
    give_up = device.cycles + (QUICK_CYCLES if quick else CYCLES)
    while len(latencies) < wanted and device.cycles < give_up:
        feed.keep_going()
        while len(reads) < max(1, g.channels * g.dies // DIES_PER_READ):
            block = int(random.integers(len(content)))
            handle = reader.stored_at([Extent(first_block + block, 1)], (g.page_bytes,), data.dtype)
            out = device.buffer((g.page_bytes,), np.uint8)
            reads.append((device.cycles, block, out, reader.read_async(handle, out)))
        device.link.run(STEP)
        for read in [read for read in reads if read[3].done]:
            begin, block, out, _pending = read
            if not np.array_equal(out, content[block]):
                raise BenchmarkError(f"the read of block {block} gave something else")
            latencies.append(device.cycles - begin)
            reads.remove(read)
    rate = programs_per_cycle(recorder.stop(), g.channels * g.dies, settle=0)
    if len(latencies) < LEAST_READS:
        raise BenchmarkError(f"{len(latencies)} reads were answered in time; expected {LEAST_READS} at least")
    median, high = np.percentile(latencies, [50, 99], method="higher") / t.clock_mhz
    appended = rate * g.page_set_bytes * t.clock_hz
    bound = latency_bound(config) * 1e6
    return Measurement(
        value=float(high),
        unit="us",
        bound=bound,
        cycles=device.cycles - first_cycle,
        asked="the bound",
        met=bool(high <= bound),
        note=f"{len(latencies)} reads: p50 {median:.1f} us, p99 {high:.1f} us,"
        f" most {max(latencies) / t.clock_mhz:.1f} us; appends meanwhile {appended / 1e9:.3f} GB/s,"
        f" {appended / config.program_bytes_per_second:.1%} of their bound",
    )
