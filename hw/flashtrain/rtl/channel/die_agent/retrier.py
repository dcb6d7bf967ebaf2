"""Reads pages once more, at another level."""

from functools import partial

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import PageRetry
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp

from .ready_poller import Pause, Work
from .unit_scheduler import bus_operation, unit_ports


class Retrier(wiring.Component):
    """One page at a time, in an idle array: EFh with its level, 00h..30h, output, EFh with level 0.

    So every other unit finds the die at level 0, and the array is idle at each change of the level.

    Throughput: besides its data a page takes tR, tCCS, twice tFEAT and tADL, three status bytes, and 18 other
    cycles.

    Members, in addition to those of `unit_ports`
    ---------------------------------------------
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
            self.schedule.request.eq(self.retries.valid),
            *(request[name].eq(retry.source[name]) for name in ("zone", "page", "plane")),
            request.level.eq(Mux(output, 0, retry.source.level)),
            request.tag.eq(retry.tag),
            request.buffer_block.eq(retry.buffer_block),
            request.from_array.eq(1),
        ]

        operation = partial(bus_operation, m, self)

        def begin(work: Work, following: str) -> None:
            m.d.comb += [self.poller.start.eq(1), self.poller.work.eq(work)]
            m.next = following

        with m.FSM(name="retrier") as fsm:
            with m.State("IDLE"):
                m.d.sync += output.eq(0)
                with m.If(self.schedule.grant & self.retries.valid):
                    m.d.comb += self.schedule.started.eq(1)
                    m.next = "SET_LEVEL"

            operation("SET_LEVEL", BusOp.SET_READ_LEVEL, lambda: begin(Work.FEATURE, "LEVEL_BUSY"))

            with m.State("LEVEL_BUSY"):
                with m.If(self.poller.ready):
                    m.next = "PAGE_ADDRESS"
                    with m.If(output):
                        m.next = "IDLE"

            def senses() -> None:
                m.d.comb += self.sensed.eq(1)
                begin(Work.LONE_SENSE, "SENSING")

            operation("PAGE_ADDRESS", BusOp.READ_LAST, senses)

            with m.State("SENSING"):
                with m.If(self.poller.ready):
                    m.next = "SELECT"

            def selected() -> None:
                m.d.comb += self.poller.pause.eq(Pause.CHANGE_COLUMN)
                m.next = "OUTPUT"

            operation("SELECT", BusOp.SELECT, selected)

            def level_back() -> None:
                m.d.comb += self.page_output.eq(1)
                m.d.sync += output.eq(1)
                m.next = "SET_LEVEL"

            operation("OUTPUT", BusOp.DATA_OUT, level_back)

        # Once the page has been requested, the place of the retry is free for the next one.
        with m.If(fsm.ongoing("OUTPUT")):
            m.d.comb += self.retries.ready.eq(self.bus.valid & self.bus.ready)
        m.d.comb += self.schedule.busy.eq(~fsm.ongoing("IDLE"))
        return m
