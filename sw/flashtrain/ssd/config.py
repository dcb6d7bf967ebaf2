"""The configuration of a conventional SSD, and of several in RAID 0."""

from dataclasses import dataclass, replace
from typing import Any

from flashtrain.spec import FmsConfig, Geometry, NandTiming
from flashtrain.spec.errors import require, require_range
from flashtrain.spec.limits import check_limits, integer, switch

FIRMWARE_PAGE_BYTES = 4096
"""The page that Behemoth's table gives the firmware's cost for."""

OPEN_SUPERBLOCKS = 2
"""One for the host, one for the collector."""

DRIVES_OF_DEVICE = 4
"""Drives that have together as many channels as the FMS that they are compared with (Behemoth's table)."""


def least_over_provisioning(superblocks: int, gc_start: int) -> float:
    """The least share that leaves the collector its free superblocks, beside the open ones."""
    return superblocks / max(1, superblocks - gc_start - OPEN_SUPERBLOCKS) - 1


@dataclass(frozen=True)
class SsdConfig:
    """One drive, and how many of them form the array; see each field's limits for its meaning.

    Behemoth's table (FAST'21) states over-provisioning, write and read costs of the firmware and the buffer.
    All else is an assumption: the number of cores, the cost of a moved page, the thresholds of the collector,
    the stripe, and that reads suspend programs and erases.
    """

    name: str
    geometry: Geometry
    timing: NandTiming
    bus_page_bytes: int = integer(1, 65535, "bytes", "a page on the bus, with its spare bytes")
    over_provisioning: float = 0.07
    """Physical pages beyond the logical ones, as a share of the logical ones."""
    write_ns: int = integer(0, 1_000_000, "ns", "firmware's time for each 4 KiB page written", 1450)
    move_ns: int = integer(
        0, 1_000_000, "ns", "firmware's time for each 4 KiB that the collector moves", 1450
    )
    read_ns: int = integer(0, 1_000_000, "ns", "controller's time for each read command", 1930)
    link_ns: int = integer(0, 1_000_000, "ns", "host link's time for each 4 KiB, each way; 0: no link", 0)
    firmware_cores: int = integer(1, 64, "", "cores of the firmware; 1 is serial firmware", 1)
    buffer_bytes: int = integer(1, 1 << 30, "bytes", "SRAM for I/O and garbage collection", 8 << 20)
    gc_superpages: int = integer(2, 64, "superpages", "share of the buffer for garbage collection", 2)
    gc_start: int = integer(2, 4096, "superblocks", "free superblocks at which an idle drive collects", 4)
    gc_critical: int = integer(1, 4096, "superblocks", "free ones at which the host's commands wait", 2)
    suspended_reads: bool = switch("reads suspend programs and erases", True)
    drives: int = integer(1, 64, "", "drives in RAID 0", 1)
    stripe_bytes: int = integer(512, 1 << 30, "bytes", "consecutive bytes on one drive", 128 << 10)

    def __post_init__(self) -> None:
        check_limits("ssd", self)
        named = isinstance(self.name, str) and self.name != "" and self.name.isprintable()
        require(named, "ssd.name", self.name, "a text of printable characters")
        share = self.over_provisioning
        number = isinstance(share, int | float) and not isinstance(share, bool)
        require(number and 0 < share <= 1, "ssd.over_provisioning", share, "a number above 0, at most 1")
        g = self.geometry
        require(self.all_pages < 2**32 - 1, "geometry.blocks", g.blocks, "at most 2^32 - 2 pages in all")
        require_range("ssd.gc_critical", self.gc_critical, 1, self.gc_start)
        needed = self.gc_start + OPEN_SUPERBLOCKS
        require(
            self.user_pages <= (g.blocks - needed) * self.superblock_pages, "ssd.over_provisioning", share,
            f"at least {least_over_provisioning(g.blocks, self.gc_start):.3f}: {g.blocks} superblocks,"
            f" {needed} of them free or open",
        )  # fmt: skip
        least = (self.gc_superpages + 2) * g.superpage * g.page_bytes
        require_range("ssd.buffer_bytes", self.buffer_bytes, least, 1 << 30)
        require(self.stripe_bytes % g.page_bytes == 0, "ssd.stripe_bytes", self.stripe_bytes,
                f"a multiple of a page's {g.page_bytes} bytes")  # fmt: skip

    @classmethod
    def of(cls, config: FmsConfig, drives: int = DRIVES_OF_DEVICE, **changes: Any) -> "SsdConfig":
        """Drives made of the parts of an FMS: a drive has a `DRIVES_OF_DEVICE`th of its channels.

        The buffer is at least four superpages. changes: other fields. :class:`ConfigError` for fewer channels
        than drives of a device, and for values out of range.
        """
        g = config.geometry
        require(g.channels >= DRIVES_OF_DEVICE, "geometry.channels", g.channels,
                f"at least {DRIVES_OF_DEVICE}: those of a device are shared by so many drives")  # fmt: skip
        geometry = replace(g, channels=g.channels // DRIVES_OF_DEVICE)
        ssd = cls(
            name=f"{config.name}_ssd",
            geometry=geometry,
            timing=config.timing,
            bus_page_bytes=config.bus_page_bytes,
            buffer_bytes=max(8 << 20, 4 * geometry.superpage * geometry.page_bytes),
            drives=drives,
            **{key: value for key, value in changes.items() if key == "over_provisioning"},
        )
        return replace(ssd, **changes)

    @property
    def superblock_pages(self) -> int:
        """Pages of one block on every plane of every die: the unit of garbage collection."""
        return self.geometry.superpage * self.geometry.pages

    @property
    def all_pages(self) -> int:
        """Physical pages of a drive."""
        return self.superblock_pages * self.geometry.blocks

    @property
    def user_pages(self) -> int:
        """Logical pages of a drive."""
        return int(self.all_pages / (1 + self.over_provisioning))

    @property
    def capacity_bytes(self) -> int:
        """Bytes of the array: whole stripes of each drive."""
        stripes = self.user_pages // self.stripe_pages
        return self.drives * stripes * self.stripe_bytes

    @property
    def stripe_pages(self) -> int:
        return self.stripe_bytes // self.geometry.page_bytes

    def cycles(self, ns: int) -> int:
        """Whole cycles of the NAND clock, rounded up."""
        return -(-ns * self.timing.clock_mhz // 1000)

    def firmware_cycles(self, ns: int) -> int:
        """Cycles for a page, of a cost for each 4 KiB."""
        return self.cycles(ns) * -(-self.geometry.page_bytes // FIRMWARE_PAGE_BYTES)
