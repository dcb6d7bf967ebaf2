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

CYCLES = 600_000
QUICK_CYCLES = 200_000
CYCLES_AT_REST = 100_000
ASKED = {"small": 300_000, "behemoth": 60_000}
"""Cycles per second, by preset."""


def simulation_speed(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Cycles per second of process time, with appends and reads under way all the time.

    The speed of an idle device separates the effort for moving data from the effort for passing time.
    """
    config, g = device.config, device.config.geometry
    stream = device.stream(STREAM, Port.CORE)
    piece = min(config.max_blocks, g.zone_capacity) // 4
    data = device.buffer((piece * g.page_bytes,), np.uint8)
    data[:] = np.random.default_rng(3).integers(0, 256, len(data), np.uint8)
    out = device.buffer((piece * g.page_bytes,), np.uint8)
    first_cycle = device.cycles
    stored = stream.append(data)
    stream.flush()
    _, at_rest = _run(device, CYCLES_AT_REST)

    cycles = QUICK_CYCLES if quick else CYCLES
    # A read waits for appends to its zone: those that follow go to others.
    stream.finish_zone(0)
    # Both directions are kept busy for longer than it takes, as far as the stream has room. Commands of a
    # port are taken in order, so appends and reads take turns. Nobody waits for what is left at the end.
    room = (stream.zones - 1) * g.zone_capacity // piece
    needed = 1.5 * cycles / config.timing.clock_hz * config.program_bytes_per_second / len(data)
    for _ in range(min(room, 2 + int(needed))):
        stream.append_async(data)
        stream.read_async(stored, out)
    before = Snapshot.of(device)
    busy, speed = _run(device, cycles)
    usage = Snapshot.of(device).since(before)
    # Once more for the figure: recording takes time of its own.
    recorder.start()
    _run(device, cycles // 4)
    recorder.stop()
    if not usage.appended_bytes or not usage.read_bytes or not all(busy):
        raise BenchmarkError("not every channel moved data while the speed was measured")
    asked = ASKED.get(config.name)
    moved = usage.appended_bytes + usage.read_bytes
    return Measurement(
        value=speed,
        unit="cycles/s",
        cycles=device.cycles - first_cycle,
        asked="" if asked is None else f"{asked:,}",
        met=None if asked is None else speed >= asked,
        note=f"{usage.appended_bytes >> 10} KiB appended and {usage.read_bytes >> 10} KiB read in {cycles:,}"
        f" cycles, {moved / usage.cycles * speed / 1e6:.1f} MB per CPU second; at rest"
        f" {at_rest:,.0f} cycles/s, so {1 - speed / at_rest:.0%} of the time is for moving data",
    )


def _run(device: Device, cycles: int) -> tuple[list[int], float]:
    """Cycles in which the bus of each channel carried data, and cycles per second of process time."""
    before = _data_cycles(device)
    first_cycle, started = device.cycles, time.process_time()
    device.link.run(cycles)
    speed = (device.cycles - first_cycle) / (time.process_time() - started)
    return [after - cycle for after, cycle in zip(_data_cycles(device), before, strict=True)], speed


def _data_cycles(device: Device) -> list[int]:
    kinds = (ChannelCounter.BUS_DATA_IN, ChannelCounter.BUS_DATA_OUT)
    return [sum(channel[kind.name] for kind in kinds) for channel in device.channel_counters()]
