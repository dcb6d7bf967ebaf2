"""Erases the blocks of a zone on a die."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp, DieStatus

from ..zones.erase import EraseResult
from .die_unit import bus_operation, unit_ports
from .die_watch import Pause, Work


class EraseStep(data.StructLayout):
    """The block of a zone on every plane is to be erased; or `alone`, on this plane, if there are spares."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        one = {"alone": 1, "plane": g.plane_bits} if g.spare_blocks else {}
        super().__init__({"zone": g.block_bits, **one})


class Eraser(wiring.Component):
    """One erase for each request: 60h..D1h per plane, 60h..D0h for the last.

    Members, beside those of `unit_ports`
    -------------------------------------
    erase : In(stream(EraseStep))   accepted at the end of the erase
    erased : Out(stream(EraseResult))
    ended : Out(1)      pulse: an erase is over
    failure : Out(1)    pulse: and has failed
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            **unit_ports(config),
            "erase": In(stream.Signature(EraseStep(config))),
            "erased": Out(stream.Signature(EraseResult())),
            "ended": Out(1),
            "failure": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        plane = Signal(g.plane_bits)
        last_plane = Signal()
        is_last = plane == g.planes - 1
        if g.spare_blocks:
            is_last |= self.erase.payload.alone
        m.d.comb += [
            last_plane.eq(is_last),
            self.turn.wants.eq(self.erase.valid),
            self.bus.payload.zone.eq(self.erase.payload.zone),
            self.bus.payload.plane.eq(plane),
            self.watch.work.eq(Work.ERASE),
        ]
        with m.FSM(name="eraser") as fsm:
            with m.State("NOTHING"):
                with m.If(self.turn.go & self.erase.valid):
                    m.d.comb += self.turn.started.eq(1)
                    if g.spare_blocks:
                        m.d.sync += plane.eq(Mux(self.erase.payload.alone, self.erase.payload.plane, 0))
                    m.next = "NAME_BLOCK"

            def next_plane() -> None:
                m.d.sync += plane.eq(plane + 1)  # and back to 0 after the last
                with m.If(last_plane):
                    m.d.comb += self.watch.begin.eq(1)
                    m.next = "ERASING"
                with m.Else():
                    m.d.comb += self.watch.pause.eq(Pause.NEXT_PLANE)
                    m.next = "NAME_BLOCK"

            op = Mux(last_plane, BusOp.ERASE_LAST, BusOp.ERASE_MORE)
            bus_operation(m, self, "NAME_BLOCK", op, next_plane)

            with m.State("ERASING"):
                with m.If(self.watch.over):
                    m.d.comb += self.ended.eq(1)
                    m.d.sync += self.erased.payload.failed.eq((self.bus_status & DieStatus.FAIL.value) != 0)
                    m.next = "ANSWER"

            with m.State("ANSWER"):
                m.d.comb += [self.erased.valid.eq(1), self.erase.ready.eq(self.erased.ready)]
                with m.If(self.erased.ready):
                    m.d.comb += self.failure.eq(self.erased.payload.failed)
                    m.next = "NOTHING"

        m.d.comb += self.turn.busy.eq(~fsm.ongoing("NOTHING"))
        return m
