"""Networks that move the bytes of a slice to a run of places in a page, and back.

A run goes down from a place, and round the end of a row of 32. So the n-th valid byte of a slice has the
place `start` - n, modulo 32. A butterfly sets one bit of the place of a byte per level, the lowest first.
Bytes never meet: two of a block of 2^k lanes have ranks that differ by less than 2^k.
"""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.delay_line import DelayLine
from flashtrain.spec.codec import SLICE_BYTES

from .counting import QUAD, count_of_quad

PLACE_BITS = 5
_QUADS = SLICE_BYTES // QUAD
_COMPACTOR_LEVELS = ((0, 1), (2, 3), (4,))
"""Levels of the butterfly in each cycle."""
_EXPANDER_LEVELS = ((0,), (1,), (2,), (3,), (4,))
"""The same in a decoder. Multiplexers of four would crowd the wires to the select of an FPGA's wide ones."""

PLACES_CYCLES = 4
"""From the valid bytes of a slice to their places."""
COMPACTOR_CYCLES = 1 + len(_COMPACTOR_LEVELS)
"""From places to the moved bytes, in the compactor."""
EXPANDER_CYCLES = len(_EXPANDER_LEVELS)
"""From places to their run in the expander, and from that to the bytes."""

_LONG_CYCLES = 5
"""A delay of so many takes less room in memory than in registers."""

PLACES = data.ArrayLayout(PLACE_BITS, SLICE_BYTES)


def delayed(m: Module, signal: Value, cycles: int, name: str) -> Value:
    """The signal of so many cycles ago."""
    for cycle in range(1, cycles + 1):
        before, signal = signal, Signal.like(signal, name=f"{name}_{cycle}", reset_less=True)
        m.d.sync += signal.eq(before)
    return signal


