"""Streams for long runs: Python sleeps until something happens, not from clock to clock."""

import random
from collections import deque

import cocotb
from cocotb.triggers import Event, RisingEdge, Timer
from cocotb.utils import get_sim_time

from flashtrain.sim.bench.streams import PERIOD_NS


def clock_now() -> int:
    return round(get_sim_time("ns") / PERIOD_NS)


async def wait(dut, cycles: int) -> None:
    """Go on after so many rising edges."""
    if cycles > 1:
        await Timer((cycles - 1) * PERIOD_NS, "ns")
    if cycles > 0:
        await RisingEdge(dut.clk)


async def until(dut, signal) -> None:
    """Go on at the rising edge of the clock that finds `signal` high; at the earliest the next one."""
    await RisingEdge(dut.clk)
    while signal.value != 1:
        await RisingEdge(signal)
        await RisingEdge(dut.clk)


class PausingSource:
    """Sends items in order, up to `pause` cycles idle before each. Made after the reset."""

    def __init__(self, dut, name: str, pause: int = 0):
        self.dut = dut
        self.valid, self.ready, self.payload = (
            getattr(dut, f"{name}__{part}") for part in ("valid", "ready", "payload")
        )
        self.pause = pause
        self.items: deque[int] = deque()
        self._more = Event()
        cocotb.start_soon(self._run())

    def send(self, item: int) -> None:
        self.items.append(item)
        self._more.set()

    async def _run(self) -> None:
        while True:
            if not self.items:
                self._more.clear()
                await self._more.wait()
                await RisingEdge(self.dut.clk)
            await wait(self.dut, random.randint(0, self.pause))
            self.valid.value = 1
            self.payload.value = self.items[0]
            await until(self.dut, self.ready)
            self.items.popleft()
            self.valid.value = 0


class PausingSink:
    """Takes items, each up to `pause` cycles after it is offered."""

    def __init__(self, dut, name: str, pause: int = 0):
        self.dut = dut
        self.valid, self.ready, self.payload = (
            getattr(dut, f"{name}__{part}") for part in ("valid", "ready", "payload")
        )
        self.pause = pause
        self.items: list[int] = []
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        while True:
            await until(self.dut, self.valid)
            offered = int(self.payload.value)
            await wait(self.dut, random.randint(0, self.pause))
            self.ready.value = 1
            await RisingEdge(self.dut.clk)
            assert self.valid.value == 1 and int(self.payload.value) == offered, "an item was withdrawn"
            self.ready.value = 0
            self.items.append(offered)
