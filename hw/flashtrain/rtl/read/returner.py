"""Brings pages from the channels' read buffers to the tensor buffer."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..arbiter import RoundRobin
from ..axi import WritePort
from ..bursts import PageBursts
from ..layouts import PageEvent, ReadHead
from ..queue import Queue
from ..register_slice import RegisterSlice

PAGES_UNDER_WAY = 8


class ReadReturner(wiring.Component):
    """Writes pages to the tensor buffer as channels have them, round robin.

    Channels are chosen ahead, so that the beats of one page follow those of the last without an idle clock.

    Latency: 2 clocks from a channel's head to its first beat, 1 from the last answer to the event.
    Throughput: one beat per clock.

    Members
    -------
    heads : In(stream(ReadHead)).array(channels)
    data_valid : In(channels), data_ready : Out(channels)  the beats of accepted heads, in their order
    data_chosen : Out(channels)   the channel whose beats come next
    data : In(16 * channels)      its beats
    axi : Out(WritePort)
    returned : Out(stream(PageEvent))  a page is in the tensor buffer
    page_read, busy : Out(1)           a page is done; a beat moves
    stall_memory, no_page : Out(1)     why none moves: the tensor buffer is not ready; no channel has a page
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels, bits = config.geometry.channels, 8 * config.data_bytes
        super().__init__({
            "heads": In(stream.Signature(ReadHead(config))).array(channels),
            "data": In(bits),
            "data_valid": In(channels),
            "data_ready": Out(channels),
            "data_chosen": Out(channels),
            "axi": Out(WritePort(address_bits=config.address_bits, data_bits=bits)),
            "returned": Out(stream.Signature(PageEvent(config))),
            "page_read": Out(1),
            "busy": Out(1),
            "stall_memory": Out(1),
            "no_page": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g, bursts = self.config, self.config.geometry, PageBursts(self.config)

        # The chosen page goes three ways: its burst's address, the route of its beats, the event at its end.
        m.submodules.bursts = requests = Queue(config.page_address_bits, 3)
        m.submodules.routes = routes = Queue(max(1, g.channel_bits), 3)
        event = data.StructLayout({"tag": config.tag_bits, "failed": 1})
        m.submodules.events = events = Queue(event, PAGES_UNDER_WAY)
        m.submodules.turn = turn = RoundRobin(g.channels)
        room = requests.input.ready & routes.input.ready & events.input.ready
        take = Signal()
        head = Signal(ReadHead(config))
        m.d.comb += [
            turn.requests.eq(Cat(item.valid for item in self.heads)),
            take.eq(room & turn.requests.any()),
            turn.advance.eq(take),
            requests.input.payload.eq(head.page),
            routes.input.payload.eq(turn.index),
            events.input.payload.tag.eq(head.tag),
            events.input.payload.failed.eq(head.failed),
        ]
        m.d.comb += [queue.input.valid.eq(take) for queue in (requests, routes, events)]
        with m.Switch(turn.index):
            for number, item in enumerate(self.heads):
                with m.Case(number):
                    m.d.comb += head.eq(item.payload)
        for number, item in enumerate(self.heads):
            m.d.comb += item.ready.eq(room & turn.chosen[number])

        burst = Signal(range(bursts.count))
        m.d.comb += [
            self.axi.aw.valid.eq(requests.output.valid),
            self.axi.aw.payload.address.eq(bursts.address(requests.output.payload, burst)),
            self.axi.aw.payload.length.eq(bursts.beats - 1),
            requests.output.ready.eq(self.axi.aw.ready & (burst == bursts.count - 1)),
        ]
        with m.If(self.axi.aw.valid & self.axi.aw.ready):
            m.d.sync += burst.eq(0 if bursts.count == 1 else burst + 1)

        route = routes.output
        beats = Signal(range(config.page_beats))
        with m.If(route.valid):
            m.d.comb += [
                self.axi.w.valid.eq(self.data_valid.bit_select(route.payload, 1)),
                self.data_ready.eq(self.axi.w.ready << route.payload),
                self.data_chosen.eq(1 << route.payload),
            ]
        m.d.comb += [
            self.axi.w.payload.data.eq(self.data),
            self.axi.w.payload.last.eq(beats % bursts.beats == bursts.beats - 1),
            self.busy.eq(self.axi.w.valid & self.axi.w.ready),
            self.stall_memory.eq(self.axi.w.valid & ~self.axi.w.ready),
            self.no_page.eq(~self.axi.w.valid),
            route.ready.eq(self.busy & (beats == config.page_beats - 1)),
            self.page_read.eq(route.ready),
        ]
        with m.If(self.busy):
            m.d.sync += beats.eq(beats + 1)

        answered = Signal(range(bursts.count))
        last_answer = answered == bursts.count - 1
        error = Signal()
        m.submodules.returned_slice = returned = RegisterSlice(PageEvent(config))
        wiring.connect(m, returned.output, wiring.flipped(self.returned))
        m.d.comb += [
            returned.input.valid.eq(self.axi.b.valid & last_answer),
            returned.input.payload.tag.eq(events.output.payload.tag),
            returned.input.payload.failed.eq(events.output.payload.failed | error | self.axi.b.payload.error),
            self.axi.b.ready.eq(returned.input.ready | ~last_answer),
            events.output.ready.eq(returned.input.valid & returned.input.ready),
        ]
        with m.If(self.axi.b.valid & self.axi.b.ready):
            m.d.sync += [
                answered.eq(0 if bursts.count == 1 else answered + 1),
                error.eq(~last_answer & (error | self.axi.b.payload.error)),
            ]
        return m
