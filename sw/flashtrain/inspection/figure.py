"""A picture of all zones by stream and state, and of all blocks by wear."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from flashtrain.spec import ZoneState
from flashtrain.spec.image import BlockFlag
from flashtrain.writing.figure import save_figure

from .errors import InspectionError
from .inspected import Inspected
from .inspection import Content, Inspection
from .physical_zones import BAD, PhysicalZone, Use
from .zones import Zone

STATE_COLOURS = {
    ZoneState.EMPTY: "#eceff1",
    ZoneState.IMPLICITLY_OPEN: "#80cbc4",
    ZoneState.EXPLICITLY_OPEN: "#26a69a",
    ZoneState.CLOSED: "#64b5f6",
    ZoneState.FULL: "#1e5f9e",
    ZoneState.READ_ONLY: "#ffb300",
    ZoneState.OFFLINE: "#d32f2f",
}
STREAM_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#edc948", "#9c755f", "#ff9da7")
_STALE, _FREE, _SPARE = "#9e9e9e", "#eceff1", "#cfd8dc"
_BAD = "#d50000"
_WIDTH = 11.0  # inches
_MANY = 100  # bad blocks with smaller marks
_NUMBERED = 64  # device's zones up to which each has its number


def draw_zones(image: Inspected, found: Inspection, path: Path) -> None:
    """Draw the picture.

    :class:`InspectionError` if the content is not known; :class:`OutputError` if the file cannot be written.
    """
    content = found.content
    if content is None:
        raise InspectionError(f"{path}: no picture without zones: {found.damage[-1]}")
    per_row = 32 if len(content.zones) <= 2 * _NUMBERED else 64
    rows = _rows(content, per_row)
    planes = image.blocks.erases.shape[0] * image.blocks.erases.shape[1] * image.blocks.erases.shape[2]
    heights = [0.24 * len(rows) + 0.2, 0.22, min(4.5, max(1.6, 0.09 * planes))]
    figure = Figure(figsize=(_WIDTH, sum(heights) + 2.6), layout="constrained")
    FigureCanvasAgg(figure)
    logical, strip, blocks = figure.subplots(3, 1, height_ratios=heights)
    facts = found.image
    figure.suptitle(
        f"{Path(facts.path).name}: {facts.configuration}, node {facts.node and facts.node['name']},"
        f" {facts.geometry['blocks']} blocks on each of {planes} planes",
        fontsize=11, x=0.01, ha="left",
    )  # fmt: skip
    _draw_logical(logical, rows, len(content.zones) <= _NUMBERED)
    _draw_strip(strip, content.physical_zones, [stream.name for stream in content.streams])
    _draw_blocks(figure, blocks, image)
    save_figure(figure, path, dpi=130)


def _rows(content: Content, per_row: int) -> list[tuple[str, Sequence[Zone]]]:
    """Rows of zones, each of one stream; the first one of a stream has its name."""
    rows = []
    for stream in content.streams:
        own = [zone for zone in content.zones if zone.nsid == stream.nsid]
        rows += [("" if at else stream.name, own[at : at + per_row]) for at in range(0, len(own), per_row)]
    return rows


def _draw_logical(axes: Axes, rows: list[tuple[str, Sequence[Zone]]], numbered: bool) -> None:
    """A cell for each zone, filled from the left as far as it is written."""
    cells, colours = [], []
    for y, (_, own) in enumerate(rows):
        for x, zone in enumerate(own):
            cells.append(Rectangle((x + 0.05, y + 0.08), 0.9, 0.84))
            colours.append(to_rgb(STATE_COLOURS[ZoneState.EMPTY]))
            state = ZoneState[zone.state]
            part = min(1.0, zone.written_blocks / zone.capacity_blocks)
            if state is not ZoneState.EMPTY:
                colours[-1] = _pale(STATE_COLOURS[state])
                cells.append(Rectangle((x + 0.05, y + 0.08), 0.9 * max(part, 0.08), 0.84))
                colours.append(to_rgb(STATE_COLOURS[state]))
            if numbered:
                dark = state is ZoneState.FULL and part > 0.5
                axes.text(x + 0.5, y + 0.52, str(zone.zone), ha="center", va="center", fontsize=6.5,
                          color="white" if dark else "#455a64")  # fmt: skip
    axes.add_collection(PatchCollection(cells, facecolors=colours, edgecolors="none"))
    axes.set_xlim(0, max(len(own) for _, own in rows))
    axes.set_ylim(len(rows), 0)
    named = [(y + 0.5, name) for y, (name, _) in enumerate(rows) if name]
    axes.set_yticks([y for y, _ in named], [name for _, name in named], fontsize=8)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.set_title("zones of each stream, filled as far as they are written", loc="left", fontsize=9)
    states = [ZoneState[zone.state] for _, own in rows for zone in own]
    _legend(axes, [(STATE_COLOURS[s], s.name, states.count(s)) for s in ZoneState if s in states])
    _no_frame(axes)


def _draw_strip(axes: Axes, physical: Sequence[PhysicalZone], names: Sequence[str]) -> None:
    """A bar for each physical zone: the stream that it holds, or its use."""
    colours = {name: STREAM_COLOURS[place % len(STREAM_COLOURS)] for place, name in enumerate(names)}
    uses = {Use.STALE: _STALE, Use.FREE: _FREE, Use.SPARE: _SPARE}
    shown = [colours[zone.stream] if zone.stream else uses[zone.use] for zone in physical]
    axes.imshow(
        np.array([[to_rgb(colour) for colour in shown]]), aspect="auto", interpolation="nearest",
        extent=(-0.5, len(physical) - 0.5, 0, 1),
    )  # fmt: skip
    axes.set_yticks([])
    axes.set_xticks([])
    axes.set_title("physical zones by the stream that they hold", loc="left", fontsize=9)
    kinds = [(colours[name], name, sum(zone.stream == name for zone in physical)) for name in names]
    kinds += [(uses[use], use.value, sum(zone.use is use for zone in physical)) for use in uses]
    _legend(axes, [kind for kind in kinds if kind[2]])
    _no_frame(axes)


def _draw_blocks(figure: Figure, axes: Axes, image: Inspected) -> None:
    """The erases of each block: a column for each physical zone, a line for each plane."""
    table, g = image.blocks, image.config.geometry
    erases = table.erases.reshape(-1, g.blocks)
    low, high = int(erases[:, : g.zones].min()), int(erases.max())  # unused spares would take the contrast
    shown = axes.imshow(
        erases, aspect="auto", interpolation="nearest", cmap="YlGnBu", vmin=low, vmax=max(high, low + 4)
    )
    flags = table.flags.reshape(-1, g.blocks)
    for wanted, marker, label in (
        (int(BAD), "x", "bad: marked, broken or stuck"),
        (int(BlockFlag.CUT), "|", "last erase cut short"),
    ):
        y, x = np.nonzero(flags & wanted)
        if len(x):
            axes.plot(
                x,
                y,
                marker,
                color=_BAD,
                markersize=5 if len(x) < _MANY else 3,
                linestyle="",
                label=f"{label}: {len(x)}",
            )
    if g.spare_blocks:
        axes.axvline(g.zones - 0.5, color="#37474f", linewidth=0.8, linestyle="--", label="spares behind")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, fontsize=7, frameon=False)
    lines = erases.shape[0]
    each = g.planes * g.dies if lines > 64 else g.planes if g.dies > 1 else 1
    each *= max(1, lines // each // 16)
    ticks = list(range(0, lines, each))
    axes.set_yticks(ticks, [_plane_name(image, line) for line in ticks], fontsize=7)
    axes.set_xlabel("number of the block on each plane, which is that of the physical zone", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_title(f"erases of each block: {erases.min():,} to {high:,}", loc="left", fontsize=9)
    bar = figure.colorbar(
        shown, ax=axes, pad=0.01, aspect=18, fraction=0.03, ticks=MaxNLocator(nbins=5, integer=True)
    )
    bar.ax.tick_params(labelsize=7)
    for spine in axes.spines.values():
        spine.set_color("#b0bec5")


def _plane_name(image: Inspected, line: int) -> str:
    channel, die, plane = image.blocks.columns()[line]
    g = image.config.geometry
    name = f"channel {channel}"
    if line % (g.dies * g.planes):
        name = f"die {die}" if line % g.planes == 0 else f"plane {plane}"
    return name


def _legend(axes: Axes, entries: Sequence[tuple[str, str, int]]) -> None:
    handles = [Patch(facecolor=colour, label=f"{name} {count}") for colour, name, count in entries]
    axes.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1, 1), ncols=len(handles), fontsize=7,
        frameon=False, handlelength=1, handleheight=1, columnspacing=1, borderaxespad=0.2,
    )  # fmt: skip


def _pale(colour: str) -> tuple[float, float, float]:
    red, green, blue = (0.45 * part + 0.55 for part in to_rgb(colour))
    return red, green, blue


def _no_frame(axes: Axes) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)
