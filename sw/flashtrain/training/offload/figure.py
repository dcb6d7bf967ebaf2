"""The timeline of a plan as a figure: operations, transfers, memory."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from flashtrain.training.offload.event_model import Timeline
from flashtrain.training.offload.memory import memory_levels
from flashtrain.training.offload.profile import Phase, Profile
from flashtrain.writing.figure import save_figure

COLOURS = {Phase.FORWARD: "#1f77b4", Phase.BACKWARD: "#ff7f0e"}
WRITE_COLOUR, READ_COLOUR, LIMIT_COLOUR = "#9467bd", "#2ca02c", "#d62728"
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def draw_plan(profile: Profile, timeline: Timeline, memory_bytes: int, path: Path, title: str = "") -> None:
    """Draw into `path`, whose ending names the format (png, svg, pdf).

    Raises `OutputError` if it cannot be written.
    """
    figure = Figure(figsize=(11, 6), layout="constrained")
    FigureCanvasAgg(figure)
    tracks, memory = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.6])
    unit, name = next((u for u in UNITS if timeline.seconds >= u[0]), UNITS[-1])
    _draw_tracks(tracks, profile, timeline, unit)
    _draw_memory(memory, profile, timeline, memory_bytes, unit)
    tracks.set_title(title, loc="left")
    memory.set_xlabel(name)
    memory.set_xlim(0, timeline.seconds / unit)
    save_figure(figure, path)


def _draw_tracks(axes: Axes, profile: Profile, timeline: Timeline, unit: float) -> None:
    """Gaps between operations are stalls."""
    backward = np.array([each.phase is Phase.BACKWARD for each in profile.operations])
    for phase, chosen in ((Phase.FORWARD, ~backward), (Phase.BACKWARD, backward)):
        _draw_spans(axes, 0, timeline.operations[chosen], unit, COLOURS[phase])
    _draw_spans(axes, 1, timeline.writes, unit, WRITE_COLOUR)
    _draw_spans(axes, 2, timeline.reads, unit, READ_COLOUR)
    axes.set_yticks(range(3), ["operations", "writes", "reads"])
    axes.set_ylim(2.5, -0.5)


def _draw_spans(axes: Axes, row: int, spans: NDArray[np.void], unit: float, colour: str) -> None:
    happened = spans[~np.isnan(spans["begin"])]
    bars = [(s["begin"] / unit, (s["end"] - s["begin"]) / unit) for s in happened]
    axes.broken_barh(bars, (row - 0.4, 0.8), color=colour, edgecolor="white", linewidth=0.2)


def _draw_memory(axes: Axes, profile: Profile, timeline: Timeline, memory_bytes: int, unit: float) -> None:
    times, levels = memory_levels(profile, timeline)
    scale, name = (1e9, "GB") if memory_bytes >= 1e9 else (1e6, "MB")
    axes.step(times / unit, levels / scale, where="post", linewidth=0.8)
    axes.axhline(memory_bytes / scale, color=LIMIT_COLOUR, linewidth=0.8, linestyle="--")
    axes.set_ylim(0, None)
    axes.set_ylabel(f"memory, {name}")
