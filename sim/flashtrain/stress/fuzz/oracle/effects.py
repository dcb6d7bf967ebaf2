"""Effects of a command that passed all checks, on the state and on the tensor buffer."""

from collections.abc import Iterator

from flashtrain.spec import FmsConfig, Opcode, Submission, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction, ReportHeader, ZoneDescriptor

from .checks import is_commit, zone_of
from .coded import append_encoded, read_encoded
from .state import ACTIVE, OPEN, RETIRED, DeviceState, Page, StreamState, append_pages
from .tile_step import DieStep, Step
from .transfers import Effect, Memory, Written, block_of, written
from .updates import update_tiles

_ALL_ONES = (1 << 64) - 1
_NEVER = (1 << 32) - 1
_LISTED = (
    frozenset(ZoneState),
    {ZoneState.EMPTY}, {ZoneState.IMPLICITLY_OPEN}, {ZoneState.EXPLICITLY_OPEN}, {ZoneState.CLOSED},
    {ZoneState.FULL}, {ZoneState.READ_ONLY}, {ZoneState.OFFLINE},
)  # fmt: skip
"""States of the zones that a report has, by its reporting options."""
_WITHOUT_POINTER = frozenset({ZoneState.FULL, ZoneState.READ_ONLY, ZoneState.OFFLINE})


def carry_out(entry: int, config: FmsConfig, state: DeviceState, memory: Memory) -> Effect:
    """Change the state as the command does; its result and what it writes."""
    s = Submission
    stream, action = state.streams[s.nsid.get(entry)], s.action.get(entry)
    if _opens(entry):
        stream.make_room(stream.zones[zone_of(entry, config)], config.max_open)
    match Opcode(s.opcode.get(entry)):
        case Opcode.ZONE_APPEND | Opcode.WRITE:
            return _append(entry, config, stream, memory, state.now)
        case Opcode.READ:
            if stream.rights.encodes:
                return read_encoded(entry, config, stream)
            first = s.slba.get(entry) % config.geometry.zone_size
            pages = stream.zones[zone_of(entry, config)].pages[first : first + s.nlb.get(entry) + 1]
            return Effect(writes=written(s.address.get(entry), pages, config))
        case Opcode.INSPECT:
            pages: list[Page] = [None] * (s.nlb.get(entry) + 1)
            return Effect(writes=written(s.address.get(entry), pages, config))
        case Opcode.ZONE_MANAGEMENT_RECEIVE:
            return _report(entry, config, stream, state.now)
        case Opcode.ZONE_MANAGEMENT_SEND:
            _send(ZoneAction(action), entry, config, stream)
        case Opcode.ZONE_RETIRE:
            stream.zones[zone_of(entry, config)].state = ZoneState(action)
        case Opcode.STREAM_RESET:
            stream.reset()
        case Opcode.GENERATION:
            _generation(entry, state)
        case Opcode.UPDATE:
            return update_tiles(entry, config, state, memory)
        case Opcode.SET_CONSTANTS:
            for number in range(len(state.dies)):
                page = block_of(memory, s.address.get(entry), number, config)
                state.dies[number] = DieStep(step := Step.of(page, config.geometry), step is not None)
        case Opcode.GET_STATISTICS:
            pages = [die.statistics(config.geometry.page_bytes) for die in state.dies]
            return Effect(writes=written(s.address.get(entry), pages, config))
        case Opcode.RESTORE:
            _restore(entry, config, state)
    return Effect()


def _opens(entry: int) -> bool:
    """Whether the command opens its zone."""
    s, opcode = Submission, Submission.opcode.get(entry)
    if opcode == Opcode.ZONE_MANAGEMENT_SEND:
        return s.action.get(entry) == ZoneAction.OPEN and not s.select_all.get(entry)
    return opcode in (Opcode.ZONE_APPEND, Opcode.WRITE, Opcode.UPDATE)


def _append(entry: int, config: FmsConfig, stream: StreamState, memory: Memory, now: int) -> Effect:
    s, number = Submission, zone_of(entry, config)
    if stream.rights.encodes:
        return append_encoded(entry, config, stream, memory, now)
    zone, address = stream.zones[number], s.address.get(entry)
    lba = number * config.geometry.zone_size + zone.written
    blocks = range(s.nlb.get(entry) + 1)
    pages: list[Page] = [block_of(memory, address, block, config) for block in blocks]
    append_pages(zone, pages, config.geometry.zone_capacity, now)
    return Effect(lba if s.opcode.get(entry) == Opcode.ZONE_APPEND else 0)


