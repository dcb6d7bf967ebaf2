"""Reads pages from a die: senses them in sets, ahead of their output."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import DieRead, PagePart, parted
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.timer import Timer
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import (
    RESUME_ERASE,
    RESUME_PROGRAM,
    SELECT_SENSED,
    SEQUENCES,
    SUSPEND_ERASE,
    SUSPEND_PROGRAM,
    BusOp,
    DieStatus,
)
from flashtrain.spec.timing import ns

from .read_sets import ReadSets
from .ready_line import ReadyLine, line_ports, shown_cycles
from .ready_poller import PollLimit
from .unit_scheduler import bus_ports


class ReadWait(enum.Enum, shape=4):
    """The waits of a reader."""

    NEXT_PLANE = 0
    SENSE = 1
    CACHE = 2  # a cache command
    SUSPENDED = 3  # a suspended read that starts at once
    SUSPENDED_NEXT = 4  # one that starts within tADV of the end of the suspended read before
    ADVANCE = 5  # tADV itself
    AGAIN = 6  # the next poll after one that came too early
    CHANGE_COLUMN = 7
    SUSPEND = 8  # of a command of the maker
    RESUME = 9  # until the next one
    RETURN = 10  # from the status to the page of a sense


_WAITS = {
    ReadWait.NEXT_PLANE: ("twb", "tdbsy"),
    ReadWait.SENSE: ("twb", "tr"),
    ReadWait.CACHE: ("twb", "tcbsy"),
    ReadWait.SUSPENDED: ("tsusp", "tr"),
    ReadWait.SUSPENDED_NEXT: ("tadv", "tsusp", "tr"),
    ReadWait.ADVANCE: ("tadv",),
}

_MAKER_WAITS = {ReadWait.SUSPEND: ("twb", "tsusp"), ReadWait.RESUME: ("twb", "tres", "tadv")}


_AHEAD = (ReadWait.SENSE, ReadWait.CACHE)
"""A poll follows that may be sent ahead (`FmsConfig.status_lead`). The waits of a suspended read have no tWB
to spare."""

_POLLED = (ReadWait.SENSE, ReadWait.CACHE, ReadWait.SUSPEND)
"""A poll follows, for which R/B# is looked at."""


def _wait_cycles(config: FmsConfig) -> dict[ReadWait, int]:
    """Cycles of each wait, at least 1."""
    timing, chips = config.timing, config.chips
    waits = _WAITS | (_MAKER_WAITS if chips.has_maker_suspend else {})
    cycles = {wait: max(sum(map(timing.cycles, names)), 1) for wait, names in waits.items()}
    cycles |= {wait: max(cycles[wait] - config.status_lead, 1) for wait in _AHEAD}
    cycles[ReadWait.CHANGE_COLUMN] = config.column_change_cycles
    if config.part_bytes:
        ahead = timing.burst_start if chips.sca else 0  # as of `column_change_cycles`
        cycles[ReadWait.RETURN] = max(timing.cycles("twhr") - ahead, 1)
    if chips.ready_busy:
        cycles |= {wait: max(cycles[wait], shown_cycles(config)) for wait in _POLLED if wait in cycles}
    return cycles | {ReadWait.AGAIN: ns(500).cycles_at(timing.clock_mhz)}


def _is_sensed_ahead(config: FmsConfig) -> bool:
    """Whether a lone page is ready earlier by a cache read, though 06h and its address then select it."""
    cycles = config.timing.cycles
    shorter = SEQUENCES[BusOp.SELECT].cycles - SELECT_SENSED.cycles
    command = cycles("tca" if config.chips.sca else "twc")
    selection = shorter * command + cycles("tccs") - cycles("twhr")
    return cycles("tcbsy") + selection < cycles("tr")


