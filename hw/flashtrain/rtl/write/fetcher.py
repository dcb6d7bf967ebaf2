"""Fetches announced pages from the tensor buffer and hands them to their channels."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..axi import ReadPort
from ..bursts import PageBursts
from ..layouts import PageEvent
from ..queue import Queue
from .announcer import Announced

PAGES_UNDER_WAY = 8  # enough to cover 250 clocks of memory latency on the widest port


class PageFetcher(wiring.Component):
    """Fetches announced pages over AXI and broadcasts their beats to the channels.

    Channels take beats without back-pressure: their place is reserved.

    Latency: 1 clock from an announcement to its burst, 1 clock from a beat to the channel. Throughput: one
    beat per clock, with `PAGES_UNDER_WAY` pages outstanding.

    Members
    -------
    announced : In(stream(Announced))
    axi : Out(ReadPort)
    data_valid : Out(channels)   one-hot: the channel that `data` is for
    data : Out(16 * channels)
    arrived : Out(stream(PageEvent))  a page is in SRAM; failed if the tensor buffer has refused any of it
    busy : Out(1)                a beat moves
    starved : Out(1)             a beat is awaited from the tensor buffer
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        bits = 8 * config.data_bytes
        super().__init__({
            "announced": In(stream.Signature(Announced(config))),
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

        # Every announced page goes two ways: to the bursts that fetch it, and to the route of their beats.
        m.submodules.requests = requests = Queue(config.page_address_bits, PAGES_UNDER_WAY)
        m.submodules.routes = routes = Queue(Announced(config), PAGES_UNDER_WAY)
        both = Signal()
        m.d.comb += [
            both.eq(requests.input.ready & routes.input.ready),
            self.announced.ready.eq(both),
            requests.input.valid.eq(self.announced.valid & both),
            requests.input.payload.eq(self.announced.payload.page),
            routes.input.valid.eq(self.announced.valid & both),
            routes.input.payload.eq(self.announced.payload),
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
