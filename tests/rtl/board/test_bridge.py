"""The serial bridge and the tensor buffer of a board."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import Simulator, run_bench
from tests.rtl.board.bridge_top import BridgeTop

HERE = Path(__file__).parent


@pytest.mark.one_simulator
def test_bridge(simulator, seed, request):
    fewest = 8 if simulator is Simulator.ICARUS else 24
    run_bench(
        BridgeTop(),
        "bridge_top",
        HERE / "bridge_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={"requests": max(fewest, request.config.getoption("--long"))},
    )
