"""Cuts of training runs, each judged in a process of its own."""

import json
import os
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, NoReturn, Protocol, runtime_checkable

from flashtrain.host import Device, LinkFactory, open_device
from flashtrain.sim.nand.errors import as_spares_last, factory_marks
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.bad_blocks import FACTORY_SHARE

from .failing_link import FailingLink, PowerFailed
from .lost import Cut, Lost
from .scenario import ScenarioMaker
from .survival import Survival
from .training_scenario import TrainingScenario

MEMORY_PAGES = 512
SLIGHTLY = 16
"""Zeros that a page lacks at most that looks nearly whole."""


BAD_SHARE = 4 * FACTORY_SHARE
"""Of the blocks of a device with spares, so that even a small one has bad ones."""


class NoSuchCycle(FlashtrainError):
    """A run ends before the cycle at which it is to be cut."""


@dataclass
class Tally:
    """Counts of a campaign. `runs`: training runs, whole or not; `cycles`: simulated cycles of these runs."""

    cuts: int = 0
    runs: int = 0
    cycles: int = 0
    seconds: float = 0.0
    survival: Survival = field(default_factory=Survival)


@dataclass(frozen=True)
class _Slice:
    """A part of a run: its first cycle, and that of its cut."""

    start: int
    cut: int


@dataclass(frozen=True)
class _Judge:
    """A process that judges: what it will say, and which cut it is."""

    process: int
    answer: int
    cut: Cut


