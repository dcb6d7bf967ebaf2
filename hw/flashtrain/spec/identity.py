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

from .nvme import BitField


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


class RestoreAction(IntEnum):
    """Action of a RESTORE command; which fields of the entry it takes.

    STREAM: NSID, `generation`. The stream's generation; before its zones, or it is refused.
    ZONE: NSID, SLBA, `restored_state`, `physical`, `sequence`, `wear`. The logical zone of the block before
        SLBA lies on the physical zone; its write pointer is SLBA (in a zone whose capacity is its size that
        may be the start of the next one). CLOSED: appends go on there; FULL: they do not.
    PHYSICAL: `physical`, `wear`. Nobody needs what the physical zone holds: it is to be erased. Numbers
        past the zones are those of spares: the block of that number on each plane, unless it is in use.
    END: `sequence`. Of the next allocation. From here on all commands are taken.
    BLOCK: `physical`, `channel`, `die`, `plane`, `spare`. At this place of the physical zone lies the spare
        block of this number (from 0) of the same plane, instead of the zone's own. The spare is in use from
        then on; one that must not be used is put in its own place, whose number is past the zones. The action
        needs spares.
    """

    STREAM = 1
    ZONE = 2
    PHYSICAL = 3
    END = 4
    BLOCK = 5
