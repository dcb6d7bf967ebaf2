"""Between wide words of the buffers and the 16-bit beats of the bus, by way of 64-bit chunks.

A wide word is never shifted: a chunk of it is selected every four beats.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..layouts import BufferPage

BEAT_BITS = 16
CHUNK_CLOCKS = 3
"""From a beat to the chunk that it completes: as long as a word takes from one buffer to the other."""


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

    Latency: 5 clocks from a page to its first beat. Throughput: one beat per clock within a page.

    Members
    -------
    pages : In(stream(BufferPage))
    beats : Out(stream(16))
    read : Out(1), address : Out   read the memory
    word : In                      the memory's output, 2 clocks later
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
        words = self.config.page_beats
        index, word, next_word = (
            Signal(range(chunks.count)),
            Signal(range(words)),
            Signal(range(words), init=1),
        )
        asked, others_asked = Signal(), Signal()  # for what the memory's output is in the next clock
        holds = Signal()  # the memory's output is the word
        last_chunk, last_word = index == chunks.count - 1, Signal()

        # Chunks that have come, 8 beats of them, because a word is asked for 2 clocks before it comes.
        size = 8 // chunks.beats
        store = Signal(data.ArrayLayout(chunks.bits, size))
        newest, count = Signal(range(size)), Signal(range(size + 1))
        beat = Signal(range(8))
        takes, word_ends, chunk_ends = Signal(), Signal(), Signal()
        m.d.comb += [
            self.pages.ready.eq(~active),
            self.address.eq(Cat(Mux(holds, next_word, word), page.plane, page.slot)),
            self.beats.valid.eq(count != 0),
            self.beats.payload.eq(store.as_value().word_select(beat, BEAT_BITS)),
            chunk_ends.eq(self.beats.valid & self.beats.ready & beat[: exact_log2(chunks.beats)].all()),
            takes.eq(holds & (count != size)),
            word_ends.eq(takes & last_chunk),
            last_word.eq(word.all()),
            # What is asked for is taken as soon as it comes.
            self.read.eq(
                active & ~asked & Mux(holds, last_chunk & ~last_word & (count < size - 1), count != size)
            ),
        ]
        m.d.sync += [
            asked.eq(self.read),
            others_asked.eq(self.others_read),
            count.eq(count + takes - chunk_ends),
        ]

        with m.If(self.pages.valid & self.pages.ready):
            m.d.sync += [active.eq(1), page.eq(self.pages.payload)]
        with m.If(self.beats.valid & self.beats.ready):
            m.d.sync += beat.eq(beat + 1)
        with m.If(takes):
            m.d.sync += [newest.eq(newest + 1), index.eq(0 if chunks.count == 1 else index + 1)]
            with m.Switch(index):
                for number in range(chunks.count):
                    with m.Case(number):
                        m.d.sync += store[newest].eq(self.word[chunks.bits * number :][: chunks.bits])
        with m.If(word_ends):
            m.d.sync += [word.eq(next_word), next_word.eq(next_word + 1), active.eq(~last_word)]
        with m.If(asked):
            m.d.sync += holds.eq(1)
        with m.Elif(others_asked | word_ends):
            m.d.sync += holds.eq(0)
        return m


class BeatPacker(wiring.Component):
    """Collects beats into chunks, the low bytes first.

    Latency: `CHUNK_CLOCKS` from the last beat of a chunk. Throughput: one beat per clock.

    Members
    -------
    valid : In(1), beat : In(16)
    completes : Out(1)                  this beat is a chunk's last
    chunk_valid : Out(1), chunk : Out   a chunk, `CHUNK_CLOCKS` after that
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
        with m.If(self.valid):
            m.d.sync += count.eq(count + 1)
        valid, completes, beat = self.valid, self.completes, self.beat
        for clock in range(1, CHUNK_CLOCKS):
            ahead = valid, completes, beat
            valid, completes = Signal(name=f"valid_{clock}"), Signal(name=f"completes_{clock}")
            beat = Signal(BEAT_BITS, name=f"beat_{clock}")
            m.d.sync += [late.eq(one) for late, one in zip((valid, completes, beat), ahead, strict=True)]
        m.d.sync += self.chunk_valid.eq(completes)
        with m.If(valid):
            m.d.sync += self.chunk.eq(Cat(self.chunk[BEAT_BITS:], beat))
        return m
