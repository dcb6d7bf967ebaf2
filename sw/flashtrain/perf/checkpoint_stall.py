"""Checkpoints of whole iterations: their rate beside that of the same iterations without checkpoints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from flashtrain.checkpoint import AppendedCheckpoints, CopyOut, PinEveryCommit, Retention, prune
from flashtrain.host import Device, OptimizerState
from flashtrain.training.commits import PLAIN, Commits
from flashtrain.training.flash_training import replay

from .busy_storage import BusyStorage
from .iteration_sequence import FRACTION, iteration_sequence
from .measurement import Measurement
from .training_iteration import SETTLE, IterationBound, tile_of

PIN_ASKED = 0.995
"""Of the rate without checkpoints."""
ROUNDS = 2
"""Zones of activations that are filled in each way."""
_MANIFEST_BLOCKS = 4


@dataclass
class CopiedPins(PinEveryCommit):
    """Pins each generation, and copies it off the device while the next step is on its way.

    waits: commits that had to wait for the copy before, because its pin ends.
    """

    device: Device
    waits: int = 0
    under_way: CopyOut | None = None

    def commit(self, state: OptimizerState, host: bytes) -> None:
        self.finish()
        super().commit(state, host)
        self.under_way = CopyOut(self.device, state, state.current)
        self.under_way.advance()

    def advance(self) -> None:
        if self.under_way is not None:
            self.under_way.advance()

    def finish(self) -> None:
        """Wait for the copy that is under way; what it holds then is complete."""
        if self.under_way is not None:
            self.waits += not self.under_way.done
            self.under_way.result()
            self.under_way = None


@dataclass
class AppendedState:
    """Commits of a training whose state is in the host's memory as well, and is appended in each step.

    A stream of checkpoints holds the last one and the one that is being saved.
    """

    device: Device
    arrays: Mapping[str, np.ndarray]
    steps: int = 0
    store: AppendedCheckpoints = field(init=False)

    def __post_init__(self) -> None:
        self.store = AppendedCheckpoints(self.device)

    def commit(self, state: OptimizerState, host: bytes) -> None:
        PLAIN.commit(state, host)
        self.store.wait()
        prune(self.store, Retention(last=1))
        self.steps += 1
        self.store.save_async(str(self.steps), self.steps, self.arrays)

    def host(self, state: OptimizerState) -> bytes:
        return PLAIN.host(state)

    def advance(self) -> None:
        self.store.advance()


@dataclass(frozen=True)
class Iterations:
    """Iterations in the steady state: their number, and cycles."""

    count: int
    cycles: int

    @property
    def each(self) -> float:
        return self.cycles / self.count


def iterations(
    device: Device, commits: Commits, quick: bool, advance: Callable[[], None] = lambda: None
) -> Iterations:
    """Play the sequence of `training_iteration` with these commits."""
    count = FRACTION * (1 if quick else ROUNDS)
    marks: list[int] = []

    def note(iteration: int) -> None:
        if iteration in (SETTLE, SETTLE + count):
            marks.append(device.cycles)

    storage = BusyStorage(device, commits, advance)
    sequence = iteration_sequence(device.config, tile_of(device.config))
    replay(sequence, SETTLE + count, storage, on_iteration=note)
    begin, end = marks
    return Iterations(count, end - begin)


def checkpoint_stall(device: Device, quick: bool = False) -> Measurement:
    """Iterations per second of a training that pins each generation."""
    without = iterations(device, PLAIN, quick)
    pinned = iterations(device, PinEveryCommit(), quick)
    stall = pinned.each / without.each - 1
    return _measured(
        device, without, pinned, f"a pin in each iteration costs {stall:+.3%}",
        asked=f"at least {PIN_ASKED:.1%} of the rate without checkpoints", met=stall <= 1 / PIN_ASKED - 1,
    )  # fmt: skip


def checkpoint_copy_out(device: Device, quick: bool = False) -> Measurement:
    """Iterations per second of a training that pins each generation, and copies it off the device."""
    without = iterations(device, PLAIN, quick)
    copied = CopiedPins(device)
    pinned = iterations(device, copied, quick, copied.advance)
    copied.finish()
    stall = pinned.each / without.each - 1
    note = f"a pin and its copy in each iteration cost {stall:+.3%}; {copied.waits} copies were waited for"
    return _measured(device, without, pinned, note)


def checkpoint_append(device: Device, quick: bool = False) -> Measurement:
    """Iterations per second of a training whose host appends as much state in each, as to a fast SSD."""
    without = iterations(device, PLAIN, quick)
    g, tile = device.config.geometry, tile_of(device.config)
    stream = device.stream("trained")
    # The last checkpoint and the next one have room beside each other, with a few blocks for their manifests.
    most = stream.zone_capacity * (stream.zones - 1) // 2 - _MANIFEST_BLOCKS
    words = min(tile.arrays * tile.parameters * g.pages * g.channels * g.dies, most * g.page_bytes // 4)
    appended = AppendedState(device, {"state": np.random.default_rng(0).random(words, np.float32)})
    with_appends = iterations(device, appended, quick, appended.advance)
    appended.store.wait()
    stall = with_appends.each / without.each - 1
    return _measured(device, without, with_appends, f"the append of {4 * words:,} bytes costs {stall:+.3%}")


def _measured(
    device: Device, without: Iterations, with_checkpoints: Iterations, note: str, asked: str = "",
    met: bool | None = None,
) -> Measurement:  # fmt: skip
    clock_hz = device.config.timing.clock_hz
    return Measurement(
        value=clock_hz / with_checkpoints.each,
        unit="1/s",
        bound=clock_hz / IterationBound.on(device.config).cycles,
        cycles=with_checkpoints.cycles,
        asked=asked,
        met=met,
        note=f"{note}; iterations of {with_checkpoints.each:,.0f} cycles, {without.each:,.0f} without",
    )
