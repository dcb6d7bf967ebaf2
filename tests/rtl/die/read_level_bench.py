"""The read level of a die: what the array is told, and for how long the die is busy."""

import random

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus, Feature
from tests.rtl.die.die_configs import config_named
from tests.rtl.die.nand_driver import NandDriver, started

CONFIG = config_named(bench_parameters()["config"])
LEVELS = range(CONFIG.read_levels + 1)


async def begin(dut) -> NandDriver:
    nand = await started(dut, CONFIG)
    nand.select(0)
    assert dut.level.value == 0
    return nand


@cocotb.test()
async def is_as_it_was_set(dut):
    """In random order; busy for tFEAT to the clock, and then as idle as before."""
    nand = await begin(dut)
    for _ in range(20):
        level = random.choice(LEVELS)
        busy = await nand.set_read_level(level)
        assert busy == CONFIG.timing.cycles("tfeat")
        assert dut.level.value == level
        idle = DieStatus.WP_N | DieStatus.RDY | DieStatus.ARDY
        assert await nand.status() == idle
        assert dut.level.value == level
    assert nand.violations == 0


@cocotb.test()
async def holds_from_the_last_parameter_on(dut):
    nand = await begin(dut)
    await nand.command(C.SET_FEATURES)
    await nand.address(Feature.READ_LEVEL, 1)
    await nand.until(nand.last_we + CONFIG.timing.cycles("tadl"))
    dut.bus__dqs_o.value = 1
    for parameter in (1, 0, 0, 0):
        dut.bus__dq_o.value = parameter * 0x0101
        assert dut.level.value == 0 and dut.bus__rb_n.value == 1
        await nand.wait(1)
    dut.bus__dqs_o.value = 0
    await nand.wait(1)
    assert dut.level.value == 1 and dut.bus__rb_n.value == 0


@cocotb.test()
async def ends_with_a_reset(dut):
    nand = await begin(dut)
    await nand.set_read_level(LEVELS[-1])
    await nand.reset_die()
    assert dut.level.value == 0
    await nand.set_read_level(LEVELS[-1])
    await nand.power_cycle()
    assert dut.level.value == 0
    # One that comes between the parameters leaves none of them.
    await nand.set_feature(Feature.READ_LEVEL, bytes([1, 0]))
    await nand.reset_die()
    await nand.set_read_level(1)
    assert dut.level.value == 1
    assert nand.violations == 0


@cocotb.test()
async def other_features_and_other_data_are_none(dut):
    nand = await begin(dut)
    await nand.set_read_level(1)
    for feature in random.sample([number for number in range(256) if number != Feature.READ_LEVEL], 8):
        await nand.set_feature(feature, bytes([2, 0, 0, 0]))
        nand.last_we = nand.now
        await nand.ready()
    assert nand.violations == 8
    nand.forgive()
    await nand.load(0, 1, 0, bytes([2]) * CONFIG.geometry.raw_page_bytes)
    await nand.confirm(C.PROGRAM_MULTI_PLANE)
    assert dut.level.value == 1
    assert nand.violations == 0
