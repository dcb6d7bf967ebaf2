"""Reads pages once more, at another level."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp

from ..layouts import PageRetry
from .die_unit import unit_ports
from .die_watch import Pause, Work


class Retrier(wiring.Component):
    """One page in a turn, with nothing beside it: EFh with its level, 00h..30h, output, EFh with level 0.

    So whoever has the die next finds it at level 0, and the array is idle whenever the level changes.

    Throughput: besides its data a page takes tR, tCCS, twice tFEAT and tADL, three status bytes, and 18 other
    cycles.

    Members, beside those of `unit_ports`
    -------------------------------------
    retries : In(stream(PageRetry))   accepted before the page is output
    sensed : Out(1)        pulse: the sense has been started
    page_output : Out(1)   pulse: the page has been output
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            **unit_ports(config),
            "retries": In(stream.Signature(PageRetry(config))),
            "sensed": Out(1),
            "page_output": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        retry, request = self.retries.payload, self.bus.payload
        output = Signal()  # the page has been
        m.d.comb += [
            self.turn.wants.eq(self.retries.valid),
            *(request[name].eq(retry.source[name]) for name in ("zone", "row", "plane")),
            request.level.eq(Mux(output, 0, retry.source.level)),
            request.tag.eq(retry.tag),
            request.page.eq(retry.page),
            request.from_array.eq(1),
        ]

        def operation(op: BusOp, following: str) -> None:
            m.d.comb += [self.bus.valid.eq(~self.watch.paused), request.op.eq(op)]
            with m.If(self.bus.valid & self.bus.ready):
                m.next = following

        def begin(work: Work, following: str) -> None:
            m.d.comb += [self.watch.begin.eq(1), self.watch.work.eq(work)]
            m.next = following

        with m.FSM(name="retrier") as fsm:
            with m.State("NOTHING"):
                m.d.sync += output.eq(0)
                with m.If(self.turn.go & self.retries.valid):
                    m.d.comb += self.turn.started.eq(1)
                    m.next = "LEVEL"

            with m.State("LEVEL"):
                operation(BusOp.SET_READ_LEVEL, "SENDING_LEVEL")

            with m.State("SENDING_LEVEL"):
                with m.If(self.bus_done):
                    begin(Work.FEATURE, "CHANGING")

            with m.State("CHANGING"):
                with m.If(self.watch.over):
                    m.next = "NAME_PAGE"
                    with m.If(output):
                        m.next = "NOTHING"

            with m.State("NAME_PAGE"):
                operation(BusOp.READ_LAST, "NAMING")

            with m.State("NAMING"):
                with m.If(self.bus_done):
                    m.d.comb += self.sensed.eq(1)
                    begin(Work.LONE_SENSE, "SENSING")

            with m.State("SENSING"):
                with m.If(self.watch.over):
                    m.next = "SELECT"

            with m.State("SELECT"):
                operation(BusOp.SELECT, "SELECTING")

            with m.State("SELECTING"):
                with m.If(self.bus_done):
                    m.d.comb += self.watch.pause.eq(Pause.CHANGE_COLUMN)
                    m.next = "OUTPUT"

            with m.State("OUTPUT"):
                operation(BusOp.DATA_OUT, "OUTPUTTING")
                m.d.comb += self.retries.ready.eq(self.bus.valid & self.bus.ready)

            with m.State("OUTPUTTING"):
                with m.If(self.bus_done):
                    m.d.comb += self.page_output.eq(1)
                    m.d.sync += output.eq(1)
                    m.next = "LEVEL"

        m.d.comb += self.turn.busy.eq(~fsm.ongoing("NOTHING"))
        return m
