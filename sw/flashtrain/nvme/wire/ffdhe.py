"""Finite-field Diffie-Hellman groups of DH-HMAC-CHAP (RFC 7919, appendix A)."""

import secrets
from enum import IntEnum
from functools import cache

_OFFSETS = {2048: 560316, 3072: 2625351, 4096: 5736041, 6144: 15705020, 8192: 10965728}
_GENERATOR = 2
_EXPONENT_BITS = {2048: 225, 3072: 275, 4096: 325, 6144: 375, 8192: 400}
"""Bits of a secret that have the strength of the group (RFC 7919, appendix A)."""


class DhGroup(IntEnum):
    NULL = 0
    FFDHE2048 = 1
    FFDHE3072 = 2
    FFDHE4096 = 3
    FFDHE6144 = 4
    FFDHE8192 = 5

    @property
    def bytes(self) -> int:
        """Bytes of a public value; 0 for the null group."""
        return 0 if self is DhGroup.NULL else int(self.name.removeprefix("FFDHE")) // 8


@cache
def prime(group: DhGroup) -> int:
    """The group's prime: 2^b - 2^(b-64) + (floor(2^(b-130) e) + X) 2^64 - 1."""
    bits = 8 * group.bytes
    e = _euler(bits - 130)
    return (1 << bits) - (1 << bits - 64) + (e + _OFFSETS[bits] << 64) - 1


def _euler(bits: int) -> int:
    """floor(2^bits e), from the series of 1/n!, with more bits than are returned."""
    guard = 64
    term = total = 1 << bits + guard
    number = 1
    while term:
        term //= number
        total += term
        number += 1
    return total >> guard


class KeyExchange:
    """One side of an exchange."""

    def __init__(self, group: DhGroup) -> None:
        self._group = group
        bits = _EXPONENT_BITS[8 * group.bytes]
        self._secret = secrets.randbits(bits) | 1 << bits

    @property
    def public(self) -> bytes:
        return self._bytes(pow(_GENERATOR, self._secret, prime(self._group)))

    def shared(self, other: bytes) -> bytes | None:
        """The shared value; None if the other side's public value is none of the group."""
        value = int.from_bytes(other, "big")
        if len(other) != self._group.bytes or not 1 < value < prime(self._group) - 1:
            return None
        return self._bytes(pow(value, self._secret, prime(self._group)))

    def _bytes(self, value: int) -> bytes:
        return value.to_bytes(self._group.bytes, "big")
