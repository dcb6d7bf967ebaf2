"""Lookup of the pages that are read: hits of the write buffer, and queues of the others for the dies."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.channel.write_buffer.page_sets import PagePlace
from flashtrain.rtl.layouts import DieRead, ReadPage
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from .read_buffer import HitPage


class ReadLookup(wiring.Component):
    """Looks one page at a time up in the write buffer, then sends it on as a hit or queues it for its die.

    A full queue or a copy in progress stalls the pages behind it. Statistics are not looked up.

    Latency: 1 cycle and the lookup, 3 more through a die's queue. Throughput: a page per lookup and 2 cycles.

    Members
    -------
    pages : In(stream(ReadPage))
    lookup : Out(stream(PagePlace)), hit : In(1), hit_slot : In   the result, valid with `lookup.ready`
    hits : Out(stream(HitPage))      to the read buffer
    reads : Out(stream(DieRead)).array(dies)   queues of `read_queue` pages
    backlog : Out(dies)              half of the die's queue is used, or was a cycle ago
    busy : Out(1)                    a page is looked up or queued
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "pages": In(stream.Signature(ReadPage(config))),
            "lookup": Out(stream.Signature(PagePlace(config))),
            "hit": In(1),
            "hit_slot": In(bits_for(config.write_sets)),
            "hits": Out(stream.Signature(HitPage(config))),
            "reads": Out(stream.Signature(DieRead(config))).array(config.geometry.dies),
            "backlog": Out(config.geometry.dies),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        page, slot = Signal(ReadPage(self.config)), Signal.like(self.hit_slot)

        enters = Signal(self.config.geometry.dies)  # the page was missed a cycle ago
        room = Signal(self.config.geometry.dies)  # in a queue, a cycle ago; the lookup alone fills it
        for die, reads in enumerate(self.reads):
            m.submodules[f"queue{die}"] = queue = Queue(DieRead(self.config), self.config.read_queue)
            connect(m, queue.output, flipped(reads))
            for field in queue.layout.members:
                m.d.comb += queue.input.payload[field].eq(page[field])
            m.d.sync += [
                self.backlog[die].eq(queue.level >= self.config.read_queue // 2),
                room[die].eq(queue.input.ready & ~enters[die]),
                enters[die].eq(0),
            ]
            m.d.comb += queue.input.valid.eq(enters[die])
        for field in ("zone", "page", "die", "plane"):
            m.d.comb += self.lookup.payload[field].eq(page[field])
        m.d.comb += [
            self.hits.payload.place.slot.eq(slot),
            self.hits.payload.place.plane.eq(page.plane),
            self.hits.payload.target.tag.eq(page.tag),
            self.hits.payload.target.buffer_block.eq(page.buffer_block),
        ]
        if self.config.part_bytes:
            m.d.comb += self.hits.payload.target.part.eq(page.part)

        with m.FSM(name="read_lookup") as fsm:
            with m.State("IDLE"):
                m.d.comb += self.pages.ready.eq(1)
                m.d.sync += page.eq(self.pages.payload)
                with m.If(self.pages.valid):
                    m.next = "LOOKUP"
                    with m.If(self.pages.payload.statistics):
                        m.next = "MISS"

            with m.State("LOOKUP"):
                m.d.comb += self.lookup.valid.eq(1)
                m.d.sync += slot.eq(self.hit_slot)
                with m.If(self.lookup.ready & self.hit):
                    m.next = "HIT"
                with m.Elif(self.lookup.ready):
                    m.next = "MISS"

            with m.State("HIT"):
                m.d.comb += self.hits.valid.eq(1)
                with m.If(self.hits.ready):
                    m.next = "IDLE"

            with m.State("MISS"):
                for die in range(self.config.geometry.dies):
                    with m.If((page.die == die) & room[die]):
                        m.d.sync += enters[die].eq(1)
                        m.next = "IDLE"
        queued = Signal()
        m.d.comb += [
            queued.eq((sum(reads.valid for reads in self.reads) != 0) | enters.any()),
            self.busy.eq(queued | ~fsm.ongoing("IDLE")),
        ]
        return m
