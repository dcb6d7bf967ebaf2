"""The contract as a page for readers."""

import textwrap
from collections.abc import Iterable
from dataclasses import fields
from enum import IntEnum, IntFlag
from inspect import getdoc

from . import codec, journal, nvme, optimizer, registers, state_format, update
from .comments import comments, first_paragraph
from .config import FmsConfig
from .identity import RESTORE_FIELDS, PageIdentity, RestoreAction
from .journal import RecordCopy, RecordFlag, RecordHead, RecordMoment, RecordStream, RecordWritten
from .nand import SEQUENCES, BusOp, DataPhase, DieCommand, DieStatus, Feature
from .nvme import (
    BitField,
    Completion,
    GenerationAction,
    Opcode,
    ReportFilter,
    ReportHeader,
    Status,
    Submission,
    ZoneAction,
    ZoneDescriptor,
    ZoneState,
    do_not_retry,
)
from .presets import PRESETS
from .registers import (
    AttributeField,
    ChannelCounter,
    Control,
    Counter,
    CycleKind,
    NandCycle,
    NandInterface,
    NandState,
    PortRegister,
    Register,
    State,
    StreamAttributes,
    StreamRegister,
)
from .streams import NODES, Access, Codec, NodeTable, Stream
from .timing import NandTiming
from .update import SourceIdentity, UpdateHeader, UpdateStatistics

_START = """\
# The contract between host and device

Generated from `flashtrain.spec` by `python -m flashtrain.spec.generate`: do not edit. The same as a C header:
[flashtrain.h](flashtrain.h). Numbers with an *h* are hexadecimal.
"""


def reference() -> str:
    """The text of the page, Markdown."""
    sections = (
        _commands(),
        _entries(),
        _enum("Zone states", ZoneState),
        _registers(),
        _counters(),
        _die(),
        _update(),
        _streams(),
        _coded_pages(),
        _recovery(),
        _presets(),
    )
    text = _START + "\n".join(line for section in sections for line in section) + "\n"
    return text.replace("\n\n\n", "\n\n")


def _commands() -> Iterable[str]:
    yield from _enum("Commands", Opcode)
    yield from _enum("Zone actions", ZoneAction, level=3)
    yield from _enum("Reporting options", ReportFilter, level=3)
    yield from _enum("Generation actions", GenerationAction, level=3)
    yield from _restore_actions()
    rows = [(_hex(s >> 8), _hex(s & 0xFF), s.name, "set" if do_not_retry(s) else "") for s in Status]
    yield from _heading("Statuses", first_paragraph(Status))
    yield from _table(("SCT", "SC", "name", "DNR"), rows)
    # The rules are prose: the module's own, from "Order of checks" on, is good Markdown already.
    prose = (getdoc(nvme) or "").partition("Order of checks. ")[2]
    yield from _heading("Order of checks", prose)


def _restore_actions() -> Iterable[str]:
    yield from _heading("Restore actions", getdoc(RestoreAction) or "", level=3)
    names = comments(RestoreAction)
    rows = [(_hex(one), one.name, names[one.name], ", ".join(RESTORE_FIELDS[one])) for one in RestoreAction]
    yield from _table(("", "name", "", "fields"), rows)


def _entries() -> Iterable[str]:
    yield from _heading(
        "Entries", "Little endian. *dword* counts from the start of the entry, bits within it."
    )
    entries = {
        "Submission": Submission,
        "Completion": Completion,
        "Report header": ReportHeader,
        "Zone descriptor": ZoneDescriptor,
    }
    for title, kind in entries.items():
        yield from _fields(title, kind)


