"""Commands of a host, as they pass in its queues."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from flashtrain.nvme.subsystem.command_trace import CommandTrace
from flashtrain.nvme.subsystem.refusals import Refusals
from flashtrain.nvme.wire.commands import AdminOpcode, Entry, parse_answer, parse_entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec import Opcode

_HOST = "pcie"
_WRITES = (Opcode.WRITE, Opcode.ZONE_APPEND)


class _Begun(NamedTuple):
    cycle: int
    entry: Entry


@dataclass
class Passed:
    """Commands that have ended. cycles: of all, from the fetch of the entry to the completion's last byte."""

    commands: int = 0
    cycles: int = 0

    @property
    def mean(self) -> float:
        return self.cycles / self.commands if self.commands else 0.0

    def add(self, cycles: int) -> None:
        self.commands += 1
        self.cycles += cycles


@dataclass
class CommandLog:
    """Counts commands, refusals, SGLs, and the cycles that commands take. Queue 0 has admin commands.

    trace: has each I/O command as it ends, if it is there.
    """

    reads: Passed = field(default_factory=Passed)
    writes: Passed = field(default_factory=Passed)
    others: Passed = field(default_factory=Passed)
    admin: Passed = field(default_factory=Passed)
    refusals: Refusals = field(default_factory=Refusals)
    trace: CommandTrace | None = None
    sgls: int = 0
    _begun: dict[tuple[int, int], _Begun] = field(default_factory=dict)

    def take(self, traffic: Iterable[np.void]) -> None:
        """Entries as `PcieLink.take_traffic` has them, in their order."""
        for row in traffic:
            raw = row["entry"].tobytes()
            if row["written"]:
                self._end(int(row["cycle"]), raw)
            else:
                entry = parse_entry(raw)
                self._begun[int(row["queue"]), entry.cid] = _Begun(int(row["cycle"]), entry)

    def forget(self) -> None:
        """Commands that were under way have no completion."""
        self._begun.clear()

    @property
    def open_commands(self) -> int:
        """I/O commands without a completion."""
        return sum(1 for queue, _ in self._begun if queue)

    @property
    def io(self) -> Passed:
        parts = self.reads, self.writes, self.others
        return Passed(sum(one.commands for one in parts), sum(one.cycles for one in parts))

    def _end(self, cycle: int, raw: bytes) -> None:
        answer = parse_answer(raw)
        begun = self._begun.pop((answer.queue, answer.cid), None)
        if begun is None:
            return
        if self.trace is not None and answer.queue:
            self.trace.note(answer.queue, begun.entry, answer.status, cycle)
        if answer.status != TargetStatus.SUCCESS and answer.queue:
            self.refusals.note(_HOST, begun.entry)
        self.sgls += bool(answer.queue and begun.entry.psdt)
        self._kind(answer.queue, begun.entry.opcode).add(cycle - begun.cycle)

    def _kind(self, queue: int, opcode: int) -> Passed:
        if not queue:
            # A request for an event waits for it, and says nothing about time.
            return Passed() if opcode == AdminOpcode.ASYNC_EVENT_REQUEST else self.admin
        if opcode == Opcode.READ:
            return self.reads
        return self.writes if opcode in _WRITES else self.others
