"""The bus controller: cycles, timing, arbitration."""

from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.rtl.channel.bus.bus_arbiter import Turnaround
from flashtrain.rtl.channel.bus.bus_controller import BusController
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import ConfigError
from flashtrain.spec.timing import NandTiming, ns
from tests.rtl.channel.bus.nand_helpers import CONFIGS


def run(bench: str, config: str, simulator: Simulator, seed: int, part: str | None = None) -> None:
    """Run a bench of this folder on the bus controller of a configuration."""
    run_bench(
        BusController(CONFIGS[config]),
        "bus_controller",
        Path(__file__).with_name(bench),
        simulator=simulator,
        seed=seed,
        parameters={"config": config},
        test_filter=part,
    )


@pytest.mark.usual("icarus-tiny", "icarus-tiny_code", "verilator-four_tiny_dies")
@pytest.mark.parametrize("config", ["tiny", "tiny_code", "four_tiny_dies"])
def test_bus_controller(config, simulator, seed):
    run("bus_controller_bench.py", config, simulator, seed)


@pytest.mark.one_simulator
def test_parts(simulator, seed):
    """The other tests of the bench are of whole pages."""
    run("bus_controller_bench.py", "four_dies_parts", simulator, seed, "part")


@pytest.mark.usual("icarus-tiny_sca", "verilator-four_dies_sca")
@pytest.mark.parametrize("config", ["tiny_sca", "four_dies_sca"])
def test_sca(config, simulator, seed):
    run("sca_bench.py", config, simulator, seed)


@pytest.mark.one_simulator
def test_sca_parts(simulator, seed):
    """All pages of the other tests of the bench are whole."""
    run("sca_bench.py", "sca_parts", simulator, seed, "part|random_operations")


@pytest.mark.one_simulator
@pytest.mark.parametrize("config", ["tiny_port", "slow_port"])
def test_command_port(config, simulator, seed):
    run("command_port_bench.py", config, simulator, seed)


def test_turnaround_longer_than_a_status_is_refused():
    timing = replace(NandTiming(), trhw=ns(200))
    with pytest.raises(ConfigError, match=r"timing\.trhw"):
        Turnaround(timing, dies=2, sent_cycles=2, grant_cycles=3)