@dataclass(frozen=True)
class Campaign:
    """Power failures in runs of a scenario on devices of `config`.

    A run has as many equal slices as cuts, with one cut in each. Few cuts therefore spread over the whole
    run. In half of the slices the cut falls into the program of the first append to a persistent stream.

    - `iterations`: iterations of a run.
    - `gap`: the least mean distance of the cuts of a run, in cycles.
    - `jobs`: devices that are judged at the same time.
    - `scenario`: makes the scenario of a run.
    """

    config: FmsConfig
    link: LinkFactory
    seed: int
    iterations: int = 12
    gap: int = 1000
    jobs: int = 2
    scenario: ScenarioMaker = TrainingScenario

    def run(self, cuts: int, progress: Callable[[Tally], None] = lambda tally: None) -> Tally:
        """Until there were `cuts`; :class:`Lost` names the one that failed.

        The first run is carried out once more before, without cuts: its length gives the slices.
        """
        tally, started = Tally(), time.monotonic()
        length = _Run(self, Tally(), progress).rehearse()
        most = max(1, length // self.gap)
        while tally.cuts < cuts:
            _Run(self, tally, progress).cut_often(min(most, cuts - tally.cuts), length)
            tally.runs += 1
        tally.seconds = time.monotonic() - started
        return tally

    def cut_once(self, run: int, cycle: int) -> Survival:
        """The cut at one cycle of one run, in this process; :class:`NoSuchCycle` if it ends before."""
        return _Run(self, Tally(runs=run), lambda tally: None).cut_at(cycle)


@runtime_checkable
class _Marked(Protocol):
    """A Link whose blocks can be bad from the factory."""

    def mark_block(self, channel: int, die: int, plane: int, block: int, page: int, whole: bool) -> None: ...


class _Run:
    """One run of a campaign, on a device whose blocks are not all good if it has spares."""

    def __init__(self, campaign: Campaign, tally: Tally, progress: Callable[[Tally], None]) -> None:
        self._campaign, self._tally, self._progress = campaign, tally, progress
        self._number = tally.runs
        self._random = Random(f"{campaign.seed}/{self._number}")
        self._scenario = campaign.scenario(self._random.randrange(1 << 32), campaign.iterations)
        self._node = self._scenario.node(self._campaign.config)
        total = MEMORY_PAGES * campaign.config.geometry.page_bytes
        inner = campaign.link(campaign.config, total)
        g = campaign.config.geometry
        if g.spare_blocks and isinstance(inner, _Marked):
            for mark in as_spares_last(g, factory_marks(g, f"{campaign.seed}/{self._number}", BAD_SHARE), []):
                inner.mark_block(*mark)
        self._link = FailingLink(inner)
        self._judges: list[_Judge] = []
        self._slices: list[_Slice] = []  # those without a cut, the latest first
        self._aim_from: int | None = None

    def rehearse(self) -> int:
        """The cycles of the run, which nothing cuts."""
        with self._link, open_device(link=self._link, node=self._node) as device:
            self._scenario.run(device)
            return self._link.cycles

    def cut_often(self, cuts: int, length: int) -> None:
        """Cut the power `cuts` times at most, once in each slice of a run of `length` cycles."""
        width = length / cuts
        self._slices = [
            _Slice(int(n * width), int((n + self._random.random()) * width)) for n in reversed(range(cuts))
        ]
        with self._link, open_device(link=self._link, node=self._node) as device:
            self._link.on_time = lambda: self._cut(device)
            self._scenario.on_append = self._aim
            self._plan()
            try:
                self._scenario.run(device)
                self._link.time = None
                self._await_judges(0)
            except BaseException:
                self._stop_judges()
                raise
            self._tally.cycles += self._link.cycles

    def cut_at(self, cycle: int) -> Survival:
        with self._link, open_device(link=self._link, node=self._node) as device:
            self._link.time = cycle
            try:
                self._scenario.run(device)
            except PowerFailed:
                return self._survive(device, cycle)
        raise NoSuchCycle(f"run {self._number} of this seed ends before cycle {cycle}")

    def _aim(self) -> None:
        """A slice that aims has its cut while this append is programmed, if that is earlier than planned."""
        now, planned = self._link.cycles, self._link.time
        if planned is None or self._aim_from is None or now < self._aim_from:
            return
        programmed = now + 4 * self._campaign.config.timing.cycles("tprog")
        if programmed < planned:
            self._link.time = self._random.randint(now + 1, programmed)
            self._aim_from = None

    def _plan(self) -> None:
        """The cut of the next slice, if there is one."""
        self._link.time = self._aim_from = None
        if self._slices:
            following = self._slices.pop()
            self._link.time = max(following.cut, self._link.cycles + 1)
            self._aim_from = following.start if self._random.random() < 0.5 else None

    def _cut(self, device: Device) -> None:
        """The process forks: the power fails in the copy, which judges and ends."""
        self._await_judges(self._campaign.jobs - 1)
        answer, said = os.pipe()
        process = os.fork()
        if not process:
            self._judge_and_end(device, said)
        os.close(said)
        self._judges.append(_Judge(process, answer, Cut(self._number, self._link.cycles)))
        self._tally.cuts += 1
        self._plan()

    def _judge_and_end(self, device: Device, said: int) -> NoReturn:
        """Nothing of the original may be touched: no clean-up, no buffered output."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the original ends its judges
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            self._link.adopt()
            self._link.time, self._link.on_time = None, self._link.fail
            document: dict[str, Any] = {"survival": asdict(self._survive(device, self._link.cycles))}
        except FlashtrainError as wrong:
            document = {"lost": f"{type(wrong).__name__}: {wrong}"}
        except BaseException:
            document = {"lost": traceback.format_exc()}
        with os.fdopen(said, "w", encoding="utf-8") as pipe:
            json.dump(document, pipe)
        os._exit(0)

    def _survive(self, device: Device, cycle: int) -> Survival:
        """The power has failed: recover, in which it may fail again, and judge."""
        random, survival = Random(f"{self._campaign.seed}/{self._number}/{cycle}"), Survival()
        g, timing = self._campaign.config.geometry, self._campaign.config.timing
        # About as long as erasing all zones takes, which is most of a recovery.
        recovery = g.zones * (timing.cycles("tbers") + 2 * timing.cycles("tprog"))
        while True:
            self._link.power_cycle()
            self._count(survival)
            if random.random() < 0.3:
                self._link.time = self._link.cycles + random.randint(1, recovery)
            try:
                report = device.recover()
            except PowerFailed:
                survival.again += 1
            else:
                break
        self._link.time = None
        survival.recovery_cycles = report.cycles
        self._scenario.judge(device, survival)
        return survival

    def _count(self, survival: Survival) -> None:
        """Add the programs and erases that the power failure interrupted."""
        cuts = self._link.take_cuts()
        programs, erases = cuts[cuts["erase"] == 0], cuts[cuts["erase"] == 1]
        survival.torn += len(programs)
        survival.slightly += int((programs["left"] <= SLIGHTLY).sum())
        survival.half_erased += int((erases["left"] > 0).sum())

    def _stop_judges(self) -> None:
        """The campaign ends before its time: nobody waits for their verdicts."""
        for one in self._judges:
            os.kill(one.process, signal.SIGKILL)
            os.close(one.answer)
            os.waitpid(one.process, 0)
        self._judges.clear()

    def _await_judges(self, most: int) -> None:
        """Until at most so many are at work."""
        while len(self._judges) > most:
            judge = self._judges.pop(0)
            with os.fdopen(judge.answer, encoding="utf-8") as pipe:
                said = pipe.read()
            os.waitpid(judge.process, 0)
            found: dict[str, Any] = json.loads(said) if said else {"lost": "its process has died"}
            if "lost" in found:
                raise Lost(f"run {judge.cut.run}, cycle {judge.cut.cycle}: {found['lost']}", judge.cut)
            self._tally.survival.add(Survival(**found["survival"]))
            self._progress(self._tally)
