"""Error correction of a page: a binary BCH code over each KiB of its data. `python -m flashtrain.spec.ecc`
prints how strong it has to be.

The code protects the bytes of a page that cross a channel's bus: data, and the identity behind them
(`spec.identity`). They are divided in their order into *code words* of `word_bytes`; the remainder, the
identity, belongs to the last one. Behind them lies the *parity* of all code words, in the same order:

    | word 0 | word 1 | word 2 | word 3 and identity | parity 0 | parity 1 | parity 2 | parity 3 |

Parity takes a multiple of `LANE_BYTES`, so that every part begins at a lane of a die's registers. The unused
bits of its last lane are ones, which are protected as everything else.

A code word is a polynomial over GF(2). Its bits are those of the flash *inverted*. The first bit of a byte
is the lowest, and the first bit of the code word is its coefficient of the highest degree. It is a code word
if x, x^3, x^5 to x^(2 strength - 1) are roots of it. The inversion makes all ones a code word of any length.
So an erased page reads as clean, and one with a few zeros is corrected to ones.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from .errors import require, require_range
from .galois_field import POLYNOMIALS, GaloisField, multiply_polynomials
from .geometry import Geometry

LANE_BYTES = 8
"""Parts of a page begin at multiples of this: data go to a die in lanes of as much."""
WORD_BYTES = 1024

RAW_BIT_ERROR_RATE = 1e-4
UNCORRECTABLE_RATE = 1e-15
"""What the code is made for: bits that are wrong in the cells, and code words lost per bit of data read."""


@dataclass(frozen=True)
class PageCode:
    """The code of a page of `data_bytes` (data and identity) that corrects `strength` bits of a code word."""

    data_bytes: int
    strength: int
    word_bytes: int = WORD_BYTES

    def __post_init__(self) -> None:
        require_range("code.strength", self.strength, 1, 64)
        for name in ("data_bytes", "word_bytes"):
            value = getattr(self, name)
            require(
                value > 0 and value % LANE_BYTES == 0, f"code.{name}", value, f"a multiple of {LANE_BYTES}"
            )
        longest = 8 * (self.last_bytes + self.parity_bytes)
        require(longest <= self.field.order, "code.word_bytes", self.word_bytes, "a shorter code word")

    @classmethod
    def of(cls, geometry: Geometry, strength: int) -> "PageCode":
        """The code of a page of that geometry, whose spare bytes must have room for it."""
        code = cls(geometry.identified_page_bytes, strength)
        require(code.page_bytes <= geometry.raw_page_bytes, "config.code_strength", strength,
                f"parity that fits {geometry.raw_page_bytes - geometry.identified_page_bytes} spare bytes, "
                f"not {code.page_bytes - code.data_bytes}")  # fmt: skip
        return code

    # Layout.
    @property
    def words(self) -> int:
        """Code words of a page."""
        return max(1, self.data_bytes // self.word_bytes)

    @property
    def last_bytes(self) -> int:
        """Data bytes of the last code word, which is the longest."""
        return self.data_bytes - (self.words - 1) * self.word_bytes

    @property
    def page_bytes(self) -> int:
        """Bytes of a page with the parity behind it."""
        return self.data_bytes + self.words * self.parity_bytes

    def data(self, word: int) -> slice:
        """Where in the page the data of a code word lie."""
        begin = word * self.word_bytes
        return slice(begin, self.data_bytes if word == self.words - 1 else begin + self.word_bytes)

    def parity(self, word: int) -> slice:
        """Where in the page its parity lies."""
        begin = self.data_bytes + word * self.parity_bytes
        return slice(begin, begin + self.parity_bytes)

    def word_bits(self, word: int) -> int:
        """Length of a code word, parity included."""
        data = self.data(word)
        return 8 * (data.stop - data.start + self.parity_bytes)

    # The code.
    @cached_property
    def field(self) -> GaloisField:
        """The smallest one with an element other than 0 for each bit of a code word."""
        for bits in POLYNOMIALS:
            field = GaloisField(bits)
            lanes = -(-bits * self.strength // (8 * LANE_BYTES))
            if 8 * (self.last_bytes + lanes * LANE_BYTES) <= field.order:
                return field
        return GaloisField(max(POLYNOMIALS))

    @property
    def roots(self) -> range:
        """Exponents of x that are odd: the roots that a code word must have. The even ones follow."""
        return range(1, 2 * self.strength, 2)

    @cached_property
    def generator(self) -> int:
        """The polynomial over GF(2) of which code words are multiples; bit i is its coefficient of x^i."""
        generator = 1
        for factor in {self.field.minimal_polynomial(root) for root in self.roots}:
            generator = multiply_polynomials(generator, factor)
        return generator

    @property
    def parity_bits(self) -> int:
        """Degree of the generator."""
        return self.generator.bit_length() - 1

    @property
    def parity_bytes(self) -> int:
        """Of a code word; bits beyond `parity_bits` are ones."""
        return -(-self.parity_bits // (8 * LANE_BYTES)) * LANE_BYTES


# Strength.
def lost_words(bits: int, strength: int, raw: float) -> float:
    """The share of code words of `bits` bits in which more than `strength` are wrong.

    Bits are wrong independently of each other, each with probability `raw`: a tail of the binomial.
    """
    count = strength + 1
    term = math.exp(
        math.lgamma(bits + 1) - math.lgamma(count + 1) - math.lgamma(bits - count + 1)
        + count * math.log(raw) + (bits - count) * math.log1p(-raw)
    )  # fmt: skip
    total = 0.0
    while count <= bits and term > total * 1e-17:
        total += term
        term *= (bits - count) / (count + 1) * raw / (1 - raw)
        count += 1
    return total


def uncorrectable_rate(code: PageCode, raw: float = RAW_BIT_ERROR_RATE) -> float:
    """Code words lost per bit of data read, of the code word that is worst off: the last."""
    return lost_words(code.word_bits(code.words - 1), code.strength, raw) / (8 * code.last_bytes)


def needed_strength(
    data_bytes: int, raw: float = RAW_BIT_ERROR_RATE, uncorrectable: float = UNCORRECTABLE_RATE
) -> int:
    """The least strength of a page of `data_bytes` that keeps `uncorrectable_rate` below `uncorrectable`."""
    return next(
        strength for strength in range(1, 65)
        if uncorrectable_rate(PageCode(data_bytes, strength), raw) < uncorrectable
    )  # fmt: skip


def derivation(
    data_bytes: int, raw: float = RAW_BIT_ERROR_RATE, uncorrectable: float = UNCORRECTABLE_RATE
) -> str:
    """How the strength follows, as a table."""
    needed = needed_strength(data_bytes, raw, uncorrectable)
    lines = [
        f"{data_bytes} bytes; raw bit error rate {raw:g}; lost per bit read: below {uncorrectable:g}",
        "strength  parity  code word   wrong bits  words lost  per data bit",
    ]
    for strength in range(max(1, needed - 3), needed + 2):
        code = PageCode(data_bytes, strength)
        bits = code.word_bits(code.words - 1)
        lost = lost_words(bits, strength, raw)
        lines.append(
            f"{strength:8}  {code.parity_bits:3} bits  {bits:5} bits  {bits * raw:10.4f}  {lost:10.2e}  "
            f"{uncorrectable_rate(code, raw):12.2e}{'  <' if strength == needed else ''}"
        )
    return "\n".join(lines)


def main() -> None:
    page = Geometry(channels=1, dies=1, planes=1, blocks=2, pages=2).identified_page_bytes
    for raw in (RAW_BIT_ERROR_RATE, 1e-5, 1e-3):
        print(derivation(page, raw), end="\n\n")


if __name__ == "__main__":
    main()
