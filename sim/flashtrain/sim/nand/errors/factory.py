"""Which blocks of a simulated device are bad from the factory, and what their marks look like."""

from collections import Counter
from random import Random
from typing import NamedTuple

from flashtrain.spec import Geometry
from flashtrain.spec.bad_blocks import FACTORY_SHARE, marked_pages
from flashtrain.spec.errors import require


class FactoryMark(NamedTuple):
    """A bad block, and its mark: in this page of it, all over the page or only where it has to be."""

    channel: int
    die: int
    plane: int
    block: int
    page: int = 0
    whole: bool = True


def factory_marks(geometry: Geometry, seed: int | str, share: float = FACTORY_SHARE) -> list[FactoryMark]:
    """Each block is bad with the probability `share`, wherever it lies; marks are of all kinds."""
    require(0 <= share <= 1, "share", share, "a number from 0 to 1")
    random, g = Random(seed), geometry
    return [
        FactoryMark(
            channel, die, plane, block, random.choice(marked_pages(g.pages)), random.random() < 0.5
        )
        for channel in range(g.channels)
        for die in range(g.dies)
        for plane in range(g.planes)
        for block in range(g.blocks)
        if random.random() < share
    ]  # fmt: skip


def as_spares_last(
    geometry: Geometry, marks: list[FactoryMark], bad: list[tuple[int, int, int]]
) -> list[FactoryMark]:
    """As many of the marks as leave a spare for each zone's block that is marked or in a place of `bad`.

    bad: channel, die and plane of blocks that have no mark.
    """
    left = Counter({place: -bad.count(place) for place in bad})
    kept = []
    for one in marks:
        place = (one.channel, one.die, one.plane)
        if left[place] + geometry.spare_blocks > 0:
            left[place] -= 1
            kept.append(one)
    return kept
