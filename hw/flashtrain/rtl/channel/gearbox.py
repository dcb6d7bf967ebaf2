"""Between wide words of the buffers and the 16-bit beats of the bus, by way of 64-bit chunks.

A wide word is never shifted: a chunk of it is selected every four beats.
"""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..layouts import BufferPage

BEAT_BITS = 16


class Chunks:
    """How a word of the buffers is divided: `count` chunks of `bits` bits or `beats` beats."""

    def __init__(self, config: FmsConfig):
        word_bits = 8 * config.data_bytes
        self.bits = min(64, word_bits)
        self.beats = self.bits // BEAT_BITS
        self.count = word_bits // self.bits


class PageSerializer(wiring.Component):
    """Reads pages from a memory of wide words and turns them into beats, the low bytes first.

    The memory's output holds the word while its chunks are taken. If others use the read port meanwhile,
    the word is read again for the next chunk: they may have the port whenever `read` is low.

    Latency: 4 clocks from a page to its first beat. Throughput: one beat per clock within a page.

    Members
    -------
    pages : In(stream(BufferPage))
    beats : Out(stream(16))
    read : Out(1), address : Out   read the memory in this clock
    word : In                      the memory's output
    others_read : In(1)            somebody else reads it in this clock
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "pages": In(stream.Signature(BufferPage(config))),
            "beats": Out(stream.Signature(BEAT_BITS)),
            "read": Out(1),
            "address": Out(bits_for(config.page_beats) + BufferPage(config).size),
            "word": In(8 * config.data_bytes),
            "others_read": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        chunks = Chunks(self.config)

        active, page = Signal(), Signal(BufferPage(self.config))
        index, word = Signal(range(chunks.count)), Signal(range(self.config.page_beats))
        holds = Signal()  # the memory's output is the word
        last_chunk = index == chunks.count - 1

        chunk, ahead, ahead_valid = Signal(chunks.bits), Signal(chunks.bits), Signal()
        shift, left = Signal(chunks.bits), Signal(range(chunks.beats + 1))
        moves, takes = Signal(), Signal()
        m.d.comb += [
            self.pages.ready.eq(~active),
            self.address.eq(Cat(word, page.plane, page.slot)),
            self.beats.valid.eq(left != 0),
            self.beats.payload.eq(shift[:BEAT_BITS]),
            moves.eq(ahead_valid & ((left == 0) | ((left == 1) & self.beats.ready))),
            takes.eq(holds & (~ahead_valid | moves)),
            self.read.eq(active & ~holds & (~ahead_valid | moves)),
        ]
        with m.Switch(index):
            for number in range(chunks.count):
                with m.Case(number):
                    m.d.comb += chunk.eq(self.word[chunks.bits * number :][: chunks.bits])

        with m.If(self.pages.valid & self.pages.ready):
            m.d.sync += [active.eq(1), page.eq(self.pages.payload)]
        with m.If(moves):
            m.d.sync += [shift.eq(ahead), left.eq(chunks.beats), ahead_valid.eq(0)]
        with m.Elif(self.beats.valid & self.beats.ready):
            m.d.sync += [shift.eq(shift >> BEAT_BITS), left.eq(left - 1)]
        with m.If(takes):
            m.d.sync += [ahead.eq(chunk), ahead_valid.eq(1), index.eq(0 if chunks.count == 1 else index + 1)]
            with m.If(last_chunk):
                m.d.sync += [word.eq(word + 1), active.eq(word != self.config.page_beats - 1)]
        with m.If(self.read):
            m.d.sync += holds.eq(1)
        with m.Elif(self.others_read | (takes & last_chunk)):
            m.d.sync += holds.eq(0)
        return m


class BeatPacker(wiring.Component):
    """Collects beats into chunks, the low bytes first.

    Latency: 1 clock from the last beat of a chunk. Throughput: one beat per clock.

    Members
    -------
    valid : In(1), beat : In(16)
    completes : Out(1)                  this beat is a chunk's last
    chunk_valid : Out(1), chunk : Out   a chunk, in the clock after that
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "valid": In(1),
            "beat": In(BEAT_BITS),
            "completes": Out(1),
            "chunk_valid": Out(1),
            "chunk": Out(Chunks(config).bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        count = Signal(range(Chunks(self.config).beats))  # their number is a power of two
        m.d.comb += self.completes.eq(self.valid & count.all())
        m.d.sync += self.chunk_valid.eq(self.completes)
        with m.If(self.valid):
            m.d.sync += [count.eq(count + 1), self.chunk.eq(Cat(self.chunk[BEAT_BITS:], self.beat))]
        return m
