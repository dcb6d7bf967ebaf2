"""How fast the simulation is while data moves."""

import time

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import Port

from .append import STREAM
from .measurement import BenchmarkError, Measurement
from .usage import Snapshot

CLOCKS = 2_000_000
QUICK_CLOCKS = 400_000


def simulation_speed(device: Device, quick: bool = False) -> Measurement:
    """Clocks per second of process time, with appends and reads under way all the time."""
    config, g = device.config, device.config.geometry
    stream = device.stream(STREAM, Port.CORE)
    piece = min(config.max_blocks, g.zone_capacity) // 4
    data = device.buffer((piece * g.page_bytes,), np.uint8)
    data[:] = np.random.default_rng(3).integers(0, 256, len(data), np.uint8)
    out = device.buffer((piece * g.page_bytes,), np.uint8)
    stored = stream.append(data)
    stream.flush()

    clocks = QUICK_CLOCKS if quick else CLOCKS
    # A read waits for appends to its zone: those that follow go to others.
    stream.finish_zone(0)
    # Both directions are kept busy for longer than it takes, as far as the stream has room. Commands of a
    # port are taken in order, so appends and reads take turns. Nobody waits for what is left at the end.
    room = (stream.zones - 1) * g.zone_capacity // piece
    needed = clocks / config.timing.clock_hz * config.program_bytes_per_second / len(data)
    for _ in range(min(room, 2 + int(needed))):
        stream.append_async(data)
        stream.read_async(stored, out)
    before, first_clock, started = Snapshot.of(device), device.clocks, time.process_time()
    device.link.run(clocks)
    seconds, simulated = time.process_time() - started, device.clocks - first_clock
    usage = Snapshot.of(device).since(before)
    if not usage.appended_bytes or not usage.read_bytes:
        raise BenchmarkError("no data moved while the speed was measured")
    return Measurement(
        value=simulated / seconds,
        unit="clocks/s",
        clocks=simulated,
        note=f"{usage.appended_bytes >> 10} KiB appended and {usage.read_bytes >> 10} KiB read meanwhile;"
        " to reach: 300,000",
    )
