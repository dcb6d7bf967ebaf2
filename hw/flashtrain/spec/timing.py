"""NAND timing. Every figure is a `Duration`: at least so many cycles, and at least so many nanoseconds.

Bus timings are ONFI's for NV-DDR3 (ONFI 5.1, section 4.19; the values are those of `docs/design.md`, where
each assumption is named). Array times are those of Behemoth's table (FAST'21).
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

from .errors import ConfigError, require, require_range


class Duration(NamedTuple):
    """The larger of `cycles` clock cycles and `ns` nanoseconds."""

    cycles: int
    ns: float

    def clocks(self, clock_mhz: int) -> int:
        """Whole clock cycles that satisfy both, rounded up."""
        thousandths = round(self.ns * clock_mhz)  # ns * MHz = cycles / 1000
        return max(self.cycles, -(-thousandths // 1000))


def ns(value: float, cycles: int = 1) -> Duration:
    return Duration(cycles, value)


@dataclass(frozen=True)
class NandTiming:
    """Timing of the bus and of the array. The names are ONFI's, in lower case.

    Bus: twc command or address cycle; tadl last address cycle to data in; twhr command or address to data
    out; trhw data out to the next command of the same die, tchz of another; tccs change of column (or plane)
    to data out; twb confirm to busy; trr ready to data out. Array: tdbsy between planes of a multi-plane
    command; tcbsy least busy time of a cache command; tr sense; tprog program; tbers erase; trst reset; tfeat
    change of a feature. Reads beside (`spec.nand`): tsusp to suspend a program or erase; tres to resume it;
    tadv that it advances before and between.
    """

    clock_mhz: int = 600
    twc: Duration = ns(25)
    tadl: Duration = ns(150)
    twhr: Duration = ns(80)
    trhw: Duration = ns(100)
    tchz: Duration = ns(30)
    tccs: Duration = ns(300)
    twb: Duration = ns(100)
    trr: Duration = ns(20)
    tdbsy: Duration = ns(500)
    tcbsy: Duration = ns(3_000)
    tr: Duration = ns(3_000)
    tprog: Duration = ns(100_000)
    tbers: Duration = ns(5_000_000)
    trst: Duration = ns(5_000)
    tfeat: Duration = ns(1_000)
    tsusp: Duration = ns(1_000)
    tres: Duration = ns(1_000)
    tadv: Duration = ns(5_000)

    def __post_init__(self) -> None:
        require_range("timing.clock_mhz", self.clock_mhz, 1, 2000)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "clock_mhz":
                continue
            if not isinstance(value, Duration):
                raise ConfigError(f"timing.{field.name} is {value!r}; expected a Duration")
            require(value.cycles >= 1 and value.ns >= 0, f"timing.{field.name}", value,
                    "at least one cycle and no negative time")  # fmt: skip

    def clocks(self, name: str) -> int:
        """Clock cycles of the timing called `name` (a field of this class)."""
        duration = getattr(self, name, None)
        if not isinstance(duration, Duration):
            known = ", ".join(field.name for field in fields(self) if field.name != "clock_mhz")
            raise ConfigError(f"timing has no {name!r}; expected one of {known}")
        return duration.clocks(self.clock_mhz)

    @property
    def clock_hz(self) -> float:
        return self.clock_mhz * 1e6

    @property
    def bytes_per_second(self) -> float:
        """Raw rate of one channel: two bytes per clock."""
        return 2 * self.clock_hz
