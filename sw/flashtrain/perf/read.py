"""Large reads from zones that were written and flushed."""

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import Port
from flashtrain.spec.registers import ChannelCounter

from .append import STREAM
from .array_work import ArrayRecorder
from .measurement import BenchmarkError, Measurement
from .progress import pages_read, run_until
from .read_bound import read_bound

SUPERPAGES = 24
QUICK_SUPERPAGES = 16
MARGIN_SUPERPAGES = 4
"""Superpages at the start and the end that are not counted: there the read path fills and drains."""
ASKED, ASKED_OF_ONE_DIE = 0.99, 0.9
"""Shares of the bound. The controller's own cycles are not hidden behind another die's data in one die."""
ASKED_WITH_SCA = 0.95
"""Share of the raw bus. Two dies hide the end of a page set behind a single page of the other."""


def read_sequential(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Bytes per second into the tensor buffer, in the middle of a long read. The data is checked.

    Bound: `read_bound`, data, commands, status and waits of the bus, or the arrays' senses.
    """
    config, g = device.config, device.config.geometry
    stream = device.stream(STREAM, Port.CORE)
    superpages = min(QUICK_SUPERPAGES if quick else SUPERPAGES, stream.zones * g.pages)
    if superpages <= 2 * MARGIN_SUPERPAGES:
        raise BenchmarkError(f"stream {STREAM!r} of {config.name!r} is too small for a steady state")
    pages = superpages * g.superpage
    piece = min(config.max_blocks, pages)
    data = device.buffer((piece * g.page_bytes,), np.uint8)
    data[:] = np.random.default_rng(2).integers(0, 256, len(data), np.uint8)
    first_cycle = device.cycles
    lengths = [min(piece, pages - start) * g.page_bytes for start in range(0, pages, piece)]
    stored = device.wait([stream.append_async(data[:length]) for length in lengths])
    stream.flush()

    hits = buffer_hits(device)
    targets = [device.buffer((length,), np.uint8) for length in lengths]
    base = pages_read(device)
    reads = [stream.read_async(handle, out) for handle, out in zip(stored, targets, strict=True)]
    margin = MARGIN_SUPERPAGES * g.superpage
    step, most_cycles = max(20, config.page_beats // 4), 100 * pages * config.page_beats
    start = run_until(device, pages_read, base + margin, step, most_cycles)
    recorder.start()
    end = run_until(device, pages_read, base + pages - margin, step, most_cycles)
    recorder.stop()
    device.wait(reads)
    if any(out.tobytes() != data[: len(out)].tobytes() for out in targets):
        raise BenchmarkError("what was read is not what was appended")
    if buffer_hits(device) != hits:
        raise BenchmarkError("pages came from the write buffer although the stream was flushed")
    seconds = (end.after - start.before) / config.timing.clock_hz
    value = (end.reached - start.reached) * g.page_bytes / seconds
    bound, share = read_bound(config), ASKED if g.dies > 1 else ASKED_OF_ONE_DIE
    least, asked = share * bound.bytes_per_second, f"{share:.0%} of the bound"
    of_raw = ASKED_WITH_SCA * config.channel_bytes_per_second
    if config.chips.sca and of_raw < least:
        least, asked = of_raw, f"{ASKED_WITH_SCA:.0%} of the raw bus"
    return Measurement(
        value=value / 1e9,
        unit="GB/s",
        bound=bound.bytes_per_second / 1e9,
        cycles=device.cycles - first_cycle,
        asked=asked,
        met=value >= least,
        note=f"{end.reached - start.reached} pages in {end.after - start.before:,} cycles; bound: {bound}",
    )


def buffer_hits(device: Device) -> int:
    """Pages that were read from the write buffers."""
    return sum(channel[ChannelCounter.BUFFER_HITS.name] for channel in device.channel_counters())
