"""`Controller`: one association of a host with the subsystem, from the Connect of its admin queue on."""

import asyncio
from collections import deque
from functools import cached_property
from typing import Protocol

from flashtrain.nvme.wire.commands import Entry
from flashtrain.nvme.wire.statuses import is_final
from flashtrain.spec.pcie import (
    READY_TIMEOUT,
    VERSION,
    Configuration,
    Property,
    Ready,
    capabilities,
    is_possible,
)

from .events import Events
from .features import OF_NAMESPACES, Features
from .log_format import ERROR_ENTRIES, LogPage, constant_pages
from .notices import Notice, Notices
from .profile import Profile
from .settings import SubsystemSettings


class Link(Protocol):
    """A connection, as its controller needs it."""

    def close(self) -> None: ...

    def abort(self, cid: int) -> bool: ...


class Owner(Protocol):
    """The subsystem, as its controllers need it."""

    settings: SubsystemSettings
    notices: Notices

    @property
    def fault(self) -> Exception | None: ...

    def forget(self, controller: "Controller") -> None: ...

    def record_end(self, controller: "Controller") -> "asyncio.Future[None] | None": ...


class Controller:
    """The state of one controller: properties, features, events, and its connections by queue.

    A controller without its admin connection, or whose host is silent for too long, is gone.

    local_address: the address and the port by which its host has come.
    """

    def __init__(
        self, subsystem: Owner, number: int, host: str, profile: Profile, features: Features
    ) -> None:
        self.subsystem = subsystem
        self.number = number
        self.host = host
        self.profile = profile
        self.features = features
        self.events = Events()
        self.connections: dict[int, Link] = {}
        self.errors: deque[tuple[int, int, int, int, int, int]] = deque(maxlen=ERROR_ENTRIES)
        self.error_count = 0
        self.changed_zones: dict[int, set[int]] = {}
        self.known_warning = 0
        self.local_address: tuple[str, int] = ("", 0)
        self._configuration = 0
        self._ready = Ready(0)
        self._refused = False
        self._heard = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def admitted(self) -> bool:
        """Whether its host is admitted: until then it does nothing, and is not counted."""
        return 0 in self.connections

    @property
    def enabled(self) -> bool:
        return bool(self._configuration & 1) and not self._refused

    @cached_property
    def constant_pages(self) -> dict[tuple[LogPage, int | None], bytes]:
        """Its log pages whose content never changes, by page and command set."""
        profile = self.profile
        return constant_pages(profile.pages, profile.opcodes, self.features.supported, OF_NAMESPACES)

    # Properties.

    @property
    def configuration(self) -> int:
        """CC."""
        return self._configuration

    @property
    def capabilities(self) -> int:
        profile = self.profile
        return capabilities(self.subsystem.settings.entries, profile.page_exponents, profile.weighted)

    def get(self, offset: int) -> int | None:
        """A property's value; None for one that does not exist."""
        match offset:
            case Property.CAPABILITIES:
                return self.capabilities
            case Property.VERSION:
                return VERSION
            case Property.CONFIGURATION:
                return self._configuration
            case Property.STATUS:
                fatal = self._refused or self.subsystem.fault is not None
                return self._ready | (Ready.FATAL if fatal else Ready(0))
            case Property.SUBSYSTEM_RESET:
                return 0
            case Property.READY_TIMEOUTS:
                return READY_TIMEOUT
        return None

    def set(self, offset: int, value: int) -> bool:
        """Write a property; whether it can be written."""
        if offset != Property.CONFIGURATION:
            return False
        was, self._configuration = self._configuration, value
        if not was & 1 and value & 1:
            self._refused = not is_possible(value, self.profile.page_exponents, self.profile.weighted)
            self._ready = Ready(0)
            if not self._refused:
                self._start()
        elif was & 1 and not value & 1:
            self._reset()
        if Configuration.shutdown.get(value) and not Configuration.shutdown.get(was):
            self._shut_down()
        return True

    def _start(self) -> None:
        """CC.EN = 1: the controller is ready at once."""
        self._ready = Ready.READY

    def _reset(self) -> None:
        """CC.EN = 0: queues, their commands and values of features go, the content of the streams stays."""
        self._ready = Ready(0)
        self._refused = False
        self.events.drop()
        self.features.reset()
        for queue in [queue for queue in self.connections if queue]:
            self.connections.pop(queue).close()

    def _shut_down(self) -> None:
        """CC.SHN: the device records an orderly end; CSTS says so when it has, and CFS if it cannot."""
        self._ready = self._ready & ~Ready.SHUTDOWN_DONE | Ready.SHUTDOWN_BUSY
        future = self.subsystem.record_end(self)

        def done() -> None:
            self._ready = self._ready & ~Ready.SHUTDOWN_BUSY | Ready.SHUTDOWN_DONE

        def recorded(end: "asyncio.Future[None]") -> None:
            if not end.cancelled() and end.exception() is None:
                done()

        if future is None:
            done()
        else:
            future.add_done_callback(recorded)

    # Connections.

    def attach(self, queue: int, connection: Link) -> bool:
        """Add the connection of a queue; False if the queue has one. The admin queue admits the host."""
        if queue in self.connections:
            return False
        self.connections[queue] = connection
        if queue == 0:
            self.restart_timer()
        return True

    def detach(self, queue: int, connection: Link) -> None:
        """The connection of a queue has ended. Without the admin queue the controller is gone."""
        if self.connections.get(queue) is connection:
            del self.connections[queue]
            if queue == 0:
                self.end()

    def end(self) -> None:
        """End all connections, and forget the controller."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.events.drop()
        self.subsystem.forget(self)
        for connection in list(self.connections.values()):
            connection.close()

    # Keep alive.

    def heard(self) -> None:
        """The host has sent a command."""
        self._heard = asyncio.get_running_loop().time()

    def restart_timer(self) -> None:
        """Begin the keep-alive time anew."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.heard()
        if self.features.keep_alive:
            self._set_timer(self.features.keep_alive / 1000)

    def _set_timer(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)

    def _expire(self) -> None:
        silent = asyncio.get_running_loop().time() - self._heard
        left = self.features.keep_alive / 1000 - silent
        if left > 0:
            self._set_timer(left)
        else:
            line = f"host {self.host}: silent for {silent:.1f} s, its connections end"
            self.subsystem.notices.note(Notice.KEEP_ALIVE, line)
            self.end()

    # Errors.

    def fail(self) -> None:
        """Stop for an error that no completion can report: CSTS.CFS, until the controller is reset."""
        self._refused = True

    def note_error(self, queue: int, entry: Entry, status: int) -> None:
        """Enter a refused command in the error log."""
        self.error_count += 1
        field = status << 1 | is_final(status) << 15
        self.errors.appendleft((self.error_count, queue, entry.cid, field, entry.slba, entry.nsid))
