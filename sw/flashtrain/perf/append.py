"""Large sequential appends into erased zones, in the steady state."""

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import Port

from .measurement import BenchmarkError, Measurement
from .progress import pages_programmed, run_until

STREAM = "activations"
ROWS = 64
QUICK_ROWS = 16


def append_erased(device: Device, quick: bool = False) -> Measurement:
    """Bytes programmed per second while one port keeps the write buffers full.

    Measured from one program to another, a whole number of superpages later: both fall on the same die, so
    what is in the buffers is the same at both. Programs are seen when a counter is read; the first is taken
    to have been as early, and the last as late, as they can have been.
    """
    config, g = device.config, device.config.geometry
    stream = device.stream(STREAM, Port.CORE)
    # Superpages until the buffers are full, and as many again so that they still are at the end.
    margin = -(-config.write_sets // g.dies) + 2
    rows = min(QUICK_ROWS if quick else ROWS, stream.zones * g.pages - 2 * margin)
    if rows < 1:
        raise BenchmarkError(f"stream {STREAM!r} of {config.name!r} is too small for a steady state")
    pages = (rows + 2 * margin) * g.superpage
    data = device.buffer((min(config.max_blocks, pages) * g.page_bytes,), np.uint8)
    data[:] = np.random.default_rng(1).integers(0, 256, len(data), np.uint8)
    piece = len(data) // g.page_bytes
    first_clock = device.clocks
    appends = [
        stream.append_async(data[: min(piece, pages - start) * g.page_bytes])
        for start in range(0, pages, piece)
    ]
    tprog = config.timing.clocks("tprog")
    step, patience = max(20, tprog // 200), 4 * (rows + 2 * margin) * tprog
    base = margin * g.superpage
    start = run_until(device, pages_programmed, base, step, patience)
    end = run_until(device, pages_programmed, start.reached + rows * g.superpage, step, patience)
    device.wait(appends)
    seconds = (end.after - start.before) / config.timing.clock_hz
    return Measurement(
        value=rows * g.superpage * g.page_bytes / seconds / 1e9,
        unit="GB/s",
        bound=min(config.program_bytes_per_second, config.channel_bytes_per_second) / 1e9,
        clocks=device.clocks - first_clock,
        note=f"{rows} superpages in {end.after - start.before:,} clocks, write buffers full; to reach: 98 %",
    )
