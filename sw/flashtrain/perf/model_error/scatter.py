"""A scatter plot of compared points: the reference on x, the other Link on y."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from flashtrain.writing.figure import save_figure

from .comparison import Compared
from .point import Quantity, Role

PANELS = {
    "bandwidth, GB/s": (Quantity.BANDWIDTH,),
    "updates, M parameters/s": (Quantity.UPDATES,),
    "latency p50 and p99, us": (Quantity.P50, Quantity.P99),
    "sequences, cycles": (Quantity.CYCLES,),
}


def draw_scatter(points: Sequence[Compared], path: Path, names: tuple[str, str]) -> None:
    """Draw a panel for each kind of quantity into `path`, whose ending names the format.

    The band is the tolerance. Points for calibration are hollow, held out ones filled; a missed point has a
    red edge. names: of the reference Link and of the other. Raises `OutputError` if the file cannot be
    written.
    """
    figure = Figure(figsize=(11, 10), layout="constrained")
    FigureCanvasAgg(figure)
    configurations = list(dict.fromkeys(each.point.run.configuration for each in points))
    colours = {name: f"C{number}" for number, name in enumerate(configurations)}
    for axes, (title, quantities) in zip(figure.subplots(2, 2).flat, PANELS.items(), strict=True):
        chosen = [each for each in points if each.point.quantity in quantities]
        _draw_panel(axes, chosen, colours)
        axes.set_title(f"{title}: {len(chosen)} points", loc="left")
        axes.set_xlabel(names[0])
        axes.set_ylabel(names[1])
    handles = [
        Line2D([], [], color=colour, marker="o", linestyle="", label=name) for name, colour in colours.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    save_figure(figure, path)


def _draw_panel(axes: Axes, points: Sequence[Compared], colours: dict[str, str]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    if not points:
        return
    values = [value for each in points for value in (each.reference, each.value)]
    ends = [min(values) / 1.3, max(values) * 1.3]
    tolerance = points[0].point.quantity.tolerance
    axes.plot(ends, ends, color="#999999", linewidth=0.8)
    low, high = ([end * (1 + sign * tolerance) for end in ends] for sign in (-1, 1))
    axes.fill_between(ends, low, high, color="#dddddd", linewidth=0)
    for each in points:
        colour = colours[each.point.run.configuration]
        held_out = each.point.run.role is Role.HELD_OUT
        axes.scatter(
            each.reference, each.value, s=28, linewidths=1.2, zorder=2,
            facecolors=colour if held_out else "none", edgecolors=colour if each.met else "red",
        )  # fmt: skip
