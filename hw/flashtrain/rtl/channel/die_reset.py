"""Resets a die once, before anything else is done with it."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp

from .die_unit import unit_ports
from .die_watch import Work


class DieReset(wiring.Component):
    """Sends FFh, waits for tRST and for RDY.

    Before a reset of the controller the die may have been told anything, a clock ago: it is left alone for as
    long as any command or data asks for (tWB, tRHW, tCHZ).

    Members, beside those of `unit_ports`
    -------------------------------------
    ready : Out(1)   the die has been reset
    """

    def __init__(self, config: FmsConfig):
        self.quiet = max(config.timing.clocks(name) for name in ("twb", "trhw", "tchz"))
        super().__init__({**unit_ports(config), "ready": Out(1)})

    def elaborate(self, platform):
        m = Module()
        waited = Signal(range(self.quiet))
        m.d.comb += [
            self.turn.wants.eq(~self.ready),
            self.turn.busy.eq(~self.ready),
            self.bus.payload.op.eq(BusOp.RESET),
            self.watch.work.eq(Work.RESET),
        ]
        with m.FSM(name="reset"):
            with m.State("QUIET"):
                m.d.sync += waited.eq(waited + 1)
                with m.If(waited == self.quiet - 1):
                    m.next = "SEND"
            with m.State("SEND"):
                m.d.comb += self.bus.valid.eq(1)
                with m.If(self.bus.ready):
                    m.next = "SENDING"
            with m.State("SENDING"):
                with m.If(self.bus_done):
                    m.d.comb += self.watch.begin.eq(1)
                    m.next = "RESETTING"
            with m.State("RESETTING"):
                with m.If(self.watch.over):
                    m.next = "READY"
            with m.State("READY"):
                m.d.comb += self.ready.eq(1)
        return m
