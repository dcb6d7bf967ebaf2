"""The code of pages (`flashtrain.spec.ecc`) in NumPy: encodes and decodes whole pages.

    codec = PageCodec(PageCode(data_bytes=4112, strength=13))
    page = codec.encode(data)               # data and parity
    page[100] ^= 0x10
    codec.decode(page)              # [Verdict(corrected=1), Verdict(), Verdict(), Verdict()]

It decodes as textbooks do: with divisions, and with a test of every position. The hardware does neither.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.ecc import PageCode

from .errors import OperandError

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Verdict:
    """Result for a code word: the number of `corrected` bits, or None if it could not be corrected."""

    corrected: int | None = 0

    @property
    def clean(self) -> bool:
        return self.corrected == 0


class PageCodec:
    """Encodes and decodes pages of one code."""

    def __init__(self, code: PageCode) -> None:
        self.code = code

    def encode(self, data: Bytes) -> Bytes:
        """The page with these data (and identity): they, and parity behind them."""
        code = self.code
        self._check(data, code.data_bytes)
        page = np.full(code.page_bytes, 0xFF, np.uint8)
        page[: code.data_bytes] = data
        for word in range(code.words):
            # Parity is the remainder of what stands before it: together they are a multiple of the generator.
            rows = self.remainders[self._degrees(page, word) - code.parity_bits - self._rest]
            page[code.parity(word)] ^= np.bitwise_xor.reduce(rows, axis=0, initial=0)
        return page

    def syndromes(self, page: Bytes, word: int) -> NDArray[np.int64]:
        """The code word at each of the roots that it must have; all are 0 if it is one."""
        exponents = np.outer(self.code.roots, self._degrees(page, word))
        return np.bitwise_xor.reduce(self._powers[exponents % self.code.field.order], axis=1, initial=0)

    def decode(self, page: Bytes) -> list[Verdict]:
        """Correct a page in place; return the verdicts. An uncorrectable word stays as it is."""
        self._check(page, self.code.page_bytes)
        verdicts = []
        for word in range(self.code.words):
            errors = self.errors(page, word)
            if errors is None:
                verdicts.append(Verdict(corrected=None))
                continue
            flips = (1 << errors % 8).astype(np.uint8)
            np.bitwise_xor.at(page, self._places(word)[errors // 8], flips)
            verdicts.append(Verdict(corrected=len(errors)))
        return verdicts

    def errors(self, page: Bytes, word: int) -> NDArray[np.int64] | None:
        """Which bits of a code word are wrong, counted from its first; None if that cannot be said."""
        syndromes = self.syndromes(page, word)
        if not syndromes.any():
            return np.zeros(0, np.int64)
        locator = self._locator([int(syndrome) for syndrome in syndromes])
        if locator is None:
            return None
        bits = self.code.word_bits(word)
        found = np.flatnonzero(self._evaluate(locator, bits) == 0)
        return found if len(found) == len(locator) - 1 else None

    # The key equation.
    def _locator(self, odd: list[int]) -> list[int] | None:
        """Coefficients of the polynomial, lowest first, whose roots are x^-degree of each error.

        Berlekamp and Massey's algorithm; None if the polynomial is none of so many errors.
        """
        field = self.code.field
        syndromes = [0] * (2 * self.code.strength + 1)
        syndromes[1::2] = odd
        for index in range(2, len(syndromes), 2):
            syndromes[index] = field.multiply(syndromes[index // 2], syndromes[index // 2])
        locator, before = [1], [1]
        errors, since, last = 0, 1, 1
        for index in range(1, len(syndromes)):
            discrepancy = 0
            for degree, coefficient in enumerate(locator[: errors + 1]):
                discrepancy ^= field.multiply(coefficient, syndromes[index - degree])
            if not discrepancy:
                since += 1
                continue
            scale = field.divide(discrepancy, last)
            change = [0] * since + [field.multiply(scale, coefficient) for coefficient in before]
            length = max(len(locator), len(change))
            padded = [part + [0] * (length - len(part)) for part in (locator, change)]
            changed = [a ^ b for a, b in zip(*padded, strict=True)]
            if 2 * errors < index:
                errors, before, last, since = index - errors, locator, discrepancy, 1
            else:
                since += 1
            locator = changed
        while locator[-1] == 0:
            locator.pop()
        return locator if len(locator) == errors + 1 <= self.code.strength + 1 else None

    def _evaluate(self, locator: list[int], bits: int) -> NDArray[np.int64]:
        """The polynomial at x^-degree for the degree of each bit, from the first on."""
        degrees = np.arange(bits - 1, -1, -1)
        values = np.zeros(bits, np.int64)
        for exponent, coefficient in enumerate(locator):
            if coefficient:
                logarithm = self.code.field.logarithms[coefficient]
                values ^= self._powers[(logarithm - exponent * degrees) % self.code.field.order]
        return values

    # Bits, bytes, degrees.
    def _places(self, word: int) -> NDArray[np.int64]:
        """Where in the page each byte of a code word lies."""
        parts = self.code.data(word), self.code.parity(word)
        return np.concatenate([np.arange(part.start, part.stop) for part in parts])

    def _degrees(self, page: Bytes, word: int) -> NDArray[np.int64]:
        """Of each term of a code word: of each zero bit, since bits are inverted."""
        bits = np.unpackbits(~page[self._places(word)], bitorder="little")
        return len(bits) - 1 - np.flatnonzero(bits)

    @cached_property
    def _powers(self) -> NDArray[np.int64]:
        return np.array(self.code.field.powers)

    @property
    def _rest(self) -> int:
        """Bits of the parity's last lane that it does not need."""
        return 8 * self.code.parity_bytes - self.code.parity_bits

    @cached_property
    def remainders(self) -> NDArray[np.uint8]:
        """For each bit of data, the last of a code word first: the remainder of its term alone, as parity."""
        code = self.code
        remainder, rows = code.generator ^ 1 << code.parity_bits, []
        for _ in range(8 * code.last_bytes):
            rows.append(remainder << self._rest)
            remainder <<= 1
            if remainder >> code.parity_bits:
                remainder ^= code.generator
        packed = b"".join(row.to_bytes(code.parity_bytes, "big") for row in rows)
        highest_first = np.frombuffer(packed, np.uint8).reshape(-1, code.parity_bytes)
        return np.packbits(np.unpackbits(highest_first, axis=1), axis=1, bitorder="little")

    @staticmethod
    def _check(page: Bytes, expected: int) -> None:
        if page.shape != (expected,) or page.dtype != np.uint8:
            raise OperandError(f"a page of {page.dtype} {page.shape}; expected uint8 ({expected},)")
