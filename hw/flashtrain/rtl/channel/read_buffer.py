"""The read buffer of a channel: pages between the dies, or the write buffer, and the tensor buffer."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..layouts import BufferPage, FillTarget, PageRetry, PageTarget, ReadHead
from ..memories import NEVER_COLLIDES
from ..queue import Queue
from ..randomizer.keystream import Keystream
from .chunk_walk import ChunkWalk
from .free_pages import FreePages
from .gearbox import BEAT_BITS, BeatPacker, Chunks
from .page_corrector import CorrectionCounts, PageCorrector
from .page_sender import CompletePage, PageSender


class HitPage(data.StructLayout):
    """A page that a read has found in the write buffer, and where it goes."""

    def __init__(self, config: FmsConfig):
        super().__init__({"place": BufferPage(config), "target": PageTarget(config)})


class ReadBuffer(wiring.Component):
    """`read_pages` page buffers, filled by the bus or with copies from the write buffer, then offered.

    One page at a time is filled and one is copied, side by side; when both want a free buffer they take
    turns. The memory has one write port, which the bus has first (once per chunk of 64 bits), and one read
    port, which is the tensor buffer's.

    With a code, pages from an array are offered when they are corrected (`PageCorrector`), and their
    corrections use both ports between the others (`MemoryPatch`). Other pages have no parity and do not
    wait: copies of the write buffer, and what a die makes besides pages. With `read_levels` a page that
    cannot be corrected is not offered, but given to `retries` as long as there are levels; its buffer is
    free.

    With a randomizer the key of a page from an array is taken off on its way into the buffer. What is wrong
    in it stays where it is: the corrector listens to the bus, and corrects what is in the buffer.

    While `raw` pages from an array are offered as they come: with their key, and not corrected.

    The memory has registers around it, because its ways are long.

    Latency: a page is offered 6 clocks after its last beat, 9 after that of its parity if it has no errors;
    its first word comes 4 clocks after its head is accepted if the buffer was idle. Throughput: one word per
    clock, without a gap between pages whose heads are accepted in time, but for 2 clocks at most for each
    byte that is corrected; copies, one word in each clock that the bus leaves.

    Members
    -------
    fill : In(stream(FillTarget))      a page that the bus will bring; accepted when a buffer is free
    fill_valid : In(1), fill_data : In(16)   bus_page_bytes / 2 beats for each, the low bytes first
    hits : In(stream(HitPage))         a page to copy; accepted when a buffer is free and `copy` is accepted
    copy : Out(stream(BufferPage))     asks the write buffer for it
    copy_room : Out(1)                 while there is something to copy: a word may come 3 clocks later
    copy_valid : In(1), copy_data : In
    read_head : Out(stream(ReadHead))  a complete page; up to two are accepted ahead of their words
    read_data : Out(stream)            page_beats words for each accepted head, in their order
    raw : In(1)                        changes while no page is filled or here
    counts : Out(CorrectionCounts)
    retries : Out(stream(PageRetry)), settled : Out(1)   with `read_levels`; a page from an array is offered
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        word_bits = 8 * config.data_bytes
        super().__init__({
            "fill": In(stream.Signature(FillTarget(config))),
            "fill_valid": In(1),
            "fill_data": In(BEAT_BITS),
            "hits": In(stream.Signature(HitPage(config))),
            "copy": Out(stream.Signature(BufferPage(config))),
            "copy_room": Out(1),
            "copy_valid": In(1),
            "copy_data": In(word_bits),
            "read_head": Out(stream.Signature(ReadHead(config))),
            "read_data": Out(stream.Signature(word_bits)),
            "raw": In(1),
            "counts": Out(CorrectionCounts(config)),
            **({
                "retries": Out(stream.Signature(PageRetry(config))),
                "settled": Out(1),
            } if config.read_levels else {}),
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
        write = memory.write_port(granularity=chunks.bits)
        read = memory.read_port()
        m.submodules.free = free = FreePages(config.read_pages)
        m.submodules.complete = complete = Queue(CompletePage(config), config.read_pages)

        # Who gets the next free buffer.
        filling, fill_number, fill_target = Signal(), Signal(number_bits), Signal(FillTarget(config))
        copying, copy_number, copy_target = Signal(), Signal(number_bits), Signal(PageTarget(config))
        copy_next = Signal()  # after a fill it is the copies' turn
        filled, copied, offered = Signal(), Signal(), Signal()
        decoded = Signal()  # the page that is filled has a key and a code, as far as there are any
        m.d.comb += decoded.eq(fill_target.from_array & ~self.raw)
        may_fill = Signal(init=1)
        fills = self.fill.valid & self.fill.ready
        hits = self.hits.valid & self.hits.ready
        # The free buffer is one's a clock before it is taken, and stays so while nobody takes it.
        for_copy, for_fill = Signal(), Signal()
        there, copy_waits = Signal(), Signal()
        m.d.comb += [
            self.fill.ready.eq(for_fill),
            self.copy.valid.eq(for_copy),
            self.copy.payload.eq(self.hits.payload.place),
            self.hits.ready.eq(for_copy & self.copy.ready),
            free.output.ready.eq(fills | hits),
            there.eq(free.output.valid & ~fills & ~hits),
            copy_waits.eq(self.hits.valid & (~copying | copied) & (copy_next | ~self.fill.valid)),
        ]
        m.d.sync += [
            for_copy.eq(there & copy_waits),
            for_fill.eq(there & ~copy_waits & may_fill & (~filling | filled)),
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
        with m.If(hits):
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
        m.submodules.walk = walk = ChunkWalk(config)
        others_write = Signal()  # they want to
        # Said while it is asked for: what need not look at it rests while pages come from the bus.
        copies = copying | hits
        m.d.sync += self.copy_room.eq(copies & ~packer.completes & ~others_write)
        copy_word, last_copy_word = Signal(range(config.page_beats)), Signal()
        m.d.comb += [
            packer.valid.eq(self.fill_valid),
            packer.beat.eq(self.fill_data),
            walk.valid.eq(packer.chunk_valid),
            walk.chunk.eq(packer.chunk),
            filled.eq(walk.ends),
            offered.eq(filled if config.code is None else Mux(self.raw, walk.identified, filled & ~decoded)),
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
            m.d.sync += write.en.eq(walk.of_data << walk.number)
            with m.If(walk.of_data):
                m.d.sync += [
                    write.addr.eq(Cat(walk.word, fill_number)),
                    write.data.eq(packer.chunk.replicate(chunks.count)),
                ]
        m.d.comb += [
            complete.input.valid.eq(offered | copied),
            complete.input.payload.number.eq(Mux(offered, fill_number, copy_number)),
            *(
                complete.input.payload.target[name].eq(Mux(offered, fill_target[name], copy_target[name]))
                for name in PageTarget(config).members
            ),
            complete.input.payload.identity.eq(walk.identity),
        ]

        if config.randomizer:
            m.submodules.keys = keys = Keystream(config)
            m.d.comb += [
                keys.restart.eq(fills),
                keys.row.eq(fill_target.source.row),
                keys.plane.eq(fill_target.source.plane),
                keys.advance.eq(packer.packs),
                packer.key.eq(Mux(decoded, keys.key, 0)),
            ]

        m.submodules.sender = sender = PageSender(config)
        connect(m, complete.output, sender.pages)
        connect(m, sender.read_head, flipped(self.read_head))
        connect(m, sender.read_data, flipped(self.read_data))
        m.d.comb += [
            read.en.eq(sender.read),
            read.addr.eq(sender.address),
            sender.word.eq(read.data),
            free.returns.eq(sender.returns),
            free.returned.eq(sender.returned),
        ]
        if config.code is None:
            return m

        m.submodules.corrector = corrector = PageCorrector(config, config.code)
        m.d.comb += [
            may_fill.eq(corrector.room),
            corrector.begins.eq(fills & self.fill.payload.from_array & ~self.raw),
            corrector.valid.eq(self.fill_valid & decoded),
            corrector.beat.eq(self.fill_data),
            corrector.pages.valid.eq(walk.identified & decoded),
            corrector.pages.payload.number.eq(fill_number),
            *(
                corrector.pages.payload.target[name].eq(fill_target[name])
                for name in PageTarget(config).members
            ),
            corrector.pages.payload.source.eq(fill_target.source),
            corrector.pages.payload.identity.eq(walk.identity),
            self.counts.eq(corrector.counts),
        ]
        corrected = corrector.corrected
        again = Signal()  # it is read again
        with m.If(~copied & ~offered & ~again):
            m.d.comb += [
                complete.input.valid.eq(corrected.valid),
                *(
                    complete.input.payload[name].eq(corrected.payload[name])
                    for name in CompletePage(config).members
                ),
                corrected.ready.eq(1),
            ]
        if config.read_levels:
            settled = self._retry(m, corrected, again, free, sender)
            m.d.comb += self.settled.eq(Mux(self.raw, offered, settled))
        m.d.comb += [
            sender.others_want.eq(corrector.wants_read),
            corrector.reads.eq(sender.others_read),
            corrector.word.eq(read.data),
            others_write.eq(corrector.wants_write),
            corrector.writes.eq(others_write & ~self.copy_valid & ~walk.of_data),
        ]
        with m.If(corrector.reads):
            m.d.comb += [read.en.eq(1), read.addr.eq(corrector.address)]
        with m.If(corrector.writes):
            m.d.sync += [
                write.addr.eq(corrector.address),
                write.data.eq(corrector.chunk.replicate(chunks.count)),
                write.en.eq(1 << corrector.number),
            ]
        return m

    def _retry(self, m: Module, corrected, again: Signal, free: FreePages, sender: PageSender) -> Signal:
        """What is read again; the pulse with which a page is corrected, or given up."""
        page, retry = corrected.payload, self.retries.payload
        settled = Signal()
        returning, returned = Signal(), Signal.like(page.number)  # its buffer, when the sender returns none
        m.d.comb += [
            again.eq(page.failed & (page.source.level != self.config.read_levels)),
            self.retries.valid.eq(corrected.valid & again & ~returning),
            retry.source.eq(page.source),
            retry.source.level.eq(page.source.level + 1),
            retry.tag.eq(page.target.tag),
            retry.page.eq(page.target.page),
            settled.eq(corrected.valid & corrected.ready & ~again),
            self.counts.pages_rescued.eq(settled & ~page.failed & (page.source.level != 0)),
        ]
        with m.If(again):
            m.d.comb += corrected.ready.eq(self.retries.ready & ~returning)
        with m.If(self.retries.valid & self.retries.ready):
            m.d.comb += self.counts.pages_retried.eq(1)
            m.d.sync += [returning.eq(1), returned.eq(page.number)]
        with m.Elif(~sender.returns):
            m.d.sync += returning.eq(0)
        with m.If(returning & ~sender.returns):
            m.d.comb += [free.returns.eq(1), free.returned.eq(returned)]
        return settled