class BytePlaces(wiring.Component):
    """The places of the valid bytes of a slice.

    Latency: `PLACES_CYCLES` from `valid`, and 2 from `start`. Throughput: a slice per cycle.

    Members
    -------
    valid : In(32)         the valid bytes
    start : In(5)          the place of the first valid byte, `PLACES_CYCLES` - 2 cycles later
    placed : Out(32)       `valid` of the places
    places : Out(PLACES)   without meaning where a byte is not valid
    """

    def __init__(self):
        super().__init__({
            "valid": In(SLICE_BYTES),
            "start": In(PLACE_BITS),
            "placed": Out(SLICE_BYTES),
            "places": Out(PLACES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        quads = [self.valid[at : at + QUAD] for at in range(0, SLICE_BYTES, QUAD)]
        ranks = Signal(data.ArrayLayout(2, SLICE_BYTES), reset_less=True)  # within a quad
        counts = [Signal(3, name=f"count_{quad}", reset_less=True) for quad in range(_QUADS)]
        for quad, bits in enumerate(quads):
            m.d.sync += counts[quad].eq(count_of_quad(bits))
            for bit in range(QUAD):
                below = Cat(bits[:bit], Const(0, QUAD - bit))
                m.d.sync += ranks[QUAD * quad + bit].eq(count_of_quad(below))
        # Bytes of the quads before: in each half first, then in all.
        half, ahead = Signal(PLACE_BITS, reset_less=True), []
        m.d.sync += half.eq(sum(counts[: _QUADS // 2], start=Const(0)))
        for quad in range(_QUADS):
            before = Signal(4, name=f"before_{quad}", reset_less=True)
            begin = quad - quad % (_QUADS // 2)
            m.d.sync += before.eq(sum(counts[begin:quad], start=Const(0)))
            ahead.append(before)
        firsts = [Signal(PLACE_BITS, name=f"first_{quad}", reset_less=True) for quad in range(_QUADS)]
        for quad, first in enumerate(firsts):
            m.d.sync += first.eq(self.start - ahead[quad] - (half if quad >= _QUADS // 2 else 0))
        ranks_late = delayed(m, ranks.as_value(), 2, "ranks")
        for lane in range(SLICE_BYTES):
            rank = ranks_late.word_select(lane, 2)
            m.d.sync += self.places[lane].eq(firsts[lane // QUAD] - rank)
        m.d.comb += self.placed.eq(delayed(m, self.valid, PLACES_CYCLES, "valid"))
        return m


_Levels = Sequence[Sequence[int]]


def _crossings(m: Module, valid: Value, places: Value, cycles: _Levels) -> tuple[list[list[Signal]], Value]:
    """Controls of a butterfly: for each cycle the signals of each level. Bit `lane` of such a signal: the
    byte at this input of the level goes to the other lane. And the lanes that are valid behind all levels.
    """
    here, bits = valid, [places.word_select(lane, PLACE_BITS) for lane in range(SLICE_BYTES)]
    crossings = []
    for cycle, levels in enumerate(cycles):
        rows = []
        for level in levels:
            moves = Signal(SLICE_BYTES, name=f"moves_{level}")
            m.d.comb += moves.eq(Cat(
                here[lane] & (bits[lane][level] ^ (lane >> level & 1)) for lane in range(SLICE_BYTES)
            ))  # fmt: skip
            rows.append(moves)
            other = [lane ^ 1 << level for lane in range(SLICE_BYTES)]
            moved = Signal(SLICE_BYTES, name=f"valid_{level}")
            m.d.comb += moved.eq(Cat(
                moves[other[lane]] | (here[lane] & ~moves[lane]) for lane in range(SLICE_BYTES)
            ))  # fmt: skip
            routed = [Signal(PLACE_BITS, name=f"place_{level}_{lane}") for lane in range(SLICE_BYTES)]
            m.d.comb += [
                routed[lane].eq(Mux(moves[other[lane]], bits[other[lane]], bits[lane]))
                for lane in range(SLICE_BYTES)
            ]
            here, bits = moved, routed
        crossings.append(rows)
        registers = [Signal(PLACE_BITS, name=f"after_{cycle}_{lane}", reset_less=True)
                     for lane in range(SLICE_BYTES)]  # fmt: skip
        held = Signal(SLICE_BYTES, name=f"held_{cycle}", reset_less=True)
        m.d.sync += [held.eq(here), *(now.eq(bit) for now, bit in zip(registers, bits, strict=True))]
        here, bits = held, registers
    return crossings, here


def _levels(
    m: Module, name: str, lanes: Sequence[Value], levels: Sequence[tuple[int, Sequence[Value]]]
) -> list[Signal]:
    """The lanes behind one level or two: each takes the byte of the other lane where its select is set.

    Two levels are a multiplexer of four whose selects are those of the path to its output.
    """
    out = [Signal(8, name=f"{name}_{lane}") for lane in range(SLICE_BYTES)]
    (first, selects), *more = levels
    for lane in range(SLICE_BYTES):
        other = lane ^ 1 << first
        if not more:
            m.d.comb += out[lane].eq(Mux(selects[lane], lanes[other], lanes[lane]))
            continue
        ((second, last),) = more
        across = lane ^ 1 << second
        select = Signal(2, name=f"{name}_select_{lane}")
        m.d.comb += [
            select.eq(Cat(Mux(last[lane], selects[across], selects[lane]), last[lane])),
            out[lane].eq(Mux(select[1], Mux(select[0], lanes[across ^ 1 << first], lanes[across]),
                             Mux(select[0], lanes[other], lanes[lane]))),
        ]  # fmt: skip
    return out


def _registers(m: Module, name: str, lanes: Sequence[Value]) -> list[Signal]:
    held = [Signal(8, name=f"{name}_{lane}", reset_less=True) for lane in range(SLICE_BYTES)]
    m.d.sync += [now.eq(lane) for now, lane in zip(held, lanes, strict=True)]
    return held


class SliceCompactor(wiring.Component):
    """Moves the valid bytes of a slice to their places.

    The controls are a cycle ahead of the bytes.

    Latency: `COMPACTOR_CYCLES` from `places`, one less from `bytes`. Throughput: a slice per cycle.
    Cost: two multiplexers of four and one of two for each bit.

    Members
    -------
    valid, places : In   of the bytes, from `BytePlaces`
    bytes : In(256)      the slice, a cycle later
    moved : Out(256)     lane by lane the byte with this place; other lanes have no meaning
    moved_valid : Out(32)   the lanes with such a byte
    """

    def __init__(self):
        super().__init__({
            "valid": In(SLICE_BYTES),
            "places": In(PLACES),
            "bytes": In(8 * SLICE_BYTES),
            "moved": Out(8 * SLICE_BYTES),
            "moved_valid": Out(SLICE_BYTES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        crossings, moved_valid = _crossings(m, self.valid, self.places.as_value(), _COMPACTOR_LEVELS)
        m.d.comb += self.moved_valid.eq(delayed(m, moved_valid, 1, "moved_valid"))
        lanes: list[Value] = [self.bytes.word_select(lane, 8) for lane in range(SLICE_BYTES)]
        for cycle, (levels, rows) in enumerate(zip(_COMPACTOR_LEVELS, crossings, strict=True)):
            steps = []
            for level, moves in zip(levels, rows, strict=True):
                late = delayed(m, moves, 1, f"late_{level}")
                steps.append((level, [late[lane ^ 1 << level] for lane in range(SLICE_BYTES)]))
            lanes = [*_registers(m, f"lanes_{cycle}", _levels(m, f"moved_{cycle}", lanes, steps))]
        m.d.comb += self.moved.eq(Cat(lanes))
        return m


class SliceExpander(wiring.Component):
    """Moves bytes from their places back to their lanes in a slice: the inverse of `SliceCompactor`.

    The controls go through the butterfly first, then the bytes go through it backwards.

    Latency: `EXPANDER_CYCLES` from `run`, twice that from `places`. Throughput: a slice per cycle.
    Cost: five multiplexers of two for each bit.

    Members
    -------
    valid, places : In   of the bytes, from `ByteRanks`
    run : In(256)        the row of 32 bytes that `places` count in, `EXPANDER_CYCLES` later
    bytes : Out(256)     the slice; bytes that are not valid have no meaning
    """

    def __init__(self):
        super().__init__({
            "valid": In(SLICE_BYTES),
            "places": In(PLACES),
            "run": In(8 * SLICE_BYTES),
            "bytes": Out(8 * SLICE_BYTES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        crossings, _ = _crossings(m, self.valid, self.places.as_value(), _EXPANDER_LEVELS)
        lanes: list[Value] = [self.run.word_select(lane, 8) for lane in range(SLICE_BYTES)]
        for cycle in reversed(range(EXPANDER_CYCLES)):
            # The bytes are here `EXPANDER_CYCLES` - `cycle` - 1 cycles after they are in front of it.
            late = 2 * (EXPANDER_CYCLES - cycle) - 1
            (level,), (moves,) = _EXPANDER_LEVELS[cycle], crossings[cycle]
            if late < _LONG_CYCLES:
                selects = delayed(m, moves, late, f"late_{level}")
            else:
                m.submodules[f"late_{level}"] = line = DelayLine(SLICE_BYTES, late)
                m.d.comb += line.input.eq(moves)
                selects = line.output
            moved = _levels(m, f"moved_{cycle}", lanes, [(level, [*selects])])
            lanes = [*_registers(m, f"lanes_{cycle}", moved)]
        m.d.comb += self.bytes.eq(Cat(lanes))
        return m
