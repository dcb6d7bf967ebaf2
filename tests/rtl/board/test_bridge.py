"""The serial bridge and the tensor buffer of a board."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import run_bench
from tests.rtl.board.bridge_top import BridgeTop

HERE = Path(__file__).parent


@pytest.mark.one_simulator
def test_bridge(simulator, seed, request):
    run_bench(
        BridgeTop(),
        "bridge_top",
        HERE / "bridge_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={"requests": max(16, request.config.getoption("--long"))},
    )
