"""Reads pages from a die: senses them in sets, ahead of their output."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp

from ..layouts import DieRead
from .die_unit import unit_ports
from .die_watch import Pause, Work
from .read_sets import ReadSets


class Reader(wiring.Component):
    """Senses one page set after the other, each while the one before it is output, if both are there.

    A run of sets is one cache read sequence:

        00h..32h 00h..30h     sense the first set
        31h                   sense the next row of the same planes, or
        00h..32h 00h..31h     sense any other set; either way output the set before meanwhile
        3Fh                   nothing more to sense: output the last set

    A set that comes alone needs the first line only. Each page takes SELECT (06h..E0h) and, tCCS later,
    DATA_OUT. Statistics need no sense, only a selection of their own (CBh..CCh); they end a run.

    Throughput: see `DieAgent`.

    Members, beside those of `unit_ports`
    -------------------------------------
    reads : In(stream(DieRead))
    sensed : Out(1)        pulse: a sense has been started
    page_output : Out(1)   pulse: a page has been output
    """

    def __init__(self, config: FmsConfig, patience: int):
        self.config = config
        self.patience = patience
        super().__init__({
            **unit_ports(config),
            "reads": In(stream.Signature(DieRead(config))),
            "sensed": Out(1),
            "page_output": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.sets = sets = ReadSets(self.config, self.patience)
        wiring.connect(m, wiring.flipped(self.reads), sets.reads)

        cached = (
            Signal()
        )  # the set to be output has been sensed by a cache command, or will be handed out by one
        statistics = Signal()  # the read that `sets` shows
        request = self.bus.payload
        m.d.comb += [
            self.turn.wants.eq(sets.waiting | self.reads.valid),
            statistics.eq(sets.read.statistics),
            *(request[field].eq(sets.read[field]) for field in ("zone", "row", "plane", "tag", "page")),
        ]

        with m.FSM(name="reader") as fsm:
            with m.State("NOTHING"):
                m.d.sync += cached.eq(0)
                with m.If(self.turn.go & sets.complete):
                    m.d.comb += [sets.take.eq(1), self.turn.started.eq(1)]
                    m.next = "NAME_PAGE"
                    with m.If(statistics):
                        m.d.comb += sets.sense_all.eq(1)
                        m.next = "STATISTICS"

            with m.State("STATISTICS"):
                m.d.comb += sets.mark.eq(1)
                m.next = "SELECT"

            with m.State("NAME_PAGE"):
                m.d.comb += [
                    self.bus.valid.eq(~self.watch.paused),
                    request.op.eq(
                        Mux(sets.last, Mux(cached, BusOp.CACHE_READ_LAST, BusOp.READ_LAST), BusOp.READ_MORE)
                    ),
                ]
                with m.If(self.bus.valid & self.bus.ready):
                    m.next = "NAMING"

            with m.State("NAMING"):
                with m.If(self.bus_done):
                    m.d.comb += sets.step.eq(1)
                    with m.If(sets.last):
                        m.d.comb += [
                            self.sensed.eq(1),
                            self.watch.begin.eq(1),
                            self.watch.work.eq(Mux(cached, Work.CACHE_SENSE, Work.SENSE)),
                        ]
                        m.next = "WAIT"
                    with m.Else():
                        m.d.comb += self.watch.pause.eq(Pause.NEXT_PLANE)
                        m.next = "NAME_PAGE"

            with m.State("WAIT"):
                with m.If(self.watch.over):
                    with m.If(cached):
                        m.next = "SELECT"
                    with m.Else():
                        m.next = "LOOK_AHEAD"

            # One set is sensed and not yet output: is there another to sense meanwhile?
            with m.State("LOOK_AHEAD"):
                m.d.comb += sets.mark.eq(1)
                with m.If(self.turn.go & sets.complete & ~statistics):
                    m.d.comb += [sets.take.eq(1), self.turn.started.eq(1)]
                    m.d.sync += cached.eq(1)
                    with m.If(sets.sequential):
                        m.d.comb += sets.sense_all.eq(1)
                        m.next = "CONTINUE"
                    with m.Else():
                        m.next = "NAME_PAGE"
                with m.Elif(~self.turn.go | sets.none | (sets.complete & statistics)):
                    with m.If(cached):
                        m.next = "END"
                    with m.Else():
                        m.next = "SELECT"

            with m.State("CONTINUE"):
                m.d.comb += [self.bus.valid.eq(1), request.op.eq(BusOp.CACHE_READ_NEXT)]
                with m.If(self.bus.ready):
                    m.next = "CONTINUING"

            with m.State("CONTINUING"):
                m.d.comb += self.watch.work.eq(Work.CACHE_SENSE)
                with m.If(self.bus_done):
                    m.d.comb += [self.sensed.eq(1), self.watch.begin.eq(1)]
                    m.next = "WAIT"

            with m.State("END"):
                m.d.comb += [self.bus.valid.eq(1), request.op.eq(BusOp.CACHE_READ_END)]
                with m.If(self.bus.ready):
                    m.next = "STOPPING"

            with m.State("STOPPING"):
                m.d.comb += self.watch.work.eq(Work.CACHE_END)
                with m.If(self.bus_done):
                    m.d.comb += self.watch.begin.eq(1)
                    m.next = "WAIT"

            with m.State("SELECT"):
                m.d.comb += [
                    sets.output.eq(1),
                    self.bus.valid.eq(1),
                    request.op.eq(Mux(statistics, BusOp.SELECT_STATISTICS, BusOp.SELECT)),
                ]
                with m.If(self.bus.ready):
                    m.next = "SELECTING"

            with m.State("SELECTING"):
                with m.If(self.bus_done):
                    m.d.comb += self.watch.pause.eq(Pause.CHANGE_COLUMN)
                    m.next = "OUTPUT"

            with m.State("OUTPUT"):
                m.d.comb += [
                    sets.output.eq(1),
                    self.bus.valid.eq(~self.watch.paused),
                    request.op.eq(BusOp.DATA_OUT),
                ]
                with m.If(self.bus.valid & self.bus.ready):
                    m.d.comb += sets.remove.eq(1)
                    m.next = "OUTPUTTING"

            with m.State("OUTPUTTING"):
                with m.If(self.bus_done):
                    m.d.comb += self.page_output.eq(1)
                    with m.If(~sets.emptied):
                        m.next = "SELECT"
                    with m.Elif(sets.sensed):
                        m.next = "LOOK_AHEAD"
                    with m.Else():
                        m.next = "NOTHING"

        m.d.comb += self.turn.busy.eq(~fsm.ongoing("NOTHING"))
        return m
