"""The NAND bus of a channel: one bus operation at a time, in cycles with ONFI's timing."""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.channel.block_table import BlockLookup
from flashtrain.rtl.layouts import (
    BufferPage,
    BusRequest,
    EngineInterface,
    FillTarget,
    PageSource,
    PageTarget,
    PortCycle,
    has_engine_interface,
)
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.nand_bus import asynchronous_pins, has_asynchronous_pins, nand_bus
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import FEATURE_PARAMETERS, BusOp, chosen_by_status
from flashtrain.spec.sdr import SDR_MODES

from .bus_arbiter import BusArbiter, Turnaround
from .bus_cycles import (
    ANSWER_CYCLES,
    IDENTITY_BEATS,
    TAKES_NAMED_PAGE,
    TAKES_PAGE,
    BeatCounter,
    BusActivity,
    CountPort,
    CycleSequencer,
    DataReceiver,
    NextPhase,
    PinControl,
    PinDriver,
    ReceivePort,
    Step,
    is_of_identity,
    page_beats,
    part_length,
    received_beats,
    variable_beats,
)
from .command_port import CommandPort
from .lun_hold import LunHold
from .packet_sender import CA_PINS
from .sdr_strobe import SdrStrobe
from .split_control import SplitControl


def _loaded_beats(config: FmsConfig) -> int:
    """Beats of a page of gradients or constants, and of the bytes behind it."""
    return config.loaded_page_bytes // 2


def _longest_phase(config: FmsConfig) -> int:
    times = (config.timing.cycles(name) for name in ("twc", "tadl", "twhr"))
    setups = (mode.setup for mode in config.engine_modes.values())
    return max(page_beats(config), _loaded_beats(config), *times, *setups)


def interface_port(config: FmsConfig) -> dict:
    """The member by which firmware chooses between data interfaces, or the mode of one."""
    return {"interface": In(EngineInterface())} if has_engine_interface(config) else {}


def lun_ports(config: FmsConfig) -> dict:
    """Members by which reads of a LUN and programs of others keep out of each other's way; none for one LUN.

    holds_data : In(dies), yields : Out(dies)   see `LunHold`
    """
    if config.chips.luns == 1:
        return {}
    return {"holds_data": In(config.geometry.dies), "yields": Out(config.geometry.dies)}


class _State:
    """Units and signals of the operation control."""

    def __init__(self, config: FmsConfig):
        dies = config.geometry.dies
        self.arbiter = BusArbiter(dies)
        # With SDR a chip enable rises 2 cycles behind the end; RE_n has risen before.
        sent_cycles = -2 if config.chips.sdr else 2
        if config.part_bytes:
            sent_cycles = 0  # a die that does not answer ends a part at once
        self.turnaround = Turnaround(
            config.timing, dies, sent_cycles=sent_cycles, grant_cycles=4, luns=config.chips.luns
        )
        self.sequencer = CycleSequencer(
            config.chips,
            copyback=config.geometry.spare_blocks > 0,
            features=config.read_levels > 0,
            columns=config.part_bytes > 0,
        )
        self.strobe = SdrStrobe(config) if config.chips.sdr else None

        # The operation.
        self.die = Signal.like(self.arbiter.die)
        self.die_offline = Signal()
        self.request = Signal(BusRequest(config))
        self.step = Signal(Step)
        self.next_phase = Signal(NextPhase)
        self.next_step = Signal(Step)
        self.operation_done = Signal()

        # SDR: it is the interface; its mode for this die; a byte is the high one of its beat.
        self.sdr: Value = Const(1) if not config.chips.ddr else Signal()
        self.mode = Signal(EngineInterface()["mode"].shape)
        self.high_byte = Signal()

        # Several LUNs: the chip enable of the die, and its number there; dies that another one holds up; the
        # cycles are those of a 78h in front of the operation.
        lun_bits = config.lun_bits
        self.enable: Value = self.die[lun_bits:] if lun_bits else self.die
        self.lun = [self.die[:lun_bits]] if lun_bits else []
        self.hold = LunHold(config) if lun_bits else None
        self.chosen_by_status = chosen_by_status(config.chips)
        self.choosing = Signal()

        # Of each request, before the bus is granted.
        self.takes = Signal(dies)
        self.takes_named = Signal(dies)


