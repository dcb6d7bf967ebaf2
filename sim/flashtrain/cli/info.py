"""`flashtrain info`: what a configuration is made of."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

from flashtrain.spec import NODES, Access, FmsConfig, NodeTable, config_text
from flashtrain.spec.limits import limits_of
from flashtrain.spec.sources import sourced_values
from flashtrain.spec.streams import SINGLE_NODE

from .command import Command, add_configuration, add_json, configuration
from .console import Console, byte_count, table

if TYPE_CHECKING:
    from flashtrain.perf.read_bound import ReadBound

BUFFERS = ("write_buffer", "read_buffer")
"""Units whose largest memory holds pages."""


SHOWN = 12
"""Memories that get a line of their own; the document has all."""


@dataclass(frozen=True)
class Memory:
    """Memories of the controller that are alike; `holds_pages` for those of the data path."""

    name: str
    copies: int
    rows: int
    bits: int
    bytes: float
    holds_pages: bool


@dataclass(frozen=True)
class StreamUse:
    """A stream with its part of the device."""

    name: str
    nsid: int
    persistency: str
    retention: str
    host: str
    core: str
    zones: int
    bytes: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser)
    parser.add_argument(
        "--node", choices=list(NODES), default=SINGLE_NODE.name, help="table of streams (default: single)"
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--write", action="store_true",
        help="print the configuration as a complete file for --config, with unit and range of each key",
    )  # fmt: skip
    add_json(only)


def run(options: argparse.Namespace, console: Console) -> int:
    config, node = configuration(options), NODES[options.node]
    if options.write:
        console.say(config_text(config).rstrip())
        return 0
    # Late: it brings NumPy along.
    from flashtrain.perf.read_bound import read_bound

    reads = read_bound(config)
    console.step("counting the memories of the controller")
    memories = controller_memories(config)
    console.say(_geometry(config))
    console.say(_bounds(config, reads))
    console.say(_memories(memories))
    console.say(_streams(config, node))
    console.say(_sources(config))
    console.document(
        {
            "configuration": config.name,
            "geometry": asdict(config.geometry),
            "sizes": sizes(config),
            "timing_cycles": timing_cycles(config),
            "capacity_bytes": config.geometry.capacity_bytes,
            "channel_bytes_per_second": config.channel_bytes_per_second,
            "program_bytes_per_second": config.program_bytes_per_second,
            "read_bytes_per_second": reads.bytes_per_second,
            "memories": [asdict(memory) for memory in memories],
            "streams": [asdict(stream) for stream in stream_uses(config, node)],
            "sources": [value._asdict() for value in sourced_values(config)],
        }
    )
    return 0


@cache
def controller_memories(config: FmsConfig) -> tuple[Memory, ...]:
    """Every memory of the controller's design, largest first; elaborated once."""
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.controller import Controller
    from flashtrain.rtl.export.inventory import memories

    return tuple(
        Memory(
            name="/".join(part for part in use.path if part not in ("fifo", "storage")),
            copies=use.copies,
            rows=use.rows,
            bits=use.bits,
            bytes=use.bytes,
            holds_pages=any(unit in use.path for unit in BUFFERS) and use.path[-1] == "memory",
        )
        for use in memories(Controller(config))
    )


def _geometry(config: FmsConfig) -> str:
    g = config.geometry
    return (
        f"{config.name}: {g.channels} channels x {g.dies} dies x {g.planes} planes x {g.blocks} blocks"
        f" x {g.pages} pages of {g.page_bytes} + {g.spare_bytes} bytes\n"
        f"  capacity   {byte_count(g.capacity_bytes)} in {g.zones} zones of"
        f" {byte_count(g.zone_capacity * g.page_bytes)}, {g.zone_capacity:,} blocks each;"
        f" {g.spare_blocks} spare blocks a plane\n"
        f"  page set   {byte_count(g.page_set_bytes)}; superpage {byte_count(g.superpage * g.page_bytes)}\n"
        f"  commands   {config.commands} in flight, up to {config.max_blocks} blocks each\n"
        f"  zones      {config.max_open} open and {config.max_active} active at most per stream\n"
        f"  buffers    {config.write_sets} page sets and {config.read_pages} pages to read per channel;"
        f" {config.read_queue} reads queued per die\n"
        f"  code       {_code(config)}\n"
        f"  dies       registers of {config.die_word_bytes} bytes; a parameter every"
        f" {config.update_interval * config.update_divider} cycles in an optimizer step"
    )


