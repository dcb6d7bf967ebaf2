"""Figures of where the time went: a bar of shares for the buses, and one for the arrays."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flashtrain.writing.figure import save_figure

from .die_time import ARRAY, BUS_IDLE, COMMANDS, DATA_IN, DATA_OUT, OTHER_DIE, ArrayKind
from .time_use import TimeUse
from .usage import BUS, ChannelCounter

COLOURS = {
    BUS[ChannelCounter.BUS_DATA_IN]: "#1f77b4",
    BUS[ChannelCounter.BUS_DATA_OUT]: "#2ca02c",
    BUS[ChannelCounter.BUS_COMMAND]: "#8c564b",
    BUS[ChannelCounter.BUS_WAIT]: "#e7ba52",
    BUS[ChannelCounter.BUS_IDLE]: "#d9d9d9",
    ARRAY[ArrayKind.PROGRAM]: "#ff9f4a",
    ARRAY[ArrayKind.SENSE]: "#9467bd",
    ARRAY[ArrayKind.ERASE]: "#d62728",
    DATA_IN: "#aec7e8",
    DATA_OUT: "#98df8a",
    OTHER_DIE: "#c5b0d5",
    COMMANDS: "#c49c94",
    BUS_IDLE: "#eeeeee",
}
"""What busy time is spent on in strong colours, what stands in the way in pale ones."""


def draw_use(uses: Mapping[str, TimeUse], path: Path, title: str = "") -> None:
    """Draw a pair of bars for each of `uses` into `path`, whose ending names the format (png, svg, pdf).

    Raises `OutputError` if the file cannot be written.
    """
    figure = Figure(figsize=(11, 1.7 + 0.9 * len(uses)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    labels = []
    for number, (name, use) in enumerate(uses.items()):
        for place, (kind, shares) in enumerate((("buses", use.bus), ("arrays", use.array))):
            _draw_bar(axes, 2 * number + place, shares)
            labels.append(f"{name}: {kind}")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the time")
    axes.set_title(title, loc="left")
    handles, texts = axes.get_legend_handles_labels()
    known = dict(zip(texts, handles, strict=True))
    figure.legend(
        known.values(), known.keys(), loc="outside lower center", ncols=5, frameon=False, fontsize=8
    )
    save_figure(figure, path)


def _draw_bar(axes: Axes, row: int, shares: Mapping[str, float]) -> None:
    left = 0.0
    for text, share in shares.items():
        if not share:
            continue
        axes.barh(row, 100 * share, left=left, height=0.8, color=COLOURS[text], label=text)
        if share > 0.06:
            axes.text(left + 50 * share, row, f"{100 * share:.1f}", ha="center", va="center", fontsize=8)
        left += 100 * share
