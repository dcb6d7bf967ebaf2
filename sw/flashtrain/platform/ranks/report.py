"""Figures of an iteration of several ranks: time by part, bytes of each device and link, bound, life."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.fms import FmsModel
from flashtrain.platform.models import FmsRates, IdealModel
from flashtrain.platform.nodes import Node, Platform
from flashtrain.platform.player import play
from flashtrain.platform.ranks.job import RankJob
from flashtrain.platform.ranks.link import RankLink
from flashtrain.platform.ranks.plan import RankChoices, rank_plan
from flashtrain.platform.ranks.traffic import programmed_bytes
from flashtrain.platform.storage import Kind
from flashtrain.platform.tasks import Part, Task
from flashtrain.platform.timeline import Timeline
from flashtrain.spec.streams import JOURNAL, UPDATE_NODE

FLASH = "flash"
SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class RankReport:
    """An iteration of a job; `node` is that of each rank, and `storage` its flash memory system."""

    job: RankJob
    link: RankLink
    node: Node
    storage: FmsModel | FmsRates
    tasks: tuple[Task, ...]
    timeline: Timeline

    @property
    def seconds(self) -> float:
        return self.timeline.seconds

    @cached_property
    def busy(self) -> Mapping[str, float]:
        """Seconds that each part needs at its bound: core, link, and the busiest part of the flash."""
        moved = {kind: self.timeline.bytes(f"{Part.STORAGE} {kind}") for kind in Kind}
        flash = max(
            sum(seconds * moved[kind] for kind, seconds in resource.seconds_per_byte.items())
            for resource in self.node.resources()
        )
        link = sum(task.seconds for task in self.tasks if task.part is Part.COLLECTIVES)
        return {"core": self.timeline.computing, "link": link, FLASH: flash}

    @cached_property
    def exposed(self) -> Mapping[str, float]:
        """Seconds in which the core waits for the link, and for the flash."""
        stalls = self.timeline.stalls
        link = stalls.get(str(Part.COLLECTIVES), 0.0)
        return {"core": self.timeline.computing, "link": link, FLASH: sum(stalls.values()) - link}

    @property
    def bound(self) -> str:
        """The part that needs the most time."""
        return max(self.busy, key=lambda part: self.busy[part])

    @cached_property
    def device_bytes(self) -> Mapping[str, float]:
        """Bytes between the tensor buffer and the device of rank 0, by what they are; without the record."""
        found: dict[str, float] = {}
        for task in self.tasks:
            if task.part is Part.STORAGE and task.stream != JOURNAL:
                role = "weights" if task.weights_only else task.stream
                name = f"{task.kind} {'gradients' if task.kind is Kind.UPDATE else role}"
                found[name] = found.get(name, 0.0) + task.bytes
        return found

    @property
    def link_bytes(self) -> float:
        """Bytes that each rank sends."""
        collectives = [task for task in self.tasks if task.part is Part.COLLECTIVES]
        once = sum(task.bytes * (2 if task.name.startswith("reduce") else 1) for task in collectives)
        return once * (self.job.ranks - 1) / self.job.ranks

    @property
    def life_days(self) -> float:
        """Days until the blocks of rank 0 have as many erases as the retention classes of their data allow.

        All blocks of a device take the erases evenly (`flashtrain.spec.streams.Retention`).
        """
        config = self.storage.config
        classes = {stream.name: stream.retention for stream in UPDATE_NODE.streams}
        programmed = programmed_bytes(self.job, 0, config, self.storage.program)
        worn = sum(
            count / classes[stream].endurance
            for count, stream in zip(programmed, ("activations", "state_a"), strict=True)
        )
        return self.seconds * config.geometry.capacity_bytes / worn / SECONDS_PER_DAY

    def document(self) -> dict[str, Any]:
        return {
            "network": self.job.name,
            "ranks": self.job.ranks,
            "storage": self.storage.name,
            "seconds": self.seconds,
            "busy_seconds": dict(self.busy),
            "exposed_seconds": dict(self.exposed),
            "bound": self.bound,
            "device_bytes": dict(self.device_bytes),
            "link_bytes": self.link_bytes,
            "life_days": self.life_days,
        }

    def text(self) -> str:
        """Several lines."""
        job, link = self.job, self.link
        head = [
            f"{job.name} on {job.ranks} rank{'s'[: job.ranks - 1]}, storage {self.storage.name};"
            f" link {link.bytes_per_second / 1e9:g} GB/s each way, {link.seconds * 1e6:g} µs",
            f"iteration {self.seconds:.4g} s, bound by the {self.bound}; the flash lasts"
            f" {self.life_days:,.0f} days",
            f"{'part':<6} {'busy s':>10} {'exposed s':>10} {'share':>7}",
        ]
        rows = [
            f"{part:<6} {self.busy[part]:10.4g} {exposed:10.4g} {exposed / self.seconds:7.1%}"
            for part, exposed in self.exposed.items()
        ]
        moved = [f"{count / 1e9:10.3f} GB  {name}" for name, count in self.device_bytes.items()]
        return "\n".join([
            *head, *rows, "of each rank", *moved, f"{self.link_bytes / 1e9:10.3f} GB  sent over the link",
        ])  # fmt: skip


def run_ranks(
    job: RankJob,
    storage: FmsModel | FmsRates,
    link: RankLink | None = None,
    flops_per_second: float = Node().flops_per_second,
    buffer_bytes: float = Node().buffer_bytes,
    choices: RankChoices | None = None,
    erases: bool = True,
) -> RankReport:
    """Play an iteration; the core of each rank has so many FLOP per second.

    `PlatformError` if a device has no room for the state and the activations of its rank. So it is if a step
    needs more than the tensor buffer. erases: as of `play`.
    """
    link, choices = link or RankLink(), choices or RankChoices()
    node = Node(flops_per_second=flops_per_second, buffer_bytes=buffer_bytes, storage=storage)
    _require_fit(job, storage)
    tasks = rank_plan(job, link, flops_per_second, choices)
    platform = Platform(node, Node(storage=IdealModel()))
    return RankReport(job, link, node, storage, tuple(tasks), play(tasks, platform, erases))


def _require_fit(job: RankJob, storage: FmsModel | FmsRates) -> None:
    _, state = programmed_bytes(job, 0, storage.config, storage.program)
    needed = 2 * state + job.saved_bytes
    if needed > storage.capacity_bytes:
        raise PlatformError(
            f"{job.name} stores {needed / 1e9:,.0f} GB on each of {job.ranks} ranks, two generations of state"
            f" included; expected at most {storage.capacity_bytes / 1e9:,.0f} GB, the capacity of storage"
            f" {storage.name}"
        )
