"""All that is known of an image, and the same as a document."""

from dataclasses import asdict, dataclass
from typing import Any

from flashtrain.spec.node_text import node_document

from .catalogue import Catalogue, catalogue
from .health import Health, health
from .inspected import Inspected
from .journal import Journal, journal
from .physical_zones import PhysicalZone, physical_zones
from .streams import StreamUse, streams
from .zones import Zone, zones


@dataclass(frozen=True)
class ImageFacts:
    """The file and its device; node: the table of streams as JSON has it."""

    path: str
    version: int
    serial: str
    configuration: str
    geometry: dict[str, int]
    code_strength: int
    randomizer: bool
    node: dict[str, Any]
    capacity_bytes: int
    file_bytes: int
    allocated_bytes: int
    clock_seconds: float


@dataclass(frozen=True)
class Inspection:
    """The report of an image."""

    image: ImageFacts
    zones: list[Zone]
    physical_zones: list[PhysicalZone]
    streams: list[StreamUse]
    health: Health
    journal: Journal
    catalog: Catalogue


def inspect(image: Inspected) -> Inspection:
    of_streams = zones(image)
    physical, uses = physical_zones(image), streams(image, of_streams)
    return Inspection(
        _facts(image),
        of_streams,
        physical,
        uses,
        health(image, physical, uses),
        journal(image),
        catalogue(image),
    )


def _facts(image: Inspected) -> ImageFacts:
    config = image.config
    return ImageFacts(
        path=str(image.path),
        version=image.version,
        serial=image.serial,
        configuration=config.name,
        geometry=asdict(config.geometry),
        code_strength=config.code_strength,
        randomizer=bool(config.randomizer),
        node=node_document(image.node),
        capacity_bytes=config.geometry.capacity_bytes,
        file_bytes=image.file_bytes,
        allocated_bytes=image.allocated_bytes,
        clock_seconds=image.clock,
    )
