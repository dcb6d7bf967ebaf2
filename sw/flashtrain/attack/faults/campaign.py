"""Runs of training, each on a device of its own, several at a time."""

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from random import Random

from flashtrain.host import Device, open_device
from flashtrain.host.command_errors import MediaError
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.data import digits
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.reference import train_reference
from flashtrain.training.report import first_difference
from flashtrain.training.tensors import DeviceStorage

from ..course import Course
from .conditions import Conditions

MEMORY_PAGES = 512
RUNS_PER_PROCESS = 25
"""A device's library stays in memory until the process ends."""
_CORRECTED = "PAGES_CORRECTED_"


class Spoilt(FlashtrainError):
    """Run `number` has ended with other weights than it must have, or not at all."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(number, why)  # what pickle makes it again from, in another process
        self.number = number
        self.why = why

    def __str__(self) -> str:
        return f"run {self.number}: {self.why}"


@dataclass
class Tally:
    """What was done. wrong_bits: that senses returned; corrected: of them by the channels, the others by the
    dies or in pages nobody fetched; worst_pages: with 8 wrong bits or more; rescued: pages that were right at
    another read level; days: by which data aged; marked: blocks that were bad from the factory; broken:
    blocks; replaced: blocks by spares; repeated: page sets that were programmed again on them; failures: of
    programs and erases; hung: dies that the channels have given up; ended: runs that these have ended."""

    runs: int = 0
    ended: int = 0
    hung: int = 0
    clocks: int = 0
    wrong_bits: int = 0
    corrected: int = 0
    pages: int = 0
    worst_pages: int = 0
    rescued: int = 0
    marked: int = 0
    broken: int = 0
    failures: int = 0
    replaced: int = 0
    repeated: int = 0
    days: float = 0.0
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass(frozen=True)
class Campaign:
    """Training runs of `iterations` on devices of `config`, which has a code; `jobs` at a time.

    hangs: dies may hang. Everything lies on all dies, so such a run may end before its time: with an error
    that names the stream (`MediaError`), and until then with the losses of plain NumPy.
    """

    config: FmsConfig
    seed: int
    iterations: int = 8
    jobs: int = 2
    hangs: bool = False

    def __post_init__(self) -> None:
        require(self.config.code is not None, "config.code_strength", self.config.code_strength, "a code")

    def run(self, runs: int, first: int = 0, progress: Callable[[Tally], None] = lambda tally: None) -> Tally:
        """So many runs from number `first` on; :class:`Spoilt` names the one that went wrong."""
        tally, started = Tally(), time.monotonic()
        RtlLink(self.config, MEMORY_PAGES * self.config.geometry.page_bytes).close()  # built once
        end = first + runs
        for start in range(first, end, self.jobs * RUNS_PER_PROCESS):
            numbers = range(start, min(start + self.jobs * RUNS_PER_PROCESS, end))
            # New processes for each batch: `max_tasks_per_child` may wait for ever (CPython issue 115634).
            with ProcessPoolExecutor(self.jobs, get_context("spawn")) as pool:
                try:
                    for one in pool.map(self.run_once, numbers):
                        tally.add(one)
                        progress(tally)
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
        tally.seconds = time.monotonic() - started
        return tally

    def run_once(self, number: int) -> Tally:
        """The run of that number."""
        random = Random(f"{self.seed}/{number}")
        course = Course(random.randrange(1 << 32), self.iterations)
        conditions = Conditions.random(random, self.iterations, self.config.geometry)
        if self.hangs:
            conditions = conditions.hanging(random)
        data = digits()
        link = RtlLink(self.config, MEMORY_PAGES * self.config.geometry.page_bytes)
        for mark in conditions.marked:
            link.mark_block(*mark)
        # Volatile data are kept for days, too: what is tried is the code, not whether they are refused.
        with link, open_device(link=link, node=UPDATE_NODE.refusing_nothing) as device:
            before = device.channel_counters()  # marks were taken for pages with wrong bits
            link.set_errors(conditions.errors)

            def after(iteration: int) -> None:
                link.pass_time(conditions.days * 86_400)
                _break(link, conditions, iteration)

            _break(link, conditions, 0)
            losses: list[float] = []
            log = None
            try:
                log = train_through_flash(
                    course.network, data, course.optimizer, course.batch, course.iterations, course.seed,
                    DeviceStorage.on(device),
                    progress=lambda _, loss: losses.append(loss),
                    on_iteration=after,
                ).log  # fmt: skip
            except FlashtrainError as error:
                if not (isinstance(error, MediaError) and _hung(device)):
                    raise Spoilt(number, f"{type(error).__name__}: {error}; {conditions}") from error
            reference = train_reference(
                course.network, data, course.optimizer, course.batch, course.iterations, course.seed
            )
            if log is None and losses != list(reference.losses[: len(losses)]):
                raise Spoilt(number, f"losses {losses}, not {reference.losses}; {conditions}")
            if log is not None and (difference := first_difference(log, reference)):
                raise Spoilt(number, f"{difference}; {conditions}")
            counts = [
                {name: value - old[name] for name, value in count.items()}
                for count, old in zip(device.channel_counters(), before, strict=True)
            ]
            return Tally(
                runs=1,
                ended=int(log is None),
                hung=_hung(device),
                clocks=link.clocks,
                wrong_bits=int(link.flipped_bits().sum()),
                corrected=sum(count["BITS_CORRECTED"] for count in counts),
                pages=sum(value for count in counts for name, value in count.items() if _CORRECTED in name),
                worst_pages=sum(count["PAGES_CORRECTED_8"] + count["PAGES_CORRECTED_16"] for count in counts),
                rescued=sum(count["PAGES_RESCUED"] for count in counts),
                marked=len(conditions.marked),
                broken=len(conditions.broken),
                failures=sum(count["FAILURES"] for count in counts),
                replaced=sum(count["BLOCKS_REPLACED"] for count in counts),
                repeated=sum(count["SETS_REPEATED"] for count in counts),
                days=conditions.days * course.iterations,
            )


def _hung(device: Device) -> int:
    """Dies that the channels have given up."""
    return sum(count["DIES_OFFLINE"] for count in device.channel_counters())


def _break(link: RtlLink, conditions: Conditions, iteration: int) -> None:
    for block in conditions.broken:
        if block.iteration == iteration:
            link.break_block(block.channel, block.die, block.plane, block.block)
