# amaranth: UnusedElaboratable=no
"""Error correction of pages: each unit, and the decoder as a whole."""

from pathlib import Path

import pytest

from flashtrain.rtl.ecc.corrector import Corrector
from flashtrain.rtl.ecc.decoder import PageDecoder
from flashtrain.rtl.ecc.encoder import PageEncoder
from flashtrain.rtl.ecc.solver import KeySolver
from flashtrain.rtl.ecc.syndromes import PageSyndromes
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import ConfigError
from tests.rtl.ecc.ecc_helpers import CODES, parameters_of

HERE = Path(__file__).parent
AT_BUS_RATE = [("little", 16), ("uneven", 32), ("tiny", 64), ("small", 16)]
"""Codes, and bits of a beat."""


def run(unit, kind, code, simulator, seed, part=None, **parameters):
    run_bench(unit, f"{kind}_{code}", HERE / f"{kind}_bench.py", simulator=simulator, seed=seed,
              test_filter=part, parameters=parameters_of(CODES[code], **parameters))  # fmt: skip


@pytest.mark.usual("icarus-little-16", "icarus-uneven-32", "verilator-small-16", "verilator-tiny-64")
@pytest.mark.parametrize(("code", "width"), AT_BUS_RATE)
def test_encoder(code, width, simulator, seed):
    run(PageEncoder(CODES[code], width), "encoder", code, simulator, seed, width=width)


@pytest.mark.usual("icarus-little-16", "icarus-uneven-32", "verilator-small-16", "verilator-tiny-64")
@pytest.mark.parametrize(("code", "width"), AT_BUS_RATE)
def test_syndromes(code, width, simulator, seed):
    run(PageSyndromes(CODES[code], width), "syndromes", code, simulator, seed, width=width)


@pytest.mark.usual("icarus-little", "verilator-small")
@pytest.mark.parametrize("code", ["little", "uneven", "small"])
def test_solver(code, simulator, seed):
    run(KeySolver(CODES[code]), "solver", code, simulator, seed)


@pytest.mark.usual("icarus-little-16-8", "verilator-little-16-8", "verilator-small-16-8")
@pytest.mark.parametrize(
    ("code", "width", "parallel"), [("little", 16, 8), ("uneven", 32, 16), ("tiny", 16, 4), ("small", 16, 8)]
)
def test_decoder(code, width, parallel, simulator, seed):
    run(PageDecoder(CODES[code], width, parallel), "decoder", code, simulator, seed,
        width=width, parallel=parallel, pages=1 if code in ("tiny", "small") else 12,
        exhaustive=code == "little" and simulator is Simulator.VERILATOR,
        bus_rate=8 if code == "small" else 0)  # fmt: skip


@pytest.mark.icarus("busy=0.3")
def test_corrector(simulator, seed, part):
    unit = Corrector(CODES["uneven"], parallel=32, sources=3)
    run(unit, "corrector", "uneven", simulator, seed, part, parallel=32, sources=3)


def test_beats_of_another_width():
    with pytest.raises(ConfigError, match="width is 24; expected a divisor of 64 bits"):
        PageEncoder(CODES["small"], 24)
