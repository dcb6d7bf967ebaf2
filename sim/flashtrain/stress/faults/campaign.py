"""Runs of training, each on a device of its own, several at a time."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from random import Random

from flashtrain.host import Device, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.errors import require
from flashtrain.stress.workers import worker_pool
from flashtrain.stress.workload import Workload, node_of
from flashtrain.training.data import digits
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.reference import train_reference
from flashtrain.training.report import first_difference
from flashtrain.training.tensors import DeviceStorage

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
    """Counts of a campaign.

    - `losses`: losses of iterations that were compared with plain NumPy.
    - `ended`: runs that ended early because a die hung.
    - `hung`: dies that the channels have taken offline.
    - `wrong_bits`: wrong bits that senses returned.
    - `corrected`: wrong bits that the channels corrected. The dies corrected the others, or nobody fetched
      their pages.
    - `worst_pages`: pages with 8 wrong bits or more.
    - `rescued`: pages that were right at another read level.
    - `days`: days by which the data aged.
    - `marked`: blocks with a factory mark.
    - `broken`: blocks that failed.
    - `replaced`: blocks that a spare block replaced.
    - `repeated`: page sets that were programmed again on a spare block.
    - `failures`: failed programs and erases.
    """

    runs: int = 0
    losses: int = 0
    ended: int = 0
    hung: int = 0
    cycles: int = 0
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

    @property
    def judged(self) -> bool:
        """Whether anything failed, and a result was compared: without both the runs have shown nothing."""
        faults = self.wrong_bits + self.marked + self.broken + self.failures + self.hung
        return self.losses > 0 and faults > 0

    def add(self, other: "Tally") -> None:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass(frozen=True)
class Campaign:
    """Training runs of `iterations` on devices of `config`, which has a code; `jobs` at a time.

    With `hangs`, dies may hang. Every tensor lies on all dies, so a hung die may end the run early. The run
    then ends with a `MediaError` that names the stream, and its losses until then equal those of plain NumPy.
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
            with worker_pool(self.jobs) as pool:
                for one in pool.map(self.run_once, numbers):
                    tally.add(one)
                    progress(tally)
        tally.seconds = time.monotonic() - started
        return tally

    def run_once(self, number: int) -> Tally:
        """The run of that number."""
        random = Random(f"{self.seed}/{number}")
        workload = Workload(random.randrange(1 << 32), self.iterations)
        conditions = Conditions.random(random, self.iterations, self.config.geometry)
        if self.hangs:
            conditions = conditions.hanging(random)
        data = digits()
        link = RtlLink(self.config, MEMORY_PAGES * self.config.geometry.page_bytes)
        for mark in conditions.marked:
            link.mark_block(*mark)
        # Volatile data are kept for days, too: what is tried is the code, not whether they are refused.
        with link, open_device(link=link, node=node_of(self.config).refusing_nothing) as device:
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
                    workload.network, data, workload.optimizer, workload.batch, workload.iterations,
                    workload.seed, DeviceStorage.on(device),
                    progress=lambda _, loss: losses.append(loss),
                    on_iteration=after,
                ).log  # fmt: skip
            except FlashtrainError as error:
                if not (isinstance(error, MediaError) and _hung(device)):
                    raise Spoilt(number, f"{type(error).__name__}: {error}; {conditions}") from error
            reference = train_reference(
                workload.network, data, workload.optimizer, workload.batch, workload.iterations, workload.seed
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
                losses=len(losses),
                ended=int(log is None),
                hung=_hung(device),
                cycles=link.cycles,
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
                days=conditions.days * workload.iterations,
            )


def _hung(device: Device) -> int:
    """Dies that the channels have taken offline."""
    return sum(count["DIES_OFFLINE"] for count in device.channel_counters())


def _break(link: RtlLink, conditions: Conditions, iteration: int) -> None:
    for block in conditions.broken:
        if block.iteration == iteration:
            link.break_block(block.channel, block.die, block.plane, block.block)
