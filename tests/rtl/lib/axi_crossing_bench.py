"""cocotb tests of `AxiCrossing` with AXI4-Lite. The reference model is a queue of items with their times."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time

from flashtrain.sim.bench.parameters import bench_parameters

CHANNELS: dict[str, list[str]] = bench_parameters()["channels"]
REQUESTS = ("aw", "w", "ar")
PERIODS = [(2000, 7306), (7306, 2000), (3000, 3110), (2000, 2000)]
"""Of the manager's and the subordinate's clock, in picoseconds."""


class Side:
    """One end of a channel: its clock, and its pins by name."""

    def __init__(self, dut, side: str, channel: str):
        self.clk = getattr(dut, f"{side}_clk")
        self.valid = getattr(dut, f"{side}__{channel}valid")
        self.ready = getattr(dut, f"{side}__{channel}ready")
        self.payload = [getattr(dut, f"{side}__{name}") for name in CHANNELS[channel]]

    async def send(self, items: list[tuple[int, ...]], busy: float) -> list[int]:
        """Send items, idle before each with chance 1 - `busy`; the times of their transfers."""
        times = []
        for item in items:
            while random.random() >= busy:
                await RisingEdge(self.clk)
            self.valid.value = 1
            for pin, value in zip(self.payload, item, strict=True):
                pin.value = value
            await RisingEdge(self.clk)
            while self.ready.value != 1:
                await RisingEdge(self.clk)
            times.append(round(get_sim_time("ps")))
            self.valid.value = 0
        return times

    async def receive(self, count: int, busy: float) -> list[tuple[int, tuple[int, ...]]]:
        """Take so many items, ready with chance `busy` in each cycle; each with the time of its transfer."""
        taken = []
        while len(taken) < count:
            ready = random.random() < busy
            self.ready.value = int(ready)
            await RisingEdge(self.clk)
            if ready and self.valid.value == 1:
                item = tuple(int(pin.value) for pin in self.payload)
                taken.append((round(get_sim_time("ps")), item))
        self.ready.value = 0
        return taken


def sides(dut, channel: str) -> tuple[Side, Side]:
    names = ("manager", "subordinate") if channel in REQUESTS else ("subordinate", "manager")
    return Side(dut, names[0], channel), Side(dut, names[1], channel)


def items_for(source: Side, count: int) -> list[tuple[int, ...]]:
    return [tuple(random.getrandbits(len(pin)) for pin in source.payload) for _ in range(count)]


async def start(dut, periods: tuple[int, int]) -> None:
    """Run both clocks with a random phase between them, and leave both resets."""
    for channel in CHANNELS:
        source, target = sides(dut, channel)
        source.valid.value = target.ready.value = 0
        for pin in source.payload:
            pin.value = 0
    for side, period in zip(("manager", "subordinate"), periods, strict=True):
        Clock(getattr(dut, f"{side}_clk"), period, "ps").start(start_high=random.random() < 0.5)
    await reset(dut)


async def reset(dut) -> None:
    dut.manager_rst.value = dut.subordinate_rst.value = 1
    for _ in range(4):
        await RisingEdge(dut.manager_clk)
        await RisingEdge(dut.subordinate_clk)
    dut.manager_rst.value = 0
    await RisingEdge(dut.subordinate_clk)
    dut.subordinate_rst.value = 0
    for _ in range(4):
        await RisingEdge(dut.manager_clk)
        await RisingEdge(dut.subordinate_clk)


@cocotb.test()
@cocotb.parametrize(periods=PERIODS)
async def every_channel_keeps_its_items(dut, periods):
    await start(dut, periods)
    expected, receivers = {}, {}
    for channel in CHANNELS:
        source, target = sides(dut, channel)
        expected[channel] = items_for(source, 60)
        cocotb.start_soon(source.send(expected[channel], busy=random.choice((0.3, 0.9))))
        receivers[channel] = cocotb.start_soon(target.receive(60, busy=random.choice((0.3, 0.9))))
    for channel, receiver in receivers.items():
        assert [item for _, item in await receiver] == expected[channel], channel


@cocotb.test()
@cocotb.parametrize(periods=PERIODS)
async def an_item_takes_three_edges(dut, periods):
    await start(dut, periods)
    for channel in CHANNELS:
        source, target = sides(dut, channel)
        period = periods[1] if channel in REQUESTS else periods[0]
        for _ in range(3):
            receiver = cocotb.start_soon(target.receive(1, busy=1))
            (sent,) = await source.send(items_for(source, 1), busy=1)
            ((received, _),) = await receiver
            # Clocks that rise at the same time leave the order of two edges to the simulator.
            slack = period if periods[0] == periods[1] else 0
            assert 2 * period - slack < received - sent <= 3 * period + slack, (channel, received - sent)


@cocotb.test()
@cocotb.parametrize(periods=PERIODS)
async def the_slower_clock_sets_the_rate(dut, periods):
    await start(dut, periods)
    for channel in CHANNELS:
        source, target = sides(dut, channel)
        receiver = cocotb.start_soon(target.receive(100, busy=1))
        await source.send(items_for(source, 100), busy=1)
        times = [time for time, _ in await receiver]
        # From the tenth on the FIFO has its final level.
        cycles = (times[-1] - times[9]) / max(periods)
        assert 89 <= cycles <= 91, (channel, cycles)


@cocotb.test()
@cocotb.parametrize(periods=PERIODS[:2])
async def a_reset_of_both_empties_it(dut, periods):
    await start(dut, periods)
    for channel in CHANNELS:
        source, _ = sides(dut, channel)
        await source.send(items_for(source, 5), busy=1)
    await reset(dut)
    for channel in CHANNELS:
        source, target = sides(dut, channel)
        assert target.valid.value == 0, channel
        items = items_for(source, 12)
        receiver = cocotb.start_soon(target.receive(12, busy=1))
        await source.send(items, busy=1)
        assert [item for _, item in await receiver] == items, channel
