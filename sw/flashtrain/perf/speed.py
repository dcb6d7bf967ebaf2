"""How fast the simulation is while data moves."""

import time

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import Port
from flashtrain.spec.registers import ChannelCounter

from .append import STREAM
from .array_work import ArrayRecorder
from .measurement import BenchmarkError, Measurement
from .usage import Snapshot

CLOCKS = 600_000
QUICK_CLOCKS = 200_000
CLOCKS_AT_REST = 100_000
ASKED = {"small": 300_000, "behemoth": 60_000}
"""Clocks per second, by preset."""


def simulation_speed(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Clocks per second of process time, with appends and reads under way all the time.

    The speed of a device at rest tells what of it is for moving data, and what for the passing of time.
    """
    config, g = device.config, device.config.geometry
    stream = device.stream(STREAM, Port.CORE)
    piece = min(config.max_blocks, g.zone_capacity) // 4
    data = device.buffer((piece * g.page_bytes,), np.uint8)
    data[:] = np.random.default_rng(3).integers(0, 256, len(data), np.uint8)
    out = device.buffer((piece * g.page_bytes,), np.uint8)
    first_clock = device.clocks
    stored = stream.append(data)
    stream.flush()
    _, at_rest = _run(device, CLOCKS_AT_REST)

    clocks = QUICK_CLOCKS if quick else CLOCKS
    # A read waits for appends to its zone: those that follow go to others.
    stream.finish_zone(0)
    # Both directions are kept busy for longer than it takes, as far as the stream has room. Commands of a
    # port are taken in order, so appends and reads take turns. Nobody waits for what is left at the end.
    room = (stream.zones - 1) * g.zone_capacity // piece
    needed = 1.5 * clocks / config.timing.clock_hz * config.program_bytes_per_second / len(data)
    for _ in range(min(room, 2 + int(needed))):
        stream.append_async(data)
        stream.read_async(stored, out)
    before = Snapshot.of(device)
    busy, speed = _run(device, clocks)
    usage = Snapshot.of(device).since(before)
    # Once more for the figure: recording takes time of its own.
    recorder.start()
    _run(device, clocks // 4)
    recorder.stop()
    if not usage.appended_bytes or not usage.read_bytes or not all(busy):
        raise BenchmarkError("not every channel moved data while the speed was measured")
    asked = ASKED.get(config.name)
    moved = usage.appended_bytes + usage.read_bytes
    return Measurement(
        value=speed,
        unit="clocks/s",
        clocks=device.clocks - first_clock,
        asked="" if asked is None else f"{asked:,}",
        met=None if asked is None else speed >= asked,
        note=f"{usage.appended_bytes >> 10} KiB appended and {usage.read_bytes >> 10} KiB read in {clocks:,}"
        f" clocks, {moved / usage.clocks * speed / 1e6:.1f} MB per CPU second; at rest"
        f" {at_rest:,.0f} clocks/s, so {1 - speed / at_rest:.0%} of the time is for moving data",
    )


def _run(device: Device, clocks: int) -> tuple[list[int], float]:
    """Clocks in which the bus of each channel carried data, and clocks per second of process time."""
    before = _data_clocks(device)
    first_clock, started = device.clocks, time.process_time()
    device.link.run(clocks)
    speed = (device.clocks - first_clock) / (time.process_time() - started)
    return [after - clock for after, clock in zip(_data_clocks(device), before, strict=True)], speed


def _data_clocks(device: Device) -> list[int]:
    kinds = (ChannelCounter.BUS_DATA_IN, ChannelCounter.BUS_DATA_OUT)
    return [sum(channel[kind.name] for kind in kinds) for channel in device.channel_counters()]
