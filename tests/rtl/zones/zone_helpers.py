"""Drivers and monitors of the zone benches."""

import random
from collections import deque
from collections.abc import Callable

import cocotb
from amaranth.lib import data
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time

from flashtrain.rtl.lib.axi import burst_layout, write_beat_layout

PERIOD_NS = 2


def clock_number() -> int:
    """Cycles since the start of the simulation."""
    return int(get_sim_time("ns")) // PERIOD_NS


async def cycles(dut, count: int) -> None:
    for _ in range(count):
        await RisingEdge(dut.clk)


async def reset(dut) -> None:
    """Start the clock, hold the reset for a few cycles, and leave it. Inputs are to be driven before."""
    dut.rst.value = 1
    Clock(dut.clk, PERIOD_NS, "ns", impl="gpi").start()
    await cycles(dut, 3)
    dut.rst.value = 0


def pack(layout: data.Layout, **fields: object) -> int:
    """The bits of a struct; refuses values that do not fit."""
    const = layout.const(fields)
    for name, value in fields.items():
        if const[name] != value:
            raise ValueError(f"{name} = {value} does not fit {type(layout).__name__}")
    return const.as_value().value


class Source:
    """Offers items on an input stream, in order; before each it stays idle in a share `idle` of the cycles.

    An item is (bits, called when it is first offered or None).
    """

    def __init__(self, dut, name: str, idle: float = 0):
        self._dut, self.idle = dut, idle
        self._valid, self._ready = getattr(dut, f"{name}__valid"), getattr(dut, f"{name}__ready")
        self._payload = getattr(dut, f"{name}__payload")
        self._items: deque[tuple[int, Callable[[], None] | None]] = deque()
        self.offered_at: list[int] = []
        self._valid.value = 0
        self._payload.value = 0
        self.resume()

    def resume(self) -> None:
        self._task = cocotb.start_soon(self._run())

    def stop(self) -> None:
        """Leave the pins to somebody else."""
        self._task.cancel()
        self._valid.value = 0

    def send(self, bits: int, offered: Callable[[], None] | None = None) -> None:
        self._items.append((bits, offered))

    def clear(self) -> None:
        self._items.clear()

    @property
    def empty(self) -> bool:
        return not self._items

    async def _run(self) -> None:
        while True:
            while not self._items or random.random() < self.idle:
                await RisingEdge(self._dut.clk)
            bits, offered = self._items[0]
            if offered is not None:
                offered()
            self._payload.value = bits
            self._valid.value = 1
            self.offered_at.append(clock_number())
            await RisingEdge(self._dut.clk)
            while self._ready.value != 1:
                await RisingEdge(self._dut.clk)
            self._items.popleft()
            self._valid.value = 0


class Sink:
    """Takes items from an output stream, ready in a share `busy` of the cycles, and calls `taken` with each.

    Fails when an item that was offered is withdrawn or changed. Without `busy` the stream is always ready.
    """

    def __init__(self, dut, name: str, layout, taken: Callable, busy: float | None = 1):
        self._dut, self._name, self._layout, self._taken, self.busy = dut, name, layout, taken, busy
        self._valid, self._payload = getattr(dut, f"{name}__valid"), getattr(dut, f"{name}__payload")
        self._ready = None if busy is None else getattr(dut, f"{name}__ready")
        self.offered_at: list[int] = []
        self._set_ready(False)
        self.resume()

    def _set_ready(self, ready: bool) -> None:
        if self._ready is not None:
            self._ready.value = int(ready)

    def resume(self) -> None:
        self._task = cocotb.start_soon(self._run())

    def stop(self) -> None:
        """Leave the pins to somebody else."""
        self._task.cancel()
        self._set_ready(False)

    async def _run(self) -> None:
        pending = None
        while True:
            ready = self.busy is None or random.random() < self.busy
            self._set_ready(ready)
            await RisingEdge(self._dut.clk)
            if self._dut.rst.value != 0:
                continue
            valid = self._valid.value == 1
            bits = int(self._payload.value) if valid else None
            if pending is not None:
                assert bits == pending, f"{self._name}: offered item was withdrawn or changed"
            elif valid:
                self.offered_at.append(clock_number())
            pending = None if ready else bits
            if valid and ready:
                self._taken(self._layout.from_bits(bits) if isinstance(self._layout, data.Layout) else bits)


class AxiMemory:
    """Answers the bursts of a `WritePort` called `name`, and keeps the 64-bit words by address.

    Refuses bursts that cross 4 KiB or whose beats do not end with `last`. `fail`: answer with an error.
    """

    def __init__(self, dut, name: str, config, idle: float = 0, busy: float = 1):
        self.words: dict[int, int] = {}
        self.bursts = 0
        self.fail = False
        self._addresses: deque[tuple[int, int]] = deque()
        self._beats: deque[tuple[int, int]] = deque()
        self._answers = Source(dut, f"{name}__b", idle)
        self._sinks = (
            Sink(dut, f"{name}__aw", burst_layout(config.address_bits), self._burst, busy),
            Sink(dut, f"{name}__w", write_beat_layout(64), self._beat, busy),
        )
        self.pins = (self._answers, *self._sinks)

    def pace(self, idle: float, busy: float) -> None:
        self._answers.idle = idle
        for sink in self._sinks:
            sink.busy = busy

    def _burst(self, burst) -> None:
        assert burst.address % 4096 + 8 * (burst.length + 1) <= 4096, (
            f"burst at {burst.address:#x} crosses 4 KiB"
        )
        self.bursts += 1
        self._addresses.append((burst.address, burst.length + 1))
        self._match()

    def _beat(self, beat) -> None:
        self._beats.append((beat.data, beat.last))
        self._match()

    def _match(self) -> None:
        while self._addresses and len(self._beats) >= self._addresses[0][1]:
            address, count = self._addresses.popleft()
            for number in range(count):
                word, last = self._beats.popleft()
                assert last == (number == count - 1), f"last is wrong in the burst at {address:#x}"
                self.words[address + 8 * number] = word
            self._answers.send(int(self.fail))
