"""Compares the answer of every command with that of the functional model."""

from dataclasses import dataclass

import numpy as np
from cocotb.triggers import Event
from numpy.typing import NDArray

from flashtrain.host.functional.executor import Executor
from flashtrain.host.functional.streams import StreamSettings
from flashtrain.host.functional.submission_entry import SubmissionEntry, parse
from flashtrain.host.queues.entries import CompletionEntry
from flashtrain.host.streams.zone_info import blank_sequences
from flashtrain.sim.bench.coverage import Coverage
from flashtrain.spec import FmsConfig, NodeTable, Opcode, Port, Status, ZoneAction, ZoneState

OPERATIONS: dict[int, str] = {
    Opcode.FLUSH: "flush",
    Opcode.WRITE: "write",
    Opcode.READ: "read",
    Opcode.ZONE_MANAGEMENT_SEND: "send",
    Opcode.ZONE_MANAGEMENT_RECEIVE: "receive",
    Opcode.ZONE_APPEND: "append",
    Opcode.STREAM_RESET: "reset_stream",
    Opcode.ZONE_RETIRE: "retire",
    Opcode.INSPECT: "inspect",
    Opcode.RESTORE: "restore",
}

# What checks 1 to 7 answer: the zone was not looked at.
_BEFORE_THE_ZONE = frozenset({
    Status.INVALID_OPCODE, Status.INVALID_FIELD, Status.INVALID_NAMESPACE, Status.ACCESS_DENIED,
    Status.SGL_TYPE_INVALID, Status.SGL_LENGTH_INVALID, Status.SGL_GRANULARITY_INVALID,
    Status.DATA_TRANSFER_ERROR, Status.LBA_OUT_OF_RANGE,
})  # fmt: skip


def operation_name(opcode: int) -> str:
    """The name that the test plan has for an operation."""
    return OPERATIONS.get(opcode, "unknown")


class PendingCommand:
    """A command on its way, and what is expected of it.

    piece: the part of the tensor buffer that is this command's. original, expected: its content before and
    afterwards; answer: status and result. All three are None when the model was not asked.
    """

    def __init__(self, port: Port, raw: bytes, piece: range):
        self.port = port
        self.raw = raw
        self.piece = piece
        self.request: SubmissionEntry = parse(raw)
        self.position = -1  # in its queue
        self.submitted = -1  # cycles
        self.completed = -1
        self.answer: tuple[Status, int] | None = None
        self.original: NDArray[np.uint8] | None = None
        self.expected: NDArray[np.uint8] | None = None
        self.completion: CompletionEntry | None = None
        self.done = Event()

    @property
    def ok(self) -> bool:
        return self.completion is not None and self.completion.ok

    @property
    def name(self) -> str:
        return operation_name(self.request.opcode)

    def __str__(self) -> str:
        r = self.request
        return (
            f"{self.name} {r.cid} of port {self.port.name} (opcode {r.opcode:#x}, nsid {r.nsid}, "
            f"slba {r.slba:#x}, blocks {r.blocks}, action {r.action:#x}, address {r.address:#x}, "
            f"length {r.length:#x})"
        )


@dataclass
class Totals:
    """Sums over the commands that succeeded since the enable."""

    commands: int = 0
    errors: int = 0
    appends: int = 0
    reads: int = 0
    pages_appended: int = 0
    pages_read: int = 0
    durable_pages: int = 0  # appended to non-volatile streams


