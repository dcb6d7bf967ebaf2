"""Features of a controller (NVM Express Base 2.0, section 5.27)."""

from collections.abc import Collection
from enum import IntEnum

from flashtrain.nvme.wire.commands import Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec.host_commands import EVERY_NAMESPACE

from .namespaces import refusal_of
from .reply import Reply

ZONE_EVENTS = 1 << 27
"""Bit of the asynchronous event configuration: Zone Descriptor Changed Notices."""

WARNING_KELVIN, CRITICAL_KELVIN = 343, 358
"""Temperatures that the standard demands of a controller; the device has no sensor that could exceed them."""

_SAVE = 1 << 31
_DULBE = 1 << 16
_TIME_LIMIT = 0xFFFF
_VECTOR_AS_IT_IS = 1 << 16
"""CD: no coalescing of an interrupt vector."""

_OVER = 0
"""The kind of a temperature threshold, in bits 21:20: the upper one."""


class Select(IntEnum):
    """SEL: which value of a feature a host asks for."""

    CURRENT = 0
    DEFAULT = 1
    SAVED = 2
    CAPABILITIES = 3


class Feature(IntEnum):
    ARBITRATION = 0x01
    POWER_MANAGEMENT = 0x02
    TEMPERATURE_THRESHOLD = 0x04
    ERROR_RECOVERY = 0x05
    VOLATILE_WRITE_CACHE = 0x06
    QUEUES = 0x07
    INTERRUPT_COALESCING = 0x08
    INTERRUPT_VECTOR = 0x09
    WRITE_ATOMICITY = 0x0A
    ASYNC_EVENTS = 0x0B
    KEEP_ALIVE = 0x0F
    COMMAND_SETS = 0x19
    HOST_IDENTIFIER = 0x81


OF_NAMESPACES = (Feature.ERROR_RECOVERY,)
_CHANGEABLE = (
    Feature.QUEUES, Feature.INTERRUPT_COALESCING, Feature.INTERRUPT_VECTOR, Feature.ASYNC_EVENTS,
    Feature.KEEP_ALIVE, Feature.ERROR_RECOVERY,
)  # fmt: skip


