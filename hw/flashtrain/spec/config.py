"""The configuration of a flash memory system: geometry, timing, and the sizes of the controller's parts."""

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

from .chips import Chips
from .codec import PAGE_SIZES, bound
from .ecc import LANE_BYTES, PageCode
from .errors import require, require_power_of_two, require_range
from .geometry import ROW_ADDRESS_BITS, Geometry, bits_for
from .limits import LIMITS, check_limits, integer, switch
from .sca import PACKET_CLOCKS
from .sdr import ENGINE_TIMES, SDR_MODES, SdrCycles, SdrStrobes, most_pad_ns, sdr_cycles, sdr_strobes
from .state_format import StateFormat, StateFormats
from .streams import Codec
from .timing import NandTiming
from .update import SourceIdentity

WIDEST_PORT = 128
"""Bytes per cycle of the encoder, at most."""

LEAST_PART_BYTES, MOST_PART_BYTES = 512, 4096
"""Bytes of a part of a page: a logical block of NVMe at least, and no burst of a part crosses 4 KiB."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

LOOKUP_CYCLES = 5
"""Cycles in which a die looks up the first word of its registers; every wait before data out is longer."""


@dataclass(frozen=True)
class PartLimits:
    """Limits of the size of a part: 0, or a power of two."""

    meaning: str
    unit: str = "bytes"

    def check(self, name: str, value: object) -> None:
        if value != 0 or isinstance(value, bool):
            require_power_of_two(name, value, LEAST_PART_BYTES, MOST_PART_BYTES)

    def __str__(self) -> str:
        return f"0, or a power of two, {LEAST_PART_BYTES:,} to {MOST_PART_BYTES:,}"


@dataclass(frozen=True)
class FmsConfig:
    """Everything that hardware, driver and models are built from; see each field's limits for its meaning.

    The name stands in results and in names of files.
    """

    name: str
    geometry: Geometry
    timing: NandTiming
    write_sets: int = integer(2, 16, "page sets", "write buffer of a channel")
    read_pages: int = integer(2, 64, "pages", "read buffer of a channel", power_of_two=True)
    read_queue: int = integer(2, 256, "pages", "read requests queued for each die", power_of_two=True)
    commands: int = integer(4, 1024, "", "commands in flight", 64, True)
    max_blocks: int = integer(1, 65535, "pages", "logical blocks of one command", 1024)
    max_open: int = integer(1, 255, "zones", "open zones of a stream", 8)
    max_active: int = integer(1, 255, "zones", "active zones of a stream", 12)
    address_bits: int = integer(20, 48, "bits", "address of the tensor buffer", 36)
    code_strength: int = integer(
        0, 64, "bits", "errors corrected in each KiB of a page; 0 is no error correction", 0
    )
    read_levels: int = integer(
        0, 7, "", "further reads of a page that cannot be corrected, each at the next lower level", 0
    )
    randomizer: bool = switch("pages are stored XORed with a pseudo-random key", False)
    codec: bool = switch("streams may have a codec, which encodes their data", False)
    part_bytes: int = field(
        default=0, metadata={LIMITS: PartLimits("parts of a page that a read may name; 0 is whole pages")}
    )
    die_word_bytes: int = integer(LANE_BYTES, 64, "bytes", "width of a die's page registers", 32, True)
    late_polls: int = integer(4, 65535, "", "polls of a busy die before it is taken offline", 1024)
    update_interval: int = integer(
        1, 64, "cycles", "cycles of the update unit from one parameter to the next", 5
    )
    update_divider: int = integer(2, 16, "cycles", "bus cycles in a cycle of the update unit", 4)
    fp8_state: bool = switch("dies may keep moments of optimizers in FP8", False)
    command_port: bool = switch("firmware may send cycles of its own to chips, in SDR timing", False)
    port_delay: int = integer(
        0, 64, "cycles", "from the pins of the command port to the chips and back, in the PHY and on wires", 4
    )
    pad_ns: int = integer(
        0, 200, "ns", "from RE_n to the byte in pads and on wires, beyond port_delay, at most", 0
    )
    chips: Chips = Chips()

    def __post_init__(self) -> None:
        g, t = self.geometry, self.timing
        named = isinstance(self.name, str) and _NAME.fullmatch(self.name) is not None
        require(named, "config.name", self.name, "letters, digits, '_', '-' and '.', a letter or digit first")
        check_limits("config", self)
        require(isinstance(self.chips, Chips), "chips", self.chips, "Chips")
        require_range("config.read_queue", self.read_queue, 2 * g.planes, 256)
        require_range("config.max_blocks", self.max_blocks, 1, min(g.zone_capacity, 65535))
        require_range("config.max_active", self.max_active, self.max_open, 255)
        require(
            g.raw_page_bytes % self.die_word_bytes == 0,
            "config.die_word_bytes", self.die_word_bytes, f"a divisor of a page's {g.raw_page_bytes} bytes",
        )  # fmt: skip
        if self.code_strength != 0:
            PageCode.of(g, self.code_strength)
        require_range("config.read_levels", self.read_levels, 0, 7 if self.code_strength else 0)
        if self.codec:
            least = self.coded_bound(1, Codec.WINDOW16)
            require(least <= self.max_blocks, "config.max_blocks", self.max_blocks,
                    f"at least {least}, the bound of an encoded block")  # fmt: skip
            require(g.page_bytes in PAGE_SIZES, "geometry.page_bytes", g.page_bytes,
                    f"one of {PAGE_SIZES} with a codec")  # fmt: skip
            require(self.data_bytes <= WIDEST_PORT, "geometry.channels", g.channels,
                    f"at most {WIDEST_PORT // 2} with a codec")  # fmt: skip
        # All planes' registers move to or from the array while it is busy, one word per cycle.
        words = g.planes * g.raw_page_bytes // self.die_word_bytes
        for name in ("tr", "tprog", "tadv"):
            require(t.cycles(name) >= words + 8, f"timing.{name}", getattr(t, name),
                    f"{_least(words + 8, t)}, to move {words} register words")  # fmt: skip
        for name in ("trr", "tccs", "twhr"):
            require(t.cycles(name) > LOOKUP_CYCLES, f"timing.{name}", getattr(t, name),
                    f"{_least(LOOKUP_CYCLES + 1, t)}, to look up a register word")  # fmt: skip
        # The bus controller remembers one die for its turnaround. Another one waits for tchz, too.
        names = ("twc", "twhr", "tchz")[: 3 if self.chips.sdr else 2]
        require(t.cycles("trhw") <= sum(map(t.cycles, names)), "timing.trhw", t.trhw,
                f"at most {', '.join(names[:-1])} and {names[-1]} together")  # fmt: skip
        self._check_chips()
        if self.part_bytes:
            self._check_parts()

    def _check_parts(self) -> None:
        """Parts go over NV-DDR3, with the page's identity and without parity."""
        most = self.geometry.page_bytes // 2
        require(self.part_bytes <= most, "config.part_bytes", self.part_bytes, f"at most half a page, {most}")
        for name, off, why in (
            ("code_strength", 0, "parity is behind the whole page"),
            ("randomizer", "false", "a key begins with its page"),
            ("codec", "false", "an encoded page is decoded whole"),
        ):
            require(not getattr(self, name), f"config.{name}", getattr(self, name),
                    f"{off} with part_bytes: {why}")  # fmt: skip
        chips = self.chips
        require(not chips.sdr, "chips.sdr", True, "false with part_bytes")
        require(chips.luns == 1, "chips.luns", chips.luns, "1 with part_bytes")
        require(chips.change_plane, "chips.change_plane", False,
                "true with part_bytes: 06h names the column")  # fmt: skip

    def _check_chips(self) -> None:
        g, t, chips = self.geometry, self.timing, self.chips
        chips.check_planes(g.planes)
        if chips.luns > 1:
            require(
                g.dies % chips.luns == 0, "geometry.dies", g.dies, f"a multiple of chips.luns, {chips.luns}"
            )
            bits = g.page_bits + g.plane_bits + g.block_bits + self.lun_bits
            require(bits <= ROW_ADDRESS_BITS, "chips.luns", chips.luns,
                    f"fewer: a LUN's page, plane, block and number take {bits} bits of a row address"
                    f" of {ROW_ADDRESS_BITS}")  # fmt: skip
            require(self.read_levels == 0, "config.read_levels", self.read_levels,
                    f"0 with {chips.luns} LUNs: EFh sets the level of all of them")  # fmt: skip
        if chips.drive_ohms or chips.zq_calibration:
            require(self.command_port, "config.command_port", self.command_port,
                    "true with chips.drive_ohms or chips.zq_calibration: steps of bring-up")  # fmt: skip
        require(not (chips.sca and self.command_port), "config.command_port", self.command_port,
                "false with chips.sca: its chips have no asynchronous interface")  # fmt: skip
        require(not chips.sca or t.cycles("tca") >= PACKET_CLOCKS, "timing.tca", t.tca,
                f"{_least(PACKET_CLOCKS, t)} with chips.sca, for a status")  # fmt: skip
        if chips.sdr:
            for name in ENGINE_TIMES:
                least = getattr(SDR_MODES[0], name)
                require(getattr(t, name).ns >= least, f"timing.{name}", getattr(t, name),
                        f"at least {least} ns with chips.sdr, the time of SDR mode 0")  # fmt: skip
            most = most_pad_ns(chips.sdr_mode, t.clock_mhz)
            require(self.pad_ns <= most, "config.pad_ns", self.pad_ns,
                    f"at most {most} ns in SDR mode {chips.sdr_mode} at {t.clock_mhz} MHz")  # fmt: skip
            require(self.read_levels == 0, "config.read_levels", self.read_levels, "0 with chips.sdr")
            require(self.command_port or not chips.ddr, "config.command_port", self.command_port,
                    "true with chips.ddr and chips.sdr: firmware chooses the interface")  # fmt: skip

    def for_exact_data(self) -> "FmsConfig":
        """The same configuration without code, read levels and randomizer."""
        return replace(self, code_strength=0, read_levels=0, randomizer=False)

    def require_formats(self, formats: StateFormats) -> None:
        """`ConfigError` unless the dies can keep state in these formats."""
        require(self.fp8_state or formats.moments is not StateFormat.FP8, "formats.moments",
                formats.moments.name, f"FP32 or BF16 on {self.name!r}, or fp8_state = true in its "
                "configuration")  # fmt: skip

    # The LUNs of a channel.
    @property
    def lun_bits(self) -> int:
        """Bits of a LUN's number behind its chip enable: the lower ones of a die's number."""
        return bits_for(self.chips.luns)

    @property
    def chip_enables(self) -> int:
        """Chip enables of a channel."""
        return self.geometry.dies // self.chips.luns

    def row_address(self, die: int, block: int, plane: int, page: int) -> int:
        """`Geometry.row_address` with the LUN of this die above the block."""
        g = self.geometry
        lun = die % self.chips.luns << g.page_bits + g.plane_bits + g.block_bits
        return lun | g.row_address(block, plane, page)

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

    @property
    def column_change_cycles(self) -> int:
        """Cycles from the end of a selection to the request of its data: tCCS.

        With SCA the packet that begins the data, and tSCE behind it, pass within.
        """
        tccs = self.timing.cycles("tccs")
        return max(tccs - self.timing.burst_start, 1) if self.chips.sca else tccs

    @property
    def status_lead(self) -> int:
        """Cycles by which a status is asked for before a read is expected to be ready.

        With SCA its command and tWHR pass while the die is busy. On a classical bus they would take those of
        other dies.
        """
        return self.timing.cycles("tca") + self.timing.cycles("twhr") if self.chips.sca else 0

    @property
    def port_modes(self) -> list[SdrCycles]:
        """The timing modes of the command port, in clock cycles."""
        clock = self.timing.clock_mhz
        return [sdr_cycles(mode, clock, self.port_delay, self.pad_ns) for mode in range(len(SDR_MODES))]

    @property
    def engine_modes(self) -> dict[int, SdrStrobes]:
        """The SDR timing modes of an engine, in clock cycles. With a command port firmware chooses one."""
        if not self.chips.sdr:
            return {}
        modes = range(len(SDR_MODES)) if self.command_port else sorted({0, self.chips.sdr_mode})
        where = self.timing.clock_mhz, self.port_delay, self.pad_ns
        return {mode: sdr_strobes(mode, *where) for mode in modes}

    # The tensor-buffer side.
    @property
    def data_bytes(self) -> int:
        """Width of the data port: as many bytes per cycle as all channels together."""
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
    def buffer_block_bits(self) -> int:
        """Width of a tensor-buffer address in logical blocks."""
        return self.address_bits - self.page_shift

    @property
    def page_parts(self) -> int:
        """Parts of a page that a read may name; 1 if it cannot name any."""
        return self.geometry.page_bytes // self.part_bytes if self.part_bytes else 1

    def coded_bound(self, blocks: int, codec: Codec) -> int:
        """Most blocks that an append of so many takes with this codec."""
        return bound(blocks, codec, self.geometry.page_bytes)

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
        """Raw bandwidth of all channels, by their fastest data interface."""
        rate = self.timing.bytes_per_second
        if not self.chips.ddr:
            mode = self.engine_modes[self.chips.sdr_mode]
            rate = self.timing.clock_hz / min(mode.write, mode.read)
        return self.geometry.channels * rate

    @property
    def net_channel_bytes_per_second(self) -> float:
        """The same without the share of parity."""
        return self.channel_bytes_per_second * self.geometry.identified_page_bytes / self.bus_page_bytes

    @property
    def program_bytes_per_second(self) -> float:
        """Bandwidth with every die programming all the time, data-in hidden."""
        g = self.geometry
        seconds = self.timing.cycles("tprog") / self.timing.clock_hz
        return g.channels * g.dies * g.page_set_bytes / seconds


def _least(cycles: int, timing: NandTiming) -> str:
    return f"at least {1000 * cycles / timing.clock_mhz:,.1f} ns, {cycles} cycles of {timing.clock_mhz} MHz"