class _State:
    """Registers and conditions that the phases of a read share."""

    def __init__(self) -> None:
        self.cached = Signal()  # a cache command senses the set to be output, or will move it to the output
        self.suspended = Signal()  # the set, or the one before if there is none, is a suspended read
        self.renew = Signal()  # the end of the suspended read starts the next one
        self.addressing = Signal()  # some pages of the set have been addressed, others not yet
        self.blocks_known = Signal()  # no block was remapped since the die was given addresses
        self.statistics = Signal()  # the read to be sensed is one of statistics
        self.sequential = Signal()  # the next set is the next page of the blocks that the die was given
        self.deferred = Signal()  # the next set is not begun as a suspended read; valid when it is complete
        self.can_begin = Signal()  # a suspended read may begin; a cycle late
        self.can_renew = Signal()  # a suspended read may end with the start of the next; a cycle late
        self.set_ready = Signal()  # the status says so
        self.has_failed = Signal()  # the status says so
        self.identity_due = Signal()  # of the page whose part has been output last
        self.alone = Signal()  # the set to be output is one page, which 00h and 30h have sensed


class Reader(wiring.Component):
    """Senses one page set after the other, each during the output of the one before it if both are pending.

    A run of sets is one cache read sequence:

        00h..32h 00h..30h     sense the first set
        31h                   sense the next page of the same planes, or
        00h..32h 00h..31h     sense any other set; either way output the set before meanwhile
        3Fh                   nothing more to sense: output the last set

    A lone set needs the first line only. Each page takes SELECT (06h..E0h) and, tCCS later, DATA_OUT. Where
    chips lack commands of a cache read, each set, or each that is not the next page, takes the first line.
    Statistics need no sense, only a selection of their own (CBh..CCh); they end a run.
    A part of a page takes SELECT and DATA_OUT for its bytes, then SELECT and IDENTITY_OUT for the identity. A
    suspended read outputs whole pages, as BEh has no column. With parts the first SELECT of a lone page is
    `SELECT_SENSED`, because the sense has named the column. 31h may keep the die busy as long as 30h.
    Then no run of it begins behind such a page, or with another page than the next.

    While another unit programs or erases, the reader suspends that for one set at a time, without a grant:

        BCh BCh..BDh          sense a set, or
        BDh                   the next page of the same planes
        BFh                   the set has been output (BEh selects a page), or
        BFh BDh               the same, and the next page of the same planes is requested

    A maker's pair of commands does the same in more steps, with plain reads between them:

        suspend, 70h..        until the die is ready
        00h..32h 00h..30h     sense a set, and output it
        resume

    The suspend waits for the end of a poll, and holds up the next one until the resume. The work may end just
    before it; the die then takes no notice of either command. A failure of that work would be lost with the
    read. So with FAIL in the status nothing is read: the resume follows, and the poller finds the failure.
    The next suspend comes tRES and tADV after the resume.

    The reader polls the die itself when its timer expires. A die that is busy in `late_polls` such polls
    without a ready one between them is lost. With R/B# no poll is sent before the line is high.

    `bus_status` comes a cycle before `bus_done`; `bus.ready` only with `bus.valid`.

    Throughput: see `DieAgent`.

    Members, in addition to those of `bus_ports`
    --------------------------------------------
    reads : In(stream(DieRead))
    suspendable : In(1)      another unit programs or erases, and a suspended read may begin
    array_busy : In(1)       as the ready poller predicts
    program_delayed : In(1)  predicted likewise: a program waits for the data registers
    defer_sets : In(1)       no suspended read of more than one page begins, from the next cycle on
    suspended : Out(1)       a suspended read is under way
    suspend : Out(1)         pulse: the array has got the command to suspend
    set_pages : Out          the pages of the set that it senses, a cycle after `suspend`
    registers_held : Out(1)  a suspended read occupies the data registers: no program can start
    remapped : In(1)         pulse, if there are spare blocks: a block of the die has been remapped
    lock : Out(1)            the die's next operation must be the reader's
    lost : Out(1)            pulse, with each poll past the limit that finds the die busy
    urgent : Out(1)          a short operation on the way to data, which the bus may be idle without
    sensed : Out(1)          pulse: a sense has been started
    page_output : Out(1)     pulse: a page has been output

    With suspend commands of the maker:

    erasing : In(1)          the other unit erases
    working : In(1)          the ready poller has not seen the end of that
    polling : In(1)          it polls
    yields : In(1)           with several LUNs: no such read begins

    With R/B#:

    line, alone : In(1)      see `ReadyLine`

    Parameters
    ----------
    gather_cycles : see `ReadSets`
    """

    def __init__(self, config: FmsConfig, gather_cycles: int):
        self.config = config
        self.gather_cycles = gather_cycles
        self._sets = ReadSets(config, gather_cycles)
        self._poll_limit = PollLimit(config.late_polls)
        self._by_maker = config.chips.has_maker_suspend
        self._waits = _wait_cycles(config)
        again = self._waits[ReadWait.AGAIN]
        self._line = ReadyLine(config, again) if config.chips.ready_busy else None
        self._timer = Timer(bits_for(max(self._waits.values()) + 1))
        super().__init__({
            **bus_ports(config),
            "reads": In(stream.Signature(DieRead(config))),
            "suspendable": In(1),
            "array_busy": In(1),
            "program_delayed": In(1),
            "defer_sets": In(1),
            **({"remapped": In(1)} if config.geometry.spare_blocks else {}),
            **(dict.fromkeys(("erasing", "working", "polling"), In(1)) if self._by_maker else {}),
            **({"yields": In(1)} if self._by_maker and config.chips.luns > 1 else {}),
            **line_ports(config),
            "suspended": Out(1),
            "suspend": Out(1),
            "set_pages": Out(range(config.geometry.planes + 1)),
            "registers_held": Out(1),
            "lock": Out(1),
            "lost": Out(1),
            "urgent": Out(1),
            "sensed": Out(1),
            "page_output": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.sets = sets = self._sets
        m.submodules.poll_limit = self._poll_limit
        m.submodules.timer = self._timer
        if self._line is not None:
            m.submodules.line = line = self._line
            forward(m, line, self, line_ports(self.config))
            m.d.comb += [
                line.interval.eq(self._waits[ReadWait.AGAIN]),
                line.last.eq(self._poll_limit.last),
                line.ready.eq(self._poll_limit.ready),
            ]
        wiring.connect(m, wiring.flipped(self.reads), sets.reads)
        s = _State()
        self._conditions(m, s)
        with m.FSM(name="reader") as fsm:
            self._choose_set(m, s)
            if self._by_maker:
                self._suspend_by_maker(m, s)
            self._address_pages(m, s)
            self._poll(m, s)
            self._mark_sensed(m, s)
            if self.config.chips.cache_read:
                self._look_ahead(m, s)
            self._sense_next_page(m, s)
            self._end_run(m, s)
            self._output_pages(m, s)
        if self.config.geometry.spare_blocks:
            with m.If(self.remapped):
                m.d.sync += s.blocks_known.eq(0)
        short = ["PAGE_ADDRESS", "NEXT_PAGE", "WAIT", "END"]
        if self._line is not None:
            short.append("WAIT_DUE")
        m.d.comb += [
            self.lost.eq(self._poll_limit.exceeded),
            self.set_pages.eq(sets.set_pages),
            self.schedule.busy.eq(~fsm.ongoing("IDLE")),
            self.suspended.eq(self.schedule.busy & s.suspended),
            self.urgent.eq(Cat(fsm.ongoing(state) for state in short).any()),
        ]
        return m

    def _conditions(self, m: Module, s: _State) -> None:
        """Requests to the scheduler and the bus, and the conditions that a sense depends on."""
        sets = self._sets
        wanted = Mux(s.suspended, DieStatus.SUSPENDED_READ.value, DieStatus.RDY.value)
        if self._by_maker:
            wanted = DieStatus.RDY.value
            m.d.sync += s.has_failed.eq((self.bus_status & DieStatus.FAIL.value) != 0)
        # The ready poller is to see an idle array between the end of a set and the next sense.
        senses = sets.complete & ~s.statistics & ~s.deferred
        renews = senses & sets.sequential & self.suspendable & self.array_busy
        m.d.comb += [
            s.statistics.eq(sets.of_statistics),
            s.sequential.eq(sets.sequential),
            self.schedule.request.eq(
                (sets.waiting & (~self.suspendable | s.statistics)) | (self.reads.valid & ~self.suspendable)
            ),
            *(
                self.bus.payload[field].eq(sets.read[field])
                for field in ("zone", "page", "plane", "tag", "buffer_block", *parted(self.config))
            ),
        ]
        can_sense, can_renew = Signal(), Signal()
        m.d.sync += [
            s.set_ready.eq((self.bus_status & wanted) != 0),
            s.deferred.eq(sets.several & self.defer_sets),
            can_sense.eq(senses),
            can_renew.eq(renews),
        ]
        if self._by_maker:
            can_renew = Const(0)
        begins: Value = self.suspendable
        if self._by_maker and self.config.chips.luns > 1:
            begins = self.suspendable & ~self.yields
        m.d.comb += [
            # `suspendable` may rise a cycle after `defer_sets`, when `can_sense` does not know it yet.
            s.can_begin.eq(begins & can_sense & ~s.deferred),
            s.can_renew.eq(can_renew),
        ]
        if self.config.geometry.spare_blocks:
            m.d.comb += [
                s.sequential.eq(sets.sequential & s.blocks_known),
                s.can_renew.eq(can_renew & s.blocks_known),
            ]

    def _wait(self, m: Module, wait: ReadWait) -> None:
        m.d.comb += [self._timer.port.start.eq(1), self._timer.port.cycles.eq(self._waits[wait])]

    def _by_own_commands(self, s: _State) -> Value:
        """The set is read by commands of this project beside a program or an erase."""
        return Const(0) if self._by_maker else s.suspended

    def _start_sense(self, m: Module, s: _State) -> None:
        m.d.comb += self.sensed.eq(1)
        m.next = "WAIT"
        if self._by_maker:
            m.d.comb += self.suspend.eq(s.suspended)
            self._wait(m, ReadWait.SENSE)
            with m.If(s.cached):
                self._wait(m, ReadWait.CACHE)
            return
        with m.If(s.suspended):
            m.d.comb += self.suspend.eq(1)
            m.d.sync += self.registers_held.eq(1)
            with m.If(~self.array_busy):
                self._wait(m, ReadWait.SENSE)
            with m.Elif(self._timer.port.running):
                self._wait(m, ReadWait.SUSPENDED_NEXT)
            with m.Else():
                self._wait(m, ReadWait.SUSPENDED)
        with m.Elif(s.cached):
            self._wait(m, ReadWait.CACHE)
        with m.Else():
            self._wait(m, ReadWait.SENSE)

    def _choose_set(self, m: Module, s: _State) -> None:
        sets = self._sets
        with m.State("IDLE"):
            m.d.sync += s.cached.eq(0)
            with m.If(self.schedule.grant & sets.complete):
                m.d.comb += [sets.take.eq(1), self.schedule.started.eq(1)]
                m.d.sync += s.suspended.eq(0)
                m.next = "PAGE_ADDRESS"
                with m.If(s.statistics):
                    m.d.comb += sets.sense_all.eq(1)
                    m.next = "STATISTICS"
            if self._by_maker:
                with m.Elif(s.can_begin & ~self._timer.port.running):
                    m.d.sync += [s.suspended.eq(1), self.registers_held.eq(1)]
                    m.next = "CLAIM"
            else:
                self._begin_suspended_read(m, s)

    def _begin_suspended_read(self, m: Module, s: _State) -> None:
        sets = self._sets
        with m.Elif(s.can_begin):
            m.d.comb += sets.take.eq(1)
            m.d.sync += s.suspended.eq(1)
            m.next = "PAGE_ADDRESS"
            with m.If(s.suspended & s.sequential):
                m.d.comb += sets.sense_all.eq(1)
                m.next = "NEXT_PAGE"
            if self.config.geometry.spare_blocks:
                m.d.sync += s.blocks_known.eq(1)

    def _suspend_by_maker(self, m: Module, s: _State) -> None:
        """Suspend, once no poll is under way, and take the set when the die is ready."""
        # `registers_held` is high: no poll begins, so no other unit may use the bus.
        with m.State("CLAIM"):
            with m.If(~self.working):
                m.d.sync += self.registers_held.eq(0)
                m.next = "IDLE"
            with m.Elif(~self.polling):
                m.next = "SUSPEND"

        with m.State("SUSPEND"):
            m.d.comb += [
                self.bus.valid.eq(1),
                self.bus.payload.op.eq(Mux(self.erasing, SUSPEND_ERASE, SUSPEND_PROGRAM)),
            ]
            with m.If(self.bus.ready):
                m.next = "SUSPEND_SENT"

        with m.State("SUSPEND_SENT"):
            with m.If(self.bus_done):
                self._wait(m, ReadWait.SUSPEND)
                m.next = "WAIT_SUSPENDED"

        self._request_status(m, s, "WAIT_SUSPENDED", "SUSPEND_STATUS")

        with m.State("SUSPEND_STATUS"):
            with m.If(self.bus_done & ~s.set_ready):
                m.d.comb += self._poll_limit.busy.eq(1)
                self._wait(m, ReadWait.AGAIN)
                m.next = "WAIT_SUSPENDED"
            with m.Elif(self.bus_done):
                m.d.comb += self._poll_limit.ready.eq(1)
                m.next = "TAKE"
                with m.If(s.has_failed):
                    m.next = "END"

        # The set may have grown since the suspend.
        with m.State("TAKE"):
            with m.If(self._sets.complete):
                m.d.comb += self._sets.take.eq(1)
                m.next = "PAGE_ADDRESS"

    def _address_pages(self, m: Module, s: _State) -> None:
        sets, request = self._sets, self.bus.payload
        own = self._by_own_commands(s)
        with m.State("PAGE_ADDRESS"):
            m.d.comb += [
                self.bus.valid.eq(own | ~self._timer.port.running),
                self.lock.eq(s.addressing),
            ]
            with m.If(own):
                m.d.comb += request.op.eq(
                    Mux(sets.last, BusOp.SUSPENDED_READ_LAST, BusOp.SUSPENDED_READ_MORE)
                )
            with m.Elif(s.cached):
                m.d.comb += request.op.eq(Mux(sets.last, BusOp.CACHE_READ_LAST, BusOp.READ_MORE))
            with m.Else():
                m.d.comb += request.op.eq(Mux(sets.last, BusOp.READ_LAST, BusOp.READ_MORE))
            with m.If(self.bus.ready):
                m.next = "PAGE_ADDRESS_SENT"
                if self.config.part_bytes:
                    m.d.sync += s.alone.eq(sets.last & ~s.addressing & ~s.cached & ~own)

        with m.State("PAGE_ADDRESS_SENT"):
            m.d.comb += self.lock.eq(~sets.last)
            m.d.sync += s.addressing.eq(~sets.last)
            with m.If(self.bus_done):
                m.d.comb += sets.step.eq(1)
                with m.If(sets.last):
                    self._start_sense(m, s)
                with m.Else():
                    m.next = "PAGE_ADDRESS"
                    with m.If(~own):
                        self._wait(m, ReadWait.NEXT_PLANE)

    def _poll(self, m: Module, s: _State) -> None:
        self._request_status(m, s, "WAIT", "STATUS")

        with m.State("STATUS"):
            with m.If(self.bus_done & ~s.set_ready):
                m.d.comb += self._poll_limit.busy.eq(1)
                self._wait(m, ReadWait.AGAIN)
                m.next = "WAIT"
            with m.Elif(self.bus_done):
                m.d.comb += self._poll_limit.ready.eq(1)
                m.next = "LOOK_AHEAD" if self.config.chips.cache_read else "SENSED"
                with m.If(s.suspended):
                    m.next = "SENSED"
                with m.Elif(s.cached):
                    m.next = "SELECT"

    def _request_status(self, m: Module, s: _State, state: str, following: str) -> None:
        """In `state`: a poll when the timer has expired and, with R/B#, the line allows it."""
        running = self._timer.port.running
        if (line := self._line) is not None:
            with m.State(state):
                # R/B# says nothing of a suspended read by commands of this project.
                m.d.comb += [
                    line.waits.eq(~running & ~self._by_own_commands(s)),
                    self._poll_limit.busy.eq(line.late),
                ]
                with m.If(~running & (line.due | self._by_own_commands(s))):
                    m.next = f"{state}_DUE"
            state = f"{state}_DUE"
        with m.State(state):
            m.d.comb += [self.bus.valid.eq(~running), self.bus.payload.op.eq(BusOp.STATUS)]
            with m.If(self.bus.ready):
                m.next = following

    def _mark_sensed(self, m: Module, s: _State) -> None:
        with m.State("STATISTICS"):
            m.next = "SENSED"
            if self.config.part_bytes:
                m.d.sync += s.alone.eq(0)

        with m.State("SENSED"):
            m.d.comb += self._sets.mark.eq(1)
            m.next = "SELECT"

    def _look_ahead(self, m: Module, s: _State) -> None:
        """A set is sensed and not yet output: the next one, if there is one, can be sensed meanwhile."""
        sets = self._sets
        apart = s.statistics  # from the run before
        if not self.config.chips.random_cache_read:
            apart |= ~sets.sequential
        elif self.config.part_bytes and not _is_sensed_ahead(self.config):
            apart |= s.alone | (~s.cached & ~sets.sequential)
        with m.State("LOOK_AHEAD"):
            m.d.comb += sets.mark.eq(1)
            with m.If(self.schedule.grant & sets.complete & ~apart):
                m.d.comb += [sets.take.eq(1), self.schedule.started.eq(1)]
                m.d.sync += s.cached.eq(1)
                with m.If(sets.sequential):
                    m.d.comb += sets.sense_all.eq(1)
                    m.next = "NEXT_PAGE"
                with m.Else():
                    m.next = "PAGE_ADDRESS"
            with m.Elif(~self.schedule.grant | sets.none | (sets.complete & apart)):
                with m.If(s.cached):
                    m.next = "END"
                with m.Else():
                    m.next = "SELECT"

    def _sense_next_page(self, m: Module, s: _State) -> None:
        with m.State("NEXT_PAGE"):
            m.d.comb += [
                self.bus.valid.eq(1),
                self.bus.payload.op.eq(Mux(s.suspended, BusOp.SUSPENDED_READ_NEXT, BusOp.CACHE_READ_NEXT)),
            ]
            with m.If(self.bus.ready):
                m.next = "NEXT_PAGE_SENT"
                if self.config.part_bytes:
                    m.d.sync += s.alone.eq(0)

        with m.State("NEXT_PAGE_SENT"):
            with m.If(self.bus_done):
                self._start_sense(m, s)

    def _end_run(self, m: Module, s: _State) -> None:
        request = self.bus.payload
        with m.State("END"):
            m.d.comb += [
                self.bus.valid.eq(1),
                request.op.eq(Mux(s.suspended, BusOp.SUSPENDED_READ_END, BusOp.CACHE_READ_END)),
            ]
            if self._by_maker:
                with m.If(s.suspended):
                    m.d.comb += request.op.eq(Mux(self.erasing, RESUME_ERASE, RESUME_PROGRAM))
            with m.If(s.suspended & s.renew):
                m.d.comb += request.op.eq(BusOp.SUSPENDED_READ_RENEW)
            with m.If(self.bus.ready):
                m.next = "END_SENT"

        with m.State("END_SENT"):
            with m.If(self.bus_done & s.suspended):
                with m.If(self.program_delayed):
                    self._wait(m, ReadWait.ADVANCE)
                if self._by_maker:
                    self._wait(m, ReadWait.RESUME)
                m.d.sync += self.registers_held.eq(0)
                m.next = "IDLE"
                with m.If(s.renew):
                    m.next = "RENEWED"
            with m.Elif(self.bus_done):
                self._wait(m, ReadWait.CACHE)
                m.next = "WAIT"

        # For this cycle the data registers are free, and the poller may poll for a program that needs them.
        with m.State("RENEWED"):
            self._start_sense(m, s)

    def _output_pages(self, m: Module, s: _State) -> None:
        sets, request = self._sets, self.bus.payload
        with m.State("SELECT"):
            m.d.comb += [sets.output.eq(1), self.bus.valid.eq(1), request.op.eq(BusOp.SELECT)]
            if self.config.part_bytes:
                m.d.comb += [
                    self.lock.eq(s.identity_due),
                    request.of_identity.eq(s.identity_due),
                    request.sensed.eq(s.alone & ~s.identity_due),
                ]
            with m.If(sets.read.statistics):
                m.d.comb += request.op.eq(BusOp.SELECT_STATISTICS)
            with m.Elif(self._by_own_commands(s)):
                m.d.comb += request.op.eq(BusOp.SUSPENDED_READ_SELECT)
            with m.If(self.bus.ready):
                m.next = "SELECT_SENT"

        with m.State("SELECT_SENT"):
            m.d.comb += self.lock.eq(1)
            with m.If(self.bus_done):
                self._wait(m, ReadWait.CHANGE_COLUMN)
                if self.config.part_bytes:
                    with m.If(s.alone & ~s.identity_due):
                        self._wait(m, ReadWait.RETURN)
                m.next = "DATA_OUT"

        with m.State("DATA_OUT"):
            m.d.comb += [
                self.lock.eq(1),
                sets.output.eq(1),
                self.bus.valid.eq(~self._timer.port.running),
                request.op.eq(BusOp.DATA_OUT),
                request.from_array.eq(~sets.read.statistics),
            ]
            with m.If(self.bus.ready):
                m.d.comb += sets.remove.eq(1)
                m.next = "DATA_OUT_SENT"
            if self.config.part_bytes:
                self._output_part(m, s)

        with m.State("DATA_OUT_SENT"):
            with m.If(self.bus_done):
                m.d.comb += self.page_output.eq(1)
                with m.If(~sets.emptied):
                    m.next = "SELECT"
                with m.Elif(s.suspended):
                    m.d.sync += s.renew.eq(s.can_renew)
                    m.next = "END"
                    with m.If(s.can_renew):
                        m.d.comb += [sets.take.eq(1), sets.sense_all.eq(1)]
                with m.Else():
                    m.next = "IDLE"
                    if self.config.chips.cache_read:
                        with m.If(sets.sensed):
                            m.next = "LOOK_AHEAD"
            if self.config.part_bytes:
                m.d.comb += self.lock.eq(s.identity_due)
                with m.If(self.bus_done & s.identity_due):
                    m.d.comb += self.page_output.eq(0)
                    m.next = "SELECT"

    def _output_part(self, m: Module, s: _State) -> None:
        """In DATA_OUT: a part of the page, and after another SELECT its identity."""
        sets, request = self._sets, self.bus.payload
        m.d.comb += request.moves_part.eq(PagePart.is_partial(sets.read.part) & ~self._by_own_commands(s))
        with m.If(s.identity_due):
            m.d.comb += request.op.eq(BusOp.IDENTITY_OUT)
        with m.If(self.bus.ready):
            m.d.sync += s.identity_due.eq(request.moves_part & ~s.identity_due)
            m.d.comb += sets.remove.eq(~request.moves_part | s.identity_due)
