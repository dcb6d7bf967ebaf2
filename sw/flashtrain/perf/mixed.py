"""Appends beside reads on one device."""

from dataclasses import dataclass
from itertools import count

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.nand import BusOp

from .append import STREAM, settling_superpages
from .measurement import BenchmarkError, Measurement
from .page_rates import PageRates, rates_of_arrays, rates_of_buses
from .progress import pages_programmed
from .read import buffer_hits
from .read_bound import operation_time, status_time
from .use_recorder import UseRecorder

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
ASKED_RAW, ASKED_RAW_WITH_SCA = 0.9, 0.95
"""Of `Mix.raw_bound`."""
FAIR = 0.9
"""Of each side's share."""


@dataclass(frozen=True)
class Mix:
    """So many bytes read for each byte appended."""

    reads: float

    def share(self, *, of_reads: bool) -> float:
        return (self.reads if of_reads else 1) / (1 + self.reads)

    def bound(self, config: FmsConfig) -> float:
        """Bytes per second of both together: the less of `buses` and `arrays`."""
        return min(self.buses(config), self.arrays(config))

    def raw_bound(self, config: FmsConfig) -> float:
        """The same of buses that carry nothing but pages with their parity, 2 bytes per cycle and channel."""
        return min(config.net_channel_bytes_per_second, self.arrays(config))

    def buses(self, config: FmsConfig) -> float:
        """Bytes per second of all buses, with the commands of the pages: `bus_cycles`."""
        g = config.geometry
        rate = g.channels * (1 + self.reads) * g.page_bytes / self.bus_cycles(config) * config.timing.clock_hz
        return min(rate, config.net_channel_bytes_per_second)

    def arrays(self, config: FmsConfig) -> float:
        """Bytes per second of all arrays.

        A die programs a page set (tPROG) and senses `reads` others (tR each). Of all dies that is
        dies x (1 + reads) x page set / (tPROG + reads x tR).
        """
        g, t = config.geometry, config.timing
        cycles = t.cycles("tprog") + self.reads * t.cycles("tr")
        return g.channels * g.dies * (1 + self.reads) * g.page_set_bytes / cycles * t.clock_hz

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


@dataclass(frozen=True)
class Counted:
    """Bytes per second `at` buses or arrays, beside their bound for the ratio of the two kinds there."""

    at: str
    appended: float
    read: float
    bound: float

    @classmethod
    def at_buses(cls, config: FmsConfig, rates: PageRates) -> "Counted":
        return cls._of("buses", config, rates, Mix(rates.read / rates.appended).buses(config))

    @classmethod
    def at_arrays(cls, config: FmsConfig, rates: PageRates) -> "Counted":
        return cls._of("arrays", config, rates, Mix(rates.read / rates.appended).arrays(config))

    @classmethod
    def _of(cls, at: str, config: FmsConfig, rates: PageRates, bound: float) -> "Counted":
        scale = config.geometry.page_bytes * config.timing.clock_hz
        return cls(at, rates.appended * scale, rates.read * scale, bound)

    @property
    def both(self) -> float:
        return self.appended + self.read

    @property
    def share(self) -> float:
        return self.both / self.bound


def mixed(device: Device, recorder: UseRecorder, reads: int, quick: bool = False) -> Measurement:
    """Bytes per second, appended and read together, with commands of both kinds always waiting.

    One port gets an append and `reads` reads by turns, a quarter of a superpage each, with `IN_FLIGHT`
    commands in its queue; so neither kind can run ahead by more than that.

    Buses and arrays are counted each for itself (`page_rates`), beside a bound of its own. One kind may be
    ahead within the time that is counted. The bound is therefore that of the ratio that is counted. The value
    is that of the buses or of the arrays, whichever are nearer to their bound.
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

    def work_until(superpages: int) -> None:
        """Submit commands until so many superpages are programmed."""
        while pages_programmed(device) < programmed + superpages * g.superpage:
            turn = next(turns)
            stream.append_async(data[turn % len(data)])
            for number in range(turn * reads, (turn + 1) * reads):
                stored_stream.read_async(stored[number % len(data)], out[number % len(data)])

    work_until(margin)
    recorder.start()
    work_until(margin + superpages)
    arrays = recorder.stop()
    device.wait()
    if out.tobytes() != data.tobytes():
        raise BenchmarkError("what was read is not what was appended")
    if buffer_hits(device) != hits:
        raise BenchmarkError("pages came from the write buffer although the stream was flushed")

    counted = max(
        Counted.at_buses(config, rates_of_buses(recorder.buses, g.channels)),
        Counted.at_arrays(config, rates_of_arrays(arrays, recorder.begin, g.channels * g.dies)),
        key=lambda each: each.share,
    )
    raw, mix = Mix(counted.read / counted.appended).raw_bound(config), Mix(reads)
    of_raw = ASKED_RAW_WITH_SCA if config.chips.sca else ASKED_RAW
    fair = (
        counted.appended / counted.both / mix.share(of_reads=False),
        counted.read / counted.both / mix.share(of_reads=True),
    )
    return Measurement(
        value=counted.both / 1e9,
        unit="GB/s",
        bound=counted.bound / 1e9,
        cycles=device.cycles - first_cycle,
        asked=f"{ASKED:.0%} of the bound, {of_raw:.0%} of {raw / 1e9:.3f} without commands, each side"
        f" within {1 - FAIR:.0%} of its share",
        met=counted.both >= max(ASKED * counted.bound, of_raw * raw) and min(fair) >= FAIR,
        note=f"counted at the {counted.at}: appended {counted.appended / 1e9:.3f} GB/s, {fair[0]:.1%} of its"
        f" share; read {counted.read / 1e9:.3f} GB/s, {fair[1]:.1%} of its share",
    )
