"""The NAND bus of a channel: one bus operation at a time, in cycles with ONFI's timing."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.hdl import ValueLike
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.channel.block_table import BlockLookup
from flashtrain.rtl.layouts import BufferPage, BusRequest, FillTarget, PageSource, PageTarget
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import FEATURE_PARAMETERS, BusOp, DieStatus
from flashtrain.spec.registers import ChannelCounter

from .bus_arbiter import BusArbiter, Turnaround
from .cycle_sequencer import CycleSequencer, NextPhase, Step

ANSWER_CYCLES = 64
"""Upper bound from a status request to the die's status byte: four times tDQSRE of ONFI 5.1."""

_TAKES_PAGE, _TAKES_NAMED_PAGE = "0110--", "01100-"
"""The upper bits of operations with data in, and of those whose page has its address already (`BusOp`)."""

_READY = DieStatus.RDY | DieStatus.ARDY | DieStatus.BESIDE
_FAILED = (_READY | DieStatus.FAIL | DieStatus.FAILC).value
"""The status of a die that is offline."""


class BusActivity(enum.Enum, shape=3):
    """The use of the bus in a cycle. The values are those of the `ChannelCounter`s that count it."""

    IDLE = ChannelCounter.BUS_IDLE.value
    COMMAND = ChannelCounter.BUS_COMMAND.value
    DATA_IN = ChannelCounter.BUS_DATA_IN.value
    DATA_OUT = ChannelCounter.BUS_DATA_OUT.value
    WAIT = ChannelCounter.BUS_WAIT.value


class _State:
    """Units and signals of the bus controller."""

    def __init__(self, config: FmsConfig):
        timing, dies = config.timing, config.geometry.dies
        self.page_clocks = config.bus_page_bytes // 2
        self.loaded_clocks = config.loaded_page_bytes // 2
        self.arbiter = BusArbiter(dies)
        self.turnaround = Turnaround(timing, dies, sent_cycles=2, grant_cycles=4)
        self.sequencer = CycleSequencer(
            copyback=config.geometry.spare_blocks > 0, features=config.read_levels > 0
        )

        # The operation.
        self.die = Signal.like(self.arbiter.die)
        self.offline = Signal()  # the die is
        self.request = Signal(BusRequest(config))
        self.step = Signal(Step)
        self.next_phase = Signal(NextPhase)
        self.next_step = Signal(Step)
        times = (timing.clocks(name) for name in ("twc", "tadl", "twhr"))
        self.left = Signal(range(max(self.page_clocks, self.loaded_clocks, *times)))  # cycles or beats
        self.ended = Signal()  # none is left
        self.operation_done = Signal()

        # Of each request, before the bus is granted.
        self.takes = Signal(dies)
        self.takes_named = Signal(dies)

        # Beats of the page that is filled.
        self.missing = Signal(range(self.page_clocks + 1))
        self.incomplete = Signal()
        self.pad = Signal()  # they do not come from the die

        # The pins: inputs after their registers, outputs before.
        self.dqs_i = Signal()
        self.dq_i = Signal(16)
        self.selected = Signal()
        self.cle = Signal()
        self.ale = Signal()
        self.we = Signal()
        self.dqs = Signal()
        self.re = Signal()
        self.dq = Signal(16)


