"""Cycles and beats on the pins of a NAND bus: their bytes, their count, and the registers of the pins."""

from contextlib import nullcontext
from functools import reduce
from itertools import pairwise
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import PagePart
from flashtrain.rtl.nand_bus import asynchronous_pins
from flashtrain.spec import FmsConfig
from flashtrain.spec.chips import Chips
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.nand import (
    SELECT_COLUMN,
    SELECT_SENSED,
    AddressCycles,
    BusOp,
    DataPhase,
    DieStatus,
    Feature,
    sequences,
)
from flashtrain.spec.registers import ChannelCounter


class Step(enum.Enum, shape=3):
    """The cycles of an operation, in their order. Columns are 0, unless a part of a page is transferred.

    The address of a feature is in the place of the lower half of a column.
    """

    FIRST = 0
    COLUMN_LOW = 1
    COLUMN_HIGH = 2
    ROW_LOW = 3
    ROW_MIDDLE = 4
    ROW_HIGH = 5
    SECOND = 6
    THIRD = 7  # the confirm after data in


class NextPhase(enum.Enum, shape=2):
    """The phase of an operation after a cycle."""

    CYCLE = 0
    DATA_IN = 1
    STATUS = 2
    END = 3


_AFTER_LAST_CYCLE = {
    DataPhase.NONE: NextPhase.END,
    DataPhase.IN: NextPhase.DATA_IN,
    DataPhase.FEATURE: NextPhase.DATA_IN,
    DataPhase.STATUS: NextPhase.STATUS,
}


_COMMANDS = (Step.FIRST, Step.COLUMN_LOW, Step.SECOND, Step.THIRD)
"""Steps that have a command, or the address of a feature."""

_COPYBACK = (BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM)

_FEATURES = {BusOp.SET_READ_LEVEL: Feature.READ_LEVEL, BusOp.SET_TIMING_MODE: Feature.TIMING_MODE}

TAKES_PAGE, TAKES_NAMED_PAGE = "0110--", "01100-"
"""The upper bits of operations with data in, and of those whose page has its address already (`BusOp`)."""

_READY = DieStatus.RDY | DieStatus.ARDY | DieStatus.SUSPENDED_READ
FAILED = (_READY | DieStatus.FAIL | DieStatus.FAILC).value
"""The status of a die that is offline."""


IDENTITY_BEATS = PageIdentity.BYTES // 2

ANSWER_CYCLES = 64
"""Upper bound from a status request to the die's status byte: four times tDQSRE of ONFI 5.1."""


def page_beats(config: FmsConfig) -> int:
    """Beats of a page and the bytes behind it."""
    return config.bus_page_bytes // 2


def variable_beats(config: FmsConfig) -> int:
    """The most beats of a page, where a part has fewer; 0 without parts."""
    return page_beats(config) if config.part_bytes else 0


def is_of_identity(request) -> Value:
    """IDENTITY_OUT: its page has a place in the read buffer."""
    return request.kind.gives_page & ~request.kind.moves_page


def part_length(config: FmsConfig, part) -> Value:
    """Beats of a part without the identity, less one."""
    beats = config.part_bytes // 2
    return Cat(Const(beats - 1, bits_for(beats)), PagePart.last(part))


