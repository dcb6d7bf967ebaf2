"""The zones of a device as `flashtrain.spec.nvme` describes them, in plain Python: no time and no flash."""

from dataclasses import dataclass, field

from flashtrain.rtl.layouts import Operation
from flashtrain.spec import FmsConfig, Status, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction, ReportHeader, ZoneDescriptor
from flashtrain.spec.streams import Codec

EMPTY, FULL, CLOSED = ZoneState.EMPTY, ZoneState.FULL, ZoneState.CLOSED
OPEN = (ZoneState.IMPLICITLY_OPEN, ZoneState.EXPLICITLY_OPEN)
ACTIVE = (*OPEN, CLOSED)
RETIRED = (ZoneState.READ_ONLY, ZoneState.OFFLINE)
_FILTERS = {
    EMPTY: 1, ZoneState.IMPLICITLY_OPEN: 2, ZoneState.EXPLICITLY_OPEN: 3, CLOSED: 4, FULL: 5,
    ZoneState.READ_ONLY: 6, ZoneState.OFFLINE: 7,
}  # fmt: skip
"""Reporting options by the state that they select."""


@dataclass
class Zone:
    state: ZoneState = EMPTY
    pointer: int = 0
    since: int = 0  # when the first block was appended
    sequence: int = 0  # number of its allocation
    unsure: bool = False  # blocks behind the pointer may have been written


@dataclass(frozen=True)
class AgeRule:
    """Seconds after which a stream's data are old, and refused: as the contract's words have it."""

    due: int
    refused: int | None


@dataclass(frozen=True)
class Request:
    """A decoded command. `zone` counts within the stream; rows, pages and copies are those of an update;
    physical and what follows it those of recovery, where `offset` is of a restored zone's last block; codec,
    bound and expanded those of a stream with a codec."""

    operation: Operation
    stream: int = 0
    zone: int = 0
    offset: int = 0
    blocks: int = 1
    action: int = 0
    select_all: int = 0
    source: int = 0
    source_page: int = 0
    rows: int = 0
    pages: int = 0
    copies: int = 0
    status: int = 0
    descriptors: int = 0
    report_filter: int = 0
    partial: int = 0
    physical: int = 0
    restored_state: int = 0
    unsure: int = 0
    wear: int = 0
    sequence: int = 0
    generation: int = 0
    time: int = 0
    codec: Codec = Codec.RAW
    bound: int = 0
    expanded: int = 0

    @property
    def encodes(self) -> bool:
        """Whether the length of this append is not known before its end."""
        return self.operation is Operation.APPEND and self.codec is not Codec.RAW

    @property
    def restores_zone(self) -> bool:
        return self.operation is Operation.RESTORE and self.action == RestoreAction.ZONE


@dataclass(frozen=True)
class Outcome:
    """offset: where the blocks lie in the zone; emptied: device-wide zones that lost their content;
    report: the bytes of a report."""

    status: Status
    offset: int = 0
    result: int = 0
    emptied: tuple[int, ...] = ()
    report: bytes = b""


class Refused(Exception):
    """The command fails with this status."""

    def __init__(self, status: Status):
        super().__init__(status.name)
        self.status = status