class OperationControl(wiring.Component):
    """Grants the bus to a request, and steps through the phases of its operation.

    Its registers are constant while the beats of a page pass.

    Latency: 2 cycles from a request to its `ready`, one more to its first command cycle.

    Members
    -------
    requests, done, offline : members of `BusController`
    lookup, fetch, origin_of, origin, fill, activity : members of `BusController`
    beats_valid, beats_ready : In(1), Out(1)   of `beats`; ready throughout the phase of data in
    counter : Out(CountPort)     of the cycles or beats of a phase
    receiver : Out(ReceivePort)
    pins : Out(PinControl)

    With several LUNs: see `lun_ports`.

    With a command port:

    pause : In(1)      begin no operation
    paused : Out(1)    none is under way, until `released` without `pause`
    released : In(1)   of `CommandPort`

    With SDR:

    settled : In(dies)   the die has the timing mode of the engine; before, it has mode 0
    interface : In(EngineInterface)   with a command port; else the configuration's
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        pausing = {"pause": In(1), "paused": Out(1), "released": In(1)}
        super().__init__({
            "requests": In(stream.Signature(BusRequest(config))).array(dies),
            "done": Out(1).array(dies),
            "offline": In(dies),
            "lookup": Out(BlockLookup(config)),
            "fetch": Out(stream.Signature(BufferPage(config))),
            "origin_of": Out(BufferPage(config)),
            "origin": In(PageTarget(config)),
            "fill": Out(stream.Signature(FillTarget(config))),
            "activity": Out(BusActivity),
            "beats_valid": In(1),
            "beats_ready": Out(1),
            "counter": Out(CountPort(_longest_phase(config))),
            "receiver": Out(ReceivePort(sdr=config.chips.sdr, most_beats=variable_beats(config))),
            "pins": Out(PinControl(config.chip_enables, sdr=config.chips.sdr)),
            **({"settled": In(dies)} if config.chips.sdr else {}),
            **interface_port(config),
            **lun_ports(config),
            **(pausing if config.command_port else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        s = _State(self.config)
        m.submodules.arbiter = s.arbiter
        m.submodules.turnaround = s.turnaround
        m.submodules.sequencer = s.sequencer
        self._address(m, s)
        self._choose(m, s)
        if s.hold is not None:
            self._hold(m, s, s.hold)
        if s.strobe is not None:
            m.submodules.strobe = s.strobe
            self._choose_interface(m, s, s.strobe)
        with m.FSM():
            self._grant(m, s)
            self._drive_cycles(m, s)
            self._data_in(m, s)
            self._read_status(m, s)
            self._data_out(m, s)
            self._end(m, s)
        return m

    def _address(self, m: Module, s: _State) -> None:
        """Block, buffer page and die of the operation, and the place of its page in the read buffer."""
        request = s.request
        m.d.comb += [
            s.arbiter.valid.eq(self._unheld(s, Cat(item.valid for item in self.requests))),
            s.arbiter.blocked.eq(s.turnaround.blocked),
            s.turnaround.die.eq(s.die),
            s.sequencer.op.eq(
                Mux(s.choosing, BusOp.STATUS_PLANE, request.op) if s.chosen_by_status else request.op
            ),
            s.sequencer.step.eq(s.step),
            # FmsConfig.row_address
            s.sequencer.row.eq(Cat(request.page, request.plane, self.lookup.block, *s.lun)),
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
            self.pins.die.eq(s.enable),
            self.pins.byte.eq(s.sequencer.byte),
        ]
        source = self.fill.payload.source
        for name in PageSource(self.config).members:
            m.d.comb += source[name].eq(s.die if name == "die" else request[name])
        if self.config.part_bytes:
            self._address_part(m, s)

    def _address_part(self, m: Module, s: _State) -> None:
        """The column of a sense or a SELECT, and the beats of a part with its identity."""
        request = s.request
        m.d.comb += [
            self.fill.payload.part.eq(request.part),
            self.fill.payload.moves_part.eq(request.moves_part),
            self.receiver.beats.eq(received_beats(self.config, request)),
        ]
        s.sequencer.name_column(m, request, self.config)

    def _choose(self, m: Module, s: _State) -> None:
        """Values that registers hold before the bus is granted or a cycle ends."""
        for number, item in enumerate(self.requests):
            m.d.sync += [
                s.takes[number].eq(item.payload.op.matches(TAKES_PAGE)),
                s.takes_named[number].eq(item.payload.op.matches(TAKES_NAMED_PAGE)),
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

    def _unheld(self, s: _State, valid: Value) -> Value:
        return valid if s.hold is None else valid & ~s.hold.held

    def _hold(self, m: Module, s: _State, hold: LunHold) -> None:
        """The rules between LUNs of a chip enable."""
        m.submodules.hold = hold
        forward(m, hold, self, lun_ports(self.config))
        loads = ((item.payload.op == BusOp.PROGRAM_PAGE) & item.valid for item in self.requests)
        m.d.comb += [hold.die.eq(s.die), hold.op.eq(s.request.op), hold.loads.eq(Cat(loads))]

    def _end_choice(self, m: Module, s: _State) -> None:
        if s.hold is not None:
            m.d.comb += s.hold.ended.eq(1)

    def _choose_interface(self, m: Module, s: _State, strobe: SdrStrobe) -> None:
        """Registers for the interface and the mode, and the strobes of SDR on the pins."""
        chips = self.config.chips
        mode = self.interface.mode if self.config.command_port else chips.sdr_mode
        if chips.ddr:
            m.d.sync += s.sdr.eq(self.interface.sdr)
        m.d.sync += s.mode.eq(Mux(Array(self.settled)[s.die], mode, 0))
        m.d.comb += [
            strobe.mode.eq(s.mode),
            self.receiver.sdr.eq(s.sdr),
            self.receiver.capture.eq(strobe.capture),
            self.pins.sdr.eq(s.sdr),
            self.pins.write.eq(s.sdr & strobe.low & ~strobe.reads),
            self.pins.read.eq(s.sdr & strobe.low & strobe.reads),
            self.pins.high_byte.eq(s.high_byte & ~strobe.reads),
        ]

    def _strobe(self, m: Module, s: _State, run: ValueLike = 1, *, reads: bool = False) -> None:
        """Move a byte in a cycle of SDR, if that is the interface, and while it may `run`."""
        if s.strobe is not None:
            m.d.comb += [
                s.strobe.run.eq(s.sdr & run),
                s.strobe.reads.eq(reads),
                self.pins.drive.eq(s.sdr & (not reads)),
            ]

    def _strobe_beat(self, m: Module, s: _State, run: ValueLike = 1, *, reads: bool = False) -> None:
        """Move a beat, the low byte first."""
        self._strobe(m, s, run, reads=reads)
        if s.strobe is not None:
            with m.If(s.strobe.ended):
                m.d.sync += s.high_byte.eq(~s.high_byte)

    def _byte_ended(self, s: _State, otherwise: ValueLike = 1) -> ValueLike:
        """In SDR the end of a byte's cycle; with DQS `otherwise`."""
        return otherwise if s.strobe is None else Mux(s.sdr, s.strobe.ended, otherwise)

    def _beat_ended(self, s: _State) -> ValueLike:
        return 1 if s.strobe is None else ~s.sdr | (s.strobe.ended & s.high_byte)

    def _flowing(self, s: _State) -> Value:
        """Data of the die are on their way."""
        return self.receiver.beat if s.strobe is None else self.receiver.beat | s.strobe.pending

    def _stay(self, m: Module, cycles: int, state: str) -> None:
        """Go to `state`, which ends after so many cycles or beats."""
        m.d.comb += [self.counter.load.eq(1), self.counter.length.eq(max(cycles, 1) - 1)]
        m.next = state

    def _start_cycle(self, m: Module, s: _State, step: ValueLike) -> None:
        m.d.sync += s.step.eq(step)
        self._stay(m, self._cycles("twc"), "CYCLE")

    def _finish(self, m: Module, s: _State) -> None:
        m.d.comb += s.operation_done.eq(1)
        m.next = "IDLE"

    @property
    def _released_cycles(self) -> int:
        """Cycles of tCEH without a chip enable, but for those of IDLE and GRANTED."""
        tceh = max(mode.tceh for mode in SDR_MODES)
        return -(-tceh * self.config.timing.clock_mhz // 1000) - 2

    def _cycles(self, name: str) -> int:
        return self.config.timing.cycles(name)

    def _grant(self, m: Module, s: _State) -> None:
        with m.State("IDLE"):
            m.d.comb += s.arbiter.granted.eq(s.arbiter.grant)
            m.d.sync += s.die.eq(s.arbiter.die)
            with m.If(s.arbiter.grant):
                m.next = "GRANTED"
            with m.Elif((s.arbiter.valid & s.turnaround.blocked).any()):
                m.d.comb += self.activity.eq(BusActivity.WAIT)
            if self.config.command_port:
                with m.If(self.pause):
                    m.d.comb += s.arbiter.granted.eq(0)
                    m.next = "PAUSED"

        if self.config.command_port:
            with m.State("PAUSED"):
                m.d.comb += self.paused.eq(1)
                with m.If(~self.pause & self.released):
                    m.next = "IDLE"

        with m.State("GRANTED"):
            m.d.comb += self.activity.eq(BusActivity.COMMAND)
            self._start_cycle(m, s, Step.FIRST)
            with m.Switch(s.die):
                for number, item in enumerate(self.requests):
                    with m.Case(number):
                        m.d.comb += item.ready.eq(1)
                        m.d.sync += [s.request.eq(item.payload), s.die_offline.eq(self.offline[number])]
                        with m.If(item.payload.kind.gives_page):
                            m.next = "FILL_TARGET"
                        with m.Elif(self.offline[number]):
                            m.d.comb += self.receiver.offline.eq(1)
                            m.next = "OFFLINE"
                        with m.Elif(s.takes_named[number]):
                            self._stay(m, page_beats(self.config), "DATA_IN")
                        with m.If(s.takes[number] & ~self.offline[number]):
                            m.d.sync += self.fetch.valid.eq(1)
                        if s.chosen_by_status:
                            m.d.sync += s.choosing.eq(item.payload.op.matches(*s.chosen_by_status))
                        if self.config.part_bytes:
                            with m.If(is_of_identity(item.payload)):
                                self._stay(m, IDENTITY_BEATS, "DATA_OUT")
                                with m.If(self.offline[number]):
                                    m.next = "PAD"

            if s.strobe is not None:
                with m.If(s.sdr & ~Array(self.offline)[s.die]):
                    self._stay(m, self._released_cycles, "RELEASED")

        if s.strobe is not None:
            self._select(m, s)

        with m.State("OFFLINE"):
            self._end_choice(m, s)
            self._finish(m, s)

    def _select(self, m: Module, s: _State) -> None:
        """The chip enable of SDR. The block of a page is looked up meanwhile."""
        with m.State("RELEASED"):
            m.d.comb += [self.activity.eq(BusActivity.WAIT), self.counter.count.eq(1)]
            with m.If(self.counter.ended):
                self._stay(m, 1, "SELECTED")
                with m.Switch(s.mode):
                    for number, mode in self.config.engine_modes.items():
                        with m.Case(number):
                            self._stay(m, mode.setup, "SELECTED")
        with m.State("SELECTED"):
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                self.counter.count.eq(1),
                self.pins.selected.eq(1),
            ]
            with m.If(self.counter.ended):
                self._start_cycle(m, s, Step.FIRST)
                with m.If(s.request.kind.gives_page):
                    m.next = "FILL_TARGET"
                with m.Elif(s.request.op.matches(TAKES_NAMED_PAGE)):
                    self._stay(m, page_beats(self.config), "DATA_IN")

    def _drive_cycles(self, m: Module, s: _State) -> None:
        """Command and address cycles."""
        with m.State("CYCLE"):
            if s.hold is not None:
                m.d.comb += [s.hold.cycle.eq(1), s.hold.busy_cycle.eq(1)]
            m.d.comb += [
                self.activity.eq(BusActivity.COMMAND),
                self.pins.selected.eq(1),
                self.pins.cle.eq(~s.sequencer.address),
                self.pins.ale.eq(s.sequencer.address),
                self.pins.we.eq(self.counter.ended if s.strobe is None else self.counter.ended & ~s.sdr),
                self.counter.count.eq(1),
            ]
            self._strobe(m, s)
            with m.If(self._byte_ended(s, self.counter.ended)), m.Switch(s.next_phase):
                with m.Case(NextPhase.CYCLE):
                    self._start_cycle(m, s, s.next_step)
                with m.Case(NextPhase.DATA_IN):
                    self._stay(m, self._cycles("tadl") - 1, "ADDRESS_TO_DATA")
                with m.Case(NextPhase.STATUS):
                    self._stay(m, self._cycles("twhr") - 1, "COMMAND_TO_STATUS")
                    if s.chosen_by_status:
                        with m.If(s.choosing):
                            m.d.sync += s.choosing.eq(0)
                            self._start_cycle(m, s, Step.FIRST)
                with m.Case(NextPhase.END):
                    self._finish(m, s)

    def _data_in(self, m: Module, s: _State) -> None:
        with m.State("ADDRESS_TO_DATA"):
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                self.pins.selected.eq(1),
                self.counter.count.eq(1),
            ]
            with m.If(self.counter.ended):
                self._stay(m, _loaded_beats(self.config), "DATA_IN")
                if s.strobe is not None:
                    with m.If(s.request.op == BusOp.SET_TIMING_MODE):
                        self._stay(m, FEATURE_PARAMETERS, "PARAMETER")
                if self.config.read_levels:
                    with m.If(s.request.op == BusOp.SET_READ_LEVEL):
                        self._stay(m, FEATURE_PARAMETERS, "PARAMETER")

        # Each of them at both edges of DQS; all but the first are 0.
        if s.strobe is not None or self.config.read_levels:
            with m.State("PARAMETER"):
                self._send_parameter(m, s)
                m.d.comb += self.pins.byte.eq(self._parameter(s))
                with m.If(self._byte_ended(s)):
                    m.next = "PARAMETERS"
            with m.State("PARAMETERS"):
                self._send_parameter(m, s)
                m.d.comb += self.pins.byte.eq(0)
                with m.If(self.counter.ended & self._byte_ended(s)):
                    self._finish(m, s)

        with m.State("DATA_IN"):
            if s.hold is not None:
                m.d.comb += s.hold.cycle.eq(1)
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                self.pins.selected.eq(1),
                self.pins.dqs.eq(self.beats_valid if s.strobe is None else self.beats_valid & ~s.sdr),
                self.beats_ready.eq(self._beat_ended(s)),
            ]
            self._strobe_beat(m, s, self.beats_valid)
            with m.If(self.beats_valid):
                m.d.comb += [
                    self.activity.eq(BusActivity.DATA_IN),
                    self.counter.count.eq(self._beat_ended(s)),
                ]
                with m.If(self.counter.ended & self._beat_ended(s)):
                    self._start_cycle(m, s, Step.THIRD)

    def _parameter(self, s: _State) -> ValueLike:
        """The first parameter of a feature."""
        if s.strobe is None:
            return s.request.level
        return self.interface.mode if self.config.command_port else self.config.chips.sdr_mode

    def _send_parameter(self, m: Module, s: _State) -> None:
        self._strobe(m, s)
        m.d.comb += [
            self.activity.eq(BusActivity.COMMAND),
            self.pins.selected.eq(1),
            self.pins.dqs.eq(1 if s.strobe is None else ~s.sdr),
            self.pins.parameter.eq(1),
            self.counter.count.eq(self._byte_ended(s)),
        ]

    def _read_status(self, m: Module, s: _State) -> None:
        with m.State("COMMAND_TO_STATUS"):
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                self.pins.selected.eq(1),
                self.counter.count.eq(1),
            ]
            with m.If(self.counter.ended):
                m.next = "STATUS_REQUEST"

        with m.State("STATUS_REQUEST"):
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                self.pins.selected.eq(1),
                self.pins.re.eq(1 if s.strobe is None else ~s.sdr),
            ]
            self._strobe(m, s, reads=True)
            with m.If(self._byte_ended(s)):
                self._stay(m, ANSWER_CYCLES, "STATUS")

        with m.State("STATUS"):
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                self.pins.selected.eq(1),
                self.receiver.status.eq(1),
                self.counter.count.eq(1),
            ]
            answered = self.receiver.beat
            if s.strobe is not None:
                answered = Mux(s.sdr, ~s.strobe.pending, answered)
            with m.If(answered):
                m.next = "DRAIN"
            with m.Elif(self.counter.ended):
                m.d.comb += self.receiver.timeout.eq(1)
                m.next = "DRAIN"

    def _data_out(self, m: Module, s: _State) -> None:
        with m.State("FILL_TARGET"):
            self._end_choice(m, s)
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                self.pins.selected.eq(~s.die_offline),
                self.fill.valid.eq(1),
                self.receiver.start.eq(1),
            ]
            self._stay(m, page_beats(self.config), "DATA_OUT")
            if self.config.part_bytes:
                with m.If(s.request.moves_part):
                    m.d.comb += self.counter.length.eq(part_length(self.config, s.request.part))
            with m.If(~self.fill.ready):
                m.next = "FILL_TARGET"
            with m.Elif(s.die_offline):
                m.next = "PAD"

        with m.State("DATA_OUT"):
            m.d.comb += [
                self.activity.eq(BusActivity.DATA_OUT),
                self.pins.selected.eq(1),
                self.pins.re.eq(1 if s.strobe is None else ~s.sdr),
                self.receiver.receive.eq(1),
                self.counter.count.eq(self._beat_ended(s)),
            ]
            self._strobe_beat(m, s, reads=True)
            with m.If(self.counter.ended & self._beat_ended(s)):
                m.next = "DRAIN"

        # The die answers `re` some cycles later and without a gap: the end of DQS is the end of the data.
        # With SDR it is known how much later.
        with m.State("DRAIN"):
            m.d.comb += [
                self.activity.eq(BusActivity.WAIT),
                self.pins.selected.eq(1),
                self.receiver.receive.eq(1),
            ]
            flowing, lacks = self._flowing(s), self.receiver.incomplete
            if self.config.part_bytes:
                # The identity may come later, and operations of other dies between.
                kind = s.request.kind
                ends = is_of_identity(s.request) | (kind.gives_page & ~s.request.moves_part)
                lacks = lacks & ends
            with m.If(~flowing & lacks):
                m.next = "PAD"
            with m.Elif(~flowing):
                m.d.comb += [s.turnaround.sent.eq(1), s.operation_done.eq(1)]
                m.next = "TURNAROUND"

    def _end(self, m: Module, s: _State) -> None:
        # The arbiter sees the blocked dies from the next cycle on.
        with m.State("TURNAROUND"):
            m.d.comb += self.activity.eq(BusActivity.WAIT)
            m.next = "IDLE"

        with m.State("PAD"):
            m.d.comb += [self.activity.eq(BusActivity.WAIT), self.receiver.pad.eq(1)]
            with m.If(~self.receiver.incomplete):
                self._finish(m, s)


