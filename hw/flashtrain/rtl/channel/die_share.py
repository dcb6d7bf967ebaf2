"""Two who talk to the same die."""

from amaranth import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..layouts import BusRequest
from .bus_arbiter import kind_of
from .countdown import Countdown


class DieShare(wiring.Component):
    """Passes on the bus operations of the unit whose turn it is, and of the reader, one at a time.

    If both want one they take turns, unless the reader's hurries. Between an operation of one and that of the
    other the die is left alone for tWB, because the first may have made it busy; each looks after that itself
    between its own. The request under way is in registers until the bus takes it, which cuts the way from the
    units' states to the arbiter.

    Latency: 3 clocks, and tWB if it is the other's turn; 1 clock from the end of an operation to its owner.
    The other die has the bus meanwhile.

    Members
    -------
    unit, reader : In(stream(BusRequest))
    unit_done, reader_done : Out(1)   the operation is over
    keeps : In(1)     the next one must be of the same; said 2 clocks before the operation is over
    hurries : In(1)   the reader's goes first
    bus : Out(stream(BusRequest)), bus_done : In(1)   the operation under way, until the bus has done it
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
        # All a clock late: they come a long way, and whoever asks goes on to ask.
        unit, reader, keeps, hurries = Signal(), Signal(), Signal(), Signal()
        unit_payload = Signal.like(self.unit.payload)
        reader_payload = Signal.like(self.reader.payload)  # but for the operation it comes from registers
        reader_op = Signal.like(self.reader.payload.op)
        m.d.sync += [
            unit.eq(self.unit.valid),
            reader.eq(self.reader.valid),
            keeps.eq(self.keeps),
            hurries.eq(self.hurries),
            unit_payload.eq(self.unit.payload),
            reader_op.eq(self.reader.payload.op),
        ]
        m.d.comb += [reader_payload.eq(self.reader.payload), reader_payload.op.eq(reader_op)]
        unit_goes, reader_goes = Signal(), Signal()
        with m.If(reads):
            other = unit & ~keeps & ~(reader & hurries)
            m.d.comb += [unit_goes.eq(other & ~apart.running), reader_goes.eq(reader & ~other)]
        with m.Else():
            other = reader & ~keeps
            m.d.comb += [unit_goes.eq(unit & ~other), reader_goes.eq(other & ~apart.running)]

        def accept(source: stream.Interface, payload: Value) -> None:
            m.d.comb += source.ready.eq(1)
            m.d.sync += [self.bus.payload.eq(payload), self.bus.valid.eq(1)]
            m.d.sync += [self.bus.payload.kind[name].eq(bit) for name, bit in kind_of(payload.op).items()]
            m.next = "OPERATION"

        with m.FSM(name="share"):
            with m.State("CHOOSE"):
                with m.If(unit_goes):
                    m.next = "ACCEPT_UNIT"
                with m.Elif(reader_goes):
                    m.next = "ACCEPT_READER"
            with m.State("ACCEPT_UNIT"):
                accept(self.unit, unit_payload)
                m.d.sync += reads.eq(0)
            with m.State("ACCEPT_READER"):
                accept(self.reader, reader_payload)
                m.d.sync += reads.eq(1)
            with m.State("OPERATION"):
                m.d.comb += apart.held.eq(1)
                with m.If(self.bus.ready):
                    m.d.sync += self.bus.valid.eq(0)
                with m.If(self.unit_done | self.reader_done):
                    m.next = "CHOOSE"
        m.d.sync += [
            self.unit_done.eq(self.bus_done & ~reads),
            self.reader_done.eq(self.bus_done & reads),
        ]
        return m
