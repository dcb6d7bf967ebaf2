"""Beats of user data to groups of slices."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.streams import Codec

from .layouts import EncoderShape, JobLayout
from .rounding import RoundingLayout, rounded, rounding


class GroupCollector(wiring.Component):
    """Collects the beats of an append to groups of elements, as they are stored.

    Of ROUND16 two groups of user data are rounded to one. A beat that is taken goes on without waiting. On a
    port narrower than a group it has a register of its own, so that nothing but a register enables a group's.
    Groups are two cycles apart or more then, so behind `room` no more of them arrive.

    Latency: `AHEAD` cycles from the last beat of a group, one more on a port narrower than a group.
    Throughput: a beat per cycle.

    Members
    -------
    job : In(stream(JobLayout))   taken when the data of the one before are taken
    data : In(stream(beats))
    room : In(1)                  a beat may be taken
    valid : Out(1), group : Out(group)
    codec : Out(2)                of the group
    last : Out(1)                 the group is the last of its append
    """

    def __init__(self, shape: EncoderShape):
        self.shape = shape
        super().__init__({
            "job": In(stream.Signature(JobLayout())),
            "data": In(stream.Signature(8 * shape.port_bytes)),
            "room": In(1),
            "valid": Out(1),
            "group": Out(8 * shape.group_bytes),
            "codec": Out(2),
            "last": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape = self.shape
        port_bits, group_bits = 8 * shape.port_bytes, 8 * shape.group_bytes
        beats = shape.group_bytes // shape.port_bytes
        block_beats = shape.page_bytes // shape.port_bytes
        active, codec, rounds = Signal(), Signal(2), Signal()
        blocks = Signal(self.job.payload.blocks.shape())
        beat, last_block = Signal(range(block_beats)), Signal()  # the beat of a block; no other block follows
        word, word_valid, word_last = Signal(group_bits, reset_less=True), Signal(), Signal()
        takes, ends, block_ends = Signal(), Signal(), Signal()
        on_its_way = Signal()  # a beat to the word
        second = Signal()  # of the two halves of a rounded group
        idle = Signal(init=1)  # no append is active, and no word or group is on its way
        # Of each number in the word, if it is rounded.
        numbers, beat_numbers = group_bits // 32, port_bits // 32
        how = Signal(data.ArrayLayout(RoundingLayout(), numbers), reset_less=True)
        m.d.comb += [
            self.job.ready.eq(idle),
            self.data.ready.eq(active & self.room),
            takes.eq(self.data.valid & self.data.ready),
            ends.eq((beat == block_beats - 1) & last_block),
            self.codec.eq(codec),
        ]
        with m.If(self.job.valid & self.job.ready):
            m.d.sync += [
                active.eq(1), beat.eq(0), codec.eq(self.job.payload.codec),
                rounds.eq(self.job.payload.codec == Codec.ROUND16),
                blocks.eq(self.job.payload.blocks),
                last_block.eq(self.job.payload.blocks == 1),
            ]  # fmt: skip
        # A block has more than one beat: there is time to count it.
        m.d.sync += block_ends.eq(takes & (beat == block_beats - 1))
        with m.If(block_ends):
            m.d.sync += [blocks.eq(blocks - 1), last_block.eq(blocks == 2)]
        with m.If(takes):
            m.d.sync += beat.eq(beat + 1)
            with m.If(beat == block_beats - 1):
                m.d.sync += beat.eq(0)
            with m.If(ends):
                m.d.sync += active.eq(0)
        # A word that one beat fills is loaded in every cycle: nothing enables all its registers.
        shifts: Value = Const(1)
        newest, fills, is_last = self.data.payload, takes & (beat % beats == beats - 1), ends
        if beats > 1:
            before = newest, fills, is_last
            newest, fills, is_last = Signal(port_bits, reset_less=True), Signal(), Signal()
            m.d.sync += [now.eq(then) for now, then in zip((newest, fills, is_last), before, strict=True)]
            m.d.sync += on_its_way.eq(takes)
            shifts = on_its_way
        newest_how = Cat(rounding(newest.word_select(number, 32)) for number in range(beat_numbers))
        m.d.sync += [
            word_valid.eq(fills), word_last.eq(is_last),
            idle.eq(~active & ~fills & ~(word_valid & (second | ~rounds)) & ~(self.job.valid & idle)),
        ]  # fmt: skip
        with m.If(shifts):
            m.d.sync += [
                word.eq(Cat(word[port_bits:], newest)),
                how.eq(Cat(how.as_value()[len(newest_how) :], newest_how)),
            ]

        halved = Cat(rounded(word.word_select(number, 32), how[number]) for number in range(numbers))
        group = Signal(group_bits, reset_less=True)
        m.d.comb += self.group.eq(group)
        m.d.sync += self.valid.eq(word_valid & (second | ~rounds))
        with m.If(word_valid):
            m.d.sync += [
                self.last.eq(word_last), second.eq(~second & rounds),
                group.eq(Mux(rounds, Cat(group[len(halved) :], halved), word)),
            ]  # fmt: skip
        return m
