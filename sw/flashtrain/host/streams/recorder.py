"""The interface through which streams record what must outlast a loss of power."""

from collections.abc import Container, Iterable
from typing import Protocol

from flashtrain.host.queues.dispatcher import Request
from flashtrain.host.recovery.journal_record import StreamEntry

from .zone_info import ZoneInfo


class Recorder(Protocol):
    """A record of generations, commits and retired zones; the journal implements it.

    A method for a change appends a record of it, and returns the record's request. The command that makes
    the change comes after that request (`Request.after`). Zones count from the first zone of their stream.

    Members
    -------
    pinned: NSIDs of the streams that are pinned.
    """

    @property
    def pinned(self) -> frozenset[int]: ...

    def entry(self, nsid: int) -> StreamEntry:
        """The last recorded entry of a stream."""
        ...

    def require_room(self, note: bytes, dropped: Container[int]) -> None:
        """:class:`NoteTooLong` if a record has no room for the note in place of those of `dropped`, NSIDs."""
        ...

    def reset(self, nsid: int) -> Request:
        """Record that the stream will be reset."""
        ...

    def drop(self, nsid: int) -> Request:
        """Record that the stream's generation is neither pinned nor committed any more; it is not reset."""
        ...

    def reset_zone(self, nsid: int, zone: int) -> Request:
        """Record that one zone will be reset; no append to it is in flight."""
        ...

    def commit(
        self,
        nsid: int,
        updates: int,
        note: bytes = b"",
        pin: bool = False,
        page: int = 0,
        reset: Iterable[int] = (),
        dropped: Iterable[int] = (),
    ) -> Request:
        """Record the commit of the generation, the result of `updates` updates, with a note.

        - pin: it will be pinned.
        - page: of the stream's first zone, where the generation begins.
        - reset: NSIDs of streams that will be reset.
        - dropped: NSIDs of others whose generations are not committed any more.
        """
        ...

    def annotate(self, nsid: int, note: bytes) -> Request:
        """Record the note of a stream."""
        ...

    def pin(self, nsid: int, pinned: bool, note: bytes | None = None) -> Request:
        """Record that the stream is pinned, or that it is not; with a note in place of the one before."""
        ...

    def retire(self, nsid: int, zones: dict[int, ZoneInfo]) -> None:
        """Record that these zones of a stream were found out of service."""
        ...

    def undo(self, nsid: int, before: StreamEntry) -> None:
        """Restore a stream's entry: the device refused the recorded change."""
        ...

    def correct(self) -> None:
        """Write a true record, if the last one is not."""
        ...

    def wait_for(self, request: Request) -> None:
        """Wait until a record is acknowledged."""
        ...
