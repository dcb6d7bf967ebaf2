"""The contract as a C header, for drivers that are not written in Python.

Valid as C99 and as C++11. Every constant of the contract is a macro; a field of an entry, a descriptor
or a register is a macro for two arguments, `low, width`, of `flashtrain_get` and `flashtrain_put`. The macro
of an array of fields takes the index.
"""

from collections.abc import Iterable, Iterator
from enum import IntEnum, IntFlag

from . import bad_blocks, optimizer, randomizer, registers, state_format, streams
from .chips import DRIVE_OHMS
from .comments import comments, first_paragraph
from .identity import GENERATION_LIMIT, MOST_WEAR, PageIdentity, RestoreAction
from .journal import (
    FIRST_PIN,
    MOMENTS,
    RecordCopy,
    RecordFlag,
    RecordHead,
    RecordMoment,
    RecordStream,
    RecordWritten,
)
from .nand import FEATURE_PARAMETERS, BusOp, DieCommand, DieStatus, Feature
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
    ZoneReport,
    ZoneState,
)
from .onfi import DRIVE_BITS, JEDEC_BYTES, ZQ_CALIBRATION, IdAddress, ParameterPage
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
from .sdr import SDR_MODES
from .update import UpdateHeader, UpdateStatistics

PREFIX = "FLASHTRAIN"

ENUMS: dict[str, type[IntEnum] | type[IntFlag]] = {
    "OPCODE": Opcode,
    "STATUS": Status,
    "ZONE_ACTION": ZoneAction,
    "ZONE_REPORT": ZoneReport,
    "REPORT_FILTER": ReportFilter,
    "ZONE_STATE": ZoneState,
    "GENERATION": GenerationAction,
    "RESTORE": RestoreAction,
    "OPTIMIZER": optimizer.OptimizerCode,
    "GRADIENT_FORMAT": optimizer.GradientFormat,
    "COPY_FORMAT": optimizer.CopyFormat,
    "STATE_FORMAT": state_format.StateFormat,
    "ROUNDING": state_format.Rounding,
    "SGD_CONSTANT": optimizer.SgdConstant,
    "LINEAR_CONSTANT": optimizer.LinearConstant,
    "LION_CONSTANT": optimizer.LionConstant,
    "ADAM_CONSTANT": optimizer.AdamConstant,
    "SCHEDULE_FREE_CONSTANT": optimizer.ScheduleFreeConstant,
    "PORT": streams.Port,
    "ACCESS": streams.Access,
    "PERSISTENCY": streams.Persistency,
    "RETENTION": streams.Retention,
    "CODEC": streams.Codec,
    "REGISTER": Register,
    "CONTROL": Control,
    "STATE": State,
    "PORT_REGISTER": PortRegister,
    "STREAM_REGISTER": StreamRegister,
    "CYCLE_KIND": CycleKind,
    "COUNTER": Counter,
    "CHANNEL_COUNTER": ChannelCounter,
    "DIE": DieCommand,
    "DIE_STATUS": DieStatus,
    "FEATURE": Feature,
    "ID_ADDRESS": IdAddress,
    "BUS_OP": BusOp,
    "RECORD_FLAG": RecordFlag,
}
"""Enumerations by the prefix of their macros."""

STRUCTS: dict[str, type] = {
    "SUBMISSION": Submission,
    "COMPLETION": Completion,
    "REPORT_HEADER": ReportHeader,
    "ZONE_DESCRIPTOR": ZoneDescriptor,
    "STREAM_ATTRIBUTES": StreamAttributes,
    "NAND_CYCLE": NandCycle,
    "NAND_STATE": NandState,
    "NAND_INTERFACE": NandInterface,
    "UPDATE_HEADER": UpdateHeader,
    "UPDATE_STATISTICS": UpdateStatistics,
    "PARAMETER_PAGE": ParameterPage,
    "PAGE_IDENTITY": PageIdentity,
    "RECORD_HEAD": RecordHead,
    "RECORD_STREAM": RecordStream,
    "RECORD_WRITTEN": RecordWritten,
    "RECORD_COPY": RecordCopy,
    "RECORD_MOMENT": RecordMoment,
}
"""Structures by the prefix of their fields' macros."""

MAP_CONSTANTS = (
    "ID_VALUE", "VERSION_VALUE", "MAX_STREAMS", "PORTS", "PORT_BASE", "PORT_STRIDE", "STREAM_BASE",
    "STREAM_STRIDE", "COUNTER_BASE", "CHANNEL_COUNTER_BASE", "DOORBELL_BASE", "ADDRESS_BITS",
)  # fmt: skip

