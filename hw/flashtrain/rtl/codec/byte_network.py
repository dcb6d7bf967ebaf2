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
_LEVELS = range(PLACE_BITS)
"""Of a butterfly: one per cycle. Multiplexers of four would crowd the wires to the select of an FPGA's wide
ones."""

PLACES_CYCLES = 4
"""From the valid bytes of a slice to their places."""
COMPACTOR_CYCLES = 1 + len(_LEVELS)
"""From places to the moved bytes, in the compactor."""
EXPANDER_CYCLES = len(_LEVELS)
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


def _crossings(m: Module, valid: Value, places: Value) -> tuple[list[Signal], Value]:
    """Controls of a butterfly: a signal for each level. Bit `lane` of it: the byte at this input of the level
    goes to the other lane. And the lanes that are valid behind all levels.
    """
    here, bits = valid, [places.word_select(lane, PLACE_BITS) for lane in range(SLICE_BYTES)]
    crossings = []
    for level in _LEVELS:
        moves = Signal(SLICE_BYTES, name=f"moves_{level}")
        m.d.comb += moves.eq(Cat(
            here[lane] & (bits[lane][level] ^ (lane >> level & 1)) for lane in range(SLICE_BYTES)
        ))  # fmt: skip
        crossings.append(moves)
        other = [lane ^ 1 << level for lane in range(SLICE_BYTES)]
        held = Signal(SLICE_BYTES, name=f"held_{level}", reset_less=True)
        m.d.sync += held.eq(Cat(
            moves[other[lane]] | (here[lane] & ~moves[lane]) for lane in range(SLICE_BYTES)
        ))  # fmt: skip
        routed = [Signal(PLACE_BITS, name=f"place_{level}_{lane}", reset_less=True)
                  for lane in range(SLICE_BYTES)]  # fmt: skip
        m.d.sync += [
            routed[lane].eq(Mux(moves[other[lane]], bits[other[lane]], bits[lane]))
            for lane in range(SLICE_BYTES)
        ]
        here, bits = held, routed
    return crossings, here


def _moved(m: Module, level: int, lanes: Sequence[Value], selects: Value) -> list[Signal]:
    """The lanes behind a level: each takes the byte of the other lane where its select is set."""
    moved = [Signal(8, name=f"lanes_{level}_{lane}", reset_less=True) for lane in range(SLICE_BYTES)]
    m.d.sync += [
        one.eq(Mux(selects[lane], lanes[lane ^ 1 << level], lanes[lane])) for lane, one in enumerate(moved)
    ]
    return moved


class SliceCompactor(wiring.Component):
    """Moves the valid bytes of a slice to their places.

    The controls are a cycle ahead of the bytes.

    Latency: `COMPACTOR_CYCLES` from `places`, one less from `bytes`. Throughput: a slice per cycle.
    Cost: five multiplexers of two for each bit.

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
        crossings, moved_valid = _crossings(m, self.valid, self.places.as_value())
        m.d.comb += self.moved_valid.eq(delayed(m, moved_valid, 1, "moved_valid"))
        lanes: list[Value] = [self.bytes.word_select(lane, 8) for lane in range(SLICE_BYTES)]
        for level, moves in zip(_LEVELS, crossings, strict=True):
            late = delayed(m, moves, 1, f"late_{level}")
            selects = Cat(late[lane ^ 1 << level] for lane in range(SLICE_BYTES))
            lanes = [*_moved(m, level, lanes, selects)]
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
        crossings, _ = _crossings(m, self.valid, self.places.as_value())
        lanes: list[Value] = [self.run.word_select(lane, 8) for lane in range(SLICE_BYTES)]
        for level, moves in reversed([*zip(_LEVELS, crossings, strict=True)]):
            # The bytes are here `EXPANDER_CYCLES` - `level` - 1 cycles after they are in front of it.
            late = 2 * (EXPANDER_CYCLES - level) - 1
            if late < _LONG_CYCLES:
                selects = delayed(m, moves, late, f"late_{level}")
            else:
                m.submodules[f"late_{level}"] = line = DelayLine(SLICE_BYTES, late)
                m.d.comb += line.input.eq(moves)
                selects = line.output
            lanes = [*_moved(m, level, lanes, selects)]
        m.d.comb += self.bytes.eq(Cat(lanes))
        return m
