"""Figures of an iteration: time, throughput, stalls, and the use of each part."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.nodes import Platform
from flashtrain.platform.player import play_iteration
from flashtrain.platform.storage import Kind
from flashtrain.platform.tasks import Part
from flashtrain.platform.timeline import Timeline
from flashtrain.training.sequence import Compute, Operation, TrainingSequence
from flashtrain.training.sequence.loops import with_times

PHASES = (Operation.FORWARD, Operation.BACKWARD)


@dataclass(frozen=True)
class IterationReport:
    """An iteration of `sequence` on `platform`."""

    sequence: TrainingSequence
    platform: Platform
    timeline: Timeline

    @property
    def seconds(self) -> float:
        return self.timeline.seconds

    @property
    def flops(self) -> int:
        """Of all nodes, in the iteration."""
        steps = with_times(self.sequence.iteration, self.sequence.counts)
        return sum(step.flops * times for step, times in steps if isinstance(step, Compute))

    @property
    def flops_per_second(self) -> float:
        return self.flops / self.seconds

    @property
    def stall_share(self) -> float:
        return self.timeline.stall / self.seconds

    @cached_property
    def phases(self) -> dict[str, tuple[float, float]]:
        """From when to when the core has steps of each operation, in seconds; without those of no length."""
        spans: dict[str, tuple[float, float]] = {}
        for interval in self.timeline.on(Part.CORE):
            word = interval.name.split()[0]
            if word in PHASES:
                first, _ = spans.get(word, (interval.start, 0.0))
                spans[word] = first, interval.end
        return {word: (begin, end) for word, (begin, end) in spans.items() if end > begin}

    def use(self, begin: float = 0.0, end: float | None = None) -> dict[str, float]:
        """Shares of the time from `begin` to `end` that each part needs at its bound.

        Transfers that overlap a limit of the time count in proportion.
        """
        end = self.seconds if end is None else end
        serial = {"core": Part.CORE}
        serial |= {f"link: {part}": part for part in (Part.WEIGHTS_IN, Part.GRADIENTS_OUT)}
        shares = {name: self._busy(part, begin, end) / (end - begin) for name, part in serial.items()}
        nodes = {Part.STORAGE: self.platform.activation, Part.WEIGHT_STORAGE: self.platform.weight}
        for part, node in nodes.items():
            moved = {kind: self._moved(f"{part} {kind}", begin, end) for kind in Kind}
            for resource in node.resources():
                needed = sum(seconds * moved[kind] for kind, seconds in resource.seconds_per_byte.items())
                shares[f"{part}: {resource.name}"] = needed / (end - begin)
        return shares

    def _busy(self, part: Part, begin: float, end: float) -> float:
        spans = self.timeline.on(part)
        return sum(max(0.0, min(i.end, end) - max(i.start, begin)) for i in spans)

    def _moved(self, track: str, begin: float, end: float) -> float:
        total = 0.0
        for i in self.timeline.on(track):
            if i.end > i.start:
                inside = max(0.0, min(i.end, end) - max(i.start, begin))
                total += i.bytes * inside / (i.end - i.start)
            elif begin <= i.start < end:
                total += i.bytes
        return total

    def document(self) -> dict[str, Any]:
        return {
            "network": self.sequence.network,
            "storage": self.platform.activation.storage.name,
            "nodes": self.platform.activation_nodes,
            "weight_nodes": self.platform.weight_nodes,
            "seconds": self.seconds,
            "computing_seconds": self.timeline.computing,
            "flops_per_second": self.flops_per_second,
            "batches_per_second": 1 / self.seconds,
            "stalls": dict(self.timeline.stalls),
            "use": {"iteration": self.use(), **{name: self.use(*span) for name, span in self.phases.items()}},
        }

    def text(self) -> str:
        """Several lines."""
        platform, timeline = self.platform, self.timeline
        lines = [
            f"{self.sequence.network} on {platform.activation_nodes} activation and {platform.weight_nodes}"
            f" weight nodes, storage {platform.activation.storage.name}",
            f"iteration   {self.seconds:10.4g} s, of which the core computes {timeline.computing:.4g} s",
            f"throughput  {self.flops_per_second / 1e12:10.1f} TFLOP/s,"
            f" {self.sequence.batch / self.seconds:.4g} examples per second,"
            f" {self.sequence.batch} in the batch",
            f"stall       {self.stall_share:10.1%} of the time",
            *(
                f"  {seconds:10.4g} s  {cause}"
                for cause, seconds in sorted(timeline.stalls.items(), key=lambda item: -item[1])
            ),
            "use of each part at its bound",
            *self._use_lines(),
        ]
        return "\n".join(lines)

    def _use_lines(self) -> list[str]:
        """A table: a column for the iteration and for each phase."""
        columns = {"iteration": self.use(), **{name: self.use(*span) for name, span in self.phases.items()}}
        head = " ".join(f"{name:>10}" for name in columns)
        return [
            f"  {head}",
            *(
                "  " + " ".join(f"{use[name]:10.1%}" for use in columns.values()) + f"  {name}"
                for name in columns["iteration"]
            ),
        ]


def run_iteration(
    sequence: TrainingSequence, platform: Platform, parallel: str = "micro_batch"
) -> IterationReport:
    """Play an iteration; errors as `play_iteration`, and `PlatformError` if it takes no time."""
    timeline = play_iteration(sequence, platform, parallel)
    if not timeline.seconds:
        raise PlatformError(f"an iteration of {sequence.network} takes no time; expected steps that do")
    return IterationReport(sequence, platform, timeline)
