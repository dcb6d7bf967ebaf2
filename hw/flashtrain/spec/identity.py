"""Identity of a page: a record behind its data.

The controller writes it, and recovery rebuilds the tables from it. It takes the first
`PageIdentity.BYTES` of a page's spare bytes. A page that was read is returned only if it has the identity
that the command asks for. A page whose program was interrupted has none; or it has one, and the code finds
whether its data are whole (docs/recovery.md).

The driver recovers a device after a loss of power (`flashtrain.host.recovery.recovery`). With CONTROL.RECOVER
the controller comes up with empty tables and all physical zones in use, and erases nothing. Until RESTORE
with action END it takes only INSPECT and RESTORE, from the host's port. All spare blocks are free at first:
the identities of their pages name the blocks that they replace. Blocks that their maker has marked as bad
(`spec.bad_blocks`) are to be replaced before END, since zones are erased after it. Marks can be read while
CONTROL.RAW is set.
"""

from binascii import crc_hqx
from enum import IntEnum

from .nvme import BitField, ZoneState


class PageIdentity:
    """Fields of a page's identity. `zone` is the logical zone, device-wide; `page` to `plane` are its place.

    `sequence` numbers the allocations of physical zones. Of two physical zones with the same logical zone and
    generation the one with the higher sequence is valid. `wear` counts the erases of the physical zone.
    `updated`: written by an UPDATE, and so part of an uncommitted generation unless there is a record of its
    commit.
    """

    BYTES = 16
    stream = BitField(0, 3)  # NSID - 1
    updated = BitField(3, 1)
    zone = BitField(4, 12)
    page = BitField(16, 12)
    channel = BitField(28, 6)
    die = BitField(34, 3)
    plane = BitField(37, 4)
    generation = BitField(41, 16)  # of the stream
    sequence = BitField(57, 32)
    wear = BitField(89, 21)  # more than `Retention.endurance` ever allows
    version = BitField(110, 2)
    crc = BitField(112, 16)  # CRC-16/IBM-3740 (CCITT-FALSE) of the bytes before it

    VERSION = 1
    CHECKED_BYTES = crc.low // 8


GENERATION_LIMIT = 1 << PageIdentity.generation.width
"""Generations are counted modulo this in identities."""

MOST_WEAR = (1 << PageIdentity.wear.width) - 1
"""Where the count of erases stops."""


def identity_checksum(body: bytes) -> int:
    """The `crc` of a record with these bytes before it."""
    return crc_hqx(body, 0xFFFF)


def identity_record(**fields: int) -> bytes:
    """The record with these fields of `PageIdentity`; `version` and `crc` follow."""
    p = PageIdentity
    value = p.version.put(p.VERSION)
    for name, number in fields.items():
        value |= getattr(p, name).put(number)
    body = value.to_bytes(p.BYTES, "little")[: p.BYTES - 2]
    return body + identity_checksum(body).to_bytes(2, "little")


def is_identity(record: bytes) -> bool:
    """Whether these are the bytes of a record: its checksum and version are right."""
    body, crc = record[:-2], int.from_bytes(record[-2:], "little")
    value = int.from_bytes(record, "little")
    return identity_checksum(body) == crc and PageIdentity.version.get(value) == PageIdentity.VERSION


RESTORED_STATES = (ZoneState.CLOSED, ZoneState.READ_ONLY, ZoneState.FULL, ZoneState.OFFLINE)
"""States in which a zone can be restored."""


class RestoreAction(IntEnum):
    """Action of a RESTORE command; `RESTORE_FIELDS` has the fields of the entry that it takes.

    STREAM comes before the zones of its stream, or it is refused.

    ZONE restores the logical zone of the block before SLBA. Its write pointer is SLBA, which may be the start
    of the next zone if the capacity of a zone is its size. A CLOSED zone takes appends, one in another state
    does not. A READ_ONLY or OFFLINE zone has the generation of the command, since it outlives resets of its
    stream; a zone in service has that of its stream.

    PHYSICAL takes numbers past the zones, too: the spare blocks of one number on all planes, except those in
    use.

    BLOCK needs spare blocks. The spare is in use from then on; one that must not be used is put in its own
    place, whose number is past the zones.
    """

    STREAM = 1  # the generation of a stream
    ZONE = 2  # a logical zone: its state, its write pointer and its physical zone
    PHYSICAL = 3  # a physical zone whose content nobody needs is erased
    END = 4  # the number of the next allocation; from here on all commands are taken
    BLOCK = 5  # a spare block lies in the place of a block of the physical zone, on the same plane


RESTORE_FIELDS = {
    RestoreAction.STREAM: ("nsid", "generation"),
    RestoreAction.ZONE: (
        "nsid", "slba", "restored_state", "unsure", "physical", "sequence", "generation", "wear", "time",
    ),
    RestoreAction.PHYSICAL: ("physical", "wear"),
    RestoreAction.END: ("sequence",),
    RestoreAction.BLOCK: ("physical", "channel", "die", "plane", "spare"),
}  # fmt: skip
"""The fields of `Submission` that each action takes, apart from opcode, CID and action."""
