"""Reads of the journal's newest record while the controller is in recovery."""

from flashtrain.host.errors import JournalDamaged
from flashtrain.spec import FmsConfig

from .inspection import Inspector, Span
from .journal_record import Record, RecordFormat
from .ownership import OwnershipRecord


class RecordReader:
    """Finds the last whole record in a zone of the journal.

    Each record waits for the one before, so only the last one can have an interrupted program. It has pages
    without identity then, or, on a device without a code, pages whose content is spoilt. A record that is
    damaged otherwise was acknowledged.

    Members
    -------
    records: the number of records that were read.
    """

    def __init__(self, inspector: Inspector, config: FmsConfig) -> None:
        self._inspector = inspector
        self._coded = config.code is not None
        self._form = RecordFormat(config.geometry)
        self.records = 0

    def last(self, owner: OwnershipRecord, pointer: int) -> tuple[Record, int] | None:
        """The last whole record below block `pointer`, and the block behind it; None without one.

        :class:`JournalDamaged` if an acknowledged record comes after it.
        """
        end, unknown = pointer, True  # unknown: no block above `end` says which record it belongs to
        while end > 0:
            if not self._owned(owner, Span(owner.physical, end - 1, 1)):
                end -= 1
                continue
            place = self._form.place(self._inspector.pages(Span(owner.physical, end - 1, 1))[0])
            if place is None:
                if self._coded or not unknown:
                    self.records += 1
                    raise _damaged(owner, end - 1)
                end -= 1
                continue
            span = Span(owner.physical, end - 1 - place.position, place.blocks)
            if span.offset < 0 or span.offset + span.blocks > pointer or not self._owned(owner, span):
                end, unknown = max(span.offset, 0), False  # it was never acknowledged
                continue
            record = self._form.parse(self._inspector.pages(span))
            if record is None and not self._coded and unknown and span.offset + span.blocks == pointer:
                end, unknown = span.offset, False
                continue
            self.records += 1
            if record is None:
                raise _damaged(owner, span.offset)
            return record, span.offset + span.blocks
        return None

    def _owned(self, owner: OwnershipRecord, span: Span) -> bool:
        """Whether all pages belong to the journal's zone."""
        return bool(owner.owns(self._inspector.identities([span])[0]).all())


def _damaged(owner: OwnershipRecord, block: int) -> JournalDamaged:
    return JournalDamaged(
        f"the record in block {block} of physical zone {owner.physical} is damaged; "
        "older ones may say wrong things, and Device.format() makes a new start"
    )
