"""The interface through which streams record what must outlast a loss of power."""

from typing import Protocol

from flashtrain.host.queues.dispatcher import Request
from flashtrain.host.recovery.journal_record import StreamEntry
from flashtrain.spec import ZoneState


class Recorder(Protocol):
    """A record of generations, commits and retired zones; the journal implements it.

    A method that is given a change writes a record of it, and returns the request of that record: the command
    that makes the change comes after it (`Request.after`). Zones count from the first zone of their stream.

    Members
    -------
    pinned: NSIDs of the streams that are pinned.
    """

    pinned: set[int]

    def entry(self, nsid: int) -> StreamEntry:
        """The last recorded entry of a stream."""
        ...

    def reset(self, nsid: int) -> Request:
        """The stream will be reset."""
        ...

    def reset_zone(self, nsid: int, zone: int) -> Request:
        """One zone will be reset; no append to it is in flight."""
        ...

    def commit(self, nsid: int, source: int | None, updates: int) -> Request:
        """The stream's generation, the result of `updates` updates, will be committed, and `source` reset."""
        ...

    def retire(self, nsid: int, zones: dict[int, ZoneState]) -> None:
        """These zones of a stream were found out of service."""
        ...

    def undo(self, nsid: int, before: StreamEntry) -> None:
        """The device refused the recorded change of a stream."""
        ...

    def correct(self) -> None:
        """Write a true record, if the last one is not."""
        ...

    def wait_for(self, request: Request) -> None:
        """Wait until a record is acknowledged."""
        ...
