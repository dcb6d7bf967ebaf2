"""Counters of the front end: each counts its own pulses, and nothing else."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.host_if.counters import Latency, Pulses
from flashtrain.sim.bench.streams import pack, start
from flashtrain.spec.registers import Counter


@cocotb.test()
async def every_counter_counts_its_own(dut):
    names = [name for name, _ in Pulses()]
    expected = {counter: 0 for counter in Counter}
    await start(dut, pulses=0, latency=0, port__select=0, port__sample=1)
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    for _ in range(500):
        pulses = {name: random.randrange(2) for name in names}
        kind = random.choice(["append", "read", None])
        cycles = random.getrandbits(random.choice([4, 32]))
        dut.pulses.value = pack(Pulses(), **pulses)
        dut.latency.value = pack(Latency(), cycles=cycles, **({kind: 1} if kind else {}))
        for name in names:
            expected[Counter[name.upper()]] += pulses[name]
        if kind:
            expected[Counter[f"{kind.upper()}S"]] += 1
            expected[Counter[f"{kind.upper()}_LATENCY"]] += cycles
        await RisingEdge(dut.clk)
    dut.pulses.value = dut.latency.value = 0
    expected[Counter.CYCLES] = 501  # it is selected first
    for counter in sorted(Counter):
        dut.port__select.value = counter
        for _ in range(3):
            await RisingEdge(dut.clk)
        value = int(dut.port__value.value)
        assert value == expected[counter], counter.name
    dut.port__sample.value = 0
    dut.port__select.value = Counter.COMMANDS
    for _ in range(3):
        await RisingEdge(dut.clk)
    assert dut.port__value.value == value
