"""Fabrics commands: connect, and the properties of a controller (Base 6)."""

import asyncio
import struct
from dataclasses import dataclass
from typing import Protocol

from flashtrain.nvme.subsystem.controller import Controller, Link
from flashtrain.nvme.subsystem.log_format import LEAST_ADMIN_ENTRIES
from flashtrain.nvme.subsystem.notices import Notice
from flashtrain.nvme.subsystem.profile import DISCOVERY, FABRICS
from flashtrain.nvme.subsystem.reply import Reply
from flashtrain.nvme.subsystem.settings import DISCOVERY_NQN
from flashtrain.nvme.subsystem.subsystem import Subsystem
from flashtrain.nvme.wire.commands import Entry, FabricsType
from flashtrain.nvme.wire.dhchap import SECURITY_PROTOCOL
from flashtrain.nvme.wire.nqn import is_nqn
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec.pcie import Property

from .authentication import MOST_MESSAGE_BYTES, Authentication, Stage
from .settings import Settings

CONNECT_BYTES = 1024
DYNAMIC_CONTROLLER = 0xFFFF
_EIGHT_BYTES = (Property.CAPABILITIES,)
_IN_DATA = 1 << 16
_AUTHENTICATE = 1 << 17
"""Of the result of a Connect: an authentication transaction must follow."""

_RESERVED_ATTRIBUTES = 0xF0
"""Of CATTR (NVM Express Base 2.0, Figure 380)."""

_GRACE_SECONDS = 0.5
"""Time for a host to read why it is not admitted."""


@dataclass(frozen=True)
class Connected:
    """The answer to a Connect: which queue of which controller this is, once its host is admitted.

    - authentication: by which the host must first prove to have its key; None: it need not.
    - flow_control: completions carry the head of the submission queue.
    """

    controller: Controller
    queue: int
    entries: int
    flow_control: bool
    authentication: Authentication | None

    @property
    def result(self) -> int:
        return self.controller.number | (0 if self.authentication is None else _AUTHENTICATE)


@dataclass(frozen=True)
class _Request:
    """The fields of a Connect command and of its data."""

    record: int
    queue: int
    entries: int
    attributes: int
    keep_alive: int
    identifier: bytes
    controller: int
    subsystem: str
    host: str


class ConnectingQueue(Link, Protocol):
    """A queue, as its Connect needs it: see :class:`Queue`."""

    controller: Controller | None
    connected: Connected | None

    def admit(self, connected: Connected) -> None: ...

    @property
    def local_address(self) -> tuple[str, int]: ...

    @property
    def ended(self) -> bool: ...

    def overdue(self, now: float) -> bool: ...

    def abort_connection(self) -> None: ...


