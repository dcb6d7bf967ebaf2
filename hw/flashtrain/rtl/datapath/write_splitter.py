"""The write splitter: write jobs to pages of the channels."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import SEQUENCE_BITS, STREAM_BITS, PageKind, WriteJob, WritePage
from flashtrain.spec import FmsConfig


class AllocatedPage(data.StructLayout):
    """A page with a place in its channel's write buffer, to be fetched from the tensor buffer."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "channel": config.geometry.channel_bits,
            "buffer_block": config.buffer_block_bits,
            "tag": config.tag_bits,
        })  # fmt: skip


class WriteSplitter(wiring.Component):
    """Splits write jobs by page, in order, and allocates each page in its channel's write buffer.

    Pages go to the channels in turn, then to the next plane. After the job's last page of a page set follow
    the next die, then the next page of the block.

    A flush goes to all channels behind the pages of the jobs before it. After the last channel's answer
    `flushed` offers its tag. The next flush waits for that, other jobs do not.

    Latency: 1 cycle from a job to its first page. Throughput: one page per cycle, one idle cycle between
    jobs.

    Members
    -------
    jobs : In(stream(WriteJob))
    pages : Out(stream(WritePage)).array(channels)
    allocated : Out(stream(AllocatedPage))  each page, in the cycle in which its channel accepts it
    flush : Out(stream(STREAM_BITS)).array(channels)
    flush_done : In(channels)           pulses: the channel has programmed the flushed stream
    flushed : Out(stream(tag))
    issued : Out(SEQUENCE_BITS)         jobs, flushes too, whose pages are all allocated; wraps
    stalled : Out(1)                    a page waits for a place in its channel
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels = config.geometry.channels
        super().__init__({
            "jobs": In(stream.Signature(WriteJob(config))),
            "pages": Out(stream.Signature(WritePage(config))).array(channels),
            "allocated": Out(stream.Signature(AllocatedPage(config))),
            "flush": Out(stream.Signature(STREAM_BITS)).array(channels),
            "flush_done": In(channels),
            "flushed": Out(stream.Signature(config.tag_bits)),
            "issued": Out(SEQUENCE_BITS),
            "stalled": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g = self.config, self.config.geometry
        job = Signal(WriteJob(config))
        channel = job.offset[: g.channel_bits]
        plane, die, page_number = (Signal(bits) for bits in (g.plane_bits, g.die_bits, g.page_bits))
        m.d.comb += Cat(plane, die, page_number).eq(job.offset[g.channel_bits :])
        is_data = job.kind == PageKind.DATA
        ends_set = Signal()
        next_offset = Signal.like(job.offset)
        m.d.comb += [ends_set.eq(plane == job.last_page), next_offset.eq(job.offset + 1)]
        with m.If(ends_set & (channel == g.channels - 1)):
            m.d.comb += next_offset[g.channel_bits + g.plane_bits :].eq(Cat(die, page_number) + 1)
            m.d.comb += next_offset[: g.channel_bits + g.plane_bits].eq(0)

        accepts = Signal()
        with m.Switch(channel):
            for number, page in enumerate(self.pages):
                with m.Case(number):
                    m.d.comb += accepts.eq(page.ready)
        for number, page in enumerate(self.pages):
            m.d.comb += [
                page.payload.zone.eq(job.zone),
                page.payload.page.eq(page_number),
                page.payload.die.eq(die),
                page.payload.plane.eq(plane),
                page.payload.tag.eq(job.tag),
                page.payload.stream.eq(job.stream),
                page.payload.notify.eq(Mux(is_data, job.non_volatile, ends_set)),
                # The last page of the job on each channel: no later page completes its set soon.
                page.payload.close.eq(Mux(is_data, job.non_volatile & (job.blocks <= g.channels), ends_set)),
                page.payload.kind.eq(job.kind),
                page.payload.source.eq(job.source),
                page.payload.copies.eq(job.copies),
                page.payload.buffer_block.eq(job.buffer_block),
                page.payload.source_identity.eq(job.source_identity),
                page.payload.identity.eq(job.identity),
                page.payload.wear.eq(job.wear),
                page.payload.channel.eq(number),
            ]
        m.d.comb += [
            self.allocated.payload.channel.eq(channel),
            self.allocated.payload.buffer_block.eq(job.buffer_block),
            self.allocated.payload.tag.eq(job.tag),
        ]

        sent = Signal(g.channels)  # channels that have accepted the present flush
        outstanding = Signal(g.channels)  # channels that have not answered the last flush
        flushing = Signal()
        m.d.sync += outstanding.eq(outstanding & ~self.flush_done)
        m.d.comb += self.flushed.valid.eq(flushing & ~outstanding.any())
        with m.If(self.flushed.valid & self.flushed.ready):
            m.d.sync += flushing.eq(0)
        for flush in self.flush:
            m.d.comb += flush.payload.eq(job.stream)

        with m.FSM(name="write_splitter"):
            with m.State("IDLE"):
                m.d.comb += self.jobs.ready.eq(1)
                m.d.sync += job.eq(self.jobs.payload)
                with m.If(self.jobs.valid & self.jobs.payload.flush):
                    m.next = "WAIT_FOR_FLUSH"
                with m.Elif(self.jobs.valid):
                    m.next = "ALLOCATE"

            with m.State("ALLOCATE"):
                # The channel and the fetch accept the page in the same cycle.
                with m.Switch(channel):
                    for number, page in enumerate(self.pages):
                        with m.Case(number):
                            m.d.comb += page.valid.eq(self.allocated.ready)
                m.d.comb += [self.allocated.valid.eq(accepts), self.stalled.eq(~accepts)]
                with m.If(accepts & self.allocated.ready):
                    m.d.sync += [
                        job.offset.eq(next_offset),
                        job.buffer_block.eq(job.buffer_block + 1),
                        job.blocks.eq(job.blocks - 1),
                    ]
                    with m.If(job.blocks == 1):
                        m.d.sync += self.issued.eq(self.issued + 1)
                        m.next = "IDLE"

            with m.State("WAIT_FOR_FLUSH"):
                m.d.sync += sent.eq(0)
                with m.If(~flushing):
                    m.d.sync += [flushing.eq(1), outstanding.eq(-1), self.flushed.payload.eq(job.tag)]
                    m.next = "FLUSH"

            with m.State("FLUSH"):
                for number, flush in enumerate(self.flush):
                    m.d.comb += flush.valid.eq(~sent[number])
                    with m.If(flush.ready):
                        m.d.sync += sent[number].eq(1)
                with m.If(sent.all()):
                    m.d.sync += self.issued.eq(self.issued + 1)
                    m.next = "IDLE"
        return m
