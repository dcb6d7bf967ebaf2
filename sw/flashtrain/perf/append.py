"""Large sequential appends into erased zones, in the steady state."""

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import FmsConfig, Port

from .array_work import ArrayRecorder, programs_per_cycle
from .measurement import BenchmarkError, Measurement
from .progress import pages_programmed, run_until

STREAM = "activations"
SUPERPAGES = 24
QUICK_SUPERPAGES = 12
ASKED = 0.99
ASKED_OF_BUSES = {"behemoth_wide": 62e9, "optimstore": 9e9}
"""Bytes per second, by preset: where there are more dies than the buses can feed."""


def append_erased(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Bytes programmed per second while one port keeps the write buffers full.

    Measured on each die from the start of one program to that of another.

    Bound: what the arrays can program, dies x page set / tPROG, or what the buses can carry, channels x 2
    bytes per cycle; whichever is less.
    """
    config, g = device.config, device.config.geometry
    stream = device.stream(STREAM, Port.CORE)
    margin = settling_superpages(config)
    superpages = min(QUICK_SUPERPAGES if quick else SUPERPAGES, stream.zones * g.pages - 2 * margin)
    if superpages < 2:
        raise BenchmarkError(f"stream {STREAM!r} of {config.name!r} is too small for a steady state")
    pages = (superpages + 2 * margin) * g.superpage
    data = device.buffer((min(config.max_blocks, pages) * g.page_bytes,), np.uint8)
    data[:] = np.random.default_rng(1).integers(0, 256, len(data), np.uint8)
    piece = len(data) // g.page_bytes
    first_cycle = device.cycles
    appends = [
        stream.append_async(data[: min(piece, pages - start) * g.page_bytes])
        for start in range(0, pages, piece)
    ]
    tprog = config.timing.cycles("tprog")
    step, most_cycles = max(20, tprog // 200), 4 * (superpages + 2 * margin) * tprog
    run_until(device, pages_programmed, margin * g.superpage, step, most_cycles)
    recorder.start()
    run_until(device, pages_programmed, (margin + superpages) * g.superpage, step, most_cycles)
    rate = programs_per_cycle(recorder.stop(), g.channels * g.dies, settle=0)
    device.wait(appends)
    value = rate * config.timing.clock_hz * g.page_set_bytes
    bound = min(config.program_bytes_per_second, config.net_channel_bytes_per_second)
    of_buses = ASKED_OF_BUSES.get(config.name)
    return Measurement(
        value=value / 1e9,
        unit="GB/s",
        bound=bound / 1e9,
        cycles=device.cycles - first_cycle,
        asked=f"{ASKED:.0%} of the bound" if of_buses is None else f"{of_buses / 1e9:.0f} GB/s",
        met=value >= (ASKED * bound if of_buses is None else of_buses),
        note=f"{superpages} superpages, write buffers full",
    )


def settling_superpages(config: FmsConfig) -> int:
    """Superpages until the write buffers are full, and as many again so that they still are at the end."""
    return -(-config.write_sets // config.geometry.dies) + 2
