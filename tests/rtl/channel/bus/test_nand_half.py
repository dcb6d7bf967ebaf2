"""Agents, bus controller and block table together, at full load, with the targets of the design."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import Simulator, run_bench
from tests.rtl.channel.bus.nand_half import NandHalf
from tests.rtl.channel.bus.nand_helpers import CONFIGS

BENCH = Path(__file__).with_name("nand_half_bench.py")


def run(config: str, simulator: Simulator, seed: int, part: str | None = None, **parameters: float) -> None:
    run_bench(
        NandHalf(CONFIGS[config]),
        "nand_half",
        BENCH,
        simulator=simulator,
        seed=seed,
        parameters={"config": config, **parameters},
        test_filter=part,
    )


@pytest.mark.usual("small-0.91")
@pytest.mark.parametrize(
    "config, read_share",
    [("small", 0.91), ("small_code", 0.91), ("eight_planes", 0.915), ("four_dies", 0.93)],
)
def test_full_load(config, read_share, seed, request):
    """The shares that arrays program, and that the bus carries pages from the dies.

    Eight planes of four dies take longer to load than to program: there the bus is the bound. A reset is for
    long runs; the small configurations have one in every run.
    """
    part = None if request.config.getoption("--long") else "^(?!.*starts_again)"
    program_share = 0.8 if config == "four_dies" else 0.999
    run(config, Simulator.VERILATOR, seed, part, programs=6, reads=64,
        program_share=program_share, read_share=read_share)  # fmt: skip


@pytest.mark.usual("icarus-tiny-0.999", "verilator-tiny_code-0.999")
@pytest.mark.icarus("after_a_reset")
@pytest.mark.parametrize(
    "config, program_share", [("tiny", 0.999), ("tiny_code", 0.999), ("four_tiny_dies", 0.3)]
)
def test_small_configurations(config, program_share, simulator, seed, part):
    """One die; four dies with pages so short that commands and senses fill the bus."""
    run(config, simulator, seed, part, programs=8, reads=32, program_share=program_share, read_share=0.1)
