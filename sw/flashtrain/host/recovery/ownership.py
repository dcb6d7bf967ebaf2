"""Ownership records: the logical zone that each physical zone and spare block belongs to, by its pages."""

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

    updates: whether pages that updates wrote belong to it; spares: the spare blocks in which it has pages, as
    numbers of block and column (offset of the first page); whole: every block of it has a page.
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
        """What all pages of a zone have in common, and those of no other."""
        return self.nsid, self.zone, self.generation, self.sequence

    @classmethod
    def first_in(cls, ids: Identities) -> "OwnershipRecord | None":
        """By the first page that has an identity."""
        found = np.flatnonzero(ids.valid)
        return cls.of_page(ids, int(found[0])) if len(found) else None

    @classmethod
    def last_in(cls, ids: Identities) -> "OwnershipRecord | None":
        """By the page that was written last: a bad block may still hold one of an earlier life."""
        found = np.flatnonzero(ids.valid)
        return cls.of_page(ids, int(found[ids.sequence[found].argmax()])) if len(found) else None

    @classmethod
    def of_page(cls, ids: Identities, i: int) -> "OwnershipRecord":
        return cls(
            ids.span.physical, int(ids.nsid[i]), int(ids.zone[i]), int(ids.generation[i]),
            int(ids.sequence[i]), int(ids.wear[i]), bool(ids.updated[i]),
        )  # fmt: skip

    def owns(self, ids: Identities) -> NDArray[np.bool_]:
        """Which pages belong to it."""
        return (
            ids.valid
            & (ids.updated <= self.updates)
            & (ids.nsid == self.nsid)
            & (ids.zone == self.zone)
            & (ids.generation == self.generation)
            & (ids.sequence == self.sequence)
        )


_SPARE_ROWS = 4
"""Pages of a spare block that are looked at: the program of the first one may have failed."""


class OwnershipReader:
    """Finds ownership records with few pages read; with spare blocks also those `marked` as bad."""

    def __init__(self, inspector: Inspector, geometry: Geometry, marks: MarkReader) -> None:
        self._inspector = inspector
        self._geometry = geometry
        self._marks = marks
        self._found: set[Block] = set()  # spares with pages
        self.marked: list[Block] = []

    def owners(self) -> list[OwnershipRecord]:
        """Of all physical zones that have an identity; and of spare blocks."""
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
        """Spares belong to the physical zone of the same allocation.

        If there is none, because all pages of an allocation lie in spares, any physical zone will do whose
        own blocks nobody needs: with these spares in their places it holds just those pages. There is one,
        for there are not more logical zones than physical ones.

        A block may have moved to a spare, and the power may have failed meanwhile: of several blocks for a
        place the one counts that holds most.
        """
        g = self._geometry
        first_rows = self._inspector.identities(Span(zone, 0, g.superpage) for zone in range(g.zones))
        found = self._spares()
        no_identity = {
            (ids.span.physical, column)
            for ids in first_rows
            for column in np.flatnonzero(~ids.valid).tolist()
        }
        no_identity |= {(block, column) for block in g.spares for column in range(g.superpage)} - self._found
        self.marked = self._marks.marked(no_identity)
        owners: list[OwnershipRecord] = []
        for ids in first_rows:
            if owner := OwnershipRecord.last_in(ids):
                _, spares = found.pop(owner.allocation, (owner, ()))
                own = np.flatnonzero(owner.owns(ids)).tolist()
                spares = self._fullest(owner, own, spares)
                columns = {*own, *(column for _, column in spares)}
                owners.append(replace(owner, spares=tuple(spares), whole=len(columns) == g.superpage))
        only_in_spares = [owner for owner, _ in found.values()]
        needed = newest([*owners, *only_in_spares]).values()
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
        """By allocation: its ownership record, without a known physical zone, and its spares."""
        g = self._geometry
        rows = min(_SPARE_ROWS, g.pages)
        found: dict[tuple[int, int, int, int], tuple[OwnershipRecord, list[tuple[int, int]]]] = {}
        for ids in self._inspector.identities(Span(block, 0, rows * g.superpage) for block in g.spares):
            valid = ids.valid.reshape(rows, g.superpage)
            for column in np.flatnonzero(valid.any(axis=0)).tolist():
                owner = OwnershipRecord.of_page(ids, int(valid[:, column].argmax()) * g.superpage + column)
                found.setdefault(owner.allocation, (owner, []))[1].append((ids.span.physical, column))
                self._found.add((ids.span.physical, column))
        return found

    def _fullest(
        self, owner: OwnershipRecord, own: Iterable[int], spares: Iterable[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """The spares that count, of those that have pages of this owner.

        own: columns in which its physical zone has some, too. Of blocks that hold as much the last one
        counts, to which the others have moved.
        """
        g = self._geometry
        places: dict[int, list[int]] = {column: [owner.physical] for column in own}
        for block, column in sorted(spares):
            places.setdefault(column, []).append(block)
        several = [
            (block, column) for column, blocks in places.items() if len(blocks) > 1 for block in blocks
        ]
        pages = self._inspector.identities(
            Span(block, row * g.superpage + column, 1) for block, column in several for row in range(g.pages)
        )
        there = np.array([bool(owner.owns(ids)[0]) for ids in pages], bool).reshape(len(several), g.pages)
        rows = dict(zip(several, np.logical_and.accumulate(there, axis=1).sum(axis=1).tolist(), strict=True))
        chosen = [
            (max(reversed(blocks), key=lambda block: rows.get((block, column), 0)), column)
            for column, blocks in places.items()
        ]
        return [(block, column) for block, column in chosen if block in g.spares]

    def written_spares(self, in_use: set[Block]) -> list[int]:
        """Numbers of spare blocks of which one that is not in use has pages."""
        return sorted({block for block, _ in self._found - in_use})

    def unwritten_first(self, column: int) -> list[int]:
        """Numbers of the spare blocks of a column."""
        return sorted(self._geometry.spares, key=lambda block: ((block, column) in self._found, block))


def newest(owners: Iterable[OwnershipRecord]) -> dict[int, OwnershipRecord]:
    """The ownership record of each logical zone with the highest sequence number."""
    return {owner.zone: owner for owner in sorted(owners, key=lambda owner: owner.sequence)}