def _send(action: ZoneAction, entry: int, config: FmsConfig, stream: StreamState) -> None:
    if Submission.select_all.get(entry):
        if action is ZoneAction.RESET:
            stream.reset()
            return
        concerned = {
            ZoneAction.CLOSE: OPEN, ZoneAction.FINISH: ACTIVE, ZoneAction.OPEN: {ZoneState.CLOSED},
            ZoneAction.OFFLINE: {ZoneState.READ_ONLY},
        }[action]  # fmt: skip
        zones = [zone for zone in stream.zones if zone.state in concerned]
    else:
        zones = [stream.zones[zone_of(entry, config)]]
    for zone in zones:
        match action:
            case ZoneAction.CLOSE:
                zone.state = ZoneState.CLOSED
            case ZoneAction.FINISH:
                zone.state = ZoneState.FULL
                zone.unsure |= bool(Submission.unsure.get(entry)) and zone.written > 0
            case ZoneAction.OPEN:
                zone.state = ZoneState.EXPLICITLY_OPEN
            case ZoneAction.RESET:
                zone.reset()
            case ZoneAction.OFFLINE:
                zone.state = ZoneState.OFFLINE


def _generation(entry: int, state: DeviceState) -> None:
    stream = state.streams[Submission.nsid.get(entry)]
    if is_commit(entry):
        source = state.streams[Submission.source.get(entry)]
        stream.uncommitted = False
        if not source.pinned:
            source.reset()
    elif Submission.action.get(entry) == GenerationAction.ADVANCE:
        stream.uncommitted = False
    else:
        stream.pinned = Submission.action.get(entry) == GenerationAction.PIN


def _report(entry: int, config: FmsConfig, stream: StreamState, now: int) -> Effect:
    s, d, g = Submission, ZoneDescriptor, config.geometry
    first = zone_of(entry, config)
    room = (4 * (s.dwords.get(entry) + 1) - ReportHeader.BYTES) // d.BYTES
    wanted = _LISTED[s.report_options.get(entry)]
    matching = [
        (number, zone) for number, zone in enumerate(stream.zones) if number >= first and zone.state in wanted
    ]
    listed = matching[:room]
    count = len(listed if s.partial.get(entry) else matching)
    address = s.address.get(entry)
    writes = [Written(address, d.BYTES, ReportHeader.zones.put(count).to_bytes(d.BYTES, "little"))]
    for number, zone in listed:
        start = number * g.zone_size
        pointer = _ALL_ONES if zone.state in _WITHOUT_POINTER else start + zone.written
        old = zone.state not in RETIRED and zone.has_lasted(stream.rights.retention.due, now)
        value = (
            d.reset_recommended.put(old and zone.state is ZoneState.FULL)
            | d.finish_recommended.put(old and zone.state is not ZoneState.FULL)
            | d.time.put(zone.since if zone.written else _NEVER)
            | d.sequence.put(_NEVER) | d.written.put(zone.written) | d.unsure.put(zone.unsure)
            | d.zone_type.put(d.SEQUENTIAL_WRITE_REQUIRED) | d.state.put(zone.state)
            | d.capacity.put(g.zone_capacity) | d.start.put(start) | d.write_pointer.put(pointer)
        )  # fmt: skip
        address += d.BYTES
        writes += _descriptor(address, value.to_bytes(d.BYTES, "little"), zone.written > 0)
    return Effect(writes=tuple(writes))


def _descriptor(address: int, content: bytes, has_data: bool) -> Iterator[Written]:
    """A descriptor. The number of an allocation depends on the order of commands to other streams."""
    start, end = ZoneDescriptor.sequence.low // 8, ZoneDescriptor.written.low // 8
    yield Written(address, start, content[:start])
    yield Written(address + start, end - start, None if has_data else content[start:end])
    yield Written(address + end, len(content) - end, content[end:])


def _restore(entry: int, config: FmsConfig, state: DeviceState) -> None:
    s = Submission
    stream = state.streams[s.nsid.get(entry)]
    match RestoreAction(s.action.get(entry)):
        case RestoreAction.STREAM:
            stream.generation = s.generation.get(entry)
        case RestoreAction.ZONE:
            number = zone_of(entry, config)
            zone = stream.zones[number]
            zone.state = ZoneState(s.restored_state.get(entry))
            zone.since, zone.unsure = s.time.get(entry), bool(s.unsure.get(entry))
            zone.pages = [None] * (s.slba.get(entry) - number * config.geometry.zone_size)
        case RestoreAction.PHYSICAL:
            state.released |= {s.physical.get(entry)}
        case RestoreAction.END:
            state.recovering = False
