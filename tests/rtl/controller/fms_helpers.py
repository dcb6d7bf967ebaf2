"""What the benches of the whole controller share."""

import random
from pathlib import Path

from flashtrain.sim.bench.coverage import Coverage, Plan
from flashtrain.sim.bench.environment import Environment
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec import NodeTable
from tests.rtl.controller.fms_config import BENCH_NODE, CONFIGS

_parameters = bench_parameters()
CONFIG = CONFIGS[_parameters["config"]]
GEOMETRY = CONFIG.geometry
PAGE = GEOMETRY.page_bytes
CAPACITY = GEOMETRY.zone_capacity
COMMANDS: int = _parameters["commands"]
"""Commands of a random test."""
COVERAGE = Coverage(Plan.read(Path(_parameters["plan"])), Path(_parameters["coverage"]))


NAND_PERIODS_PS: list[int] = _parameters["nand_periods_ps"]
"""Least and greatest period of the NAND's clock; none if it is the system's, of 2 ns."""


RATES: str = _parameters["rates"]
"""File for the figures of `rate_bench`."""


async def begin(dut, node: NodeTable = BENCH_NODE, **options) -> Environment:
    if NAND_PERIODS_PS:
        options["nand_period_ps"] = random.randint(*NAND_PERIODS_PS)
        dut._log.info("the NAND's clock has a period of %d ps", options["nand_period_ps"])
    return await Environment.start(dut, CONFIG, COVERAGE, node=node, **options)