def received_beats(config: FmsConfig, request) -> Value:
    """Beats of a page, or of its part and the identity."""
    last = Mux(request.moves_part, PagePart.last(request.part), config.page_parts - 1)
    return Cat(Const(IDENTITY_BEATS, bits_for(config.part_bytes // 2)), last + 1)


class BusActivity(enum.Enum, shape=3):
    """The use of the bus in a cycle. The values are those of the `ChannelCounter`s that count it."""

    IDLE = ChannelCounter.BUS_IDLE.value
    COMMAND = ChannelCounter.BUS_COMMAND.value
    DATA_IN = ChannelCounter.BUS_DATA_IN.value
    DATA_OUT = ChannelCounter.BUS_DATA_OUT.value
    WAIT = ChannelCounter.BUS_WAIT.value


class CycleSequencer(wiring.Component):
    """Command and address cycles (`spec.nand.sequences`): the byte of each, and the step or phase behind it.

    Combinational, but for commands after the first: these come a cycle after their operation.
    DATA_OUT has no command or address cycles, and its outputs mean nothing.

    Members
    -------
    op : In(BusOp)
    step : In(Step)
    row : In(24)      the row address (`Geometry.row_address`)
    column : In(16)   with `columns`
    of_sensed, of_column : In(1)   with `columns`: a SELECT is `SELECT_SENSED`, or `SELECT_COLUMN`
    byte : Out(8)     of this cycle
    address : Out(1)  it is an address
    next_phase : Out(NextPhase)
    next_step : Out(Step)   if `next_phase` is CYCLE

    Parameters
    ----------
    copyback : also sequences copybacks
    features : also sequences operations that set features
    columns : columns are not always 0
    chips : with the commands that these have
    """

    def __init__(
        self, chips: Chips = Chips(), *, copyback: bool = False, features: bool = False, columns: bool = False
    ):
        self.chips = chips
        self.copyback = copyback
        self.features = features
        self.columns = columns
        super().__init__({
            "op": In(BusOp),
            "step": In(Step),
            "row": In(24),
            **({"column": In(16), "of_sensed": In(1), "of_column": In(1)} if columns else {}),
            "byte": Out(8),
            "address": Out(1),
            "next_phase": Out(NextPhase),
            "next_step": Out(Step),
        })  # fmt: skip

    def name_column(self, m: Module, request, config: FmsConfig) -> None:
        """The column of a sense or a SELECT, and the kind of a SELECT."""
        m.d.comb += [self.of_sensed.eq(request.sensed), self.of_column.eq(request.of_identity)]
        with m.If(request.kind.selects | (request.op == BusOp.READ_LAST)):
            m.d.comb += self.column.eq(request.part.before << bits_for(config.part_bytes))
            with m.If(request.of_identity):
                m.d.comb += self.column.eq(config.geometry.page_bytes)

    def elaborate(self, platform):
        m = Module()
        commands = {step: Signal(8, name=step.name.lower()) for step in _COMMANDS}
        row_byte = Signal(8)
        with m.Switch(self.op):
            for op, sequence in sequences(self.chips).items():
                if self._includes(op):
                    with m.Case(op):
                        self._commands(m, op, sequence, commands)
        with m.Switch(self.step):
            for step, low in ((Step.ROW_LOW, 0), (Step.ROW_MIDDLE, 8), (Step.ROW_HIGH, 16)):
                with m.Case(step):
                    m.d.comb += row_byte.eq(self.row[low : low + 8])
            if self.columns:
                for step, low in ((Step.COLUMN_LOW, 0), (Step.COLUMN_HIGH, 8)):
                    with m.Case(step):
                        m.d.comb += row_byte.eq(self.column[low : low + 8])
        m.d.comb += [
            self.byte.eq(
                reduce(or_, (Mux(self.step == step, byte, 0) for step, byte in commands.items()), row_byte)
            ),
            self.address.eq((self.step.as_value() >= 1) & (self.step.as_value() <= 5)),
        ]
        return m

    def _includes(self, op: BusOp) -> bool:
        if op is BusOp.IDENTITY_OUT:
            return False  # as DATA_OUT it has none of either
        if op is BusOp.SET_TIMING_MODE:
            return self.chips.sdr
        if op is BusOp.SET_READ_LEVEL:
            return self.features
        return self.copyback or op not in _COPYBACK

    def _commands(self, m: Module, op: BusOp, sequence, commands: dict[Step, Signal]):
        """Command bytes and order of one operation."""
        order = [Step.FIRST]
        if sequence.address is AddressCycles.FEATURE:
            order += [Step.COLUMN_LOW]
        if sequence.address is AddressCycles.FULL:
            order += [Step.COLUMN_LOW, Step.COLUMN_HIGH]
        if sequence.address in (AddressCycles.ROW, AddressCycles.FULL):
            order += [Step.ROW_LOW, Step.ROW_MIDDLE, Step.ROW_HIGH]
        if sequence.second is not None:
            order += [Step.SECOND]

        successors = {step: (NextPhase.CYCLE, following) for step, following in pairwise(order)}
        successors[order[-1]] = (_AFTER_LAST_CYCLE.get(sequence.data, NextPhase.END), Step.THIRD)
        successors[Step.THIRD] = (NextPhase.END, Step.FIRST)
        bytes_of = {Step.FIRST: sequence.first, Step.SECOND: sequence.second, Step.THIRD: sequence.third}
        if sequence.data is DataPhase.FEATURE:
            bytes_of[Step.COLUMN_LOW] = _FEATURES[op]
        for step, byte in commands.items():
            domain = m.d.comb if step is Step.FIRST else m.d.sync
            domain += byte.eq(bytes_of.get(step) or 0)
        with m.Switch(self.step):
            for step, (next_phase, next_step) in successors.items():
                with m.Case(step):
                    m.d.comb += [self.next_phase.eq(next_phase), self.next_step.eq(next_step)]
        if self.columns and op is BusOp.SELECT:
            self._shorten(m, commands[Step.FIRST])

    def _shorten(self, m: Module, first: Signal) -> None:
        """A SELECT without a row, or without any address."""
        with m.If(self.of_sensed):
            m.d.comb += [first.eq(SELECT_SENSED.first), self.next_phase.eq(NextPhase.END)]
        with m.Elif(self.of_column):
            m.d.comb += first.eq(SELECT_COLUMN.first)
            with m.If(self.step == Step.COLUMN_HIGH):
                m.d.comb += self.next_step.eq(Step.SECOND)


class CountPort(wiring.Signature):
    """A beat counter as its user sees it.

    Members
    -------
    load : Out(1)     count anew from the next cycle on
    length : Out      so many cycles or beats, less one
    count : Out(1)    one of them passes in this cycle
    ended : In(1)     it is the last
    """

    def __init__(self, most: int):
        super().__init__({"load": Out(1), "length": Out(range(most)), "count": Out(1), "ended": In(1)})


class BeatCounter(wiring.Component):
    """Counts the cycles or beats of a phase down to the last.

    Latency: `ended` is valid from the cycle after `load` on.

    Members
    -------
    port : In(CountPort)

    Parameters
    ----------
    most : the length of the longest phase
    """

    def __init__(self, most: int):
        self.most = most
        super().__init__({"port": In(CountPort(most))})

    def elaborate(self, platform):
        m = Module()
        left = Signal(range(self.most))
        with m.If(self.port.load):
            m.d.sync += [left.eq(self.port.length), self.port.ended.eq(self.port.length == 0)]
        with m.Elif(self.port.count):
            m.d.sync += [left.eq(left - 1), self.port.ended.eq(left == 1)]
        return m


class ReceivePort(wiring.Signature):
    """A data receiver as its user sees it.

    Members
    -------
    start : Out(1)     a page begins: all of its beats are missing
    receive : Out(1)   beats of the die are those of the page
    pad : Out(1)       zeros are the missing beats
    status : Out(1)    the next beat of the die is its status
    timeout : Out(1)   with `status`: none has come, the die is busy
    offline : Out(1)   the status is that of a die that is offline
    beat : In(1)       a beat of the die is in the input registers
    incomplete : In(1)   beats of the page are missing

    With `sdr`:

    sdr : Out(1)       the interface is SDR: a beat is of two bytes, which come one after the other
    capture : Out(1)   a byte is on the pins

    With `most_beats`, of a page:

    beats : Out        with `start`: of this page, or of its part and the identity
    """

    def __init__(self, *, sdr: bool = False, most_beats: int = 0):
        controls = ("start", "receive", "pad", "status", "timeout", "offline")
        if sdr:
            controls += ("sdr", "capture")
        super().__init__({
            **dict.fromkeys(controls, Out(1)),
            "beat": In(1),
            "incomplete": In(1),
            **({"beats": Out(range(most_beats + 1))} if most_beats else {}),
        })  # fmt: skip


class DataReceiver(wiring.Component):
    """Input registers of the data pins; takes the beats of a page and a die's status from them.

    With SDR the low byte of a beat comes first. A status is a single one.

    Latency: 1 cycle from the pins to `fill_valid`, 2 to `status`. Throughput: one beat per cycle.

    Members
    -------
    port : In(ReceivePort)
    dqs_i, dq_i : In(1), In(16)   pins
    fill_valid, fill_data : Out(1), Out(16)   beats of the page
    status : Out(8)    the latest status; not valid before the end of its operation

    Parameters
    ----------
    beats : of a page
    sdr : bytes may come by the asynchronous interface
    parts : a page may have fewer beats
    """

    def __init__(self, beats: int, *, sdr: bool = False, parts: bool = False):
        self.beats = beats
        self.sdr = sdr
        self.parts = parts
        super().__init__({
            "port": In(ReceivePort(sdr=sdr, most_beats=beats if parts else 0)),
            "dqs_i": In(1),
            "dq_i": In(16),
            "fill_valid": Out(1),
            "fill_data": Out(16),
            "status": Out(8),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        port = self.port
        dq = Signal(16)
        missing = Signal(range(self.beats + 1))
        m.d.sync += [port.beat.eq(self.dqs_i), dq.eq(self.dq_i)]
        m.d.comb += [
            self.fill_valid.eq((port.receive & port.beat) | (port.pad & port.incomplete)),
            self.fill_data.eq(Mux(port.pad, 0, dq)),
        ]
        if self.sdr:
            self._take_bytes(m, dq)
        with m.If(port.start):
            m.d.sync += [missing.eq(port.beats if self.parts else self.beats), port.incomplete.eq(1)]
        with m.Elif(self.fill_valid):
            m.d.sync += [missing.eq(missing - 1), port.incomplete.eq(missing != 1)]
        with m.If(port.offline):
            m.d.sync += self.status.eq(FAILED)
        with m.Elif(port.status):
            m.d.sync += self.status.eq(Mux(port.timeout, 0, dq))
        return m

    def _take_bytes(self, m: Module, dq: Signal) -> None:
        port, byte, of_high_byte = self.port, self.dq_i[:8], Signal()
        with m.If(port.sdr):
            m.d.sync += [port.beat.eq(port.capture & of_high_byte), dq.eq(dq)]
            with m.If(port.capture):
                m.d.sync += of_high_byte.eq(~of_high_byte)
                with m.If(of_high_byte):
                    m.d.sync += dq[8:].eq(byte)
                with m.Else():
                    m.d.sync += dq[:8].eq(byte)
            with m.If(port.start | port.status):
                m.d.sync += of_high_byte.eq(0)


class PinControl(wiring.Signature):
    """The output pins of a NAND bus in the next cycle.

    Members
    -------
    die : Out           the die of the operation
    selected : Out(1)   its chip enable
    cle, ale, we, dqs, re : Out(1)   strobes of `NandBus`
    byte : Out(8)       with `cle` or `ale`: the command or address
    parameter : Out(1)  `byte` is a parameter of a feature, at both edges of DQS

    With `sdr`, and while it is high; `we`, `dqs` and `re` are then low:

    sdr : Out(1)
    write, read : Out(1)   WE_n, RE_n are low
    drive : Out(1)      the controller drives DQ
    high_byte : Out(1)  with the high byte of a beat
    """

    def __init__(self, dies: int, *, sdr: bool = False):
        asynchronous = ("sdr", "write", "read", "drive", "high_byte")
        super().__init__({
            "die": Out(bits_for(dies)),
            **dict.fromkeys(("selected", "cle", "ale", "we", "dqs", "re"), Out(1)),
            "byte": Out(8),
            "parameter": Out(1),
            **(dict.fromkeys(asynchronous, Out(1)) if sdr else {}),
        })  # fmt: skip


class PortPins(wiring.Signature):
    """The output pins of a NAND bus in the next cycle, as the command port drives them.

    Members
    -------
    active : Out(1)     the bus is the port's
    die : Out           the die that is selected
    selected : Out(1)   its chip enable
    cle, ale, we, re : Out(1)   high: CLE, ALE; WE_n and RE_n are low
    drive : Out(1)      DQ is driven
    byte : Out(8)       with this
    """

    def __init__(self, dies: int):
        super().__init__({
            "die": Out(bits_for(dies)),
            **dict.fromkeys(("active", "selected", "cle", "ale", "we", "re", "drive"), Out(1)),
            "byte": Out(8),
        })  # fmt: skip


class PinDriver(wiring.Component):
    """Output registers of a NAND bus.

    Latency: 1 cycle from `control` and `beat` to the pins.

    Members
    -------
    control : In(PinControl)
    beat : In(16)      on `dq_o` unless there is a byte
    ce_n, cle, ale, we, dqs_o, re, dq_o : Out   pins of `NandBus`

    With `port`:

    port : In(PortPins)   instead of `control`, while it is active

    With `port` or `sdr`:

    sdr, we_n, re_n, dq_oe : Out(1)   further pins of `NandBus`
    """

    def __init__(self, dies: int, *, port: bool = False, sdr: bool = False):
        self.dies = dies
        self.has_port = port
        self.has_sdr = sdr
        super().__init__({
            "control": In(PinControl(dies, sdr=sdr)),
            "beat": In(16),
            "ce_n": Out(dies, init=(1 << dies) - 1),  # pyright: ignore[reportCallIssue]
            **dict.fromkeys(("cle", "ale", "we", "dqs_o", "re"), Out(1)),
            "dq_o": Out(16),
            **({"port": In(PortPins(dies))} if port else {}),
            **(asynchronous_pins() if port or sdr else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        control = self.control
        m.d.sync += [
            self.ce_n.eq(Cat(~(control.selected & (control.die == n)) for n in range(self.dies))),
            self.cle.eq(control.cle),
            self.ale.eq(control.ale),
            self.we.eq(control.we),
            self.dqs_o.eq(control.dqs),
            self.re.eq(control.re),
            self.dq_o.eq(self.beat),
        ]
        with m.If(control.cle | control.ale):
            m.d.sync += self.dq_o.eq(control.byte)
        with m.Elif(control.parameter):
            m.d.sync += self.dq_o.eq(control.byte.replicate(2))
        if self.has_sdr:
            self._strobe(m)
        if self.has_port:
            self._follow_port(m)
        return m

    def _strobe(self, m: Module) -> None:
        control = self.control
        m.d.sync += [
            self.sdr.eq(control.sdr),
            self.we_n.eq(~control.write),
            self.re_n.eq(~control.read),
            self.dq_oe.eq(control.drive),
        ]
        with m.If(control.high_byte):
            m.d.sync += self.dq_o[:8].eq(self.beat[8:])

    def _follow_port(self, m: Module) -> None:
        port = self.port
        if not self.has_sdr:
            m.d.sync += self.sdr.eq(port.active)
        # A port that is not active drives none of them.
        with m.If(port.active) if self.has_sdr else nullcontext():
            m.d.sync += [
                self.we_n.eq(~port.we),
                self.re_n.eq(~port.re),
                self.dq_oe.eq(port.drive),
            ]
        with m.If(port.active):
            m.d.sync += [
                self.sdr.eq(1),
                self.ce_n.eq(Cat(~(port.selected & (port.die == n)) for n in range(self.dies))),
                self.cle.eq(port.cle),
                self.ale.eq(port.ale),
                self.dq_o.eq(port.byte),
            ]
