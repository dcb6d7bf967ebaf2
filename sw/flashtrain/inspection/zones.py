"""Logical zones: states by the names of NVMe, what is written, and where it lies."""

from dataclasses import dataclass

import numpy as np

from flashtrain.spec.nvme import RETIRED

from .inspected import Recovered
from .wear import Wear


@dataclass(frozen=True)
class Zone:
    """A zone of a stream, as the next opening finds it.

    - zone, start: its number, and its first block address in the stream.
    - write_pointer: None in a zone that takes no more appends.
    - written_blocks: blocks up to the last written one.
    - physical, sequence, generation: its physical zone, and the number and the stream's generation of that
      allocation; None without content.
    - spares: spare blocks in its use.
    - erases, endurance_used: of its blocks; per cent of what the stream's retention class stands.
    - age_seconds: of its oldest data.
    """

    stream: str
    nsid: int
    zone: int
    start: int
    state: str
    capacity_blocks: int
    written_blocks: int
    write_pointer: int | None
    physical: int | None
    sequence: int | None
    generation: int | None
    spares: int
    erases: Wear | None
    endurance_used: float | None
    age_seconds: float | None


def zones(image: Recovered) -> list[Zone]:
    """All zones, in the order of the streams."""
    g, blocks = image.config.geometry, image.blocks
    kept = {owner.zone: owner for owner in image.report.kept}
    found = []
    for stream in image.node.streams:
        first = image.node.zones(g.zones)[stream.nsid].start
        for number, info in enumerate(image.report.zones[stream.nsid]):
            owner = kept.get(first + number)
            wear = age = None
            written = 0
            if owner is not None:
                own = blocks.of_zone(owner.physical, owner.spares)
                wear, written = Wear.of(blocks.erases.take(own)), image.report.kept[owner]
                times = blocks.oldest.take(own)
                if np.isfinite(times).any():
                    age = max(0.0, image.clock - float(np.nanmin(times)))
            pointer = None if info.state in RETIRED else info.write_pointer
            found.append(
                Zone(
                    stream.name, stream.nsid, number, info.start, info.state.name, info.capacity, written,
                    pointer, None if owner is None else owner.physical,
                    None if owner is None else owner.sequence, None if owner is None else owner.generation,
                    0 if owner is None else len(owner.spares), wear,
                    None if wear is None else wear.used(stream.retention), age,
                )
            )  # fmt: skip
    return found
