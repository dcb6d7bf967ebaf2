"""`Subsystem`: the device as a subsystem, with its namespaces and its controllers."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from flashtrain.host import Device
from flashtrain.nvme.wire.commands import Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec import Opcode, Status, ZoneState

from .command_trace import CommandTrace
from .controller import Controller
from .device_thread import DeviceInLoop, DeviceThread
from .events import Event
from .features import Features
from .health import Traffic, wear_of
from .identify import Identify
from .io_commands import IoCommands
from .jobs import Effect, Job
from .namespaces import namespaces_of, transfer_exponent
from .notices import Notice, Notices
from .profile import DISCOVERY, Profile
from .refusals import Refusals
from .reply import Reply
from .settings import SubsystemSettings
from .zone_reports import report_blocks, report_command, reported

_OUT_OF_SERVICE = (Status.WRITE_FAULT, Status.ZONE_IS_READ_ONLY, Status.ZONE_IS_OFFLINE)
ControllerT = TypeVar("ControllerT", bound=Controller)

_MEDIA_ERRORS = (Status.WRITE_FAULT, Status.UNRECOVERED_READ_ERROR)


class Subsystem:
    """All that the controllers of a device share, whatever the transport.

    - notices: lines for the log that hosts cause.
    - serial: of the controllers.
    - thread: uses the device. in_loop: it is the event loop itself, for a Link without time.
    - refusals: refused I/O commands, and how many of them were sent again.
    - trace: has each I/O command as it ends, if it is there.
    """

    def __init__(
        self, device: Device, settings: SubsystemSettings, say: Callable[[str], None], in_loop: bool = False
    ) -> None:
        self.settings = settings
        self.notices = Notices(say)
        self.serial = device.serial if settings.serial is None else settings.serial
        self.namespaces = namespaces_of(device.config, device.node, self.serial)
        self.exponent = transfer_exponent(device.config)
        config = device.config
        self.controllers: dict[int, Controller] = {}
        self.identify = Identify(
            settings, self.serial, self.namespaces, self.exponent, (config.max_open, config.max_active),
            lambda: (one.number for one in self.controllers.values() if one.profile is not DISCOVERY),
        )  # fmt: skip
        self.io = IoCommands(device, self.namespaces, 4096 << self.exponent)
        self.thread = (DeviceInLoop if in_loop else DeviceThread)(device, say)
        self.traffic = Traffic()
        self.refusals = Refusals()
        self.trace: CommandTrace | None = None
        self._tasks: set[asyncio.Future[None]] = set()
        self._started = time.monotonic()
        self._next = 1
        self._retired: dict[int, dict[int, ZoneState]] = {nsid: {} for nsid in self.namespaces}

    @property
    def fault(self) -> Exception | None:
        return self.thread.fault

    @property
    def hours(self) -> int:
        return int(time.monotonic() - self._started) // 3600

    # Controllers.

    @property
    def full(self) -> bool:
        """Whether there are as many controllers of admitted hosts as there may be."""
        return sum(one.admitted for one in self.controllers.values()) >= self.settings.controllers

    def open_controller(
        self, host: str, profile: Profile, identifier: bytes = bytes(16), keep_alive: int = 0,
        kind: type[ControllerT] = Controller,
    ) -> ControllerT:  # fmt: skip
        """A new controller, whose host is to be admitted."""
        while self._next in self.controllers:
            self._next = self._next % 0xFFEF + 1
        number, self._next = self._next, self._next % 0xFFEF + 1
        features = Features(
            profile.features, self.settings.queues, self.identify.cached, identifier, keep_alive,
            profile.weighted,
        )  # fmt: skip
        controller = kind(self, number, host, profile, features)
        self.controllers[number] = controller
        return controller

    def forget(self, controller: Controller) -> None:
        self.controllers.pop(controller.number, None)

    def record_end(self, controller: Controller) -> "asyncio.Future[None] | None":
        """Record an orderly end, if this controller is the last in use."""
        others = (one for one in self.controllers.values() if one is not controller and one.enabled)
        if controller.profile is DISCOVERY or any(one.profile is not DISCOVERY for one in others):
            return None
        return asyncio.wrap_future(self.thread.record_end())

    # After commands.

    def note(self, controller: Controller, queue: int, entry: Entry, result: Reply, count: int) -> None:
        """Count a completed I/O command of `count` bytes, and look at what its status means."""
        if self.trace is not None:
            self.trace.note(queue, entry, result.status)
        traffic = self.traffic
        if result.status == TargetStatus.SUCCESS:
            if entry.opcode == Opcode.READ:
                traffic.reads += 1
                traffic.bytes_read += count
            elif entry.opcode in (Opcode.WRITE, Opcode.ZONE_APPEND):
                traffic.writes += 1
                traffic.bytes_written += count
            return
        controller.note_error(queue, entry, result.status)
        if self.refusals.note(controller.host, entry):
            line = f"host {controller.host}: sent a refused command again, opcode {entry.opcode:#04x}"
            self.notices.note(Notice.REPEATED, line)
        if result.status in _MEDIA_ERRORS:
            traffic.media_errors += 1
        if result.status in _OUT_OF_SERVICE:
            self._look_for_retired(entry.nsid)

    def _look_for_retired(self, nsid: int) -> None:
        """Report a namespace, and tell hosts about zones that have been retired since the last time."""
        namespace = self.namespaces.get(nsid)
        if namespace is None:
            return

        def steps(space):
            completion = yield report_command(namespace, space)
            zones = reported(namespace, space) if completion.status == Status.SUCCESS else []
            found.update(
                {z.start: z.state for z in zones if z.state in (ZoneState.READ_ONLY, ZoneState.OFFLINE)}
            )
            return Reply(completion.status)

        def done(_: Reply) -> None:
            known = self._retired[nsid]
            changed = {start for start, state in found.items() if known.get(start) is not state}
            known.update(found)
            if changed:
                for controller in self.controllers.values():
                    if controller.features.zone_events:
                        controller.changed_zones.setdefault(nsid, set()).update(changed)
                        controller.events.raise_event(Event.ZONES_CHANGED)
                self._look_at_wear()

        found: dict[int, ZoneState] = {}
        self.thread.submit(Job(report_blocks(namespace), Effect.READS, steps, done))

    def _look_at_wear(self) -> None:
        task = asyncio.ensure_future(self.check_wear())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def check_wear(self) -> None:
        """Read the wear, and raise an event for each new warning that a host has asked for."""
        wear = await self.thread.ask(wear_of)
        for controller in self.controllers.values():
            new = wear.warning & controller.features.health_events & ~controller.known_warning
            controller.known_warning |= wear.warning
            if new:
                controller.events.raise_event(Event.RELIABILITY)
