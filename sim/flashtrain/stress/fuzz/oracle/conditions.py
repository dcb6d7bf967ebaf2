"""Checks 8 and 9 of the contract: what the state of streams and zones allows."""

from flashtrain.spec import FmsConfig, Opcode, Status, Submission, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction

from .checks import is_commit, reserved_blocks, zone_of
from .state import ACTIVE, OPEN, RETIRED, DeviceState, StreamState, ZoneEntry
from .verdict import demand

_APPENDS = frozenset({Opcode.ZONE_APPEND, Opcode.WRITE, Opcode.UPDATE})
_RECOVERY = frozenset({Opcode.INSPECT, Opcode.RESTORE})
_TOO_MANY_ACTIVE, _TOO_MANY_OPEN = Status.TOO_MANY_ACTIVE_ZONES, Status.TOO_MANY_OPEN_ZONES


def check_conditions(entry: int, config: FmsConfig, state: DeviceState) -> None:
    """Refuse a command that passed checks 1 to 7 by the first of checks 8 and 9 that it fails."""
    opcode = Opcode(Submission.opcode.get(entry))
    _check_stream(opcode, entry, state)
    stream = state.streams[Submission.nsid.get(entry)]
    match opcode:
        case Opcode.ZONE_APPEND | Opcode.WRITE | Opcode.UPDATE:
            _check_append(opcode, entry, config, stream)
            if opcode is Opcode.UPDATE:
                source = state.streams[Submission.source.get(entry)]
                _check_source(entry, config, stream, source, state.now)
            _check_resources(stream.zones[zone_of(entry, config)], config, stream)
        case Opcode.READ:
            _check_read(entry, config, stream, state.now)
        case Opcode.INSPECT:
            last = Submission.slba.get(entry) % config.geometry.zone_size + Submission.nlb.get(entry)
            fits = last < config.geometry.zone_capacity
            demand(fits, Status.ZONE_BOUNDARY_ERROR, "9: last block below the capacity")
        case Opcode.RESTORE if Submission.action.get(entry) == RestoreAction.ZONE:
            _check_restored(entry, config, stream)
        case Opcode.ZONE_MANAGEMENT_SEND:
            _check_send(entry, config, stream)
        case Opcode.ZONE_RETIRE:
            _check_retire(entry, stream.zones[zone_of(entry, config)])


def _check_stream(opcode: Opcode, entry: int, state: DeviceState) -> None:
    s = Submission
    stream, action = state.streams[s.nsid.get(entry)], s.action.get(entry)
    if opcode in _RECOVERY:
        demand(state.recovering, Status.COMMAND_SEQUENCE_ERROR, "8: the controller is recovering")
    else:
        demand(not state.recovering, Status.NAMESPACE_NOT_READY, "8: the controller is not recovering")
    if opcode is Opcode.RESTORE and action == RestoreAction.STREAM:
        untouched = all(zone.state is ZoneState.EMPTY for zone in stream.zones)
        demand(untouched, Status.COMMAND_SEQUENCE_ERROR, "8: no zone of it has been restored")
    sends = opcode is Opcode.ZONE_MANAGEMENT_SEND
    loses = sends and action in (ZoneAction.RESET, ZoneAction.OFFLINE)
    if opcode in _APPENDS or opcode in (Opcode.ZONE_RETIRE, Opcode.STREAM_RESET) or loses:
        demand(not stream.pinned, Status.NAMESPACE_WRITE_PROTECTED, "8: not pinned")
    pin = opcode is Opcode.GENERATION and action == GenerationAction.PIN
    if opcode is Opcode.READ or pin:
        demand(not stream.uncommitted, Status.NAMESPACE_NOT_READY, "8: not uncommitted")
    if opcode is Opcode.UPDATE:
        source = state.streams[s.source.get(entry)]
        demand(not source.uncommitted, Status.NAMESPACE_NOT_READY, "8: the source is not uncommitted")
    if opcode is Opcode.GENERATION and action == GenerationAction.ADVANCE:
        demand(stream.uncommitted, Status.INVALID_FIELD, "8: uncommitted")
    if is_commit(entry):
        source = state.streams[s.source.get(entry)]
        demand(stream.uncommitted, Status.INVALID_FIELD, "8: uncommitted")
        whole = all(a.written >= b.written for a, b in zip(stream.zones, source.zones, strict=True))
        demand(whole, Status.INVALID_FIELD, "8: every zone written at least as far as that of the source")


def updated_blocks(entry: int, config: FmsConfig) -> int:
    """Blocks that an update appends."""
    g = config.geometry
    return Submission.rows.get(entry) * g.channels * g.planes


def first_source_block(entry: int, config: FmsConfig, pointer: int) -> int:
    """The block of the source's zone from which an update reads: page SOURCE_PAGE, on the pointer's die."""
    g = config.geometry
    of_page = g.channels * g.planes * g.dies
    return Submission.source_page.get(entry) * of_page + pointer % of_page


