"""An image that is open for inspection: what its file holds, and the device that the next opening finds."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flashtrain.host import Device, FunctionalLink, RecoveryReport, open_device
from flashtrain.host.image import view_image
from flashtrain.spec import FmsConfig, NodeTable
from flashtrain.spec.image import VERSION

from .block_table import BlockTable
from .errors import InspectionError

_MEMORY_BYTES = 16 << 20
_SECTOR = 512  # bytes of the unit in which `stat` counts


@dataclass(frozen=True, eq=False)
class Inspected:
    """An image in inspection.

    - blocks: as the file has them.
    - device, report: recovered from a view of the file, in memory. `report` describes what the next opening
      of the image keeps.
    - clock: the time of the image in seconds; serial: its random number.
    - allocated_bytes: of the file system; the rest of `file_bytes` are holes.
    """

    path: Path
    config: FmsConfig
    node: NodeTable
    blocks: BlockTable
    device: Device
    report: RecoveryReport
    clock: float
    serial: str
    hung: tuple[tuple[int, int], ...]
    file_bytes: int
    allocated_bytes: int
    version: int = VERSION


@contextmanager
def inspected(path: str | Path, node: NodeTable | None = None) -> Iterator[Inspected]:
    """Open an image for inspection; its file is locked for readers, and stays as it is.

    node: the table of streams in place of that of the image. :class:`InspectionError` if neither is known;
    :class:`ImageError` as of `view_image`; :class:`RecoveryError` if the content cannot be determined.
    """
    config, view = view_image(path)
    try:
        table = node or view.node
        if table is None:
            raise InspectionError(f"{path}: no device has used it yet; expected a table of streams in it")
        blocks, hung, stat = BlockTable.read(view), tuple(view.hung_dies()), os.fstat(view.descriptor)
        with FunctionalLink(config, max(_MEMORY_BYTES, _least_memory(config))) as link:
            link.use_image(view)
            with open_device(link=link, node=table.refusing_nothing, recover=True) as device:
                report = device.recovered
                assert report is not None, "recovery has ended"
                yield Inspected(
                    Path(path), config, table, blocks, device, report, view.clock, view.serial.hex(),
                    hung, stat.st_size, stat.st_blocks * _SECTOR,
                )  # fmt: skip
    finally:
        view.close()


def _least_memory(config: FmsConfig) -> int:
    """Room for the inspection of several superpages at once."""
    g = config.geometry
    return 4 * min(config.max_blocks, g.superpage) * g.page_bytes
