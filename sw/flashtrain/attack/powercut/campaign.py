"""Cuts of training runs, each judged in a process of its own."""

import json
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, NoReturn, Protocol, runtime_checkable

from flashtrain.host import Device, LinkFactory, open_device
from flashtrain.sim.nand_errors import as_spares_last, factory_marks
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.bad_blocks import FACTORY_SHARE
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.data import digits
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.sequence import StreamRole

from ..course import Course, Expected
from .failing_link import FailingLink, PowerFailed
from .judgement import Survival, judge
from .lost import Cut, Lost
from .remembering import RememberingStorage

MEMORY_PAGES = 512
SLIGHTLY = 16
"""Zeros that a page lacks at most that looks nearly whole."""


BAD_SHARE = 4 * FACTORY_SHARE
"""Of the blocks of a device with spares, so that even a small one has bad ones."""
LASTING = (StreamRole.INPUTS, StreamRole.TRAINED)
"""Streams that are appended to and outlast a loss of power."""


class NoSuchClock(FlashtrainError):
    """A run ends before the clock at which it is to be cut."""


@dataclass
class Tally:
    """What was done. runs: of training, whole or not; clocks: simulated in them."""

    cuts: int = 0
    runs: int = 0
    clocks: int = 0
    seconds: float = 0.0
    survival: Survival = field(default_factory=Survival)


@dataclass(frozen=True)
class _Judge:
    """A process that judges: what it will say, and which cut it is."""

    process: int
    answer: int
    cut: Cut


@dataclass(frozen=True)
class Campaign:
    """`cuts` of training runs on devices of `config`.

    iterations: of a run; gap: clocks from one cut to the next, at most twice as many, but fewer while
    something is appended that is to last; jobs: devices that are judged at the same time.
    """

    config: FmsConfig
    link: LinkFactory
    seed: int
    iterations: int = 12
    gap: int = 1000
    jobs: int = 2

    def run(self, cuts: int, progress: Callable[[Tally], None] = lambda tally: None) -> Tally:
        """Until there were `cuts`; :class:`Lost` says which one to look at."""
        tally, started = Tally(), time.monotonic()
        while tally.cuts < cuts:
            _Run(self, tally, cuts, progress).cut_often()
            tally.runs += 1
        tally.seconds = time.monotonic() - started
        return tally

    def cut_once(self, run: int, clock: int) -> Survival:
        """The cut at one clock of one run, in this process; :class:`NoSuchClock` if it ends before."""
        return _Run(self, Tally(runs=run), 0, lambda tally: None).cut_at(clock)


@runtime_checkable
class _Marked(Protocol):
    """A Link whose blocks can be bad from the factory."""

    def mark_block(self, channel: int, die: int, plane: int, block: int, page: int, whole: bool) -> None: ...


