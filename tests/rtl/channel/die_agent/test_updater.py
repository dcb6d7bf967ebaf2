"""The agent of a die: updates, constants, statistics."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.die_agent.die_agent import DieAgent
from flashtrain.sim.bench.runner import Simulator, run_bench
from tests.rtl.channel.channel_helpers import UPDATING


@pytest.mark.usual("verilator")
@pytest.mark.parametrize(
    "simulator, update_run", [(Simulator.ICARUS, 4), (Simulator.VERILATOR, 2)], ids=["icarus", "verilator"]
)
def test_updates(simulator, seed, update_run):
    run_bench(
        DieAgent(UPDATING, update_run=update_run),
        "updating_agent",
        Path(__file__).with_name("updater_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": UPDATING.name, "update_run": update_run},
    )
