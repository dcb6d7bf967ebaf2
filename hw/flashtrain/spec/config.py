"""The configuration of a flash memory system: geometry, timing, and the sizes of the controller's parts."""

from dataclasses import dataclass, replace
from functools import cached_property

from .ecc import PageCode
from .errors import require, require_power_of_two, require_range
from .geometry import Geometry, bits_for
from .timing import NandTiming
from .update import SourceIdentity


@dataclass(frozen=True)
class FmsConfig:
    """Everything that hardware, driver and models are built from.

    write_sets: page sets of the write buffer of a channel; read_pages: page buffers for reads of a channel;
    read_queue: read requests (pages) queued per die; commands: commands in flight; max_blocks: logical
    blocks of one command; max_open, max_active: zones per stream; address_bits: of the tensor buffer;
    code_strength: bits that are corrected in a code word of a page (`spec.ecc`), 0 without error correction;
    read_levels: how often a page that cannot be corrected is read again, each time at a level that is a step
    lower (`spec.nand`), 0 to 7;
    randomizer: pages are stored with a key that looks random (`spec.randomizer`);
    die_word_bytes: width of a die's page registers; late_polls: how often a die that should be ready is
    found busy before it is given up; update_interval: clocks of a die's update unit per
    parameter; update_divider: bus clocks per clock of the update unit.
    """

    name: str
    geometry: Geometry
    timing: NandTiming
    write_sets: int
    read_pages: int
    read_queue: int
    commands: int = 64
    max_blocks: int = 1024
    max_open: int = 8
    max_active: int = 12
    address_bits: int = 36
    code_strength: int = 0
    read_levels: int = 0
    randomizer: bool = False
    die_word_bytes: int = 32
    late_polls: int = 1024
    update_interval: int = 5
    update_divider: int = 4

    def __post_init__(self) -> None:
        g, t = self.geometry, self.timing
        require_range("config.write_sets", self.write_sets, 2, 16)
        require_power_of_two("config.read_pages", self.read_pages, 64)
        require_range("config.read_pages", self.read_pages, 2, 64)
        require_power_of_two("config.read_queue", self.read_queue, 256)
        require_range("config.read_queue", self.read_queue, 2 * g.planes, 256)
        require_power_of_two("config.commands", self.commands, 256)
        require_range("config.commands", self.commands, 4, 256)
        require_range("config.max_blocks", self.max_blocks, 1, min(g.zone_capacity, 65535))
        require_range("config.max_open", self.max_open, 1, 255)
        require_range("config.max_active", self.max_active, self.max_open, 255)
        require_range("config.address_bits", self.address_bits, 20, 48)
        require_power_of_two("config.die_word_bytes", self.die_word_bytes, 64)
        require_range("config.late_polls", self.late_polls, 4, 65535)
        require_range("config.update_interval", self.update_interval, 1, 64)
        require_range("config.update_divider", self.update_divider, 2, 16)
        require(
            g.raw_page_bytes % self.die_word_bytes == 0,
            "config.die_word_bytes", self.die_word_bytes, f"a divisor of a page's {g.raw_page_bytes} bytes",
        )  # fmt: skip
        if self.code_strength != 0:
            PageCode.of(g, self.code_strength)
        require_range("config.read_levels", self.read_levels, 0, 7 if self.code_strength else 0)
        # All planes' registers move to or from the array while it is busy, one word per clock.
        words = g.planes * g.raw_page_bytes // self.die_word_bytes
        for name in ("tr", "tprog", "tadv"):
            require(t.clocks(name) >= words + 8, f"timing.{name}", getattr(t, name),
                    f"at least {words + 8} clocks to move {words} register words")  # fmt: skip
        require(
            g.row_bits + g.plane_bits + g.block_bits <= 24, "geometry", g, "a row address of 24 bits at most"
        )

    def for_exact_data(self) -> "FmsConfig":
        """The same without all that is there because cells err: code, read levels and randomizer."""
        return replace(self, code_strength=0, read_levels=0, randomizer=False)

    # A page on a channel's bus.
    @cached_property
    def code(self) -> PageCode | None:
        """The code of a page; None without error correction."""
        return PageCode.of(self.geometry, self.code_strength) if self.code_strength else None

    @property
    def bus_page_bytes(self) -> int:
        """Bytes of a page that cross a channel's bus: its data, its identity, and parity."""
        return self.code.page_bytes if self.code else self.geometry.identified_page_bytes

    @property
    def loaded_page_bytes(self) -> int:
        """The same of gradients and constants, which go to a die and not to its array."""
        return self.geometry.identified_page_bytes + SourceIdentity.BYTES

    # The tensor-buffer side.
    @property
    def data_bytes(self) -> int:
        """Width of the data port: as many bytes per clock as all channels together."""
        return 2 * self.geometry.channels

    @property
    def page_beats(self) -> int:
        """Beats of the data port in one page."""
        return self.geometry.page_bytes // self.data_bytes

    @property
    def page_shift(self) -> int:
        """log2 of the logical block in bytes."""
        return bits_for(self.geometry.page_bytes)

    @property
    def page_address_bits(self) -> int:
        """Width of a tensor-buffer address in logical blocks."""
        return self.address_bits - self.page_shift

    # Widths of numbers.
    @property
    def tag_bits(self) -> int:
        return bits_for(self.commands)

    @property
    def level_bits(self) -> int:
        """Width of a read level."""
        return bits_for(self.read_levels + 1)

    @property
    def count_bits(self) -> int:
        """Width of a number of blocks of a command, from 0 to max_blocks."""
        return self.max_blocks.bit_length()

    @property
    def lba_bits(self) -> int:
        """Width of an LBA of the whole device."""
        return self.geometry.zone_size_bits + self.geometry.zone_bits

    # Bounds, for benchmarks.
    @property
    def channel_bytes_per_second(self) -> float:
        """Raw bandwidth of all channels."""
        return self.geometry.channels * self.timing.bytes_per_second

    @property
    def net_channel_bytes_per_second(self) -> float:
        """What of it parity leaves; without a code the raw bandwidth."""
        return self.channel_bytes_per_second * self.geometry.identified_page_bytes / self.bus_page_bytes

    @property
    def program_bytes_per_second(self) -> float:
        """Bandwidth with every die programming all the time, data-in hidden."""
        g = self.geometry
        seconds = self.timing.clocks("tprog") / self.timing.clock_hz
        return g.channels * g.dies * g.page_set_bytes / seconds
