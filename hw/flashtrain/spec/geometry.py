"""Geometry of the flash: channels, dies, planes, blocks, pages, and where a logical page lies.

One logical block (LBA) is one NAND page. A *zone* is one block on every plane of every die of every channel.
The last blocks of each plane may be *spares*, which take the place of blocks that fail.
The LBAs of a zone go round-robin over channels first, then planes, then dies, then page rows, so that one
large append fills page sets on all channels at once. As in the NVMe zoned command set, a zone's *size* is its
capacity rounded up to a power of two, so that the address fields are plain bit slices:

    LBA = | zone | row | die | plane | channel |
"""

from dataclasses import dataclass
from typing import NamedTuple

from .errors import require_power_of_two, require_range
from .identity import PageIdentity


def bits_for(count: int) -> int:
    """Bits that number `count` things from zero; 0 for a single thing."""
    return (count - 1).bit_length()


class Place(NamedTuple):
    """Where one logical page lies: `row` is the page number within the zone's block of that plane."""

    zone: int
    row: int
    die: int
    plane: int
    channel: int


@dataclass(frozen=True)
class Geometry:
    """Counts of everything, from the channel down to the byte.

    channels, dies (per channel), planes (per die) and page_bytes are powers of two; blocks (per plane) and
    pages (per block) are free. spare_bytes are the bytes of a page beyond its data, of which its identity
    takes the first (`spec.identity`). spare_blocks: the last of a plane's blocks, which no
    zone has.
    """

    channels: int
    dies: int
    planes: int
    blocks: int
    pages: int
    page_bytes: int = 4096
    spare_bytes: int = 224
    spare_blocks: int = 0

    def __post_init__(self) -> None:
        require_power_of_two("geometry.channels", self.channels, 64)
        require_power_of_two("geometry.dies", self.dies, 8)
        require_power_of_two("geometry.planes", self.planes, 16)
        require_power_of_two("geometry.page_bytes", self.page_bytes, 16384)
        require_range("geometry.blocks", self.blocks, 2, 4096)
        require_range("geometry.spare_blocks", self.spare_blocks, 0, min(255, self.blocks - 2))
        require_range("geometry.pages", self.pages, 2, 4096)
        require_range("geometry.page_bytes", self.page_bytes, 512, 16384)
        require_range("geometry.spare_bytes", self.spare_bytes, 32, 4096)

    # Widths of the fields of an LBA and of an ONFI row address.
    @property
    def channel_bits(self) -> int:
        return bits_for(self.channels)

    @property
    def die_bits(self) -> int:
        return bits_for(self.dies)

    @property
    def plane_bits(self) -> int:
        return bits_for(self.planes)

    @property
    def row_bits(self) -> int:
        return bits_for(self.pages)

    @property
    def block_bits(self) -> int:
        return bits_for(self.blocks)

    @property
    def zones(self) -> int:
        """Zones of the whole device, physical: one for each block of a plane that is no spare."""
        return self.blocks - self.spare_blocks

    @property
    def spares(self) -> range:
        """The numbers of a plane's spare blocks."""
        return range(self.zones, self.blocks)

    @property
    def zone_bits(self) -> int:
        return bits_for(self.zones)

    @property
    def zone_size_bits(self) -> int:
        return self.channel_bits + self.plane_bits + self.die_bits + self.row_bits

    @property
    def zone_size(self) -> int:
        """LBAs from the start of one zone to the next (ZSZE)."""
        return 1 << self.zone_size_bits

    @property
    def zone_capacity(self) -> int:
        """LBAs of a zone that can be written (ZCAP)."""
        return self.channels * self.dies * self.planes * self.pages

    @property
    def superpage(self) -> int:
        """LBAs of one page on every plane of every die of every channel."""
        return self.channels * self.dies * self.planes

    @property
    def page_set_bytes(self) -> int:
        """Data bytes of one multi-plane program of one die."""
        return self.planes * self.page_bytes

    @property
    def identified_page_bytes(self) -> int:
        """Bytes of a page's data and of its identity behind them (`spec.identity`)."""
        return self.page_bytes + PageIdentity.BYTES

    @property
    def raw_page_bytes(self) -> int:
        return self.page_bytes + self.spare_bytes

    @property
    def capacity_bytes(self) -> int:
        return self.zones * self.zone_capacity * self.page_bytes

    def place(self, lba: int) -> Place:
        """The place of device-wide LBA `lba` (zone number included)."""
        lba, channel = divmod(lba, self.channels)
        lba, plane = divmod(lba, self.planes)
        lba, die = divmod(lba, self.dies)
        zone, row = divmod(lba, 1 << self.row_bits)
        return Place(zone, row, die, plane, channel)

    def lba(self, place: Place) -> int:
        """The inverse of :meth:`place`."""
        lba = place.zone << self.row_bits | place.row
        lba = lba * self.dies + place.die
        lba = lba * self.planes + place.plane
        return lba * self.channels + place.channel

    def row_address(self, block: int, plane: int, page: int) -> int:
        """The 24-bit ONFI row address: page lowest, then plane, then block (ONFI 5.1, section 3.1)."""
        return (block << self.plane_bits | plane) << self.row_bits | page
