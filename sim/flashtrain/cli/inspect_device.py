"""`flashtrain device`: the image of a flash, inspected like a drive."""

import argparse
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from flashtrain.inspection import (
    Content,
    Inspected,
    Inspection,
    InspectionError,
    Recovered,
    Scrub,
    inspect,
    inspected,
)
from flashtrain.inspection import link_scrub as scrub_through
from flashtrain.inspection import scrub as scrub_file
from flashtrain.inspection.scrub import FILE
from flashtrain.spec.streams import NODES

from .command import Command, add_json
from .console import Console
from .device import memory_bytes
from .device_content import catalog_text, journal_text
from .device_health import health_text, scrub_text
from .device_overview import overview_text, streams_text, zones_text
from .links import LINKS, announced
from .outputs import figure_file

DAMAGED = 1

_OF_CONTENT: dict[str, tuple[str, Callable[[Content], str]]] = {
    "zones": ("each zone: state, write pointer, physical zone, erases, age", lambda f: zones_text(f.zones)),
    "streams": ("each stream: room, wear, ages, generation, note", lambda f: streams_text(f.streams)),
    "journal": ("the newest record, and what a recovery keeps", journal_text),
    "catalog": ("arrays by name, and checkpoints", catalog_text),
}


SECTIONS = {name: summary for name, (summary, _) in _OF_CONTENT.items()} | {
    "health": "endurance used, spares, bad blocks, erases by die"
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summaries = "; ".join(f"{name}: {summary}" for name, summary in SECTIONS.items())
    parser.add_argument(
        "section", nargs="?", choices=list(SECTIONS), metavar="SECTION",
        help=f"{summaries} (default: an overview)",
    )  # fmt: skip
    parser.add_argument("file", type=Path, metavar="FILE", help="the image, which stays as it is")
    parser.add_argument(
        "--figure",
        type=figure_file,
        metavar="PNG",
        help="also draw all zones by state, and all blocks by wear",
    )
    parser.add_argument(
        "--scrub", action="store_true", help="also read all pages, and count corrected and lost ones"
    )
    parser.add_argument(
        "--link", choices=[FILE, *LINKS], metavar="NAME",
        help=f"with --scrub: {FILE} reads the cells in the file (default); {', '.join(LINKS)} read a copy of"
        " the image through a controller",
    )  # fmt: skip
    parser.add_argument(
        "--node", choices=list(NODES), metavar="NAME",
        help=f"table of streams in place of that in the image: {', '.join(NODES)}",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    _check(options)
    node = None if options.node is None else NODES[options.node]
    with inspected(options.file, node) as image:
        found = inspect(image)
        scrub = _scrub(image, options.link or FILE, console) if options.scrub else None
        if options.figure is not None:
            # Late: the library for figures takes a moment to import.
            from flashtrain.inspection.figure import draw_zones

            draw_zones(image, found, options.figure)
    console.say(_text(options.section, found))
    if scrub is not None:
        console.say(f"\n{scrub_text(scrub)}")
    if options.figure is not None:
        console.say(f"\n{options.figure}")
    console.document(_document(options.section, found, scrub))
    for damage in found.damage:
        console.error(f"flashtrain device: {damage}")
    return DAMAGED if found.damage or (scrub is not None and scrub.all.uncorrectable) else 0


def _check(options: argparse.Namespace) -> None:
    """:class:`InspectionError` for options that do not belong together."""
    if options.section is None and str(options.file) in SECTIONS and not options.file.exists():
        raise InspectionError(f"{options.file}: no such file; expected FILE behind the section")
    if options.link is not None and not options.scrub:
        raise InspectionError(f"--link {options.link} reads nothing; expected --scrub beside it")


def _text(section: str | None, found: Inspection) -> str:
    if section == "health":
        return health_text(found.health)
    overview = "" if section else overview_text(found)
    if found.content is None:
        return overview or f"{section}: not known"
    if section is not None:
        return _OF_CONTENT[section][1](found.content)
    return f"{overview}\n\n{streams_text(found.content.streams)}"


def _document(section: str | None, found: Inspection, scrub: Scrub | None) -> dict[str, object]:
    """All sections, or one; with the facts of the image in any case."""
    document = found.document()
    if section is not None:
        keys = ["image", "damage", section] + (["physical_zones"] if section == "zones" else [])
        document = {key: document[key] for key in keys}
    if scrub is not None:
        document["scrub"] = asdict(scrub)
    return document


def _scrub(image: Inspected, link: str, console: Console) -> Scrub:
    if link == FILE:
        return scrub_file(image, console.progress)
    if not isinstance(image, Recovered):
        raise InspectionError(f"--link {link} reads zones, and {image.damage[-1]}; expected --link {FILE}")
    factory = announced(LINKS[link], console.step)
    return scrub_through(image, link, factory, memory_bytes(image.config), console.progress)


COMMAND = Command(
    examples="""\
  flashtrain device flash.img                               an overview, and the streams
  flashtrain device zones flash.img --figure zones.png      a report on all zones, and a picture of them
  flashtrain device health flash.img --scrub                endurance, spares; all pages are read
  flashtrain device health flash.img --scrub --link rtl     the same reads by the controller, with retries
  flashtrain device journal flash.img --json                as one document (docs/device.md)

Exit code 1 if a part of the image is damaged, or if --scrub finds an uncorrectable page.
""",
    add_arguments=add_arguments,
    run=run,
)
