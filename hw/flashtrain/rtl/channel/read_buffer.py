"""The read buffer of a channel: pages between the dies, or the write buffer, and the tensor buffer."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..identity import RECORD_BITS
from ..layouts import BufferPage, PageTarget, ReadHead
from ..memories import NEVER_COLLIDES
from ..queue import Queue
from .free_pages import FreePages
from .gearbox import BEAT_BITS, BeatPacker, Chunks


class HitPage(data.StructLayout):
    """A page that a read has found in the write buffer, and where it goes."""

    def __init__(self, config: FmsConfig):
        super().__init__({"place": BufferPage(config), "target": PageTarget(config)})


class ReadBuffer(wiring.Component):
    """`read_pages` page buffers, filled by the bus or with copies from the write buffer, then offered.

    One page at a time is filled and one is copied, side by side; when both want a free buffer they take
    turns. The memory has one write port, which the bus has first (once per chunk of 64 bits), and one read
    port, which is the tensor buffer's alone.

    The memory has registers around it, because its ways are long.

    Latency: a page is offered 6 clocks after its last beat; its first word comes 4 clocks after its head is
    accepted if the buffer was idle. Throughput: one word per clock, without a gap between pages whose
    heads are accepted in time; copies, one word in each clock that the bus leaves.

    Members
    -------
    fill : In(stream(PageTarget))      a page that the bus will bring; accepted when a buffer is free
    fill_valid : In(1), fill_data : In(16)   bus_page_bytes / 2 beats for each, the low bytes first
    hits : In(stream(HitPage))         a page to copy; accepted when a buffer is free and `copy` is accepted
    copy : Out(stream(BufferPage))     asks the write buffer for it
    copy_room : Out(1)                 a word may come 3 clocks later
    copy_valid : In(1), copy_data : In
    read_head : Out(stream(ReadHead))  a complete page; up to two are accepted ahead of their words
    read_data : Out(stream)            page_beats words for each accepted head, in their order
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        word_bits = 8 * config.data_bytes
        super().__init__({
            "fill": In(stream.Signature(PageTarget(config))),
            "fill_valid": In(1),
            "fill_data": In(BEAT_BITS),
            "hits": In(stream.Signature(HitPage(config))),
            "copy": Out(stream.Signature(BufferPage(config))),
            "copy_room": Out(1),
            "copy_valid": In(1),
            "copy_data": In(word_bits),
            "read_head": Out(stream.Signature(ReadHead(config))),
            "read_data": Out(stream.Signature(word_bits)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, chunks = self.config, Chunks(self.config)
        number_bits = bits_for(config.read_pages)

        m.submodules.memory = memory = Memory(
            shape=8 * config.data_bytes,
            depth=config.read_pages * config.page_beats,
            init=[],
            attrs=NEVER_COLLIDES,
        )
        write, read = memory.write_port(granularity=chunks.bits), memory.read_port()
        m.submodules.free = free = FreePages(config.read_pages)
        complete_layout = data.StructLayout(
            {"number": number_bits, "target": PageTarget(config), "identity": RECORD_BITS}
        )
        m.submodules.complete = complete = Queue(complete_layout, config.read_pages)

        # Who gets the next free buffer.
        filling, fill_number, fill_target = Signal(), Signal(number_bits), Signal(PageTarget(config))
        copying, copy_number, copy_target = Signal(), Signal(number_bits), Signal(PageTarget(config))
        copy_next = Signal()  # after a fill it is the copies' turn
        filled, copied = Signal(), Signal()
        fills = self.fill.valid & self.fill.ready
        m.d.comb += [
            self.fill.ready.eq(free.output.valid & ~filling & ~(copy_next & self.hits.valid & ~copying)),
            self.copy.valid.eq(free.output.valid & ~copying & ~fills & self.hits.valid),
            self.copy.payload.eq(self.hits.payload.place),
            self.hits.ready.eq(free.output.valid & ~copying & ~fills & self.copy.ready),
            free.output.ready.eq(fills | (self.hits.valid & self.hits.ready)),
        ]
        with m.If(fills):
            m.d.sync += [
                filling.eq(1),
                fill_number.eq(free.output.payload),
                fill_target.eq(self.fill.payload),
                copy_next.eq(1),
            ]
        with m.Elif(filled):
            m.d.sync += filling.eq(0)
        with m.If(self.hits.valid & self.hits.ready):
            m.d.sync += [
                copying.eq(1),
                copy_number.eq(free.output.payload),
                copy_target.eq(self.hits.payload.target),
                copy_next.eq(0),
            ]
        with m.Elif(copied):
            m.d.sync += copying.eq(0)

        # The memory is written by chunks from the bus, by whole words from the write buffer.
        m.submodules.packer = packer = BeatPacker(config)
        m.d.sync += self.copy_room.eq(~packer.completes)
        fill_word, fill_chunk = Signal(range(config.page_beats)), Signal(range(chunks.count))
        copy_word, last_copy_word = Signal(range(config.page_beats)), Signal()
        last_chunk = fill_chunk == chunks.count - 1
        # Behind the data comes the identity.
        ending, of_identity = Signal(), Signal(range(RECORD_BITS // chunks.bits))
        identity, whole_identity = Signal(RECORD_BITS), Signal(RECORD_BITS)
        m.d.comb += whole_identity.eq(Cat(identity[chunks.bits :], packer.chunk))
        m.d.comb += [
            packer.valid.eq(self.fill_valid),
            packer.beat.eq(self.fill_data),
            filled.eq(packer.chunk_valid & ending & of_identity.all()),
            copied.eq(self.copy_valid & last_copy_word),
        ]
        with m.If(self.copy_valid):
            m.d.sync += [
                write.addr.eq(Cat(copy_word, copy_number)),
                write.data.eq(self.copy_data),
                write.en.eq(~0),
                copy_word.eq(copy_word + 1),
                last_copy_word.eq(copy_word == config.page_beats - 2),
            ]
        with m.Else():
            m.d.sync += [
                write.addr.eq(Cat(fill_word, fill_number)),
                write.data.eq(packer.chunk.replicate(chunks.count)),
                write.en.eq((packer.chunk_valid & ~ending) << fill_chunk),
            ]
        with m.If(packer.chunk_valid & ending):
            m.d.sync += [
                identity.eq(whole_identity),
                of_identity.eq(of_identity + 1),
                ending.eq(~of_identity.all()),
            ]
        with m.Elif(packer.chunk_valid):
            m.d.sync += fill_chunk.eq(Mux(last_chunk, 0, fill_chunk + 1))
            with m.If(last_chunk):
                m.d.sync += [fill_word.eq(fill_word + 1), ending.eq(fill_word.all())]
        m.d.comb += [
            complete.input.valid.eq(filled | copied),
            complete.input.payload.number.eq(Mux(filled, fill_number, copy_number)),
            complete.input.payload.target.eq(Mux(filled, fill_target, copy_target)),
            complete.input.payload.identity.eq(whole_identity),
        ]

        # Pages whose head is accepted: the one that is read out, and one after it.
        sending, sent_number, sent_word = Signal(), Signal(number_bits), Signal(range(config.page_beats))
        waiting, waiting_number = Signal(), Signal(number_bits)
        sends, last_word = Signal(), Signal()
        sent = Signal(8 * config.data_bytes, reset_less=True)  # a block memory has such a register
        m.d.comb += self.read_data.payload.eq(sent)
        there, moves = Signal(), Signal()  # a word at the memory's output, on to the register behind it
        m.d.comb += [
            self.read_head.valid.eq(complete.output.valid & ~waiting),
            self.read_head.payload.tag.eq(complete.output.payload.target.tag),
            self.read_head.payload.page.eq(complete.output.payload.target.page),
            self.read_head.payload.from_array.eq(complete.output.payload.target.from_array),
            self.read_head.payload.identity.eq(complete.output.payload.identity),
            complete.output.ready.eq(self.read_head.ready & ~waiting),
            moves.eq(there & (~self.read_data.valid | self.read_data.ready)),
            sends.eq(sending & (~there | moves)),
            last_word.eq(sends & sent_word.all()),
            read.en.eq(sends),
            read.addr.eq(Cat(sent_word, sent_number)),
            free.returns.eq(last_word),
            free.returned.eq(sent_number),
        ]
        with m.If(sends):
            m.d.sync += [there.eq(1), sent_word.eq(sent_word + 1)]
        with m.Elif(moves):
            m.d.sync += there.eq(0)
        with m.If(moves):
            m.d.sync += [self.read_data.valid.eq(1), sent.eq(read.data)]
        with m.Elif(self.read_data.ready):
            m.d.sync += self.read_data.valid.eq(0)
        with m.If(~sending | last_word):
            m.d.sync += [sending.eq(waiting), sent_number.eq(waiting_number), waiting.eq(0)]
        with m.If(self.read_head.valid & self.read_head.ready):
            m.d.sync += [waiting.eq(1), waiting_number.eq(complete.output.payload.number)]
        return m
