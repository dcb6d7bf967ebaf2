"""The comparison: random commands for both devices, and every difference looked up in the table."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NoReturn

from flashtrain.spec import FlashtrainError, ZoneAction

from .admin_trials import AdminTrials
from .devices import Devices
from .difference import Aspect, Case, Difference
from .facts import facts
from .io_trials import IoTrials
from .trial import Outcome, Queue, Trial
from .zones import ACTIVE, OPEN, Zones, after, count, is_open_of_all, manage, opens, parse, report_of_all

_LOOKS = 30
"""Commands between two looks at all zones, on average."""
_SHOWN, _KEPT = 40, 512
"""Last commands that an error shows, and that it has for shortening."""


class Unexplained(FlashtrainError):
    """A difference without a row; the message has the seed and the last commands.

    - reason: the difference; trials: the last commands.
    """

    def __init__(self, reason: str, seed: int, trials: list[Trial]) -> None:
        shown = "\n".join(f"  {trial}" for trial in trials[-_SHOWN:])
        super().__init__(f"{reason}\nseed {seed}; the last commands:\n{shown}")
        self.reason, self.trials = reason, trials


@dataclass
class Comparison:
    """Runs commands on both devices.

    - table: the rows that explain differences; explained: how many each has.
    - admin_share: the share of admin commands.
    - statuses: of our answers, with their number.
    """

    devices: Devices
    seed: int
    table: tuple[Difference, ...]
    admin_share: float = 0.15
    explained: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    commands: int = 0

    def __post_init__(self) -> None:
        shape, random = self.devices.shape, Random(self.seed)
        self._random = random
        self._last: deque[Trial] = deque(maxlen=_KEPT)
        self._known: dict[int, Zones] = {}
        self.look()
        self._io = IoTrials(random, shape, self._known)
        self._admin = AdminTrials(random, shape)

    def run(self, commands: int) -> None:
        """So many commands more; :class:`Unexplained` at the first difference that no row explains."""
        end = self.commands + commands
        while self.commands < end:
            admin = self._random.random() < self.admin_share
            self.compare(self._admin.next() if admin else self._io.next())
            if self._random.random() < 1 / _LOOKS:
                self.look()

    def compare(self, trial: Trial) -> None:
        """Run a command on both, and explain the differences of their answers and of the zones after it."""
        before = self._known.get(trial.entry.nsid, ()) if trial.queue is Queue.IO else ()
        self.commands += 1
        theirs, ours = self.devices.run(trial)
        self.statuses[ours.status] += 1
        self._last.append(trial)
        for aspect, fact in _differing(trial, theirs, ours):
            self._explain(aspect, Case(self.devices.shape, trial, theirs, ours, before, fact))
        self._follow(trial, theirs, ours)

    def look(self) -> None:
        """Compare all zones of both, and learn them."""
        for nsid in self.devices.shape.zones:
            self._look(nsid)

    def _follow(self, trial: Trial, theirs: Outcome, ours: Outcome) -> None:
        """Keep the known zones; look at them where a command may have closed others."""
        nsid, shape = trial.entry.nsid, self.devices.shape
        if trial.queue is not Queue.IO or nsid not in self._known:
            return
        before = self._known[nsid]
        short = count(before, OPEN) >= shape.max_open or is_open_of_all(trial.entry)
        if theirs.status == ours.status == 0:
            self._known[nsid] = after(shape, before, trial.entry)
        one_failed = (theirs.status == 0) != (ours.status == 0)
        if one_failed or (short and opens(shape, before, trial.entry)):
            self._look(nsid, Case(shape, trial, theirs, ours, before))

    def _look(self, nsid: int, case: Case | None = None) -> None:
        """Compare the zones of a namespace. After a difference they are made equal."""
        shape = self.devices.shape
        zones = self._zones(nsid)
        if zones[0] != zones[1]:
            case = case or Case(shape, report_of_all(shape, nsid), _NOTHING, _NOTHING)
            self._explain(
                Aspect.ZONES, Case(shape, case.trial, case.theirs, case.ours, case.before, zones=zones)
            )
            self._mend(nsid, *zones)
            zones = self._zones(nsid)
            if zones[0] != zones[1]:
                self._fail(f"zones still differ: {_differing_zones(*zones)}")
        self._known[nsid] = zones[1]

    def _mend(self, nsid: int, theirs: Zones, ours: Zones) -> None:
        """Make the zones of both equal: reset those with other contents, and close all open ones."""
        for number, (a, b) in enumerate(zip(theirs, ours, strict=True)):
            if a != b and not (a.state in ACTIVE and b.state in ACTIVE and a.written == b.written):
                start = number * self.devices.shape.zone_size
                self.devices.run(manage(nsid, start, ZoneAction.RESET))
        self.devices.run(manage(nsid, 0, ZoneAction.CLOSE, every=True))

    def _zones(self, nsid: int) -> tuple[Zones, Zones]:
        shape = self.devices.shape
        self.commands += 1
        theirs, ours = self.devices.run(report_of_all(shape, nsid))
        if theirs.status or ours.status:
            self._fail(f"a report of all zones: {theirs}; ours: {ours}")
        return parse(shape, theirs.data), parse(shape, ours.data)

    def _explain(self, aspect: Aspect, case: Case) -> Difference:
        row = next((row for row in self.table if row.aspect is aspect and row.applies(case)), None)
        if row is not None:
            self.explained[row.name] += 1
            return row
        detail = f"{aspect.value} {case.fact}".strip()
        if aspect is Aspect.ZONES:
            detail += f" {_differing_zones(*case.zones)}"
        elif aspect is Aspect.FACT:
            theirs, ours = (facts(case.trial, one.data)[case.fact] for one in (case.theirs, case.ours))
            detail += f" {_short(theirs)}, ours {_short(ours)}"
        self._fail(
            f"no row of the table explains {detail}\n  {case.trial}\n"
            f"  QEMU: {case.theirs}\n  ours: {case.ours}"
        )

    def _fail(self, reason: str) -> NoReturn:
        raise Unexplained(reason, self.seed, list(self._last))

    def unused(self) -> list[str]:
        """Rows that have explained nothing."""
        return [row.name for row in self.table if not self.explained[row.name]]


_NOTHING = Outcome(0, False, 0, b"")


def _differing(trial: Trial, theirs: Outcome, ours: Outcome) -> Iterator[tuple[Aspect, str]]:
    if theirs.status != ours.status:
        yield Aspect.STATUS, ""
        return
    if theirs.do_not_retry != ours.do_not_retry:
        yield Aspect.DO_NOT_RETRY, ""
    if theirs.result != ours.result:
        yield Aspect.RESULT, ""
    if not theirs.status and theirs.data != ours.data:
        a, b = facts(trial, theirs.data), facts(trial, ours.data)
        for name in a:
            if a[name] != b.get(name):
                yield Aspect.FACT, name


def _differing_zones(theirs: Zones, ours: Zones) -> str:
    return "; ".join(
        f"zone {number}: {a.state.name} {a.written}, ours {b.state.name} {b.written}"
        for number, (a, b) in enumerate(zip(theirs, ours, strict=True))
        if a != b
    )


def _short(value: int | bytes | tuple[int, ...]) -> str:
    return f"{value[:128].hex()}" if isinstance(value, bytes) else str(value)
