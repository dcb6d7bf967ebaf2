# amaranth: UnusedElaboratable=no
"""Decoder and encoder of tiles, each alone."""

from pathlib import Path

import pytest

from flashtrain.rtl.die.update.tile_decoder import TileDecoder
from flashtrain.rtl.die.update.tile_encoder import TileEncoder
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.die.die_configs import config_named

HERE = Path(__file__).parent


@pytest.mark.usual("icarus-TileEncoder-coded", "verilator-TileDecoder-coded", "verilator-TileEncoder-coded")
@pytest.mark.icarus("not_before|word_by_word/busy=1")
@pytest.mark.parametrize("name", ["coded", "coded_small"])
@pytest.mark.parametrize("unit", [TileDecoder, TileEncoder])
def test_alone(unit, name, simulator, seed, part):
    kind = {TileDecoder: "tile_decoder", TileEncoder: "tile_encoder"}[unit]
    run_bench(unit(config_named(name)), f"{kind}_{name}", HERE / f"{kind}_bench.py", simulator=simulator,
              seed=seed, parameters={"config": name}, test_filter=part)  # fmt: skip
