"""`Queue`: the commands of one connection, from their capsules to their completions."""

import asyncio
from collections import deque
from dataclasses import dataclass

from flashtrain.nvme.wire.commands import (
    SGL_PSDT,
    AdminOpcode,
    Entry,
    FabricsType,
    SglType,
    answer_bytes,
)  # fmt: skip
from flashtrain.nvme.wire.pdu import Fatal, Transfer
from flashtrain.nvme.wire.statuses import TargetStatus, is_final

from .admin import Admin
from .authentication import Authentication
from .controller import Controller
from .fabrics import Connected, Fabrics
from .framing import Framing
from .identify import IN_CAPSULE_BYTES
from .io_commands import Refusal
from .reply import Reply
from .subsystem import Subsystem

_FABRICS_TO_DEVICE = (FabricsType.CONNECT, FabricsType.AUTHENTICATION_SEND)
_LEAST_TRANSIT_BYTES = 1 << 20


@dataclass(eq=False)
class _Command:
    """A command in flight.

    - to_device, to_host: bytes that it moves; data: those that have come.
    - intact: whether all of them agreed with their digests.
    """

    entry: Entry
    to_device: int = 0
    to_host: int = 0
    data: bytes | bytearray = b""
    received: int = 0
    intact: bool = True
    started: bool = False


