"""Drivers and monitors of Amaranth streams, with random idle and back-pressure.

A stream port `x` of a component has pins `x__valid`, `x__ready` and `x__payload`.
"""

import random
from collections import deque

import cocotb
from amaranth.lib import data
from cocotb.clock import Clock
from cocotb.triggers import Event, RisingEdge, Timer
from cocotb.types import Logic

PERIOD_NS = 2

LOW, HIGH = Logic(0), Logic(1)
"""To compare bits with in every cycle: with a number each comparison makes a `Logic` of it."""


def pack(layout: data.Layout, **fields: int) -> int:
    """The bits of a struct; fields that are not given are 0, and one that does not fit is an error."""
    bits = 0
    places = _places(layout)
    for name, value in fields.items():
        offset, width = places[name]
        if value >> width:
            raise ValueError(f"{name}={value} does not fit {width} bits")
        bits |= value << offset
    return bits


def unpack(layout: data.Layout, bits: int) -> dict[str, int]:
    """The fields of a struct."""
    return {name: bits >> offset & (1 << width) - 1 for name, (offset, width) in _places(layout).items()}


def _places(layout: data.Layout) -> dict[str, tuple[int, int]]:
    """Offset and width of each field. Kept with the layout: Amaranth works out the widths anew each time.

    To make a layout takes longer still: code that packs or unpacks in every cycle makes it once.
    """
    kept = vars(layout)
    if "_places" not in kept:
        kept["_places"] = {str(name): (field.offset, field.width) for name, field in layout}
    return kept["_places"]


async def start(dut, within: int = 300_000, **inputs: int) -> None:
    """Run the clock, drive `inputs` (all others must be driven by streams made before), and leave reset.

    The test fails if it goes on for more than `within` cycles: it hangs.
    """
    cocotb.start_soon(_hang(within))
    for name, value in inputs.items():
        getattr(dut, name).value = value
    dut.rst.value = 1
    # The clock's first edge would not wait until the pins have what is written here.
    await Timer(PERIOD_NS, "ns")
    Clock(dut.clk, PERIOD_NS, "ns", impl="gpi").start()
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)


async def _hang(cycles: int) -> None:
    await Timer(cycles * PERIOD_NS, "ns")
    raise AssertionError(f"it hangs: the test has not ended after {cycles} cycles")


class StreamSource:
    """Sends items in order; idle before each with chance 1 - `busy`.

    always_ready: the stream has no pin `ready`. On Icarus a signal inside the top may have its name.
    """

    def __init__(self, dut, name: str, busy: float = 1, always_ready: bool = False):
        self.clk = dut.clk
        self.valid = getattr(dut, f"{name}__valid")
        self.ready = None if always_ready else getattr(dut, f"{name}__ready", None)
        self.payload = getattr(dut, f"{name}__payload", None)
        self.busy = busy
        self.items: deque[int] = deque()
        self.sent = 0
        self._more = Event()
        self.valid.value = 0
        if self.payload is not None:
            self.payload.value = 0
        cocotb.start_soon(self._run())

    def send(self, *items: int) -> None:
        self.items.extend(items)
        self._more.set()

    @property
    def empty(self) -> bool:
        return not self.items

    async def _run(self) -> None:
        while True:
            if not self.items:
                self._more.clear()
                await self._more.wait()
                await RisingEdge(self.clk)
            while random.random() >= self.busy:
                await RisingEdge(self.clk)
            self.valid.value = 1
            if self.payload is not None:
                self.payload.value = self.items[0]
            await RisingEdge(self.clk)
            while self.ready is not None and self.ready.value != HIGH:
                await RisingEdge(self.clk)
            self.items.popleft()
            self.sent += 1
            self.valid.value = 0


class StreamSink:
    """Takes items, ready with chance `busy`, and checks that an item offered once stays until it is taken."""

    def __init__(self, dut, name: str, busy: float = 1):
        self.dut = dut
        self.name = name
        self.valid = getattr(dut, f"{name}__valid")
        self.ready = getattr(dut, f"{name}__ready")
        self.payload = getattr(dut, f"{name}__payload", None)
        self.busy = busy
        self.items: list[int] = []
        self.cycles: list[int] = []  # when each was taken, counted from the sink's start
        self._seen = 0
        self.ready.value = 0
        cocotb.start_soon(self._run())

    def new_items(self) -> list[int]:
        """The items that were taken since the last call."""
        items = self.items[self._seen :]
        self._seen += len(items)
        return items

    async def wait_for(self, count: int, cycles: int = 100_000) -> list[int]:
        """The first `count` items; an error if they do not come within `cycles`."""
        for _ in range(cycles):
            if len(self.items) >= count:
                return self.items[:count]
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"{self.name}: {len(self.items)} of {count} items after {cycles} cycles")

    async def _run(self) -> None:
        offered, driven = None, False
        clock, clk, rst = 0, self.dut.clk, self.dut.rst
        while True:
            ready = random.random() < self.busy
            if ready != driven:
                self.ready.value = int(ready)
                driven = ready
            await RisingEdge(clk)
            clock += 1
            if self.valid.value != HIGH:
                assert offered is None or rst.value == HIGH, (
                    f"{self.name} withdrew an item before it was taken"
                )
                offered = None
                continue
            if rst.value == HIGH:
                offered = None
                continue
            item = 0 if self.payload is None else int(self.payload.value)
            assert offered in (None, item), f"{self.name} changed an item before it was taken"
            offered = item
            if ready:
                self.items.append(item)
                self.cycles.append(clock)
                offered = None