class _Run:
    """One training run of a campaign, on a device whose blocks are not all good if it has spares."""

    def __init__(
        self, campaign: Campaign, tally: Tally, cuts: int, progress: Callable[[Tally], None]
    ) -> None:
        self._campaign, self._tally, self._cuts, self._progress = campaign, tally, cuts, progress
        self._number = tally.runs
        self._random = Random(f"{campaign.seed}/{self._number}")
        self._course = Course(self._random.randrange(1 << 32), campaign.iterations)
        self._data = digits()
        self._expected = Expected(self._course, self._data)
        total = MEMORY_PAGES * campaign.config.geometry.page_bytes
        inner = campaign.link(campaign.config, total)
        g = campaign.config.geometry
        if g.spare_blocks and isinstance(inner, _Marked):
            for mark in as_spares_last(g, factory_marks(g, f"{campaign.seed}/{self._number}", BAD_SHARE), []):
                inner.mark_block(*mark)
        self._link = FailingLink(inner)
        self._judges: list[_Judge] = []
        self._hot = 0  # until this clock a page that is to last may be torn

    def cut_often(self) -> None:
        with self._link, open_device(link=self._link, node=UPDATE_NODE) as device:
            storage = RememberingStorage(dict.fromkeys(StreamRole, device))
            self._link.on_time = lambda: self._cut(device, storage)
            storage.on_append = self._aim
            self._plan()
            try:
                self._train(storage)
            finally:
                self._link.time = None
                self._await_judges(0)
            self._tally.clocks += self._link.clocks

    def cut_at(self, clock: int) -> Survival:
        with self._link, open_device(link=self._link, node=UPDATE_NODE) as device:
            storage = RememberingStorage(dict.fromkeys(StreamRole, device))
            self._link.time = clock
            try:
                self._train(storage)
            except PowerFailed:
                return self._survive(device, storage, clock)
        raise NoSuchClock(f"run {self._number} of this seed ends before clock {clock}")

    def _train(self, storage: RememberingStorage) -> None:
        course = self._course
        train_through_flash(
            course.network,
            self._data,
            course.optimizer,
            course.batch,
            course.iterations,
            course.seed,
            storage,
        )

    def _aim(self, role: StreamRole) -> None:
        """Something is appended: the power fails while it is programmed, too."""
        if role not in LASTING or self._link.time is None:
            return
        self._hot = self._link.clocks + 3 * self._campaign.config.timing.clocks("tprog")
        self._plan()

    def _plan(self) -> None:
        most = 2 * self._campaign.gap
        if self._link.clocks < self._hot:
            most = min(most, self._campaign.config.timing.clocks("tprog"))
        self._link.time = self._link.clocks + self._random.randint(1, most)

    def _cut(self, device: Device, storage: RememberingStorage) -> None:
        """The process forks: the power fails in the copy, which judges and ends."""
        self._await_judges(self._campaign.jobs - 1)
        answer, said = os.pipe()
        process = os.fork()
        if not process:
            self._judge_and_end(device, storage, said)
        os.close(said)
        self._judges.append(_Judge(process, answer, Cut(self._number, self._link.clocks)))
        self._tally.cuts += 1
        self._link.time = None
        if self._tally.cuts < self._cuts:
            self._plan()

    def _judge_and_end(self, device: Device, storage: RememberingStorage, said: int) -> NoReturn:
        """Nothing of the original may be touched: no clean-up, no buffered output."""
        try:
            self._link.time, self._link.on_time = None, self._link.fail
            document: dict[str, Any] = {"survival": asdict(self._survive(device, storage, self._link.clocks))}
        except FlashtrainError as wrong:
            document = {"lost": f"{type(wrong).__name__}: {wrong}"}
        except BaseException:
            document = {"lost": traceback.format_exc()}
        with os.fdopen(said, "w") as pipe:
            json.dump(document, pipe)
        os._exit(0)

    def _survive(self, device: Device, storage: RememberingStorage, clock: int) -> Survival:
        """The power has failed: recover, in which it may fail again, and judge."""
        random, survival = Random(f"{self._campaign.seed}/{self._number}/{clock}"), Survival()
        g, timing = self._campaign.config.geometry, self._campaign.config.timing
        # About as long as erasing all zones takes, which is most of a recovery.
        recovery = g.zones * (timing.clocks("tbers") + 2 * timing.clocks("tprog"))
        while True:
            self._link.power_cycle()
            self._count(survival)
            if random.random() < 0.3:
                self._link.time = self._link.clocks + random.randint(1, recovery)
            try:
                report = device.recover()
            except PowerFailed:
                survival.again += 1
            else:
                break
        self._link.time = None
        survival.recovery_clocks = report.clocks
        judge(device, storage, self._expected, survival)
        return survival

    def _count(self, survival: Survival) -> None:
        """What the power failure has met."""
        cuts = self._link.take_cuts()
        programs, erases = cuts[cuts["erase"] == 0], cuts[cuts["erase"] == 1]
        survival.torn += len(programs)
        survival.slightly += int((programs["left"] <= SLIGHTLY).sum())
        survival.half_erased += int((erases["left"] > 0).sum())

    def _await_judges(self, most: int) -> None:
        """Until at most so many are at work."""
        while len(self._judges) > most:
            judge = self._judges.pop(0)
            with os.fdopen(judge.answer) as pipe:
                said = pipe.read()
            os.waitpid(judge.process, 0)
            found: dict[str, Any] = json.loads(said) if said else {"lost": "its process has died"}
            if "lost" in found:
                raise Lost(f"run {judge.cut.run}, clock {judge.cut.clock}: {found['lost']}", judge.cut)
            self._tally.survival.add(Survival(**found["survival"]))
            self._progress(self._tally)