_START = """\
/* flashtrain: the contract between host and device.
 *
 * Generated from flashtrain.spec by `python -m flashtrain.spec.generate`: do not edit.
 * Entries and descriptors are little endian, whatever the machine:
 *
 *     uint8_t entry[FLASHTRAIN_SUBMISSION_BYTES] = {0};
 *     flashtrain_put(entry, FLASHTRAIN_SUBMISSION_OPCODE, FLASHTRAIN_OPCODE_READ);
 *     status = flashtrain_get(completion, FLASHTRAIN_COMPLETION_STATUS);
 */
#ifndef FLASHTRAIN_H
#define FLASHTRAIN_H

#include <stdint.h>

/* The `width` bits of an entry from bit `low` on. */
static inline uint64_t flashtrain_get(const uint8_t *entry, unsigned low, unsigned width)
{
    uint64_t value = 0;
    unsigned bit;
    for (bit = 0; bit < width; ++bit)
        value |= (uint64_t)(entry[(low + bit) / 8] >> ((low + bit) % 8) & 1u) << bit;
    return value;
}

/* Sets the `width` bits of an entry from bit `low` on; bits of `value` past `width` are dropped. */
static inline void flashtrain_put(uint8_t *entry, unsigned low, unsigned width, uint64_t value)
{
    unsigned bit;
    for (bit = 0; bit < width; ++bit) {
        const uint8_t mask = (uint8_t)(1u << ((low + bit) % 8));
        uint8_t *const byte = &entry[(low + bit) / 8];
        *byte = (uint8_t)(value >> bit & 1u ? *byte | mask : *byte & ~mask);
    }
}
"""

_END = """
/* Byte addresses within the register map. */
#define FLASHTRAIN_PORT_ADDRESS(port, reg) (FLASHTRAIN_PORT_BASE + (port) * FLASHTRAIN_PORT_STRIDE + (reg))
#define FLASHTRAIN_STREAM_ADDRESS(nsid, reg) \\
    (FLASHTRAIN_STREAM_BASE + ((nsid) - 1) * FLASHTRAIN_STREAM_STRIDE + (reg))
#define FLASHTRAIN_COUNTER_ADDRESS(counter) (FLASHTRAIN_COUNTER_BASE + 8 * (counter))
#define FLASHTRAIN_CHANNEL_COUNTER_ADDRESS(counter) (FLASHTRAIN_CHANNEL_COUNTER_BASE + 8 * (counter))
#define FLASHTRAIN_SQ_TAIL_DOORBELL(port) (FLASHTRAIN_DOORBELL_BASE + 8 * (port))
#define FLASHTRAIN_CQ_HEAD_DOORBELL(port) (FLASHTRAIN_DOORBELL_BASE + 8 * (port) + 4)

#endif
"""


def header() -> str:
    """The text of the header."""
    sections = [section(first_paragraph(kind), enum_macros(name, kind)) for name, kind in ENUMS.items()]
    sections += [section(first_paragraph(kind), struct_macros(name, kind)) for name, kind in STRUCTS.items()]
    constants = ((name, hex(getattr(registers, name)), "") for name in MAP_CONSTANTS)
    sections.append(section("Constants of the register map.", constants))
    sections.append(section("Bring-up of chips.", _bring_up()))
    sections.append(section("Constants of recovery, and of the journal.", _recovery()))
    sections.append(section("Factory marks of bad blocks (flashtrain.spec.bad_blocks).", _marks()))
    sections.append(section("The key of a page (flashtrain.spec.randomizer).", _key()))
    sections.append(section("Words of state of a parameter, by optimizer: an initialiser.", _arrays()))
    sections += [_node(node) for node in streams.NODES.values()]
    return _START + "".join(sections) + _END


def section(title: str, macros: Iterator[tuple[str, str, str]]) -> str:
    """A comment and a macro per (name, value, comment)."""
    lines = ["", f"/* {title} */"]
    for name, value, comment in macros:
        define = f"#define {PREFIX}_{name} {value}"
        lines.append(f"{define} /* {comment} */" if comment else define)
    return "\n".join(lines) + "\n"


