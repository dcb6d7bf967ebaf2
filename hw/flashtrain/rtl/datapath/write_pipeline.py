"""The write command pipeline: tensor buffer to channel buffers (Behemoth's pipeline (a))."""

from amaranth import Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.codec.encoder import Encoder
from flashtrain.rtl.layouts import (
    SEQUENCE_BITS,
    STREAM_BITS,
    PageEvent,
    Settled,
    WriteJob,
    WritePage,
    coded,
)
from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.bursts import PageBursts
from flashtrain.rtl.lib.streams import Queue, StreamMerge
from flashtrain.spec import FmsConfig

from .write_splitter import AllocatedPage, WriteSplitter

PAGES_ENCODED = 4  # the encoder completes fewer before the first of them has gone
PAGES_OUTSTANDING = 8  # covers 250 cycles of memory latency on the widest port


class WriteFetch(wiring.Component):
    """Fetches allocated pages over AXI and broadcasts their beats to the channels.

    Channels take beats without back-pressure: each page has its place.

    With a codec blocks go to the encoder, and its pages to the channels, in the order in which these accepted
    them. Other beats wait meanwhile: their pages were accepted later.

    Latency: 1 cycle from a page to its burst, 1 cycle from a beat to the channel. Throughput: one beat per
    cycle, with `PAGES_OUTSTANDING` pages outstanding.

    Members
    -------
    allocated : In(stream(AllocatedPage))
    axi : Out(ReadPort)
    data_valid : Out(channels)   one-hot: the channel that `data` is for
    data : Out(16 * channels)
    data_room : In(1)            a beat may be sent in the next cycle
    arrived : Out(stream(PageEvent))  a page is in SRAM; failed after an error of the tensor buffer
    busy : Out(1)                a beat is transferred
    starved : Out(1)             a page waits for a beat of the tensor buffer

    With a codec:

    to_encoder : Out(stream(16 * channels))
    encoded : In(stream(16 * channels))    beats of the encoder's pages
    encoded_page : In(1), encoded_channel : In   pulse: a channel has accepted one
    failed : Out(1)              a block for the encoder failed since `clear`
    clear : In(1)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        bits = 8 * config.data_bytes
        super().__init__({
            "allocated": In(stream.Signature(AllocatedPage(config))),
            "axi": Out(ReadPort(address_bits=config.address_bits, data_bits=bits)),
            "data_valid": Out(config.geometry.channels),
            "data": Out(bits),
            "data_room": In(1),
            "arrived": Out(stream.Signature(PageEvent(config))),
            "busy": Out(1),
            "starved": Out(1),
            **coded(config, {
                "to_encoder": Out(stream.Signature(bits)),
                "encoded": In(stream.Signature(bits)),
                "encoded_page": In(1),
                "encoded_channel": In(config.geometry.channel_bits),
                "failed": Out(1),
                "clear": In(1),
            }),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, bursts = self.config, PageBursts(self.config)

        # Every page enters two queues: of its bursts, and of the route of their beats.
        # It leaves that of the routes last. Room ends by a page alone, since an offered page stays offered.
        m.submodules.requests = requests = Queue(config.buffer_block_bits, PAGES_OUTSTANDING)
        m.submodules.routes = routes = Queue(AllocatedPage(config), PAGES_OUTSTANDING)
        room, enters = Signal(), Signal()
        m.d.sync += room.eq(
            Mux(enters, routes.level < PAGES_OUTSTANDING - 1, routes.level < PAGES_OUTSTANDING)
        )
        m.d.comb += [
            self.allocated.ready.eq(room),
            enters.eq(self.allocated.valid & room),
            requests.input.valid.eq(enters),
            requests.input.payload.eq(self.allocated.payload.buffer_block),
            routes.input.valid.eq(enters),
            routes.input.payload.eq(self.allocated.payload),
        ]

        burst = Signal(range(bursts.count))
        last_burst = burst == bursts.count - 1
        m.d.comb += [
            self.axi.ar.valid.eq(requests.output.valid),
            self.axi.ar.payload.address.eq(bursts.address(requests.output.payload, burst)),
            self.axi.ar.payload.length.eq(bursts.beats - 1),
            requests.output.ready.eq(self.axi.ar.ready & last_burst),
        ]
        with m.If(self.axi.ar.valid & self.axi.ar.ready):
            m.d.sync += burst.eq(0 if bursts.count == 1 else burst + 1)

        m.submodules.events = events = Queue(PageEvent(config), 4)
        wiring.connect(m, events.output, wiring.flipped(self.arrived))
        route, beat, error = routes.output, self.axi.r, Signal()
        beats = Signal(range(config.page_beats))
        last_beat = beats == config.page_beats - 1
        m.d.sync += self.data_valid.eq(0)
        encodes, free = Const(0), events.input.ready
        if config.codec:
            encodes, free = route.payload.encode, self._encode(m, route, events.input.ready)
        m.d.comb += [
            beat.ready.eq(route.valid & free & (self.data_room | encodes)),
            self.busy.eq(beat.valid & beat.ready),
            self.starved.eq(route.valid & ~beat.valid),
            route.ready.eq(self.busy & last_beat),
            events.input.valid.eq(self.busy & last_beat & ~encodes),
            events.input.payload.tag.eq(route.payload.tag),
            events.input.payload.failed.eq(error | beat.payload.error),
        ]
        with m.If(self.busy):
            m.d.sync += [
                beats.eq(beats + 1),
                error.eq(~last_beat & (error | beat.payload.error)),
            ]
            with m.If(~encodes):
                m.d.sync += [
                    self.data.eq(beat.payload.data),
                    self.data_valid.eq(1 << route.payload.channel),
                ]
        return m

    def _encode(self, m: Module, route, event_ready):
        """Pass the beats to and from the encoder; whether the next beat of the tensor buffer may move."""
        config, beat, encodes = self.config, self.axi.r, route.payload.encode
        m.submodules.encoded_routes = pages = Queue(config.geometry.channel_bits, PAGES_ENCODED)
        beats = Signal(range(config.page_beats))
        pending, moves = pages.output.valid, Signal()
        m.d.comb += [
            pages.input.valid.eq(self.encoded_page),
            pages.input.payload.eq(self.encoded_channel),
            pages.output.ready.eq(moves & (beats == config.page_beats - 1)),
            self.encoded.ready.eq(pending & self.data_room),
            moves.eq(self.encoded.valid & self.encoded.ready),
            self.to_encoder.valid.eq(beat.valid & route.valid & encodes),
            self.to_encoder.payload.eq(beat.payload.data),
        ]
        with m.If(moves):
            m.d.sync += [
                beats.eq(beats + 1),
                self.data.eq(self.encoded.payload),
                self.data_valid.eq(1 << pages.output.payload),
            ]
        with m.If(self.clear):
            m.d.sync += self.failed.eq(0)
        with m.Elif(self.busy & encodes & beat.payload.error):
            m.d.sync += self.failed.eq(1)
        return Mux(encodes, self.to_encoder.ready, event_ready & ~pending)


class WritePipeline(wiring.Component):
    """Moves the pages of write jobs from the tensor buffer into the channels' write buffers.

    Latency: 3 cycles from a job to its first burst, 1 from a beat to the channel. Throughput: one beat of
    2·C bytes per cycle.

    Members
    -------
    jobs : In(stream(WriteJob))
    axi : Out(ReadPort)                     the data port's reading side
    pages, data_valid, data, data_room, flush, flush_done   to the channels, see `WriteSplitter`, `WriteFetch`
    arrived : Out(stream(PageEvent))        pages in SRAM, all of them, and flushes done
    issued : Out(SEQUENCE_BITS)             jobs whose pages are all allocated
    settled : Out(stream(Settled))          with a codec, see `WriteSplitter`
    page_appended, busy, stall_buffer, stall_memory : Out(1)   for the counters
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels, bits = config.geometry.channels, 8 * config.data_bytes
        super().__init__({
            "jobs": In(stream.Signature(WriteJob(config))),
            "axi": Out(ReadPort(address_bits=config.address_bits, data_bits=bits)),
            "pages": Out(stream.Signature(WritePage(config))).array(channels),
            "data_valid": Out(channels),
            "data": Out(bits),
            "data_room": In(1),
            "flush": Out(stream.Signature(STREAM_BITS)).array(channels),
            "flush_done": In(channels),
            "arrived": Out(stream.Signature(PageEvent(config))),
            "issued": Out(SEQUENCE_BITS),
            **coded(config, {"settled": Out(stream.Signature(Settled(config)))}),
            "page_appended": Out(1),
            "busy": Out(1),
            "stall_buffer": Out(1),
            "stall_memory": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter = splitter = WriteSplitter(self.config)
        m.submodules.fetch = fetch = WriteFetch(self.config)
        wiring.connect(m, splitter.jobs, wiring.flipped(self.jobs))
        wiring.connect(m, splitter.allocated, fetch.allocated)
        wiring.connect(m, fetch.axi, wiring.flipped(self.axi))
        for number in range(self.config.geometry.channels):
            wiring.connect(m, splitter.pages[number], wiring.flipped(self.pages[number]))
            wiring.connect(m, splitter.flush[number], wiring.flipped(self.flush[number]))
        m.d.comb += [
            self.data_valid.eq(fetch.data_valid),
            self.data.eq(fetch.data),
            fetch.data_room.eq(self.data_room),
            splitter.flush_done.eq(self.flush_done),
            self.issued.eq(splitter.issued),
            self.page_appended.eq(splitter.placed),
            self.busy.eq(fetch.busy),
            self.stall_buffer.eq(splitter.stalled),
            self.stall_memory.eq(fetch.starved),
        ]
        if self.config.codec:
            self._encode(m, splitter, fetch)
        m.submodules.merge = merge = StreamMerge(PageEvent(self.config), 2)
        wiring.connect(m, fetch.arrived, merge.inputs[0])
        m.d.comb += [
            merge.inputs[1].valid.eq(splitter.flushed.valid),
            merge.inputs[1].payload.tag.eq(splitter.flushed.payload),
            splitter.flushed.ready.eq(merge.inputs[1].ready),
        ]
        wiring.connect(m, merge.output, wiring.flipped(self.arrived))
        return m

    def _encode(self, m: Module, splitter: WriteSplitter, fetch: WriteFetch) -> None:
        m.submodules.encoder = encoder = Encoder(self.config)
        wiring.connect(m, splitter.encode, encoder.job)
        wiring.connect(m, encoder.page, splitter.encoded)
        wiring.connect(m, fetch.to_encoder, encoder.data)
        wiring.connect(m, encoder.output, fetch.encoded)
        wiring.connect(m, splitter.settled, wiring.flipped(self.settled))
        m.d.comb += [
            fetch.encoded_page.eq(splitter.encoded.valid & splitter.encoded.ready),
            fetch.encoded_channel.eq(splitter.encoded_channel),
            fetch.clear.eq(splitter.settled.valid & splitter.settled.ready),
            splitter.fetch_failed.eq(fetch.failed),
        ]