class Scoreboard:
    """Predicts at submission, compares at completion.

    A port's commands are carried out in their order, so the model executes each when it is submitted. Where
    two ports use one stream at a time the outcome is not determined: then do not `predict`.
    """

    def __init__(self, config: FmsConfig, memory: NDArray[np.uint8], coverage: Coverage):
        self.config = config
        self.memory = memory
        self.coverage = coverage
        self._model_memory = np.zeros_like(memory)
        self._streams: dict[int, StreamSettings] = {}

    def use_node(self, node: NodeTable) -> None:
        """Judge by the streams of a node from the next reset on."""
        zones = node.zones(self.config.geometry.zones)
        self.persistency = {stream.nsid: stream.persistency for stream in node.streams}
        self._streams = {
            stream.nsid: StreamSettings(len(zones[stream.nsid]), {port: stream.access(port) for port in Port})
            for stream in node.streams
        }
        self.reset()

    def reset(self) -> None:
        """The controller was enabled: all streams are empty."""
        self.model = Executor(self.config, self._streams, self._model_memory, len(self.memory))
        self.totals = Totals()

    def state(self, nsid: int, zone: int) -> ZoneState:
        return self.model.zones(nsid)[zone].state

    def predict(self, command: PendingCommand) -> Status:
        """Let the model carry the command out on the present content of its piece."""
        piece = slice(command.piece.start, command.piece.stop)
        self._model_memory[piece] = command.original = self.memory[piece].copy()
        met = self._meeting(command)
        _cid, status, result = self.model.answer(command.port, command.raw)
        if met is not None and status not in _BEFORE_THE_ZONE:
            self.coverage.hit(*met)
        command.answer = status, result
        command.expected = self._model_memory[piece].copy()
        return status

    def check(self, command: PendingCommand) -> None:
        """The command was answered: is it as expected?"""
        completion, request = command.completion, command.request
        assert completion is not None
        self.coverage.hit(command.name, Status(completion.status))
        if command.answer is not None:
            status, result = command.answer
            assert completion.status == status, (
                f"{command}: status {completion.status!r}; expected {status!r}"
            )
            assert completion.result == result, (
                f"{command}: result {completion.result:#x}; expected {result:#x}"
            )
            actual = self._actual(command)
            assert command.expected is not None
            if not np.array_equal(actual, command.expected):
                first = int(np.nonzero(actual != command.expected)[0][0])
                raise AssertionError(f"{command}: the data differ from byte {first} on")
        self._count(command, request)

    def check_dropped(self, command: PendingCommand) -> None:
        """The controller was disabled: every byte is what it was, or what the command was to make of it."""
        if command.expected is not None:
            actual = self._actual(command)
            wrong = (actual != command.original) & (actual != command.expected)
            assert not wrong.any(), f"{command}: disabled, and {wrong.sum()} bytes are neither old nor new"

    def _actual(self, command: PendingCommand) -> NDArray[np.uint8]:
        """The content of the command's piece, without the numbers of allocations in a report, as expected."""
        actual, request = self.memory[command.piece.start : command.piece.stop].copy(), command.request
        if request.opcode == Opcode.ZONE_MANAGEMENT_RECEIVE and command.expected is not None:
            start = max(0, request.address - command.piece.start)
            for data in (actual, command.expected):
                blank_sequences(data[start : start + request.length])
        return actual

    def _count(self, command: PendingCommand, request: SubmissionEntry) -> None:
        totals = self.totals
        totals.commands += 1
        if not command.ok:
            totals.errors += 1
            return
        self.coverage.hit("port", f"{command.port.name}_{command.name}")
        if request.opcode in (Opcode.ZONE_APPEND, Opcode.WRITE):
            totals.appends += 1
            totals.pages_appended += request.blocks
            totals.durable_pages += request.blocks * self.persistency[request.nsid]
        elif request.opcode == Opcode.READ:
            totals.reads += 1
            totals.pages_read += request.blocks

    def _meeting(self, command: PendingCommand) -> tuple[str, str] | None:
        """The point of the plan that stands for this command meeting its zone in the present state."""
        request = command.request
        index = request.slba // self.config.geometry.zone_size
        action = command.name
        if action == "send" and request.action in frozenset(ZoneAction):
            action = ZoneAction(request.action).name.lower()
        elif action == "retire" and request.action in (ZoneState.READ_ONLY, ZoneState.OFFLINE):
            action = f"retire_{ZoneState(request.action).name.lower()}"
        elif action not in ("append", "write", "read"):
            return None
        stream = self._streams.get(request.nsid)
        if stream is None or index >= stream.zones or request.select_all:
            return None
        return f"zone.{self.state(request.nsid, index).name}", action
