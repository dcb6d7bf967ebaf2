"""Zones of a namespace, as reports have them and as commands change them."""

from dataclasses import dataclass

from flashtrain.nvme.wire.commands import Entry
from flashtrain.spec import Opcode, ZoneAction, ZoneState
from flashtrain.spec.nvme import ZoneDescriptor

from .shape import Shape
from .trial import Queue, Trial

OPEN = (ZoneState.IMPLICITLY_OPEN, ZoneState.EXPLICITLY_OPEN)
ACTIVE = (*OPEN, ZoneState.CLOSED)
DESCRIPTOR_BYTES = ZoneDescriptor.BYTES


@dataclass(frozen=True)
class Zone:
    """`written`: blocks in front of the write pointer; the capacity of a full zone."""

    state: ZoneState = ZoneState.EMPTY
    written: int = 0


Zones = tuple[Zone, ...]


def report_of_all(shape: Shape, nsid: int) -> Trial:
    """A report of all zones of a namespace."""
    return report("state", shape, nsid, 0, DESCRIPTOR_BYTES * (shape.zones[nsid] + 1))


def report(
    kind: str, shape: Shape, nsid: int, lba: int, length: int,
    action: int = 0, option: int = 0, partial: int = 0,
) -> Trial:  # fmt: skip
    entry = Entry(
        Opcode.ZONE_MANAGEMENT_RECEIVE, 0, nsid=nsid, dword_10=lba & 0xFFFF_FFFF, dword_11=lba >> 32,
        dword_12=length // 4 - 1, dword_13=action | option << 8 | partial << 16,
    )  # fmt: skip
    return Trial(kind, Queue.IO, entry, length=min(length, 2 * shape.most_blocks * shape.block_bytes))


def manage(nsid: int, lba: int, action: int, every: bool = False, kind: str = "mend") -> Trial:
    """Zone management send. every: all zones are selected."""
    entry = Entry(
        Opcode.ZONE_MANAGEMENT_SEND, 0, nsid=nsid, dword_10=lba & 0xFFFF_FFFF, dword_11=lba >> 32,
        dword_13=action | every << 8,
    )  # fmt: skip
    return Trial(kind, Queue.IO, entry)


def parse(shape: Shape, raw: bytes) -> Zones:
    """The zones of a whole report."""
    d, zones = ZoneDescriptor, []
    for place in range(DESCRIPTOR_BYTES, len(raw), DESCRIPTOR_BYTES):
        value = int.from_bytes(raw[place : place + DESCRIPTOR_BYTES], "little")
        state = ZoneState(d.state.get(value))
        written = d.write_pointer.get(value) - d.start.get(value)
        zones.append(Zone(state, shape.zone_capacity if state is ZoneState.FULL else written))
    return tuple(zones)


def count(zones: Zones, states: tuple[ZoneState, ...]) -> int:
    return sum(zone.state in states for zone in zones)


def is_open_of_all(entry: Entry) -> bool:
    """Whether a command opens all closed zones."""
    opening = entry.dword_13 & 0x1FF == ZoneAction.OPEN | 0x100
    return entry.opcode == Opcode.ZONE_MANAGEMENT_SEND and opening


def opens(shape: Shape, zones: Zones, entry: Entry) -> bool:
    """Whether a command, if it is a right one, opens zones that are not open."""
    if entry.opcode == Opcode.ZONE_MANAGEMENT_SEND and entry.dword_13 & 0xFF == ZoneAction.OPEN:
        return is_open_of_all(entry) or _of(shape, zones, entry).state not in OPEN
    return entry.opcode in (Opcode.WRITE, Opcode.ZONE_APPEND) and _of(shape, zones, entry).state not in OPEN


def after(shape: Shape, zones: Zones, entry: Entry) -> Zones:
    """The zones after a command that has succeeded; a zone that it made a controller close is not known."""
    number, zone = entry.slba // shape.zone_size, _of(shape, zones, entry)
    match entry.opcode:
        case Opcode.WRITE | Opcode.ZONE_APPEND:
            written = zone.written + entry.blocks
            state = zone.state if zone.state in OPEN else ZoneState.IMPLICITLY_OPEN
            new = Zone(ZoneState.FULL if written == shape.zone_capacity else state, written)
        case Opcode.ZONE_MANAGEMENT_SEND:
            action = entry.dword_13 & 0xFF
            if entry.dword_13 & 0x100:
                return tuple(_managed_together(shape, zone, action) for zone in zones)
            new = _managed(shape, zone, action)
        case _:
            return zones
    return (*zones[:number], new, *zones[number + 1 :])


def _of(shape: Shape, zones: Zones, entry: Entry) -> Zone:
    number = entry.slba // shape.zone_size
    return zones[number] if number < len(zones) else Zone()


def _managed(shape: Shape, zone: Zone, action: int) -> Zone:
    match action:
        case ZoneAction.CLOSE:
            return Zone(ZoneState.CLOSED, zone.written)
        case ZoneAction.OPEN:
            return Zone(ZoneState.EXPLICITLY_OPEN, zone.written)
        case ZoneAction.FINISH:
            return Zone(ZoneState.FULL, shape.zone_capacity)
        case ZoneAction.RESET:
            return Zone()
    return zone


_TOGETHER = {
    ZoneAction.CLOSE: OPEN,
    ZoneAction.FINISH: ACTIVE,
    ZoneAction.OPEN: (ZoneState.CLOSED,),
    ZoneAction.RESET: tuple(ZoneState),
}
"""The states of the zones that an action with all zones selected applies to (ZNS 3.4.3.1)."""


def _managed_together(shape: Shape, zone: Zone, action: int) -> Zone:
    applies = action in _TOGETHER and zone.state in _TOGETHER[ZoneAction(action)]
    return _managed(shape, zone, action) if applies else zone
