"""The shape of both devices: the zones and limits of `tiny`, with blocks of 4 KiB and two namespaces."""

from dataclasses import dataclass, replace

from flashtrain.nvme.subsystem.namespaces import MOST_TRANSFER_BYTES, transfer_exponent
from flashtrain.qemu.nvme_controller import SLOT
from flashtrain.spec import Access, FmsConfig, NodeTable, Persistency, Stream, preset
from flashtrain.spec.streams import SERVE_NODE, Retention

_TINY = preset("tiny")
CONFIG: FmsConfig = replace(
    _TINY,
    # QEMU knows which blocks are unwritten by the holes of a file, and these are pages of 4 KiB.
    geometry=replace(_TINY.geometry, page_bytes=4096, blocks=24),
    max_open=3,
    max_active=5,
)
_JOURNAL = SERVE_NODE.journal
assert _JOURNAL is not None
_ANY = Access.READ | Access.APPEND
NODE = NodeTable(
    "conformance",
    (
        Stream(1, "kept", Persistency.NON_VOLATILE, Retention.YEARS, host=_ANY, core=_ANY),
        Stream(3, "cached", Persistency.VOLATILE, Retention.YEARS, host=_ANY, core=_ANY),
        _JOURNAL,
    ),
)
QUEUES = 8
"""I/O queues that both controllers grant."""


@dataclass(frozen=True)
class Shape:
    """Sizes in blocks.

    - zones: by NSID.
    - most_blocks: the limit of a transfer; exponent: the same as MDTS.
    """

    zones: dict[int, int]
    zone_size: int
    zone_capacity: int
    block_bytes: int
    max_open: int
    max_active: int
    exponent: int

    @property
    def most_blocks(self) -> int:
        return (4096 << self.exponent) // self.block_bytes

    def blocks(self, nsid: int) -> int:
        """Of a namespace; 0 of none."""
        return self.zones.get(nsid, 0) * self.zone_size


def shape_of(config: FmsConfig, most_bytes: int = MOST_TRANSFER_BYTES) -> Shape:
    """The shape of our device with the streams of `NODE`, as its hosts see it. most_bytes: of a transfer."""
    g, zones = config.geometry, NODE.zones(config.geometry.zones)
    return Shape(
        {stream.nsid: len(zones[stream.nsid]) for stream in NODE.streams if stream != _JOURNAL},
        g.zone_size, g.zone_capacity, g.page_bytes, config.max_open, config.max_active,
        transfer_exponent(config, most_bytes),
    )  # fmt: skip


def qemu_devices(shape: Shape) -> tuple[list[str], dict[str, int]]:
    """Options of QEMU for a controller of this shape, and the sizes of its drives."""
    controller = f"nvme,id=nvme,serial=conformance,addr={SLOT},mdts={shape.exponent},max_ioqpairs={QUEUES}"
    devices, images = ["-device", controller], {}
    block = shape.block_bytes
    for nsid, zones in shape.zones.items():
        drive = f"namespace{nsid}"
        images[drive] = zones * shape.zone_size * block
        devices += [
            "-device",
            f"nvme-ns,bus=nvme,drive={drive},nsid={nsid},logical_block_size={block},physical_block_size={block},"
            f"zoned=on,zoned.zone_size={shape.zone_size * block},"
            f"zoned.zone_capacity={shape.zone_capacity * block},"
            f"zoned.max_open={shape.max_open},zoned.max_active={shape.max_active}",
        ]
    return devices, images
