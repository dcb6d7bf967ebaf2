"""Charts and tornado plots with Matplotlib."""

from collections.abc import Sequence
from math import nan
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flashtrain.figures.figure import Sensitivity
from flashtrain.figures.parts import Chart, SpanChart
from flashtrain.writing.figure import save_figure

LARGE_LEGEND = 6
"""Series from which on the legend is beside the chart."""
COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#17becf",
    "#bcbd22", "#d62728", "#393b79",
)  # fmt: skip


def draw_charts(charts: Sequence[Chart | SpanChart], path: Path) -> None:
    """Draw the charts below each other. Raises `OutputError` if the file cannot be written."""
    figure = Figure(figsize=(9, 3.6 * len(charts)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, chart in zip(figure.subplots(len(charts), 1, squeeze=False)[:, 0], charts, strict=True):
        if isinstance(chart, SpanChart):
            _draw_spans(axes, chart)
        else:
            _draw(axes, chart)
    _save(figure, path)


def draw_tornado(found: Sequence[Sensitivity], headline: float, headline_name: str, path: Path) -> None:
    """A bar for each assumption, from the headline at its low end to that at its high end."""
    figure = Figure(figsize=(9, 1.2 + 0.4 * len(found)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for row, each in enumerate(found):
        for end, value, colour in (
            (each.assumption.low, each.at_low, COLOURS[0]),
            (each.assumption.high, each.at_high, COLOURS[1]),
        ):
            axes.barh(row, value - headline, left=headline, color=colour, height=0.7)
            if value != headline:
                side = "left" if value > headline else "right"
                axes.text(value, row, f" {end:.4g} ", ha=side, va="center", fontsize=7)
    axes.axvline(headline, color="black", linewidth=0.8)
    labels = [f"{s.assumption.name} = {s.assumption.value:.4g} {s.assumption.unit}" for s in found]
    axes.set_yticks(range(len(found)), labels, fontsize=8)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.set_xlabel(headline_name)
    _save(figure, path)


def _draw(axes: Axes, chart: Chart) -> None:
    if chart.categories:
        width = 0.8 / len(chart.series)
        places = np.arange(len(chart.categories))
        for number, series in enumerate(chart.series):
            left = places + (number - (len(chart.series) - 1) / 2) * width
            axes.bar(left, series.y, width, label=series.label, color=COLOURS[number % len(COLOURS)])
        axes.set_xticks(places, chart.categories, fontsize=8)
    else:
        for number, series in enumerate(chart.series):
            shown = [nan if chart.log_y and not y else y for y in series.y]
            axes.plot(
                series.x, shown, marker="o", markersize=3, label=series.label,
                color=COLOURS[number % len(COLOURS)],
            )  # fmt: skip
    for label, level in chart.levels.items():
        axes.axhline(level, color="black", linestyle="--", linewidth=0.8, label=label)
    if chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_title(chart.title, loc="left", fontsize=10)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    if len(chart.series) < LARGE_LEGEND:
        axes.legend(frameon=False, fontsize=8)
    else:
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


def _draw_spans(axes: Axes, chart: SpanChart) -> None:
    for kind, colour in zip(chart.kinds, COLOURS, strict=False):
        label: str | None = kind
        for place, row in enumerate(chart.rows):
            spans = [(start, end - start) for own, start, end in row.spans if own == kind]
            if spans:
                axes.broken_barh(spans, (place - 0.4, 0.8), color=colour, linewidth=0, label=label)
                label = None
    axes.set_yticks(range(len(chart.rows)), [row.label for row in chart.rows], fontsize=8)
    axes.set_ylim(len(chart.rows) - 0.5, -0.5)
    axes.set_title(chart.title, loc="left", fontsize=10)
    axes.set_xlabel(chart.x_label)
    axes.legend(frameon=False, fontsize=7, ncols=len(chart.kinds), loc="upper center",
                bbox_to_anchor=(0.5, -0.18))  # fmt: skip


def _save(figure: Figure, path: Path) -> None:
    save_figure(figure, path)
