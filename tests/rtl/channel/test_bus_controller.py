"""The bus controller: cycles, timing, arbitration."""

from dataclasses import replace
from pathlib import Path

import pytest
from nand_kit import CONFIGS

from flashtrain.rtl.channel.bus_controller import BusController
from flashtrain.rtl.channel.bus_rest import BusRest
from flashtrain.sim.runner import run_bench
from flashtrain.spec import ConfigError
from flashtrain.spec.timing import NandTiming, ns


@pytest.mark.long("icarus", "four_tiny_dies")
@pytest.mark.parametrize("config", ["tiny", "tiny_code", "four_tiny_dies"])
def test_bus_controller(config, simulator, seed):
    run_bench(
        BusController(CONFIGS[config]),
        "bus_controller",
        Path(__file__).with_name("bus_controller_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": config},
    )


def test_a_rest_that_would_be_forgotten_is_refused():
    timing = replace(NandTiming(), trhw=ns(200))
    with pytest.raises(ConfigError, match=r"timing\.trhw"):
        BusRest(timing, dies=2, sent_clocks=2, grant_clocks=3)
