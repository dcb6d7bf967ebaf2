"""Joins the bus requests of a die agent's units and of its reader to one request to the bus."""

from amaranth import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.channel.bus.bus_arbiter import kind_of
from flashtrain.rtl.layouts import BusRequest
from flashtrain.rtl.lib.timer import HoldTimer
from flashtrain.spec import FmsConfig


class RequestMux(wiring.Component):
    """Passes on the bus operations of the unit that owns the die, and of the reader, one at a time.

    If both request one they alternate, unless the reader's is urgent. Between operations of different sources
    the die is left alone for tWB, because the first may have made it busy. Between its own operations each
    source keeps tWB itself. The accepted request stays in registers until the bus takes it, which cuts the
    path from the units' states to the arbiter.

    Latency: 3 cycles, and tWB if the source changes; 1 cycle from the end of an operation to its source. The
    other die has the bus meanwhile.

    Members
    -------
    unit, reader : In(stream(BusRequest))
    unit_done, reader_done : Out(1)   pulse: the operation has ended
    lock : In(1)      the next operation has the same source; valid 2 cycles before the end of an operation
    urgent : In(1)    the reader's goes first
    bus : Out(stream(BusRequest)), bus_done : In(1)   the operation under way, until the bus has done it
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "unit": In(stream.Signature(BusRequest(config))),
            "reader": In(stream.Signature(BusRequest(config))),
            "unit_done": Out(1),
            "reader_done": Out(1),
            "lock": In(1),
            "urgent": In(1),
            "bus": Out(stream.Signature(BusRequest(config))),
            "bus_done": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.gap = gap = HoldTimer(self.config.timing.cycles("twb"))  # until the source may change
        of_reader = Signal()  # the operation under way, or the last one
        # Registered, because their paths are long; a source holds its request.
        unit, reader, lock, urgent = Signal(), Signal(), Signal(), Signal()
        unit_payload = Signal.like(self.unit.payload)
        reader_payload = Signal.like(self.reader.payload)  # its source has registers, but for the operation
        reader_op = Signal.like(self.reader.payload.op)
        m.d.sync += [
            unit.eq(self.unit.valid),
            reader.eq(self.reader.valid),
            lock.eq(self.lock),
            urgent.eq(self.urgent),
            unit_payload.eq(self.unit.payload),
            reader_op.eq(self.reader.payload.op),
        ]
        m.d.comb += [reader_payload.eq(self.reader.payload), reader_payload.op.eq(reader_op)]
        grant_unit, grant_reader = Signal(), Signal()
        with m.If(of_reader):
            other = unit & ~lock & ~(reader & urgent)
            m.d.comb += [grant_unit.eq(other & ~gap.running), grant_reader.eq(reader & ~other)]
        with m.Else():
            other = reader & ~lock
            m.d.comb += [grant_unit.eq(unit & ~other), grant_reader.eq(other & ~gap.running)]

        def accept(source: stream.Interface, payload: Value) -> None:
            m.d.comb += source.ready.eq(1)
            m.d.sync += [self.bus.payload.eq(payload), self.bus.valid.eq(1)]
            m.d.sync += [self.bus.payload.kind[name].eq(bit) for name, bit in kind_of(payload.op).items()]
            m.next = "OPERATION"

        with m.FSM(name="mux"):
            with m.State("IDLE"):
                with m.If(grant_unit):
                    m.next = "ACCEPT_UNIT"
                with m.Elif(grant_reader):
                    m.next = "ACCEPT_READER"
            with m.State("ACCEPT_UNIT"):
                accept(self.unit, unit_payload)
                m.d.sync += of_reader.eq(0)
            with m.State("ACCEPT_READER"):
                accept(self.reader, reader_payload)
                m.d.sync += of_reader.eq(1)
            with m.State("OPERATION"):
                m.d.comb += gap.held.eq(1)
                with m.If(self.bus.ready):
                    m.d.sync += self.bus.valid.eq(0)
                with m.If(self.unit_done | self.reader_done):
                    m.next = "IDLE"
        m.d.sync += [
            self.unit_done.eq(self.bus_done & ~of_reader),
            self.reader_done.eq(self.bus_done & of_reader),
        ]
        return m