class Fabrics:
    """Connects queues to controllers, for all connections of a target.

    A connection *enters* until its host is admitted: by Connect, and if there is a secret by its proof. It
    takes no controller and no queue until then, and the oldest one makes room for others.
    """

    def __init__(self, subsystem: Subsystem, settings: Settings) -> None:
        self._subsystem = subsystem
        self.settings = settings
        self.open: set[ConnectingQueue] = set()
        self._entering: dict[ConnectingQueue, None] = {}  # the oldest first

    def opened(self, queue: ConnectingQueue) -> None:
        settings = self.settings
        self.open.add(queue)
        self._entering[queue] = None
        if len(self.open) > settings.connections or len(self._entering) > settings.entering:
            oldest = next(iter(self._entering))  # at least this one
            self._note(oldest, Notice.TURNED_AWAY, "made room for others")
            self._end(oldest)

    def lost(self, queue: ConnectingQueue) -> None:
        self.open.discard(queue)
        self._entering.pop(queue, None)
        if queue.controller is None and queue.connected is not None and queue.connected.queue == 0:
            queue.connected.controller.end()  # of a host that was not admitted

    def end_overdue(self, now: float) -> None:
        """End the connections in which something has lasted for too long; `now`: the event loop's time."""
        for queue in [one for one in self.open if one.overdue(now)]:
            if not queue.ended:
                self._note(queue, Notice.OVERDUE, "silent, or reads nothing")
            self._end(queue)

    def _note(self, queue: ConnectingQueue, kind: Notice, reason: str) -> None:
        host = "a host" if queue.connected is None else f"host {queue.connected.controller.host}"
        self._subsystem.notices.note(kind, f"{host}: connection ended, {reason}")

    def _end(self, queue: ConnectingQueue) -> None:
        queue.abort_connection()
        self.lost(queue)

    def execute(self, queue: ConnectingQueue, entry: Entry, data: bytes) -> Reply | Connected:
        kind = entry.nsid & 0xFF
        if kind == FabricsType.CONNECT:
            if queue.connected is not None:
                return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
            return self._connect(queue, entry, data)
        connected = queue.connected
        assert connected is not None
        match kind:
            case FabricsType.PROPERTY_GET if connected.queue == 0:
                return _get(connected.controller, entry)
            case FabricsType.PROPERTY_SET if connected.queue == 0:
                return _set(connected.controller, entry)
            case FabricsType.AUTHENTICATION_SEND | FabricsType.AUTHENTICATION_RECEIVE:
                return self._authenticate(queue, connected, entry, data)
        return Reply(TargetStatus.INVALID_OPCODE)

    def _authenticate(self, queue: ConnectingQueue, connected: Connected, entry: Entry, data: bytes) -> Reply:
        exchange = connected.authentication
        if exchange is None or exchange.over:
            return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
        if tuple(entry.fields[1:4]) != (1, 1, SECURITY_PROTOCOL):
            return Reply(TargetStatus.INVALID_FIELD)
        if entry.nsid & 0xFF == FabricsType.AUTHENTICATION_SEND:
            exchange.receive(data)
            return Reply()
        answer = exchange.answer(min(entry.sgl_length, MOST_MESSAGE_BYTES))
        if exchange.stage is Stage.DONE:
            if not self._admit(queue, connected):
                self._close_soon(queue)
        elif exchange.stage is Stage.FAILED:
            line = f"host {connected.controller.host}: authentication failed"
            self._subsystem.notices.note(Notice.FAILED_PROOF, line)
            self._close_soon(queue)
        return Reply(data=answer)

    def _close_soon(self, queue: ConnectingQueue) -> None:
        asyncio.get_running_loop().call_later(_GRACE_SECONDS, queue.close)

    def _admit(self, queue: ConnectingQueue, connected: Connected) -> bool:
        """Let the queue's host in; False if its controller or its queue has gone, or they are too many."""
        controller, number = connected.controller, connected.queue
        if number == 0:
            if self._full(controller.host):
                return False
        elif self._subsystem.controllers.get(controller.number) is not controller or not controller.enabled:
            return False
        if not controller.attach(number, queue):
            return False
        self._entering.pop(queue, None)
        queue.admit(connected)
        if number == 0 and controller.profile is not DISCOVERY:
            line = f"host {controller.host}: controller {controller.number}"
            self._subsystem.notices.note(Notice.CONTROLLER, line)
        return True

    def _full(self, host: str) -> bool:
        if self._subsystem.full:
            self._subsystem.notices.note(Notice.FULL, f"host {host}: all controllers are in use")
        return self._subsystem.full

    # Connect.

    def _connect(self, queue: ConnectingQueue, entry: Entry, data: bytes) -> Reply | Connected:
        if len(data) != CONNECT_BYTES:
            return Reply(TargetStatus.SGL_LENGTH_INVALID)
        request = _parse(entry, data)
        if request.record != 0:
            return Reply(TargetStatus.CONNECT_INCOMPATIBLE_FORMAT)
        least = 2 if request.queue else LEAST_ADMIN_ENTRIES
        if not least <= request.entries <= self.settings.entries:
            return _invalid(44)
        if request.attributes & _RESERVED_ATTRIBUTES:
            return _invalid(46)
        if not is_nqn(request.host):
            return _invalid(512, in_data=True)
        discovery = request.subsystem == DISCOVERY_NQN
        if not discovery and request.subsystem != self.settings.nqn:
            return _invalid(256, in_data=True)
        if not self._allowed(request.host):
            self._subsystem.notices.note(Notice.NOT_ALLOWED, f"host {request.host}: not allowed")
            return Reply(TargetStatus.CONNECT_INVALID_HOST)
        if request.queue == 0:
            return self._connect_admin(queue, request, discovery)
        return self._connect_io(queue, request, discovery)

    def _allowed(self, host: str) -> bool:
        hosts = self.settings.hosts
        return hosts is None or host in hosts

    def _connect_admin(self, queue: ConnectingQueue, request: _Request, discovery: bool) -> Reply | Connected:
        if request.controller != DYNAMIC_CONTROLLER:
            return _invalid(16, in_data=True)
        if self._full(request.host):
            return Reply(TargetStatus.CONNECT_CONTROLLER_BUSY)
        controller = self._subsystem.open_controller(
            request.host, DISCOVERY if discovery else FABRICS, request.identifier, request.keep_alive
        )
        controller.local_address = queue.local_address
        return self._connected(queue, controller, request)

    def _connect_io(self, queue: ConnectingQueue, request: _Request, discovery: bool) -> Reply | Connected:
        controller = self._subsystem.controllers.get(request.controller)
        if controller is None:
            return _invalid(16, in_data=True)
        if controller.host != request.host:
            return _invalid(512, in_data=True)
        if (controller.profile is DISCOVERY) != discovery:
            return _invalid(256, in_data=True)
        if discovery or request.queue > self.settings.queues:
            return _invalid(42)
        if not controller.enabled:
            return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
        if request.queue in controller.connections:
            return _invalid(42)
        return self._connected(queue, controller, request)

    def _connected(self, queue: ConnectingQueue, controller: Controller, request: _Request) -> Connected:
        exchange = None
        if (key := self.settings.key_of(request.host)) is not None:
            exchange = Authentication(key, request.host, request.subsystem)
        flow_control = not request.attributes >> 2 & 1
        connected = Connected(controller, request.queue, request.entries, flow_control, exchange)
        if exchange is None:
            self._admit(queue, connected)
        return connected


