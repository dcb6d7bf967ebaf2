"""A scrub: all programmed pages of an image are read, and compared with their checksums."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from zlib import crc32

import numpy as np

from flashtrain.host.image import ImageView, view_image
from flashtrain.host.image.places import StoredPage
from flashtrain.numerics.page_codec import PageCodec
from flashtrain.spec.image import PageState

from .inspected import Inspected, Recovered


@dataclass
class ScrubCount:
    """Pages of a zone, or of all.

    - read: programmed pages that were read.
    - changed: pages whose cells are not those that were programmed; torn: those whose program was cut short.
    - corrected_bits, corrected_pages: what the code corrects in these pages.
    - most_corrected: bits in one page.
    - retries: repeated reads, which a controller alone makes.
    - uncorrectable: pages with more wrong bits than the code corrects; any, if there is no code.
    """

    read: int = 0
    changed: int = 0
    torn: int = 0
    corrected_pages: int = 0
    corrected_bits: int = 0
    most_corrected: int = 0
    retries: int = 0
    uncorrectable: int = 0

    @property
    def progress(self) -> str:
        return f"scrub: {self.read:,} pages read, {self.uncorrectable} uncorrectable"

    def add(self, other: "ScrubCount") -> None:
        for field in fields(self):
            mine, more = getattr(self, field.name), getattr(other, field.name)
            setattr(self, field.name, max(mine, more) if field.name == "most_corrected" else mine + more)


@dataclass(frozen=True)
class ScrubbedZone:
    """A zone of a stream; None and None for pages that belong to nothing any more."""

    stream: str | None
    zone: int | None
    pages: ScrubCount


@dataclass(frozen=True)
class Scrub:
    """The result by zone, for those with pages; link: what has read them."""

    link: str
    all: ScrubCount
    zones: list[ScrubbedZone]


FILE = "file"
"""The link of a scrub that reads the cells in the file, without a controller."""


def scrub(image: Inspected, progress: Callable[[str], None]) -> Scrub:
    """Read all pages of the file by themselves. An error of a cell that only a read has is not in them."""
    codec = None if image.config.code is None else PageCodec(image.config.code)
    owners = _owners(image) if isinstance(image, Recovered) else {}
    found: dict[tuple[str | None, int | None], ScrubCount] = {}
    everything = ScrubCount()
    _, view = view_image(image.path)
    try:
        for number in np.flatnonzero(image.blocks.pages).tolist():
            count = ScrubCount()
            for page in view.pages(number):
                count.add(_read(view, number, page, codec, image.config.bus_page_bytes))
            found.setdefault(owners.get(number, (None, None)), ScrubCount()).add(count)
            everything.add(count)
            progress(everything.progress)
    finally:
        view.close()
    order = dict.fromkeys(owners.values())
    places = {where: place for place, where in enumerate(order)}
    rows = [
        ScrubbedZone(*where, found[where])
        for where in sorted(found, key=lambda one: places.get(one, len(places)))
    ]
    return Scrub(FILE, everything, rows)


def _owners(image: Recovered) -> dict[int, tuple[str | None, int | None]]:
    """Stream and zone of the blocks with content, by their index; in the order of streams and zones."""
    owners: dict[int, tuple[str | None, int | None]] = {}
    for stream in image.node.streams:
        first = image.node.zones(image.config.geometry.zones)[stream.nsid].start
        for owner in sorted(
            (one for one in image.report.kept if one.nsid == stream.nsid), key=lambda one: one.zone
        ):
            for index in image.blocks.of_zone(owner.physical, owner.spares):
                owners[int(index)] = (stream.name, owner.zone - first)
    return owners


def _read(
    view: ImageView, number: int, page: StoredPage, codec: PageCodec | None, coded_bytes: int
) -> ScrubCount:
    cells = view.cells(number, page.number)
    changed = page.damaged or crc32(cells) != page.record.crc
    torn = page.record.state == PageState.TORN
    count = ScrubCount(read=1, changed=int(changed), torn=int(torn))
    if not changed and not torn:
        return count
    if codec is None:
        count.uncorrectable = 1
        return count
    verdicts = codec.decode(np.frombuffer(cells, np.uint8)[:coded_bytes].copy())
    corrected = [verdict.corrected for verdict in verdicts]
    known = [bits for bits in corrected if bits is not None]
    if len(known) < len(corrected):
        count.uncorrectable = 1
        return count
    count.corrected_bits = count.most_corrected = sum(known)
    count.corrected_pages = int(count.corrected_bits > 0)
    return count