class Features:
    """The features of one controller.

    - known: those that its transport has.
    - keep_alive: milliseconds until a silent host is gone; 0: never.
    - queues: I/O queues of a controller, at most.
    - cached: the device has a volatile write cache.
    """

    def __init__(
        self, known: tuple[Feature, ...], queues: int, cached: bool, host_identifier: bytes, keep_alive: int
    ) -> None:
        self._known = known
        self.supported = tuple(one for one in self._known if cached or one != Feature.VOLATILE_WRITE_CACHE)
        self.keep_alive = keep_alive
        self._queues = queues
        self._host_identifier = host_identifier
        self._async_events = 0
        self._recovery: dict[int, int] = {}
        self._default_keep_alive = keep_alive
        self._coalescing = 0
        self._vectors: dict[int, int] = {}

    @property
    def zone_events(self) -> bool:
        return bool(self._async_events & ZONE_EVENTS)

    @property
    def health_events(self) -> int:
        """The bits of the critical warning that raise an event."""
        return self._async_events & 0xFF

    def fails_on_unwritten(self, nsid: int) -> bool:
        """DULBE: whether a read of unwritten blocks is an error."""
        return bool(self._recovery.get(nsid, 0) & _DULBE)

    def set(self, entry: Entry, namespaces: Collection[int], in_use: bool) -> Reply:
        """Set a feature. in_use: the controller has I/O queues, whose number is settled by that."""
        if entry.dword_10 & _SAVE:
            return Reply(TargetStatus.FEATURE_NOT_SAVEABLE)
        feature, nsid, value = entry.dword_10 & 0xFF, entry.nsid, entry.dword_11
        if feature in self._known and nsid not in (0, EVERY_NAMESPACE):
            if refusal_of(nsid, namespaces) == TargetStatus.INVALID_NAMESPACE:
                return Reply(TargetStatus.INVALID_NAMESPACE)
            if feature != Feature.ERROR_RECOVERY:
                return Reply(TargetStatus.FEATURE_NOT_OF_A_NAMESPACE)
        if feature not in self.supported:
            return Reply(TargetStatus.INVALID_FIELD)
        match feature:
            case Feature.QUEUES if in_use:
                return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
            case Feature.QUEUES:
                if value & 0xFFFF == 0xFFFF or value >> 16 == 0xFFFF:
                    return Reply(TargetStatus.INVALID_FIELD)
                return Reply(result=self._granted)
            case Feature.INTERRUPT_COALESCING:
                self._coalescing = value & 0xFFFF
            case Feature.INTERRUPT_VECTOR if value & 0xFFFF <= self._queues:
                self._vectors[value & 0xFFFF] = value & _VECTOR_AS_IT_IS
            case Feature.ASYNC_EVENTS:
                self._async_events = value & (ZONE_EVENTS | 0xFF)
            case Feature.KEEP_ALIVE:
                self.keep_alive = value
            case Feature.ERROR_RECOVERY:
                chosen = set(namespaces) if nsid == EVERY_NAMESPACE else {nsid}
                if not chosen <= set(namespaces):
                    return Reply(refusal_of(nsid, namespaces))
                self._recovery |= dict.fromkeys(chosen, value & (_DULBE | _TIME_LIMIT))
            case Feature.HOST_IDENTIFIER:
                return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
            case Feature.VOLATILE_WRITE_CACHE if value & 1:
                pass
            case Feature.POWER_MANAGEMENT if not value & 0x1F:
                pass
            case Feature.ARBITRATION | Feature.WRITE_ATOMICITY if not value:
                pass
            case Feature.TEMPERATURE_THRESHOLD if value & 0xFFFF == _threshold(value):
                pass
            case Feature.COMMAND_SETS if not value & 0x1FF:
                pass
            case Feature.COMMAND_SETS:
                return Reply(TargetStatus.COMMAND_SETS_REJECTED)
            case (
                Feature.ARBITRATION
                | Feature.TEMPERATURE_THRESHOLD
                | Feature.WRITE_ATOMICITY
                | Feature.VOLATILE_WRITE_CACHE
            ):
                return Reply(TargetStatus.FEATURE_NOT_CHANGEABLE)
            case _:
                return Reply(TargetStatus.INVALID_FIELD)
        return Reply()

    def get(self, entry: Entry, namespaces: Collection[int]) -> Reply:
        feature, select = entry.dword_10 & 0xFF, entry.dword_10 >> 8 & 7
        if feature not in self.supported or select not in list(Select):
            return Reply(TargetStatus.INVALID_FIELD)
        if select == Select.CAPABILITIES:
            return Reply(result=(feature in OF_NAMESPACES) << 1 | (feature in _CHANGEABLE) << 2)
        current = select == Select.CURRENT
        match feature:
            case Feature.QUEUES:
                return Reply(result=self._granted)
            case Feature.INTERRUPT_COALESCING:
                return Reply(result=self._coalescing if current else 0)
            case Feature.INTERRUPT_VECTOR if entry.dword_11 & 0xFFFF > self._queues:
                return Reply(TargetStatus.INVALID_FIELD)
            case Feature.INTERRUPT_VECTOR:
                vector = entry.dword_11 & 0xFFFF
                return Reply(result=vector | (self._vectors.get(vector, 0) if current else 0))
            case Feature.ASYNC_EVENTS:
                return Reply(result=self._async_events if current else 0)
            case Feature.KEEP_ALIVE:
                return Reply(result=self.keep_alive if current else self._default_keep_alive)
            case Feature.ERROR_RECOVERY if entry.nsid == EVERY_NAMESPACE:
                return Reply(TargetStatus.INVALID_NAMESPACE)  # namespaces may differ
            case Feature.ERROR_RECOVERY if entry.nsid not in namespaces:
                return Reply(refusal_of(entry.nsid, namespaces))
            case Feature.ERROR_RECOVERY:
                return Reply(result=self._recovery.get(entry.nsid, 0) if current else 0)
            case Feature.HOST_IDENTIFIER:
                return Reply(data=self._host_identifier)
            case Feature.TEMPERATURE_THRESHOLD:
                return Reply(result=_threshold(entry.dword_11))
            case Feature.VOLATILE_WRITE_CACHE:
                return Reply(result=1)
        return Reply()

    @property
    def _granted(self) -> int:
        return (self._queues - 1) | (self._queues - 1) << 16


def _threshold(dword: int) -> int:
    """The temperature threshold of the kind in a command's dword 11: of the composite temperature."""
    return WARNING_KELVIN if dword >> 20 & 3 == _OVER and not dword >> 16 & 15 else 0
