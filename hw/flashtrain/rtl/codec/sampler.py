"""Samples an append for the choices of mode and base."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec.codec import (
    BLOCK,
    DISTANCES,
    FRACTION,
    MEMORY,
    SAMPLED,
    SLICE_BYTES,
    Mode,
)

from .choice import BASE_CYCLES, MODE_CYCLES, SUM_BITS, BaseChoice, CountersLayout, ModeChoice
from .classes import exponent
from .counting import QUAD, count_of_quad
from .layouts import FIRST, LANES, ChoiceLayout, EncoderShape

APPEND_BITS = 4
"""Appends are counted modulo 16: fewer than 8 are in the encoder."""
_QUEUED = 8
"""Choices that wait: of all groups in the encoder, and those under way."""
_COUNT_BITS = 5
_ADDED_BITS = _COUNT_BITS + MEMORY + FRACTION
_COUNT_CYCLES = 4
_SLICE_BITS = 8 * SLICE_BYTES


class SliceCounters(wiring.Component):
    """Counts the elements of a slice by their distance from a base.

    Latency: `_COUNT_CYCLES` from the slice, one less from the base. Throughput: a slice per cycle.

    Members
    -------
    group : In(group)    the slice is one of these
    select : In
    wide : In(1)         of FP32; holds
    base : In(8)         a cycle after the slice
    fresh : In(1)        the slice counts for all blocks before; three cycles after the slice
    counters : Out(CountersLayout)   what the sums grow by
    found : Out(1)       some element is not +0.0
    recent : Out(8)      the exponent of the last of these
    """

    def __init__(self, shape: EncoderShape):
        super().__init__({
            "group": In(8 * shape.group_bytes),
            "select": In(shape.slice_bits),
            "wide": In(1),
            "base": In(8),
            "fresh": In(1),
            "counters": Out(CountersLayout(_ADDED_BITS)),
            "found": Out(1),
            "recent": Out(8),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        # 1
        sampled = Signal(_SLICE_BITS, reset_less=True)
        m.d.sync += sampled.eq(self.group.word_select(self.select, _SLICE_BITS))
        # 2
        lanes = [sampled.word_select(lane, 16) for lane in range(LANES)]
        zeros, others = Signal(LANES, reset_less=True), Signal(LANES, reset_less=True)
        distances = [Signal(8, name=f"distance_{lane}", reset_less=True) for lane in range(LANES)]
        exponents = [Signal(8, name=f"exponent_{lane}", reset_less=True) for lane in range(LANES)]
        for number, lane in enumerate(lanes):
            # Of FP32 the odd halfwords stand for the elements.
            element = Const(1) if number % 2 else ~self.wide
            below = self.wide & lanes[number - 1].any() if number % 2 else Const(0)
            zero = ~lane.any() & ~below
            m.d.sync += [
                distances[number].eq(self.base - exponent(lane) - DISTANCES.start),
                exponents[number].eq(exponent(lane)),
                zeros[number].eq(zero & element),
                others[number].eq(~zero & element),
            ]
        # 3 and 4: counts of four lanes, then of all.
        rows: list[tuple[Value, Value]] = [(zeros, self.counters.zeros)]
        for place in range(len(DISTANCES)):
            row = Signal(LANES, name=f"row_{place}")
            m.d.comb += row.eq(Cat(others[lane] & (distances[lane] == place) for lane in range(LANES)))
            rows.append((row, self.counters.at[place]))
        for number, (row, result) in enumerate(rows):
            quads = [Signal(3, name=f"quad_{number}_{at}", reset_less=True) for at in range(0, LANES, QUAD)]
            m.d.sync += [quad.eq(count_of_quad(row[QUAD * at :][:QUAD])) for at, quad in enumerate(quads)]
            found = (quads[0] + quads[1]) + (quads[2] + quads[3])
            m.d.sync += result.eq(Mux(self.fresh, found << MEMORY + FRACTION, found << FRACTION))
        # The last element that is not +0.0, in two rounds of four.
        items: list[tuple[Value, Value]] = [*zip(others, exponents, strict=True)]
        while len(items) > 1:
            merged = []
            for part in range(0, len(items), 4):
                found = Signal(name=f"found_{len(items)}_{part}", reset_less=True)
                recent = Signal(8, name=f"recent_{len(items)}_{part}", reset_less=True)
                four = items[part : part + 4]
                m.d.sync += found.eq(Cat(here for here, _ in four).any())
                last = four[0][1]
                for here, candidate in four[1:]:
                    last = Mux(here, candidate, last)
                m.d.sync += recent.eq(last)
                merged.append((found, recent))
            items = merged
        m.d.comb += [self.found.eq(items[0][0]), self.recent.eq(items[0][1])]
        return m


class ChoiceEntry(data.StructLayout):
    """The choice after a block; `append` counts appends."""

    def __init__(self):
        super().__init__({"choice": ChoiceLayout(), "append": APPEND_BITS})


class Sampler(wiring.Component):
    """Samples an append, and computes the choices of its blocks (`flashtrain.spec.codec.Tracker`).

    Latency: 17 cycles from the last group of a block to its choice. Throughput: a group per cycle, while
    choices are taken. No group of an append comes before the choices of the one before are made.

    Members
    -------
    room : Out(1)      a beat may come, whose group follows
    valid : In(1)      a group enters the encoder
    group : In(group)
    wide : In(1)       of FP32; changes behind the last group only
    last : In(1)       the last group of an append
    choices : Out(stream(ChoiceEntry))
    """

    def __init__(self, shape: EncoderShape):
        self.shape = shape
        super().__init__({
            "room": Out(1),
            "valid": In(1),
            "group": In(8 * shape.group_bytes),
            "wide": In(1),
            "last": In(1),
            "choices": Out(stream.Signature(ChoiceEntry())),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.counters = counters = SliceCounters(self.shape)
        m.submodules.base = base = BaseChoice()
        m.submodules.mode = mode = ModeChoice()
        slices = self.shape.slices
        groups = BLOCK // slices
        place, next_place = Signal(range(groups)), Signal(range(groups))  # of a group in its block
        # Whether a slice of the group is sampled, and which.
        sampled, select = Signal(), Signal(self.shape.slice_bits)
        ends, completing, resets = Signal(), Signal(), Signal()
        closing, closing_next = Signal(), Signal()  # the append has ended, but not all its choices are made
        append, now_mode, wide = Signal(APPEND_BITS), Signal(Mode, init=FIRST["mode"]), Signal()
        clears = Signal()  # a cycle after `resets`: no group is counted yet
        fresh = Signal(init=1)  # the next block counts for all that came before
        under_way, under_way_next = Signal(2), Signal(2)  # choices that are computed
        pending = Signal()  # there is one
        unmade, unmade_next = Signal(2), Signal(2)  # those that are not made in the next cycle either
        m.submodules.queue = queue = Queue(ChoiceEntry(), _QUEUED)
        full = Signal()  # with the choices of three blocks that may be under way
        m.d.sync += full.eq(queue.level > _QUEUED - 4)
        m.d.comb += [
            ends.eq(place == groups - 1),
            completing.eq(self.valid & ends & ~self.last),
            next_place.eq(Mux(self.valid, Mux(ends | self.last, 0, place + 1), place)),
            closing_next.eq((self.valid & self.last) | (closing & pending)),
            resets.eq(closing & ~pending),
            counters.group.eq(self.group),
            counters.select.eq(select),
            counters.wide.eq(wide),
            # The first sample of the next block comes when the base does.
            counters.base.eq(base.base),
            counters.fresh.eq(fresh),
        ]
        m.d.sync += [
            place.eq(next_place), closing.eq(closing_next),
            self.room.eq(~full & ~(closing_next & (unmade_next != 0))),
        ]  # fmt: skip
        with m.Switch(next_place):
            for number in SAMPLED:
                with m.Case(number // slices):
                    m.d.sync += [sampled.eq(1), select.eq(number % slices)]
            with m.Default():
                m.d.sync += sampled.eq(0)
        with m.If(self.valid):
            m.d.sync += wide.eq(self.wide)

        # A sample's counters follow it after some cycles.
        counted, completes = self.valid & sampled, completing
        for cycle in range(_COUNT_CYCLES):
            ahead = counted, completes
            counted, completes = Signal(name=f"counted_{cycle}"), Signal(name=f"completes_{cycle}")
            m.d.sync += [counted.eq(ahead[0] & ~resets), completes.eq(ahead[1])]
        stages = Signal(2 + BASE_CYCLES + MODE_CYCLES)  # of the choice; the sums move in one
        m.d.sync += stages.eq(Cat(completes, stages))
        moves = stages[BASE_CYCLES]
        decays = Signal()
        m.d.sync += decays.eq(moves)

        sums, recent = Signal(CountersLayout(SUM_BITS)), Signal(8)
        moved = Signal.like(sums)
        m.d.comb += moved.zeros.eq(sums.zeros)
        count = len(DISTANCES)
        for index in range(count):
            below = sums.at[index - 1] if index else Const(0)
            above = sums.at[index + 1] if index < count - 1 else Const(0)
            m.d.comb += moved.at[index].eq(Mux(base.up, below, Mux(base.down, above, sums.at[index])))
        parts = [(sums.zeros, moved.zeros, counters.counters.zeros)]
        parts += [(sums.at[index], moved.at[index], counters.counters.at[index]) for index in range(count)]
        with m.If(counted):
            for total, _, more in parts:
                m.d.sync += total.eq(total + more)
            with m.If(counters.found):
                m.d.sync += recent.eq(counters.recent)
        with m.If(moves):
            m.d.sync += [sums.eq(moved), fresh.eq(base.jumps)]
        with m.If(decays):
            for total, _, _ in parts:
                # Less a sixteenth, rounded up: with one adder, whose lowest bit makes the carry.
                sixteenth = Cat(total[MEMORY:], Const(0, MEMORY))
                kept = Cat(Const(1, 1), total) + Cat(~total[:MEMORY].any(), ~sixteenth)
                m.d.sync += total.eq(Mux(fresh, 0, kept[1:]))
        m.d.comb += [
            base.sums.eq(sums), base.wide.eq(wide), base.recent.eq(recent),
            base.moves.eq(stages[BASE_CYCLES - 1]), base.clears.eq(clears),
            mode.sums.eq(sums), mode.wide.eq(base.wide_out), mode.mode.eq(now_mode),
        ]  # fmt: skip

        choice = queue.input.payload.choice
        m.d.comb += [
            queue.input.valid.eq(stages[-1]),
            choice.base.eq(base.base),
            choice.mode.eq(mode.next_mode),
            queue.input.payload.append.eq(append),
            under_way_next.eq(under_way + completing - stages[-1]),
            unmade_next.eq(unmade + completing - stages[-2]),
        ]
        connect(m, queue.output, flipped(self.choices))
        m.d.sync += [
            under_way.eq(under_way_next), pending.eq(under_way_next != 0), unmade.eq(unmade_next)
        ]  # fmt: skip
        with m.If(stages[-1]):
            m.d.sync += now_mode.eq(mode.next_mode)
        m.d.sync += clears.eq(resets)
        with m.If(clears):
            m.d.sync += [
                now_mode.eq(FIRST["mode"]),
                append.eq(append + 1),
                sums.eq(0),
                recent.eq(0),
                fresh.eq(1),
            ]
        return m
