"""The read buffer of a channel: pages between the dies, or the write buffer, and the tensor buffer."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.identity import RECORD_BITS
from flashtrain.rtl.layouts import BufferPage, FillTarget, PageRetry, PageTarget, ReadHead
from flashtrain.rtl.lib.gearbox import BEAT_BITS, BeatPacker, Chunks
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import Queue
from flashtrain.rtl.randomizer.keystream import Keystream
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from .page_corrector import CorrectionCounts, FilledPage, PageCorrector
from .page_sender import CompletePage, FreePages, PageSender


class HitPage(data.StructLayout):
    """A page that a lookup found in the write buffer, and its target."""

    def __init__(self, config: FmsConfig):
        super().__init__({"place": BufferPage(config), "target": PageTarget(config)})


class ChunkPosition(wiring.Component):
    """The position of a chunk from the bus in its page: data, then the identity, then parity with a code.

    Latency: none; the outputs describe the present chunk.

    Members
    -------
    valid : In(1), chunk : In
    of_data : Out(1)                    the chunk is data
    word : Out, number : Out            of data: its word in the page, and its number in the word
    identified : Out(1), identity : Out(128)   the chunk completes the page's identity
    ends : Out(1)                       the chunk is the page's last

    With parts:

    begins : In(1)                      a page begins
    first, last : In                    words of it that come, constant until it ends
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        chunks = Chunks(config)
        super().__init__({
            "valid": In(1),
            "chunk": In(chunks.bits),
            **({
                "begins": In(1), "first": In(range(config.page_beats)), "last": In(range(config.page_beats)),
            } if config.part_bytes else {}),
            "of_data": Out(1),
            "word": Out(range(config.page_beats)),
            "number": Out(bits_for(chunks.count)),
            "identified": Out(1),
            "identity": Out(RECORD_BITS),
            "ends": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        chunks, code = Chunks(self.config), self.config.code
        last_chunk = self.number == chunks.count - 1
        ending, of_identity = Signal(), Signal(range(RECORD_BITS // chunks.bits))
        last_of_identity = Signal()  # the next chunk of the identity is its last
        collected = Signal(RECORD_BITS)
        in_parity = Signal()
        m.d.comb += [
            self.of_data.eq(self.valid & ~ending & ~in_parity),
            self.identity.eq(Cat(collected[chunks.bits :], self.chunk)),
            self.identified.eq(self.valid & last_of_identity),
        ]
        with m.If(self.of_data):
            m.d.sync += self.number.eq(Mux(last_chunk, 0, self.number + 1))
            with m.If(last_chunk):
                is_last = self.word == self.last if self.config.part_bytes else self.word.all()
                m.d.sync += [self.word.eq(self.word + 1), ending.eq(is_last)]
        if self.config.part_bytes:
            with m.If(self.begins):
                m.d.sync += self.word.eq(self.first)
        with m.If(self.valid & ending):
            m.d.sync += [
                collected.eq(self.identity),
                of_identity.eq(of_identity + 1),
                last_of_identity.eq(of_identity == RECORD_BITS // chunks.bits - 2),
                ending.eq(~last_of_identity),
            ]
        if code is None:
            m.d.comb += self.ends.eq(self.identified)
            return m

        parity_chunks = 8 * code.words * code.parity_bytes // chunks.bits
        left = Signal(range(parity_chunks))
        m.d.comb += self.ends.eq(self.valid & in_parity & (left == 0))
        with m.If(self.identified):
            m.d.sync += [in_parity.eq(1), left.eq(parity_chunks - 1)]
        with m.Elif(self.valid & in_parity):
            m.d.sync += [in_parity.eq(left != 0), left.eq(left - 1)]
        return m


class PageMemory(wiring.Component):
    """The memory of the page buffers, and the logic that works on each beat and each word.

    The memory has one write port and one read port. The bus has priority on the write port, and uses it once
    per chunk of 64 bits. The read port serves the tensor buffer. The memory's wires are long, so registers
    surround it.

    With a randomizer the key of a page from an array is removed before its beats enter the memory. Bit errors
    stay in place: the corrector reads the beats of the bus, and corrects the data in the memory. Corrections
    use both ports in free cycles (`MemoryPatch`).

    Latency: a chunk of the bus is written `CHUNK_CYCLES` + 2 cycles after its last beat, a word of a copy 2
    cycles after `copy_valid`; a word is read in 1 cycle. Corrections: see `PageCorrector`.
    Throughput: one beat per cycle. Copies: one word in each cycle that bus and corrections leave free. One
    word read per cycle.

    Members
    -------
    fill_begins : In(1)                     pulse: a fill begins
    fill_number : In, fill_target : In(FillTarget)   from the next cycle on: its page buffer and page
    fill_decoded : In(1)                    with them: the page has a key and a code, if the configuration has
    fill_valid : In(1), fill_data : In(16)  bus_page_bytes / 2 beats per page
    identified : Out(1), identity : Out(128)   the page's identity is complete
    ends : Out(1)                           the page is complete
    copies : In(1), copy_number : In        a copy is in progress, into this page buffer
    copy_room : Out(1)                      during a copy: a word may arrive 3 cycles later
    copy_valid : In(1), copy_data : In      page_beats words per page
    copied : Out(1)                         the word is the page's last
    read : In(1), address : In              reads a word of all pages
    word : Out                              the word, a cycle later
    correction_begins : In(1)               with a code: the fill that begins will be decoded
    correction_room : Out(1)                another such page may begin
    correction_requests : Out(1), correction_reads : In(1)   it requests the read port, and is granted it
    corrected : Out(stream(FilledPage)), counts : Out(CorrectionCounts)   see `PageCorrector`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        word_bits, number_bits = 8 * config.data_bytes, bits_for(config.read_pages)
        super().__init__({
            "fill_begins": In(1),
            "fill_number": In(number_bits),
            "fill_target": In(FillTarget(config)),
            "fill_decoded": In(1),
            "fill_valid": In(1),
            "fill_data": In(BEAT_BITS),
            "identified": Out(1),
            "identity": Out(RECORD_BITS),
            "ends": Out(1),
            "copies": In(1),
            "copy_number": In(number_bits),
            "copy_room": Out(1),
            "copy_valid": In(1),
            "copy_data": In(word_bits),
            "copied": Out(1),
            "read": In(1),
            "address": In(bits_for(config.page_beats) + number_bits),
            "word": Out(word_bits),
            **({
                "correction_begins": In(1),
                "correction_room": Out(1),
                "correction_requests": Out(1),
                "correction_reads": In(1),
                "corrected": Out(stream.Signature(FilledPage(config))),
                "counts": Out(CorrectionCounts(config)),
            } if config.code else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, chunks = self.config, Chunks(self.config)
        m.submodules.memory = memory = Memory(
            shape=8 * config.data_bytes,
            depth=config.read_pages * config.page_beats,
            init=[],
            attrs=NEVER_COLLIDES,
        )
        write = memory.write_port(granularity=chunks.bits)
        read = memory.read_port()
        m.submodules.packer = packer = BeatPacker(config)
        m.submodules.position = position = ChunkPosition(config)
        m.d.comb += [
            packer.valid.eq(self.fill_valid),
            packer.beat.eq(self.fill_data),
            position.valid.eq(packer.chunk_valid),
            position.chunk.eq(packer.chunk),
            self.identified.eq(position.identified),
            self.identity.eq(position.identity),
            self.ends.eq(position.ends),
            read.en.eq(self.read),
            read.addr.eq(self.address),
            self.word.eq(read.data),
        ]
        correction_writes = Signal()  # a correction requests the write port
        self._write(m, write, packer, position, correction_writes)
        if config.part_bytes:
            self._place_part(m, position)
        if config.randomizer:
            self._remove_key(m, packer)
        if config.code:
            m.submodules.corrector = corrector = PageCorrector(config, config.code)
            self._correct(m, corrector, position)
            self._patch(m, corrector, read, write, correction_writes, position.of_data)
        return m

    def _write(self, m: Module, write, packer, position, correction_writes: Signal) -> None:
        """Chunks from the bus, whole words from the write buffer."""
        # Low without a copy: then fills do not toggle the wire between the buffers.
        m.d.sync += self.copy_room.eq(self.copies & ~packer.completes & ~correction_writes)
        copy_word, last_copy_word = Signal(range(self.config.page_beats)), Signal()
        m.d.comb += self.copied.eq(self.copy_valid & last_copy_word)
        with m.If(self.copy_valid):
            m.d.sync += [
                write.addr.eq(Cat(copy_word, self.copy_number)),
                write.data.eq(self.copy_data),
                write.en.eq(~0),
                copy_word.eq(copy_word + 1),
                last_copy_word.eq(copy_word == self.config.page_beats - 2),
            ]
        with m.Else():
            m.d.sync += write.en.eq(position.of_data << position.number)
            with m.If(position.of_data):
                m.d.sync += [
                    write.addr.eq(Cat(position.word, self.fill_number)),
                    write.data.eq(packer.chunk.replicate(Chunks(self.config).count)),
                ]

    def _place_part(self, m: Module, position: ChunkPosition) -> None:
        """The bytes of a part have the place in the page buffer that they have in the page."""
        target, bits = self.fill_target, bits_for(self.config.part_bytes // self.config.data_bytes)
        m.d.sync += position.begins.eq(self.fill_begins)
        m.d.comb += position.last.eq(self.config.page_beats - 1)
        with m.If(target.moves_part):
            m.d.comb += [
                position.first.eq(target.part.before << bits),
                position.last.eq(~(target.part.behind << bits)),
            ]

    def _remove_key(self, m: Module, packer: BeatPacker) -> None:
        m.submodules.keys = keys = Keystream(self.config)
        m.d.comb += [
            keys.restart.eq(self.fill_begins),
            keys.page.eq(self.fill_target.source.page),
            keys.plane.eq(self.fill_target.source.plane),
            keys.advance.eq(packer.packs),
            packer.key.eq(Mux(self.fill_decoded, keys.key, 0)),
        ]

    def _correct(self, m: Module, corrector: PageCorrector, position: ChunkPosition) -> None:
        """Pages with a code enter the corrector: each beat, then identity and target."""
        pages = corrector.pages
        m.d.comb += [
            self.correction_room.eq(corrector.room),
            corrector.begins.eq(self.correction_begins),
            corrector.valid.eq(self.fill_valid & self.fill_decoded),
            corrector.beat.eq(self.fill_data),
            pages.valid.eq(position.identified & self.fill_decoded),
            pages.payload.number.eq(self.fill_number),
            *(
                pages.payload.target[name].eq(self.fill_target[name])
                for name in PageTarget(self.config).members
            ),
            pages.payload.source.eq(self.fill_target.source),
            pages.payload.identity.eq(position.identity),
            self.counts.eq(corrector.counts),
        ]
        connect(m, corrector.corrected, flipped(self.corrected))

    def _patch(self, m: Module, corrector, read, write, correction_writes: Signal, of_data) -> None:
        """Corrections use the memory's ports in free cycles."""
        m.d.comb += [
            self.correction_requests.eq(corrector.read_request),
            corrector.reads.eq(self.correction_reads),
            corrector.word.eq(read.data),
            correction_writes.eq(corrector.write_request),
            corrector.writes.eq(correction_writes & ~self.copy_valid & ~of_data),
        ]
        with m.If(corrector.reads):
            m.d.comb += [read.en.eq(1), read.addr.eq(corrector.address)]
        with m.If(corrector.writes):
            m.d.sync += [
                write.addr.eq(corrector.address),
                write.data.eq(corrector.chunk.replicate(Chunks(self.config).count)),
                write.en.eq(1 << corrector.number),
            ]


class _Slots:
    """The page buffers that are being filled and copied into, and the pulses at their ends."""

    def __init__(self, config: FmsConfig):
        number_bits = bits_for(config.read_pages)
        self.filling = Signal()
        self.fill_number = Signal(number_bits)
        self.fill_target = Signal(FillTarget(config))
        self.copying = Signal()
        self.copy_number = Signal(number_bits)
        self.copy_target = Signal(PageTarget(config))
        # pulses: a page buffer is taken for a fill, a copy
        self.fills = Signal()
        self.hits = Signal()
        self.filled = Signal()
        self.copied = Signal()
        self.offered = Signal()  # the filled page needs no correction
        self.decoded = Signal()  # the page that is filled has a key and a code, if the configuration has


class ReadBuffer(wiring.Component):
    """`read_pages` page buffers, filled by the bus or with copies from the write buffer, then offered.

    One page is filled and one is copied at a time, in parallel; they take turns for free page buffers.
    `PageMemory` takes their beats and words, and removes the key of pages from an array.

    With a code, pages from an array are offered after their correction (`PageCorrector`). Other pages have no
    parity and are not held back. They are copies of the write buffer, and a die's pages that do not come from
    its array. With `read_levels` an uncorrectable page goes to `retries` while there are levels, and its page
    buffer is freed.

    While `raw` is high, pages from an array are offered with their key, and without correction.

    Latency: a page is offered 6 cycles after its last beat, 9 after that of its parity without errors. Its
    first word is valid 4 cycles after its head is accepted if the buffer was idle.
    Throughput: one word per cycle, without a gap between pages whose heads are accepted in time. Each
    corrected byte costs 2 cycles at most. Copies: one word in each cycle that the bus leaves free.

    Members
    -------
    fill : In(stream(FillTarget))      a page that the bus will bring; accepted when a page buffer is free
    fill_room : Out(1)                 a page buffer is free for the fill behind the present one
    fill_valid : In(1), fill_data : In(16)   bus_page_bytes / 2 beats per page, the low bytes first; with
                                       `moves_part` those of its part and the identity
    hits : In(stream(HitPage))         a page to copy; accepted with a free page buffer and `copy`
    copy : Out(stream(BufferPage))     its request to the write buffer
    copy_room : Out(1)                 during a copy: a word may arrive 3 cycles later
    copy_valid : In(1), copy_data : In
    read_head : Out(stream(ReadHead))  a complete page; up to two are accepted ahead of their words
    read_data : Out(stream)            page_beats words per accepted head, in order
    raw : In(1)                        constant while a page is filled or held
    counts : Out(CorrectionCounts)
    retries : Out(stream(PageRetry)), settled : Out(1)   with `read_levels`; a page from an array is offered
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        word_bits = 8 * config.data_bytes
        super().__init__({
            "fill": In(stream.Signature(FillTarget(config))),
            "fill_room": Out(1),
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
        config = self.config
        m.submodules.page_memory = memory = PageMemory(config)
        m.submodules.free = free = FreePages(config.read_pages)
        m.submodules.complete = complete = Queue(CompletePage(config), config.read_pages)
        m.submodules.sender = sender = PageSender(config)

        slots = _Slots(config)
        may_fill = Signal(init=1)
        self._allocate(m, slots, free, may_fill)
        self._store(m, slots, memory)
        self._complete(m, slots, complete.input, memory.identity)
        connect(m, complete.output, sender.pages)
        connect(m, sender.read_head, flipped(self.read_head))
        connect(m, sender.read_data, flipped(self.read_data))
        m.d.comb += [
            memory.read.eq(sender.read),
            memory.address.eq(sender.address),
            sender.word.eq(memory.word),
            free.returns.eq(sender.returns),
            free.returned.eq(sender.returned),
        ]
        if config.code:
            m.d.comb += may_fill.eq(memory.correction_room)
            self._correct(m, slots, memory, complete.input, free, sender)
        return m

    def _allocate(self, m: Module, slots: _Slots, free: FreePages, may_fill: Signal) -> None:
        """Fills and copies take turns for the free page buffers.

        A page buffer is assigned a cycle before it is taken, and stays assigned until then.
        """
        copy_next = Signal()  # after a fill
        for_copy, for_fill = Signal(), Signal()
        available, copy_waits = Signal(), Signal()
        m.d.comb += [
            slots.fills.eq(self.fill.valid & self.fill.ready),
            slots.hits.eq(self.hits.valid & self.hits.ready),
            self.fill.ready.eq(for_fill),
            self.copy.valid.eq(for_copy),
            self.copy.payload.eq(self.hits.payload.place),
            self.hits.ready.eq(for_copy & self.copy.ready),
            free.output.ready.eq(slots.fills | slots.hits),
            available.eq(free.output.valid & ~slots.fills & ~slots.hits),
            copy_waits.eq(self.hits.valid & (~slots.copying | slots.copied) & (copy_next | ~self.fill.valid)),
        ]
        m.d.sync += [
            for_copy.eq(available & copy_waits),
            for_fill.eq(available & ~copy_waits & may_fill & (~slots.filling | slots.filled)),
            self.fill_room.eq(available & ~copy_waits & may_fill),
        ]
        with m.If(slots.fills):
            m.d.sync += [
                slots.filling.eq(1),
                slots.fill_number.eq(free.output.payload),
                slots.fill_target.eq(self.fill.payload),
                copy_next.eq(1),
            ]
        with m.Elif(slots.filled):
            m.d.sync += slots.filling.eq(0)
        with m.If(slots.hits):
            m.d.sync += [
                slots.copying.eq(1),
                slots.copy_number.eq(free.output.payload),
                slots.copy_target.eq(self.hits.payload.target),
                copy_next.eq(0),
            ]
        with m.Elif(slots.copied):
            m.d.sync += slots.copying.eq(0)

    def _store(self, m: Module, slots: _Slots, memory: PageMemory) -> None:
        """Fills and copies go to the page memory, which pulses at their ends."""
        filled, decoded = slots.filled, slots.decoded
        m.d.comb += [
            memory.fill_begins.eq(slots.fills),
            memory.fill_number.eq(slots.fill_number),
            memory.fill_target.eq(slots.fill_target),
            memory.fill_decoded.eq(decoded),
            memory.fill_valid.eq(self.fill_valid),
            memory.fill_data.eq(self.fill_data),
            memory.copies.eq(slots.copying | slots.hits),
            memory.copy_number.eq(slots.copy_number),
            memory.copy_valid.eq(self.copy_valid),
            memory.copy_data.eq(self.copy_data),
            self.copy_room.eq(memory.copy_room),
            slots.copied.eq(memory.copied),
            filled.eq(memory.ends),
            decoded.eq(slots.fill_target.from_array & ~self.raw),
        ]
        if self.config.code is None:
            m.d.comb += slots.offered.eq(filled)
        else:
            m.d.comb += slots.offered.eq(Mux(self.raw, memory.identified, filled & ~decoded))

    def _complete(self, m: Module, slots: _Slots, complete, identity) -> None:
        fill_target, copy_target, offered = slots.fill_target, slots.copy_target, slots.offered
        m.d.comb += [
            complete.valid.eq(offered | slots.copied),
            complete.payload.number.eq(Mux(offered, slots.fill_number, slots.copy_number)),
            *(
                complete.payload.target[name].eq(Mux(offered, fill_target[name], copy_target[name]))
                for name in PageTarget(self.config).members
            ),
            complete.payload.identity.eq(identity),
        ]

    def _correct(self, m: Module, slots: _Slots, memory: PageMemory, complete, free, sender) -> None:
        """Pages with a code are offered when they leave the corrector."""
        corrected = memory.corrected
        m.d.comb += [
            memory.correction_begins.eq(slots.fills & self.fill.payload.from_array & ~self.raw),
            sender.other_requests.eq(memory.correction_requests),
            memory.correction_reads.eq(sender.other_reads),
            self.counts.eq(memory.counts),
        ]
        retried = Signal()
        with m.If(~slots.copied & ~slots.offered & ~retried):
            m.d.comb += [
                complete.valid.eq(corrected.valid),
                *(
                    complete.payload[name].eq(corrected.payload[name])
                    for name in CompletePage(self.config).members
                ),
                corrected.ready.eq(1),
            ]
        if self.config.read_levels:
            settled = self._retry(m, corrected, retried, free, sender)
            m.d.comb += self.settled.eq(Mux(self.raw, slots.offered, settled))

    def _retry(self, m: Module, corrected, retried: Signal, free: FreePages, sender: PageSender) -> Signal:
        """Uncorrectable pages go to `retries`; returns the pulse of a page's last verdict."""
        page, retry = corrected.payload, self.retries.payload
        settled = Signal()
        returning, returned = Signal(), Signal.like(page.number)  # its page buffer
        m.d.comb += [
            retried.eq(page.failed & (page.source.level != self.config.read_levels)),
            self.retries.valid.eq(corrected.valid & retried & ~returning),
            retry.source.eq(page.source),
            retry.source.level.eq(page.source.level + 1),
            retry.tag.eq(page.target.tag),
            retry.buffer_block.eq(page.target.buffer_block),
            settled.eq(corrected.valid & corrected.ready & ~retried),
            self.counts.pages_rescued.eq(settled & ~page.failed & (page.source.level != 0)),
        ]
        with m.If(retried):
            m.d.comb += corrected.ready.eq(self.retries.ready & ~returning)
        with m.If(self.retries.valid & self.retries.ready):
            m.d.comb += self.counts.pages_retried.eq(1)
            m.d.sync += [returning.eq(1), returned.eq(page.number)]
        with m.Elif(~sender.returns):
            m.d.sync += returning.eq(0)
        with m.If(returning & ~sender.returns):
            m.d.comb += [free.returns.eq(1), free.returned.eq(returned)]
        return settled
