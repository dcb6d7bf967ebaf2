"""Beats of user data to groups of slices."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.streams import Codec

from .layouts import EncoderShape, JobLayout
from .rounding import RoundingLayout, rounded, rounding


class GroupCollector(wiring.Component):
    """Collects the beats of an append to groups of elements, as they are stored.

    Of ROUND16 two groups of user data are rounded to one. A beat that is taken goes on without waiting.

    Latency: `AHEAD` cycles from the last beat of a group. Throughput: a beat per cycle.

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
        # Of each number in the word, if it is rounded.
        numbers, beat_numbers = group_bits // 32, port_bits // 32
        how = Signal(data.ArrayLayout(RoundingLayout(), numbers), reset_less=True)
        beat_how = Cat(rounding(self.data.payload.word_select(number, 32)) for number in range(beat_numbers))
        m.d.comb += [
            self.job.ready.eq(~active & ~word_valid & ~self.valid),
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
        m.d.sync += [word_valid.eq(takes & (beat % beats == beats - 1)), word_last.eq(ends)]
        # A word that one beat fills is loaded in every cycle: nothing enables all its registers.
        with m.If(takes if beats > 1 else Const(1)):
            m.d.sync += [
                word.eq(Cat(word[port_bits:], self.data.payload)),
                how.eq(Cat(how.as_value()[len(beat_how) :], beat_how)),
            ]

        halved = Cat(rounded(word.word_select(number, 32), how[number]) for number in range(numbers))
        group = Signal(group_bits, reset_less=True)
        second = Signal()  # of the two halves of a rounded group
        m.d.comb += self.group.eq(group)
        m.d.sync += self.valid.eq(word_valid & (second | ~rounds))
        with m.If(word_valid):
            m.d.sync += [
                self.last.eq(word_last), second.eq(~second & rounds),
                group.eq(Mux(rounds, Cat(group[len(halved) :], halved), word)),
            ]  # fmt: skip
        return m
