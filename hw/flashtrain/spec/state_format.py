"""Formats in which the dies store the state of an optimizer, and the rounding into them.

Arithmetic is binary32 in every format: a word is converted when it is loaded, which is exact, and rounded
once when it is stored. BF16 is the upper half of a binary32 number. Its subnormals are kept. Infinity is the
neighbour of the largest finite number, to which a magnitude past that may be rounded; infinities and signs
are kept. The one NaN that operations deliver, 7FC00000h, is stored as 7FC0h.

A store rounds to nearest even, or *stochastically*: 16 random bits are added to the magnitude's lower half,
which is then cut off. The probability of the upper neighbour is the distance from the lower one, as a part
of that between both. So the expectation is the number itself.

The random bits are a hash of a key, which the host makes of a seed and the number of the step; of the place
of the tile in its generation; and of the parameter's number in it. A step that is repeated therefore has the
same bits, wherever its generation begins, on every device with the same geometry. `permute` is a Feistel
network with halves of 24 bits: `ROUNDS` times
`left, right = right ^ (left <<< 1 & left <<< 8) ^ left <<< 2 ^ constant, left`. These are the rounds of SIMON
48, with constants in the place of its keys (R. Beaulieu and others, SIMON and SPECK, DAC 2015). A round takes
a logic function of five inputs for each of 24 bits, and no multiplier.
"""

from dataclasses import dataclass
from enum import IntEnum

from .identity import PageIdentity


class StateFormat(IntEnum):
    """Format of an array of optimizer state."""

    FP32 = 0  # IEEE 754 binary32
    BF16 = 1  # the upper half of a binary32

    @property
    def bytes(self) -> int:
        """Of a number."""
        return 4 if self is StateFormat.FP32 else 2


class Rounding(IntEnum):
    """Rounding of a number that is stored in a narrower format."""

    NEAREST = 0  # to nearest even
    STOCHASTIC = 1  # up or down by chance, so that the expectation is the number


@dataclass(frozen=True)
class StateFormats:
    """Formats of the weights, and of the moments m and v."""

    weight: StateFormat = StateFormat.FP32
    moments: StateFormat = StateFormat.FP32

    def of(self, number: int) -> StateFormat:
        """The format of an array: 0 is w, 1 is m, 2 is v."""
        return self.moments if number else self.weight


PLAIN = StateFormats()
"""All state in FP32."""

HALF_BITS = 24
KEY_BITS = 2 * HALF_BITS
RANDOM_BITS = 16
"""Random bits of a stored number: array k has those from 16 k on."""

ROUND_CONSTANTS = (
    0x243F6A, 0x8885A3, 0x08D313, 0x198A2E, 0x037073, 0x44A409,
    0x382229, 0x9F31D0, 0x082EFA, 0x98EC4E, 0x6C8945, 0x2821E6,
)  # fmt: skip
"""The first digits of pi behind the point. With three rounds less, neighbouring parameters round alike."""
ROUNDS = len(ROUND_CONSTANTS)

PLACE_FIELDS = ("zone", "page", "channel", "die")
"""Fields of a tile's identity that are its place, from the low bits up; they follow each other there."""
PLACE_LOW = PageIdentity.zone.low
PLACE_BITS = PageIdentity.die.low + PageIdentity.die.width - PLACE_LOW


def tile_place(zone: int, page: int, channel: int, die: int) -> int:
    """The place of a tile: `zone` counts from its stream's first, `page` from its generation's first."""
    p = PageIdentity
    put = p.zone.put(zone) | p.page.put(page) | p.channel.put(channel) | p.die.put(die)
    return put >> PLACE_LOW


def permute(value: int) -> int:
    """A permutation of 48 bits, `left` above `right`."""
    mask = (1 << HALF_BITS) - 1
    left, right = value >> HALF_BITS, value & mask
    for constant in ROUND_CONSTANTS:
        mixed = (_rotated(left, 1) & _rotated(left, 8)) ^ _rotated(left, 2)
        left, right = right ^ mixed ^ constant, left
    return left << HALF_BITS | right


def random_bits(key: int, place: int, index: int) -> int:
    """48 random bits of parameter `index` of the tile at `place`."""
    return permute(permute(key ^ place) ^ index << HALF_BITS)


def _rotated(half: int, bits: int) -> int:
    return (half << bits | half >> (HALF_BITS - bits)) & ((1 << HALF_BITS) - 1)
