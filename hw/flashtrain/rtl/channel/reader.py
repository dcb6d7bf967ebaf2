"""Reads pages from a die: senses them in sets, ahead of their output."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp, DieStatus

from ..layouts import DieRead
from .die_unit import bus_ports
from .die_watch import DieTimers
from .patience import Patience
from .read_sets import ReadSets
from .read_waits import ReadWait, wait_clocks


class Reader(wiring.Component):
    """Senses one page set after the other, each while the one before it is output, if both are there.

    A run of sets is one cache read sequence:

        00h..32h 00h..30h     sense the first set
        31h                   sense the next row of the same planes, or
        00h..32h 00h..31h     sense any other set; either way output the set before meanwhile
        3Fh                   nothing more to sense: output the last set

    A set that comes alone needs the first line only. Each page takes SELECT (06h..E0h) and, tCCS later,
    DATA_OUT. Statistics need no sense, only a selection of their own (CBh..CCh); they end a run.

    While another unit programs or erases, sets are read beside that, one at a time, without a turn:

        BCh BCh..BDh          sense a set, or
        BDh                   the next row of the same planes
        BFh                   it has been output: BEh selects a page; or
        BFh BDh               and the next row of the same planes is wanted

    The reader asks the die itself whether it is ready, when its timer says that it should be. A die that
    `late_polls` such polls have found busy, one after the other, is lost.

    `bus_status` comes a clock before `bus_done`; `bus.ready` only while `bus.valid`.

    Throughput: see `DieAgent`.

    Members, beside those of `bus_ports`
    ------------------------------------
    reads : In(stream(DieRead))
    timer : Out(TimerPort)
    beside : In(1)         another unit programs or erases, and a set may be read beside
    array_works : In(1)    as far as can be told without asking
    delays : In(1)         so is this: a program waits for the data registers
    yields : In(1)         sets of more than one page are not begun beside
    reads_beside : Out(1)  a set is read beside
    suspends : Out(1)      pulse: the array has been told to
    holds : Out(1)         for it the data registers are taken: no program can start
    forgets : In(1)        if there are spare blocks: the die's block of some page may be another from now on
    keeps : Out(1)         the die's next operation must be the reader's
    lost : Out(1)          pulse, with each poll that finds the die busy although it is given up
    hurries : Out(1)       a short operation on the way to data: the bus may have nothing else to do
    sensed : Out(1)        pulse: a sense has been started
    page_output : Out(1)   pulse: a page has been output
    """

    def __init__(self, config: FmsConfig, patience: int):
        self.config = config
        self.patience = patience
        super().__init__({
            **bus_ports(config),
            "reads": In(stream.Signature(DieRead(config))),
            "timer": DieTimers(config).members["read"],
            "beside": In(1),
            "array_works": In(1),
            "delays": In(1),
            "yields": In(1),
            **({"forgets": In(1)} if config.geometry.spare_blocks else {}),
            "reads_beside": Out(1),
            "suspends": Out(1),
            "holds": Out(1),
            "keeps": Out(1),
            "lost": Out(1),
            "hurries": Out(1),
            "sensed": Out(1),
            "page_output": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.sets = sets = ReadSets(self.config, self.patience)
        m.submodules.patience = patience = Patience(self.config.late_polls)
        wiring.connect(m, wiring.flipped(self.reads), sets.reads)
        m.d.comb += self.lost.eq(patience.over)

        # The set to be output has been sensed by a cache command, or will be handed out by one.
        cached = Signal()
        beside = Signal()  # the set is read beside something, or was the last one
        renews = Signal()  # its end is the beginning of the next
        naming = Signal()  # some of its pages have been named
        sequential = Signal()  # the next set is the next row of the blocks that the die knows
        statistics = Signal()  # the read to be sensed
        there = Signal()  # so says the status
        request = self.bus.payload
        m.d.comb += [
            statistics.eq(sets.of_statistics),
            self.turn.wants.eq(
                (sets.waiting & (~self.beside | statistics)) | (self.reads.valid & ~self.beside)
            ),
            *(request[field].eq(sets.read[field]) for field in ("zone", "row", "plane", "tag", "page")),
        ]
        wanted = Mux(beside, DieStatus.BESIDE.value, DieStatus.RDY.value)
        m.d.sync += there.eq((self.bus_status & wanted) != 0)
        waits = wait_clocks(self.config.timing)

        def wait(what: ReadWait) -> None:
            m.d.comb += [self.timer.start.eq(1), self.timer.clocks.eq(waits[what])]

        def sensing() -> None:
            m.d.comb += self.sensed.eq(1)
            m.next = "WAIT"
            with m.If(beside):
                m.d.comb += self.suspends.eq(1)
                m.d.sync += self.holds.eq(1)
                with m.If(~self.array_works):
                    wait(ReadWait.SENSE)
                with m.Elif(self.timer.running):
                    wait(ReadWait.BESIDE_NEXT)
                with m.Else():
                    wait(ReadWait.BESIDE)
            with m.Elif(cached):
                wait(ReadWait.CACHE)
            with m.Else():
                wait(ReadWait.SENSE)

        goes_later = Signal()  # the next set; right when it is complete
        m.d.sync += goes_later.eq(sets.several & self.yields)
        # A clock late.
        sensible, renewable = Signal(), Signal()
        # When the array may be idle the watch is to see it so, between the end of a set and the next sense.
        m.d.sync += [
            sensible.eq(sets.complete & ~statistics & ~goes_later),
            renewable.eq(
                sets.complete & ~statistics & ~goes_later & sets.sequential & self.beside & self.array_works
            ),
        ]
        may_begin, may_renew = self.beside & sensible, renewable
        known = Signal()  # the die knows the blocks: nothing has been moved since they were named
        m.d.comb += sequential.eq(sets.sequential)
        if self.config.geometry.spare_blocks:
            m.d.comb += sequential.eq(sets.sequential & known)
            may_renew = renewable & known
        with m.FSM(name="reader") as fsm:
            with m.State("NOTHING"):
                m.d.sync += cached.eq(0)
                with m.If(self.turn.go & sets.complete):
                    m.d.comb += [sets.take.eq(1), self.turn.started.eq(1)]
                    m.d.sync += beside.eq(0)
                    m.next = "NAME_PAGE"
                    with m.If(statistics):
                        m.d.comb += sets.sense_all.eq(1)
                        m.next = "STATISTICS"
                with m.Elif(may_begin):
                    m.d.comb += sets.take.eq(1)
                    m.d.sync += beside.eq(1)
                    m.next = "NAME_PAGE"
                    with m.If(beside & sequential):
                        m.d.comb += sets.sense_all.eq(1)
                        m.next = "CONTINUE"
                    if self.config.geometry.spare_blocks:
                        m.d.sync += known.eq(1)

            with m.State("NAME_PAGE"):
                m.d.comb += [self.bus.valid.eq(beside | ~self.timer.running), self.keeps.eq(naming)]
                with m.If(beside):
                    m.d.comb += request.op.eq(Mux(sets.last, BusOp.BESIDE_LAST, BusOp.BESIDE_MORE))
                with m.Elif(cached):
                    m.d.comb += request.op.eq(Mux(sets.last, BusOp.CACHE_READ_LAST, BusOp.READ_MORE))
                with m.Else():
                    m.d.comb += request.op.eq(Mux(sets.last, BusOp.READ_LAST, BusOp.READ_MORE))
                with m.If(self.bus.ready):
                    m.next = "NAMING"

            with m.State("NAMING"):
                m.d.comb += self.keeps.eq(~sets.last)
                m.d.sync += naming.eq(~sets.last)
                with m.If(self.bus_done):
                    m.d.comb += sets.step.eq(1)
                    with m.If(sets.last):
                        sensing()
                    with m.Else():
                        m.next = "NAME_PAGE"
                        with m.If(~beside):
                            wait(ReadWait.NEXT_PLANE)

            with m.State("WAIT"):
                m.d.comb += [self.bus.valid.eq(~self.timer.running), request.op.eq(BusOp.STATUS)]
                with m.If(self.bus.ready):
                    m.next = "ASKING"

            with m.State("ASKING"):
                with m.If(self.bus_done & ~there):
                    m.d.comb += patience.tried.eq(1)
                    wait(ReadWait.AGAIN)
                    m.next = "WAIT"
                with m.Elif(self.bus_done):
                    m.d.comb += patience.rewarded.eq(1)
                    m.next = "LOOK_AHEAD"
                    with m.If(beside):
                        m.next = "SENSED"
                    with m.Elif(cached):
                        m.next = "SELECT"

            # They need no sense.
            with m.State("STATISTICS"):
                m.next = "SENSED"

            with m.State("SENSED"):
                m.d.comb += sets.mark.eq(1)
                m.next = "SELECT"

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
                m.d.comb += [
                    self.bus.valid.eq(1),
                    request.op.eq(Mux(beside, BusOp.BESIDE_NEXT, BusOp.CACHE_READ_NEXT)),
                ]
                with m.If(self.bus.ready):
                    m.next = "CONTINUING"

            with m.State("CONTINUING"):
                with m.If(self.bus_done):
                    sensing()

            with m.State("END"):
                m.d.comb += [
                    self.bus.valid.eq(1),
                    request.op.eq(Mux(beside, BusOp.BESIDE_END, BusOp.CACHE_READ_END)),
                ]
                with m.If(beside & renews):
                    m.d.comb += request.op.eq(BusOp.BESIDE_RENEW)
                with m.If(self.bus.ready):
                    m.next = "ENDING"

            with m.State("ENDING"):
                with m.If(self.bus_done & beside):
                    with m.If(self.delays):
                        wait(ReadWait.ADVANCE)
                    m.d.sync += self.holds.eq(0)
                    m.next = "NOTHING"
                    with m.If(renews):
                        m.next = "RENEWED"
                with m.Elif(self.bus_done):
                    wait(ReadWait.CACHE)
                    m.next = "WAIT"

            # For a clock nobody holds the data registers, and a program that waited for them is asked for.
            with m.State("RENEWED"):
                sensing()

            with m.State("SELECT"):
                m.d.comb += [sets.output.eq(1), self.bus.valid.eq(1), request.op.eq(BusOp.SELECT)]
                with m.If(sets.read.statistics):
                    m.d.comb += request.op.eq(BusOp.SELECT_STATISTICS)
                with m.Elif(beside):
                    m.d.comb += request.op.eq(BusOp.SELECT_BESIDE)
                with m.If(self.bus.ready):
                    m.next = "SELECTING"

            with m.State("SELECTING"):
                m.d.comb += self.keeps.eq(1)
                with m.If(self.bus_done):
                    wait(ReadWait.CHANGE_COLUMN)
                    m.next = "OUTPUT"

            with m.State("OUTPUT"):
                m.d.comb += [
                    self.keeps.eq(1),
                    sets.output.eq(1),
                    self.bus.valid.eq(~self.timer.running),
                    request.op.eq(BusOp.DATA_OUT),
                    request.from_array.eq(~sets.read.statistics),
                ]
                with m.If(self.bus.ready):
                    m.d.comb += sets.remove.eq(1)
                    m.next = "OUTPUTTING"

            with m.State("OUTPUTTING"):
                with m.If(self.bus_done):
                    m.d.comb += self.page_output.eq(1)
                    with m.If(~sets.emptied):
                        m.next = "SELECT"
                    with m.Elif(beside):
                        m.d.sync += renews.eq(may_renew)
                        m.next = "END"
                        with m.If(may_renew):
                            m.d.comb += [sets.take.eq(1), sets.sense_all.eq(1)]
                    with m.Elif(sets.sensed):
                        m.next = "LOOK_AHEAD"
                    with m.Else():
                        m.next = "NOTHING"

        if self.config.geometry.spare_blocks:
            with m.If(self.forgets):
                m.d.sync += known.eq(0)
        m.d.comb += [
            self.turn.busy.eq(~fsm.ongoing("NOTHING")),
            self.reads_beside.eq(self.turn.busy & beside),
            self.hurries.eq(
                Cat(fsm.ongoing(state) for state in ("NAME_PAGE", "CONTINUE", "WAIT", "END")).any()
            ),
        ]
        return m
