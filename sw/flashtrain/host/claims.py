"""What physical zones say of themselves, and how far they are written."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import Geometry

from .inspection import Identities, Inspector, Span


@dataclass(frozen=True)
class Claim:
    """A physical zone, and the logical one (counted device-wide) that its first identity says it is.

    updates: whether pages that updates wrote belong to it.
    """

    physical: int
    nsid: int
    zone: int
    generation: int
    sequence: int
    wear: int
    updates: bool

    @classmethod
    def first_in(cls, ids: Identities) -> "Claim | None":
        """By the first page that has an identity."""
        found = np.flatnonzero(ids.valid)
        if not len(found):
            return None
        i = int(found[0])
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


class ZoneReader:
    """Finds claims and write pointers with few pages read.

    Dies program on their own, so that when the power fails pages may be missing before the last one that is
    there. But the pages of a block are programmed in order: no row has a page if one before it has none.
    """

    def __init__(self, inspector: Inspector, geometry: Geometry) -> None:
        self._inspector = inspector
        self._geometry = geometry

    def claims(self) -> dict[int, Claim]:
        """By physical zone; one without any identity has none."""
        g = self._geometry
        zones = range(g.zones)
        first = self._inspector.identities(Span(zone, 0, 1) for zone in zones)
        silent = [ids.span.physical for ids in first if not ids.valid[0]]
        rest = self._inspector.identities(Span(zone, 0, g.superpage) for zone in silent)
        claims = (Claim.first_in(ids) for ids in (*first, *rest))
        return {claim.physical: claim for claim in claims if claim is not None}

    def pointers(
        self, claims: Sequence[Claim], guess: Callable[[Claim], int] = lambda claim: 0
    ) -> dict[Claim, int]:
        """Blocks up to the last one that is there. `guess`: where that may be; 0: nobody knows."""
        g = self._geometry
        guesses = {claim: (guess(claim) - 1) // g.superpage for claim in claims if guess(claim)}
        pointers = {claim: end for claim, end in self._ends(guesses).items() if end}
        others = [claim for claim in claims if claim not in pointers]
        return pointers | self._ends(self._last_rows(others))

    def _last_rows(self, claims: Sequence[Claim]) -> dict[Claim, int]:
        """The last row whose first block is there; 0 if none is."""
        low, high = dict.fromkeys(claims, 0), dict.fromkeys(claims, self._geometry.pages)
        while undecided := [claim for claim in claims if high[claim] - low[claim] > 1]:
            middle = {claim: (low[claim] + high[claim]) // 2 for claim in undecided}
            spans = (self._row(claim, middle[claim], 1) for claim in undecided)
            for claim, ids in zip(undecided, self._inspector.identities(spans), strict=True):
                bound = low if claim.owns(ids)[0] else high
                bound[claim] = middle[claim]
        return low

    def _ends(self, rows: dict[Claim, int]) -> dict[Claim, int]:
        """Blocks up to the last one that is there, from a row on; 0 if that has none."""
        ends = dict.fromkeys(rows, 0)
        while rows:
            spans = (self._row(claim, row, self._geometry.superpage) for claim, row in rows.items())
            further: dict[Claim, int] = {}
            for (claim, row), ids in zip(list(rows.items()), self._inspector.identities(spans), strict=True):
                there = np.flatnonzero(claim.owns(ids))
                if len(there):
                    ends[claim] = ids.span.offset + int(there[-1]) + 1
                    if row + 1 < self._geometry.pages:
                        further[claim] = row + 1
            rows = further
        return ends

    def _row(self, claim: Claim, row: int, blocks: int) -> Span:
        return Span(claim.physical, row * self._geometry.superpage, blocks)


def newest(claims: Iterable[Claim]) -> dict[int, Claim]:
    """The claim to each logical zone that was made last."""
    return {claim.zone: claim for claim in sorted(claims, key=lambda claim: claim.sequence)}
