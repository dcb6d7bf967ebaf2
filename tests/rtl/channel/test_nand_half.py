"""Agents, bus controller and block table together, at full load, with the targets of the design."""

from pathlib import Path

import pytest
from nand_half import NandHalf
from nand_kit import CONFIGS

from flashtrain.sim.runner import Simulator, run_bench

BENCH = Path(__file__).with_name("nand_half_bench.py")


@pytest.mark.parametrize(
    "config, program_share, read_share",
    [("small", 0.99, 0.90), ("eight_planes", 0.99, 0.90)],
)
def test_full_load(config, program_share, read_share, seed):
    """The shares that arrays program, and that the bus carries pages from the dies."""
    parameters = {
        "config": config, "programs": 8, "reads": 64,
        "program_share": program_share, "read_share": read_share,
    }  # fmt: skip
    run_bench(
        NandHalf(CONFIGS[config]), "nand_half", BENCH,
        simulator=Simulator.VERILATOR, seed=seed, parameters=parameters,
    )  # fmt: skip
