"""The wear of a device, its rate, and a budget for it."""

import math
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from flashtrain.spec import NodeTable
from flashtrain.spec.errors import require

from .arguments import instance, seconds_of
from .errors import WearBudgetExceeded

SECONDS_PER_DAY = 86_400
LOOKS = 16
"""Readings of the erase counts in a window, at most."""


class OverBudget(Enum):
    """The consequence for appends and updates when the flash wears out before the budget's days are over."""

    WARN = "warn"  # a `WearWarning`, once until the rate is within the budget again
    REFUSE = "refuse"  # `WearBudgetExceeded`, before a command is sent


class WearWarning(UserWarning):
    """At the present rate the flash wears out before the days of the budget are over."""


@dataclass(frozen=True)
class WearBudget:
    """The days that the flash has to last at the rate of writes of the last `window_seconds`.

    - days: more than 0. The rate counts pauses, too.
    - over: the consequence when it does not.
    - window_seconds: more than 0. No rate is known before a first window is over.
    - clock: the seconds since any moment; by default `Link.fine_seconds`, the simulated time of a simulated
      Link. A Link without time needs a clock, such as `time.monotonic`.
    """

    days: float
    over: OverBudget = OverBudget.WARN
    window_seconds: float = 3600.0
    clock: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        for name in ("days", "window_seconds"):
            value = getattr(self, name)
            known = isinstance(value, int | float) and not isinstance(value, bool)
            require(known and 0 < value < math.inf, f"wear_budget.{name}", value, "a finite number above 0")
        names = ", ".join(f"OverBudget.{member.name}" for member in OverBudget)
        require(isinstance(self.over, OverBudget), "wear_budget.over", self.over, f"one of {names}")
        require(
            self.clock is None or callable(self.clock), "wear_budget.clock", self.clock,
            "a function that returns seconds, or None",
        )  # fmt: skip


@dataclass(frozen=True)
class WearReport:
    """The wear of a device.

    - used: program/erase cycles of the most worn zone.
    - endurance: cycles that a zone stands for data of the strictest stream.
    - cycles, seconds: cycles of an average zone in the last window, and its length; None without a budget,
      and before a first window is over.
    """

    used: int
    endurance: int
    cycles: float | None = None
    seconds: float | None = None

    @property
    def cycles_per_day(self) -> float | None:
        """Cycles of an average zone in a day; wear levelling makes the zones equal in the long run."""
        if self.cycles is None or not self.seconds:
            return None
        return self.cycles / self.seconds * SECONDS_PER_DAY

    @property
    def days_left(self) -> float | None:
        """Days until the most worn zone has used its endurance up; infinity if nothing was erased."""
        rate = self.cycles_per_day
        if rate is None:
            return None
        return max(0, self.endurance - self.used) / rate if rate else math.inf

    def __str__(self) -> str:
        used = f"{self.used:,} of {self.endurance:,} program/erase cycles are used"
        if self.cycles_per_day is None or self.days_left is None or self.seconds is None:
            return f"{used}; the rate is not known"
        return (
            f"{used}; at {_figure(self.cycles_per_day)} a day, measured over {_figure(self.seconds)} s,"
            f" the rest lasts {_figure(self.days_left)} days"
        )


class _Look(NamedTuple):
    time: float
    wear: Sequence[int]


class _Depth(threading.local):
    """Operations in progress of each thread that are admitted as a whole."""

    depth = 0


class WearGate:
    """The gate that appends and updates pass: it holds them against the budget of the device.

    node, read: the streams of the device, and the erases of each of its zones.

    Members
    -------
    budget: that of :meth:`keep`.
    """

    def __init__(self, node: NodeTable, read: Callable[[], Sequence[int]]) -> None:
        self._endurance = min(stream.retention.endurance for stream in node.streams)
        self._read = read
        self.budget: WearBudget | None = None
        self._clock: Callable[[], float] = float
        self._looks: deque[_Look] = deque()
        self._over: str | None = None
        self._admitted = _Depth()

    def keep(self, budget: WearBudget | None, clock: Callable[[], float]) -> None:
        """Hold appends and updates against `budget` from now on, or against none."""
        self.budget, self._clock = budget, clock
        self.restart()

    def restart(self) -> None:
        """Measure anew: the erase counts are others than before."""
        self._looks.clear()
        self._over = None

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Admit all operations of this thread: parts of one that was admitted, or of the driver's own."""
        self._admitted.depth += 1
        try:
            yield
        finally:
            self._admitted.depth -= 1

    def admit(self) -> None:
        """Let an operation pass, with a :class:`WearWarning` or not; or raise :class:`WearBudgetExceeded`."""
        budget = self.budget
        if budget is None or self._admitted.depth:
            return
        now = self._now()
        last = self._looks[-1].time if self._looks else -math.inf
        if not last <= now < last + budget.window_seconds / LOOKS:
            self._look(now, budget)
        if self._over is not None and budget.over is OverBudget.REFUSE:
            raise WearBudgetExceeded(self._over)

    def report(self) -> WearReport:
        """The wear at present."""
        wear, budget = self._read(), self.budget
        if budget is None:
            return WearReport(max(wear), self._endurance)
        return self._report(_Look(self._now(), wear), budget)

    def _now(self) -> float:
        return seconds_of("a reading of wear_budget.clock", self._clock())

    def _look(self, now: float, budget: WearBudget) -> None:
        look, looks = _Look(now, self._read()), self._looks
        if looks and (now < looks[-1].time or sum(look.wear) < sum(looks[-1].wear)):
            looks.clear()
        looks.append(look)
        while len(looks) > 1 and looks[1].time <= now - budget.window_seconds:
            looks.popleft()
        report = self._report(look, budget)
        if report.days_left is None or report.days_left >= budget.days:
            self._over = None
            return
        warned, self._over = (
            self._over is not None,
            f"{report}; the budget asks for {_figure(budget.days)} days",
        )
        if budget.over is OverBudget.WARN and not warned:
            warnings.warn(self._over, WearWarning, stacklevel=2)

    def _report(self, now: _Look, budget: WearBudget) -> WearReport:
        first = self._looks[0] if self._looks else now
        seconds, erases = now.time - first.time, sum(now.wear) - sum(first.wear)
        used = max(now.wear)
        if seconds < budget.window_seconds or erases < 0:
            return WearReport(used, self._endurance)
        return WearReport(used, self._endurance, erases / len(now.wear), seconds)


def _figure(number: float) -> str:
    """Three digits, or all those before the point."""
    return f"{number:,.0f}" if 1000 <= number < math.inf else f"{number:.3g}"


def budget_of(value: object) -> WearBudget | None:
    """The argument `wear_budget`."""
    return instance(WearBudget | None, "wear_budget", value, "a WearBudget or None")
