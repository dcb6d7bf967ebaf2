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
_WORDS = SCALE_GROUP // WORD_BYTES
"""Of the numbers of a group."""


class State(enum.Enum):
    NUMBERS = 0  # of a word are read
    WORD = 1  # is written
    SCALES_OF_M = 2  # of several groups are written
    SCALES_OF_V = 3


class ScaledGroups(wiring.Component):
    """Takes results of m and v in binary32, and writes words of FP8 and of scales.

    A group is kept until its scale is known, in one of two halves of a memory. It is written while the next
    one comes. The scale is that of the largest exponent, one more where a mantissa is above 1.75.

    Throughput: a group of both moments in some 100 cycles, while the array moves no pages. Cost: 128 words of
    48 bits.

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
    write : Out(1), write_ready : In(1), write_index, result : Out   see `TileWords`
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
            "result": Out(32),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.numbers = numbers = memory.Memory(
            shape=32 + RANDOM_BITS, depth=2 * 2 * SCALE_GROUP, init=[]
        )
        full = Signal(2)  # a bit for each half: it has a whole group
        largest = [  # exponents, of each half
            [Signal(8, name=f"largest_{half}_{array}", reset_less=True) for array in range(2)]
            for half in range(2)
        ]
        self._take(m, numbers.write_port(), full, largest)
        self._write(m, numbers.read_port(), full, largest)
        m.d.comb += self.busy.eq(full.any())
        return m

    def _take(self, m: Module, port, full: Value, largest: list[list[Signal]]) -> None:
        half, index = Signal(), Signal(_INDEX_BITS)
        field, mantissa = self.value[23:31], self.value[:23]
        exponent = Signal(8)
        m.d.comb += [
            self.ready.eq(~full.bit_select(half, 1)),
            port.addr.eq(Cat(index, self.variance, half)),
            port.data.eq(Cat(self.value, self.random)),
            port.en.eq(self.put & self.ready),
            exponent.eq(Mux(field == 255, 0, field + (mantissa > 0b11 << 21))),
        ]
        with m.If(port.en):
            for number, of_half in enumerate(largest):
                for array, known in enumerate(of_half):
                    with m.If((half == number) & (self.variance == array)):
                        with m.If((index == 0) | (exponent > known)):
                            m.d.sync += known.eq(exponent)
            with m.If(self.variance == self.both):
                m.d.sync += index.eq(index + 1)
                with m.If(index == SCALE_GROUP - 1):
                    m.d.sync += [full.bit_select(half, 1).eq(1), half.eq(~half)]
        with m.If(self.start | self.abort):
            m.d.sync += [half.eq(0), index.eq(0), full.eq(0)]

    def _write(self, m: Module, port, full: Value, largest: list[list[Signal]]) -> None:
        m.submodules.stored = stored = StoreScaled()
        state, half, group = Signal(State), Signal(), Signal(self._group)
        array, word = Signal(), Signal(range(_WORDS))  # that is written
        asked = Signal(range(WORD_BYTES + 1))  # numbers of the word
        arriving, at = Signal(), Signal(range(WORD_BYTES))
        codes = Signal(32, reset_less=True)
        exponents = [Mux(half, largest[1][k], largest[0][k]) for k in range(2)]
        shared = [Signal(8, name=f"scale_{k}") for k in range(2)]
        scales = [Signal(32, name=f"scales_{k}", reset_less=True) for k in range(2)]  # of the word
        whole = Signal()  # the scales of the word are known
        for k, form in enumerate(SCALED.values()):
            top = form.largest_exponent
            least = form.least_scale
            m.d.comb += shared[k].eq(Mux(exponents[k] < least + top, least, exponents[k] - top))
        m.d.comb += [
            port.addr.eq(Cat(asked[:2], word, array, half)),
            port.en.eq(full.bit_select(half, 1) & (state == State.NUMBERS) & (asked != WORD_BYTES)),
            stored.rounding.eq(self.rounding),
            stored.variance.eq(array),
            stored.a.eq(port.data[:32]),
            stored.random.eq(port.data[32:]),
            stored.scale.eq(Mux(array, shared[1], shared[0])),
            whole.eq((group[:2] == WORD_BYTES - 1) | (group + 1 == self.groups)),
        ]
        m.d.sync += [arriving.eq(port.en), at.eq(asked)]
        with m.If(arriving):
            m.d.sync += codes.word_select(at, 8).eq(stored.code)
        with m.If(port.en):
            m.d.sync += asked.eq(asked + 1)

        ends = Signal()  # the group is written
        with m.Switch(state):
            with m.Case(State.NUMBERS):
                with m.If((asked == WORD_BYTES) & ~arriving):
                    m.d.sync += state.eq(State.WORD)
            with m.Case(State.WORD):
                m.d.comb += [
                    self.write.eq(1),
                    self.write_index.eq(self.first[0] + (group << exact_log2(_WORDS)) + word),
                    self.result.eq(codes),
                ]
                with m.If(array):
                    m.d.comb += self.write_index.eq(self.first[1] + (group << exact_log2(_WORDS)) + word)
                with m.If(self.write_ready):
                    m.d.sync += [state.eq(State.NUMBERS), asked.eq(0), word.eq(word + 1)]
                    with m.If(word == _WORDS - 1):
                        m.d.sync += array.eq(~array & self.both)
                        with m.If(array == self.both):
                            for k in range(2):
                                m.d.sync += scales[k].word_select(group[:2], 8).eq(shared[k])
                                with m.If(group[:2] == 0):
                                    m.d.sync += scales[k].eq(shared[k])
                            with m.If(whole):
                                m.d.sync += state.eq(State.SCALES_OF_M)
                            with m.Else():
                                m.d.comb += ends.eq(1)
            with m.Case(State.SCALES_OF_M):
                m.d.comb += [
                    self.write.eq(1),
                    self.write_index.eq(self.first[2] + (group >> 2)),
                    self.result.eq(scales[0]),
                ]
                with m.If(self.write_ready):
                    m.d.sync += state.eq(Mux(self.both, State.SCALES_OF_V, State.NUMBERS))
                    m.d.comb += ends.eq(~self.both)
            with m.Case(State.SCALES_OF_V):
                m.d.comb += [
                    self.write.eq(1),
                    self.write_index.eq(self.first[3] + (group >> 2)),
                    self.result.eq(scales[1]),
                ]
                with m.If(self.write_ready):
                    m.d.sync += state.eq(State.NUMBERS)
                    m.d.comb += ends.eq(1)
        with m.If(ends):
            m.d.sync += [full.bit_select(half, 1).eq(0), half.eq(~half), group.eq(group + 1)]
        with m.If(self.start | self.abort):
            m.d.sync += [
                *(each.eq(0) for each in (half, group, array, word, asked, arriving)),
                state.eq(State.NUMBERS),
            ]
