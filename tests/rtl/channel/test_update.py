"""A channel engine at updates, with models of its dies on the pins."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import Simulator, run_bench
from tests.rtl.channel.channel_helpers import UPDATING, UPDATING_PAIR
from tests.rtl.channel.engine_top import EngineTop


@pytest.mark.usual("verilator")
@pytest.mark.parametrize(
    "config, simulator",
    [(UPDATING, Simulator.ICARUS), (UPDATING_PAIR, Simulator.VERILATOR)],
    ids=["icarus", "verilator"],
)
def test_engine_at_updates(config, simulator, seed):
    run_bench(
        EngineTop(config),
        f"engine_{config.name}",
        Path(__file__).with_name("update_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": config.name},
    )
