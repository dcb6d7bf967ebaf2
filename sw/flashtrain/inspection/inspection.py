"""All that is known of an image, and the same as a document."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from flashtrain.spec import NodeTable
from flashtrain.spec.image import VERSION
from flashtrain.spec.node_text import node_document

from .catalogue import Catalogue, catalogue
from .health import Health, health
from .inspected import Inspected, Recovered
from .journal import Journal, journal
from .physical_zones import PhysicalZone, physical_zones
from .streams import StreamUse, streams
from .zones import Zone, zones


@dataclass(frozen=True)
class ImageFacts:
    """The file and its device; node: the table of streams as JSON has it, if it is known."""

    path: str
    version: int
    serial: str
    configuration: str
    geometry: dict[str, int]
    code_strength: int
    randomizer: bool
    node: dict[str, Any] | None
    capacity_bytes: int
    file_bytes: int
    allocated_bytes: int
    clock_seconds: float


@dataclass(frozen=True)
class Content:
    """The report on what recovery finds."""

    zones: list[Zone]
    physical_zones: list[PhysicalZone]
    streams: list[StreamUse]
    journal: Journal
    catalog: Catalogue


@dataclass(frozen=True)
class Inspection:
    """The report of an image, without `content` if that is not known; damage: a line for each part."""

    image: ImageFacts
    health: Health
    content: Content | None
    damage: list[str]

    def document(self) -> dict[str, Any]:
        """The report as JSON has it: each section by its name, null if it is not known."""
        document = asdict(self)
        content = document.pop("content") or {field.name: None for field in fields(Content)}
        return document | content


def inspect(image: Inspected) -> Inspection:
    if not isinstance(image, Recovered):
        return Inspection(_facts(image, None), health(image, None, None), None, image.damage)
    of_streams = zones(image)
    physical, uses = physical_zones(image), streams(image, of_streams)
    content = Content(of_streams, physical, uses, journal(image), catalogue(image))
    return Inspection(_facts(image, image.node), health(image, physical, uses), content, image.damage)


def _facts(image: Inspected, node: NodeTable | None) -> ImageFacts:
    config = image.config
    return ImageFacts(
        path=str(image.path),
        version=VERSION,
        serial=image.serial,
        configuration=config.name,
        geometry=asdict(config.geometry),
        code_strength=config.code_strength,
        randomizer=bool(config.randomizer),
        node=None if node is None else node_document(node),
        capacity_bytes=config.geometry.capacity_bytes,
        file_bytes=image.file_bytes,
        allocated_bytes=image.allocated_bytes,
        clock_seconds=image.clock,
    )
