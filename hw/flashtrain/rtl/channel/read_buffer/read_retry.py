"""Retries of uncorrectable pages: a queue back to their dies."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import DieRead, PageRetry
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import FmsConfig
from flashtrain.spec.ecc import PageCode
from flashtrain.spec.geometry import bits_for

from .page_corrector import pages_corrected_at_once


def pages_under_way(config: FmsConfig, code: PageCode) -> int:
    """The most pages between the queues of reads and their last verdict, if none is retried.

    These are the sets of the readers, a page that waits for the bus, and the pages in correction.
    """
    return config.geometry.dies * (2 * config.geometry.planes + 1) + pages_corrected_at_once(config, code)


class ReadRetry(wiring.Component):
    """A queue of retries that is never full.

    A page reserves a place in the queue until its last verdict. Reads without a place wait in front of their
    readers. So no verdict waits for a die, and the dies, which wait for verdicts, cannot deadlock. Without
    retries no read waits here.

    The retries leave in order: the first one waits for its die, the others behind it.

    Latency: none for reads, 1 cycle for a retry. Throughput: one of each per cycle.

    Members
    -------
    reads : In(stream(DieRead)).array(dies)
    places : Out(stream(DieRead)).array(dies)     those with a place
    failed : In(stream(PageRetry))                a page to be read again; always ready
    settled : In(1)                               a page from an array has its last verdict
    retries : Out(stream(PageRetry)).array(dies)
    busy : Out(1)                                 a retry is queued
    """

    def __init__(self, config: FmsConfig, code: PageCode):
        self.config = config
        dies = config.geometry.dies
        self.least_pages = pages_under_way(config, code)
        # `gate` is registered, so each die may take one more place in two more cycles.
        self.depth = self.least_pages + 2 * dies
        super().__init__({
            "reads": In(stream.Signature(DieRead(config))).array(dies),
            "places": Out(stream.Signature(DieRead(config))).array(dies),
            "failed": In(stream.Signature(PageRetry(config))),
            "settled": In(1),
            "retries": Out(stream.Signature(PageRetry(config))).array(dies),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = Queue(PageRetry(self.config), self.depth)
        first = queue.output
        m.d.comb += [
            queue.input.valid.eq(self.failed.valid),
            queue.input.payload.eq(self.failed.payload),
            self.failed.ready.eq(1),
            self.busy.eq(first.valid),
        ]
        for die, retries in enumerate(self.retries):
            chosen = first.payload.source.die == die
            m.d.comb += [retries.valid.eq(first.valid & chosen), retries.payload.eq(first.payload)]
            with m.If(chosen):
                m.d.comb += first.ready.eq(retries.ready)

        pages = Signal(bits_for(self.depth + 1))
        taken = Signal(len(self.reads))
        m.d.sync += pages.eq(pages + sum(taken) - self.settled)
        for die, (reads, places) in enumerate(zip(self.reads, self.places, strict=True)):
            gate = Signal(init=1, name=f"gate_{die}")
            offered = reads.valid & gate
            m.d.comb += [
                places.valid.eq(offered),
                places.payload.eq(reads.payload),
                reads.ready.eq(places.ready & gate),
                taken[die].eq(offered & places.ready & ~reads.payload.statistics),
            ]
            with m.If(~offered | places.ready):
                m.d.sync += gate.eq(pages < self.least_pages)
        return m
