"""The write buffer of a channel: page sets between the tensor buffer and the dies."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.ecc.encoder import PageEncoder
from flashtrain.rtl.identity import RECORD_BITS, Record, checksum_halves
from flashtrain.rtl.layouts import (
    STREAM_BITS,
    BufferPage,
    PageEvent,
    PageKind,
    PageSet,
    PageTarget,
    SetResult,
    TileSource,
    WritePage,
)
from flashtrain.rtl.lib.gearbox import BEAT_BITS, PageSerializer
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.randomizer.keystream import Keystream
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.identity import PageIdentity

from .page_sets import PagePlace, PageSets
from .program_results import ProgramResults

_KEPT = ("stream", "updated", "zone", "page", "channel", "die", "generation", "sequence", "wear")


class _SetIdentity(data.StructLayout):
    """The common part of the identities of a set's pages.

    `plain`: the pages go to a die, not to an array. `source`: of gradients, the old tile's identity.
    """

    def __init__(self, config: FmsConfig):
        widths = {name: getattr(PageIdentity, name).width for name in _KEPT}
        super().__init__({**widths, "plain": 1, "source": TileSource()})


class SetIdentities(wiring.Component):
    """Stores the identity of each page set, and makes the record of a page from it.

    Latency: 2 cycles from `of` to `record`, 1 to the other outputs.

    Members
    -------
    allocated : In(1), page : In(WritePage), slot : In   a page is accepted into this set
    of : In(BufferPage), record : Out(128)            the record of a page
    plain : Out(1)              the page goes to a die, not to an array
    source : Out(TileSource)    `SourceIdentity` of its tile, of gradients
    number : Out                the page's number in the block, with a randomizer
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "allocated": In(1),
            "page": In(WritePage(config)),
            "slot": In(bits_for(config.write_sets)),
            "of": In(BufferPage(config)),
            "record": Out(RECORD_BITS),
            "plain": Out(1),
            "source": Out(TileSource()),
            **({"number": Out(config.geometry.page_bits)} if config.randomizer else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        common_layout = _SetIdentity(self.config)
        m.submodules.sets = memory = Memory(shape=common_layout, depth=self.config.write_sets, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        common, page = self.page.identity, self.page
        m.d.comb += [
            write.en.eq(self.allocated),
            write.addr.eq(self.slot),
            *(write.data[name].eq(common[name]) for name in ("stream", "zone", "generation", "sequence")),
            *(write.data[name].eq(page[name]) for name in ("page", "channel", "die", "wear")),
            write.data.updated.eq(page.kind == PageKind.GRADIENTS),
            write.data.plain.eq(page.kind != PageKind.DATA),
            write.data.source.eq(page.source_identity),
            read.addr.eq(self.of.slot),
        ]
        kept, body = Signal(common_layout), Signal(Record())
        halves = [Signal(PageIdentity.crc.width, name=f"crc_half_{number}") for number in range(2)]
        m.d.sync += kept.eq(read.data)
        m.d.comb += [
            *(body[name].eq(kept[name]) for name in _KEPT),
            body.plane.eq(self.of.plane),
            body.version.eq(PageIdentity.VERSION),
            self.plain.eq(kept.plain),
            self.source.eq(kept.source),
            self.record.eq(Cat(body.as_value()[: PageIdentity.crc.low], halves[0] ^ halves[1])),
        ]
        m.d.sync += [half.eq(sum_of) for half, sum_of in zip(halves, checksum_halves(body), strict=True)]
        if self.config.randomizer:
            m.d.comb += self.number.eq(kept.page)
        return m


class WriteBuffer(wiring.Component):
    """Holds page sets from the tensor buffer until their programs have passed, and serves reads of them.

    The memory has one write port, for the tensor buffer alone, and one read port. The bus has priority on the
    read port, and uses it once in `channels` cycles at most. Copies of pages that reads hit use the other
    cycles. The memory is large and its wires are long, so registers surround it.

    Latency: see `PageSets` and, from `fetch` to `beats`, `PageSerializer`; the first word of a copy is valid
    4 cycles after its request. Throughput: data and beats, one per cycle; copies, one word in each cycle that
    the bus leaves free.

    Members
    -------
    pages : In(stream(WritePage))     accepted when the page has a place
    data_valid : In(1), data : In     `page_beats` words per accepted page, in their order
    sets : Out(stream(PageSet)).array(dies), results : In(stream(SetResult)).array(dies)
    updated : In(stream(PageEvent)).array(dies)   updated tiles
    programmed : Out(stream(PageEvent))
    fetch : In(stream(BufferPage)), beats : Out(stream(16))   a page for the bus and its identity, the low
      bytes first. A page for an array has its key with a randomizer, and parity with a code; a page for a die
      carries the identity of its source. A page is fetched after the last beat of the one before
    origin_of : In(BufferPage), origin : Out(PageTarget)   the tensor-buffer address of a page of gradients
    flush, flushed, discard, lookup, hit, hit_slot            see `PageSets`
    copy : In(stream(BufferPage))     the page that `lookup` hit; unpinned at its end
    copy_room : In(1)                 there is room for a word 3 cycles later
    copy_valid : Out(1), copy_data : Out
    busy : Out(1)                     a set is closed, with its agent, or its results are outstanding
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        word_bits = 8 * config.data_bytes
        super().__init__({
            "pages": In(stream.Signature(WritePage(config))),
            "data_valid": In(1),
            "data": In(word_bits),
            "sets": Out(stream.Signature(PageSet(config))).array(g.dies),
            "results": In(stream.Signature(SetResult(config))).array(g.dies),
            "updated": In(stream.Signature(PageEvent(config))).array(g.dies),
            "programmed": Out(stream.Signature(PageEvent(config))),
            "fetch": In(stream.Signature(BufferPage(config))),
            "beats": Out(stream.Signature(BEAT_BITS)),
            "origin_of": In(BufferPage(config)),
            "origin": Out(PageTarget(config)),
            "flush": In(stream.Signature(STREAM_BITS)),
            "flushed": Out(1),
            "discard": In(stream.Signature(g.block_bits)),
            "lookup": In(stream.Signature(PagePlace(config))),
            "hit": Out(1),
            "hit_slot": Out(bits_for(config.write_sets)),
            "copy": In(stream.Signature(BufferPage(config))),
            "copy_room": In(1),
            "copy_valid": Out(1),
            "copy_data": Out(word_bits),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.sets = sets = PageSets(self.config)
        m.submodules.results = results = ProgramResults(self.config)
        m.submodules.identities = identities = SetIdentities(self.config)
        m.submodules.serializer = serializer = PageSerializer(self.config)
        page, allocated = self.pages.payload, Signal()
        place = Signal(BufferPage(self.config))  # of the page that is allocated
        has_gradients = page.kind == PageKind.GRADIENTS
        m.d.comb += [
            allocated.eq(self.pages.ready),  # ready only with valid
            place.slot.eq(sets.slot),
            place.plane.eq(page.plane),
            identities.allocated.eq(allocated),
            identities.page.eq(page),
            identities.slot.eq(sets.slot),
            results.allocated.eq(allocated),
            results.allocated_page.eq(place),
            results.note.notify.eq(page.notify & ~has_gradients),
            results.note.tag.eq(page.tag),
        ]
        self._connect_sets(m, sets, results)
        self._store_origins(m, allocated, place)
        read = self._store_data(m, sets, allocated, place)
        self._send(m, serializer, identities)
        self._copy(m, sets, serializer, read)
        return m

    def _connect_sets(self, m: Module, sets: PageSets, results: ProgramResults) -> None:
        for die in range(self.config.geometry.dies):
            connect(m, sets.sets[die], flipped(self.sets[die]))
            connect(m, flipped(self.results[die]), results.results[die])
            connect(m, flipped(self.updated[die]), results.updated[die])
        connect(m, flipped(self.pages), sets.pages)
        connect(m, flipped(self.flush), sets.flush)
        connect(m, flipped(self.discard), sets.discard)
        connect(m, flipped(self.lookup), sets.lookup)
        connect(m, results.programmed, flipped(self.programmed))
        m.d.comb += [
            sets.ended.eq(results.ended),
            sets.ended_slot.eq(results.slot),
            results.first.eq(sets.ended_first),
            results.last.eq(sets.ended_last),
            self.flushed.eq(sets.flushed),
            self.hit.eq(sets.hit),
            self.hit_slot.eq(sets.hit_slot),
            self.busy.eq(sets.busy | results.busy),
        ]

    def _store_origins(self, m: Module, allocated: Signal, place) -> None:
        page, pages = self.pages.payload, self.config.write_sets * self.config.geometry.planes
        m.submodules.origins = origins = Memory(shape=PageTarget(self.config), depth=pages, init=[])
        write, read = origins.write_port(), origins.read_port(domain="comb")
        m.d.comb += [
            write.en.eq(allocated),
            write.addr.eq(Cat(place.plane, place.slot)),
            write.data.tag.eq(page.tag),
            write.data.buffer_block.eq(page.buffer_block),
            read.addr.eq(Cat(self.origin_of.plane, self.origin_of.slot)),
            self.origin.eq(read.data),
        ]

    def _store_data(self, m: Module, sets: PageSets, allocated: Signal, place):
        """Store the data, and return the memory's read port.

        Data arrive in the order of the allocations, so a ring of places is enough.
        """
        config = self.config
        pages = config.write_sets * config.geometry.planes
        m.submodules.memory = memory = Memory(
            shape=8 * config.data_bytes, depth=pages * config.page_beats, init=[], attrs=NEVER_COLLIDES
        )
        write, read = memory.write_port(), memory.read_port()
        m.submodules.places = places = Memory(shape=BufferPage(config), depth=1 << bits_for(pages), init=[])
        expect, arrive = places.write_port(), places.read_port(domain="comb")
        beat = Signal(range(config.page_beats))
        last_beat = Signal()
        m.d.comb += [
            expect.en.eq(allocated),
            expect.data.eq(place),
            sets.arrived.eq(self.data_valid & last_beat),
            sets.arrived_slot.eq(arrive.data.slot),
            sets.arrived_plane.eq(arrive.data.plane),
        ]
        newest, oldest = Signal.like(expect.addr), Signal.like(arrive.addr)
        m.d.comb += [expect.addr.eq(newest), arrive.addr.eq(oldest)]
        with m.If(allocated):
            m.d.sync += newest.eq(newest + 1)
        m.d.sync += [
            write.en.eq(self.data_valid),
            write.data.eq(self.data),
            write.addr.eq(Cat(beat, arrive.data.plane, arrive.data.slot)),
        ]
        with m.If(self.data_valid):
            m.d.sync += [beat.eq(beat + 1), last_beat.eq(beat == config.page_beats - 2)]
        with m.If(sets.arrived):
            m.d.sync += oldest.eq(oldest + 1)
        return read

    def _send(self, m: Module, serializer: PageSerializer, identities: SetIdentities) -> None:
        """A page for the bus: its data and identity, with its key, then parity."""
        config, beats = self.config, serializer.beats
        connect(m, flipped(self.fetch), serializer.pages)
        keyed = Signal(BEAT_BITS)
        m.d.comb += [
            keyed.eq(beats.payload),
            self.beats.valid.eq(beats.valid),
            self.beats.payload.eq(keyed),
            beats.ready.eq(self.beats.ready),
            identities.of.eq(serializer.page),
            serializer.identity.eq(identities.record),
            serializer.source.eq(identities.source),
            serializer.plain.eq(identities.plain),
        ]
        if config.code:
            m.submodules.encoder = encoder = PageEncoder(config.code, BEAT_BITS)
            m.d.comb += encoder.input.payload.eq(keyed)
            with m.If(~identities.plain):
                m.d.comb += [
                    encoder.input.valid.eq(beats.valid),
                    beats.ready.eq(encoder.input.ready),
                    self.beats.valid.eq(encoder.output.valid),
                    self.beats.payload.eq(encoder.output.payload),
                    encoder.output.ready.eq(self.beats.ready),
                ]
        if config.randomizer:
            m.submodules.keys = keys = Keystream(config)
            m.d.sync += keys.restart.eq(self.fetch.valid & self.fetch.ready)
            m.d.comb += [
                keys.page.eq(identities.number),
                keys.plane.eq(serializer.page.plane),
                keys.advance.eq(beats.valid & beats.ready),
                keyed.eq(beats.payload ^ Mux(identities.plain, 0, keys.key)),
            ]

    def _copy(self, m: Module, sets: PageSets, serializer: PageSerializer, read) -> None:
        """Words of a hit page for the read buffer, in the cycles that the serializer leaves free."""
        config = self.config
        copying, page, beat = Signal(), Signal(BufferPage(config)), Signal(range(config.page_beats))
        reads, ends = Signal(), Signal()
        m.d.comb += [
            serializer.others_request.eq(copying & self.copy_room),
            reads.eq(serializer.others_read),
            serializer.word.eq(self.copy_data),
            self.copy.ready.eq(~copying),
            ends.eq(reads & beat.all()),
        ]
        m.d.sync += sets.unpin.eq(ends)
        word_requested, word_valid = Signal(), Signal()
        fetched = Signal(8 * config.data_bytes, reset_less=True)  # block memories have such a register
        m.d.comb += self.copy_data.eq(fetched)
        m.d.sync += [
            read.en.eq(serializer.read | reads),
            read.addr.eq(Cat(beat, page.plane, page.slot)),
            word_requested.eq(reads),
            word_valid.eq(word_requested),
            self.copy_valid.eq(word_valid),
            fetched.eq(read.data),
        ]
        with m.If(serializer.read):
            m.d.sync += read.addr.eq(serializer.address)
        with m.If(self.copy.valid & self.copy.ready):
            m.d.sync += [copying.eq(1), page.eq(self.copy.payload)]
        with m.If(reads):
            m.d.sync += beat.eq(beat + 1)
        with m.If(ends):
            m.d.sync += copying.eq(0)
