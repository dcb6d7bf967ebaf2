"""Splits read jobs into pages and asks the channels for them."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..layouts import SEQUENCE_BITS, ReadJob, ReadPage


class ReadSplitter(wiring.Component):
    """Asks the channels for the pages of read jobs, in order.

    Statistics are asked of the channels in turn, then of the next die.

    A job waits until the write jobs that it must see are announced to the channels; from then on each channel
    finds their pages in its write buffer.

    Latency: 2 clocks from job to first page. Throughput: one page per clock, one idle clock between jobs.

    Members
    -------
    jobs : In(stream(ReadJob))
    issued : In(SEQUENCE_BITS)   write jobs announced completely
    pages : Out(stream(ReadPage)).array(channels)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "jobs": In(stream.Signature(ReadJob(config))),
            "issued": In(SEQUENCE_BITS),
            "pages": Out(stream.Signature(ReadPage(config))).array(config.geometry.channels),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        job = Signal(ReadJob(self.config))
        channel = job.offset[: g.channel_bits]
        plane, die, row = (Signal(bits) for bits in (g.plane_bits, g.die_bits, g.row_bits))
        m.d.comb += Cat(plane, die, row).eq(job.offset[g.channel_bits :])
        with m.If(job.statistics):
            m.d.comb += [Cat(die, row).eq(job.offset[g.channel_bits :]), plane.eq(0)]
        # Both numbers wrap: the sign of their difference tells which is ahead.
        behind = (self.issued - job.after)[SEQUENCE_BITS - 1]

        accepted = Signal()
        for page in self.pages:
            m.d.comb += [
                page.payload.zone.eq(job.zone),
                page.payload.row.eq(row),
                page.payload.die.eq(die),
                page.payload.plane.eq(plane),
                page.payload.statistics.eq(job.statistics),
                page.payload.tag.eq(job.tag),
                page.payload.page.eq(job.page),
            ]

        with m.FSM(name="splitter"):
            with m.State("NEXT_JOB"):
                m.d.comb += self.jobs.ready.eq(1)
                m.d.sync += job.eq(self.jobs.payload)
                with m.If(self.jobs.valid):
                    m.next = "WAIT_FOR_WRITES"
            with m.State("WAIT_FOR_WRITES"):
                with m.If(~behind):
                    m.next = "ASK"
            with m.State("ASK"):
                with m.Switch(channel):
                    for number, page in enumerate(self.pages):
                        with m.Case(number):
                            m.d.comb += [page.valid.eq(1), accepted.eq(page.ready)]
                with m.If(accepted):
                    m.d.sync += [
                        job.offset.eq(job.offset + 1),
                        job.page.eq(job.page + 1),
                        job.blocks.eq(job.blocks - 1),
                    ]
                    with m.If(job.blocks == 1):
                        m.next = "NEXT_JOB"
        return m
