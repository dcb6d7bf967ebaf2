"""The units of a die agent, each alone."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.die_agent.agent_units import agent_units


@pytest.mark.icarus("lost|alternate/share=1|corrects|deferred|granted=1.0$", long="^(?!.*granted=0.5)")
@pytest.mark.parametrize("bench", ["agent_units", "request_mux", "ready_poller", "ready_line", "reader"])
def test_agent_units(simulator, seed, part, bench):
    path = Path(__file__).with_name(f"{bench}_bench.py")
    run_bench(agent_units(), "agent_units", path, simulator=simulator, seed=seed, test_filter=part)
