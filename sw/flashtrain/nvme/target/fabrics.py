"""Fabrics commands: connect, and the properties of a controller (Base 6)."""

import asyncio
import struct
from dataclasses import dataclass
from typing import Protocol

from flashtrain.nvme.wire.commands import Entry, FabricsType
from flashtrain.nvme.wire.dhchap import SECURITY_PROTOCOL
from flashtrain.nvme.wire.statuses import TargetStatus

from .authentication import Authentication, Stage
from .controller import Controller, Link, Property
from .reply import Reply
from .settings import DISCOVERY_NQN
from .subsystem import Subsystem

CONNECT_BYTES = 1024
DYNAMIC_CONTROLLER = 0xFFFF
_EIGHT_BYTES = (Property.CAPABILITIES,)
_IN_DATA = 1 << 16
_AUTHENTICATE = 1 << 17
"""Of the result of a Connect: an authentication transaction must follow."""

_GRACE_SECONDS = 0.5
"""Time for a host to read why its authentication has failed."""


@dataclass(frozen=True)
class Connected:
    """A queue that is connected now.

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
    """A queue, as its Connect needs it: `controller` is None before."""

    controller: Controller | None
    authentication: Authentication | None

    def authenticated(self) -> None: ...


class Fabrics:
    """Connects queues to controllers, for all connections of a target."""

    def __init__(self, subsystem: Subsystem) -> None:
        self._subsystem = subsystem
        self.open: set[ConnectingQueue] = set()

    def opened(self, queue: ConnectingQueue) -> None:
        self.open.add(queue)
        if len(self.open) > self._subsystem.settings.connections:
            queue.close()

    def lost(self, queue: ConnectingQueue) -> None:
        self.open.discard(queue)

    def execute(self, queue: ConnectingQueue, entry: Entry, data: bytes) -> Reply | Connected:
        kind = entry.nsid & 0xFF
        if kind == FabricsType.CONNECT:
            if queue.controller is not None:
                return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
            return self._connect(queue, entry, data)
        controller = queue.controller
        assert controller is not None
        match kind:
            case FabricsType.PROPERTY_GET:
                return _get(controller, entry)
            case FabricsType.PROPERTY_SET:
                return _set(controller, entry)
            case FabricsType.AUTHENTICATION_SEND | FabricsType.AUTHENTICATION_RECEIVE:
                return self._authenticate(queue, controller, entry, data)
        return Reply(TargetStatus.INVALID_OPCODE)

    def _authenticate(
        self, queue: ConnectingQueue, controller: Controller, entry: Entry, data: bytes
    ) -> Reply:
        exchange = queue.authentication
        if exchange is None:
            return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
        if tuple(entry.fields[1:4]) != (1, 1, SECURITY_PROTOCOL):
            return Reply(TargetStatus.INVALID_FIELD)
        if entry.nsid & 0xFF == FabricsType.AUTHENTICATION_SEND:
            exchange.receive(data)
            return Reply()
        answer = exchange.answer(entry.sgl_length)
        if exchange.stage is Stage.DONE:
            queue.authenticated()
        elif exchange.stage is Stage.FAILED:
            self._subsystem.say(f"host {controller.host}: authentication failed")
            asyncio.get_running_loop().call_later(_GRACE_SECONDS, queue.close)
        return Reply(data=answer)

    # Connect.

    def _connect(self, queue: ConnectingQueue, entry: Entry, data: bytes) -> Reply | Connected:
        if len(data) != CONNECT_BYTES:
            return Reply(TargetStatus.SGL_LENGTH_INVALID)
        request = _parse(entry, data)
        if request.record != 0:
            return Reply(TargetStatus.CONNECT_INCOMPATIBLE_FORMAT)
        if request.entries < 2 or request.entries > self._subsystem.settings.entries:
            return _invalid(44)
        if not request.host.startswith("nqn."):
            return _invalid(512, in_data=True)
        discovery = request.subsystem == DISCOVERY_NQN
        if not discovery and request.subsystem != self._subsystem.settings.nqn:
            return _invalid(256, in_data=True)
        if not self._allowed(request.host):
            self._subsystem.say(f"host {request.host}: not allowed")
            return Reply(TargetStatus.CONNECT_INVALID_HOST)
        if request.queue == 0:
            return self._connect_admin(queue, request, discovery)
        return self._connect_io(queue, request)

    def _allowed(self, host: str) -> bool:
        hosts = self._subsystem.settings.hosts
        return not hosts or host in hosts

    def _connect_admin(self, queue: ConnectingQueue, request: _Request, discovery: bool) -> Reply | Connected:
        if request.controller != DYNAMIC_CONTROLLER:
            return _invalid(16, in_data=True)
        controller = self._subsystem.open_controller(
            request.host, request.identifier, request.keep_alive, discovery
        )
        if controller is None:
            return Reply(TargetStatus.CONNECT_CONTROLLER_BUSY)
        controller.attach(0, queue)
        if not discovery:
            self._subsystem.say(f"host {request.host}: controller {controller.number}")
        return self._connected(controller, request)

    def _connect_io(self, queue: ConnectingQueue, request: _Request) -> Reply | Connected:
        controller = self._subsystem.controllers.get(request.controller)
        if controller is None or controller.host != request.host:
            return _invalid(16, in_data=True)
        if controller.discovery or request.queue > self._subsystem.settings.queues:
            return _invalid(42)
        if not controller.enabled:
            return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
        if not controller.attach(request.queue, queue):
            return _invalid(42)
        return self._connected(controller, request)

    def _connected(self, controller: Controller, request: _Request) -> Connected:
        exchange = None
        if (key := self._subsystem.settings.key_of(request.host)) is not None:
            exchange = Authentication(key, request.host, request.subsystem)
        flow_control = not request.attributes >> 2 & 1
        return Connected(controller, request.queue, request.entries, flow_control, exchange)


def _parse(entry: Entry, data: bytes) -> _Request:
    record, queue, size, attributes, keep_alive = struct.unpack_from("<HHHBxI", entry.fields)
    return _Request(
        record, queue, size + 1, attributes, keep_alive,
        data[:16], int.from_bytes(data[16:18], "little"), _name(data[256:512]), _name(data[512:768]),
    )  # fmt: skip


def _name(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode("utf-8", "replace")


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
