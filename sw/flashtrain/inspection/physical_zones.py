"""Physical zones: the blocks of one number on all planes, and what they are used for."""

from dataclasses import dataclass
from enum import StrEnum

from flashtrain.spec.image import BlockFlag

from .inspected import Recovered
from .wear import Wear

BAD = BlockFlag.BROKEN | BlockFlag.MARKED | BlockFlag.STUCK


class Use(StrEnum):
    """The use of a physical zone.

    MAPPED: it holds a zone's content. STALE: its pages belong to nothing any more, and the next opening
    erases it. FREE: it is erased. SPARE: its blocks replace blocks that fail.
    """

    MAPPED = "mapped"
    STALE = "stale"
    FREE = "free"
    SPARE = "spare"


@dataclass(frozen=True)
class PhysicalZone:
    """A physical zone, or the spare blocks of one number.

    - stream, zone: of its content, if it is mapped.
    - erases: of its blocks; pages: those that are programmed in them.
    - bad_blocks: blocks of it with a factory mark, or whose programs or erases fail.
    - reads: of the block with the most reads since its last erase.
    """

    number: int
    use: Use
    stream: str | None
    zone: int | None
    erases: Wear
    pages: int
    bad_blocks: int
    reads: int


def physical_zones(image: Recovered) -> list[PhysicalZone]:
    """All physical zones, and behind them the spare blocks."""
    g, blocks = image.config.geometry, image.blocks
    kept = {owner.physical: owner for owner in image.report.kept}
    names = {stream.nsid: stream.name for stream in image.node.streams}
    firsts = {nsid: zones.start for nsid, zones in image.node.zones(g.zones).items()}
    found = []
    for number in range(g.blocks):
        own = blocks.of_zone(number)
        pages, owner = int(blocks.pages.take(own).sum()), kept.get(number)
        use = Use.MAPPED if owner is not None else Use.STALE if pages else Use.FREE
        found.append(
            PhysicalZone(
                number, Use.SPARE if number in g.spares else use,
                None if owner is None else names[owner.nsid],
                None if owner is None else owner.zone - firsts[owner.nsid],
                Wear.of(blocks.erases.take(own)), pages,
                int((blocks.flags.take(own) & BAD != 0).sum()), int(blocks.reads.take(own).max()),
            )
        )  # fmt: skip
    return found