def _code(config: FmsConfig) -> str:
    if config.code is None:
        code = "no error correction"
    else:
        code = f"{config.code_strength} bits in each KiB, {config.read_levels} further read levels"
    return f"{code}; {'a' if config.randomizer else 'no'} randomizer"


def sizes(config: FmsConfig) -> dict[str, object]:
    """The fields of the controller, by name."""
    return {field.name: getattr(config, field.name) for field, _ in limits_of(config)}


def timing_cycles(config: FmsConfig) -> dict[str, int]:
    """Each timing in cycles of the bus clock."""
    names = [field.name for field, _ in limits_of(config.timing) if field.name != "clock_mhz"]
    return {name: config.timing.cycles(name) for name in names}


def _bounds(config: FmsConfig, reads: "ReadBound") -> str:
    t = config.timing

    def time(name: str) -> str:
        return f"{t.cycles(name) / t.clock_mhz:,.0f} µs"

    return (
        f"\nbounds at {t.clock_mhz} MHz\n"
        f"  channels   {config.channel_bytes_per_second / 1e9:.2f} GB/s, the raw rate of all buses\n"
        f"  programs   {config.program_bytes_per_second / 1e9:.2f} GB/s, every die programming all the time\n"
        f"  reads      {reads.bytes_per_second / 1e9:.2f} GB/s, large ones; {reads}\n"
        f"  array      sense {time('tr')}, program {time('tprog')}, erase {time('tbers')}"
    )


def _memories(memories: Sequence[Memory]) -> str:
    rows = [
        (
            m.name,
            f"{m.copies} x {m.rows} x {m.bits} bits",
            byte_count(m.bytes),
            "pages" if m.holds_pages else "",
        )
        for m in memories[:SHOWN]
    ]
    smaller = memories[SHOWN:]
    if smaller:
        rows.append((f"{len(smaller)} smaller ones", "", byte_count(sum(m.bytes for m in smaller)), ""))
    pages = sum(memory.bytes for memory in memories if memory.holds_pages)
    rest = sum(memory.bytes for memory in memories if not memory.holds_pages)
    rows += [("page buffers", "", byte_count(pages), ""), ("metadata and queues", "", byte_count(rest), "")]
    return "\nmemories of the controller\n" + table(("memory", "size", "bytes", ""), rows)


def stream_uses(config: FmsConfig, node: NodeTable) -> list[StreamUse]:
    """The streams of `node` on a device of `config`."""
    zones = node.zones(config.geometry.zones)
    zone_bytes = config.geometry.zone_capacity * config.geometry.page_bytes
    return [
        StreamUse(
            name=s.name,
            nsid=s.nsid,
            persistency=s.persistency.name.lower().replace("_", "-"),
            retention=s.retention.name.lower(),
            host=_access(s.host),
            core=_access(s.core),
            zones=len(zones[s.nsid]),
            bytes=len(zones[s.nsid]) * zone_bytes,
        )
        for s in node.streams
    ]


def _streams(config: FmsConfig, node: NodeTable) -> str:
    columns = ("stream", "nsid", "persistency", "retention", "host may", "core may", "zones", "room")
    rows = [
        (s.name, str(s.nsid), s.persistency, s.retention, s.host, s.core, str(s.zones), byte_count(s.bytes))
        for s in stream_uses(config, node)
    ]
    return f"\nstreams of node {node.name}\n" + table(columns, rows, left=6)


def _sources(config: FmsConfig) -> str:
    """Values of the die and of the preset with their sources; a line of its own says that there are none."""
    rows = [tuple(value) for value in sourced_values(config)]
    if not rows:
        return "\nsources of the values: none is stated"
    return "\nsources of the values\n" + table(("key", "value", "source"), rows, left=3)


def _access(access: Access) -> str:
    names = [a.name.lower() for a in (Access.READ, Access.APPEND) if a in access and a.name]
    return ", ".join(names) or "-"


COMMAND = Command(
    examples="""\
  flashtrain info                                     preset small
  flashtrain info --preset behemoth --node weight     the weight node of Behemoth
  flashtrain info --preset tiny --json
  flashtrain info --preset small --write > mine.toml  a complete file to change
  flashtrain info --config mine.toml
""",
    add_arguments=add_arguments,
    run=run,
    builds=False,
)
