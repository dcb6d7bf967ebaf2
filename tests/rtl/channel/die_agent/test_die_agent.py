"""The agent of a die: order of operations, waits, results, fairness."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.die_agent.die_agent import DieAgent
from flashtrain.sim.bench.runner import Simulator, run_bench
from tests.rtl.channel.channel_helpers import EVERY_CONFIG

BENCH, RETRIES, SUSPENSIONS, MAKER_SUSPENDS, READY_BUSY = (
    Path(__file__).with_name(f"{name}_bench.py")
    for name in ("die_agent", "retrier", "suspensions", "maker_suspends", "ready_busy")
)


@pytest.mark.usual("verilator")
def test_die_agent(simulator, seed):
    run(simulator, seed, read_run=4, program_run=1)


def test_other_turns(seed):
    """What depends on them; what a die does with one request is the same."""
    run(
        Simulator.VERILATOR,
        seed,
        read_run=2,
        program_run=3,
        part="shares|beside|interrupt|programming|random",
    )


@pytest.mark.usual("verilator")
def test_retries(simulator, seed):
    run(simulator, seed, read_run=4, program_run=1, config="impatient_retry", bench=RETRIES)


def test_suspensions(seed):
    run(Simulator.VERILATOR, seed, read_run=1, program_run=1, config="dual", bench=SUSPENSIONS)


def test_maker_suspends(seed):
    run(Simulator.VERILATOR, seed, read_run=4, program_run=1, config="maker", bench=MAKER_SUSPENDS)


@pytest.mark.parametrize("config", ["impatient", "wired"])
def test_ready_busy(config, seed):
    """Prints the status operations and the cycles of the same work with R/B# and without."""
    run(Simulator.VERILATOR, seed, read_run=4, program_run=1, config=config, bench=READY_BUSY)


def run(
    simulator: Simulator,
    seed: int,
    *,
    read_run: int,
    program_run: int,
    config: str = "impatient",
    bench: Path = BENCH,
    part: str | None = None,
) -> None:
    agent = DieAgent(EVERY_CONFIG[config], read_run=read_run, program_run=program_run)
    parameters = {"config": config, "read_run": read_run, "program_run": program_run}
    run_bench(
        agent, "die_agent", bench, simulator=simulator, seed=seed, parameters=parameters, test_filter=part
    )
