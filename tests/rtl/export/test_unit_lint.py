"""Units that the tests' configuration of the export has none of: their text is lint-clean.

All modules of all presets are linted with `--long` (tests/sim/integration/test_presets.py).
"""

import pytest
from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.channel.read_buffer.page_corrector import PageCorrector
from flashtrain.rtl.codec.decoder_lane import DecoderLane
from flashtrain.rtl.codec.encoder import Encoder
from flashtrain.rtl.export.systemverilog import export_design, lint
from flashtrain.spec import preset


class Bounds(wiring.Component):
    """Comparisons of a number of 5 bits that are always true, or never."""

    def __init__(self):
        super().__init__({"number": In(5), "choice": In(1), "results": Out(5)})

    def elaborate(self, platform):
        m = Module()
        number, nothing = Signal.like(self.number), Mux(self.choice, 0, 0)
        m.d.comb += number.eq(self.number)
        results = (number < 0, number >= 0, number > 31, number <= 31, number // 8 < nothing)
        m.d.comb += [self.results[place].eq(result) for place, result in enumerate(results)]
        return m


def test_a_comparison_with_a_limit_is_a_constant(tmp_path):
    design = export_design(Bounds(), "bounds")
    lint(design.write(tmp_path), design.name)


def corrector(config):
    return PageCorrector(config, config.code)


@pytest.mark.parametrize(
    ("unit", "name"),
    [
        (corrector, "tiny_ecc"),
        pytest.param(corrector, "small_ecc", marks=pytest.mark.long),
        (DecoderLane, "tiny_codec"),
        pytest.param(Encoder, "tiny_codec", marks=pytest.mark.long),
    ],
)
def test_a_unit_is_lint_clean(unit, name, tmp_path):
    design = export_design(unit(preset(name)), "unit")
    lint(design.write(tmp_path), design.name)
