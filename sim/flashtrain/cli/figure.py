"""`flashtrain figure`: published results beside ours."""

import argparse
import time
from collections.abc import Iterator, Sequence

from flashtrain.figures.catalogue import FIGURES, figure_named
from flashtrain.figures.errors import FigureError
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.parts import Content
from flashtrain.figures.write import write_figure
from flashtrain.ssd.drive_array import MEASURED, array_named
from flashtrain.ssd.sheet import SHEETS

from .command import Command, add_json
from .console import Console
from .outputs import output_folder

ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a figure, or all; without it, the figures are listed")
    parser.add_argument(
        "--out", type=output_folder, default="build/figures", metavar="DIR", help="(default: build/figures)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="changes",
        help="another value of an assumption; may come several times",
    )  # fmt: skip
    parser.add_argument(
        "--storage", metavar="NAME:DRIVES",
        help="drives in the place of the storage that a figure compares with, 4 without a number: of a data"
        f" sheet ({', '.join(SHEETS)}), or as they were measured ({', '.join(MEASURED)})",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    if options.name is None:
        for figure in FIGURES.values():
            console.say(f"{figure.name:24} {figure.title}")
        console.document({"figures": {figure.name: figure.title for figure in FIGURES.values()}})
        return 0
    changes = dict(_change(text) for text in options.changes)
    if options.name == ALL and changes:
        raise FigureError("--set with all figures; expected the name of one")
    chosen = list(FIGURES.values()) if options.name == ALL else [figure_named(options.name)]
    if options.storage is not None:
        chosen = list(_on_drives(chosen, options, console))
    written = {}
    for figure in chosen:
        console.progress(figure.name)
        started = time.monotonic()
        content = write_figure(figure, options.out, changes)
        seconds = time.monotonic() - started
        console.say(f"{options.out / figure.file_name}.md, {seconds:.1f} s\n" + "\n".join(_lines(content)))
        written[figure.name] = {
            "page": f"{options.out / figure.file_name}.md",
            "verdict": content.verdict,
            "wall_seconds": seconds,
            "comparisons": {
                c.what: {"ours": c.ours, "published": c.published, "reached": c.reached}
                for c in content.comparisons
            },
        }
    console.document({"figures": written})
    return 0


def _on_drives(
    figures: Sequence[PublishedFigure], options: argparse.Namespace, console: Console
) -> Iterator[PublishedFigure]:
    """The figures with drives; of all figures, those that need no more than is known of the drives."""
    array = array_named(options.storage)
    for figure in figures:
        try:
            yield figure.on(array)
        except FigureError as error:
            if options.name != ALL:
                raise
            console.say(f"left out: {error}")


def _lines(content: Content) -> list[str]:
    lines = []
    for c in content.comparisons:
        published = "no published value"
        if c.published is not None:
            state = "reached" if c.reached else "not reached"
            published = f"published {c.published:.4g}, {c.difference:+.1%}, {state}"
        lines.append(f"  {c.ours:8.4g} {c.unit:6} {c.what}: {published}")
    return [*lines, f"  {content.verdict}"] if content.verdict else lines


def _change(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        pass
    raise FigureError(f"--set {text!r}: expected NAME=VALUE with a number" + ("" if equals else ", and '='"))


COMMAND = Command(
    examples="""\
  flashtrain figure
  flashtrain figure behemoth-throughput
  flashtrain figure behemoth-throughput --set weight_nodes=2 --out figures
  flashtrain figure behemoth-throughput --storage micron-9650:4
  flashtrain figure all
""",
    add_arguments=add_arguments,
    run=run,
)
