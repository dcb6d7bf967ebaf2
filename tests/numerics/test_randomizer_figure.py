"""The figure of the randomizer."""

from flashtrain.numerics.randomizer_figure import contents, figures, table
from flashtrain.spec.presets import TINY_ECC


def test_zeros():
    name, pages = next(contents(TINY_ECC.geometry))
    assert name == "zeros" and figures(pages) == ["0.0 to 0.0", "0.0 to 0.0", "100.0 to 100.0"]


def test_with_keys_all_are_alike():
    """Pages of 4,096 bits: five standard deviations are 4 %."""
    for line in table(TINY_ECC.geometry).splitlines()[2:]:
        least, most = map(float, line.split("|")[5].split(" to "))
        assert 46 < least <= most < 54, line
