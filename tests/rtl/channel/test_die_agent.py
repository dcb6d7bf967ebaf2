"""The agent of a die: order of operations, waits, results, fairness."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.die_agent import DieAgent
from flashtrain.sim.runner import run_bench
from flashtrain.spec import preset

BENCH = Path(__file__).with_name("die_agent_bench.py")


@pytest.mark.parametrize("read_run, program_run", [(4, 1), (2, 3)])
def test_die_agent(simulator, seed, read_run, program_run):
    agent = DieAgent(preset("tiny"), read_run=read_run, program_run=program_run)
    parameters = {"preset": "tiny", "read_run": read_run, "program_run": program_run}
    run_bench(agent, "die_agent", BENCH, simulator=simulator, seed=seed, parameters=parameters)
