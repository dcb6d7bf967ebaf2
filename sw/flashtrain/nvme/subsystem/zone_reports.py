"""Reports of all zones of a namespace, for the target itself."""

from flashtrain.host.queues.entries import Command
from flashtrain.host.streams.zone_info import ZoneInfo, parse_report, report_bytes
from flashtrain.spec import Opcode

from .jobs import Space
from .namespaces import Namespace


def report_command(namespace: Namespace, space: Space) -> Command:
    """A report of all zones of a namespace."""
    return Command(
        Opcode.ZONE_MANAGEMENT_RECEIVE, namespace.nsid,
        address=space.address, length=report_bytes(namespace.zones),
    )  # fmt: skip


def reported(namespace: Namespace, space: Space) -> list[ZoneInfo]:
    """The zones of the report in `space`."""
    return parse_report(space.view[: report_bytes(namespace.zones)].tobytes())


def report_blocks(namespace: Namespace) -> int:
    """Blocks of the tensor buffer that a report takes."""
    return -(-report_bytes(namespace.zones) // namespace.block_bytes)
