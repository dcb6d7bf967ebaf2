"""Random legal operations against a twin."""

import random

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from tests.rtl.die.die_configs import config_named
from tests.rtl.die.nand_driver import started
from tests.rtl.die.nand_model import RandomOperations

CONFIG = config_named(bench_parameters()["config"])
OPERATIONS = 150
WEIGHTS = {
    "erase": 2,
    "program": 7,
    "read": 4,
    "suspended_read": 2,
    "cache_read": 3,
    "random_cache_read": 2,
    "identify": 1,
    "reset": 1,
}
if CONFIG.geometry.spare_blocks:
    WEIGHTS["copyback"] = 4


@cocotb.test()
async def legal_operations(dut):
    nand = await started(dut, CONFIG)
    operations = RandomOperations(nand)
    for die in range(CONFIG.geometry.dies):
        nand.select(die)
        for name in ["erase"] * 4 + ["program"] * 4:
            await operations.perform(name)
    for _ in range(OPERATIONS):
        nand.select(random.randrange(CONFIG.geometry.dies))
        (name,) = random.choices(list(WEIGHTS), list(WEIGHTS.values()))
        await operations.perform(name)
        assert nand.violations == 0, name
        if random.random() < 0.3:
            nand.deselect()
            await nand.wait(random.randint(1, 100))
    assert set(operations.done) == set(WEIGHTS), "an operation was never possible"
