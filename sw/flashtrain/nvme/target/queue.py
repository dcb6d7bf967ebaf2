"""`Queue`: the commands of one connection, from their capsules to their completions."""

import asyncio
from collections import deque

from flashtrain.nvme.subsystem import io_commands
from flashtrain.nvme.subsystem.admin import Admin
from flashtrain.nvme.subsystem.controller import Controller
from flashtrain.nvme.subsystem.io_commands import Refusal
from flashtrain.nvme.subsystem.jobs import CapsuleData
from flashtrain.nvme.subsystem.notices import Notice
from flashtrain.nvme.subsystem.reply import Reply, reply_of
from flashtrain.nvme.subsystem.subsystem import Subsystem
from flashtrain.nvme.wire.commands import AdminOpcode, Entry, SglType, answer_bytes
from flashtrain.nvme.wire.pdu import Fatal, Transfer
from flashtrain.nvme.wire.statuses import TargetStatus, is_final

from .admission import check_pointer, check_state, fabrics_transfer
from .fabrics import Connected, Fabrics
from .framing import Framing
from .in_flight import InFlight

_LEAST_TRANSIT_BYTES = 1 << 20
MOST_ENTERING_COMMANDS = 8
"""Commands in flight until the host is admitted: Connect, and the messages of an authentication."""
MOST_ENTERING_IN_ALL = 64
"""Commands until the host is admitted: a peer without a proof takes little of the processor's time."""


