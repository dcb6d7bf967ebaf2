"""The identity of a page as hardware makes and checks it (`flashtrain.spec.identity`)."""

from functools import reduce
from operator import xor

from amaranth import Cat, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data

from flashtrain.spec.identity import PageIdentity, identity_checksum
from flashtrain.spec.nvme import BitField

RECORD_BITS = 8 * PageIdentity.BYTES
_FIELDS = {name: field for name, field in vars(PageIdentity).items() if isinstance(field, BitField)}
_BODY_BITS = PageIdentity.crc.low


class Record(data.StructLayout):
    """The fields of `PageIdentity`, in their places."""

    def __init__(self):
        super().__init__({name: field.width for name, field in _FIELDS.items()})


def checksum(record: ValueLike) -> Value:
    """The CRC that a record with these fields must have. Combinational, an XOR of some 60 bits at most."""
    of_low, of_high = checksum_halves(record)
    return of_low ^ of_high


def checksum_halves(record: ValueLike) -> tuple[Value, Value]:
    """Two values whose XOR is the CRC, each an XOR of some 30 bits at most: for a register between."""
    body = Value.cast(record)[:_BODY_BITS]
    half = _BODY_BITS // 2
    low = Cat(_sum(body, [index for index in taps if index < half]) for taps in _TAPS)
    high = Cat(_sum(body, [index for index in taps if index >= half]) for taps in _TAPS)
    return low ^ _OF_ZEROS, high


def _sum(body: Value, taps: list[int]) -> Value:
    return reduce(xor, (body[index] for index in taps))


def _crc(body: int) -> int:
    return identity_checksum(body.to_bytes(_BODY_BITS // 8, "little"))


_OF_ZEROS = _crc(0)
_OF_BIT = [_crc(1 << index) ^ _OF_ZEROS for index in range(_BODY_BITS)]
_TAPS = [
    [index for index in range(_BODY_BITS) if _OF_BIT[index] >> number & 1]
    for number in range(PageIdentity.crc.width)
]
"""Which bits of the body each bit of the CRC depends on: it is linear but for its value of zeros."""