def _check_append(opcode: Opcode, entry: int, config: FmsConfig, stream: StreamState) -> None:
    g, zone = config.geometry, stream.zones[zone_of(entry, config)]
    demand(zone.state is not ZoneState.READ_ONLY, Status.ZONE_IS_READ_ONLY, "9: the zone is not read-only")
    demand(zone.state is not ZoneState.OFFLINE, Status.ZONE_IS_OFFLINE, "9: the zone is not offline")
    demand(zone.state is not ZoneState.FULL, Status.ZONE_IS_FULL, "9: the zone is not full")
    if opcode is Opcode.WRITE:
        at_pointer = Submission.slba.get(entry) % g.zone_size == zone.written
        demand(at_pointer, Status.ZONE_INVALID_WRITE, "9: SLBA is the write pointer")
    if opcode is Opcode.UPDATE:
        aligned = zone.written % (g.channels * g.planes) == 0
        demand(aligned, Status.ZONE_INVALID_WRITE, "9: write pointer a multiple of channels x planes")
    updates = opcode is Opcode.UPDATE
    blocks = updated_blocks(entry, config) if updates else reserved_blocks(entry, config, stream.rights)
    fits = zone.written + blocks <= g.zone_capacity
    demand(fits, Status.ZONE_BOUNDARY_ERROR, "9: blocks fit below the capacity")


def _check_resources(zone: ZoneEntry, config: FmsConfig, stream: StreamState) -> None:
    """Check the resources for a zone that is to be open."""
    if zone.state not in ACTIVE:
        demand(stream.active < config.max_active, _TOO_MANY_ACTIVE, "9: an active resource for an empty zone")
    if zone.state not in OPEN:
        room = stream.open < config.max_open or stream.implicitly_open is not None
        demand(room, _TOO_MANY_OPEN, "9: an open resource for a zone not yet open")


def _check_source(entry: int, config: FmsConfig, stream: StreamState, source: StreamState, now: int) -> None:
    number = zone_of(entry, config)
    zone = source.zones[number]
    demand(zone.state is not ZoneState.OFFLINE, Status.ZONE_IS_OFFLINE, "9: the source's zone is not offline")
    first = first_source_block(entry, config, stream.zones[number].written)
    all_there = zone.written >= first + updated_blocks(entry, config)
    demand(all_there, Status.UNWRITTEN_BLOCK, "9: all tiles of the source are written")
    demand(not source.refuses(zone, now), Status.DATA_EXPIRED, "9: the source's zone is not expired")


def _check_read(entry: int, config: FmsConfig, stream: StreamState, now: int) -> None:
    zone = stream.zones[zone_of(entry, config)]
    last = Submission.slba.get(entry) % config.geometry.zone_size + Submission.nlb.get(entry)
    demand(zone.state is not ZoneState.OFFLINE, Status.ZONE_IS_OFFLINE, "9: the zone is not offline")
    inside = last < config.geometry.zone_size
    demand(inside, Status.ZONE_BOUNDARY_ERROR, "9: last block in the zone")
    behind = Status.UNRECOVERED_READ_ERROR if zone.unsure else Status.UNWRITTEN_BLOCK
    demand(last < zone.written, behind, "9: last block below the write pointer")
    demand(not stream.refuses(zone, now), Status.DATA_EXPIRED, "9: the zone is not expired")


def _check_restored(entry: int, config: FmsConfig, stream: StreamState) -> None:
    g, number = config.geometry, zone_of(entry, config)
    zone, pointer = stream.zones[number], Submission.slba.get(entry) - number * g.zone_size
    demand(zone.state is ZoneState.EMPTY, Status.INVALID_ZONE_TRANSITION, "9: the restored zone is empty")
    fits = pointer <= g.zone_capacity
    demand(fits, Status.ZONE_BOUNDARY_ERROR, "9: write pointer not past the capacity")
    if Submission.restored_state.get(entry) == ZoneState.CLOSED:
        demand(stream.active < config.max_active, _TOO_MANY_ACTIVE, "9: an active resource for a closed zone")


def _check_send(entry: int, config: FmsConfig, stream: StreamState) -> None:
    action = ZoneAction(Submission.action.get(entry))
    if Submission.select_all.get(entry):
        if action is ZoneAction.OPEN:
            closed = sum(zone.state is ZoneState.CLOSED for zone in stream.zones)
            enough = stream.open + closed <= config.max_open
            demand(enough, _TOO_MANY_OPEN, "9: open resources for all closed zones")
        return
    zone = stream.zones[zone_of(entry, config)]
    allowed = {
        ZoneAction.CLOSE: zone.state in ACTIVE,
        ZoneAction.FINISH: zone.state not in RETIRED,
        ZoneAction.OPEN: zone.state in ACTIVE or zone.state is ZoneState.EMPTY,
        ZoneAction.RESET: zone.state not in RETIRED,
        ZoneAction.OFFLINE: zone.state in RETIRED,
    }[action]
    demand(allowed, Status.INVALID_ZONE_TRANSITION, f"9: {action.name} from {zone.state.name} allowed")
    if action is ZoneAction.OPEN:
        _check_resources(zone, config, stream)


def _check_retire(entry: int, zone: ZoneEntry) -> None:
    target = ZoneState(Submission.action.get(entry))
    allowed = zone.state not in (target, ZoneState.OFFLINE)
    demand(
        allowed, Status.INVALID_ZONE_TRANSITION, "9: retire from any other state, but nothing leaves offline"
    )
