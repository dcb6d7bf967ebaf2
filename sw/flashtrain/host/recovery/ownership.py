"""Ownership records: the logical zone of each physical zone and spare block, by its pages' identities."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import Geometry

from .inspection import Identities, Inspector, Span
from .marks import Block, MarkReader


@dataclass(frozen=True)
class OwnershipRecord:
    """A physical zone, and the logical zone (counted device-wide) that the identities of its pages name.

    - updates: whether pages that updates wrote belong to it.
    - spares: the spare blocks with pages of it, by block and column (offset of the first page).
    - whole: every block of it has a page.
    """

    physical: int
    nsid: int
    zone: int
    generation: int
    sequence: int
    wear: int
    updates: bool
    spares: tuple[tuple[int, int], ...] = ()
    whole: bool = False

    @property
    def allocation(self) -> tuple[int, int, int, int]:
        """The fields that identify one allocation: all its pages share them, and no others do."""
        return self.nsid, self.zone, self.generation, self.sequence

    @classmethod
    def first_in(cls, ids: Identities) -> "OwnershipRecord | None":
        """The record from the first page with an identity; None without one."""
        found = np.flatnonzero(ids.valid)
        return cls.of_page(ids, int(found[0])) if len(found) else None

    @classmethod
    def last_in(cls, ids: Identities) -> "OwnershipRecord | None":
        """The record from the newest page: a bad block may still hold pages of an earlier allocation."""
        found = np.flatnonzero(ids.valid)
        return cls.of_page(ids, int(found[ids.sequence[found].argmax()])) if len(found) else None

    @classmethod
    def of_page(cls, ids: Identities, i: int) -> "OwnershipRecord":
        return cls(
            ids.span.physical, int(ids.nsid[i]), int(ids.zone[i]), int(ids.generation[i]),
            int(ids.sequence[i]), int(ids.wear[i]), bool(ids.updated[i]),
        )  # fmt: skip

    def owns(self, ids: Identities) -> NDArray[np.bool_]:
        """Whether each page belongs to this allocation."""
        return (
            ids.valid
            & (ids.updated <= self.updates)
            & (ids.nsid == self.nsid)
            & (ids.zone == self.zone)
            & (ids.generation == self.generation)
            & (ids.sequence == self.sequence)
        )


_SPARE_PAGES = 4
"""The number of pages that are inspected in a spare block: the program of the first one may have failed."""


class OwnershipReader:
    """Finds ownership records with few page reads; on a device with spare blocks also the `marked` blocks."""

    def __init__(self, inspector: Inspector, geometry: Geometry, marks: MarkReader) -> None:
        self._inspector = inspector
        self._geometry = geometry
        self._marks = marks
        self._found: set[Block] = set()  # spares with pages
        self.marked: list[Block] = []

    def owners(self) -> list[OwnershipRecord]:
        """The ownership records of all physical zones and spare blocks with an identity."""
        if self._geometry.spare_blocks:
            return self._owners_with_spares()
        return self._owners_of_zones()

    def _owners_of_zones(self) -> list[OwnershipRecord]:
        g = self._geometry
        zones = range(g.zones)
        first = self._inspector.identities(Span(zone, 0, 1) for zone in zones)
        silent = [ids.span.physical for ids in first if not ids.valid[0]]
        rest = self._inspector.identities(Span(zone, 0, g.superpage) for zone in silent)
        owners = (OwnershipRecord.first_in(ids) for ids in (*first, *rest))
        return [owner for owner in owners if owner is not None]

    def _owners_with_spares(self) -> list[OwnershipRecord]:
        """The ownership records of a device with spare blocks.

        A spare belongs to the physical zone of the same allocation. If all pages of an allocation lie in
        spares, it gets a physical zone whose own blocks are not needed; with the spares in their places that
        zone holds just these pages. Such a zone exists, because there are at least as many physical zones as
        logical ones.

        The power may fail while a block moves to a spare. If several blocks have pages of one place, the
        block with the most pages counts.
        """
        g = self._geometry
        first_superpages = self._inspector.identities(Span(zone, 0, g.superpage) for zone in range(g.zones))
        found = self._spares()
        no_identity = {
            (ids.span.physical, column)
            for ids in first_superpages
            for column in np.flatnonzero(~ids.valid).tolist()
        }
        no_identity |= {(block, column) for block in g.spares for column in range(g.superpage)} - self._found
        self.marked = self._marks.marked(no_identity)
        owners: list[OwnershipRecord] = []
        for ids in first_superpages:
            if owner := OwnershipRecord.last_in(ids):
                _, spares = found.pop(owner.allocation, (owner, ()))
                own = np.flatnonzero(owner.owns(ids)).tolist()
                spares = self._fullest(owner, own, spares)
                columns = {*own, *(column for _, column in spares)}
                owners.append(replace(owner, spares=tuple(spares), whole=len(columns) == g.superpage))
        only_in_spares = [owner for owner, _ in found.values()]
        needed = [owner for _, owner in sorted(newest([*owners, *only_in_spares]).items())]
        taken = {owner.physical for owner in needed if owner.allocation not in found}
        silent = set(range(g.zones)) - {owner.physical for owner in owners}
        marked = {block for block, _ in self.marked}
        free = iter(
            sorted(set(range(g.zones)) - taken, key=lambda zone: (zone in marked, zone not in silent, zone))
        )
        for owner in needed:
            if owner.allocation in found:
                spares = tuple(self._fullest(owner, (), found[owner.allocation][1]))
                whole = len(spares) == g.superpage
                owners.append(replace(owner, physical=next(free), spares=spares, whole=whole))
        return owners

    def _spares(self) -> dict[tuple[int, int, int, int], tuple[OwnershipRecord, list[tuple[int, int]]]]:
        """By allocation, its spares and its ownership record, whose physical zone is not yet known."""
        g = self._geometry
        pages = min(_SPARE_PAGES, g.pages)
        found: dict[tuple[int, int, int, int], tuple[OwnershipRecord, list[tuple[int, int]]]] = {}
        for ids in self._inspector.identities(Span(block, 0, pages * g.superpage) for block in g.spares):
            valid = ids.valid.reshape(pages, g.superpage)
            for column in np.flatnonzero(valid.any(axis=0)).tolist():
                owner = OwnershipRecord.of_page(ids, int(valid[:, column].argmax()) * g.superpage + column)
                found.setdefault(owner.allocation, (owner, []))[1].append((ids.span.physical, column))
                self._found.add((ids.span.physical, column))
        return found

    def _fullest(
        self, owner: OwnershipRecord, own: Iterable[int], spares: Iterable[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """The spares that count, among `spares` with pages of this owner.

        own: the columns in which its physical zone has pages, too. Of blocks with equally many pages the last
        one counts, because the others have moved to it.
        """
        g = self._geometry
        places: dict[int, list[int]] = {column: [owner.physical] for column in own}
        for block, column in sorted(spares):
            places.setdefault(column, []).append(block)
        several = [
            (block, column) for column, blocks in places.items() if len(blocks) > 1 for block in blocks
        ]
        pages = self._inspector.identities(
            Span(block, page * g.superpage + column, 1)
            for block, column in several
            for page in range(g.pages)
        )
        own = np.array([bool(owner.owns(ids)[0]) for ids in pages], bool).reshape(len(several), g.pages)
        counts = dict(zip(several, np.logical_and.accumulate(own, axis=1).sum(axis=1).tolist(), strict=True))
        chosen = [
            (max(reversed(blocks), key=lambda block: counts.get((block, column), 0)), column)
            for column, blocks in places.items()
        ]
        return [(block, column) for block, column in chosen if block in g.spares]

    def written_spares(self, in_use: set[Block]) -> list[int]:
        """Numbers of the spare blocks that have pages in a column where they are not in use."""
        return sorted({block for block, _ in self._found - in_use})

    def unwritten_first(self, column: int) -> list[int]:
        """Numbers of the spare blocks of a column, blocks without pages first."""
        return sorted(self._geometry.spares, key=lambda block: ((block, column) in self._found, block))


def newest(owners: Iterable[OwnershipRecord]) -> dict[int, OwnershipRecord]:
    """By logical zone, the ownership record with the highest sequence number."""
    return {owner.zone: owner for owner in sorted(owners, key=lambda owner: owner.sequence)}
