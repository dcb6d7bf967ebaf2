"""Geometry of the flash: channels, dies, planes, blocks, pages, and where a logical page lies.

One logical block (LBA) is one NAND page. A *zone* is one block on every plane of every die of every channel.
The last blocks of each plane may be *spares*, which take the place of blocks that fail.
The LBAs of a zone go round-robin over channels first, then planes, then dies, then pages of a block. So one
large append fills page sets on all channels at once. As in the NVMe zoned command set, a zone's *size* is its
capacity rounded up to a power of two. So the address fields are plain bit slices:

    LBA = | zone | page | die | plane | channel |
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .errors import require, require_range
from .identity import PageIdentity
from .limits import check_limits, integer

ROW_ADDRESS_BITS = 24
"""ONFI's three row cycles."""
LBA_BITS = 32
"""Width of an LBA inside the controller."""


def bits_for(count: int) -> int:
    """Bits that number `count` things from zero; 0 for a single thing."""
    return (count - 1).bit_length()


class Place(NamedTuple):
    """Where one logical page lies: `page` is its number within the zone's block of that plane."""

    zone: int
    page: int
    die: int
    plane: int
    channel: int


@dataclass(frozen=True)
class Geometry:
    """Counts of everything, from the channel down to the byte; see each field's limits for its meaning.

    An LBA is cut into bit slices, so channels, dies, planes and page_bytes are powers of two. A row address
    has `ROW_ADDRESS_BITS` and an LBA `LBA_BITS`, which bound all counts together.
    """

    channels: int = integer(1, 64, "", "channels of the device", power_of_two=True)
    dies: int = integer(1, 8, "", "dies of a channel", power_of_two=True)
    planes: int = integer(1, 16, "", "planes of a die", power_of_two=True)
    blocks: int = integer(2, 4096, "", "blocks of a plane, spare blocks included")
    pages: int = integer(2, 4096, "", "pages of a block")
    page_bytes: int = integer(512, 16384, "bytes", "data of a page, which is the logical block", 4096, True)
    spare_bytes: int = integer(32, 4096, "bytes", "a page's bytes beyond its data: identity and parity", 224)
    spare_blocks: int = integer(0, 255, "", "the last blocks of a plane, which replace blocks that fail", 0)

    def __post_init__(self) -> None:
        check_limits("geometry", self)
        require_range("geometry.spare_blocks", self.spare_blocks, 0, min(255, self.blocks - 2))
        most = 1 << max(0, ROW_ADDRESS_BITS - self.page_bits - self.plane_bits)
        require(self.blocks <= most, "geometry.blocks", self.blocks,
                f"at most {most}: page and plane take {self.page_bits + self.plane_bits} bits of a row"
                f" address of {ROW_ADDRESS_BITS}")  # fmt: skip
        most = 1 << max(0, LBA_BITS - self.zone_size_bits)
        require(self.zones <= most, "geometry.blocks", self.blocks,
                f"at most {most} beside the spare blocks: a zone takes {self.zone_size_bits} bits of an LBA"
                f" of {LBA_BITS}")  # fmt: skip

    # Widths of the fields of an LBA and of an ONFI row address.
    @cached_property
    def channel_bits(self) -> int:
        return bits_for(self.channels)

    @cached_property
    def die_bits(self) -> int:
        return bits_for(self.dies)

    @cached_property
    def plane_bits(self) -> int:
        return bits_for(self.planes)

    @cached_property
    def page_bits(self) -> int:
        return bits_for(self.pages)

    @cached_property
    def block_bits(self) -> int:
        return bits_for(self.blocks)

    @cached_property
    def zones(self) -> int:
        """Zones of the whole device, physical: one for each block of a plane that is no spare."""
        return self.blocks - self.spare_blocks

    @cached_property
    def spares(self) -> range:
        """The numbers of a plane's spare blocks."""
        return range(self.zones, self.blocks)

    @cached_property
    def zone_bits(self) -> int:
        return bits_for(self.zones)

    @cached_property
    def zone_size_bits(self) -> int:
        # All but the pages are powers of two.
        return bits_for(self.channels * self.planes * self.dies) + bits_for(self.pages)

    @cached_property
    def zone_size(self) -> int:
        """LBAs from the start of one zone to the next (ZSZE)."""
        return 1 << self.zone_size_bits

    @cached_property
    def zone_capacity(self) -> int:
        """LBAs of a zone that can be written (ZCAP)."""
        return self.channels * self.dies * self.planes * self.pages

    @cached_property
    def superpage(self) -> int:
        """LBAs of one page on every plane of every die of every channel."""
        return self.channels * self.dies * self.planes

    @cached_property
    def page_set_bytes(self) -> int:
        """Data bytes of one multi-plane program of one die."""
        return self.planes * self.page_bytes

    @cached_property
    def identified_page_bytes(self) -> int:
        """Bytes of a page's data and of its identity behind them (`spec.identity`)."""
        return self.page_bytes + PageIdentity.BYTES

    @cached_property
    def raw_page_bytes(self) -> int:
        return self.page_bytes + self.spare_bytes

    @cached_property
    def capacity_bytes(self) -> int:
        return self.zones * self.zone_capacity * self.page_bytes

    def place(self, lba: int) -> Place:
        """The place of device-wide LBA `lba` (zone number included)."""
        lba, channel = divmod(lba, self.channels)
        lba, plane = divmod(lba, self.planes)
        lba, die = divmod(lba, self.dies)
        zone, page = divmod(lba, 1 << self.page_bits)
        return Place(zone, page, die, plane, channel)

    def lba(self, place: Place) -> int:
        """The inverse of :meth:`place`."""
        lba = place.zone << self.page_bits | place.page
        lba = lba * self.dies + place.die
        lba = lba * self.planes + place.plane
        return lba * self.channels + place.channel

    def row_address(self, block: int, plane: int, page: int) -> int:
        """The 24-bit ONFI row address: page lowest, then plane, then block (ONFI 5.1, section 3.1)."""
        return (block << self.plane_bits | plane) << self.page_bits | page
