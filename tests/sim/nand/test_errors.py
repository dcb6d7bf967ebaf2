"""Parameters of the error model, and what they come to."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashtrain.sim.nand.errors import SLC, Ageing, ErrorModel, PagePlace, Wear, even, wrong_bits
from flashtrain.sim.nand.errors.__main__ import main
from flashtrain.spec import ConfigError
from flashtrain.spec.ecc import RAW_BIT_ERROR_RATE
from flashtrain.spec.streams import Retention

RETENTION_DAYS = {which: which.limit / 86_400 for which in Retention}
PLACE = PagePlace(1, 0, 2, 3, 4, 5)


@pytest.mark.parametrize("retention", Retention)
def test_slc_cells_end_each_class_with_the_rate_that_the_code_is_made_for(retention):
    worn = replace(SLC, cycles_before=retention.endurance)
    assert worn.bit_error_rate(days=RETENTION_DAYS[retention]) == pytest.approx(RAW_BIT_ERROR_RATE, rel=0.02)
    assert worn.bit_error_rate(days=2 * RETENTION_DAYS[retention]) > 1.2 * RAW_BIT_ERROR_RATE


def test_slc_blocks_live_as_long_as_they_must():
    """Half a percent of them fail within 100,000 cycles: of erases, and as often of programs."""
    wear = sum(cycle / SLC.rated_cycles for cycle in range(100_000))
    assert wear * SLC.erase_failure.rate == pytest.approx(0.0025, rel=0.03)
    assert wear * SLC.program_failure.rate * 768 == pytest.approx(0.0025, rel=0.03)


def test_rates_grow_with_each_thing_and_add_up():
    base: dict[str, Any] = dict(erases=20_000, days=10.0, reads=1000)
    rate = SLC.bit_error_rate(**base)
    for more in (dict(erases=20_001), dict(days=10.1), dict(reads=1001)):
        assert SLC.bit_error_rate(**(base | more)) > rate
    parts = (
        ErrorModel(fresh=SLC.fresh, wear=SLC.wear),
        ErrorModel(retention=SLC.retention),
        ErrorModel(disturb=SLC.disturb),
    )
    assert rate == pytest.approx(sum(part.bit_error_rate(**base) for part in parts))
    assert ErrorModel(fresh=0.9).bit_error_rate() == 0.5
    assert SLC.bit_error_rate() == SLC.fresh


def test_nothing_is_wrong_at_rate_zero_and_wrong_bits_only_become_more():
    model, seen = even(0.0), set()
    assert wrong_bits(model, PLACE, 4096, 0, 0.0).size == 0
    for rate in (1e-4, 1e-3, 1e-2, 0.1, 0.5):
        wrong = set(wrong_bits(replace(model, transient=0.0), PLACE, 4096, 0, rate).tolist())
        assert seen <= wrong
        seen = wrong


@pytest.mark.parametrize(
    "make",
    [
        lambda: ErrorModel(seed=-1),
        lambda: ErrorModel(fresh=1.5),
        lambda: ErrorModel(transient=-0.1),
        lambda: ErrorModel(level_factor=0.5),
        lambda: ErrorModel(rated_cycles=0),
        lambda: ErrorModel(cycles_before=-1),
        lambda: Wear(-1e-3),
        lambda: Wear(1e-3, exponent=11),
        lambda: Ageing(2.0),
        lambda: Ageing(0.1, amount=0),
        lambda: Ageing(0.1, wear_exponent=-1),
    ],
)
def test_parameters_out_of_range_are_refused(make):
    with pytest.raises(ConfigError, match="errors"):
        make()


def test_the_report_says_what_the_code_corrects(tmp_path, capsys):
    main([str(tmp_path / "rates.png")])
    table = capsys.readouterr().out.strip()
    assert "| 50,000 cycles | 1.1e-08 " in table and "| all | all |" in table
    assert table in (Path(__file__).parents[3] / "docs" / "errors.md").read_text(encoding="utf-8")
    assert (tmp_path / "rates.png").stat().st_size > 10_000
