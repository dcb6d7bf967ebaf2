"""Registers between a die's agent and the bus."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..layouts import BusRequest


class RequestSlice(wiring.Component):
    """Holds a die's request until the bus takes it; the next one is accepted when that is over.

    Cuts the way from the agent's state to the arbiter.

    Latency: 1 clock from a request to the bus.

    Members
    -------
    agent : In(stream(BusRequest))
    bus : Out(stream(BusRequest))
    bus_done : In(1)
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "agent": In(stream.Signature(BusRequest(config))),
            "bus": Out(stream.Signature(BusRequest(config))),
            "bus_done": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        under_way = Signal()
        m.d.comb += self.agent.ready.eq(~under_way)
        with m.If(~under_way):
            m.d.sync += [
                self.bus.payload.eq(self.agent.payload),
                self.bus.valid.eq(self.agent.valid),
                under_way.eq(self.agent.valid),
            ]
        with m.Elif(self.bus.ready):
            m.d.sync += self.bus.valid.eq(0)
        with m.If(self.bus_done):
            m.d.sync += under_way.eq(0)
        return m
