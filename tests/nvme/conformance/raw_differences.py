"""Every difference between QEMU's controller and the device without a target, each with its reason.

They are those of the first table of `docs/nvme.md`, "Differences from NVMe and ZNS", and those of the target
that come from the device. A difference that no row explains fails the test, and so does a row that explains
none.
"""

from flashtrain.spec import Opcode, ZoneState
from flashtrain.spec.host_commands import EVERY_NAMESPACE
from flashtrain.spec.nvme import ZoneDescriptor
from flashtrain.spec.registers import MAX_STREAMS

from .difference import Aspect, Case, Difference, Judge
from .differences import OF_ANY_DEVICE, OF_OPEN_ZONES, THEIR_NAMESPACES
from .facts import facts
from .zones import Zone

_STATUS, _ZONES = Aspect.STATUS, Aspect.ZONES
_BOTH, _OURS = Judge.BOTH_ALLOWED, Judge.OURS_DEVIATES


def _is(case: Case, *opcodes: Opcode) -> bool:
    return case.entry.opcode in opcodes


def _inside(case: Case) -> bool:
    return case.entry.slba < case.shape.blocks(case.entry.nsid)


def _starts_zone(case: Case) -> bool:
    return case.entry.slba % case.shape.zone_size == 0


def _same_but_for_own_fields(case: Case) -> bool:
    """Whether descriptors agree but for the device's own fields, from the time of a zone's data on."""
    mask = (1 << ZoneDescriptor.time.low) - 1

    def masked(data: bytes) -> list[int]:
        parts = (
            data[place : place + ZoneDescriptor.BYTES] for place in range(0, len(data), ZoneDescriptor.BYTES)
        )
        return [int.from_bytes(part, "little") & mask for part in parts]

    theirs, ours = (facts(case.trial, one.data)[case.fact] for one in (case.theirs, case.ours))
    return isinstance(theirs, bytes) and isinstance(ours, bytes) and masked(theirs) == masked(ours)


_OF_NAMESPACES = (
    Difference(
        "NSIDs between both NN", _STATUS, _BOTH,
        lambda c: MAX_STREAMS < c.entry.nsid <= THEIR_NAMESPACES and c.statuses == (0x002, 0x00B),
        "NN of QEMU is 256, and the device has at most 8 streams.",
    ),
    Difference(
        "NSID of all namespaces", _STATUS, _OURS,
        lambda c: c.entry.nsid == EVERY_NAMESPACE and c.ours.status == 0x00B
        and c.theirs.status == (0x000 if c.entry.opcode == Opcode.FLUSH else 0x002),
        "A command of the device is for one stream.",
    ),
)  # fmt: skip

_OF_STATUSES = (
    Difference(
        "unwritten blocks", _STATUS, _OURS,
        lambda c: _is(c, Opcode.READ) and c.statuses == (0x000, 0x287),
        "Stale handles are errors of the driver's user.",
    ),
    Difference(
        "opcodes of the vendor", _STATUS, _BOTH,
        lambda c: c.entry.opcode >= 0x80 and c.theirs.status == 0x001,
        "Opcodes from 80h are the vendor's (Base 3.3.3.1).",
    ),
    Difference(
        "commands across the end of a namespace", _STATUS, _BOTH,
        lambda c: _is(c, Opcode.READ, Opcode.WRITE) and _inside(c)
        and c.entry.slba + c.entry.blocks > c.shape.blocks(c.entry.nsid)
        and c.theirs.status == 0x080 and c.ours.status in (0x1B8, 0x1B9, 0x1BC),
        "The command has two errors: the last zone ends there, too.",
    ),
    Difference(
        "an append that is outside and at no zone's first block", _STATUS, _BOTH,
        lambda c: _is(c, Opcode.ZONE_APPEND) and not _starts_zone(c) and c.statuses == (0x080, 0x002),
        "The command has two errors, and the standard has no order of them.",
    ),
)  # fmt: skip

_OF_REPORTS = (
    Difference(
        "long reports", _STATUS, _OURS,
        lambda c: _is(c, Opcode.ZONE_MANAGEMENT_RECEIVE) and c.statuses == (0x002, 0x000)
        and c.trial.length > c.shape.most_blocks * c.shape.block_bytes,
        "A report has no limit of transfer: it writes descriptors only.",
    ),
    Difference(
        "the vendor's fields of zone descriptors", Aspect.FACT, _OURS,
        lambda c: c.fact == "zone descriptors" and _same_but_for_own_fields(c),
        "Descriptor bytes from 32 on tell the driver about the data.",
    ),
)  # fmt: skip

_OF_ZONES = (
    Difference(
        "zones after a stream reset", _ZONES, _BOTH,
        lambda c: c.entry.opcode == Opcode.STREAM_RESET and c.zones[0] == c.before
        and all(zone == Zone(ZoneState.EMPTY) for zone in c.zones[1]),
        "Opcodes from 80h are the vendor's (Base 3.3.3.1).",
    ),
)  # fmt: skip

RAW_DIFFERENCES: tuple[Difference, ...] = (
    *_OF_NAMESPACES, *_OF_STATUSES, *_OF_REPORTS, *_OF_ZONES, *OF_ANY_DEVICE, *OF_OPEN_ZONES,
)  # fmt: skip
