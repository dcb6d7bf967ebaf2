"""The result of training through the flash, beside plain NumPy: as text, and as a document for machines."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from flashtrain.training.data import Examples
from flashtrain.training.flash_training import FlashTraining
from flashtrain.training.losses import Evaluation
from flashtrain.training.networks import Network
from flashtrain.training.player import Playback
from flashtrain.training.reference import TrainingLog
from flashtrain.training.sequence import StreamRole
from flashtrain.training.traffic import Traffic, UpdateTraffic


@dataclass(frozen=True)
class TrainingReport:
    """Results of a run.

    - `begin`: iterations that an earlier run had completed; their losses are not known.
    - `difference`: the first difference between the run through the flash and plain NumPy; "" if every bit is
      the same.
    - `test`: the weights, as read back by the host, on the test examples; `figure` is the name of its text.
    """

    network: str
    iterations: int
    begin: int
    final_loss: float | None
    test: Evaluation
    figure: str
    difference: str
    traffic: dict[StreamRole, Traffic]
    updates: UpdateTraffic | None
    playback: Playback

    @property
    def bit_exact(self) -> bool:
        return not self.difference

    def document(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return {
            "network": self.network,
            "iterations": self.iterations,
            "begin": self.begin,
            "final_loss": self.final_loss,
            "accuracy": self.test.accuracy,
            "test_loss": self.test.loss,
            "bit_exact": self.bit_exact,
            "difference": self.difference,
            "streams": {role.value: asdict(traffic) for role, traffic in self.traffic.items()},
            "updates": update_document(self.updates),
            "player": asdict(self.playback),
        }

    def text(self) -> str:
        """The report in a few lines."""
        verdict = "the same to the last bit" if self.bit_exact else f"DIFFERENT: {self.difference}"
        before = f", {self.begin} of them before" if self.begin else ""
        loss = "" if self.final_loss is None else f", loss {self.final_loss:.4f}"
        known = f", weights and losses from iteration {self.begin + 1} on" if self.begin else ""
        lines = [
            f"{self.network}: {self.iterations} iterations{before}{loss}, {self.figure} {self.test.text}",
            f"compared with plain NumPy: {verdict}{known}",
            f"memory for tensors: {self.playback.peak_bytes:,} bytes at most;"
            f" {self.playback.most_in_flight} transfers in flight at most",
            f"{'stream':12} {'appends':>8} {'bytes':>13} {'stored':>13}"
            f" {'reads':>8} {'bytes':>13} {'resets':>13}",
        ]
        for role, t in self.traffic.items():
            if t == Traffic():
                continue
            resets = f"{t.stream_resets} + {t.zone_resets} zones"
            lines.append(
                f"{role:12} {t.appends:8,} {t.appended_bytes:13,} {t.stored_bytes:13,}"
                f" {t.reads:8,} {t.read_bytes:13,} {resets:>13}"
            )
        return "\n".join([*lines, *update_lines(self.updates)])


def training_report(
    network: Network, test: Examples, result: FlashTraining, reference: TrainingLog
) -> TrainingReport:
    """Compare a run through the flash with `reference`, and measure its figures on `test`."""
    log, begin = result.log, result.begin
    return TrainingReport(
        network=network.name,
        iterations=begin + len(log.losses),
        begin=begin,
        final_loss=log.losses[-1] if log.losses else None,
        test=network.evaluate(log.parameters, test.inputs, test.targets, log.running),
        figure=network.loss.figure,
        difference=first_difference(log, reference, begin),
        traffic=result.run.traffic,
        updates=result.run.updates,
        playback=result.run.playback,
    )


def first_difference(log: TrainingLog, reference: TrainingLog, begin: int = 0) -> str:
    """Where two runs first differ in a bit, in words; "" if nowhere.

    begin: iterations whose losses and digests `log` does not have.
    """
    if begin + len(log.losses) != len(reference.losses):
        return f"{begin + len(log.losses)} iterations, not {len(reference.losses)}"
    reference = replace(reference, losses=reference.losses[begin:], digests=reference.digests[begin:])
    first = begin + 1
    for iteration, (loss, expected) in enumerate(zip(log.losses, reference.losses, strict=True), first):
        if np.float64(loss).tobytes() != np.float64(expected).tobytes():
            return f"loss of iteration {iteration} is {loss!r}, not {expected!r}"
    for iteration, (digest, expected) in enumerate(zip(log.digests, reference.digests, strict=True), first):
        if digest != expected:
            return f"weights at the beginning of iteration {iteration}"
    if log.equals(reference):
        return ""
    kinds = (
        ("trained weights", log.parameters, reference.parameters),
        ("running arrays", log.running, reference.running),
    )
    for kind, got, wanted in kinds:
        for layer, arrays in wanted.items():
            for name, expected in arrays.items():
                array = got.get(layer, {}).get(name)
                if array is None or array.tobytes() != expected.tobytes():
                    return f"{kind} {layer}.{name}"
    return "trained weights of unknown layers"


def update_lines(updates: UpdateTraffic | None) -> list[str]:
    """The updates on the dies, in a few lines; no line if the dies did not update."""
    if updates is None:
        return []
    each = "none"
    if updates.updates:
        tiles = updates.tiles // updates.updates
        each = (
            f"each {updates.parameters // updates.updates:,} parameters in {tiles:,} tiles,"
            f" on {min(tiles, updates.dies)} of {updates.dies} dies"
        )
    lines = [
        f"updates on the dies: {updates.updates:,}, {updates.skips:,} skipped after an overflow; {each}",
        f"  gradients in {updates.gradient_bytes:,} bytes, 16-bit copies out {updates.copy_bytes:,} bytes",
    ]
    if updates.rate is not None and updates.share is not None:
        lines.append(
            f"  {updates.rate / 1e6:,.1f} M parameters/s while updating, {updates.share:.1%} of the bound of"
            f" {updates.bound / 1e6:,.1f} M/s: each of {updates.dies} dies senses and programs all the time"
        )
    return lines


def update_document(updates: UpdateTraffic | None) -> dict[str, Any] | None:
    """The same as plain data, for JSON; rate and bound in parameters per second."""
    if updates is None:
        return None
    return {**asdict(updates), "rate": updates.rate, "bound": updates.bound, "share_of_bound": updates.share}
