"""Boards with a controller, a tensor buffer in block memory and a serial bridge."""

from dataclasses import dataclass, replace

from .chips import MANDATORY
from .config import FmsConfig
from .errors import require, require_range
from .geometry import Geometry
from .sdr import with_sdr_waits
from .serial import CHANGES_BYTES
from .timing import Duration, NandTiming, ns

FASTEST_DIVISOR = 4
"""Clock cycles of a bit on the line, at least."""


@dataclass(frozen=True)
class Board:
    """A board: the configuration of its controller, and the parts around that.

    - config: its clock is that of the whole design.
    - buffer_bytes: of the tensor buffer.
    - baud: bits per second on the serial line.
    """

    config: FmsConfig
    buffer_bytes: int
    baud: int

    def __post_init__(self) -> None:
        require(
            self.buffer_bytes > 0 and self.buffer_bytes % CHANGES_BYTES == 0
            and self.buffer_bytes & self.buffer_bytes - 1 == 0,
            "board.buffer_bytes", self.buffer_bytes, f"a power of two, at least {CHANGES_BYTES}",
        )  # fmt: skip
        require_range("board.baud", self.baud, 1, self.clock_hz // FASTEST_DIVISOR)
        require(
            abs(self.clock_hz / self.divisor / self.baud - 1) <= 0.02,
            "board.baud", self.baud, f"within 2 % of a divisor of the clock of {self.clock_hz} Hz",
        )  # fmt: skip
        require(self.config.geometry.channels <= 4, "geometry.channels", self.config.geometry.channels,
                "at most 4 on a board, whose tensor buffer has words of 8 bytes")  # fmt: skip

    @property
    def clock_hz(self) -> int:
        return self.config.timing.clock_mhz * 1_000_000

    @property
    def divisor(self) -> int:
        """Cycles of a bit."""
        return round(self.clock_hz / self.baud)


ULX3S = Board(
    FmsConfig(
        name="ulx3s",
        # Winbond W29N01HV, 1 Gbit of SLC: 2,112 bytes, 64 pages, 1,024 blocks (its data sheet, features).
        geometry=Geometry(
            channels=1, dies=1, planes=1, blocks=1024, pages=64, page_bytes=2048, spare_bytes=64
        ),
        timing=with_sdr_waits(
            NandTiming(
                clock_mhz=50,
                twc=ns(40),
                # Six cycles are for a lookup.
                trr=Duration(6, 40),
                tr=ns(25_000),
                tprog=ns(250_000),
                tbers=ns(2_000_000),
                trst=ns(500_000),
            )
        ),
        write_sets=4,
        read_pages=4,
        read_queue=8,
        commands=16,
        max_blocks=64,
        command_port=True,
        port_delay=2,
        # Pads at 3.3 V and 10 cm of wire, there and back: an assumption.
        pad_ns=15,
        chips=replace(MANDATORY, sdr_mode=4),
    ),
    buffer_bytes=128 << 10,
    baud=2_000_000,
)  # fmt: skip
"""Radiona's ULX3S with an LFE5U-85F, and a chip of one die on its headers."""

BOARDS = {board.config.name: board for board in (ULX3S,)}
"""By name."""
