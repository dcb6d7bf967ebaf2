"""The write command pipeline: tensor buffer to channel buffers (Behemoth's pipeline (a))."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..arbiter import StreamMerge
from ..axi import ReadPort
from ..layouts import SEQUENCE_BITS, STREAM_BITS, PageEvent, WriteJob, WritePage
from .announcer import Announcer
from .fetcher import PageFetcher


class WritePipeline(wiring.Component):
    """Moves the pages of write jobs from the tensor buffer into the channels' write buffers.

    Latency: 3 clocks from a job to its first burst, 1 from a beat to the channel. Throughput: one beat of
    2·C bytes per clock.

    Members
    -------
    jobs : In(stream(WriteJob))
    axi : Out(ReadPort)                     the data port's reading side
    pages, data_valid, data, flush, flush_done   to the channels, see :class:`Announcer`, :class:`PageFetcher`
    arrived : Out(stream(PageEvent))        pages in SRAM, all of them, and flushes done
    issued : Out(SEQUENCE_BITS)             jobs announced completely
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
        m.submodules.announcer = announcer = Announcer(self.config)
        m.submodules.fetcher = fetcher = PageFetcher(self.config)
        wiring.connect(m, announcer.jobs, wiring.flipped(self.jobs))
        wiring.connect(m, announcer.announced, fetcher.announced)
        wiring.connect(m, fetcher.axi, wiring.flipped(self.axi))
        for number in range(self.config.geometry.channels):
            wiring.connect(m, announcer.pages[number], wiring.flipped(self.pages[number]))
            wiring.connect(m, announcer.flush[number], wiring.flipped(self.flush[number]))
        m.d.comb += [
            self.data_valid.eq(fetcher.data_valid),
            self.data.eq(fetcher.data),
            announcer.flush_done.eq(self.flush_done),
            self.issued.eq(announcer.issued),
            self.page_appended.eq(announcer.announced.valid & announcer.announced.ready),
            self.busy.eq(fetcher.busy),
            self.stall_buffer.eq(announcer.stalled),
            self.stall_memory.eq(fetcher.starved),
        ]
        m.submodules.merge = merge = StreamMerge(PageEvent(self.config), 2)
        wiring.connect(m, fetcher.arrived, merge.inputs[0])
        m.d.comb += [
            merge.inputs[1].valid.eq(announcer.flushed.valid),
            merge.inputs[1].payload.tag.eq(announcer.flushed.payload),
            announcer.flushed.ready.eq(merge.inputs[1].ready),
        ]
        wiring.connect(m, merge.output, wiring.flipped(self.arrived))
        return m
