"""How far zones are written."""

from collections.abc import Callable, Sequence

import numpy as np

from flashtrain.spec import Geometry

from .claims import Claim
from .inspection import Inspector, Span


class PointerReader:
    """Finds write pointers with few pages read.

    Dies program on their own, so that when the power fails pages may be missing before the last one that is
    there. But the pages of a block are programmed in order: no row has a page if one before it has none.
    """

    def __init__(self, inspector: Inspector, geometry: Geometry) -> None:
        self._inspector = inspector
        self._geometry = geometry

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
