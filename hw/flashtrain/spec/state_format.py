"""Formats in which the dies store the state of an optimizer, and the rounding into them.

Arithmetic is binary32 in every format: a word is converted when it is loaded, which is exact, and rounded
once when it is stored. BF16 is the upper half of a binary32 number. Its subnormals are kept. Infinity is the
neighbour of the largest finite number, to which a magnitude past that may be rounded; infinities and signs
are kept. The one NaN that operations deliver, 7FC00000h, is stored as 7FC0h.

SPLIT is for weights: a binary32 number in two halves, each in an array of its own. The forward pass reads
the upper halves, 2 bytes a weight, which are numbers of BF16. The lower half is the low 16 bits of the
number. The upper half is its high 16 bits, and one more where the lower half is 8000h or above. So it is the
number rounded to nearest, ties away from zero. A load takes the one off again. The number is exact, and is
never rounded by chance. Only a NaN loses bits: it is stored as 7FC00000h. NVIDIA's Apex keeps master weights
so (`store_param_remainders` of its DistributedFusedAdam). Split-SGD cuts the number in two instead, which
draws all weights of the forward pass towards zero (D. Kalamkar and others, Optimizing Deep Learning
Recommender Systems Training on CPU Cluster Architectures, SC 2020).

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

FP8 is for moments. `SCALE_GROUP` successive numbers share a scale, as in OCP Microscaling Formats (MX) 1.0:
E8M0, 2^(S - 127) in a byte S of its own; S = 255 makes all of its numbers NaN. m is E4M3. v is E5M2
(`SCALED`), whose range is that of the squares of E4M3's numbers. P. Micikevicius and others, FP8 Formats for
Deep Learning (2022), have both. M. Fishman and others, Scaling FP8 Training to Trillion-Token LLMs (2024),
have these for m and v.

- The scale is the least with which no magnitude of its group overflows, infinities and NaN left out, and no
  less than `least_scale`. A loaded S below is taken as that. So a unit of the smallest numbers is 2^-126, and
  no subnormal of binary32 is loaded. A scale never overflows, and no finite number is cut to the largest.
- Let q be a number's magnitude in units of its last place. To nearest even: q rounded. Stochastically: q is
  rounded to 16 bits behind the point, half a unit of those up; 16 random bits are added to them, and they are
  cut off. So the expectation differs from the number by 2^-17 of a unit at most.
- A magnitude of v that is not zero is never stored as zero: the least number takes its place. A step with a
  mean and without a variance would have no bound. B. Li and others, Memory Efficient Optimizers with 4-bit
  States (NeurIPS 2023), call that the zero-point problem.
- NaN is 7Fh. An infinite m is NaN as well, since E4M3 has no infinity; an infinite v is 7Ch with its sign.
- Loading is exact. A number past the largest finite one of binary32 is loaded as infinite.
"""

from dataclasses import dataclass
from enum import IntEnum

from .errors import require
from .identity import PageIdentity


class StateFormat(IntEnum):
    """Format of an array of optimizer state."""

    FP32 = 0  # IEEE 754 binary32
    BF16 = 1  # the upper half of a binary32
    FP8 = 2  # of moments: E4M3 or E5M2, and a scale for `SCALE_GROUP` numbers
    SPLIT = 3  # of weights: a binary32, its upper half as BF16 and its lower half in arrays of their own

    @property
    def bytes(self) -> int:
        """Of a number, without its part of a scale."""
        return (4, 2, 1, 4)[self]

    @property
    def multiple(self) -> int:
        """Numbers come in multiples of this: those of a word, or of a scale."""
        return (1, 2, SCALE_GROUP, 2)[self]


WEIGHTS = (StateFormat.FP32, StateFormat.BF16, StateFormat.SPLIT)
MOMENTS = (StateFormat.FP32, StateFormat.BF16, StateFormat.FP8)
"""Formats of weights, and of the moments m and v."""

SCALE_GROUP = 32
"""Numbers with the same scale (OCP MX 1.0, section 5)."""

NAN_SCALE = 0xFF
SCALED_NAN = 0x7F


@dataclass(frozen=True)
class ScaledFormat:
    """A format of 8 bits whose numbers have a shared scale.

    - mantissa_bits, bias: of a number with the scale 1.
    - infinity: the code of infinity, or of what takes its place.
    - keeps_least: no magnitude but zero is stored as zero.
    """

    mantissa_bits: int
    bias: int
    infinity: int
    keeps_least: bool

    @property
    def largest_exponent(self) -> int:
        """Of the largest number, which is 1.75 times this power of two."""
        return self.bias if self.infinity != SCALED_NAN else self.bias + 1

    @property
    def least_scale(self) -> int:
        """The unit of the smallest numbers is then 2^-126."""
        return self.mantissa_bits + self.bias


E4M3 = ScaledFormat(3, 7, SCALED_NAN, keeps_least=False)
E5M2 = ScaledFormat(2, 15, 0x7C, keeps_least=True)

SCALED = {1: E4M3, 2: E5M2}
"""What FP8 is in array 1 (m) and 2 (v)."""


class Rounding(IntEnum):
    """Rounding of a number that is stored in a narrower format."""

    NEAREST = 0  # to nearest even
    STOCHASTIC = 1  # up or down by chance, so that the expectation is the number


@dataclass(frozen=True)
class StateFormats:
    """Formats of the weights, and of the moments m and v."""

    weight: StateFormat = StateFormat.FP32
    moments: StateFormat = StateFormat.FP32

    def __post_init__(self) -> None:
        require(self.weight in WEIGHTS, "formats.weight", self.weight.name, "FP32, BF16 or SPLIT")
        require(self.moments in MOMENTS, "formats.moments", self.moments.name, "FP32, BF16 or FP8")

    def of(self, number: int) -> StateFormat:
        """The format of an array: 0 is w, 1 is m, 2 is v."""
        return self.moments if number else self.weight

    def bytes_of(self, arrays: int) -> float:
        """Of a parameter with so many arrays, with its parts of scales."""
        forms = [self.of(number) for number in range(arrays)]
        numbers, scaled = sum(form.bytes for form in forms), forms.count(StateFormat.FP8)
        return numbers + scaled / SCALE_GROUP if scaled else numbers


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
