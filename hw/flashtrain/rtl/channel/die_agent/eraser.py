"""Erases the blocks of a zone on a die."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.zones.erase_broadcast import EraseResult
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp, DieStatus

from .ready_poller import Pause, Work
from .unit_scheduler import bus_operation, unit_ports


class EraseStep(data.StructLayout):
    """An erase of the block of a zone on every plane; or `alone`, on this plane, if there are spares."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        one = {"alone": 1, "plane": g.plane_bits} if g.spare_blocks else {}
        super().__init__({"zone": g.block_bits, **one})


class Eraser(wiring.Component):
    """One erase for each request: 60h..D1h per plane, 60h..D0h for the last.

    Members, in addition to those of `unit_ports`
    ---------------------------------------------
    erase : In(stream(EraseStep))   accepted at the end of the erase
    erased : Out(stream(EraseResult))
    ended : Out(1)      pulse: an erase has ended
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
            self.schedule.request.eq(self.erase.valid),
            self.bus.payload.zone.eq(self.erase.payload.zone),
            self.bus.payload.plane.eq(plane),
            self.poller.work.eq(Work.ERASE),
        ]
        with m.FSM(name="eraser") as fsm:
            with m.State("IDLE"):
                with m.If(self.schedule.grant & self.erase.valid):
                    m.d.comb += self.schedule.started.eq(1)
                    if g.spare_blocks:
                        m.d.sync += plane.eq(Mux(self.erase.payload.alone, self.erase.payload.plane, 0))
                    m.next = "BLOCK_ADDRESS"

            def next_plane() -> None:
                m.d.sync += plane.eq(plane + 1)  # and back to 0 after the last
                with m.If(last_plane):
                    m.d.comb += self.poller.start.eq(1)
                    m.next = "ARRAY_BUSY"
                with m.Else():
                    m.d.comb += self.poller.pause.eq(Pause.NEXT_PLANE)
                    m.next = "BLOCK_ADDRESS"

            op = Mux(last_plane, BusOp.ERASE_LAST, BusOp.ERASE_MORE)
            bus_operation(m, self, "BLOCK_ADDRESS", op, next_plane)

            with m.State("ARRAY_BUSY"):
                with m.If(self.poller.ready):
                    m.d.comb += self.ended.eq(1)
                    m.d.sync += self.erased.payload.failed.eq((self.bus_status & DieStatus.FAIL.value) != 0)
                    m.next = "ANSWER"

            with m.State("ANSWER"):
                m.d.comb += [self.erased.valid.eq(1), self.erase.ready.eq(self.erased.ready)]
                with m.If(self.erased.ready):
                    m.d.comb += self.failure.eq(self.erased.payload.failed)
                    m.next = "IDLE"

        m.d.comb += self.schedule.busy.eq(~fsm.ongoing("IDLE"))
        return m
