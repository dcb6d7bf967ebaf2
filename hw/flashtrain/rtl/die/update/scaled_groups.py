"""Stores a tile's moments in FP8: groups of numbers with a shared scale."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from flashtrain.spec import FmsConfig
from flashtrain.spec.state_format import RANDOM_BITS, SCALE_GROUP, SCALED, Rounding
from flashtrain.spec.update import WORD_BYTES

from .scaled_state import StoreScaled
from .tile_words import most_parameters

_INDEX_BITS = exact_log2(SCALE_GROUP)


class State(enum.Enum):
    NUMBERS = 0  # of a group are converted
    SCALES = 1  # of several groups are written


class ScaledGroups(wiring.Component):
    """Takes results of m and v in binary32, and writes words of FP8 and of scales.

    A group is kept until its scale is known, in one of two halves of a memory. It is written while the next
    one comes. The scale is that of the largest exponent, one more where a mantissa is above 1.75.

    Throughput: a number per cycle while words are taken; a group of both moments in 70 cycles, and 4 more for
    the scales of four groups. Latency: 12 cycles from the last number of a group to its first word. Cost: 494
    LUT4, 521 registers, and 128 words of 48 bits.

    Members
    -------
    start : In(1)             a tile begins
    abort : In(1)             ends at once
    both : In(1)              the tile has m and v, and not m alone
    groups : In               of the tile
    rounding : In(Rounding)
    put : In(1)               `value` of m, or then of v, of the next parameter, with its random bits
    variance, value, random : In
    ready : Out(1)            takes it
    first : In                the first words of m, v, the scales of m, and those of v
    write : Out(1), write_ready : In(1), write_index, result : Out   see `TileWords`; from registers
    index : Out               the word of its array, from 0 on, that is being written
    busy : Out(1)             a whole group is not written yet
    """

    def __init__(self, config: FmsConfig):
        word = range(config.geometry.page_set_bytes // WORD_BYTES + 1)
        self._group = range(most_parameters(config) // SCALE_GROUP + 1)
        super().__init__({
            "start": In(1),
            "abort": In(1),
            "both": In(1),
            "groups": In(self._group),
            "rounding": In(Rounding),
            "put": In(1),
            "variance": In(1),
            "value": In(32),
            "random": In(RANDOM_BITS),
            "ready": Out(1),
            "first": In(data.ArrayLayout(bits_for(word.stop - 1), 4)),
            "write": Out(1),
            "write_ready": In(1),
            "write_index": Out(word),
            "index": Out(word),
            "result": Out(32),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.numbers = numbers = memory.Memory(
            shape=32 + RANDOM_BITS, depth=2 * 2 * SCALE_GROUP, init=[]
        )
        full = Signal(2)  # a bit for each half: it has a whole group
        largest = [Signal(8, name=f"largest_of_{name}", reset_less=True) for name in "mv"]
        ends = self._take(m, numbers.write_port(), full, largest)
        self._write(m, numbers.read_port(), full, largest)
        m.d.comb += self.busy.eq(full.any() | ends | self.write)
        return m

    def _take(self, m: Module, port, full: Value, largest: list[Signal]) -> Value:
        """Keep numbers, and the largest exponent of each array of the group.

        Returns whether the last number of a group came in the cycle before. The half is full from the next
        cycle on, and the largest exponents are known.
        """
        half, index, ended = Signal(), Signal(_INDEX_BITS), Signal()
        field, mantissa = self.value[23:31], self.value[:23]
        taken = Signal(2)  # in the cycle before: a number of m, of v
        first, exponent = Signal(reset_less=True), Signal(8, reset_less=True)  # of that number
        m.d.comb += [
            self.ready.eq(~full.bit_select(half, 1)),
            port.addr.eq(Cat(index, self.variance, half)),
            port.data.eq(Cat(self.value, self.random)),
            port.en.eq(self.put & self.ready),
        ]
        m.d.sync += [
            taken.eq(Mux(port.en, 1 << self.variance, 0)),
            first.eq(index == 0),
            exponent.eq(Mux(field == 255, 0, field + (mantissa > 0b11 << 21))),
        ]
        for known, is_taken in zip(largest, taken, strict=True):
            with m.If(is_taken & (first | (exponent > known))):
                m.d.sync += known.eq(exponent)
        m.d.sync += ended.eq(0)
        with m.If(port.en & (self.variance == self.both)):
            m.d.sync += index.eq(index + 1)
            with m.If(index == SCALE_GROUP - 1):
                m.d.sync += [ended.eq(1), half.eq(~half)]
        with m.If(ended):
            m.d.sync += full.bit_select(~half, 1).eq(1)
        with m.If(self.start | self.abort):
            m.d.sync += [half.eq(0), index.eq(0), ended.eq(0), full.eq(0)]
        return ended

    def _write(self, m: Module, port, full: Value, largest: list[Signal]) -> None:
        """Convert the numbers of a group, one per cycle, and write words as they become whole."""
        m.submodules.stored = stored = StoreScaled()
        state, half, group = Signal(State), Signal(), Signal(self._group)
        begun = Signal()  # the scales of the group are known
        shared = [Signal(8, name=f"scale_of_{name}", reset_less=True) for name in "mv"]
        with m.If(~begun):
            for scale, exponent, form in zip(shared, largest, SCALED.values(), strict=True):
                top, least = form.largest_exponent, form.least_scale
                m.d.sync += scale.eq(Mux(exponent < least + top, least, exponent - top))
            m.d.sync += begun.eq(full.bit_select(half, 1))

        # A place is that of a number in its word, then that of the word, then the array.
        asked, all_asked = Signal(_INDEX_BITS + 1), Signal()
        place = Signal.like(asked)  # of the number in the last stage
        stages = Signal(1 + stored.latency)  # a bit for each: it has a number
        of_variance = Signal()  # the number in the first one
        moves, arrives, completes, ends = Signal(), Signal(), Signal(), Signal()
        codes = Signal(32 - 8, reset_less=True)  # the first ones of the word
        m.d.comb += [
            port.addr.eq(Cat(asked, half)),
            port.en.eq(moves & begun & ~all_asked),
            stored.enable.eq(moves),
            stored.rounding.eq(self.rounding),
            stored.variance.eq(of_variance),
            stored.a.eq(port.data[:32]),
            stored.random.eq(port.data[32:]),
            stored.scale.eq(Mux(of_variance, shared[1], shared[0])),
            arrives.eq(stages[-1]),
            completes.eq(arrives & place[:2].all()),
            moves.eq(~(completes & self.write)),  # the word before is not written
        ]
        with m.If(moves):
            m.d.sync += [stages.eq(Cat(port.en, stages)), of_variance.eq(asked[-1])]
            with m.If(arrives):
                m.d.sync += [place.eq(place + 1), codes.eq(Cat(codes, stored.code)[8:])]
        with m.If(port.en):
            m.d.sync += [asked.eq(asked + 1), all_asked.eq(self._is_last(asked))]

        scales = [Signal(32, name=f"scales_of_{name}", reset_less=True) for name in "mv"]  # of the word
        array = Signal()  # whose scales are written next
        scale_word = group[exact_log2(WORD_BYTES) :]
        whole = group[: exact_log2(WORD_BYTES)].all() | (group + 1 == self.groups)
        with m.If(self.write_ready):
            m.d.sync += self.write.eq(0)
        with m.Switch(state):
            with m.Case(State.NUMBERS):
                with m.If(completes & moves):
                    index = Cat(place[2:-1], group)
                    m.d.sync += [
                        self.write.eq(1),
                        self.write_index.eq(Mux(place[-1], self.first[1], self.first[0]) + index),
                        self.index.eq(index),
                        self.result.eq(Cat(codes, stored.code)),
                    ]
                    with m.If(self._is_last(place)):
                        for known, scale in zip(scales, shared, strict=True):
                            m.d.sync += known.word_select(group[:2], 8).eq(scale)
                            with m.If(group[:2] == 0):
                                m.d.sync += known.eq(scale)
                        with m.If(whole):
                            m.d.sync += state.eq(State.SCALES)
                        with m.Else():
                            m.d.comb += ends.eq(1)
            with m.Case(State.SCALES):
                with m.If(~self.write):
                    m.d.sync += [
                        self.write.eq(1),
                        self.write_index.eq(Mux(array, self.first[3], self.first[2]) + scale_word),
                        self.index.eq(scale_word),
                        self.result.eq(Mux(array, scales[1], scales[0])),
                        array.eq(~array & self.both),
                    ]
                    with m.If(array == self.both):
                        m.d.sync += state.eq(State.NUMBERS)
                        m.d.comb += ends.eq(1)
        with m.If(ends):
            m.d.sync += [full.bit_select(half, 1).eq(0), half.eq(~half), group.eq(group + 1)]
            m.d.sync += [each.eq(0) for each in (begun, asked, all_asked, place)]
        with m.If(self.start | self.abort):
            registers = half, group, begun, asked, all_asked, place, stages, array, self.write
            m.d.sync += [*(each.eq(0) for each in registers), state.eq(State.NUMBERS)]

    def _is_last(self, place: Value) -> Value:
        """Whether it is the place of a group's last number."""
        return place[:-1].all() & (place[-1] == self.both)
