"""Figures of training runs, written to files."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flashtrain.writing.figure import save_figure


def draw_losses(
    flash: Sequence[float], reference: Sequence[float], path: Path, title: str = "", begin: int = 0
) -> None:
    """Draw the loss of each iteration of training through flash and of plain NumPy into `path`.

    The ending of `path` names the format (png, svg, pdf). The reference is a wide pale line under a thin dark
    one. Where the runs are equal, the thin line lies in the middle of the wide one. Raises `OutputError` if
    the file cannot be written. begin: iterations before the first of `flash`.
    """
    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(range(1, len(reference) + 1), reference, color="#9ecae1", linewidth=5, label="plain NumPy")
    axes.plot(
        range(begin + 1, begin + len(flash) + 1), flash, color="#08306b", linewidth=1, label="through flash"
    )
    axes.set(xlabel="iteration", ylabel="loss (mean cross entropy of the batch)", title=title)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    save_figure(figure, path, dpi=150)