def _bring_up() -> Iterator[tuple[str, str, str]]:
    yield "JEDEC_BYTES", str(JEDEC_BYTES), "that are read of the maker's identification"
    yield "FEATURE_PARAMETERS", str(FEATURE_PARAMETERS), ""
    yield "SDR_MODES", str(len(SDR_MODES)), ""
    yield "ZQ_CALIBRATION", str(ZQ_CALIBRATION), "the bit of the optional commands"
    yield "DRIVE_OHMS", _initialiser(DRIVE_OHMS), "by the value of the feature: an initialiser"
    yield "DRIVE_BITS", _initialiser(DRIVE_BITS), "of the parameter page that declare each: an initialiser"


def _initialiser(numbers: Iterable[int]) -> str:
    return f"{{{', '.join(map(str, numbers))}}}"


def _recovery() -> Iterator[tuple[str, str, str]]:
    yield "GENERATION_LIMIT", hex(GENERATION_LIMIT), "generations in identities count modulo this"
    yield "MOST_WEAR", hex(MOST_WEAR), "where the count of erases stops"
    yield "RECORD_FIRST_PIN", str(FIRST_PIN), "bit of the stream with NSID 1 in the flags; the others follow"
    yield "RECORD_MOMENTS", str(MOMENTS), ""
    yield "ROUNDING_KEY_BITS", str(state_format.KEY_BITS), "of stochastic rounding"
    yield "SCALE_GROUP", str(state_format.SCALE_GROUP), "numbers of FP8 with the same scale"


def _marks() -> Iterator[tuple[str, str, str]]:
    yield "MARK", f"{bad_blocks.MARK:#04x}", "the first byte"
    yield "MARK_MOST_WRONG_BITS", str(bad_blocks.MOST_WRONG_BITS), "in that byte"
    yield "MARK_LEAST_ZEROS", str(bad_blocks.LEAST_ZEROS), "of the bits that are ones in every identity"
    yield "MARK_MOST_WRONG_OTHERS", str(bad_blocks.MOST_WRONG_OTHERS), "of the bits of the other bytes"


def _key() -> Iterator[tuple[str, str, str]]:
    constants = ", ".join(f"{constant:#06x}" for constant in randomizer.ROUND_CONSTANTS)
    yield "KEY_WORD_BYTES", str(randomizer.WORD_BYTES), "of a word of the page"
    yield "KEY_HALF_BITS", str(randomizer.HALF_BITS), "of a half of the network"
    yield "KEY_PAGE_BITS", str(randomizer.PAGE_BITS), "of the half that begins with the page, below the plane"
    yield "KEY_ROUND_CONSTANTS", f"{{{constants}}}", "an initialiser"


def _arrays() -> Iterator[tuple[str, str, str]]:
    counts = (str(len(optimizer.PROGRAMS[code].outputs)) for code in optimizer.OptimizerCode)
    yield "OPTIMIZER_ARRAYS", f"{{{', '.join(counts)}}}", ""


def _node(node: streams.NodeTable) -> str:
    """The streams of a node as a macro of a macro, which gets the fields of each stream."""
    rows = ", \\\n".join(
        f"    STREAM({s.nsid}, {s.name}, {s.persistency:d}, {s.retention:d}, {s.host:d}, {s.core:d}, "
        f"{s.share}, {s.codec:d}, {s.expired:d}, {s is node.journal:d})"
        for s in node.streams
    )
    return (
        f"\n/* Node *{node.name}*: STREAM(nsid, name, persistency, retention, host, core, share, codec, "
        f"expired, journal). */\n#define {PREFIX}_NODE_{node.name.upper()}(STREAM) \\\n{rows}\n"
    )


def enum_macros(prefix: str, kind: type[IntEnum] | type[IntFlag]) -> Iterator[tuple[str, str, str]]:
    # A flag of value 0 is no member when one iterates.
    for name, member in kind.__members__.items():
        yield f"{prefix}_{name}", f"{int(member):#04x}", comments(kind)[name]


def struct_macros(prefix: str, kind: type) -> Iterator[tuple[str, str, str]]:
    for name, value in vars(kind).items():
        if isinstance(value, (BitField, AttributeField)):
            yield f"{prefix}_{name.upper()}", f"{value.low}, {value.width}", comments(kind)[name]
        elif isinstance(value, tuple):
            first, second = value[0], value[1]
            element = f"{first.low} + {second.low - first.low} * (index), {first.width}"
            yield f"{prefix}_{name.upper()}(index)", element, comments(kind)[name]
        elif isinstance(value, int):
            suffix = "_VALUE" if hasattr(kind, name.lower()) else ""  # of the field of this name
            number = f"{value}u" if value >= 1 << 31 else str(value)
            yield f"{prefix}_{name}{suffix}", number, comments(kind)[name]
