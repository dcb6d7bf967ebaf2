"""Beats of user data to groups of four slices."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.errors import require
from flashtrain.spec.streams import Codec

from .layouts import GROUP_BYTES, JobLayout
from .rounding import RoundingLayout, rounded, rounding


class GroupCollector(wiring.Component):
    """Collects the beats of an append to groups of 128 bytes of elements, as they are stored.

    Of ROUND16 two groups of user data are rounded to one.

    Latency: 2 cycles from the last beat of a group. Throughput: a beat per cycle.

    Members
    -------
    job : In(stream(JobLayout))   taken when the data of the one before are taken
    data : In(stream(beats))
    group : Out(stream(1024))
    codec : Out(2)                of the group; holds while it is offered
    last : Out(1)                 the group is the last of its append
    """

    def __init__(self, page_bytes: int, port_bytes: int):
        require(4 <= port_bytes <= GROUP_BYTES and GROUP_BYTES % port_bytes == 0, "port_bytes", port_bytes,
                f"a divisor of {GROUP_BYTES}, at least 4")  # fmt: skip
        self.page_bytes = page_bytes
        self.port_bytes = port_bytes
        super().__init__({
            "job": In(stream.Signature(JobLayout())),
            "data": In(stream.Signature(8 * port_bytes)),
            "group": Out(stream.Signature(8 * GROUP_BYTES)),
            "codec": Out(2),
            "last": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        port_bits, group_bits = 8 * self.port_bytes, 8 * GROUP_BYTES
        beats = GROUP_BYTES // self.port_bytes
        block_beats = self.page_bytes // self.port_bytes
        active, codec = Signal(), Signal(2)
        blocks = Signal(self.job.payload.blocks.shape())
        beat, last_block = Signal(range(block_beats)), Signal()  # the beat of a block; no other block follows
        word, word_valid, word_last, word_ready = (
            Signal(group_bits, reset_less=True),
            Signal(),
            Signal(),
            Signal(),
        )
        takes, completes, ends, block_ends = Signal(), Signal(), Signal(), Signal()
        # Of each number in the word, if it is rounded.
        numbers, beat_numbers = group_bits // 32, port_bits // 32
        how = Signal(data.ArrayLayout(RoundingLayout(), numbers), reset_less=True)
        beat_how = Cat(rounding(self.data.payload.word_select(number, 32)) for number in range(beat_numbers))
        m.d.comb += [
            self.job.ready.eq(~active & ~word_valid & ~self.group.valid),
            word_ready.eq(~word_valid | self.group.ready | ~self.group.valid),
            self.data.ready.eq(active & word_ready),
            takes.eq(self.data.valid & self.data.ready),
            completes.eq(takes & (beat % beats == beats - 1)),
            ends.eq((beat == block_beats - 1) & last_block),
            self.codec.eq(codec),
        ]
        with m.If(self.job.valid & self.job.ready):
            m.d.sync += [
                active.eq(1), beat.eq(0), codec.eq(self.job.payload.codec),
                blocks.eq(self.job.payload.blocks),
                last_block.eq(self.job.payload.blocks == 1),
            ]  # fmt: skip
        # A block has more than one beat: there is time to count it.
        m.d.sync += block_ends.eq(takes & (beat == block_beats - 1))
        with m.If(block_ends):
            m.d.sync += [blocks.eq(blocks - 1), last_block.eq(blocks == 2)]
        with m.If(takes):
            m.d.sync += [
                beat.eq(beat + 1),
                word.eq(Cat(word[port_bits:], self.data.payload)),
                how.eq(Cat(how.as_value()[len(beat_how) :], beat_how)),
                word_last.eq(ends),
            ]
            with m.If(beat == block_beats - 1):
                m.d.sync += beat.eq(0)
            with m.If(ends):
                m.d.sync += active.eq(0)

        halved = Cat(rounded(word.word_select(number, 32), how[number]) for number in range(numbers))
        second = Signal()  # of the two halves of a rounded group
        with m.If(word_ready):
            m.d.sync += word_valid.eq(completes)
        with m.If(self.group.ready):
            m.d.sync += self.group.valid.eq(0)
        with m.If(word_valid & (self.group.ready | ~self.group.valid)):
            m.d.sync += self.last.eq(word_last)
            with m.If(codec == Codec.ROUND16):
                m.d.sync += [
                    self.group.payload.eq(Cat(self.group.payload[len(halved) :], halved)),
                    second.eq(~second),
                    self.group.valid.eq(second),
                ]
            with m.Else():
                m.d.sync += [self.group.payload.eq(word), self.group.valid.eq(1)]
        return m
