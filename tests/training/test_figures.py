"""Figures are written to the file that is asked for."""

import matplotlib.image
import pytest

from flashtrain.training.errors import TrainingError
from flashtrain.training.figures import draw_losses


def test_losses_of_both_runs_are_drawn(tmp_path):
    draw_losses([2.0, 1.0, 0.5], [2.0, 1.0, 0.5], tmp_path / "equal.png", title="mlp")
    draw_losses([2.0, 2.0, 2.0], [2.0, 1.0, 0.5], tmp_path / "different.png", title="mlp")
    equal, different = (matplotlib.image.imread(tmp_path / f"{name}.png") for name in ("equal", "different"))
    assert equal.shape == different.shape == (600, 1050, 4)
    assert (equal != different).any()


@pytest.mark.parametrize("name", ["absent/losses.png", "losses.nothing"])
def test_files_that_cannot_be_written_are_named(name, tmp_path):
    with pytest.raises(TrainingError, match=f"{name}: the figure cannot be written"):
        draw_losses([1.0], [1.0], tmp_path / name)
