"""The write buffer of a channel: page sets between the tensor buffer and the dies."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..ecc.encoder import PageEncoder
from ..layouts import STREAM_BITS, BufferPage, PageEvent, PageKind, PageSet, PageTarget, SetResult, WritePage
from ..memories import NEVER_COLLIDES
from ..randomizer.keystream import Keystream
from .gearbox import BEAT_BITS, PageSerializer
from .page_sets import PagePlace, PageSets
from .program_results import ProgramResults
from .set_identities import SetIdentities


class WriteBuffer(wiring.Component):
    """Page sets: a place for announced pages, their data until its program has passed, read-after-write.

    The memory has one write port, which is the tensor buffer's alone, and one read port, which the bus has
    first (once in `channels` clocks at most); copies of pages that reads have hit take the rest.

    The memory has registers around it, because it is large and its ways are long.

    Latency: see :class:`PageSets` and, from `fetch` to `beats`, :class:`PageSerializer`; the first word of a
    copy comes 4 clocks after it is asked for. Throughput: data and beats, one per clock; copies, one word in
    each clock that the bus leaves.

    Members
    -------
    pages : In(stream(WritePage))     accepted when a place is reserved
    data_valid : In(1), data : In     `page_beats` words per accepted page, in their order
    sets : Out(stream(PageSet)).array(dies), results : In(stream(SetResult)).array(dies)
    updated : In(stream(PageEvent)).array(dies)   tiles whose gradients had been here
    programmed : Out(stream(PageEvent))
    fetch : In(stream(BufferPage)), beats : Out(stream(16))   a page for the bus and its identity, the low
      bytes first. What goes to an array has its key with a randomizer, and parity with a code; what goes to a
      die, the identity of the source. A page is fetched only when all beats of the one before have been taken
    home_of : In(BufferPage), home : Out(PageTarget)   where a page of gradients came from
    flush, flushed, discard, lookup, hit, hit_slot            see :class:`PageSets`
    copy : In(stream(BufferPage))     the page that `lookup` has hit; releases it at the end
    copy_room : In(1)                 there is room for a word 3 clocks later
    copy_valid : Out(1), copy_data : Out
    page_ended, set_ended, set_failed : Out(1)    pulses: a page, a set is over; the set's program failed
    busy : Out(1)                     a set is closed, with its agent, or its results are not told yet
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
            "home_of": In(BufferPage(config)),
            "home": Out(PageTarget(config)),
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
            "page_ended": Out(1),
            "set_ended": Out(1),
            "set_failed": Out(1),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g = self.config, self.config.geometry
        page_layout = BufferPage(config)
        pages = config.write_sets * g.planes

        m.submodules.sets = sets = PageSets(config)
        m.submodules.results = results = ProgramResults(config)
        m.submodules.memory = memory = Memory(
            shape=8 * config.data_bytes, depth=pages * config.page_beats, init=[], attrs=NEVER_COLLIDES
        )
        write, read = memory.write_port(), memory.read_port()

        for die in range(g.dies):
            connect(m, sets.sets[die], flipped(self.sets[die]))
            connect(m, flipped(self.results[die]), results.results[die])
            connect(m, flipped(self.updated[die]), results.updated[die])
        connect(m, flipped(self.pages), sets.pages)
        connect(m, flipped(self.flush), sets.flush)
        connect(m, flipped(self.discard), sets.discard)
        connect(m, flipped(self.lookup), sets.lookup)
        connect(m, results.programmed, flipped(self.programmed))
        placed = Signal()
        has_gradients = self.pages.payload.kind == PageKind.GRADIENTS
        m.d.comb += [
            placed.eq(self.pages.ready),  # only while there is one
            results.announced.eq(placed),
            results.announced_page.slot.eq(sets.slot),
            results.announced_page.plane.eq(self.pages.payload.plane),
            results.note.notify.eq(self.pages.payload.notify & ~has_gradients),
            results.note.tag.eq(self.pages.payload.tag),
            sets.ended.eq(results.ended),
            sets.ended_slot.eq(results.slot),
            results.first.eq(sets.ended_first),
            results.last.eq(sets.ended_last),
            self.flushed.eq(sets.flushed),
            self.hit.eq(sets.hit),
            self.hit_slot.eq(sets.hit_slot),
            self.page_ended.eq(results.page_ended),
            self.set_ended.eq(results.ended),
            self.set_failed.eq(results.failed),
            self.busy.eq(sets.busy | results.busy),
        ]

        m.submodules.identities = identities = SetIdentities(config)
        m.d.comb += [
            identities.placed.eq(placed),
            identities.page.eq(self.pages.payload),
            identities.slot.eq(sets.slot),
        ]

        m.submodules.homes = homes = Memory(
            shape=PageTarget(config), depth=config.write_sets * g.planes, init=[]
        )
        settle, seek = homes.write_port(), homes.read_port(domain="comb")
        m.d.comb += [
            settle.en.eq(placed),
            settle.addr.eq(Cat(results.announced_page.plane, results.announced_page.slot)),
            settle.data.tag.eq(self.pages.payload.tag),
            settle.data.page.eq(self.pages.payload.page),
            seek.addr.eq(Cat(self.home_of.plane, self.home_of.slot)),
            self.home.eq(seek.data),
        ]

        # Where the data of announced pages goes. There are never more of them than places.
        m.submodules.arrivals = arrivals = Memory(shape=page_layout, depth=1 << bits_for(pages), init=[])
        announce, arrive = arrivals.write_port(), arrivals.read_port(domain="comb")
        beat = Signal(range(config.page_beats))
        m.d.comb += [
            announce.en.eq(placed),
            announce.data.eq(results.announced_page),
            sets.arrived.eq(self.data_valid & beat.all()),
            sets.arrived_slot.eq(arrive.data.slot),
            sets.arrived_plane.eq(arrive.data.plane),
        ]
        announced, arrived = Signal.like(announce.addr), Signal.like(arrive.addr)
        m.d.comb += [announce.addr.eq(announced), arrive.addr.eq(arrived)]
        with m.If(placed):
            m.d.sync += announced.eq(announced + 1)
        m.d.sync += [
            write.en.eq(self.data_valid),
            write.data.eq(self.data),
            write.addr.eq(Cat(beat, arrive.data.plane, arrive.data.slot)),
        ]
        with m.If(self.data_valid):
            m.d.sync += beat.eq(beat + 1)
        with m.If(sets.arrived):
            m.d.sync += arrived.eq(arrived + 1)

        m.submodules.serializer = serializer = PageSerializer(config)
        connect(m, flipped(self.fetch), serializer.pages)
        beats, keyed = serializer.beats, Signal(BEAT_BITS)
        m.d.comb += [
            keyed.eq(beats.payload),
            self.beats.valid.eq(beats.valid),
            self.beats.payload.eq(keyed),
            beats.ready.eq(self.beats.ready),
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
                keys.row.eq(identities.row),
                keys.plane.eq(serializer.page.plane),
                keys.advance.eq(beats.valid & beats.ready),
                keyed.eq(beats.payload ^ Mux(identities.plain, 0, keys.key)),
            ]
        m.d.comb += [
            identities.of.eq(serializer.page),
            serializer.identity.eq(identities.record),
            serializer.source.eq(identities.source),
            serializer.plain.eq(identities.plain),
        ]
        copying, copied, copy_beat = Signal(), Signal(page_layout), Signal(range(config.page_beats))
        copy_reads, copy_ends = Signal(), Signal()
        m.d.comb += [
            serializer.others_want.eq(copying & self.copy_room),
            copy_reads.eq(serializer.others_read),
            serializer.word.eq(self.copy_data),
            self.copy.ready.eq(~copying),
            copy_ends.eq(copy_reads & copy_beat.all()),
        ]
        m.d.sync += sets.unpin.eq(copy_ends)
        copy_asked, copy_there = Signal(), Signal()
        fetched = Signal(8 * config.data_bytes, reset_less=True)  # a block memory has such a register
        m.d.comb += self.copy_data.eq(fetched)
        m.d.sync += [
            read.en.eq(serializer.read | copy_reads),
            read.addr.eq(Cat(copy_beat, copied.plane, copied.slot)),
            copy_asked.eq(copy_reads),
            copy_there.eq(copy_asked),
            self.copy_valid.eq(copy_there),
            fetched.eq(read.data),
        ]
        with m.If(serializer.read):
            m.d.sync += read.addr.eq(serializer.address)
        with m.If(self.copy.valid & self.copy.ready):
            m.d.sync += [copying.eq(1), copied.eq(self.copy.payload)]
        with m.If(copy_reads):
            m.d.sync += copy_beat.eq(copy_beat + 1)
        with m.If(copy_ends):
            m.d.sync += copying.eq(0)
        return m
