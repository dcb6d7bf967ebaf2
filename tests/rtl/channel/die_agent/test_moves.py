"""Programs that fail in a channel with spare blocks."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.die_agent.die_agent import DieAgent
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import FmsConfig
from tests.rtl.channel.channel_helpers import DUAL_SPARES
from tests.rtl.channel.spare_configs import IMPATIENT_WITH_SPARES, SPARE_CONFIGS
from tests.rtl.channel.test_engine import BAD_ZONE, EngineWithDies, surroundings

HERE = Path(__file__).parent
STEPS = {Simulator.ICARUS: 8, Simulator.VERILATOR: 40}


@pytest.mark.usual("verilator-tiny_ecc")
@pytest.mark.parametrize("name", ["tiny_ecc", "three"])
def test_agent_with_spares(simulator, seed, name):
    run_agent(SPARE_CONFIGS[name], simulator, seed)


def test_a_die_that_is_lost(seed):
    run_agent(IMPATIENT_WITH_SPARES, Simulator.VERILATOR, seed, test_filter="is_lost")


def run_agent(config: FmsConfig, simulator: Simulator, seed: int, **options: str) -> None:
    parameters = {"config": config.name, "steps": STEPS[simulator]}
    bench = HERE / "moving_bench.py"
    agent = DieAgent(config)
    run_bench(agent, "die_agent", bench, simulator=simulator, seed=seed, parameters=parameters, **options)


@pytest.mark.usual("verilator-dual_spares-7-1")
@pytest.mark.parametrize(
    ("name", "bad_block", "bad_planes"),
    [("tiny_ecc", 7, 0b01), ("three", 3, 0b1010), ("one", 3, 0b1), ("dual_spares", BAD_ZONE, 0b1)],
)
def test_engine_with_spares(simulator, seed, name, bad_block, bad_planes):
    """The simulator of the last case is that of `test_spares`."""
    config = {**SPARE_CONFIGS, DUAL_SPARES.name: DUAL_SPARES}[name]
    files = EngineWithDies.elaborated(config, bad_block=bad_block, bad_planes=bad_planes)
    parameters = {"config": name, "bad_zone": -1, "bad_block": bad_block, "bad_planes": bad_planes}
    run_bench(
        files + surroundings(simulator),
        "engine",
        HERE / "moves_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={**parameters, "faults": simulator is Simulator.VERILATOR},
    )
