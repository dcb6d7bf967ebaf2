"""Appends beside reads on one device."""

from dataclasses import dataclass
from itertools import count

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.nand import BusOp

from .append import STREAM, settling_superpages
from .array_work import ArrayRecorder, programs_per_cycle
from .measurement import BenchmarkError, Measurement
from .progress import pages_programmed, pages_read
from .read import buffer_hits
from .read_bound import operation_time, status_time

STORED = "weights"
"""The stream that is read: volatile, written and flushed before."""
STORED_SUPERPAGES = 8
SUPERPAGES = 24
QUICK_SUPERPAGES = 12
PIECES = 4
"""Commands per superpage."""
IN_FLIGHT = 16
"""Commands of both kinds together: the queue has room for as many, and is always full."""
ASKED = 0.95
ASKED_RAW = 0.9
"""Of `Mix.raw_bound`."""
FAIR = 0.9
"""Of each side's share."""


@dataclass(frozen=True)
class Mix:
    """So many bytes read for each byte appended."""

    reads: int

    def share(self, *, of_reads: bool) -> float:
        return (self.reads if of_reads else 1) / (1 + self.reads)

    def bound(self, config: FmsConfig) -> float:
        """Bytes per second of both together, the less of two bounds.

        - Buses: pages with their commands, `bus_cycles`.
        - Arrays: for each page set that a die programs (tPROG), it senses `reads` others (tR each). The bound
          is dies x (1 + reads) x page set / (tPROG + reads x tR).
        """
        g = config.geometry
        bytes_per_cycle = g.channels * (1 + self.reads) * g.page_bytes / self.bus_cycles(config)
        return min(self.raw_bound(config), bytes_per_cycle * config.timing.clock_hz)

    def raw_bound(self, config: FmsConfig) -> float:
        """The same of buses that carry nothing but pages with their parity, 2 bytes per cycle and channel."""
        g, t = config.geometry, config.timing
        cycles = t.cycles("tprog") + self.reads * t.cycles("tr")
        arrays = g.channels * g.dies * (1 + self.reads) * g.page_set_bytes / cycles * t.clock_hz
        return min(config.net_channel_bytes_per_second, arrays)

    def bus_cycles(self, config: FmsConfig) -> float:
        """Least cycles of a bus for a page appended and the pages read for it.

        tADL, tCCS and tRHW pass behind other dies' operations. Left are the operations and tCHZ:

        - Both: data; for each page set a status.
        - A page appended: its name and the command behind its data.
        - A page read: its selection, tCHZ behind its data; for each page set a command that senses it.

        With SCA they are data and the gap behind them (`NandTiming.burst_gap`).
        """
        if config.chips.sca:
            return (1 + self.reads) * (config.bus_page_bytes // 2 + config.timing.burst_gap)
        tchz, planes = config.timing.cycles("tchz"), config.geometry.planes
        select = min(operation_time(config, op) for op in (BusOp.SELECT, BusOp.SUSPENDED_READ_SELECT))
        both = config.bus_page_bytes // 2 + (status_time(config) + tchz) / planes
        append = operation_time(config, BusOp.PROGRAM_PAGE) + config.timing.cycles("twc")
        read = select + tchz + operation_time(config, BusOp.CACHE_READ_NEXT) / planes
        return both + append + self.reads * (both + read)


def mixed(device: Device, recorder: ArrayRecorder, mix: Mix, quick: bool = False) -> Measurement:
    """Bytes per second, appended and read together, with commands of both kinds always waiting.

    One port gets appends and reads by turns, a quarter of a superpage each, in the proportion of `mix`, with
    `IN_FLIGHT` commands in its queue; so neither kind can run ahead by more than that.

    Appends count when they are programmed, from one program of a die to another; reads when they are in the
    tensor buffer.
    """
    config, g = device.config, device.config.geometry
    stored_stream, stream = device.stream(STORED, Port.CORE), device.stream(STREAM, Port.CORE)
    margin = settling_superpages(config)
    superpages = min(QUICK_SUPERPAGES if quick else SUPERPAGES, stream.zones * g.pages - 2 * margin)
    stored_superpages = min(STORED_SUPERPAGES, g.pages)
    if superpages < 2:
        raise BenchmarkError(f"stream {STREAM!r} of {config.name!r} is too small for a steady state")
    piece = max(1, g.superpage // PIECES)
    data = device.buffer((PIECES * stored_superpages, piece * g.page_bytes), np.uint8)
    data[:] = np.random.default_rng(7).integers(0, 256, data.shape, np.uint8)
    out = device.buffer(data.shape, np.uint8)
    first_cycle = device.cycles
    stored = device.wait([stored_stream.append_async(part) for part in data])
    stored_stream.flush()

    hits, programmed = buffer_hits(device), pages_programmed(device)
    turns = count(0)

    def work_until(superpages: int) -> tuple[int, int]:
        """Submit commands until so many superpages are programmed; pages read by then, and the cycle."""
        while pages_programmed(device) < programmed + superpages * g.superpage:
            turn = next(turns)
            stream.append_async(data[turn % len(data)])
            for number in range(turn * mix.reads, (turn + 1) * mix.reads):
                stored_stream.read_async(stored[number % len(data)], out[number % len(data)])
        return pages_read(device), device.cycles

    work_until(margin)
    recorder.start()
    first, begin = pages_read(device), device.cycles
    last, end = work_until(margin + superpages)
    rate = programs_per_cycle(recorder.stop(), g.channels * g.dies, settle=0)
    device.wait()
    if out.tobytes() != data.tobytes():
        raise BenchmarkError("what was read is not what was appended")
    if buffer_hits(device) != hits:
        raise BenchmarkError("pages came from the write buffer although the stream was flushed")

    appended = rate * g.page_set_bytes * config.timing.clock_hz
    read = (last - first) * g.page_bytes / (end - begin) * config.timing.clock_hz
    value, bound, raw = appended + read, mix.bound(config), mix.raw_bound(config)
    fair = appended / value / mix.share(of_reads=False), read / value / mix.share(of_reads=True)
    return Measurement(
        value=value / 1e9,
        unit="GB/s",
        bound=bound / 1e9,
        cycles=device.cycles - first_cycle,
        asked=f"{ASKED:.0%} of the bound, {ASKED_RAW:.0%} of {raw / 1e9:.3f} without commands, each side"
        f" within {1 - FAIR:.0%} of its share",
        met=value >= max(ASKED * bound, ASKED_RAW * raw) and min(fair) >= FAIR,
        note=f"appended {appended / 1e9:.3f} GB/s, {fair[0]:.1%} of its share;"
        f" read {read / 1e9:.3f} GB/s, {fair[1]:.1%} of its share",
    )