class BusController(wiring.Component):
    """Performs the dies' bus operations, each whole, and owns every timing of the bus.

    A command or address cycle lasts tWC; `we` strobes in its last clock. Data in begin tADL after the
    address, or after the command if there is none. Data of a page with an earlier address begin at once. A
    status byte is requested tWHR after the last cycle.
    In both directions a page is followed by its identity, and by parity if there is a code. Pages of
    gradients and constants have the identity of the source instead of parity.
    Parameters of a feature begin tADL after its address.
    After data out dies are blocked for their turnaround (`Turnaround`).
    The waits that leave the bus free (tCCS, tDBSY, tWB, ...) are the agents'.

    A die that is offline is not selected. Its operations end at once: a status reads ready and failed, pages
    to it are dropped, and pages from it are zeros without an identity. If a die does not answer, a status
    reads busy and the missing beats of a page are zeros.

    Latency: 3 cycles from a request to its first command cycle, 2 between pending operations; one more to the
    pins and one from them. For a die that is offline an operation takes 2 cycles, and a page as long as any.
    Throughput: two bytes per cycle within a page.

    Members
    -------
    requests : In(stream(BusRequest)).array(dies)
    done : Out(1).array(dies)   pulse: the die's operation has ended
    status : Out(8)     the byte that a STATUS operation has read, valid with its `done`
    lookup : Out(BlockLookup)
    fetch : Out(stream(BufferPage))   a page of data in, requested when the operation begins
    beats : In(stream(16))   a fetched page and the bytes behind it; DQS pauses when there is none
    origin_of : Out(BufferPage), origin : In(PageTarget)   where a page of the write buffer came from
    fill : Out(stream(FillTarget))   sent before the page of DATA_OUT, granted if it was ready
    fill_valid, fill_data : Out(1), Out(16)   bus_page_bytes / 2 beats for each fill
    offline : In(dies)
    nand : Out(NandBus)
    activity : Out(BusActivity)   BUS_WAIT also while a die with a request is blocked
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        super().__init__({
            "requests": In(stream.Signature(BusRequest(config))).array(dies),
            "done": Out(1).array(dies),
            "status": Out(8),
            "lookup": Out(BlockLookup(config)),
            "fetch": Out(stream.Signature(BufferPage(config))),
            "beats": In(stream.Signature(16)),
            "origin_of": Out(BufferPage(config)),
            "origin": In(PageTarget(config)),
            "fill": Out(stream.Signature(FillTarget(config))),
            "fill_valid": Out(1),
            "fill_data": Out(16),
            "offline": In(dies),
            "nand": Out(NandBus(dies)),
            "activity": Out(BusActivity),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        s = _State(self.config)
        m.submodules.arbiter = s.arbiter
        m.submodules.turnaround = s.turnaround
        m.submodules.sequencer = s.sequencer
        self._address(m, s)
        self._choose(m, s)
        self._drive_pins(m, s)
        with m.FSM(name="bus"):
            self._grant(m, s)
            self._cycles(m, s)
            self._data_in(m, s)
            self._read_status(m, s)
            self._data_out(m, s)
            self._end(m, s)
        return m

    def _address(self, m: Module, s: _State) -> None:
        """Block, buffer page and die of the operation, and the place of its page in the read buffer."""
        request = s.request
        m.d.sync += [s.dqs_i.eq(self.nand.dqs_i), s.dq_i.eq(self.nand.dq_i)]
        m.d.comb += [
            s.arbiter.valid.eq(Cat(item.valid for item in self.requests)),
            s.arbiter.blocked.eq(s.turnaround.blocked),
            s.turnaround.die.eq(s.die),
            s.sequencer.op.eq(request.op),
            s.sequencer.step.eq(s.step),
            s.sequencer.row.eq(Cat(request.row, request.plane, self.lookup.block)),  # Geometry.row_address
            self.lookup.place.zone.eq(request.zone),
            self.lookup.place.die.eq(s.die),
            self.lookup.place.plane.eq(request.plane),
            self.fetch.payload.slot.eq(request.slot),
            self.fetch.payload.plane.eq(request.plane),
            self.origin_of.eq(self.fetch.payload),
            self.fill.payload.tag.eq(Mux(request.origin, self.origin.tag, request.tag)),
            self.fill.payload.buffer_block.eq(
                Mux(request.origin, self.origin.buffer_block, request.buffer_block)
            ),
            self.fill.payload.from_array.eq(request.from_array),
            self.fill_data.eq(Mux(s.pad, 0, s.dq_i)),
        ]
        source = self.fill.payload.source
        for name in PageSource(self.config).members:
            m.d.comb += source[name].eq(s.die if name == "die" else request[name])
        with m.If(self.fill_valid):
            m.d.sync += [s.missing.eq(s.missing - 1), s.incomplete.eq(s.missing != 1)]

    def _choose(self, m: Module, s: _State) -> None:
        """Values that registers hold before the bus is granted or a cycle ends."""
        for number, item in enumerate(self.requests):
            m.d.sync += [
                s.takes[number].eq(item.payload.op.matches(_TAKES_PAGE)),
                s.takes_named[number].eq(item.payload.op.matches(_TAKES_NAMED_PAGE)),
            ]
            m.d.comb += [
                s.arbiter.kinds[number].eq(item.payload.kind),
                self.done[number].eq(s.operation_done & (s.die == number)),
            ]
        # The sequencer's successors are valid from the second clock of a cycle on.
        m.d.sync += [s.next_phase.eq(s.sequencer.next_phase), s.next_step.eq(s.sequencer.next_step)]
        with m.If(self.fetch.ready):
            m.d.sync += self.fetch.valid.eq(0)
        m.d.sync += s.arbiter.room.eq(self.fill.ready)  # a grant without room waits in FILL_TARGET

    def _drive_pins(self, m: Module, s: _State) -> None:
        m.d.comb += s.dq.eq(self.beats.payload)  # valid in DATA_IN only
        m.d.sync += [
            self.nand.ce_n.eq(Cat(~(s.selected & (s.die == n)) for n in range(self.config.geometry.dies))),
            self.nand.cle.eq(s.cle),
            self.nand.ale.eq(s.ale),
            self.nand.we.eq(s.we),
            self.nand.dqs_o.eq(s.dqs),
            self.nand.re.eq(s.re),
            self.nand.dq_o.eq(s.dq),
        ]

    def _stay(self, m: Module, s: _State, cycles: int, state: str) -> None:
        """Go to `state`, which ends after so many cycles or beats."""
        m.d.sync += [s.left.eq(max(cycles, 1) - 1), s.ended.eq(cycles <= 1)]
        m.next = state

    def _count(self, m: Module, s: _State) -> None:
        m.d.sync += [s.left.eq(s.left - 1), s.ended.eq(s.left == 1)]

    def _start_cycle(self, m: Module, s: _State, step: ValueLike) -> None:
        m.d.sync += s.step.eq(step)
        self._stay(m, s, self._clocks("twc"), "CYCLE")

    def _finish(self, m: Module, s: _State) -> None:
        m.d.comb += s.operation_done.eq(1)
        m.next = "IDLE"

    def _clocks(self, name: str) -> int:
        return self.config.timing.clocks(name)

    def _grant(self, m: Module, s: _State) -> None:
        with m.State("IDLE"):
            m.d.comb += s.arbiter.granted.eq(s.arbiter.grant)
            m.d.sync += s.die.eq(s.arbiter.die)
            with m.If(s.arbiter.grant):
                m.next = "GRANTED"
            with m.Elif((s.arbiter.valid & s.turnaround.blocked).any()):
                m.d.comb += self.activity.eq(BusActivity.WAIT)

        with m.State("GRANTED"):
            m.d.comb += self.activity.eq(BusActivity.COMMAND)
            self._start_cycle(m, s, Step.FIRST)
            with m.Switch(s.die):
                for number, item in enumerate(self.requests):
                    with m.Case(number):
                        m.d.comb += item.ready.eq(1)
                        m.d.sync += [s.request.eq(item.payload), s.offline.eq(self.offline[number])]
                        with m.If(item.payload.kind.gives_page):
                            m.next = "FILL_TARGET"
                        with m.Elif(self.offline[number]):
                            m.d.sync += self.status.eq(_FAILED)
                            m.next = "OFFLINE"
                        with m.Elif(s.takes_named[number]):
                            self._stay(m, s, s.page_clocks, "DATA_IN")
                        with m.If(s.takes[number] & ~self.offline[number]):
                            m.d.sync += self.fetch.valid.eq(1)

        with m.State("OFFLINE"):
            self._finish(m, s)

    def _cycles(self, m: Module, s: _State) -> None:
        """Command and address cycles."""
        with m.State("CYCLE"):
            m.d.comb += [
                self.activity.eq(BusActivity.COMMAND),
                s.selected.eq(1),
                s.cle.eq(~s.sequencer.address),
                s.ale.eq(s.sequencer.address),
                s.we.eq(s.ended),
                s.dq.eq(s.sequencer.byte),
            ]
            self._count(m, s)
            with m.If(s.ended), m.Switch(s.next_phase):
                with m.Case(NextPhase.CYCLE):
                    self._start_cycle(m, s, s.next_step)
                with m.Case(NextPhase.DATA_IN):
                    self._stay(m, s, self._clocks("tadl") - 1, "ADDRESS_TO_DATA")
                with m.Case(NextPhase.STATUS):
                    self._stay(m, s, self._clocks("twhr") - 1, "COMMAND_TO_STATUS")
                with m.Case(NextPhase.END):
                    self._finish(m, s)

    def _data_in(self, m: Module, s: _State) -> None:
        with m.State("ADDRESS_TO_DATA"):
            m.d.comb += [self.activity.eq(BusActivity.WAIT), s.selected.eq(1)]
            self._count(m, s)
            with m.If(s.ended):
                self._stay(m, s, s.loaded_clocks, "DATA_IN")
                if self.config.read_levels:
                    with m.If(s.request.op == BusOp.SET_READ_LEVEL):
                        self._stay(m, s, FEATURE_PARAMETERS, "PARAMETERS")

        # Each of them at both edges of DQS; the first is the level.
        if self.config.read_levels:
            with m.State("PARAMETERS"):
                m.d.comb += [self.activity.eq(BusActivity.COMMAND), s.selected.eq(1), s.dqs.eq(1), s.dq.eq(0)]
                with m.If(s.left == FEATURE_PARAMETERS - 1):
                    m.d.comb += [s.dq[:8].eq(s.request.level), s.dq[8:].eq(s.request.level)]
                self._count(m, s)
                with m.If(s.ended):
                    self._finish(m, s)

        with m.State("DATA_IN"):
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                s.selected.eq(1),
                s.dqs.eq(self.beats.valid),
                self.beats.ready.eq(1),
            ]
            with m.If(self.beats.valid):
                m.d.comb += self.activity.eq(BusActivity.DATA_IN)
                self._count(m, s)
                with m.If(s.ended):
                    self._start_cycle(m, s, Step.THIRD)

    def _read_status(self, m: Module, s: _State) -> None:
        with m.State("COMMAND_TO_STATUS"):
            m.d.comb += [self.activity.eq(BusActivity.WAIT), s.selected.eq(1)]
            self._count(m, s)
            with m.If(s.ended):
                m.next = "STATUS_REQUEST"

        with m.State("STATUS_REQUEST"):
            m.d.comb += [self.activity.eq(BusActivity.WAIT), s.selected.eq(1), s.re.eq(1)]
            self._stay(m, s, ANSWER_CYCLES, "STATUS")

        with m.State("STATUS"):
            m.d.comb += [self.activity.eq(BusActivity.WAIT), s.selected.eq(1)]
            m.d.sync += self.status.eq(s.dq_i)
            self._count(m, s)
            with m.If(s.dqs_i):
                m.next = "DRAIN"
            with m.Elif(s.ended):
                m.d.sync += self.status.eq(0)
                m.next = "DRAIN"

    def _data_out(self, m: Module, s: _State) -> None:
        with m.State("FILL_TARGET"):
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                s.selected.eq(~s.offline),
                self.fill.valid.eq(1),
            ]
            m.d.sync += [s.missing.eq(s.page_clocks), s.incomplete.eq(1)]
            self._stay(m, s, s.page_clocks, "DATA_OUT")
            with m.If(~self.fill.ready):
                m.next = "FILL_TARGET"
            with m.Elif(s.offline):
                m.next = "PAD"

        with m.State("DATA_OUT"):
            m.d.comb += [
                self.activity.eq(BusActivity.DATA_OUT),
                s.selected.eq(1),
                s.re.eq(1),
                self.fill_valid.eq(s.dqs_i),
            ]
            self._count(m, s)
            with m.If(s.ended):
                m.next = "DRAIN"

        # The die answers `re` some cycles later and without a gap: the end of DQS is the end of the data.
        with m.State("DRAIN"):
            m.d.comb += [self.activity.eq(BusActivity.WAIT), s.selected.eq(1)]
            m.d.comb += self.fill_valid.eq(s.dqs_i)
            with m.If(~s.dqs_i & s.incomplete):
                m.next = "PAD"
            with m.Elif(~s.dqs_i):
                m.d.comb += [s.turnaround.sent.eq(1), s.operation_done.eq(1)]
                m.next = "TURNAROUND"

    def _end(self, m: Module, s: _State) -> None:
        # The arbiter sees the blocked dies from the next cycle on.
        with m.State("TURNAROUND"):
            m.d.comb += self.activity.eq(BusActivity.WAIT)
            m.next = "IDLE"

        with m.State("PAD"):
            m.d.comb += [self.activity.eq(BusActivity.WAIT), s.pad.eq(1), self.fill_valid.eq(s.incomplete)]
            with m.If(~s.incomplete):
                self._finish(m, s)
