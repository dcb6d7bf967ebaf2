"""The behavioural PHY, both sides pin to pin."""

from pathlib import Path

from flashtrain.sim.bench.runner import run_bench
from flashtrain.sim.integration.package import PHY


def test_phy(simulator, seed):
    here = Path(__file__)
    run_bench(
        [PHY, here.with_name("phy_pair.sv")], "phy_pair", here.with_name("phy_bench.py"),
        simulator=simulator, seed=seed,
    )  # fmt: skip
