"""The checksum of a page's bytes: CRC-32, a beat per cycle."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

CRC_BITS = 32
_POLYNOMIAL = 0xEDB88320  # of CRC-32, the coefficient of x^31 in bit 0
_ONES = (1 << CRC_BITS) - 1
_FAN_IN = 36  # terms of a sum in a cycle: two levels of six inputs

RESIDUE = _ONES
"""What a page with its checksum in the last bytes leaves."""


def _times_x(remainder: int) -> int:
    """The remainder of the next power; the highest coefficient is in bit 0."""
    return remainder >> 1 ^ (_POLYNOMIAL if remainder & 1 else 0)


def _columns(count: int) -> list[int]:
    """The remainders of x^(count - 1) down to x^0: the bits of a beat stand for these."""
    column, columns = 1 << CRC_BITS - 1, []  # x^0
    for _ in range(count):
        columns.insert(0, column)
        column = _times_x(column)
    return columns


def _terms(value: Value, columns: list[int]) -> list[list[Value]]:
    """The bits of `value` that each bit of the remainder sums."""
    return [
        [value[index] for index, column in enumerate(columns) if column >> number & 1]
        for number in range(CRC_BITS)
    ]


def sum_stages(bits: int) -> int:
    """Cycles in which the remainder of a beat of so many bits is summed."""
    stages, terms = 1, bits
    while terms > _FAN_IN:
        stages, terms = stages + 1, -(-terms // _FAN_IN)
    return stages


class PageChecksum(wiring.Component):
    """The remainder of a page by the polynomial of CRC-32.

    The beat itself is reduced first, in sums of 36 bits a cycle. So the loop multiplies 32 bits only.
    The checksum of a page is the complement of the remainder of all its bytes, with zeros in the place of the
    checksum. A page that holds its checksum leaves `RESIDUE`.

    Latency: `latency` cycles from a beat to the remainder with it. Throughput: a beat per cycle.
    Cost: docs/area.md.

    Members
    -------
    valid : In(1)        there is a beat
    first : In(1)        it is the first of a page
    beat : In(width)
    remainder : Out(32)  of the page up to the beat of `latency` cycles ago
    """

    def __init__(self, width: int):
        self.width = width
        super().__init__({
            "valid": In(1), "first": In(1), "beat": In(width), "remainder": Out(CRC_BITS),
        })  # fmt: skip

    @property
    def latency(self) -> int:
        return 2 + sum_stages(self.width)

    def elaborate(self, platform):
        m = Module()
        begun = Signal(self.width, reset_less=True)  # CRC-32 begins with ones
        m.d.sync += begun.eq(self.beat ^ Mux(self.first, _ONES, 0))
        terms = _terms(begun, _columns(self.width))
        stages = sum_stages(self.width)
        for stage in range(stages):
            sums = []
            for number, row in enumerate(terms):
                groups = [row[at : at + _FAN_IN] for at in range(0, len(row), _FAN_IN)]
                part = Signal(len(groups), name=f"sums_{stage}_{number}", reset_less=True)
                m.d.sync += part.eq(Cat(Cat(*group).xor() for group in groups))
                sums.append(list(part))
            terms = sums
        reduced = Cat(row[0] if row else Const(0, 1) for row in terms)
        valid, first = self.valid, self.first
        for cycle in range(1 + stages):
            ahead = valid, first
            valid, first = Signal(name=f"valid_{cycle}"), Signal(name=f"first_{cycle}")
            m.d.sync += [valid.eq(ahead[0]), first.eq(ahead[1])]
        # Bit 31 - k of the remainder is the coefficient of x^k, and so stands for x^(k + width).
        powers = _columns(CRC_BITS + self.width)[:CRC_BITS]
        multiplied = Cat(Cat(*row).xor() for row in _terms(self.remainder, powers))
        with m.If(valid):
            m.d.sync += self.remainder.eq(reduced ^ Mux(first, 0, multiplied))
        return m
