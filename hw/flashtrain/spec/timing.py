"""NAND timing. Every figure is a `Duration`: at least so many cycles, and at least so many nanoseconds.

Bus timings are ONFI's for NV-DDR3 (ONFI 5.1, section 4.19; the values are those of `docs/design.md`, where
each assumption is named). Array times are those of Behemoth's table (FAST'21).

Times of SCA are assumptions: the packets are of JESD230G, and the times of its section 10 are not public.
CA_CLK is assumed to have 100 MHz. A packet of three cycles then takes longer than tWC, as public notes on
that section say. A status has a cycle of header, two turns of the bus, four cycles of data, and the end of
CA_CE_n.
"""

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from .errors import ConfigError, require, require_range
from .limits import LIMITS, check_limits, integer

SCA_TIMES = "tca", "tcas", "tsce"
"""Times that chips without SCA do not have."""
MOST_CYCLES = 1_000_000
MOST_NS = 1_000_000_000
"""A second."""


class Duration(NamedTuple):
    """The larger of `cycles` clock cycles and `ns` nanoseconds."""

    cycles: int
    ns: float

    def cycles_at(self, clock_mhz: int) -> int:
        """Whole clock cycles that satisfy both, rounded up."""
        thousandths = round(self.ns * clock_mhz)  # ns * MHz = cycles / 1000
        return max(self.cycles, -(-thousandths // 1000))

    def __str__(self) -> str:
        return f"{self.ns} ns" if self.cycles == 1 else f"{self.ns} ns and {self.cycles} cycles"


def ns(value: float, cycles: int = 1) -> Duration:
    return Duration(cycles, value)


@dataclass(frozen=True)
class DurationLimits:
    """Limits of a `Duration`: at least one cycle, and at most `MOST_NS` nanoseconds."""

    meaning: str
    unit: str = "ns"

    def check(self, name: str, value: object) -> None:
        require(isinstance(value, Duration), name, value, "a Duration")
        assert isinstance(value, Duration)
        require_range(f"{name}.cycles", value.cycles, 1, MOST_CYCLES)
        number = isinstance(value.ns, int | float) and not isinstance(value.ns, bool)
        require(number and 0 <= value.ns <= MOST_NS, f"{name}.ns", value.ns, f"a number from 0 to {MOST_NS}")

    def __str__(self) -> str:
        return "at most 1 s"


def duration(default: float, meaning: str) -> Any:
    """A dataclass field with `DurationLimits`; `default` in nanoseconds."""
    return field(default=ns(default), metadata={LIMITS: DurationLimits(meaning)})


@dataclass(frozen=True)
class NandTiming:
    """Timing of the bus and of the array; see each field's limits for its meaning.

    The names are ONFI's, in lower case, except tsusp, tres and tadv of suspended reads (`spec.nand`).
    """

    clock_mhz: int = integer(1, 2000, "MHz", "clock of the bus; two bytes move in a cycle", 600)
    # Bus.
    twc: Duration = duration(25, "one command or address cycle")
    tadl: Duration = duration(150, "last address cycle to data in")
    twhr: Duration = duration(80, "command or address to data out")
    trhw: Duration = duration(100, "data out to the next command of the same die")
    tchz: Duration = duration(30, "data out to the next command of another die")
    tccs: Duration = duration(300, "change of column or plane to data out")
    twb: Duration = duration(100, "confirm to busy")
    trr: Duration = duration(20, "ready to data out")
    # Bus of commands and addresses (SCA, `spec.chips`).
    tca: Duration = duration(30, "SCA: a packet of a command or address byte")
    tcas: Duration = duration(100, "SCA: a status byte, from its header to the next packet")
    tsce: Duration = duration(30, "SCA: the packet that selects a die for data, to its first byte")
    # Array.
    tdbsy: Duration = duration(500, "busy between the planes of a multi-plane command")
    tcbsy: Duration = duration(3_000, "least busy time of a cache command")
    tr: Duration = duration(3_000, "sense: array to data registers")
    tprog: Duration = duration(100_000, "program: registers to array")
    tbers: Duration = duration(5_000_000, "erase of a block")
    trst: Duration = duration(5_000, "reset")
    tfeat: Duration = duration(1_000, "change of a feature")
    tsusp: Duration = duration(1_000, "suspend of a program or erase for a read")
    tres: Duration = duration(1_000, "resume of a suspended program or erase")
    tadv: Duration = duration(5_000, "least progress of a program or erase between two suspends")

    def __post_init__(self) -> None:
        check_limits("timing", self)

    def cycles(self, name: str) -> int:
        """Clock cycles of the timing called `name` (a field of this class)."""
        duration = getattr(self, name, None)
        if not isinstance(duration, Duration):
            known = ", ".join(field.name for field in fields(self) if field.name != "clock_mhz")
            raise ConfigError(f"timing has no {name!r}; expected one of {known}")
        return duration.cycles_at(self.clock_mhz)

    @property
    def clock_hz(self) -> float:
        return self.clock_mhz * 1e6

    @property
    def burst_gap(self) -> int:
        """Clock cycles between the data of two pages with SCA.

        A packet selects the next die behind the end of the first page. The end is known ahead: the bus of
        commands is free then, and the packet that ends the burst is there in time.
        """
        return max(self.cycles("tchz"), self.burst_start)

    @property
    def burst_start(self) -> int:
        """Clock cycles from the choice of a die with SCA to its data: a packet, and tSCE behind it."""
        return self.cycles("tca") + self.cycles("tsce")

    @property
    def bytes_per_second(self) -> float:
        """Raw rate of one channel: two bytes per cycle."""
        return 2 * self.clock_hz
