"""Controllers with SDR as data interface, on independent parts (`tests/parts`)."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import run_bench
from tests.rtl.controller.sdr_board import BOARDS, board_sources

HERE = Path(__file__).parent


@pytest.mark.usual("verilator-sdr_cached")
@pytest.mark.parametrize("name", ("sdr_cached", "sdr_two_planes", "sdr_plain", "sdr_both", "sdr_luns"))
def test_data(name, simulator, seed):
    """Icarus takes minutes."""
    run_bench(
        board_sources(BOARDS[name]),
        "sdr_board",
        HERE / "sdr_data_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={"board": name},
        delays=True,
    )
