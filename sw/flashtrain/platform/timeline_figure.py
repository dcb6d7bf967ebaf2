"""The timeline of an iteration as a figure: cores and links, rates of storages, tensor buffers.

A last panel has the bus and the dies of a channel, if their operations were recorded.
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flashtrain.platform.tasks import Part, Side
from flashtrain.platform.timeline import Timeline
from flashtrain.writing.figure import save_figure

BINS = 400
OPERATIONS = {
    "sense": "#2ca02c",
    "program": "#1f77b4",
    "erase": "#d62728",
    "data in": "#9467bd",
    "data out": "#ff7f0e",
}
SERIAL = (Part.CORE, Part.WEIGHTS_IN, Part.GRADIENTS_OUT, Part.COLLECTIVES)
COLOURS = {
    "forward": "#1f77b4",
    "backward": "#ff7f0e",
    "move": "#8c564b",
    "gather": "#8c564b",
    "scatter": "#9467bd",
}


def draw_timeline(timeline: Timeline, path: Path, title: str = "") -> None:
    """Draw into `path`, whose ending names the format; `OutputError` if it cannot be written."""
    figure = Figure(figsize=(11, 10 if timeline.operations else 7), layout="constrained")
    FigureCanvasAgg(figure)
    if timeline.operations:
        tasks, rates, buffers, channel = figure.subplots(4, 1, height_ratios=[1, 2, 1.5, 2])
        _draw_channel(channel, timeline)
    else:
        tasks, rates, buffers = figure.subplots(3, 1, height_ratios=[1, 2, 1.5])
    for axes in (tasks, rates):
        axes.sharex(buffers)
        axes.tick_params(labelbottom=False)
    _draw_tasks(tasks, timeline)
    _draw_rates(rates, timeline)
    _draw_buffers(buffers, timeline)
    tasks.set_title(title, loc="left")
    buffers.set_xlabel("s")
    buffers.set_xlim(0, timeline.seconds)
    save_figure(figure, path)


def _draw_tasks(axes: Axes, timeline: Timeline) -> None:
    parts = [part for part in SERIAL if timeline.on(part)]
    for row, part in enumerate(parts):
        bars: dict[str, list[tuple[float, float]]] = {}
        for interval in timeline.on(part):
            bars.setdefault(interval.name.split()[0], []).append(
                (interval.start, interval.end - interval.start)
            )
        for word, spans in bars.items():
            axes.broken_barh(spans, (row - 0.4, 0.8), color=COLOURS.get(word, "#7f7f7f"), linewidth=0)
    axes.set_yticks(range(len(parts)), [str(part) for part in parts])
    axes.set_ylim(len(parts) - 0.5, -0.5)


def _draw_rates(axes: Axes, timeline: Timeline) -> None:
    """Rates of requests, each spread evenly over its time."""
    edges = np.linspace(0, timeline.seconds, BINS + 1)
    for track in timeline.tracks:
        if intervals := [i for i in timeline.on(track) if i.bytes and i.end > i.start]:
            spans = np.array([(i.start, i.end) for i in intervals])
            amounts = np.array([i.bytes for i in intervals])
            clipped = np.clip(edges[:, None], spans[:, 0], spans[:, 1]) - spans[:, 0]
            moved = (clipped / (spans[:, 1] - spans[:, 0]) * amounts).sum(axis=1)
            axes.stairs(np.diff(moved) / np.diff(edges) / 1e9, edges, label=track)
    axes.set_ylabel("GB/s")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)


def _draw_buffers(axes: Axes, timeline: Timeline) -> None:
    for side in Side:
        levels = [level for level in timeline.levels if level.side == side.value]
        if levels:
            times, amounts = zip(*((level.time, level.bytes / 1e9) for level in levels), strict=True)
            axes.step(times, amounts, where="post", linewidth=0.6, label=side.value)
    axes.set_ylabel("tensor buffer, GB")
    axes.legend(frameon=False, fontsize=8)


def _draw_channel(axes: Axes, timeline: Timeline) -> None:
    """Operations of the bus and the dies of a channel, in ms."""
    tracks = sorted({each.track for each in timeline.operations})
    for name, colour in OPERATIONS.items():
        label: str | None = name
        for row, track in enumerate(tracks):
            spans = [
                (each.start * 1e3, (each.end - each.start) * 1e3)
                for each in timeline.operations
                if each.track == track and each.name == name
            ]
            if spans:
                axes.broken_barh(spans, (row - 0.4, 0.8), color=colour, linewidth=0, label=label)
                label = None
    axes.set_yticks(range(len(tracks)), tracks)
    axes.set_ylim(len(tracks) - 0.5, -0.5)
    axes.set_xlabel("ms")
    axes.legend(frameon=False, fontsize=8, ncols=len(OPERATIONS), loc="lower right", bbox_to_anchor=(1, 1))
