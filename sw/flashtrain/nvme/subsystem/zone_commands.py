"""Zone management send and receive as steps on the device."""

from collections.abc import Callable

from flashtrain.host import CommandError, DeviceStream
from flashtrain.host.queues.entries import Command
from flashtrain.host.streams.zone_info import report_bytes
from flashtrain.spec import Opcode, Status, ZoneAction
from flashtrain.spec.nvme import ReportHeader, ZoneDescriptor

from .jobs import Space, Steps
from .namespaces import Namespace
from .reply import Reply

_RECORDED = {ZoneAction.RESET: DeviceStream.reset_zone, ZoneAction.OFFLINE: DeviceStream.take_offline}
"""Actions on a zone that go through the driver, whose journal records them."""


def send(namespace: Namespace, stream: DeviceStream, lba: int, action: int, every: bool) -> Steps:
    """Zone management send. The device has the word on what is wrong."""
    zone, offset = divmod(lba, namespace.zone_size)
    recorded = action in _RECORDED
    if recorded and every:
        whole = stream.reset if action == ZoneAction.RESET else lambda: stream.manage_all(ZoneAction.OFFLINE)
        return Reply(_status_of(whole))
    if recorded and not offset and zone < namespace.zones:
        return Reply(_status_of(lambda: _RECORDED[ZoneAction(action)](stream, zone)))
    completion = yield Command(
        Opcode.ZONE_MANAGEMENT_SEND, namespace.nsid, slba=0 if every else lba, action=action, select_all=every
    )
    return Reply(completion.status)


def _status_of(operation: Callable[[], None]) -> int:
    try:
        operation()
    except CommandError as error:
        return error.status
    return Status.SUCCESS


def receive(namespace: Namespace, lba: int, option: int, partial: bool, length: int, space: Space) -> Steps:
    """The device's report, without the vendor's fields of its descriptors; zeros follow the last one."""
    size = min(max(length, ReportHeader.BYTES), report_bytes(namespace.zones))
    report = space.view[:size]
    report[:] = 0
    completion = yield Command(
        Opcode.ZONE_MANAGEMENT_RECEIVE, namespace.nsid, lba, address=space.address, length=size,
        report_options=option, partial=partial,
    )  # fmt: skip
    if completion.status != Status.SUCCESS:
        return Reply(completion.status)
    for byte in range(ZoneDescriptor.time.low // 8, ZoneDescriptor.BYTES):
        report[ReportHeader.BYTES + byte :: ZoneDescriptor.BYTES] = 0
    return Reply(Status.SUCCESS, data=report.tobytes().ljust(length, b"\0")[:length])