class BusController(wiring.Component):
    """Performs the dies' bus operations, each whole, and owns every timing of the bus.

    A command or address cycle lasts tWC; `we` strobes in its last clock. Data in begin tADL after the
    address, or after the command if there is none. Data of a page with an earlier address begin at once. A
    status byte is requested tWHR after the last cycle.
    In both directions a page is followed by its identity, and by parity if there is a code. Pages of
    gradients and constants have the identity of the source instead of parity.
    Parameters of a feature begin tADL after its address.
    Of a part DATA_OUT moves the bytes alone. The page's identity follows in an operation of its own, and
    until then no other page goes to the read buffer. A SELECT of the identity has a column alone, and one of
    the only page of a sense has no address.
    After data out dies are blocked for their turnaround (`Turnaround`).
    With a command port the bus may be paused between two operations: then it is the port's.
    LUNs of a chip enable are dies of their own, which hold each other up (`LunHold`). SELECT begins with 78h
    and the row: it stops the output of another LUN, even of one that is busy.
    With SDR each byte has a cycle of WE_n or RE_n (`SdrStrobe`). An operation begins with tCEH without a chip
    enable, and with the setup of a low one. A die has mode 0 until it is settled. Other times are the same.
    The waits that leave the bus free (tCCS, tDBSY, tWB, ...) are the agents'.
    With SCA commands, addresses and status pass beside the data of other dies (`SplitControl`). A packet of
    `tca` takes the place of a command or address cycle. No die waits for a turnaround. A part and its
    identity are two bursts.

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

    With SCA:

    fill_room : In(1)   a `fill` will be taken when the page before it has come, as in `ReadBuffer`

    With a command port:

    pause : In(1)      a register
    paused : Out(1)    the port takes cycles
    cycles : In(stream(PortCycle)), answers : Out(stream(8))   see `CommandPort`

    With several LUNs: see `lun_ports`.

    With SDR:

    settled : In(dies)   the die has been reset, and has the timing mode of the engine
    interface : In(EngineInterface)   with a command port, constant while a die works
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        port = {
            "pause": In(1),
            "paused": Out(1),
            "cycles": In(stream.Signature(PortCycle(config))),
            "answers": Out(stream.Signature(8)),
        }
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
            "nand": Out(nand_bus(config)),
            "activity": Out(BusActivity),
            **({"fill_room": In(1)} if config.chips.sca else {}),
            **(port if config.command_port else {}),
            **({"settled": In(dies)} if config.chips.sdr else {}),
            **interface_port(config),
            **lun_ports(config),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        if self.config.chips.sca:
            self._split(m)
            return m
        m.submodules.operation = operation = OperationControl(self.config)
        m.submodules.counter = counter = BeatCounter(_longest_phase(self.config))
        m.submodules.receiver = receiver = DataReceiver(
            page_beats(self.config), sdr=self.config.chips.sdr, parts=self.config.part_bytes > 0
        )
        m.submodules.pins = pins = PinDriver(
            self.config.chip_enables, port=self.config.command_port, sdr=self.config.chips.sdr
        )
        forward(m, operation, self, (
            "requests", "done", "offline", "lookup", "fetch", "origin_of", "origin", "fill", "activity",
        ))  # fmt: skip
        forward(m, receiver, self.nand, ("dqs_i", "dq_i"))
        forward(m, receiver, self, ("fill_valid", "fill_data", "status"))
        forward(m, pins, self.nand, ("ce_n", "cle", "ale", "we", "dqs_o", "re", "dq_o"))
        connect(m, operation.counter, counter.port)
        connect(m, operation.receiver, receiver.port)
        connect(m, operation.pins, pins.control)
        m.d.comb += [
            operation.beats_valid.eq(self.beats.valid),
            self.beats.ready.eq(operation.beats_ready),
            pins.beat.eq(self.beats.payload),
        ]
        forward(m, operation, self, lun_ports(self.config))
        if self.config.chips.sdr:
            forward(m, operation, self, ("settled", *interface_port(self.config)))
        if has_asynchronous_pins(self.config):
            forward(m, pins, self.nand, asynchronous_pins())
        if self.config.command_port:
            self._serve_firmware(m, operation, pins)
        return m

    def _split(self, m: Module) -> None:
        """With SCA: a bus of commands beside that of the data."""
        m.submodules.operation = operation = SplitControl(self.config)
        m.submodules.receiver = receiver = DataReceiver(
            page_beats(self.config), parts=self.config.part_bytes > 0
        )
        connect(m, operation.receiver, receiver.port)
        forward(m, operation, self, (
            "requests", "done", "status", "lookup", "fetch", "beats", "origin_of", "origin", "fill",
            "fill_room", "offline", "activity",
        ))  # fmt: skip
        forward(m, operation, self.nand, (*CA_PINS, "ca_valid", "ca_i", "dqs_o", "re", "dq_o"))
        forward(m, receiver, self.nand, ("dqs_i", "dq_i"))
        forward(m, receiver, self, ("fill_valid", "fill_data"))

    def _serve_firmware(self, m: Module, operation: OperationControl, pins: PinDriver) -> None:
        """The pins are the command port's while the operation control is paused."""
        m.submodules.command_port = port = CommandPort(self.config)
        forward(m, port, self, ("cycles", "answers"))
        connect(m, port.pins, pins.port)
        m.d.comb += [
            operation.pause.eq(self.pause),
            operation.released.eq(port.released),
            port.pause.eq(self.pause),
            port.granted.eq(operation.paused),
            port.dq_i.eq(self.nand.dq_i[:8]),
            port.rb_n.eq(self.nand.rb_n),
            self.paused.eq(operation.paused),
        ]
