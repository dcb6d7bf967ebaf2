"""The driver's journal on the flash: records in blocks of the stream `flashtrain.spec.streams.JOURNAL`.

A record is a snapshot. It has, one after the other and little endian:

- `RecordFlag`, 32 bits; from bit 8 on a bit per stream, from NSID 1: it is pinned
- a `RecordStream` for each NSID, from 1 to 8
- floors, wear, 32 bits each, and a `RecordWritten`, for all zones of the device
- a `RecordCopy`
- 16 times a `RecordMoment`; unused ones have a sequence of ones and a time of zeros
- a bit per zone that is READ_ONLY, then a bit per zone that is OFFLINE, each map in whole bytes
- the notes, in the order of NSIDs

*Floors* by logical zone: the lowest sequence number that is not stale; of a zone out of service that of its
data. *Wear* by physical zone: erases when they were last read. `RecordWritten` by logical zone: zeros, except
in a clean record.

The record lies in parts of equal size in consecutive blocks. Each block has a `RecordHead`, its part, and
bytes that INSPECT replaces by the page's identity.
"""

import struct
from enum import IntFlag

from .nvme import BitField


class RecordHead:
    """Head of a block of a journal record."""

    BYTES = 18
    magic = BitField(0, 32)
    record = BitField(32, 32)  # number of the record, from 1
    position = BitField(64, 16)  # of the block in the record
    blocks = BitField(80, 16)  # of the record
    crc = BitField(96, 16)  # CRC-16/IBM-3740 of the bytes before it
    sum = BitField(112, 32)  # CRC-32 of the part behind the head, with its padding of zeros

    MAGIC = int.from_bytes(b"FTJ4", "little")
    CHECKED_BYTES = crc.low // 8


class RecordFlag(IntFlag):
    """Flags of a journal record."""

    CLEAN = 1  # the controller was shut down after this record
    REPLACED = 2  # spare blocks may be in use; in a clean record they are
    COPIED = 4  # a refresh has not ended
    COPY_WHOLE = 8  # the spare zone of that refresh has all the content


FIRST_PIN = 8
"""The flag of the stream with NSID 1; the others follow."""


class RecordStream:
    """A stream in a journal record."""

    BYTES = 16
    generation = BitField(0, 16)
    page = BitField(16, 16)  # of the stream's first zone, where the committed generation begins
    commit = BitField(32, 32)  # number of the record that committed the generation; 0: not committed
    updates = BitField(64, 32)  # that led to the committed generation
    note = BitField(96, 32)  # bytes of the note


class RecordWritten:
    """The write pointer of a zone in a clean journal record; 0 if the zone is empty, or it is not known."""

    BYTES = 4
    blocks = BitField(0, 31)  # below the write pointer
    full = BitField(31, 1)  # the zone takes no more


class RecordCopy:
    """The zones of a refresh in a journal record, counted device-wide."""

    BYTES = 4
    zone = BitField(0, 16)
    spare = BitField(16, 16)


class RecordMoment:
    """A time in a journal record, and the sequence number of the next allocation then."""

    BYTES = 8
    sequence = BitField(0, 32)
    time = BitField(32, 32)  # seconds of the device's clock


MOMENTS = 16
"""The number of moments in a record."""

_LETTERS = {16: "H", 32: "I"}


def packing(kind: type) -> struct.Struct:
    """The fields of one of these structures, in their order, as `struct` packs them."""
    fields = [value for value in vars(kind).values() if isinstance(value, BitField)]
    packed = struct.Struct("<" + "".join(_LETTERS[field.width] for field in fields))
    assert packed.size == kind.BYTES
    return packed
