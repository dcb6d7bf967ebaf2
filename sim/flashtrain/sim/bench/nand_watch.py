"""Observes the NAND pins: the operations that begin, and the programs that have passed.

It decodes the cycles on its own (ONFI 5.1, section 5). Whether they are legal is the checker's business
(`nand/checker.sv`).
"""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import DieStatus

_STATUS_COMMANDS = (0x70, 0x78)
_RESET = 0xFF
_SUSPENDED_READ, _SUSPENDED_READ_CONFIRM, _SUSPENDED_READ_SELECT = 0xBC, 0xBD, 0xBE
_PROGRAM = {0x11: "more", 0x15: "cache", 0x10: "last"}
_READ = {0x32: "more", 0x30: "first", 0x31: "cache"}
_ERASE = {0xD1: "more", 0xD0: "last"}


@dataclass
class _Die:
    first: int = -1  # the last command that began an operation
    loaded: int = 0  # planes of the multi-plane operation that is put together
    named: int = 0  # planes of a suspended read, which may come between those
    programs: deque[int] = field(default_factory=deque)  # pages of page sets whose status is not known


class NandWatch:
    """Follows the pins of all channels.

    operations: how often each was seen, by name; programmed, passed, failed: pages whose program was
    started, and whose status was then seen; `on_operation(channel, name)` is called with each operation.

    Names: program_n, sense_n, erase_n and suspended_read_n on n planes, cache_read, suspended_read_next,
    cache_end, select, status, reset.
    """

    def __init__(self, dut, config: FmsConfig, on_operation: Callable[[int, str], None]):
        self._on_operation = on_operation
        self.forget()
        g = config.geometry
        self._dies = [[_Die() for _ in range(g.dies)] for _ in range(g.channels)]
        for channel in range(g.channels):
            pins = {
                name: getattr(dut, f"nand__{channel}__{name}")
                for name in ("ce_n", "cle", "we", "dq_o", "dqs_i", "dq_i")
            }
            cocotb.start_soon(self._watch_cycles(channel, pins))
            cocotb.start_soon(self._watch_status(channel, pins))

    def forget(self) -> None:
        """Count from here on."""
        self.operations: Counter[str] = Counter()
        self.programmed = self.passed = self.failed = 0

    async def _watch_cycles(self, channel: int, pins: dict) -> None:
        edge = RisingEdge(pins["we"])
        while True:
            await edge
            await ReadOnly()
            if pins["cle"].value == 1:
                self._command(channel, self._selected(channel, pins), int(pins["dq_o"].value) & 0xFF)

    async def _watch_status(self, channel: int, pins: dict) -> None:
        edge = RisingEdge(pins["dqs_i"])
        while True:
            await edge
            await ReadOnly()
            die = self._selected(channel, pins)
            if die is not None and die.first in _STATUS_COMMANDS:
                self._status(die, DieStatus(int(pins["dq_i"].value) & 0xFF))

    def _selected(self, channel: int, pins: dict) -> _Die | None:
        ce_n = int(pins["ce_n"].value)
        return next((die for number, die in enumerate(self._dies[channel]) if not ce_n >> number & 1), None)

    def _command(self, channel: int, die: _Die | None, byte: int) -> None:
        if die is None:  # the checker complains
            return
        name = None
        if byte in _STATUS_COMMANDS or byte == _RESET:
            name = "reset" if byte == _RESET else "status"
        elif die.first == 0x80 and byte in _PROGRAM:
            name = self._put_together(die, "program", _PROGRAM[byte])
            if name:
                die.programs.append(int(name[-1]))
                self.programmed += int(name[-1])
        elif die.first == 0x00 and byte in _READ:
            name = self._put_together(die, "sense", _READ[byte])
        elif die.first == 0x60 and byte in _ERASE:
            name = self._put_together(die, "erase", _ERASE[byte])
        elif byte == _SUSPENDED_READ:
            die.named += 1
        elif byte == _SUSPENDED_READ_CONFIRM:
            name = f"suspended_read_{die.named}" if die.named else "suspended_read_next"
            die.named = 0
        elif byte == 0x31:
            name = "cache_read"
        elif byte == 0x3F:
            name = "cache_end"
        elif byte == 0xE0 or byte == _SUSPENDED_READ_SELECT:
            name = "select"
        if byte == _RESET:
            die.programs.clear()
            die.loaded = die.named = 0
        die.first = byte
        if name:
            self.operations[name] += 1
            self._on_operation(channel, name)

    @staticmethod
    def _put_together(die: _Die, what: str, kind: str) -> str | None:
        die.loaded += 1
        if kind == "more":
            return None
        planes, die.loaded = die.loaded, 0
        return f"{what}_{planes}"

    def _status(self, die: _Die, status: DieStatus) -> None:
        """RDY judges all page sets but the last, ARDY the last too."""
        while len(die.programs) > 1 and status & DieStatus.RDY:
            self._judge(die.programs.popleft(), status & DieStatus.FAILC)
        if die.programs and status & DieStatus.RDY and status & DieStatus.ARDY:
            self._judge(die.programs.popleft(), status & DieStatus.FAIL)

    def _judge(self, pages: int, failed: int) -> None:
        if failed:
            self.failed += pages
        else:
            self.passed += pages
