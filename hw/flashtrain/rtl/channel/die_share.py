"""Two who talk to the same die."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..layouts import BusRequest
from .countdown import Countdown


class DieShare(wiring.Component):
    """Passes on the bus operations of the unit whose turn it is, and of the reader, one at a time.

    If both want one they take turns, unless the reader's hurries. Between an operation of one and that of the
    other the die is left alone for tWB, because the first may have made it busy; each looks after that itself
    between its own.

    Latency: 1 clock, and tWB if it is the other's turn; 1 clock from the end of an operation to its owner.
    The other die has the bus meanwhile.

    Members
    -------
    unit, reader : In(stream(BusRequest))
    unit_done, reader_done : Out(1)   the operation is over
    keeps : In(1)     the next one must be of the same; said 2 clocks before the operation is over
    hurries : In(1)   the reader's goes first
    bus : Out(stream(BusRequest)), bus_done : In(1)   while one is under way
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "unit": In(stream.Signature(BusRequest(config))),
            "reader": In(stream.Signature(BusRequest(config))),
            "unit_done": Out(1),
            "reader_done": Out(1),
            "keeps": In(1),
            "hurries": In(1),
            "bus": Out(stream.Signature(BusRequest(config))),
            "bus_done": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        twb = self.config.timing.clocks("twb")
        m.submodules.apart = apart = Countdown(twb)  # until the other may have its turn
        reads = Signal()  # whose operation it is, or was
        mine, others, unit_wants = Signal(), Signal(), Signal()
        unit_payload = Signal.like(self.unit.payload)  # a clock late: it comes a long way
        keeps = Signal()  # a clock late, too: it is known as soon as an operation begins
        m.d.sync += [unit_payload.eq(self.unit.payload), keeps.eq(self.keeps)]
        m.d.comb += [
            unit_wants.eq(self.unit.valid & ~(self.hurries & self.reader.valid & ~keeps)),
            mine.eq(Mux(reads, self.reader.valid, unit_wants)),
            others.eq(Mux(reads, unit_wants, self.reader.valid) & ~keeps),
            self.bus.payload.eq(Mux(reads, self.reader.payload, unit_payload)),
        ]
        with m.FSM(name="share"):
            with m.State("CHOOSE"):
                with m.If(others & ~apart.running):
                    m.d.sync += reads.eq(~reads)
                    m.next = "OFFER"
                with m.Elif(mine & ~others):
                    m.next = "OFFER"
            with m.State("OFFER"):
                m.d.comb += [
                    self.bus.valid.eq(1),
                    self.unit.ready.eq(self.bus.ready & ~reads),
                    self.reader.ready.eq(self.bus.ready & reads),
                ]
                with m.If(self.bus.ready):
                    m.next = "OPERATION"
            with m.State("OPERATION"):
                m.d.comb += apart.held.eq(1)
                with m.If(self.unit_done | self.reader_done):
                    m.next = "CHOOSE"
        m.d.sync += [
            self.unit_done.eq(self.bus_done & ~reads),
            self.reader_done.eq(self.bus_done & reads),
        ]
        return m