class Queue:
    """The queue behind one connection: none until its host is admitted, then the admin or an I/O queue.

    - controller: to which the queue belongs; None until the host is admitted.
    - connected: the answer to its Connect; None until that is accepted.

    Memory is bounded: commands whose data would exceed a limit wait, as all do while the host takes no data,
    the refused ones, too.
    """

    def __init__(self, subsystem: Subsystem, fabrics: Fabrics) -> None:
        self._subsystem = subsystem
        self._fabrics = fabrics
        self._admin = Admin(subsystem)
        self.framing = Framing(self, fabrics.settings.stalled_seconds)
        self._sender = self.framing.sender
        self.controller: Controller | None = None
        self.connected: Connected | None = None
        self._number = 0
        self._entries = subsystem.settings.entries
        self._most_commands = MOST_ENTERING_COMMANDS
        self._entering_left = MOST_ENTERING_IN_ALL
        self._flow_control = True
        self._head = 0
        self._commands: dict[int, InFlight] = {}
        self._by_tag: dict[int, InFlight] = {}
        self._waiting: deque[InFlight] = deque()
        self._in_transit = 0
        self._most_in_transit = max(_LEAST_TRANSIT_BYTES, 2 * (4096 << subsystem.exponent))
        self._next_tag = 0
        self._goes_on = False

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
        line = f"{host}: connection ended, {reason.name.lower().replace('_', ' ')}"
        self._subsystem.notices.note(Notice.WRONG_PDU, line)

    def close(self) -> None:
        self.framing.close()

    @property
    def ended(self) -> bool:
        return self.framing.ended

    @property
    def local_address(self) -> tuple[str, int]:
        return self.framing.local_address

    def overdue(self, now: float) -> bool:
        return self.framing.overdue(now)

    def abort_connection(self) -> None:
        self.framing.abort()

    def command(self, entry: Entry, data: bytes, intact: bool) -> None:
        """A command capsule, with the data in it."""
        if self.controller is not None:
            self.controller.heard()
        elif self._entering_left:
            self._entering_left -= 1
        else:
            self.framing.fail(Fatal.SEQUENCE_ERROR)
            return
        if len(self._commands) >= self._most_commands or len(self._waiting) >= self._most_commands:
            self.framing.fail(Fatal.SEQUENCE_ERROR)
            return
        command = InFlight(entry)
        try:
            self._check(command, data, intact)
        except Refusal as refusal:
            command.refusal = refusal.status
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
        if self._goes_on:
            return  # a command has ended as soon as it had started, in the loop below
        self._goes_on = True
        while self._waiting and self._fits(self._waiting[0]):
            self._start(self._waiting.popleft())
        self._goes_on = False

    def _check(self, command: InFlight, data: bytes, intact: bool) -> None:
        """Enter a command, with its data and their size; :class:`Refusal` of one that cannot be executed."""
        entry = command.entry
        if entry.cid in self._commands:
            raise Refusal(TargetStatus.CID_CONFLICT)
        self._commands[entry.cid] = command
        check_state(entry, self.controller, self.connected is not None)
        transfer = self._transfer(entry)
        check_pointer(entry, transfer, len(data))
        command.to_device, command.size = transfer.to_device, transfer.to_device + transfer.to_host
        if command.to_device and entry.sgl_type == SglType.IN_CAPSULE:
            at = entry.sgl_address
            command.data = data[at : at + command.to_device]
            command.received, command.intact = command.to_device, intact

    # Starts.

    def _transfer(self, entry: Entry) -> io_commands.Transfer:
        if entry.opcode == AdminOpcode.FABRICS:
            return fabrics_transfer(entry)
        if self._number == 0:
            assert self.controller is not None  # else the command was refused before
            return io_commands.Transfer(to_host=self._admin.length(entry, self.controller.profile))
        return self._subsystem.io.transfer(entry)

    def _fits(self, command: InFlight) -> bool:
        room = self._in_transit == 0 or self._in_transit + command.size <= self._most_in_transit
        return self.framing.writable and room

    def _start(self, command: InFlight) -> None:
        if command.refusal is not None:
            self._refuse(command, command.refusal)
            return
        self._in_transit += command.size
        command.started = True
        if command.received < command.to_device:
            command.data = bytearray(command.to_device)
            while self._next_tag in self._by_tag:
                self._next_tag = self._next_tag + 1 & 0xFFFF
            tag, self._next_tag = self._next_tag, self._next_tag + 1 & 0xFFFF
            self._by_tag[tag] = command
            self._sender.ready(Transfer(command.entry.cid, tag, 0, command.to_device))
        else:
            self._execute(command)

    def _execute(self, command: InFlight) -> None:
        entry = command.entry
        if not command.intact:
            self._answer(command, Reply(TargetStatus.TRANSIENT_TRANSPORT_ERROR))
        elif entry.opcode == AdminOpcode.FABRICS:
            self._execute_fabrics(command)
        elif self._number == 0:
            self._execute_admin(command)
        else:
            self._execute_io(command)

    def _execute_io(self, command: InFlight) -> None:
        controller, entry = self.controller, command.entry
        assert controller is not None
        dulbe = controller.features.fails_on_unwritten(entry.nsid)

        def done(result: Reply) -> None:
            if self._commands.get(entry.cid) is not command:
                return  # the connection has ended: its host has no answer, and may send the command again
            self._subsystem.note(controller, self._number, entry, result, command.size)
            self._answer(command, result)

        self._subsystem.thread.submit(self._subsystem.io.job(entry, CapsuleData(command.data), dulbe, done))

    def _execute_fabrics(self, command: InFlight) -> None:
        reply = self._fabrics.execute(self, command.entry, bytes(command.data))
        if isinstance(reply, Connected):
            self.connected = reply
            self._entries, self._flow_control = reply.entries, reply.flow_control
            if self.controller is None:
                self._most_commands = min(self._most_commands, reply.entries)
            reply = Reply(result=reply.result)
        self._answer(command, reply)

    def admit(self, connected: Connected) -> None:
        """The host is admitted: this is the queue that its Connect asked for."""
        self.controller, self._number = connected.controller, connected.queue
        self._most_commands = connected.entries
        self.framing.admitted()

    def _execute_admin(self, command: InFlight) -> None:
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
                task.add_done_callback(lambda task: self._answer(command, reply_of(task)))

    def abort(self, cid: int) -> bool:
        """End a command that has not begun; False for one that cannot be ended."""
        command = self._commands.get(cid)
        if command is None or command.started:
            return False
        self._waiting.remove(command)
        self._answer(command, Reply(TargetStatus.ABORT_REQUESTED))
        return True

    # Answers.

    def _refuse(self, command: InFlight, status: int) -> None:
        controller = self.controller
        if controller is not None and status != TargetStatus.CID_CONFLICT:
            if self._number:
                self._subsystem.note(controller, self._number, command.entry, Reply(status), 0)
            else:
                controller.note_error(self._number, command.entry, status)
        self._answer(command, Reply(status))

    def _answer(self, command: InFlight, reply: Reply) -> None:
        cid = command.entry.cid
        if command.refusal != TargetStatus.CID_CONFLICT:  # else the CID is that of another command
            if self._commands.get(cid) is not command:
                return  # the connection has ended
            del self._commands[cid]
        if command.started:
            self._in_transit -= command.size
        self._head = (self._head + 1) % self._entries
        success = False
        if len(reply.data) and reply.status == TargetStatus.SUCCESS:
            success = not self._flow_control and reply.result == 0
            self._sender.data(cid, reply.data, success)
        if not success:
            head = self._head if self._flow_control else 0xFFFF
            self._sender.answer(answer_bytes(reply.result, head, cid, reply.status, is_final(reply.status)))
        self.go_on()
