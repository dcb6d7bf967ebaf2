"""The agent of a die: updates, constants, statistics."""

from pathlib import Path

import pytest
from channel_kit import UPDATING
from timed_agent import TimedAgent

from flashtrain.sim.runner import Simulator, run_bench


@pytest.mark.long("icarus")
@pytest.mark.parametrize(
    "simulator, update_run", [(Simulator.ICARUS, 4), (Simulator.VERILATOR, 2)], ids=["icarus", "verilator"]
)
def test_updates(simulator, seed, update_run):
    run_bench(
        TimedAgent(UPDATING, update_run=update_run),
        "updating_agent",
        Path(__file__).with_name("updater_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": UPDATING.name, "update_run": update_run},
    )
