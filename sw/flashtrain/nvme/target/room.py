"""Room among the open zones: the standard lets a controller close zones that a host opened implicitly."""

from collections.abc import Generator

from flashtrain.host.queues.entries import Command, CompletionEntry
from flashtrain.host.streams.zone_info import ZoneInfo, parse_report, report_bytes
from flashtrain.spec import Opcode, Status, ZoneAction, ZoneState

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


def make_room(
    namespace: Namespace, refused: Command, answer: CompletionEntry, space: Space
) -> Generator[Command, CompletionEntry, CompletionEntry]:
    """Close an implicitly open zone and repeat a command that found too many open ones (ZNS 2.1.1.4.1).

    The data in `space` are kept. Without such a zone the first answer stands.
    """
    kept = space.view.copy()
    reply = yield report_command(namespace, space)
    zones = reported(namespace, space) if reply.status == Status.SUCCESS else []
    space.view[:] = kept
    for zone in zones:
        if zone.state is ZoneState.IMPLICITLY_OPEN:
            closed = yield Command(
                Opcode.ZONE_MANAGEMENT_SEND, namespace.nsid, slba=zone.start, action=ZoneAction.CLOSE
            )
            if closed.status != Status.SUCCESS:
                continue  # another command has changed the zone
            again = yield refused
            if again.status != Status.TOO_MANY_OPEN_ZONES:
                return again
    return answer