def _parse(entry: Entry, data: bytes) -> _Request:
    record, queue, size, attributes, keep_alive = struct.unpack_from("<HHHBxI", entry.fields)
    return _Request(
        record, queue, size + 1, attributes, keep_alive,
        data[:16], int.from_bytes(data[16:18], "little"), _name(data[256:512]), _name(data[512:768]),
    )  # fmt: skip


def _name(raw: bytes) -> str:
    """The name in UTF-8 that a NUL ends, or an empty one: two hosts must not share a name."""
    name, end, _ = raw.partition(b"\0")
    try:
        return name.decode() if end else ""
    except UnicodeDecodeError:
        return ""


def _invalid(field: int, in_data: bool = False) -> Reply:
    """A refused Connect names the wrong field: an offset in the command, or in its data."""
    return Reply(TargetStatus.CONNECT_INVALID_PARAMETERS, field | (_IN_DATA if in_data else 0))


def _get(controller: Controller, entry: Entry) -> Reply:
    attributes, offset = struct.unpack_from("<B3xI", entry.fields)
    value = controller.get(offset)
    if value is None or attributes & 7 != (1 if offset in _EIGHT_BYTES else 0):
        return Reply(TargetStatus.INVALID_FIELD)
    return Reply(result=value)


def _set(controller: Controller, entry: Entry) -> Reply:
    attributes, offset, value = struct.unpack_from("<B3xIQ", entry.fields)
    if attributes & 7 or not controller.set(offset, value & 0xFFFF_FFFF):
        return Reply(TargetStatus.INVALID_FIELD)
    return Reply()
