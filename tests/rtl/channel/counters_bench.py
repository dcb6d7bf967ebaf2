"""The counters of a channel against a plain count."""

import random
from collections import Counter

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.bus.bus_controller import BusActivity
from flashtrain.rtl.channel.counters import EventCounts
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import pack, start
from flashtrain.spec.registers import ChannelCounter
from tests.rtl.channel.channel_helpers import CONFIGS

CONFIG = CONFIGS[bench_parameters()["config"]]
EVENTS = EventCounts(CONFIG)


async def read(dut, number: int) -> int:
    dut.select.value = number
    for _ in range(4):
        await RisingEdge(dut.clk)
    return int(dut.value.value)


@cocotb.test()
async def counts_everything(dut):
    expected = Counter()
    await start(dut, activity=0, events=0, select=0, sample=1)
    # The bench drives after this edge what the next one counts; idle cycles are those before and after.
    for _ in range(300):
        activity = random.choice([one for one in BusActivity if one is not BusActivity.IDLE])
        events = {name: random.choice((0, 0, random.randrange(1 << event.width))) for name, event in EVENTS}
        dut.activity.value = activity.value
        dut.events.value = pack(EVENTS, **events)
        await RisingEdge(dut.clk)
        expected[ChannelCounter(activity.value)] += 1
        expected.update({ChannelCounter[name.upper()]: count for name, count in events.items()})
    dut.activity.value = BusActivity.IDLE.value
    dut.events.value = 0
    for counter in ChannelCounter:
        if counter is not ChannelCounter.BUS_IDLE:
            assert await read(dut, counter.value) == expected[counter], counter.name
    idle = await read(dut, ChannelCounter.BUS_IDLE.value)
    assert await read(dut, ChannelCounter.BUS_IDLE.value) == idle + 4
    assert await read(dut, 31) == 0

    await read(dut, ChannelCounter.BUS_COMMAND.value)
    dut.sample.value = 0
    assert await read(dut, 31) == expected[ChannelCounter.BUS_COMMAND]
