"""The AXI checker refuses what it must: a checker that cannot fail would be worth nothing."""

from pathlib import Path

from flashtrain.sim.bench.fms_top import AXI_CHECKER
from flashtrain.sim.bench.runner import Simulator, run_bench


def test_axi_checker(simulator: Simulator, seed: int) -> None:
    run_bench(
        [AXI_CHECKER],
        "flashtrain_axi_checker",
        Path(__file__).with_name("axi_checker_bench.py"),
        simulator=simulator,
        seed=seed,
    )
