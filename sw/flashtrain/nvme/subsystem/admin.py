"""Admin commands of a connected controller: identify, log pages, features, keep alive and abort."""

from collections.abc import Awaitable, Callable

from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.nvme.wire.stream_note import packed_note
from flashtrain.spec import Access, Port
from flashtrain.spec.host_commands import EVERY_NAMESPACE

from . import log_format
from .controller import Controller
from .features import Feature
from .health import health_page, wear_of
from .identify import STRUCTURE_BYTES, Structure, discovery_controller
from .io_commands import Refusal
from .log_format import LogPage
from .profile import DISCOVERY, Profile
from .reply import SUCCESS, Reply
from .subsystem import Subsystem

MOST_LOG_BYTES = 64 << 10
LEFT_ALONE = 1
"""Reply of an abort that has ended no command."""


class Admin:
    """Executes admin commands. A reply that needs the device is awaited."""

    def __init__(self, subsystem: Subsystem) -> None:
        self._subsystem = subsystem

    def length(self, entry: Entry, profile: Profile) -> int:
        """Bytes for the host; :class:`Refusal` of a command that controllers of this profile do not take."""
        if entry.opcode not in profile.opcodes:
            raise Refusal(TargetStatus.INVALID_OPCODE)
        if entry.flags & 0x3:
            raise Refusal(TargetStatus.INVALID_FIELD)
        match entry.opcode:
            case AdminOpcode.IDENTIFY:
                return STRUCTURE_BYTES
            case AdminOpcode.GET_LOG_PAGE:
                length = log_format.page_bytes(entry)
                if length > MOST_LOG_BYTES or log_format.page_offset(entry) % 4:
                    raise Refusal(TargetStatus.INVALID_FIELD)
                return length
            case AdminOpcode.GET_FEATURES if entry.dword_10 & 0xFF == Feature.HOST_IDENTIFIER:
                return 16
        return 0

    def execute(self, controller: Controller, entry: Entry) -> Reply | Awaitable[Reply]:
        match entry.opcode:
            case AdminOpcode.IDENTIFY:
                return self._identify(controller, entry)
            case AdminOpcode.GET_LOG_PAGE:
                return self._log_page(controller, entry)
            case AdminOpcode.SET_FEATURES:
                in_use = any(controller.connections)
                reply = controller.features.set(entry, self._subsystem.namespaces, in_use)
                if entry.dword_10 & 0xFF == Feature.KEEP_ALIVE:
                    controller.restart_timer()
                return reply
            case AdminOpcode.GET_FEATURES:
                return controller.features.get(entry, self._subsystem.namespaces)
            case AdminOpcode.KEEP_ALIVE:
                controller.restart_timer()
                return SUCCESS
            case AdminOpcode.ABORT:
                return self._abort(controller, entry)
        return Reply(TargetStatus.INVALID_OPCODE)

    def _identify(self, controller: Controller, entry: Entry) -> Reply:
        if controller.profile is not DISCOVERY:
            return self._subsystem.identify.reply(entry, controller.number, controller.profile)
        if entry.dword_10 & 0xFF != Structure.CONTROLLER:
            return Reply(TargetStatus.INVALID_FIELD)
        own = self._subsystem
        return Reply(data=discovery_controller(own.settings, own.serial, controller.number))

    def _abort(self, controller: Controller, entry: Entry) -> Reply:
        queue = controller.connections.get(entry.dword_10 & 0xFFFF)
        ended = queue is not None and queue.abort(entry.dword_10 >> 16)
        return SUCCESS if ended else Reply(result=LEFT_ALONE)

    # Log pages.

    def _log_page(self, controller: Controller, entry: Entry) -> Reply | Awaitable[Reply]:
        page = entry.dword_10 & 0xFF
        if page not in controller.profile.pages:
            return Reply(TargetStatus.INVALID_LOG_PAGE)
        if not entry.dword_10 >> 15 & 1:
            controller.events.clear(page)
        if page == LogPage.HEALTH and entry.nsid not in (0, EVERY_NAMESPACE):
            return Reply(TargetStatus.INVALID_FIELD)  # LPA: the page is of the controller
        if page == LogPage.HEALTH:
            return self._health(entry, controller.error_count)
        if page == LogPage.NOTE and entry.nsid in self._subsystem.namespaces:
            return self._note(entry)
        content = self._content(page, controller, entry)
        return Reply(TargetStatus.INVALID_LOG_PAGE) if content is None else _part(content(), entry)

    def _content(self, page: int, controller: Controller, entry: Entry) -> Callable[[], bytes] | None:
        settings = self._subsystem.settings
        match page:
            case LogPage.ERRORS:
                return lambda: log_format.error_page(list(controller.errors))
            case LogPage.EFFECTS if controller.profile is DISCOVERY:
                return lambda: log_format.effects_page(controller.profile.opcodes, {})
            case LogPage.DISCOVERY:
                return lambda: log_format.discovery_page(settings.nqn, *controller.local_address)
            case LogPage.CHANGED_ZONES if entry.nsid in self._subsystem.namespaces:
                return lambda: self._changed_zones(controller, entry)
        constant = controller.constant_pages
        found = constant.get((page, None), constant.get((page, entry.dword_14 >> 24)))
        return None if found is None else lambda: found

    def _changed_zones(self, controller: Controller, entry: Entry) -> bytes:
        changed = sorted(controller.changed_zones.get(entry.nsid, ()))
        if not entry.dword_10 >> 15 & 1:
            controller.changed_zones.pop(entry.nsid, None)
        return log_format.changed_zones_page(changed)

    async def _health(self, entry: Entry, errors: int) -> Reply:
        own = self._subsystem
        wear = await own.thread.ask(wear_of)
        return _part(health_page(wear, own.traffic, own.hours, errors), entry)

    async def _note(self, entry: Entry) -> Reply:
        own = self._subsystem
        stream = own.namespaces[entry.nsid].stream
        if Access.READ not in stream.access(Port.HOST):
            return Reply(TargetStatus.INVALID_LOG_PAGE)
        note = await own.thread.ask(lambda device: device.stream(stream.name, Port.HOST).note)
        return _part(packed_note(note), entry)


def _part(page: bytes, entry: Entry) -> Reply:
    """The part of a log page that the host has asked for; behind its end are zeros."""
    offset, length = log_format.page_offset(entry), log_format.page_bytes(entry)
    if offset > len(page):
        return Reply(TargetStatus.INVALID_FIELD)
    return Reply(data=page[offset : offset + length].ljust(length, b"\0"))
