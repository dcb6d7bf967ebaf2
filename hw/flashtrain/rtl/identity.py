"""The identity of a page as hardware makes and checks it (`flashtrain.spec.identity`)."""

from functools import reduce
from operator import xor

from amaranth import Cat, Const, Value
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


def checksum(record: Value) -> Value:
    """The CRC that a record with these fields must have. Combinational, an XOR of some 60 bits at most."""
    body = Value.cast(record)[:_BODY_BITS]
    bits = [reduce(xor, (body[index] for index in taps)) for taps in _TAPS]
    return Cat(bit ^ Const(_OF_ZEROS >> number & 1, 1) for number, bit in enumerate(bits))


def _crc(body: int) -> int:
    return identity_checksum(body.to_bytes(_BODY_BITS // 8, "little"))


_OF_ZEROS = _crc(0)
_OF_BIT = [_crc(1 << index) ^ _OF_ZEROS for index in range(_BODY_BITS)]
_TAPS = [
    [index for index in range(_BODY_BITS) if _OF_BIT[index] >> number & 1]
    for number in range(PageIdentity.crc.width)
]
"""Which bits of the body each bit of the CRC depends on: it is linear but for its value of zeros."""
