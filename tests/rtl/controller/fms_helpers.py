"""What the benches of the whole controller share."""

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


async def begin(dut, node: NodeTable = BENCH_NODE, **options) -> Environment:
    return await Environment.start(dut, CONFIG, COVERAGE, node=node, **options)
