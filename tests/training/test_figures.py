"""Figures are written to the file that is asked for."""

import matplotlib.image
import pytest

from flashtrain.training.figures import draw_losses
from flashtrain.writing import OutputError


def test_losses_of_both_runs_are_drawn(tmp_path):
    draw_losses([2.0, 1.0, 0.5], [2.0, 1.0, 0.5], tmp_path / "equal.png", title="mlp")
    draw_losses([2.0, 2.0, 2.0], [2.0, 1.0, 0.5], tmp_path / "different.png", title="mlp")
    equal, different = (matplotlib.image.imread(tmp_path / f"{name}.png") for name in ("equal", "different"))
    assert equal.shape == different.shape == (600, 1050, 4)
    assert (equal != different).any()


def test_a_file_that_is_no_figure_is_named(tmp_path):
    with pytest.raises(OutputError, match=r"losses\.nothing: expected a figure that ends with \.png"):
        draw_losses([1.0], [1.0], tmp_path / "losses.nothing")
