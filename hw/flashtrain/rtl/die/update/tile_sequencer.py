"""Sends the parameters of a tile to the update unit, and writes the results to the same places."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from flashtrain.spec import FmsConfig
from flashtrain.spec.state_format import KEY_BITS, RANDOM_BITS, SCALE_GROUP, Rounding
from flashtrain.spec.update import WORD_BYTES

from .narrow_state import NarrowState
from .scaled_groups import ScaledGroups
from .scaled_state import LoadScaled
from .tile_words import ARRAYS, LOWER, SCALES, GradientWords, TileWords, most_parameters, tile_regions


class State(enum.Enum):
    IDLE = 0
    READING = 1  # one parameter after the other
    FINISHING = 2  # the last parameters are offered, and their results come


class TileSequencer(wiring.Component):
    """Sends one parameter after the other to the update unit, and writes its results in place.

    Word i of a tile is the weight of parameter i. Arrays of its first and second moment follow, if the
    optimizer has them. A parameter is read before its results are written. The copy of its weight replaces
    its gradient or an earlier one. Therefore no word is overwritten that is still needed.

    A word of a *narrow* array holds two parameters: it is read with the first one and written with the second
    one. The copy of a narrow weight is the weight itself.

    The halves of a weight in SPLIT are two narrow arrays. They are joined when the parameter is offered, and
    the copy is the upper one.

    A word of a *scaled* array, m or v in FP8, holds four parameters. A word of scales is read before the
    first of its 128 parameters. `ScaledGroups` writes both.

    A parameter is read while the one before is offered to the update unit. The unit has a clock of its own,
    which rises right after one of `update_divider` bus cycles, and stops while the sequencer is idle. It
    rises late if results cannot be taken: those before are not written, or their random bits are not known.
    The unit's inputs are stable at that edge of the bus clock and the next one. Its outputs are sampled at
    the last edge of the bus clock before its own clock rises again.

    Throughput: a parameter each time the update unit takes one. It is read in a cycle for each of its words
    that the parameter before does not have, and one more; 2 at least. Its results are written in `arrays` +
    1 cycles, one more with halves of weights, or in 3 with moments in FP8. Random bits come every 3 cycles.
    Latency: the unit's, and some ten cycles.

    Members
    -------
    start : In(1)                begins a tile; its parameters hold until `busy` falls
    parameters : In              N
    arrays : In(2)               numbers of state of a parameter: 1 to 3
    narrow : In(4)               a bit for w, m, v: its words hold two parameters, and N is even; another for
                                 the lower halves of w, if there are any
    scaled : In(1)               with `fp8_state`: m and v are in FP8, and N is a multiple of 32
    first : In                   the first word of each array, see `tile_regions`
    rounding : In(Rounding)      into narrow arrays
    take : Out(1), known : In(1), random : In(48)   random bits of the results, see `RoundingBits`
    wide : In(1)                 gradients have 32 bits
    copies : In(1)               write copies
    abort : In(1)                ends at once
    busy : Out(1)
    finished : Out(1)            the tile is done; not after `abort`
    index : Out                  the word of its array, from 0 on, that is being written
    clock : Out(1)               of the update unit
    restart, valid, w, m, v, gradient : Out, ready : In   operands, see `UpdateUnit`
    done, new_w, new_m, new_v, copy, unit_busy : In   results
    tile, gradients              see `TileWords`, `GradientWords`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._count = range(most_parameters(config) + 1)
        self._word = range(config.geometry.page_set_bytes // WORD_BYTES + 1)
        self._regions = tile_regions(config)
        super().__init__({
            "start": In(1),
            "parameters": In(self._count),
            "arrays": In(2),
            "narrow": In(ARRAYS),
            **({"scaled": In(1)} if config.fp8_state else {}),
            "first": In(data.ArrayLayout(bits_for(self._word.stop - 1), self._regions)),
            "rounding": In(Rounding),
            "take": Out(1),
            "known": In(1),
            "random": In(KEY_BITS),
            "wide": In(1),
            "copies": In(1),
            "abort": In(1),
            "busy": Out(1),
            "finished": Out(1),
            "index": Out(self._word),
            "clock": Out(1),
            "restart": Out(1),
            "ready": In(1),
            "valid": Out(1),
            **{name: Out(32) for name in ("w", "m", "v", "gradient")},
            "done": In(1),
            **{name: In(32) for name in ("new_w", "new_m", "new_v")},
            "copy": In(16),
            "unit_busy": In(1),
            "tile": Out(TileWords(config)),
            "gradients": Out(GradientWords(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config = self.config
        state = Signal(State)
        read_index = Signal(self._count, reset_less=True)
        # Parameter of the last results; -1 before the first.
        write_index = Signal(self._count, reset_less=True)
        m.d.comb += self.busy.eq(state != State.IDLE)

        phase = Signal(range(config.update_divider))
        due = Signal()  # the unit's clock may rise at the end of this cycle
        rises, held, risen = Signal(), Signal(), Signal()
        m.d.comb += [
            due.eq(self.busy & (phase == config.update_divider - 1)),
            rises.eq(due & ~held),
        ]
        m.d.sync += risen.eq(rises)
        with m.If(self.busy & ~due):
            m.d.sync += phase.eq(phase + 1)
        with m.If(self.busy & (phase == config.update_divider // 2 - 1)):
            m.d.sync += self.clock.eq(0)
        with m.If(rises):
            m.d.sync += [phase.eq(0), self.clock.eq(1)]
        with m.If(risen):
            m.d.sync += self.restart.eq(0)

        self._read(m, state, read_index, rises)
        written, drained = self._write(m, write_index, rises)
        known = self.known | (self.rounding != Rounding.STOCHASTIC)
        m.d.comb += held.eq(self.done & ~(written & known))

        received = Signal.like(write_index)
        m.d.comb += received.eq(write_index + 1)
        ended = (state == State.FINISHING) & drained
        with m.If(ended & written & (received == self.parameters) & ~self.unit_busy):
            m.d.sync += state.eq(State.IDLE)
            m.d.comb += self.finished.eq(1)
        with m.If(self.start):
            m.d.sync += [
                state.eq(Mux(self.parameters == 0, State.FINISHING, State.READING)),
                read_index.eq(0),
                self.restart.eq(1),
            ]
        with m.If(self.abort):
            m.d.sync += [state.eq(State.IDLE), phase.eq(0), self.clock.eq(0)]
        return m

    def _read(self, m, state, index, rises) -> None:
        tile, gradients = self.tile, self.gradients
        array = Signal(range(self._regions))  # that is read
        arriving = Signal(self._regions)  # a bit for each array: its word is valid
        gradient_arriving, last_arriving = Signal(), Signal()
        whole = Signal()  # all words of a parameter are kept
        odd = Signal()  # that parameter is the second one of its narrow words
        quarter, group = Signal(2), Signal(2)  # the number in its scaled word, and in its word of scales
        offers = Signal()  # that parameter
        taken = Signal()
        reading, here, granted, last = Signal(), Signal(), Signal(), Signal()
        others = Signal(ARRAYS)  # arrays from which this parameter still needs a word, after that one
        begins = Signal.like(array)  # the array that is read first for this parameter
        m.d.comb += [
            offers.eq(whole & ~rises & (~self.valid | taken)),
            # The first word of the next parameter comes a cycle later: that one has been offered by then.
            reading.eq((state == State.READING) & ((array != begins) | offers | ~(whole | last_arriving))),
            here.eq(self._here(array, index)),
            others.eq(
                Cat(
                    (array < number) & has & ~self._here(number, index)
                    for number, has in enumerate(self._has)
                )
            ),
            granted.eq(reading & (here | tile.read_ready)),
            last.eq(granted & ~others.any() & (array < ARRAYS)),
            tile.read.eq(reading & ~here),
            tile.read_index.eq(self._first(array) + self._word_of(array, index)),
            gradients.wide.eq(self.wide),
            gradients.read.eq(granted & (array == 0)),
            gradients.read_index.eq(index),
        ]
        scales = [Signal(32, name=f"kept_scales_of_{name}", reset_less=True) for name in "mv"]
        for kept_scales, bit in zip(scales, arriving[ARRAYS:], strict=False):
            with m.If(bit):
                m.d.sync += kept_scales.eq(tile.operand)
        operands = self.w, self.m, self.v
        kept_lower, lower = Signal(32, reset_less=True), Signal(16)
        with m.If(arriving[LOWER]):
            m.d.sync += kept_lower.eq(tile.operand)
        with m.If(self.narrow[LOWER]):
            m.d.comb += lower.eq(kept_lower.word_select(odd, 16))
        for number, operand in enumerate(operands):
            bit, narrow = arriving[number], self.narrow[number]
            kept = Signal(32, name=f"kept_{operand.name}", reset_less=True)
            half = Cat(Const(0, 16), kept.word_select(odd, 16))
            if operand is self.w:
                half = Cat(lower, (half[16:] - lower[15])[:16])
            with m.If(bit):
                m.d.sync += kept.eq(tile.operand)
            with m.If(offers):
                m.d.sync += operand.eq(Mux(narrow, half, kept))
            if self.config.fp8_state and operand is not self.w:
                load = LoadScaled()
                m.submodules[f"load_{operand.name}"] = load
                m.d.comb += [
                    load.variance.eq(operand is self.v),
                    load.code.eq(kept.word_select(quarter, 8)),
                    load.scale.eq(scales[operand is self.v].word_select(group, 8)),
                ]
                with m.If(offers & self.scaled):
                    m.d.sync += operand.eq(load.result)
        gradient = Signal(32, reset_less=True)
        with m.If(gradient_arriving):
            m.d.sync += gradient.eq(gradients.gradient)
        with m.If(offers):
            m.d.sync += self.gradient.eq(gradient)

        m.d.sync += [
            arriving.eq(Mux(granted & ~here, 1 << array, 0)),
            gradient_arriving.eq(gradients.read),
            last_arriving.eq(last),
            taken.eq(rises & self.valid & self.ready),
        ]
        with m.If(granted):
            m.d.sync += array.eq(Mux(others[1], 1, Mux(others[2], 2, Mux(others[LOWER], LOWER, 0))))
        with m.If(last):
            m.d.sync += [odd.eq(index[0]), index.eq(index + 1)]
            with m.If(index + 1 == self.parameters):
                m.d.sync += state.eq(State.FINISHING)
        if self.config.fp8_state:
            of_word = index[: exact_log2(SCALE_GROUP * WORD_BYTES)]
            with m.If(self.scaled & (of_word == 0)):
                m.d.comb += begins.eq(ARRAYS)
            with m.If(granted & (array >= ARRAYS)):
                m.d.sync += array.eq(Mux((array == ARRAYS) & (self.arrays == 3), ARRAYS + 1, 0))
            with m.If(last):
                m.d.sync += [quarter.eq(index[:2]), group.eq(index[exact_log2(SCALE_GROUP) :][:2])]
                with m.If(self.scaled & of_word.all()):
                    m.d.sync += array.eq(ARRAYS)
        with m.If(last_arriving):
            m.d.sync += whole.eq(1)
        with m.Elif(offers):
            m.d.sync += whole.eq(0)
        with m.If(offers):
            m.d.sync += self.valid.eq(1)
        with m.Elif(taken):
            m.d.sync += self.valid.eq(0)
        with m.If(self.start | self.abort):
            m.d.sync += [
                *(bit.eq(0) for bit in (array, arriving, gradient_arriving, last_arriving, whole, taken)),
                self.valid.eq(0),
            ]
        if self.config.fp8_state:
            with m.If(self.start & self.scaled):
                m.d.sync += array.eq(ARRAYS)

    @property
    def _has(self):
        """A bit for each array of numbers that the tile has."""
        return Cat(1, self.arrays > 1, self.arrays > 2, self.narrow[LOWER])

    def _narrow(self, array):
        return self.narrow.bit_select(array, 1)

    def _scaled(self, array):
        """Whether an array of numbers, and not of scales, is in FP8."""
        return self.scaled & ((array == 1) | (array == 2)) if self.config.fp8_state else Const(0, 1)

    def _here(self, array, index):
        """Whether the number of a parameter lies in the word of the one before."""
        return self._narrow(array) & index[0] | self._scaled(array) & index[:2].any()

    def _first(self, array):
        return self.first[array]

    def _word_of(self, array, index):
        """The word of the array, from 0 on, with a parameter."""
        word = Mux(self._narrow(array), index >> 1, index)
        if self.config.fp8_state:
            word = Mux(self._scaled(array), index >> 2, word)
            word = Mux(array >= ARRAYS, index >> exact_log2(SCALE_GROUP * WORD_BYTES), word)
        return word

    def _write(self, m, index, rises):
        """Returns whether all results received are written, and whether no group of scaled ones is left."""
        tile, gradients = self.tile, self.gradients
        m.submodules.narrowed = narrowed = NarrowState()
        results = [Signal(32, name=f"result_{name}", reset_less=True) for name in "wmv"]
        names = "w", "m", "v", "lower"
        lower = [Signal(16, name=f"first_{name}", reset_less=True) for name in names]
        copy = Signal(16, reset_less=True)
        left = Signal(ARRAYS)  # a bit for each of the results that are not written yet
        copy_left = Signal()
        plain, writes = Signal(ARRAYS), Signal()  # those that are not scaled; a word of them is written
        array, narrow, waits = Signal(range(ARRAYS)), Signal(), Signal()
        upper = Signal(32)  # the word of a pair
        for number in reversed(range(ARRAYS)):
            with m.If(plain[number]):
                m.d.comb += array.eq(number)
        with m.Switch(array):
            for number in range(ARRAYS):
                with m.Case(number):
                    m.d.comb += upper.eq(Cat(lower[number], narrowed.result))
                    if number == LOWER:  # a number of BF16, which no rounding changes
                        m.d.comb += narrowed.a.eq(Cat(Const(0, 16), results[0][:16]))
                    else:
                        m.d.comb += [
                            narrowed.a.eq(results[number]),
                            narrowed.random.eq(self.random.word_select(number, RANDOM_BITS)),
                        ]
        m.d.comb += [
            narrow.eq(self._narrow(array)),
            waits.eq(narrow & ~index[0]),  # for the second parameter of its word
            narrowed.rounding.eq(self.rounding),
            narrowed.upper.eq(self.narrow[LOWER] & (array == 0)),
            self.take.eq(rises & self.done & (self.rounding == Rounding.STOCHASTIC)),
            self.index.eq(self._word_of(array, index)),
            plain.eq(left),
            writes.eq(plain.any() & ~waits),
            tile.write.eq(writes),
            tile.write_index.eq(self._first(array) + self.index),
            tile.result.eq(Mux(narrow, upper, narrowed.a)),
            # The copy of a narrow weight is what is stored, at the first result's turn.
            gradients.write.eq(copy_left & ~(self.narrow[0] & left[0])),
            gradients.write_index.eq(index),
            gradients.copy.eq(copy),
        ]
        drained = self._group(m, results, left, plain, writes) if self.config.fp8_state else 1
        with m.If(plain.any() & (waits | tile.write_ready)):
            m.d.sync += left.bit_select(array, 1).eq(0)
            with m.If(narrow):
                with m.Switch(array):
                    for number in range(ARRAYS):
                        with m.Case(number):
                            m.d.sync += lower[number].eq(narrowed.result)
                with m.If(array == 0):
                    m.d.sync += copy.eq(narrowed.result)
        with m.If(gradients.write & gradients.write_ready):
            m.d.sync += copy_left.eq(0)

        with m.If(rises & self.done):
            m.d.sync += [
                *(
                    result.eq(getattr(self, f"new_{name}"))
                    for result, name in zip(results, "wmv", strict=True)
                ),
                copy.eq(self.copy),
                left.eq(self._has),
                copy_left.eq(self.copies),
                index.eq(index + 1),
            ]
        with m.If(self.start):
            m.d.sync += index.eq(-1)
        with m.If(self.abort):
            m.d.sync += [left.eq(0), copy_left.eq(0)]
        return ~left.any() & ~copy_left, drained

    def _group(self, m, results, left, plain, writes):
        """Results of scaled arrays, beside those of the others.

        Their words are written when there are no others. Returns whether all are.
        """
        tile, scaled = self.tile, Signal(ARRAYS)
        m.submodules.groups = groups = ScaledGroups(self.config)
        m.d.comb += [
            scaled.eq(Cat(0, self.scaled.replicate(2)) & left),
            plain.eq(left & ~scaled),
            groups.start.eq(self.start),
            groups.abort.eq(self.abort),
            groups.both.eq(self.arrays == 3),
            groups.groups.eq(self.parameters >> exact_log2(SCALE_GROUP)),
            groups.rounding.eq(self.rounding),
            groups.put.eq(scaled.any()),
            groups.variance.eq(~scaled[1]),
            groups.value.eq(Mux(scaled[1], results[1], results[2])),
            groups.random.eq(
                Mux(scaled[1], *(self.random.word_select(number, RANDOM_BITS) for number in (1, 2)))
            ),
            *(groups.first[number].eq(self.first[1 + number]) for number in range(SCALES)),
            *(groups.first[SCALES + number].eq(self.first[ARRAYS + number]) for number in range(SCALES)),
        ]
        with m.If(scaled.any() & groups.ready):
            m.d.sync += left.bit_select(Mux(scaled[1], 1, 2), 1).eq(0)
        with m.If(~writes):
            m.d.comb += [
                tile.write.eq(groups.write),
                tile.write_index.eq(groups.write_index),
                tile.result.eq(groups.result),
                self.index.eq(groups.index),
                groups.write_ready.eq(tile.write_ready),
            ]
        return ~groups.busy
