"""An image that is open for inspection: what its file holds, and the device that the next opening finds."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from flashtrain.host import Device, ForeignContent, FunctionalLink, HostError, RecoveryReport, open_device
from flashtrain.host.image import ImageView, view_image
from flashtrain.spec import FmsConfig, NodeTable

from .block_table import BlockTable
from .errors import InspectionError

_LEAST_MEMORY_BYTES = 1 << 20
_SECTOR = 512  # bytes of the unit in which `stat` counts


@dataclass(frozen=True, eq=False)
class Inspected:
    """An image in inspection.

    - blocks: as the file has them.
    - clock: the time of the image in seconds; serial: its random number.
    - allocated_bytes: of the file system; the rest of `file_bytes` are holes.
    - damage: what is damaged, each in one line. Reports on other parts go on without it.
    """

    path: Path
    config: FmsConfig
    blocks: BlockTable
    clock: float
    serial: str
    hung: tuple[tuple[int, int], ...]
    file_bytes: int
    allocated_bytes: int
    damage: list[str]


@dataclass(frozen=True, eq=False)
class Recovered(Inspected):
    """An image in inspection whose content is known.

    device, report: recovered from a view of the file, in memory. `report` describes what the next opening of
    the image keeps.
    """

    node: NodeTable
    device: Device
    report: RecoveryReport


@contextmanager
def inspected(path: str | Path, node: NodeTable | None = None) -> Iterator[Inspected]:
    """Open an image for inspection; its file is locked for readers, and stays as it is.

    It is `Recovered`, unless `damage` says why its content cannot be determined.

    node: the table of streams in place of that of the image. :class:`InspectionError` if neither is known,
    :class:`ForeignContent` if it is not that of the content;
    :class:`ImageError` as of `view_image`.
    """
    config, view = view_image(path)
    with closing(view), ExitStack() as stack:
        image = _physical(config, view)
        try:
            table = node or view.node
            if table is None:
                raise InspectionError(f"{path}: no device has used it yet; expected a table of streams in it")
            device = stack.enter_context(_recovered(config, view, table))
        except HostError as error:
            if node is not None and isinstance(error, ForeignContent):
                raise
            image.damage.append(f"{_named(view, error)}; its content is not known")
            yield image
            return
        report = device.recovered
        assert report is not None, "recovery has ended"
        yield Recovered(**vars(image), node=table, device=device, report=report)


def _physical(config: FmsConfig, view: ImageView) -> Inspected:
    blocks, stat = BlockTable.read(view), os.fstat(view.descriptor)
    damage = list(view.damage)
    if blocks.damaged:
        damage.append(f"{view.path}: {blocks.damaged} records of pages have another checksum than they say")
    return Inspected(
        view.path, config, blocks, view.clock, view.serial.hex(), tuple(view.hung_dies()), stat.st_size,
        stat.st_blocks * _SECTOR, damage,
    )  # fmt: skip


@contextmanager
def _recovered(config: FmsConfig, view: ImageView, node: NodeTable) -> Iterator[Device]:
    with FunctionalLink(config, _memory_bytes(config)) as link:
        link.use_image(view)
        with open_device(link=link, node=node.refusing_nothing, recover=True) as device:
            yield device


def _named(view: ImageView, error: Exception) -> str:
    """A message that begins with the name of the file."""
    return str(error) if str(error).startswith(str(view.path)) else f"{view.path}: {error}"


def _memory_bytes(config: FmsConfig) -> int:
    """Room for commands of the largest size, and for the inspection of several superpages at once."""
    g = config.geometry
    return max(_LEAST_MEMORY_BYTES, 4 * config.max_blocks * g.page_bytes)