def _fields(title: str, kind: type) -> Iterable[str]:
    """A table of the bit fields of `kind`; an array of words in one row."""
    rows = []
    for name, value in vars(kind).items():
        if isinstance(value, BitField):
            dword, bits = str(value.low // 32), _bits(value.low % 32, value.width)
            rows.append((dword, bits, name, comments(kind)[name]))
        elif isinstance(value, tuple):
            dwords = f"{value[0].low // 32} to {value[-1].low // 32}"
            rows.append((dwords, _bits(0, value[0].width), name, comments(kind)[name]))
    yield from _heading(title, first_paragraph(kind), level=3)
    yield from _table(("dword", "bits", "field", ""), rows)


def _registers() -> Iterable[str]:
    yield from _heading("Registers", " ".join((getdoc(registers) or "").split()))
    yield from _address_table(Register, 0)
    yield from _enum("CONTROL", Control, level=3)
    yield from _enum("STATE", State, level=3)
    r = registers
    yield from _heading(
        "Port windows",
        f"{first_paragraph(PortRegister)} Port *p* has its window at {_hex(r.PORT_BASE)} + "
        f"*p* · {_hex(r.PORT_STRIDE)}; host is 0, core is 1.",
        level=3,
    )
    yield from _address_table(PortRegister, 0)
    yield from _heading(
        "Stream windows",
        f"{first_paragraph(StreamRegister)} The stream of NSID *n* (1 to {r.MAX_STREAMS}) has its window at "
        f"{_hex(r.STREAM_BASE)} + (*n* - 1) · {_hex(r.STREAM_STRIDE)}.",
        level=3,
    )
    yield from _address_table(StreamRegister, 0)
    attributes = {n: v for n, v in vars(StreamAttributes).items() if isinstance(v, AttributeField)}
    yield from _heading("ATTRIBUTES of a stream", level=3)
    yield from _table(("bits", "field"), [(_bits(*field), name) for name, field in attributes.items()])
    yield from _heading("The command port", (getdoc(NandCycle) or "").partition("\n\n")[2], level=3)
    yield from _enum("Kinds of cycles", CycleKind, level=3)
    for title, kind in (
        ("NAND_CYCLE", NandCycle),
        ("NAND_STATE", NandState),
        ("NAND_INTERFACE", NandInterface),
    ):
        yield from _register_fields(title, kind)
    yield from _heading("Doorbells", level=3)
    doorbells = [
        (_hex(address(port)), f"{name} of port {port}")
        for port in range(r.PORTS)
        for name, address in (
            ("submission tail", r.sq_tail_doorbell),
            ("completion head", r.cq_head_doorbell),
        )
    ]
    yield from _table(("address", "doorbell"), doorbells)


def _register_fields(title: str, kind: type) -> Iterable[str]:
    fields = {name: value for name, value in vars(kind).items() if isinstance(value, AttributeField)}
    yield from _heading(f"Fields of {title}", level=3)
    rows = [(_bits(*field), name, comments(kind)[name]) for name, field in fields.items()]
    yield from _table(("bits", "field", ""), rows)


def _counters() -> Iterable[str]:
    yield from _heading("Counters", first_paragraph(Counter))
    yield from _address_table(Counter, registers.COUNTER_BASE, stride=8)
    yield from _heading(
        "Counters of a channel",
        f"{first_paragraph(ChannelCounter)} They are those of the channel in CHANNEL_SELECT.",
        level=3,
    )
    yield from _address_table(ChannelCounter, registers.CHANNEL_COUNTER_BASE, stride=8)


def _die() -> Iterable[str]:
    yield from _enum("Die commands", DieCommand)
    yield from _enum("Status byte of a die", DieStatus, level=3)
    yield from _enum("Features of a die", Feature, level=3)
    yield from _heading(
        "Bus operations",
        f"{first_paragraph(BusOp)} Cycles: command bytes, *A* for each address cycle, and the data.",
        level=3,
    )
    yield from _table(
        ("operation", "cycles", ""), [(op.name, _cycles(op), comments(BusOp)[op.name]) for op in BusOp]
    )


def _update() -> Iterable[str]:
    """The prose is the modules' own; the programs and their constants are in docs/optimizers.md."""
    prose = (getdoc(update) or "").partition("\n\n")[2]
    yield from _heading("Optimizer steps on the dies", prose)
    yield from _heading("Formats of state", (getdoc(state_format) or "").partition("\n\n")[2], level=3)
    yield from _fields("Update header", UpdateHeader)
    yield from _fields("Source identity", SourceIdentity)
    yield from _fields("Update statistics", UpdateStatistics)
    for title, kind in {
        "Optimizer codes": optimizer.OptimizerCode,
        "Gradient formats": optimizer.GradientFormat,
        "Copy formats": optimizer.CopyFormat,
        "State formats": state_format.StateFormat,
        "Roundings": state_format.Rounding,
        "Constants of SGD, MOMENTUM, NESTEROV, SGDW": optimizer.SgdConstant,
        "Constants of LINEAR": optimizer.LinearConstant,
        "Constants of LION": optimizer.LionConstant,
        "Constants of ADAM, ADAMW and FAST": optimizer.AdamConstant,
        "Constants of ADAMW_SCHEDULE_FREE": optimizer.ScheduleFreeConstant,
    }.items():
        yield from _enum(title, kind, level=3)


def _cycles(op: BusOp) -> str:
    first, address, second, data, third = SEQUENCES[op]
    parts = (
        "" if first is None else _hex(first),
        " ".join("A" * address),
        "" if second is None else _hex(second),
        "" if data is DataPhase.NONE else f"*data {data.name.lower()}*",
        "" if third is None else _hex(third),
    )
    return " ".join(part for part in parts if part)


def _streams() -> Iterable[str]:
    yield from _heading("Streams", first_paragraph(Stream).replace("`share`", "*share*"))
    for node in NODES.values():
        yield from _node(node)


def _node(node: NodeTable) -> Iterable[str]:
    rows = [
        (
            str(s.nsid), s.name, _words(s.persistency), _words(s.retention), _access(s.host), _access(s.core),
            str(s.share), _words(s.expired),
        )
        for s in node.streams
    ]  # fmt: skip
    yield from _heading(f"Node *{node.name}*", level=3)
    yield from _table(
        ("NSID", "name", "persistency", "retention", "host may", "core may", "share", "too old"), rows
    )


def _coded_pages() -> Iterable[str]:
    yield from _heading("Coded pages", "The format is explained in [codec.md](../codec.md).")
    yield from _enum("Codecs", Codec, level=3)
    yield from _fields("Header of a coded page", codec.PageHeader)
    yield from _enum("Modes", codec.Mode, level=3)
    yield from _enum("Refusals", codec.Refusal, level=3)


def _recovery() -> Iterable[str]:
    yield from _heading("Identities and journal", (getdoc(journal) or "").partition("\n\n")[2])
    yield from _fields("Identity of a page", PageIdentity)
    yield from _fields("Head of a block of a record", RecordHead)
    yield from _enum("Flags of a record", RecordFlag, level=3)
    yield from _fields("Stream in a record", RecordStream)
    yield from _fields("Zone in a record", RecordWritten)
    yield from _fields("Refresh in a record", RecordCopy)
    yield from _fields("Time in a record", RecordMoment)


def _presets() -> Iterable[str]:
    configs = list(PRESETS.values())
    yield from _heading("Presets", "Each key is explained in [configuration.md](../configuration.md).")
    columns = ("", *PRESETS)

    def row(name: str, values: Iterable[object]) -> tuple[str, ...]:
        return name, *(f"{value:,}" if isinstance(value, int) else str(value) for value in values)

    geometry = [
        row(field.name, (getattr(c.geometry, field.name) for c in configs))
        for field in fields(type(configs[0].geometry))
    ]
    derived = ("zone_capacity", "zone_size", "superpage", "page_set_bytes", "capacity_bytes")
    geometry += [row(f"*{name}*", (getattr(c.geometry, name) for c in configs)) for name in derived]
    yield from _heading("Geometry", "Derived numbers are in italics.", level=3)
    yield from _table(columns, geometry)

    sizes = [f.name for f in fields(FmsConfig) if f.name not in ("name", "geometry", "timing", "chips")]
    yield from _heading("Sizes", level=3)
    yield from _table(columns, [row(name, (getattr(c, name) for c in configs)) for name in sizes])

    times = [f.name for f in fields(NandTiming) if f.name != "clock_mhz"]
    timing = [row("clock_mhz", (c.timing.clock_mhz for c in configs))]
    timing += [row(name, (c.timing.cycles(name) for c in configs)) for name in times]
    yield from _heading("Timing in cycles", level=3)
    yield from _table(columns, timing)

    bounds = [
        ("channels, GB/s", *(f"{c.channel_bytes_per_second / 1e9:.3f}" for c in configs)),
        ("programs, GB/s", *(f"{c.program_bytes_per_second / 1e9:.3f}" for c in configs)),
    ]
    yield from _heading(
        "Bounds",
        "*channels*: raw bandwidth of all channels; *programs*: every die programming all the time.",
        level=3,
    )
    yield from _table(columns, bounds)


def _heading(title: str, text: str = "", level: int = 2) -> Iterable[str]:
    yield f"\n{'#' * level} {title}\n"
    if text and "\n" not in text:
        text = textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)
    if text:
        yield f"{text}\n"


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _enum(title: str, kind: type[IntEnum] | type[IntFlag], level: int = 2) -> Iterable[str]:
    yield from _heading(title, first_paragraph(kind), level)
    rows = [(_hex(m), name, comments(kind)[name]) for name, m in kind.__members__.items()]
    yield from _table(("", "name", ""), rows)


def _address_table(kind: type[IntEnum], base: int, stride: int = 1) -> Iterable[str]:
    rows = [(_hex(base + stride * m), m.name, comments(kind)[m.name]) for m in kind]
    yield from _table(("address" if base else "offset", "name", ""), rows)


def _hex(value: int) -> str:
    return f"{value:02X}h"


def _bits(low: int, width: int) -> str:
    return str(low) if width == 1 else f"{low + width - 1}:{low}"


def _words(member: IntEnum | IntFlag) -> str:
    return (member.name or "").lower().replace("_", "-")


def _access(access: Access) -> str:
    return ", ".join(_words(a) for a in (Access.READ, Access.APPEND) if a in access) or "–"
