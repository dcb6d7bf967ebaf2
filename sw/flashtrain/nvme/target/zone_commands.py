"""Zone management send and receive as steps on the device."""

from collections.abc import Callable
from enum import IntEnum

from flashtrain.host import CommandError, DeviceStream
from flashtrain.host.queues.entries import Command
from flashtrain.host.streams.zone_info import ZoneInfo
from flashtrain.spec import Opcode, Status, ZoneAction, ZoneState
from flashtrain.spec.nvme import ZoneDescriptor

from .jobs import Space, Steps
from .namespaces import Namespace
from .reply import Reply
from .room import make_room, report_command, reported

DESCRIPTOR_BYTES = 64
_OFFLINE = 0x05
"""Zone action *offline* (ZNS figure 44), which the device has as a retirement."""


class Report(IntEnum):
    """Zone receive action specific field: which zones a report lists (ZNS figure 42)."""

    ALL = 0
    EMPTY = 1
    IMPLICITLY_OPEN = 2
    EXPLICITLY_OPEN = 3
    CLOSED = 4
    FULL = 5
    READ_ONLY = 6
    OFFLINE = 7


def send(
    namespace: Namespace, stream: DeviceStream, lba: int, action: int, every: bool, space: Space
) -> Steps:
    """Zone management send. Resets go through the driver, whose journal records them."""
    if action == ZoneAction.RESET:
        return _reset(namespace, stream, lba, every)
    if action == _OFFLINE:
        return _take_offline(namespace, stream, lba, every, space)
    return _manage(namespace, lba, action, every, space)


def _manage(namespace: Namespace, lba: int, action: int, every: bool, space: Space) -> Steps:
    command = Command(
        Opcode.ZONE_MANAGEMENT_SEND, namespace.nsid, slba=0 if every else lba, action=action, select_all=every
    )
    completion = yield command
    if completion.status == Status.TOO_MANY_OPEN_ZONES and not every:
        completion = yield from make_room(namespace, command, completion, space)
    return Reply(completion.status)


def _reset(namespace: Namespace, stream: DeviceStream, lba: int, every: bool) -> Steps:
    if not every and (lba % namespace.zone_size or lba >= namespace.blocks):
        # The device has the word on what is wrong.
        yield from ()
        return Reply((yield _reset_command(namespace, lba)).status)
    zone = lba // namespace.zone_size
    return Reply(_status_of(stream.reset if every else lambda: stream.reset_zone(zone)))


def _reset_command(namespace: Namespace, lba: int) -> Command:
    return Command(Opcode.ZONE_MANAGEMENT_SEND, namespace.nsid, slba=lba, action=ZoneAction.RESET)


def _take_offline(namespace: Namespace, stream: DeviceStream, lba: int, every: bool, space: Space) -> Steps:
    """Retire read-only zones; the standard lets no others go offline (ZNS 3.4.3.1.5)."""
    completion = yield report_command(namespace, space)
    if completion.status != Status.SUCCESS:
        return Reply(completion.status)
    zones = reported(namespace, space)
    if not every and (lba % namespace.zone_size or lba >= namespace.blocks):
        return Reply(Status.INVALID_FIELD if lba < namespace.blocks else Status.LBA_OUT_OF_RANGE)
    chosen = zones if every else [zones[lba // namespace.zone_size]]
    ready = [zone for zone in chosen if zone.state is ZoneState.READ_ONLY]
    if not every and not ready and chosen[0].state is not ZoneState.OFFLINE:
        return Reply(Status.INVALID_ZONE_TRANSITION)
    for zone in ready:
        number = zone.start // namespace.zone_size
        if status := _status_of(lambda number=number: stream.retire_zone(number, ZoneState.OFFLINE)):
            return Reply(status)
    return Reply(Status.SUCCESS)


def _status_of(operation: Callable[[], None]) -> int:
    try:
        operation()
    except CommandError as error:
        return error.status
    return Status.SUCCESS


def receive(namespace: Namespace, lba: int, option: int, partial: bool, length: int, space: Space) -> Steps:
    """A zone report from the zone of `lba` on, with a filter; as much of it as the host has asked for."""
    completion = yield report_command(namespace, space)
    if completion.status != Status.SUCCESS:
        return Reply(completion.status)
    zones = reported(namespace, space)[lba // namespace.zone_size :]
    listed = [zone for zone in zones if option == Report.ALL or zone.state is _STATES[Report(option)]]
    room = max(length - DESCRIPTOR_BYTES, 0) // DESCRIPTOR_BYTES
    count = min(len(listed), room) if partial else len(listed)
    report = count.to_bytes(8, "little").ljust(DESCRIPTOR_BYTES, b"\0")
    report += b"".join(_descriptor(zone) for zone in listed[:room])
    return Reply(Status.SUCCESS, data=report.ljust(length, b"\0")[:length])


_STATES = {
    Report.EMPTY: ZoneState.EMPTY,
    Report.IMPLICITLY_OPEN: ZoneState.IMPLICITLY_OPEN,
    Report.EXPLICITLY_OPEN: ZoneState.EXPLICITLY_OPEN,
    Report.CLOSED: ZoneState.CLOSED,
    Report.FULL: ZoneState.FULL,
    Report.READ_ONLY: ZoneState.READ_ONLY,
    Report.OFFLINE: ZoneState.OFFLINE,
}


def _descriptor(zone: ZoneInfo) -> bytes:
    """The descriptor of the standard, with its reset recommendation for full zones only (ZNS figure 37)."""
    d = ZoneDescriptor
    pointer = d.NO_POINTER if zone.write_pointer is None else zone.write_pointer
    recommended = zone.reset_recommended and zone.state is ZoneState.FULL
    value = (
        d.zone_type.put(d.SEQUENTIAL_WRITE_REQUIRED)
        | d.state.put(zone.state)
        | d.reset_recommended.put(int(recommended))
        | d.capacity.put(zone.capacity)
        | d.start.put(zone.start)
        | d.write_pointer.put(pointer)
    )
    return value.to_bytes(d.BYTES, "little")
