"""A scrub by a controller: every written block is read through a Link, on a copy of the image."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from flashtrain.host import Extent, LinkFactory, open_device
from flashtrain.spec import Access, Port

from .inspected import Recovered
from .scrub import Scrub, ScrubbedZone, ScrubCount

_PIECE = 1 << 20
"""Bytes of a copy at once."""


def link_scrub(
    image: Recovered, name: str, link: LinkFactory, memory_bytes: int, progress: Callable[[str], None]
) -> Scrub:
    """Read all blocks of the kept zones through the Link called `name`, page by page.

    Blocks without a page count as uncorrectable reads: recovery keeps a zone up to its last page. The copy,
    next to temporary files, takes as many bytes as the image has data.
    """
    with TemporaryDirectory() as folder:
        copy = Path(folder) / image.path.name
        copy_sparse(image.path, copy)
        with open_device(
            image.config, link, image.node.refusing_nothing, memory_bytes, recover=True, image=copy
        ) as device:
            report, rows, everything = device.recovered, [], ScrubCount()
            assert report is not None, "recovery has ended"
            zones_of = image.node.zones(image.config.geometry.zones)
            ends = {owner.zone: blocks for owner, blocks in report.kept.items()}
            for table in image.node.streams:
                able = [port for port in Port if Access.READ in table.access(port)]
                for zone, _ in enumerate(report.zones[table.nsid]):
                    blocks = ends.get(zones_of[table.nsid].start + zone, 0)
                    if not able or not blocks:
                        continue
                    stream = device.state_stream(table.name, able[0])
                    extent = Extent(zone * stream.zone_size, blocks)
                    stored = stream.stored_at([extent], (blocks * stream.block_bytes,), np.uint8)
                    found = stream.health(stored)
                    count = ScrubCount(
                        read=blocks,
                        corrected_pages=int((found.corrected > 0).sum()),
                        corrected_bits=int(found.corrected.sum(dtype=np.int64)),
                        most_corrected=int(found.corrected.max()),
                        retries=int(found.retries.sum(dtype=np.int64)),
                        uncorrectable=int(found.lost.sum()),
                    )
                    everything.add(count)
                    rows.append(ScrubbedZone(table.name, zone, count))
                    progress(everything.progress)
    return Scrub(name, everything, rows)


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a file, without its holes where the file system shows them."""
    with source.open("rb") as read, target.open("wb") as write:
        size, at = os.fstat(read.fileno()).st_size, 0
        write.truncate(size)
        while at < size:
            try:
                begin = os.lseek(read.fileno(), at, os.SEEK_DATA)
            except OSError:  # there is a hole up to the end
                return
            at = os.lseek(read.fileno(), begin, os.SEEK_HOLE)
            read.seek(begin)
            write.seek(begin)
            left = at - begin
            while left:
                left -= write.write(read.read(min(left, _PIECE)))
