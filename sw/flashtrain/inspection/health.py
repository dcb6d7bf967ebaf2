"""The health of the flash in an image, from its records."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flashtrain.spec.image import BlockFlag
from flashtrain.spec.streams import Retention

from .inspected import Inspected, Recovered
from .physical_zones import PhysicalZone, Use
from .streams import StreamUse
from .wear import Wear


@dataclass(frozen=True)
class PlaneWear:
    """Erases of the blocks of one plane, and its bad blocks."""

    channel: int
    die: int
    plane: int
    erases: Wear
    bad_blocks: int


@dataclass(frozen=True)
class BadBlock:
    """A block with a condition, by the names of `BlockFlag`; replacement: the spare block in its place."""

    channel: int
    die: int
    plane: int
    block: int
    flags: list[str]
    erases: int
    replacement: int | None


@dataclass(frozen=True)
class Health:
    """The health of all blocks; a value that depends on the content is None if that is not known.

    - percentage_used: of the endurance, for the stream with the highest part, as NVMe counts it.
    - class_used: the same of the most worn block, if its data were of this retention class.
    - free_zones, stale_zones: physical zones without content; those of a stale zone are erased at an opening.
    - spares, spares_in_use: spare blocks, and those with a zone's content or in the place of a bad block.
    - least_spares_left: the other spare blocks of the plane with the fewest.
    - torn_pages: pages whose program or erase was cut short.
    - most_reads: of one block since its last erase.
    - expired_streams: those with data past their retention class.
    """

    percentage_used: float | None
    class_used: dict[str, float]
    erases: Wear
    zones: int
    free_zones: int | None
    stale_zones: int | None
    spares: int
    spares_in_use: int | None
    least_spares_left: int | None
    hung_dies: list[dict[str, int]]
    torn_pages: int
    most_reads: int
    expired_streams: list[str] | None
    bad_blocks: list[BadBlock]
    planes: list[PlaneWear]


def health(
    image: Inspected, physical: Sequence[PhysicalZone] | None, streams: Sequence[StreamUse] | None
) -> Health:
    g, blocks = image.config.geometry, image.blocks
    wear = Wear.of(blocks.erases)
    bad = _bad_blocks(image)
    used = _spares_in_use(image) if isinstance(image, Recovered) else None
    return Health(
        percentage_used=None
        if streams is None
        else max((one.endurance_used or 0.0 for one in streams), default=0.0),
        class_used={retention.name: wear.used(retention) for retention in Retention},
        erases=wear,
        zones=g.zones,
        free_zones=None if physical is None else sum(zone.use is Use.FREE for zone in physical),
        stale_zones=None if physical is None else sum(zone.use is Use.STALE for zone in physical),
        spares=g.spare_blocks * g.superpage,
        spares_in_use=None if used is None else len(used),
        least_spares_left=None if used is None else _least_left(image, used),
        hung_dies=[{"channel": channel, "die": die} for channel, die in image.hung],
        torn_pages=int(blocks.torn.sum()),
        most_reads=int(blocks.reads.max()),
        expired_streams=None
        if streams is None
        else [one.name for one in streams if (one.oldest_seconds or 0) >= one.limit_seconds],
        bad_blocks=bad,
        planes=_planes(image, bad),
    )


def _least_left(image: Inspected, used: set[tuple[int, int]]) -> int:
    """Unused spare blocks of the plane with the fewest."""
    g = image.config.geometry
    in_plane = np.zeros((g.channels, g.dies, g.planes), int)
    for _, column in used:
        in_plane[image.blocks.column(column)] += 1
    return int(g.spare_blocks - in_plane.max())


def _bad_blocks(image: Inspected) -> list[BadBlock]:
    replaced = _replacements(image) if isinstance(image, Recovered) else {}
    blocks = image.blocks
    return [
        BadBlock(
            *place,
            [flag.name or "" for flag in BlockFlag if flag & int(blocks.flags[place])],
            int(blocks.erases[place]),
            replaced.get(place),
        )
        for place in (tuple(map(int, where)) for where in np.argwhere(blocks.flags))
        if len(place) == 4
    ]


def _replacements(image: Recovered) -> dict[tuple[int, ...], int | None]:
    """The spare in the place of each block that has one."""
    replaced: dict[tuple[int, ...], int | None] = {
        (one.channel, one.die, one.plane, one.block): one.replacement for one in image.report.bad
    }
    for owner in image.report.kept:
        for spare, column in owner.spares:
            replaced[(*image.blocks.column(column), owner.physical)] = spare
    return replaced


def _spares_in_use(image: Recovered) -> set[tuple[int, int]]:
    """Spare blocks by number and column."""
    used = {spare for owner in image.report.kept for spare in owner.spares}
    for bad in image.report.bad:
        column = image.blocks.column_of(bad.channel, bad.die, bad.plane)
        if bad.replacement is not None:
            used.add((bad.replacement, column))
        elif bad.block in image.config.geometry.spares:
            used.add((bad.block, column))
    return used


def _planes(image: Inspected, bad: Sequence[BadBlock]) -> list[PlaneWear]:
    erases = image.blocks.erases
    return [
        PlaneWear(
            channel, die, plane, Wear.of(erases[channel, die, plane]),
            sum((one.channel, one.die, one.plane) == (channel, die, plane) for one in bad),
        )
        for channel, die, plane in image.blocks.columns()
    ]  # fmt: skip
