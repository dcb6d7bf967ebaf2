"""The closed forms of write amplification, and the measured one beside them."""

from math import e

import pytest

from flashtrain.spec import ConfigError, preset
from flashtrain.ssd import SsdConfig
from flashtrain.ssd.bench import amplification
from flashtrain.ssd.greedy import greedy_amplification, lambert_w0, lru_amplification


def test_lambert():
    assert lambert_w0(0) == pytest.approx(0)
    assert lambert_w0(-1 / e) == pytest.approx(-1, abs=1e-6)
    assert lambert_w0(-0.2) * e ** lambert_w0(-0.2) == pytest.approx(-0.2)
    with pytest.raises(ConfigError, match="x is 1; expected a number from -1/e to 0"):
        lambert_w0(1)


def test_published_value():
    """Xiang and Kurkoski (arXiv 1110.4245): 2.36 at an over-provisioning of 0.3, by Lambert's W."""
    assert lru_amplification(1.3) == pytest.approx(2.36, abs=0.01)


def test_balance_of_the_closed_form():
    """The harmonic sum itself, at the v of the form."""
    pages, spare = 1000, 1.07
    valid = pages - pages / greedy_amplification(spare, pages)
    terms = sum(1 / number for number in range(round(valid) + 1, pages + 1))
    assert pages * terms == pytest.approx(spare * (pages - round(valid)), rel=0.005)


def test_limits():
    assert greedy_amplification(1.07, 10**9) == pytest.approx(lru_amplification(1.07))
    assert greedy_amplification(1.07, 32) < greedy_amplification(1.07, 128) < lru_amplification(1.07)
    assert greedy_amplification(50, 1000) == pytest.approx(1, abs=1e-6)
    with pytest.raises(ConfigError, match="spare is 1; expected a number above 1"):
        greedy_amplification(1, 32)


@pytest.mark.parametrize("pages", [4, 32])
def test_measured_beside_the_closed_form(pages):
    row = amplification(SsdConfig.of(preset("behemoth"), 1), pages)
    assert row.met and row.pages == 8 * pages
    assert row.nominal < row.value < row.lru


def test_more_spare_less_amplification():
    row = amplification(SsdConfig.of(preset("behemoth"), 1, over_provisioning=0.3), 32)
    assert row.met and row.value == pytest.approx(2.37, abs=0.05)
