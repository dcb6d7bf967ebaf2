"""The write command pipeline: tensor buffer to channel buffers (Behemoth's pipeline (a))."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import SEQUENCE_BITS, STREAM_BITS, PageEvent, WriteJob, WritePage
from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.bursts import PageBursts
from flashtrain.rtl.lib.streams import Queue, StreamMerge
from flashtrain.spec import FmsConfig

from .write_splitter import AllocatedPage, WriteSplitter

PAGES_OUTSTANDING = 8  # covers 250 cycles of memory latency on the widest port


class WriteFetch(wiring.Component):
    """Fetches allocated pages over AXI and broadcasts their beats to the channels.

    Channels take beats without back-pressure: each page has its place.

    Latency: 1 cycle from a page to its burst, 1 cycle from a beat to the channel. Throughput: one beat per
    cycle, with `PAGES_OUTSTANDING` pages outstanding.

    Members
    -------
    allocated : In(stream(AllocatedPage))
    axi : Out(ReadPort)
    data_valid : Out(channels)   one-hot: the channel that `data` is for
    data : Out(16 * channels)
    arrived : Out(stream(PageEvent))  a page is in SRAM; failed after an error of the tensor buffer
    busy : Out(1)                a beat is transferred
    starved : Out(1)             a page waits for a beat of the tensor buffer
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        bits = 8 * config.data_bytes
        super().__init__({
            "allocated": In(stream.Signature(AllocatedPage(config))),
            "axi": Out(ReadPort(address_bits=config.address_bits, data_bits=bits)),
            "data_valid": Out(config.geometry.channels),
            "data": Out(bits),
            "arrived": Out(stream.Signature(PageEvent(config))),
            "busy": Out(1),
            "starved": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, bursts = self.config, PageBursts(self.config)

        # Every page enters two queues: of its bursts, and of the route of their beats.
        m.submodules.requests = requests = Queue(config.buffer_block_bits, PAGES_OUTSTANDING)
        m.submodules.routes = routes = Queue(AllocatedPage(config), PAGES_OUTSTANDING)
        accepts = Signal()
        m.d.comb += [
            accepts.eq(requests.input.ready & routes.input.ready),
            self.allocated.ready.eq(accepts),
            requests.input.valid.eq(self.allocated.valid & accepts),
            requests.input.payload.eq(self.allocated.payload.buffer_block),
            routes.input.valid.eq(self.allocated.valid & accepts),
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
        m.d.comb += [
            beat.ready.eq(route.valid & events.input.ready),
            self.busy.eq(beat.valid & beat.ready),
            self.starved.eq(route.valid & ~beat.valid),
            route.ready.eq(self.busy & last_beat),
            events.input.valid.eq(self.busy & last_beat),
            events.input.payload.tag.eq(route.payload.tag),
            events.input.payload.failed.eq(error | beat.payload.error),
        ]
        m.d.sync += self.data_valid.eq(0)
        with m.If(self.busy):
            m.d.sync += [
                self.data.eq(beat.payload.data),
                self.data_valid.eq(1 << route.payload.channel),
                beats.eq(beats + 1),
                error.eq(~last_beat & (error | beat.payload.error)),
            ]
        return m


class WritePipeline(wiring.Component):
    """Moves the pages of write jobs from the tensor buffer into the channels' write buffers.

    Latency: 3 cycles from a job to its first burst, 1 from a beat to the channel. Throughput: one beat of
    2·C bytes per cycle.

    Members
    -------
    jobs : In(stream(WriteJob))
    axi : Out(ReadPort)                     the data port's reading side
    pages, data_valid, data, flush, flush_done   to the channels, see `WriteSplitter`, `WriteFetch`
    arrived : Out(stream(PageEvent))        pages in SRAM, all of them, and flushes done
    issued : Out(SEQUENCE_BITS)             jobs whose pages are all allocated
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
            "flush": Out(stream.Signature(STREAM_BITS)).array(channels),
            "flush_done": In(channels),
            "arrived": Out(stream.Signature(PageEvent(config))),
            "issued": Out(SEQUENCE_BITS),
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
            splitter.flush_done.eq(self.flush_done),
            self.issued.eq(splitter.issued),
            self.page_appended.eq(splitter.allocated.valid & splitter.allocated.ready),
            self.busy.eq(fetch.busy),
            self.stall_buffer.eq(splitter.stalled),
            self.stall_memory.eq(fetch.starved),
        ]
        m.submodules.merge = merge = StreamMerge(PageEvent(self.config), 2)
        wiring.connect(m, fetch.arrived, merge.inputs[0])
        m.d.comb += [
            merge.inputs[1].valid.eq(splitter.flushed.valid),
            merge.inputs[1].payload.tag.eq(splitter.flushed.payload),
            splitter.flushed.ready.eq(merge.inputs[1].ready),
        ]
        wiring.connect(m, merge.output, wiring.flipped(self.arrived))
        return m
