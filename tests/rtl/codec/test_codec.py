# amaranth: UnusedElaboratable=no
"""Encoder and decoder lane of coded pages, on ports of 4, 8, 32 and 128 bytes."""

from pathlib import Path

import pytest

from flashtrain.rtl.codec.encoder import Encoder
from flashtrain.sim.bench.runner import Simulator, run_bench
from tests.rtl.codec.checked_lane import CheckedLane
from tests.rtl.codec.codec_helpers import CONFIGS
from tests.rtl.side_by_side import SideBySide

BENCH = Path(__file__).with_name("codec_bench.py")
BLOCKS = {"tiny": 8, "small": 3, "slice": 5, "behemoth": 5}
"""Of the longest appends."""
RATE_BLOCKS = {"tiny": 24, "small": 10, "slice": 20, "behemoth": 32}
"""Of an append whose rate is measured."""


@pytest.mark.usual("verilator-small", "verilator-behemoth")
@pytest.mark.parametrize("name", BLOCKS)
def test_codec(name, simulator, seed):
    config = CONFIGS[name]
    top = SideBySide({"encoder": Encoder(config), "lane": CheckedLane(config)})
    fast = simulator is Simulator.VERILATOR
    run_bench(
        top, f"codec_{name}", BENCH, simulator=simulator, seed=seed,
        parameters={"config": name, "blocks": BLOCKS[name] if fast else 2, "rate_blocks": RATE_BLOCKS[name],
                    "patterns": name == "behemoth", "rates": fast},
    )  # fmt: skip
