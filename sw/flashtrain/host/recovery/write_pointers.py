"""Write pointers of zones, from the identities of their pages."""

from collections.abc import Callable, Sequence

import numpy as np

from flashtrain.spec import Geometry

from .inspection import Inspector, Span
from .ownership import OwnershipRecord


class PointerReader:
    """Finds write pointers with few page reads.

    Dies program independently of each other, so pages before the last one may be missing after a loss of
    power. But the pages of a block are programmed in order: if a superpage has none, no later one has any.
    """

    def __init__(self, inspector: Inspector, geometry: Geometry) -> None:
        self._inspector = inspector
        self._geometry = geometry

    def pointers(
        self, owners: Sequence[OwnershipRecord], guess: Callable[[OwnershipRecord], int] = lambda owner: 0
    ) -> dict[OwnershipRecord, int]:
        """The blocks up to the last programmed one, by owner. guess: the expected number; 0: unknown."""
        g = self._geometry
        guesses = {owner: (guess(owner) - 1) // g.superpage for owner in owners if guess(owner)}
        pointers = {owner: end for owner, end in self._ends(guesses).items() if end}
        others = [owner for owner in owners if owner not in pointers]
        return pointers | self._ends(self._last_superpages(others))

    def go_on(self, pointers: dict[OwnershipRecord, int]) -> set[OwnershipRecord]:
        """The owners among these that can be appended to: every block has its last page below the pointer.

        The next page of a block without that page would be programmed out of order.
        """
        g = self._geometry
        starts = {owner: max(0, pointer - g.superpage) for owner, pointer in pointers.items()}
        spans = (Span(owner.physical, start, pointers[owner] - start) for owner, start in starts.items())
        found = zip(pointers, self._inspector.identities(spans), strict=True)
        return {owner for owner, ids in found if owner.owns(ids).all()}

    def _last_superpages(self, owners: Sequence[OwnershipRecord]) -> dict[OwnershipRecord, int]:
        """The last superpage whose first block is programmed; 0 if none is."""
        low, high = dict.fromkeys(owners, 0), dict.fromkeys(owners, self._geometry.pages)
        while undecided := [owner for owner in owners if high[owner] - low[owner] > 1]:
            middle = {owner: (low[owner] + high[owner]) // 2 for owner in undecided}
            spans = (self._span(owner, middle[owner], 1) for owner in undecided)
            for owner, ids in zip(undecided, self._inspector.identities(spans), strict=True):
                bound = low if owner.owns(ids)[0] else high
                bound[owner] = middle[owner]
        return low

    def _ends(self, superpages: dict[OwnershipRecord, int]) -> dict[OwnershipRecord, int]:
        """The blocks up to the last programmed one, from a superpage on; 0 if that has none."""
        ends = dict.fromkeys(superpages, 0)
        while superpages:
            spans = (
                self._span(owner, number, self._geometry.superpage) for owner, number in superpages.items()
            )
            further: dict[OwnershipRecord, int] = {}
            for (owner, number), ids in zip(
                list(superpages.items()), self._inspector.identities(spans), strict=True
            ):
                own = np.flatnonzero(owner.owns(ids))
                if len(own):
                    ends[owner] = ids.span.offset + int(own[-1]) + 1
                    if number + 1 < self._geometry.pages:
                        further[owner] = number + 1
            superpages = further
        return ends

    def _span(self, owner: OwnershipRecord, superpage: int, blocks: int) -> Span:
        return Span(owner.physical, superpage * self._geometry.superpage, blocks)
