"""One stream: its zones, their data and its generation."""

from flashtrain.spec import Opcode, Status, ZoneAction, ZoneState
from flashtrain.spec.identity import GENERATION_LIMIT, RestoreAction
from flashtrain.spec.nvme import GenerationAction

from .storage import Storage
from .submission_entry import SubmissionEntry
from .zones import StreamZones

_CHANGE_CONTENT = frozenset(
    {Opcode.ZONE_APPEND, Opcode.WRITE, Opcode.UPDATE, Opcode.ZONE_RETIRE, Opcode.STREAM_RESET}
)
_LOSE_CONTENT = (ZoneAction.RESET, ZoneAction.OFFLINE)


class StreamContent:
    """A stream since the controller was enabled: empty until its zones are written or restored.

    - generation: the number of resets of the whole stream, modulo `GENERATION_LIMIT`.
    - uncommitted: the stream is the destination of updates, and no commit, advance or reset followed.
    - pinned: commands that would change the content are refused.
    """

    def __init__(self, zones: StreamZones, storage: Storage) -> None:
        self.zones = zones
        self.storage = storage
        self.generation = 0
        self.uncommitted = False
        self.pinned = False

    def reset(self) -> None:
        """Empty all zones, and begin a new generation."""
        self.zones.manage_all(ZoneAction.RESET)
        self.drop_empty()
        self.generation = (self.generation + 1) % GENERATION_LIMIT
        self.uncommitted = False

    def drop_empty(self) -> None:
        """Drop the data of zones that were reset."""
        for index, zone in enumerate(self.zones.zones):
            if not zone.written:
                self.storage.drop(index)

    def condition(self, entry: SubmissionEntry, source: "StreamContent | None") -> Status:
        """Check 8 of `flashtrain.spec.nvme`; `source`: the source stream of an update or a commit."""
        loses_data = entry.opcode == Opcode.ZONE_MANAGEMENT_SEND and entry.action in _LOSE_CONTENT
        if self.pinned and (loses_data or entry.opcode in _CHANGE_CONTENT):
            return Status.NAMESPACE_WRITE_PROTECTED
        restores = entry.opcode == Opcode.RESTORE and entry.action == RestoreAction.STREAM
        if restores and any(zone.state is not ZoneState.EMPTY for zone in self.zones.zones):
            return Status.COMMAND_SEQUENCE_ERROR
        pins = entry.opcode == Opcode.GENERATION and entry.action == GenerationAction.PIN
        if self.uncommitted and (pins or entry.opcode == Opcode.READ):
            return Status.NAMESPACE_NOT_READY
        if entry.advances and not self.uncommitted:
            return Status.INVALID_FIELD
        if source is None:
            return Status.SUCCESS
        if entry.opcode == Opcode.UPDATE:
            return Status.NAMESPACE_NOT_READY if source.uncommitted else Status.SUCCESS
        complete = all(
            own.written >= other.written
            for own, other in zip(self.zones.zones, source.zones.zones, strict=True)
        )
        return Status.SUCCESS if self.uncommitted and complete else Status.INVALID_FIELD
