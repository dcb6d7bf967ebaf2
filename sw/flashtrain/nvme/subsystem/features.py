"""Features of a controller (NVM Express Base 2.0, section 5.27)."""

from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import NamedTuple

from flashtrain.nvme.wire.commands import Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec.host_commands import EVERY_NAMESPACE
from flashtrain.spec.pcie import MailboxArbitration, Priority

from .namespaces import refusal_of
from .reply import Reply

ZONE_EVENTS = 1 << 27
"""Bit of the asynchronous event configuration: Zone Descriptor Changed Notices."""

WARNING_KELVIN, CRITICAL_KELVIN = 343, 358
"""Temperatures that the standard demands of a controller; the device has no sensor that could exceed them."""

_SAVE = 1 << 31
DULBE = 1 << 16
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
    """FID."""

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
CHANGEABLE = (
    Feature.QUEUES, Feature.INTERRUPT_COALESCING, Feature.INTERRUPT_VECTOR, Feature.ASYNC_EVENTS,
    Feature.KEEP_ALIVE, Feature.ERROR_RECOVERY,
)  # fmt: skip


class Fixed(NamedTuple):
    """A feature that never changes. A host may set the bits of `mask` to `value`; else `refusal` answers."""

    mask: int
    value: int
    refusal: TargetStatus
    result: int = 0


FIXED: Mapping[Feature, Fixed] = {
    Feature.ARBITRATION: Fixed(0xFFFF_FFFF, 0, TargetStatus.FEATURE_NOT_CHANGEABLE),
    Feature.POWER_MANAGEMENT: Fixed(0x1F, 0, TargetStatus.INVALID_FIELD),
    Feature.VOLATILE_WRITE_CACHE: Fixed(1, 1, TargetStatus.FEATURE_NOT_CHANGEABLE, result=1),
    Feature.WRITE_ATOMICITY: Fixed(0xFFFF_FFFF, 0, TargetStatus.FEATURE_NOT_CHANGEABLE),
    Feature.COMMAND_SETS: Fixed(0x1FF, 0, TargetStatus.COMMAND_SETS_REJECTED),
}

STORED: Mapping[Feature, int] = {
    Feature.INTERRUPT_COALESCING: 0xFFFF,
    Feature.INTERRUPT_VECTOR: _VECTOR_AS_IT_IS,
    Feature.ASYNC_EVENTS: ZONE_EVENTS | 0xFF,
    Feature.ERROR_RECOVERY: DULBE | _TIME_LIMIT,
    Feature.ARBITRATION: 0xFFFF_FF07,
}
"""The bits that are kept of a value. Before the first one they are 0."""


class Features:
    """The features of one controller.

    - known: those that its transport has.
    - keep_alive: milliseconds until a silent host is gone; 0: never.
    - queues: I/O queues of a controller, at most.
    - cached: the device has a volatile write cache.
    - weighted: weights of arbitration can be set. Otherwise it is one of `fixed`.
    """

    def __init__(
        self, known: tuple[Feature, ...], queues: int, cached: bool, host_identifier: bytes, keep_alive: int,
        weighted: bool = False,
    ) -> None:  # fmt: skip
        self._known = known
        self.supported = tuple(one for one in self._known if cached or one != Feature.VOLATILE_WRITE_CACHE)
        self.keep_alive = keep_alive
        self.changeable = (*CHANGEABLE, Feature.ARBITRATION) if weighted else CHANGEABLE
        self.fixed = {one: fixed for one, fixed in FIXED.items() if one not in self.changeable}
        self._queues = queues
        self._host_identifier = host_identifier
        self._default_keep_alive = keep_alive
        self.reset()

    def reset(self) -> None:
        """A reset of the controller: all values but that of keep alive are those of the beginning."""
        self._async_events = 0
        self._recovery: dict[int, int] = {}
        self._coalescing = self._arbitration = 0
        self._vectors: dict[int, int] = {}

    @property
    def zone_events(self) -> bool:
        return bool(self._async_events & ZONE_EVENTS)

    @property
    def health_events(self) -> int:
        """The bits of the critical warning that raise an event."""
        return self._async_events & 0xFF

    @property
    def weights(self) -> dict[Priority, int]:
        """Commands of each class of queues in a round of weighted arbitration."""
        fields = MailboxArbitration
        return {
            priority: field.get(self._arbitration) + 1
            for priority, field in (
                (Priority.HIGH, fields.high), (Priority.MEDIUM, fields.medium), (Priority.LOW, fields.low),
            )
        }  # fmt: skip

    @property
    def aggregation(self) -> tuple[int, int]:
        """Completions of a vector that wait for more, less one, and for how long, in units of 100 us."""
        return self._coalescing & 0xFF, self._coalescing >> 8

    def coalesces(self, vector: int) -> bool:
        """Whether interrupts of a vector may wait: not those of the admin queue."""
        return bool(vector) and not self._vectors.get(vector, 0)

    def fails_on_unwritten(self, nsid: int) -> bool:
        """DULBE: whether a read of unwritten blocks is an error."""
        return bool(self._recovery.get(nsid, 0) & DULBE)

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
            case Feature.ARBITRATION if feature not in self.fixed:
                self._arbitration = value & STORED[feature]
            case Feature.INTERRUPT_COALESCING:
                self._coalescing = value & STORED[feature]
            case Feature.INTERRUPT_VECTOR if value & 0xFFFF <= self._queues:
                self._vectors[value & 0xFFFF] = value & STORED[feature]
            case Feature.ASYNC_EVENTS:
                self._async_events = value & STORED[feature]
            case Feature.KEEP_ALIVE:
                self.keep_alive = value
            case Feature.ERROR_RECOVERY:
                chosen = set(namespaces) if nsid == EVERY_NAMESPACE else {nsid}
                if not chosen <= set(namespaces):
                    return Reply(refusal_of(nsid, namespaces))
                self._recovery |= dict.fromkeys(chosen, value & STORED[feature])
            case Feature.HOST_IDENTIFIER:
                return Reply(TargetStatus.COMMAND_SEQUENCE_ERROR)
            case Feature.TEMPERATURE_THRESHOLD:
                if value & 0xFFFF != _threshold(value):
                    return Reply(TargetStatus.FEATURE_NOT_CHANGEABLE)
            case _ if (fixed := self.fixed.get(feature)) is not None:
                if value & fixed.mask != fixed.value:
                    return Reply(fixed.refusal)
            case _:
                return Reply(TargetStatus.INVALID_FIELD)
        return Reply()

    def get(self, entry: Entry, namespaces: Collection[int]) -> Reply:
        feature, select = entry.dword_10 & 0xFF, entry.dword_10 >> 8 & 7
        if feature not in self.supported or select not in list(Select):
            return Reply(TargetStatus.INVALID_FIELD)
        if select == Select.CAPABILITIES:
            return Reply(result=(feature in OF_NAMESPACES) << 1 | (feature in self.changeable) << 2)
        current = select == Select.CURRENT
        match feature:
            case Feature.QUEUES:
                return Reply(result=self._granted)
            case Feature.ARBITRATION if feature not in self.fixed:
                return Reply(result=self._arbitration if current else 0)
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
        return Reply(result=self.fixed[feature].result)

    @property
    def _granted(self) -> int:
        return (self._queues - 1) | (self._queues - 1) << 16


def _threshold(dword: int) -> int:
    """The temperature threshold of the kind in a command's dword 11: of the composite temperature."""
    return WARNING_KELVIN if dword >> 20 & 3 == _OVER and not dword >> 16 & 15 else 0
