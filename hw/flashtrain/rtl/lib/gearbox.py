"""Between wide words of the buffers and the 16-bit beats of the bus, by way of 64-bit chunks.

A wide word is never shifted: a chunk of it is selected every four beats.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from flashtrain.rtl.identity import RECORD_BITS
from flashtrain.rtl.layouts import BufferPage
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.update import SourceIdentity

BEAT_BITS = 16
_SOURCE_BITS = 8 * SourceIdentity.BYTES
READ_CYCLES = 3
"""From asking the write buffer's memory for a word until it is there, in a register of its own."""
CHUNK_CYCLES = READ_CYCLES + 1
"""From a beat to the chunk that it completes: as long as it takes to tell the other buffer that there is no
room for a word, and a word to come from there."""


class Chunks:
    """How a word of the buffers is divided: `count` chunks of `bits` bits or `beats` beats."""

    def __init__(self, config: FmsConfig):
        word_bits = 8 * config.data_bytes
        self.bits = min(64, word_bits)
        self.beats = self.bits // BEAT_BITS
        self.count = word_bits // self.bits


class PageSerializer(wiring.Component):
    """Reads pages from a memory of wide words and serializes them to beats, the low bytes first.

    The page's identity follows its data, then, if `plain` is high, the identity of the source.

    A chunk is read when the store of chunks has space for it. The memory's output holds the word while its
    chunks are taken. Other readers may use the port in three cycles of four; the word is read again after
    them. The identities bypass the store of chunks, since the path from the memory to the store is long.

    Latency: 5 cycles from a page to its first beat. Throughput: one beat per cycle within a page.

    Members
    -------
    pages : In(stream(BufferPage))   when all beats of the one before have been taken
    page : Out(BufferPage)         the page at work
    identity, source, plain : In   its record, `SourceIdentity`, and whether that follows; 2 cycles later
    beats : Out(stream(16))
    read : Out(1), address : Out   read the memory
    word : In                      the memory's output, `READ_CYCLES` later
    others_request : In(1)         another reader requests the memory
    others_read : Out(1)           the other reader has the memory in this cycle
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "pages": In(stream.Signature(BufferPage(config))),
            "page": Out(BufferPage(config)),
            "identity": In(RECORD_BITS),
            "source": In(_SOURCE_BITS),
            "plain": In(1),
            "beats": Out(stream.Signature(BEAT_BITS)),
            "read": Out(1),
            "address": Out(bits_for(config.page_beats) + BufferPage(config).size),
            "word": In(8 * config.data_bytes),
            "others_request": In(1),
            "others_read": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        chunks = Chunks(self.config)
        size = 2 * 64 // chunks.bits  # chunks of the store: enough to hide the time of a read

        active, page = Signal(), Signal(BufferPage(self.config))
        index, word = Signal(range(chunks.count)), Signal(range(self.config.page_beats))
        last_chunk = index == chunks.count - 1
        ending = Signal()  # all data have been requested
        behind = Cat(self.identity, self.source)
        last_behind = Signal(range(len(behind) // BEAT_BITS))  # the last beat of it that follows
        tail, tail_valid, tail_begins = Signal(BEAT_BITS), Signal(), Signal()  # the next of these beats
        is_last = Signal()  # `tail` is the last of them
        loaded = Signal(range(len(behind) // BEAT_BITS + 1))  # beats that `tail` has held, this one included
        loads = Signal()  # the next one
        in_tail = Signal()  # the data have been sent
        asks = Signal()  # for a chunk of the word
        holds = Signal()  # the memory's output is the word, or will be
        store = Signal(data.ArrayLayout(chunks.bits, size))
        reserved, count = Signal(range(size + 1)), Signal(range(size + 1))
        newest, beat = Signal(range(size)), Signal(range(size * chunks.beats))
        chunk_ends = Signal()
        m.d.comb += [
            self.pages.ready.eq(~active & ~ending),
            self.page.eq(page),
            asks.eq(active & (reserved != size)),
            self.read.eq(asks & ~holds),
            self.others_read.eq(self.others_request & ~asks),
            self.address.eq(Cat(word, page.plane, page.slot)),
            last_behind.eq(Mux(self.plain, len(behind) // BEAT_BITS, RECORD_BITS // BEAT_BITS) - 1),
            self.beats.valid.eq((count != 0) | in_tail),
            self.beats.payload.eq(Mux(in_tail, tail, store.as_value().word_select(beat, BEAT_BITS))),
            chunk_ends.eq((count != 0) & self.beats.ready & beat[: exact_log2(chunks.beats)].all()),
            tail_begins.eq(ending & chunk_ends & (reserved == 1)),
            loads.eq((ending & ~tail_valid) | (in_tail & self.beats.ready)),
        ]
        m.d.sync += reserved.eq(reserved + asks - chunk_ends)
        with m.If(self.pages.valid & self.pages.ready):
            m.d.sync += [active.eq(1), page.eq(self.pages.payload)]
        with m.If(asks):
            m.d.sync += [holds.eq(~last_chunk), index.eq(0 if chunks.count == 1 else index + 1)]
            with m.If(last_chunk):
                m.d.sync += [word.eq(word + 1), active.eq(~word.all()), ending.eq(word.all())]
        with m.Elif(self.others_read):
            m.d.sync += holds.eq(0)

        asked, number = asks, index
        for clock in range(1, READ_CYCLES + 1):
            before = asked, number
            asked, number = Signal(name=f"asked_{clock}"), Signal.like(index, name=f"index_{clock}")
            m.d.sync += [asked.eq(before[0]), number.eq(before[1])]
        m.d.sync += count.eq(count + asked - chunk_ends)
        with m.If(asked):
            m.d.sync += newest.eq(newest + 1)
            with m.Switch(number):
                for chunk in range(chunks.count):
                    with m.Case(chunk):
                        m.d.sync += store[newest].eq(self.word[chunks.bits * chunk :][: chunks.bits])
        with m.If((count != 0) & self.beats.ready):
            m.d.sync += beat.eq(beat + 1)

        with m.If(loads):
            m.d.sync += [
                tail.eq(behind.word_select(loaded, BEAT_BITS)),
                tail_valid.eq(1),
                loaded.eq(loaded + 1),
                is_last.eq(loaded == last_behind),
            ]
        with m.If(tail_begins):
            m.d.sync += in_tail.eq(1)
        with m.If(in_tail & self.beats.ready & is_last):
            m.d.sync += [in_tail.eq(0), tail_valid.eq(0), loaded.eq(0), ending.eq(0)]
        return m


class BeatPacker(wiring.Component):
    """Collects beats into chunks, the low bytes first.

    Latency: `CHUNK_CYCLES` from the last beat of a chunk. Throughput: one beat per cycle.

    Members
    -------
    valid : In(1), beat : In(16)
    completes : Out(1)                  this beat is a chunk's last
    chunk_valid : Out(1), chunk : Out   a chunk, `CHUNK_CYCLES` after that
    packs : Out(1), key : In(16)        with a randomizer: a beat enters its chunk, `CHUNK_CYCLES` - 1 after
                                        its `valid`; the key is removed from it
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "valid": In(1),
            "beat": In(BEAT_BITS),
            "completes": Out(1),
            "chunk_valid": Out(1),
            "chunk": Out(Chunks(config).bits),
            **({"packs": Out(1), "key": In(BEAT_BITS)} if config.randomizer else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        count = Signal(range(Chunks(self.config).beats))  # their number is a power of two
        m.d.comb += self.completes.eq(self.valid & count.all())
        with m.If(self.valid):
            m.d.sync += count.eq(count + 1)
        valid, completes, beat = self.valid, self.completes, self.beat
        for clock in range(1, CHUNK_CYCLES):
            ahead = valid, completes, beat
            valid, completes = Signal(name=f"valid_{clock}"), Signal(name=f"completes_{clock}")
            beat = Signal(BEAT_BITS, name=f"beat_{clock}")
            m.d.sync += [late.eq(one) for late, one in zip((valid, completes, beat), ahead, strict=True)]
        if self.config.randomizer:
            m.d.comb += self.packs.eq(valid)
            beat = beat ^ self.key
        m.d.sync += self.chunk_valid.eq(completes)
        with m.If(valid):
            m.d.sync += self.chunk.eq(Cat(self.chunk[BEAT_BITS:], beat))
        return m
