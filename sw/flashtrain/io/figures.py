"""Figures of jobs: bandwidth over time, the histogram of latencies, and a sweep of an option."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flashtrain.writing.figure import save_figure

from .patterns import Direction
from .run import JobResult
from .sweep import SweepRow

COLOURS = {Direction.READ: "#1f77b4", Direction.WRITE: "#ff7f0e", Direction.TRIM: "#2ca02c"}
BINS = 100
BIN_COMMANDS = 5
"""Commands that a part of the bandwidth over time has at least, on average."""
LINES = ("-", "--", ":", "-.")
"""Of the jobs, one after the other."""


def draw_bandwidth(results: Sequence[JobResult], path: Path) -> None:
    """Bandwidth over simulated time: a line for each job and direction."""
    figure, axes = _figure()
    begin = min(samples.window.begin for result in results for samples in result.samples.values())
    for number, result in enumerate(results):
        for direction, samples in result.samples.items():
            if not samples.window.seconds:
                continue
            bins = min(BINS, 1 + samples.commands // BIN_COMMANDS)
            edges = np.linspace(samples.window.begin, samples.window.end, bins + 1)
            milliseconds = (edges - begin) / (samples.window.mhz * 1e3)
            axes.stairs(
                samples.bandwidths(bins) / 1e9, milliseconds, color=COLOURS[direction],
                linestyle=LINES[number % len(LINES)], label=f"{result.name}: {direction.value}",
            )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel("simulated time in ms")
    axes.set_ylabel("GB/s")
    axes.set_title("bandwidth over time", loc="left")
    if axes.get_legend_handles_labels()[0]:  # none if nothing took time
        axes.legend(fontsize=8)
    _save(figure, path)


def draw_latencies(results: Sequence[JobResult], path: Path) -> None:
    """The histogram of latencies of each job and direction, over a logarithmic axis."""
    figure, axes = _figure()
    series = [
        (f"{result.name}: {direction.value}", COLOURS[direction], LINES[number % len(LINES)], values / 1e3)
        for number, result in enumerate(results)
        for direction, samples in result.samples.items()
        if len(values := samples.latency[samples.latency > 0])
    ]
    if series:
        least, most = (bound(bound(values) for *_, values in series) for bound in (min, max))
        edges = np.geomspace(max(least, 1e-3) / 1.05, max(most, 1e-3) * 1.05, BINS // 2 + 1)
        for label, colour, line, values in series:
            counts, _ = np.histogram(values, edges)
            axes.stairs(100 * counts / len(values), edges, color=colour, linestyle=line, label=label)
        axes.set_xscale("log")
        axes.legend(fontsize=8)
    axes.set_xlabel("latency in us")
    axes.set_ylabel("% of commands")
    axes.set_title("latency", loc="left")
    _save(figure, path)


def draw_sweep(option: str, rows: Sequence[SweepRow], path: Path) -> None:
    """Bandwidth, and median and 99th percentile of the latency, over the values of an option."""
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True)
    values = list(dict.fromkeys(row.value for row in rows))
    for direction, colour in COLOURS.items():
        own = [row for row in rows if row.direction is direction]
        places = [values.index(row.value) for row in own]
        if own:
            upper.plot(
                places,
                [row.bytes_per_second / 1e9 for row in own],
                "o-",
                color=colour,
                label=direction.value,
            )
            for name, line, latencies in (
                ("median", "-", [row.median for row in own]), ("99 %", "--", [row.high for row in own])
            ):  # fmt: skip
                lower.plot(
                    places, [latency / 1e3 for latency in latencies], f"o{line}", color=colour,
                    label=f"{direction.value}, {name}",
                )  # fmt: skip
    upper.set_ylim(bottom=0)
    upper.set_ylabel("GB/s")
    lower.set_yscale("log")
    lower.set_ylabel("latency in us")
    lower.set_xticks(range(len(values)), values)
    lower.set_xlabel(option)
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    _save(figure, path)


def _figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(9, 4), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Figure, path: Path) -> None:
    save_figure(figure, path)
