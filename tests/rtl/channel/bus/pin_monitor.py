"""Watches the pins of a NAND bus on its own: checks ONFI's timing and puts operations together.

Nothing here comes from the controller: command bytes and their order are those of ONFI 5.1, section 5, and of
`flashtrain.spec` (`nand` and `update`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import First, ReadOnly, ValueChange
from cocotb.utils import get_sim_time

from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp

# First command, address cycles, confirming command: the operation. Data go between where there are any.
OPERATIONS = {
    (0xFF, 0, None): BusOp.RESET,
    (0x70, 0, None): BusOp.STATUS,
    (0x78, 3, None): BusOp.STATUS_PLANE,
    (0x00, 5, 0x32): BusOp.READ_MORE,
    (0x00, 5, 0x30): BusOp.READ_LAST,
    (0x00, 5, 0x31): BusOp.CACHE_READ_LAST,
    (0x31, 0, None): BusOp.CACHE_READ_NEXT,
    (0x00, 5, 0x35): BusOp.COPYBACK_READ,
    (0x85, 5, 0x10): BusOp.COPYBACK_PROGRAM,
    (0x3F, 0, None): BusOp.CACHE_READ_END,
    (0x06, 5, 0xE0): BusOp.SELECT,
    (0x80, 5, None): BusOp.PROGRAM_PAGE,
    (0x11, 0, None): BusOp.PROGRAM_MORE,
    (0x15, 0, None): BusOp.PROGRAM_LAST,
    (0x60, 3, 0xD1): BusOp.ERASE_MORE,
    (0x60, 3, 0xD0): BusOp.ERASE_LAST,
    (0xBC, 3, None): BusOp.SUSPENDED_READ_MORE,
    (0xBC, 3, 0xBD): BusOp.SUSPENDED_READ_LAST,
    (0xBD, 0, None): BusOp.SUSPENDED_READ_NEXT,
    (0xBE, 3, None): BusOp.SUSPENDED_READ_SELECT,
    (0xBF, 0, None): BusOp.SUSPENDED_READ_END,
    (0xBF, 0, 0xBD): BusOp.SUSPENDED_READ_RENEW,
    (0xC0, 0, 0xC1): BusOp.LOAD_CONSTANTS,
    (0xC2, 3, 0xC3): BusOp.LOAD_GRADIENT,
    (0xC4, 3, None): BusOp.UPDATE_SOURCE,
    (0xC5, 3, 0xC6): BusOp.UPDATE_MORE,
    (0xC5, 3, 0xC7): BusOp.UPDATE_LAST,
    (0xC8, 0, None): BusOp.UPDATE_END,
    (0xC9, 3, 0xCA): BusOp.SELECT_COPY,
    (0xCB, 0, 0xCC): BusOp.SELECT_STATISTICS,
    (0xEF, 1, None): BusOp.SET_READ_LEVEL,
}
OPERATIONS_OF_PARTS = {(0x00, 0, None): BusOp.SELECT, (0x05, 2, 0xE0): BusOp.SELECT}
FEATURE, PARAMETERS = 0x89, 4
TAKES_DATA = {BusOp.PROGRAM_MORE, BusOp.PROGRAM_LAST, BusOp.LOAD_CONSTANTS, BusOp.LOAD_GRADIENT}
LOADS = {BusOp.LOAD_CONSTANTS, BusOp.LOAD_GRADIENT}
NAMED_BEFORE = {BusOp.PROGRAM_MORE, BusOp.PROGRAM_LAST}
SELECTS = {BusOp.SELECT, BusOp.SUSPENDED_READ_SELECT, BusOp.SELECT_COPY, BusOp.SELECT_STATISTICS}
GIVES_STATUS = {BusOp.STATUS, BusOp.STATUS_PLANE}
SIGNALS = ("ce_n", "cle", "ale", "we", "dqs_o", "re", "dqs_i")


@dataclass
class Operation:
    """One operation as the pins had it; times are cycles. `begin` is its first clock, `end` its last."""

    die: int
    begin: int
    end: int = 0
    op: BusOp | None = None
    commands: list[int] = field(default_factory=list)
    address: list[int] = field(default_factory=list)
    data_in: int = 0  # beats
    data_out: int = 0
    last_data: int = 0  # clock of the last beat from the die

    @property
    def row(self) -> int:
        return int.from_bytes(bytes(self.address[-3:]), "little")


class PinMonitor:
    """Calls `on_operation` with each operation when it ends, and `on_status` when a status byte is asked for.

    A STATUS operation ends when its byte has been given, a DATA_OUT when DQS stops. Pins that belong to a
    command port are at rest for it.
    """

    def __init__(
        self,
        dut,
        config: FmsConfig,
        on_operation: Callable[[Operation], None],
        on_status: Callable[[int, int], None] = lambda die, clock: None,
    ):
        self.dut = dut
        self.config = config
        self.on_operation = on_operation
        self.on_status = on_status
        cycles = config.timing.cycles
        self.twc, self.tadl, self.twhr, self.trhw, self.tccs = (
            cycles(name) for name in ("twc", "tadl", "twhr", "trhw", "tccs")
        )
        self.turnaround = cycles("tchz")
        self.pins = [getattr(dut, f"nand__{name}") for name in SIGNALS]
        self.sdr = [dut.nand__sdr] if config.command_port else []
        self.dq = dut.nand__dq_o
        self.operation: Operation | None = None
        self.last_strobe = -(10**9)
        self.cycle_begin = 0
        self.cycle_byte = 0
        self.data_begin = {"dqs_o": 0, "re": 0, "dqs_i": 0}
        self.last_data = [-(10**9)] * config.geometry.dies  # last clock of data out of each die
        self.operations = OPERATIONS | (OPERATIONS_OF_PARTS if config.part_bytes else {})
        self.column_confirmed = [-(10**9)] * config.geometry.dies  # last strobe of a selection
        self.returned = [False] * config.geometry.dies  # it was 00h alone
        self.page_named = [-(10**9)] * config.geometry.dies  # and of the address of a page to be programmed
        self.beats_in = 0  # cycles of DQS of all dies, and of RE
        self.beats_out = 0
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        resting = {name: int(name == "ce_n") * ((1 << self.config.geometry.dies) - 1) for name in SIGNALS}
        before = resting
        while True:
            await First(*(ValueChange(pin) for pin in (*self.pins, *self.sdr)))
            await ReadOnly()
            values = [pin.value for pin in self.pins]
            if self.dut.rst.value == 1:
                self.operation, before = None, resting
                continue
            now = {name: int(value) for name, value in zip(SIGNALS, values, strict=True)}
            if any(pin.value == 1 for pin in self.sdr):
                now = resting
            self._step(round(get_sim_time("ns") / PERIOD_NS), before, now)
            before = now

    def _step(self, clock: int, before: dict[str, int], now: dict[str, int]) -> None:
        """The pins were `before` up to the clock before, and are `now` from this clock on."""
        for name in ("dqs_o", "re", "dqs_i"):
            if before[name] and not now[name]:
                self._data_ended(name, clock - 1, clock - self.data_begin[name])
        if before["ce_n"] != now["ce_n"]:
            if self.operation is not None:
                self._finish(clock - 1)
            self._select(clock, now["ce_n"])
        for name in ("dqs_o", "re", "dqs_i"):
            if now[name] and not before[name]:
                self.data_begin[name] = clock
                self._data_begins(name, clock, now)

        latching = now["cle"] or now["ale"]
        changed = (before["cle"], before["ale"]) != (now["cle"], now["ale"])
        if latching and (changed or before["we"]):
            self._cycle_begins(clock)
        if now["we"]:
            self._strobe(clock, now)

    def _select(self, clock: int, ce_n: int) -> None:
        low = [die for die in range(self.config.geometry.dies) if not ce_n >> die & 1]
        assert len(low) <= 1, f"clock {clock}: dies {low} are selected at once"
        self.operation = Operation(low[0], clock) if low else None

    def _cycle_begins(self, clock: int) -> None:
        self.cycle_begin = clock
        self.cycle_byte = int(self.dq.value)
        assert self.operation is not None, f"clock {clock}: a cycle, and no die is selected"
        for die, last in enumerate(self.last_data):
            rest = self.trhw if die == self.operation.die else self.turnaround
            assert clock - last >= rest, (
                f"clock {clock}: a command cycle {clock - last} cycles after data of {die}"
            )

    def _strobe(self, clock: int, now: dict[str, int]) -> None:
        operation = self.operation
        assert operation is not None, f"clock {clock}: WE_n, and no die is selected"
        assert now["cle"] != now["ale"], f"clock {clock}: WE_n with CLE {now['cle']}, ALE {now['ale']}"
        assert not (now["dqs_o"] or now["re"]), f"clock {clock}: data in a command or address cycle"
        length = clock - self.cycle_begin + 1
        assert length == self.twc, f"clock {clock}: a command cycle of {length} cycles, tWC is {self.twc}"
        byte = int(self.dq.value)
        assert byte == self.cycle_byte and byte < 256, f"clock {clock}: DQ changed within a cycle"
        if now["cle"]:
            operation.commands.append(byte)
        else:
            assert len(operation.commands) == 1, f"clock {clock}: an address after {operation.commands}"
            operation.address.append(byte)
        self.last_strobe = clock

    def _data_begins(self, name: str, clock: int, now: dict[str, int]) -> None:
        operation = self.operation
        if name == "dqs_i":
            return
        assert operation is not None, f"clock {clock}: {name}, and no die is selected"
        assert not (now["cle"] or now["ale"]), f"clock {clock}: {name} in a cycle"
        since = clock - self.last_strobe
        if name == "dqs_o":
            if not operation.commands:
                since = clock - self.page_named[operation.die]
            else:
                first = ([0xC0], [0xC2], [0xEF])
                assert operation.commands in first, f"clock {clock}: data in of {operation}"
            assert since >= self.tadl, f"clock {clock}: data in {since} cycles after the address"
        elif operation.commands:
            assert since >= self.twhr, f"clock {clock}: status {since} cycles after the last cycle"
            self.on_status(operation.die, clock)
        else:
            since = clock - self.column_confirmed[operation.die]
            least = self.twhr if self.returned[operation.die] else self.tccs
            assert since >= least, f"clock {clock}: data out {since} cycles after the selection"
            for die, last in enumerate(self.last_data):
                assert die == operation.die or clock - last >= self.turnaround, (
                    f"clock {clock}: no turnaround"
                )

    def _data_ended(self, name: str, last: int, beats: int) -> None:
        assert self.operation is not None, f"clock {last}: the die was deselected with its data under way"
        if name == "dqs_o":
            self.operation.data_in += beats
            self.beats_in += beats
        elif name == "re":
            self.operation.data_out += beats
            self.beats_out += beats
            self.last_data[self.operation.die] = last
        else:
            self.last_data[self.operation.die] = max(last, self.last_data[self.operation.die])
            self.operation.last_data = last

    def _finish(self, clock: int) -> None:
        """The die is deselected: the operation must be whole."""
        operation = self.operation
        assert operation is not None
        operation.end = clock
        page_beats = self.config.bus_page_bytes // 2
        if not operation.commands:
            operation.op = BusOp.DATA_OUT
        else:
            confirm = operation.commands[1] if len(operation.commands) == 2 else None
            key = (operation.commands[0], len(operation.address), confirm)
            known = key in self.operations and len(operation.commands) <= 2
            assert known, f"clock {clock}: unknown {operation}"
            operation.op = self.operations[key]
        if len(operation.address) == 5 and not self.config.part_bytes:
            assert operation.address[:2] == [0, 0], f"clock {clock}: column {operation.address[:2]}"
        expected_out = {BusOp.DATA_OUT: page_beats}.get(operation.op, int(operation.op in GIVES_STATUS))
        if operation.op is BusOp.DATA_OUT and self.config.part_bytes:
            expected_out = operation.data_out  # the bench knows how many
        expected_in = page_beats if operation.op in TAKES_DATA else 0
        if operation.op in LOADS:
            expected_in = self.config.loaded_page_bytes // 2
        if operation.op is BusOp.SET_READ_LEVEL:
            assert operation.address == [FEATURE], f"clock {clock}: {operation}"
            expected_in = PARAMETERS
        assert operation.data_in == expected_in, f"clock {clock}: {operation.data_in} beats into {operation}"
        assert operation.data_out == expected_out, (
            f"clock {clock}: {operation.data_out} beats from {operation}"
        )
        if operation.op in SELECTS:
            self.column_confirmed[operation.die] = self.last_strobe
            self.returned[operation.die] = operation.commands == [0x00]
        if operation.op is BusOp.PROGRAM_PAGE:
            self.page_named[operation.die] = self.last_strobe
        self.on_operation(operation)
