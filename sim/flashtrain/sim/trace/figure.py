"""A timeline of channels and dies, drawn from a trace."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from flashtrain.sim.trace.trace import AXI_TRACKS, Activity, AxiChannel, Interval, Track, bus_track, die_track
from flashtrain.spec import FmsConfig
from flashtrain.writing.figure import save_figure

COLOURS = {
    Activity.BURST: "#7f7f7f",
    Activity.COMMAND: "#c7c7c7",
    Activity.STATUS: "#c7c7c7",
    Activity.TRANSFER_IN: "#1f77b4",
    Activity.TRANSFER_OUT: "#2ca02c",
    Activity.PROGRAM: "#ff9f4a",
    Activity.SENSE: "#9467bd",
    Activity.ERASE: "#d62728",
}
LABELS = {
    Activity.BURST: "burst of the tensor buffer",
    Activity.COMMAND: "command, status",
    Activity.TRANSFER_IN: "transfer to the die",
    Activity.TRANSFER_OUT: "transfer from the die",
    Activity.SENSE: "sense",
    Activity.PROGRAM: "program",
    Activity.ERASE: "erase",
}
MOST_CHANNELS = 8
"""More would be too small to see."""


def draw_timeline(intervals: Sequence[Interval], config: FmsConfig, path: Path, title: str = "") -> None:
    """Draw tensor buffer, channels and dies into `path`, whose ending names the format (png, svg, pdf).

    The time axis is in µs from the first interval. Raises `OutputError` if the file cannot be written.
    """
    rows = _rows(config)
    shown = [i for i in intervals if i.track in rows and i.activity in COLOURS and i.end > i.start]
    origin = min((interval.start for interval in shown), default=0)
    figure = Figure(figsize=(13, 1.8 + 0.32 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for row, track in enumerate(rows):
        _draw_row(axes, row, [i for i in shown if i.track == track], origin, config.timing.clock_mhz)
    axes.set_yticks(range(len(rows)), [_label(track) for track in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    # A line between groups: the tensor buffer, and each channel.
    for row in range(1, len(rows)):
        if rows[row].group != rows[row - 1].group:
            axes.axhline(row - 0.5, color="black", linewidth=0.5)
    axes.margins(x=0.005)
    axes.set_xlabel("time in µs")
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    hidden = config.geometry.channels - MOST_CHANNELS
    suffix = f" (the first {MOST_CHANNELS} of {config.geometry.channels} channels)" if hidden > 0 else ""
    handles = [Patch(color=COLOURS[activity], label=label) for activity, label in LABELS.items()]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), frameon=False, fontsize=9)
    axes.set_title(title + suffix, loc="left")
    save_figure(figure, path, dpi=150)


def _draw_row(axes: Axes, row: int, intervals: list[Interval], origin: int, clock_mhz: int) -> None:
    for activity, colour in COLOURS.items():
        bars = [
            ((i.start - origin) / clock_mhz, (i.end - i.start) / clock_mhz)
            for i in intervals
            if i.activity is activity
        ]
        if bars:
            axes.broken_barh(bars, (row - 0.4, 0.8), facecolors=colour, linewidth=0)


def _rows(config: FmsConfig) -> list[Track]:
    rows = [AXI_TRACKS[AxiChannel.DATA_READ], AXI_TRACKS[AxiChannel.DATA_WRITE]]
    for channel in range(min(config.geometry.channels, MOST_CHANNELS)):
        rows.append(bus_track(channel))
        rows.extend(die_track(channel, die) for die in range(config.geometry.dies))
    return rows


def _label(track: Track) -> str:
    if track in AXI_TRACKS.values():
        return f"tensor buffer, {track.name}"
    return f"{track.group}, {track.name}"