@dataclass
class ZoneModel:
    """`streams`: the zones of each stream, by number."""

    config: FmsConfig
    streams: dict[int, range]
    zones: list[Zone] = field(default_factory=list)
    resets: dict[int, int] = field(default_factory=dict)
    uncommitted: set[int] = field(default_factory=set)
    pinned: set[int] = field(default_factory=set)
    restored: set[int] = field(default_factory=set)  # streams of which a zone has been
    recovering: bool = False
    sequence: int = 0  # of the next allocation
    now: int = 0
    ages: dict[int, AgeRule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.zones = [Zone() for _ in range(self.config.geometry.zones)]
        self.resets = dict.fromkeys(self.streams, 0)

    def is_old(self, zone: Zone, age: int | None) -> bool:
        passed = (self.now - zone.since) % 2**32
        if passed >= 2**31 + (age or 0):
            passed -= 2**32  # data from the future
        return age is not None and passed >= age

    def expired(self, stream: int, zone: Zone) -> bool:
        return stream in self.ages and self.is_old(zone, self.ages[stream].refused)

    def of(self, stream: int) -> list[Zone]:
        return [self.zones[number] for number in self.streams[stream]]

    def execute(self, request: Request) -> Outcome:
        if request.status:
            return Outcome(Status(request.status))
        handlers = {
            Operation.FLUSH: lambda _: Outcome(Status.SUCCESS),
            Operation.APPEND: self._append,
            Operation.WRITE: self._append,
            Operation.READ: self._read,
            Operation.SEND: self._send,
            Operation.RETIRE: self._retire,
            Operation.RECEIVE: self._report,
            Operation.RESET: lambda request: self._reset_all(request.stream),
            Operation.UPDATE: self._append,
            Operation.GENERATION: self._generation,
            Operation.CONSTANTS: lambda _: Outcome(Status.SUCCESS),
            Operation.STATISTICS: lambda _: Outcome(Status.SUCCESS),
            Operation.INSPECT: self._inspect,
            Operation.RESTORE: self._restore,
        }
        try:
            self._require_stream(request)
            return handlers[request.operation](request)
        except Refused as refused:
            return Outcome(refused.status)

    def _require_stream(self, request: Request) -> None:
        """Check 8, but for the comparison of a commit."""
        recovers = request.operation in (Operation.INSPECT, Operation.RESTORE)
        if recovers and not self.recovering:
            raise Refused(Status.COMMAND_SEQUENCE_ERROR)
        if self.recovering and not recovers:
            raise Refused(Status.NAMESPACE_NOT_READY)
        changes = (Operation.APPEND, Operation.WRITE, Operation.UPDATE, Operation.RETIRE, Operation.RESET)
        loses = (ZoneAction.RESET, ZoneAction.OFFLINE)
        loses_data = request.operation is Operation.SEND and request.action in loses
        if request.stream in self.pinned and (request.operation in changes or loses_data):
            raise Refused(Status.NAMESPACE_WRITE_PROTECTED)
        pins = request.operation is Operation.GENERATION and request.action == GenerationAction.PIN
        if request.stream in self.uncommitted and (request.operation is Operation.READ or pins):
            raise Refused(Status.NAMESPACE_NOT_READY)
        if request.operation is Operation.UPDATE and request.source in self.uncommitted:
            raise Refused(Status.NAMESPACE_NOT_READY)

    def _generation(self, request: Request) -> Outcome:
        stream, source = request.stream, request.source
        match GenerationAction(request.action):
            case GenerationAction.PIN:
                self.pinned.add(stream)
            case GenerationAction.RELEASE:
                self.pinned.discard(stream)
            case GenerationAction.COMMIT:
                pairs = zip(self.of(stream), self.of(source), strict=True)
                if stream not in self.uncommitted or any(new.pointer < old.pointer for new, old in pairs):
                    raise Refused(Status.INVALID_FIELD)
                self.uncommitted.discard(stream)
                if source not in self.pinned:
                    return self._reset_all(source)
            case GenerationAction.ADVANCE:
                if stream not in self.uncommitted:
                    raise Refused(Status.INVALID_FIELD)
                self.uncommitted.discard(stream)
        return Outcome(Status.SUCCESS)

    def _zone(self, request: Request) -> Zone:
        return self.of(request.stream)[request.zone]

    def _require_resources(self, request: Request, zone: Zone) -> None:
        states = [other.state for other in self.of(request.stream)]
        if zone.state is EMPTY and sum(state in ACTIVE for state in states) >= self.config.max_active:
            raise Refused(Status.TOO_MANY_ACTIVE_ZONES)
        if zone.state not in OPEN and sum(state in OPEN for state in states) >= self.config.max_open:
            if ZoneState.IMPLICITLY_OPEN not in states:
                raise Refused(Status.TOO_MANY_OPEN_ZONES)
            self.of(request.stream)[states.index(ZoneState.IMPLICITLY_OPEN)].state = CLOSED

    def _append(self, request: Request) -> Outcome:
        zone = self._zone(request)
        closed_to_writes = {
            ZoneState.READ_ONLY: Status.ZONE_IS_READ_ONLY,
            ZoneState.OFFLINE: Status.ZONE_IS_OFFLINE,
            ZoneState.FULL: Status.ZONE_IS_FULL,
        }
        if zone.state in closed_to_writes:
            raise Refused(closed_to_writes[zone.state])
        is_update, g = request.operation is Operation.UPDATE, self.config.geometry
        if request.operation is Operation.WRITE and request.offset != zone.pointer:
            raise Refused(Status.ZONE_INVALID_WRITE)
        if is_update and zone.pointer % (g.channels * g.planes):
            raise Refused(Status.ZONE_INVALID_WRITE)
        capacity = g.zone_capacity
        blocks = request.rows * g.channels * g.planes if is_update else request.blocks
        if request.encodes:
            blocks = request.bound
        if zone.pointer + blocks > capacity:
            raise Refused(Status.ZONE_BOUNDARY_ERROR)
        if is_update:
            source = self.of(request.source)[request.zone]
            if source.state is ZoneState.OFFLINE:
                raise Refused(Status.ZONE_IS_OFFLINE)
            of_page = g.channels * g.planes * g.dies
            if request.source_page * of_page + zone.pointer % of_page + blocks > source.pointer:
                raise Refused(Status.UNWRITTEN_BLOCK)
            if self.expired(request.source, source):
                raise Refused(Status.DATA_EXPIRED)
        self._require_resources(request, zone)
        if is_update:
            self.uncommitted.add(request.stream)
        offset = zone.pointer
        if not offset:
            zone.since, zone.sequence, self.sequence = self.now, self.sequence, self.sequence + 1
        zone.pointer += blocks
        if zone.pointer == capacity and not request.encodes:
            zone.state = FULL
        elif zone.state is not ZoneState.EXPLICITLY_OPEN:
            zone.state = ZoneState.IMPLICITLY_OPEN
        lba = request.zone * self.config.geometry.zone_size
        if not request.encodes:  # else the tracker adds the offset
            lba += offset
        return Outcome(
            Status.SUCCESS, offset=offset, result=0 if request.operation is Operation.WRITE else lba
        )

    def _read(self, request: Request) -> Outcome:
        zone = self._zone(request)
        end = request.offset + request.blocks
        if zone.state is ZoneState.OFFLINE:
            raise Refused(Status.ZONE_IS_OFFLINE)
        if end > self.config.geometry.zone_size:
            raise Refused(Status.ZONE_BOUNDARY_ERROR)
        if end > zone.pointer:
            raise Refused(Status.UNRECOVERED_READ_ERROR if zone.unsure else Status.UNWRITTEN_BLOCK)
        if self.expired(request.stream, zone):
            raise Refused(Status.DATA_EXPIRED)
        return Outcome(Status.SUCCESS, offset=request.offset)

    def _inspect(self, request: Request) -> Outcome:
        if request.offset + request.blocks > self.config.geometry.zone_capacity:
            raise Refused(Status.ZONE_BOUNDARY_ERROR)
        return Outcome(Status.SUCCESS, offset=request.offset)

    def _restore(self, request: Request) -> Outcome:
        match RestoreAction(request.action):
            case RestoreAction.STREAM:
                if request.stream in self.restored:
                    raise Refused(Status.COMMAND_SEQUENCE_ERROR)
                self.resets[request.stream] = request.generation
            case RestoreAction.ZONE:
                self._restore_zone(request, self._zone(request))
            case RestoreAction.END:
                self.recovering, self.sequence = False, request.sequence
        return Outcome(Status.SUCCESS)

    def _restore_zone(self, request: Request, zone: Zone) -> None:
        if zone.state is not EMPTY:
            raise Refused(Status.INVALID_ZONE_TRANSITION)
        if request.offset + 1 > self.config.geometry.zone_capacity:
            raise Refused(Status.ZONE_BOUNDARY_ERROR)
        active = sum(other.state in ACTIVE for other in self.of(request.stream))
        if request.restored_state == CLOSED and active == self.config.max_active:
            raise Refused(Status.TOO_MANY_ACTIVE_ZONES)
        zone.state, zone.pointer = ZoneState(request.restored_state), request.offset + 1
        zone.since, zone.sequence, zone.unsure = request.time, request.sequence, bool(request.unsure)
        self.restored.add(request.stream)

    def _send(self, request: Request) -> Outcome:
        if request.select_all:
            return self._send_to_all(request)
        zone = self._zone(request)
        allowed = {
            ZoneAction.OPEN: (EMPTY, *ACTIVE),
            ZoneAction.CLOSE: ACTIVE,
            ZoneAction.FINISH: (EMPTY, *ACTIVE, FULL),
            ZoneAction.RESET: (EMPTY, *ACTIVE, FULL),
            ZoneAction.OFFLINE: RETIRED,
        }
        action = ZoneAction(request.action)
        if zone.state not in allowed[action]:
            raise Refused(Status.INVALID_ZONE_TRANSITION)
        if action is ZoneAction.OPEN:
            self._require_resources(request, zone)
            zone.state = ZoneState.EXPLICITLY_OPEN
        elif action is ZoneAction.CLOSE:
            zone.state = CLOSED
        elif action is ZoneAction.FINISH:
            self._finish(request, [zone])
        elif action is ZoneAction.OFFLINE:
            zone.state = ZoneState.OFFLINE
        else:
            return self._empty([self.streams[request.stream][request.zone]])
        return Outcome(Status.SUCCESS)

    def _send_to_all(self, request: Request) -> Outcome:
        zones = self.of(request.stream)
        match ZoneAction(request.action):
            case ZoneAction.OPEN:
                if sum(zone.state in ACTIVE for zone in zones) > self.config.max_open:
                    raise Refused(Status.TOO_MANY_OPEN_ZONES)
                self._move(zones, (CLOSED,), ZoneState.EXPLICITLY_OPEN)
            case ZoneAction.CLOSE:
                self._move(zones, OPEN, CLOSED)
            case ZoneAction.FINISH:
                self._finish(request, [zone for zone in zones if zone.state in ACTIVE])
            case ZoneAction.OFFLINE:
                self._move(zones, (ZoneState.READ_ONLY,), ZoneState.OFFLINE)
            case ZoneAction.RESET:
                return self._reset_all(request.stream)
        return Outcome(Status.SUCCESS)

    @staticmethod
    def _move(zones: list[Zone], origins: tuple[ZoneState, ...], target: ZoneState) -> None:
        for zone in zones:
            if zone.state in origins:
                zone.state = target

    @staticmethod
    def _finish(request: Request, zones: list[Zone]) -> None:
        for zone in zones:
            zone.state, zone.unsure = FULL, zone.unsure or bool(request.unsure and zone.pointer)

    def _reset_all(self, stream: int) -> Outcome:
        self.resets[stream] = (self.resets[stream] + 1) % (1 << 16)
        self.uncommitted.discard(stream)
        return self._empty([n for n in self.streams[stream] if self.zones[n].state not in RETIRED])

    def _empty(self, numbers: list[int]) -> Outcome:
        for number in numbers:
            self.zones[number] = Zone()
        return Outcome(Status.SUCCESS, emptied=tuple(numbers))

    def _retire(self, request: Request) -> Outcome:
        zone, target = self._zone(request), ZoneState(request.action)
        if zone.state is ZoneState.OFFLINE or zone.state is target:
            raise Refused(Status.INVALID_ZONE_TRANSITION)
        zone.state = target
        return Outcome(Status.SUCCESS)

    def program_fails(self, stream: int, zone: int) -> None:
        """An append or write to this zone has come to its end, and a program of it had failed."""
        if self.of(stream)[zone].state is not ZoneState.OFFLINE:
            self.of(stream)[zone].state = ZoneState.READ_ONLY

    def settle(self, stream: int, zone: int, slack: int) -> None:
        """An append to this zone has come to its end, and has written so much less than its bound."""
        self.of(stream)[zone].pointer -= slack

    def _report(self, request: Request) -> Outcome:
        g = self.config.geometry
        numbered = [
            (index, zone) for index, zone in enumerate(self.of(request.stream))
            if index >= request.zone and request.report_filter in (0, _FILTERS[zone.state])
        ]  # fmt: skip
        described = numbered[: request.descriptors]
        count = len(described if request.partial else numbered)
        chunks = [ReportHeader.zones.put(count)]
        for index, zone in described:
            start = index * g.zone_size
            pointer = 2**64 - 1 if zone.state in (FULL, *RETIRED) else start + zone.pointer
            rule = self.ages.get(request.stream)
            due = rule is not None and zone.state not in RETIRED and self.is_old(zone, rule.due)
            due = due and zone.pointer > 0
            chunks.append(
                ZoneDescriptor.zone_type.put(ZoneDescriptor.SEQUENTIAL_WRITE_REQUIRED)
                | ZoneDescriptor.state.put(zone.state)
                | ZoneDescriptor.capacity.put(g.zone_capacity)
                | ZoneDescriptor.start.put(start)
                | ZoneDescriptor.write_pointer.put(pointer)
                | ZoneDescriptor.reset_recommended.put(due and zone.state is FULL)
                | ZoneDescriptor.finish_recommended.put(due and zone.state is not FULL)
                | ZoneDescriptor.time.put(zone.since if zone.pointer else 2**32 - 1)
                | ZoneDescriptor.sequence.put(zone.sequence if zone.pointer else 2**32 - 1)
                | ZoneDescriptor.written.put(zone.pointer)
                | ZoneDescriptor.unsure.put(zone.unsure)
            )
        return Outcome(Status.SUCCESS, report=b"".join(chunk.to_bytes(64, "little") for chunk in chunks))