class Queue:
    """The queue behind one connection: none until its Connect, then the admin queue or an I/O queue.

    Memory is bounded: commands whose data would exceed a limit wait, as all do while the host takes no data.
    """

    def __init__(self, subsystem: Subsystem, fabrics: Fabrics) -> None:
        self._subsystem = subsystem
        self._fabrics = fabrics
        self._admin = Admin(subsystem)
        self.framing = Framing(self, subsystem.settings.stalled_seconds)
        self.controller: Controller | None = None
        self._number = 0
        self._entries = subsystem.settings.entries
        self._flow_control = True
        self._head = 0
        self._commands: dict[int, _Command] = {}
        self._by_tag: dict[int, _Command] = {}
        self._waiting: deque[_Command] = deque()
        self._in_transit = 0
        self._most_in_transit = max(_LEAST_TRANSIT_BYTES, 2 * (4096 << subsystem.exponent))
        self._next_tag = 0
        self._authenticated = False
        self.authentication: Authentication | None = None

    # Of the connection.

    def opened(self) -> None:
        self._fabrics.opened(self)

    def lost(self) -> None:
        """The connection has ended: its commands are forgotten."""
        self._commands.clear()
        self._by_tag.clear()
        self._waiting.clear()
        self._fabrics.lost(self)
        if self.controller is not None:
            self.controller.detach(self._number, self)

    def failed(self, reason: Fatal) -> None:
        host = "a host" if self.controller is None else f"host {self.controller.host}"
        self._subsystem.say(f"{host}: connection ended, {reason.name.lower().replace('_', ' ')}")

    def close(self) -> None:
        self.framing.close()

    def command(self, entry: Entry, data: bytes, intact: bool) -> None:
        """A command capsule, with the data in it."""
        if self.controller is not None:
            self.controller.heard()
        if len(self._commands) >= self._entries:
            self.framing.fail(Fatal.SEQUENCE_ERROR)
            return
        command = _Command(entry)
        if entry.cid in self._commands:
            self._answer(command, Reply(TargetStatus.CID_CONFLICT), known=False)
            return
        self._commands[entry.cid] = command
        try:
            self._check_state(entry)
            self._measure(command)
            self._check_pointer(command, data)
        except Refusal as refusal:
            self._refuse(command, refusal.status)
            return
        if command.to_device and command.entry.sgl_type == SglType.IN_CAPSULE:
            at = entry.sgl_address
            command.data = data[at : at + command.to_device]
            command.received, command.intact = command.to_device, intact
        if self._waiting or not self._fits(command):
            self._waiting.append(command)
        else:
            self._start(command)

    def data(self, transfer: Transfer, last: bool, data: bytes, intact: bool) -> tuple[Fatal, int] | None:
        """Data that the host was asked for; the reason and the field if they are not."""
        command = self._by_tag.get(transfer.tag)
        if command is None:
            return Fatal.INVALID_HEADER_FIELD, 10
        if command.entry.cid != transfer.cid:
            return Fatal.INVALID_HEADER_FIELD, 8
        if transfer.length != len(data):
            return Fatal.INVALID_HEADER_FIELD, 16
        end = transfer.offset + transfer.length
        if transfer.offset != command.received:
            return Fatal.SEQUENCE_ERROR if transfer.offset < command.to_device else Fatal.OUT_OF_RANGE, 12
        if end > command.to_device:
            return Fatal.OUT_OF_RANGE, 16
        if last != (end == command.to_device):
            return Fatal.INVALID_HEADER_FIELD, 1
        assert isinstance(command.data, bytearray)
        command.data[transfer.offset : end] = data
        command.received = end
        command.intact = command.intact and intact
        if last:
            del self._by_tag[transfer.tag]
            self._execute(command)
        return None

    def go_on(self) -> None:
        """Start commands that wait, as far as there is room."""
        while self._waiting and self._fits(self._waiting[0]):
            self._start(self._waiting.popleft())

    # Checks.

    def _check_state(self, entry: Entry) -> None:
        fabrics = entry.opcode == AdminOpcode.FABRICS
        if self.controller is None:
            if not (fabrics and entry.nsid & 0xFF == FabricsType.CONNECT):
                raise Refusal(TargetStatus.COMMAND_SEQUENCE_ERROR)
        elif not self._authenticated:
            authenticates = (FabricsType.AUTHENTICATION_SEND, FabricsType.AUTHENTICATION_RECEIVE)
            if not (fabrics and entry.nsid & 0xFF in authenticates):
                raise Refusal(TargetStatus.AUTHENTICATION_REQUIRED)
        elif not fabrics and not self.controller.enabled:
            raise Refusal(TargetStatus.COMMAND_SEQUENCE_ERROR)

    def _measure(self, command: _Command) -> None:
        """Find the data that a command moves."""
        entry = command.entry
        if entry.opcode == AdminOpcode.FABRICS:
            kind = entry.nsid & 0xFF
            if kind in _FABRICS_TO_DEVICE:
                command.to_device = entry.sgl_length
                if command.to_device > IN_CAPSULE_BYTES:
                    raise Refusal(TargetStatus.SGL_LENGTH_INVALID)
            elif kind == FabricsType.AUTHENTICATION_RECEIVE:
                command.to_host = entry.sgl_length
        elif self._number == 0:
            command.to_host = self._admin.length(entry)
        else:
            transfer = self._subsystem.io.transfer(entry)
            command.to_device, command.to_host = transfer.to_device, transfer.to_host

    def _check_pointer(self, command: _Command, data: bytes) -> None:
        entry = command.entry
        if not (command.to_device or command.to_host):
            return
        if entry.opcode != AdminOpcode.FABRICS and entry.flags & 0xC0 != SGL_PSDT:
            raise Refusal(TargetStatus.INVALID_FIELD)
        in_capsule = entry.sgl_type == SglType.IN_CAPSULE
        if not (in_capsule and command.to_device) and entry.sgl_type != SglType.TRANSPORT:
            raise Refusal(TargetStatus.SGL_TYPE_INVALID)
        needed = command.to_device or command.to_host
        if entry.sgl_length < needed or (command.to_device and entry.sgl_length != needed):
            raise Refusal(TargetStatus.SGL_LENGTH_INVALID)
        if in_capsule and entry.sgl_address + entry.sgl_length > len(data):
            raise Refusal(TargetStatus.INVALID_SGL_OFFSET)

    def _fits(self, command: _Command) -> bool:
        size = command.to_device + command.to_host
        room = self._in_transit == 0 or self._in_transit + size <= self._most_in_transit
        return self.framing.writable and room

    # Execution.

    def _start(self, command: _Command) -> None:
        self._in_transit += command.to_device + command.to_host
        command.started = True
        if command.received < command.to_device:
            command.data = bytearray(command.to_device)
            while self._next_tag in self._by_tag:
                self._next_tag = self._next_tag + 1 & 0xFFFF
            tag, self._next_tag = self._next_tag, self._next_tag + 1 & 0xFFFF
            self._by_tag[tag] = command
            self.framing.send_ready(Transfer(command.entry.cid, tag, 0, command.to_device))
        else:
            self._execute(command)

    def _execute(self, command: _Command) -> None:
        entry = command.entry
        if not command.intact:
            self._answer(command, Reply(TargetStatus.TRANSIENT_TRANSPORT_ERROR))
        elif entry.opcode == AdminOpcode.FABRICS:
            self._execute_fabrics(command)
        elif self._number == 0:
            self._execute_admin(command)
        else:
            self._execute_io(command)

    def _execute_io(self, command: _Command) -> None:
        controller, entry = self.controller, command.entry
        assert controller is not None
        dulbe = controller.features.fails_on_unwritten(entry.nsid)

        def done(result: Reply) -> None:
            if self._commands.get(entry.cid) is not command:
                return  # the connection has ended: its host has no answer, and may send the command again
            self._subsystem.note(
                controller, self._number, entry, result, command.to_device or command.to_host
            )
            self._answer(command, result)

        self._subsystem.thread.submit(self._subsystem.io.job(entry, command.data, dulbe, done))

    def _execute_fabrics(self, command: _Command) -> None:
        reply = self._fabrics.execute(self, command.entry, bytes(command.data))
        if isinstance(reply, Connected):
            self.controller, self._number = reply.controller, reply.queue
            self._entries, self._flow_control = reply.entries, reply.flow_control
            self.authentication = reply.authentication
            self._authenticated = reply.authentication is None
            self.framing.connected()
            self._answer(command, Reply(result=reply.result))
        else:
            self._answer(command, reply)

    def authenticated(self) -> None:
        """The host has proved to have its key."""
        self._authenticated = True

    def _execute_admin(self, command: _Command) -> None:
        controller = self.controller
        assert controller is not None
        entry = command.entry
        if entry.opcode == AdminOpcode.ASYNC_EVENT_REQUEST:
            if controller.events.full:
                self._answer(command, Reply(TargetStatus.ASYNC_EVENT_LIMIT_EXCEEDED))
            else:
                controller.events.request(lambda result: self._answer(command, Reply(result=result)))
        else:
            reply = self._admin.execute(controller, entry)
            if isinstance(reply, Reply):
                self._answer(command, reply)
            else:
                task = asyncio.ensure_future(reply)
                task.add_done_callback(lambda task: self._answer(command, _reply_of(task)))

    def abort(self, cid: int) -> bool:
        """End a command that has not begun; False for one that cannot be ended."""
        command = self._commands.get(cid)
        if command is None or command.started:
            return False
        self._waiting.remove(command)
        self._answer(command, Reply(TargetStatus.ABORT_REQUESTED))
        return True

    # Answers.

    def _refuse(self, command: _Command, status: int) -> None:
        controller = self.controller
        if controller is not None:
            if self._number:
                self._subsystem.note(controller, self._number, command.entry, Reply(status), 0)
            else:
                controller.note_error(self._number, command.entry, status)
        self._answer(command, Reply(status))

    def _answer(self, command: _Command, reply: Reply, known: bool = True) -> None:
        cid = command.entry.cid
        if known:
            if self._commands.get(cid) is not command:
                return  # the connection has ended
            del self._commands[cid]
        if command.started:
            self._in_transit -= command.to_device + command.to_host
        self._head = (self._head + 1) % self._entries
        success = False
        if len(reply.data) and reply.status == TargetStatus.SUCCESS:
            success = not self._flow_control and reply.result == 0
            self.framing.send_data(cid, reply.data, success)
        if not success:
            head = self._head if self._flow_control else 0xFFFF
            self.framing.send_answer(
                answer_bytes(reply.result, head, cid, reply.status, is_final(reply.status))
            )
        self.go_on()


def _reply_of(task: "asyncio.Future[Reply]") -> Reply:
    if task.cancelled() or task.exception() is not None:
        return Reply(TargetStatus.INTERNAL_ERROR)
    return task.result()
