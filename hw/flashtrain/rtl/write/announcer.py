"""Splits write jobs into pages and announces each to its channel."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..layouts import SEQUENCE_BITS, STREAM_BITS, PageKind, WriteJob, WritePage


class Announced(data.StructLayout):
    """A page that its channel has reserved a place for, to be fetched from the tensor buffer."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "channel": config.geometry.channel_bits,
            "page": config.page_address_bits,
            "tag": config.tag_bits,
        })  # fmt: skip


class Announcer(wiring.Component):
    """Splits write jobs by page, in order, and announces each page to its channel.

    Pages go to the channels in turn, then to the next plane, up to the job's last page of a page set, then to
    the next die, then to the next row.

    A flush goes to all channels behind the pages of the jobs before it; when every channel has answered,
    `flushed` offers its tag. The next flush waits for that, other jobs do not.

    Latency: 1 clock from job to first page. Throughput: one page per clock, one idle clock between jobs.

    Members
    -------
    jobs : In(stream(WriteJob))
    pages : Out(stream(WritePage)).array(channels)
    announced : Out(stream(Announced))  each page, after its channel has accepted it
    flush : Out(stream(STREAM_BITS)).array(channels)
    flush_done : In(channels)           pulses: the channel has programmed what it was asked to
    flushed : Out(stream(tag))
    issued : Out(SEQUENCE_BITS)         jobs, flushes too, that are announced completely; wraps
    stalled : Out(1)                    a page waits for room in its channel
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels = config.geometry.channels
        super().__init__({
            "jobs": In(stream.Signature(WriteJob(config))),
            "pages": Out(stream.Signature(WritePage(config))).array(channels),
            "announced": Out(stream.Signature(Announced(config))),
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
        plane, die, row = (Signal(bits) for bits in (g.plane_bits, g.die_bits, g.row_bits))
        m.d.comb += Cat(plane, die, row).eq(job.offset[g.channel_bits :])
        is_data = job.kind == PageKind.DATA
        ends_set = Signal()
        next_offset = Signal.like(job.offset)
        m.d.comb += [ends_set.eq(plane == job.last_page), next_offset.eq(job.offset + 1)]
        with m.If(ends_set & (channel == g.channels - 1)):
            m.d.comb += next_offset[g.channel_bits + g.plane_bits :].eq(Cat(die, row) + 1)
            m.d.comb += next_offset[: g.channel_bits + g.plane_bits].eq(0)

        accepts = Signal()
        with m.Switch(channel):
            for number, page in enumerate(self.pages):
                with m.Case(number):
                    m.d.comb += accepts.eq(page.ready)
        for number, page in enumerate(self.pages):
            m.d.comb += [
                page.payload.zone.eq(job.zone),
                page.payload.row.eq(row),
                page.payload.die.eq(die),
                page.payload.plane.eq(plane),
                page.payload.tag.eq(job.tag),
                page.payload.stream.eq(job.stream),
                page.payload.notify.eq(Mux(is_data, job.non_volatile, ends_set)),
                # The last page of the job on each channel: nothing that follows completes its set soon.
                page.payload.close.eq(Mux(is_data, job.non_volatile & (job.blocks <= g.channels), ends_set)),
                page.payload.kind.eq(job.kind),
                page.payload.source.eq(job.source),
                page.payload.copies.eq(job.copies),
                page.payload.page.eq(job.page),
                page.payload.source_identity.eq(job.source_identity),
                page.payload.identity.eq(job.identity),
                page.payload.wear.eq(job.wear),
                page.payload.channel.eq(number),
            ]
        m.d.comb += [
            self.announced.payload.channel.eq(channel),
            self.announced.payload.page.eq(job.page),
            self.announced.payload.tag.eq(job.tag),
        ]

        asked = Signal(g.channels)  # channels that have accepted the present flush
        waiting = Signal(g.channels)  # channels whose answer to the last flush is missing
        flushing = Signal()
        m.d.sync += waiting.eq(waiting & ~self.flush_done)
        m.d.comb += self.flushed.valid.eq(flushing & ~waiting.any())
        with m.If(self.flushed.valid & self.flushed.ready):
            m.d.sync += flushing.eq(0)
        for flush in self.flush:
            m.d.comb += flush.payload.eq(job.stream)

        with m.FSM(name="announcer"):
            with m.State("NEXT_JOB"):
                m.d.comb += self.jobs.ready.eq(1)
                m.d.sync += job.eq(self.jobs.payload)
                with m.If(self.jobs.valid & self.jobs.payload.flush):
                    m.next = "WAIT_FOR_FLUSH"
                with m.Elif(self.jobs.valid):
                    m.next = "ANNOUNCE"

            with m.State("ANNOUNCE"):
                # The page is announced and passed on in the same clock, or neither.
                with m.Switch(channel):
                    for number, page in enumerate(self.pages):
                        with m.Case(number):
                            m.d.comb += page.valid.eq(self.announced.ready)
                m.d.comb += [self.announced.valid.eq(accepts), self.stalled.eq(~accepts)]
                with m.If(accepts & self.announced.ready):
                    m.d.sync += [
                        job.offset.eq(next_offset),
                        job.page.eq(job.page + 1),
                        job.blocks.eq(job.blocks - 1),
                    ]
                    with m.If(job.blocks == 1):
                        m.d.sync += self.issued.eq(self.issued + 1)
                        m.next = "NEXT_JOB"

            with m.State("WAIT_FOR_FLUSH"):
                m.d.sync += asked.eq(0)
                with m.If(~flushing):
                    m.d.sync += [flushing.eq(1), waiting.eq(-1), self.flushed.payload.eq(job.tag)]
                    m.next = "FLUSH"

            with m.State("FLUSH"):
                for number, flush in enumerate(self.flush):
                    m.d.comb += flush.valid.eq(~asked[number])
                    with m.If(flush.ready):
                        m.d.sync += asked[number].eq(1)
                with m.If(asked.all()):
                    m.d.sync += self.issued.eq(self.issued + 1)
                    m.next = "NEXT_JOB"
        return m
