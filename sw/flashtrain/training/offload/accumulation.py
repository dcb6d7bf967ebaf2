"""Gradient accumulation beside a storage that holds the optimizer's state: vertical and horizontal.

A batch is so many *micro-batches*. *Horizontal*: each goes through all layers and back before the next one,
as in ZeRO-Infinity (SC'21). *Vertical*: a layer takes all micro-batches before the next layer begins, as in
GreedySnake (arXiv 2512.17570). So weights come twice in an iteration and not twice for each micro-batch.
Gradients are summed in memory, and a layer's step follows its backward pass.

Both save what enters a layer, its *boundary*, and compute a layer's forward pass again in the backward pass.
GreedySnake defers a share of each step to the next forward pass.

Assumptions, ours where the paper is not named:

- A layer is the run of operations whose names have the same parts up to a number; all layers have equally
  many parameters. A network without such names is one layer.
- Weights, gradients and both moments of Adam have FP32, as in `network.STATE_BYTES`.
- Computing, reads and writes of a layer overlap wholly, without latencies; a layer takes the longest of them.
  Parts that reads and writes share take the sum of both.
- All micro-batches of a boundary go to the storage and back: the last one is not kept for the next layer.
  The same holds for the gradients of boundaries.
- There is one memory, and no host memory behind it. A layer needs there what one micro-batch saves in it,
  three boundaries, its state, and weights and gradients of the next layer. The rest holds boundaries,
  gradients or state, in the order that is fastest. The paper's linear program chooses this, and the share
  that is deferred.
- The batch has a power of two of micro-batches. No codec; the step's arithmetic is that of the profile,
  behind the backward pass.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.offload.network import FLOAT_BYTES, STATE_BYTES, UPDATE
from flashtrain.training.offload.profile import Profile, ProfiledOperation
from flashtrain.training.offload.storage import Storage

Batches = Callable[[int], Profile]
"""The profile of a network at each batch."""

DEFERRED = tuple(tenths / 10 for tenths in range(11))
"""Shares of a step that the vertical schedule may defer to the next forward pass."""

STEP_BYTES = STATE_BYTES - FLOAT_BYTES
"""Read and written for a parameter by a step: weight and moments."""

_SAME = 1e-9
"""Shares of the time that count as none."""


@dataclass(frozen=True)
class Layer:
    """A layer, for one micro-batch.

    - `forward`, `backward`: seconds of its operations.
    - `boundary`: bytes that enter it from layers before, as far as they are saved.
    - `inside`: bytes that its forward pass saves.
    """

    forward: float
    backward: float
    boundary: int
    inside: int


@dataclass(frozen=True)
class Accumulation:
    """An iteration of a schedule.

    - `micro_batches`: of the batch; `deferred`: share of the step in the next forward pass.
    - `seconds`: of an iteration; `peak_bytes`: of memory.
    - `written_bytes`, `read_bytes`: on the storage in an iteration.
    """

    micro_batches: int
    deferred: float
    seconds: float
    peak_bytes: int
    written_bytes: float
    read_bytes: float


def layers_of(profile: Profile) -> tuple[Layer, ...]:
    """The layers of a network, the first one first, without the optimizer's step."""
    count = profile.forward_operations
    forward = profile.operations[:count]
    backward = [each for each in profile.operations[count:] if each.name != UPDATE][::-1]
    firsts, names = _runs(forward)
    seconds = dict.fromkeys(names, 0.0)
    for name, operation in zip(_names(backward), backward, strict=True):
        seconds[name if name in seconds else names[0]] += operation.seconds
    ends = [*firsts[1:], count]
    return tuple(
        Layer(
            sum(operation.seconds for operation in forward[first:end]),
            seconds[name],
            sum(t.bytes for t in profile.tensors if t.made < first <= t.last_forward),
            sum(t.bytes for t in profile.tensors if first <= t.made < end),
        )
        for name, first, end in zip(names, firsts, ends, strict=True)
    )


def _runs(operations: tuple[ProfiledOperation, ...]) -> tuple[list[int], list[str]]:
    """The first operation of each layer, and the layers' names."""
    names = list(dict.fromkeys(_names(operations)))
    every = list(_names(operations))
    return [every.index(name) for name in names], names


def _names(operations: list[ProfiledOperation] | tuple[ProfiledOperation, ...]) -> Iterator[str]:
    """The layer of each operation: its name up to a number; without one, that of the operation before."""
    name = ""
    for operation in operations:
        parts = operation.name.split(".")
        number = next((index for index, part in enumerate(parts) if part.isdecimal()), None)
        if number is not None:
            name = ".".join(parts[: number + 1])
        yield name


@dataclass(frozen=True)
class _Kept:
    """Data that the memory or the storage holds: `bytes`, and their traffic in each phase, [phase]."""

    bytes: float
    reads: NDArray[np.float64]
    writes: NDArray[np.float64]


@dataclass(frozen=True)
class _Phases:
    """Phases that follow each other: seconds of computing, how often each comes, and what is kept."""

    computing: NDArray[np.float64]
    count: NDArray[np.float64]
    kept: tuple[_Kept, ...]


def vertical(batches: Batches, batch: int, storage: Storage) -> Accumulation | None:
    """The fastest iteration of GreedySnake's schedule; None if no micro-batch fits the memory."""
    return _fastest(batches, batch, storage, _vertical_phases, DEFERRED)


def horizontal(batches: Batches, batch: int, storage: Storage) -> Accumulation | None:
    """The fastest iteration with one micro-batch after the other; None if none fits the memory."""
    return _fastest(batches, batch, storage, _horizontal_phases, (0.0,))


def _vertical_phases(
    layers: tuple[Layer, ...], micro_batches: int, parameters: float, deferred: float
) -> _Phases:
    forward, backward, boundary = _columns(layers, micro_batches)
    entered = np.append(boundary[1:], 0.0)  # What the next layer is given.
    none, each = np.zeros_like(boundary), np.ones_like(boundary) * parameters
    weights, step, gradient = FLOAT_BYTES * each, STEP_BYTES * each, FLOAT_BYTES * each
    later, now = deferred, 1 - deferred
    return _Phases(
        np.concatenate([forward, forward + backward]),
        np.ones(2 * len(layers)),
        (
            _Kept(boundary.sum(), np.concatenate([boundary, boundary]), np.concatenate([entered, none])),
            # The gradients of two boundaries: those that a layer is given, and those that it gives.
            _Kept(2 * boundary.max(), np.concatenate([none, entered]), np.concatenate([none, boundary])),
            _Kept(
                (step + later * gradient).sum(),
                np.concatenate([weights + later * (step + gradient), weights + now * step]),
                np.concatenate([later * step, now * step + later * gradient]),
            ),
        ),
    )


def _horizontal_phases(
    layers: tuple[Layer, ...], micro_batches: int, parameters: float, deferred: float
) -> _Phases:
    """Forward passes, the backward pass of the first micro-batch, those of all others, and the step."""
    forward, backward, boundary = _columns(layers, 1)
    entered = np.append(boundary[1:], 0.0)
    none, each = np.zeros_like(boundary), np.ones_like(boundary) * parameters
    weights, step, gradient = FLOAT_BYTES * each, STEP_BYTES * each, FLOAT_BYTES * each
    once = np.ones(len(layers))
    return _Phases(
        np.concatenate([forward, forward + backward, forward + backward, none]),
        np.concatenate([micro_batches * once, once, (micro_batches - 1) * once, once]),
        (
            _Kept(
                boundary.sum(),
                np.concatenate([none, boundary, boundary, none]),
                np.concatenate([entered, none, none, none]),
            ),
            _Kept(
                gradient.sum(),
                np.concatenate([none, none, gradient, gradient]),
                np.concatenate([none, gradient, gradient, none]),
            ),
            _Kept(
                step.sum(),
                np.concatenate([weights, weights, weights, step]),
                np.concatenate([none, none, none, step]),
            ),
        ),
    )


def _columns(layers: tuple[Layer, ...], micro_batches: int) -> tuple[NDArray[np.float64], ...]:
    """Seconds of both passes, and bytes of the boundary, for all micro-batches of each layer."""
    table = np.array([(each.forward, each.backward, each.boundary) for each in layers], np.float64)
    return tuple(micro_batches * table.T)


def _fastest(
    batches: Batches,
    batch: int,
    storage: Storage,
    phases_of: Callable[[tuple[Layer, ...], int, float, float], _Phases],
    shares: tuple[float, ...],
) -> Accumulation | None:
    """The fastest of all numbers of micro-batches, shares and orders."""
    one, two = (batches(size).resident_bytes for size in (1, 2))
    state, best = 2 * one - two, None
    for micro_batches in (1 << power for power in range(batch.bit_length())):
        if batch % micro_batches:
            break
        profile = batches(batch // micro_batches)
        layers = layers_of(profile)
        parameters = state / STATE_BYTES / len(layers)
        working = profile.resident_bytes - state + _working_bytes(layers, parameters)
        if working > storage.memory_bytes:
            continue
        step = sum(each.seconds for each in profile.operations if each.name == UPDATE)
        for deferred in shares:
            phases = phases_of(layers, micro_batches, parameters, deferred)
            for order in permutations(range(len(phases.kept))):
                found = _played(phases, order, storage, working, step, micro_batches, deferred)
                if best is None or _better(found, best):
                    best = found
    return best


def _better(one: Accumulation, other: Accumulation) -> bool:
    """Whether one is faster, or as fast with fewer bytes written."""
    if abs(one.seconds - other.seconds) > _SAME * other.seconds:
        return one.seconds < other.seconds
    return one.written_bytes < other.written_bytes * (1 - _SAME)


def _working_bytes(layers: tuple[Layer, ...], parameters: float) -> float:
    """Memory for a layer: what it saves, three boundaries, its state, weights and gradients of the next."""
    saved = max(layer.inside for layer in layers) + 3 * max(layer.boundary for layer in layers)
    return saved + (STATE_BYTES + 2 * FLOAT_BYTES) * parameters


def _played(
    phases: _Phases,
    order: tuple[int, ...],
    storage: Storage,
    working: float,
    step: float,
    micro_batches: int,
    deferred: float,
) -> Accumulation:
    """An iteration in which the free memory holds what is kept in this order, as far as it reaches."""
    free, reads, writes = storage.memory_bytes - working, 0.0, 0.0
    for index in order:
        kept = phases.kept[index]
        inside = min(free, kept.bytes)
        outside = 1 - inside / kept.bytes if kept.bytes else 0.0
        free -= inside
        reads, writes = reads + outside * kept.reads, writes + outside * kept.writes
    times = [phases.computing, reads / storage.read_bytes_per_second, writes / storage.write_bytes_per_second]
    times += [
        reads / part.read_bytes_per_second + writes / part.write_bytes_per_second for part in storage.shared
    ]
    if storage.port_bytes_per_second is not None:
        times += [moved / storage.port_bytes_per_second for moved in (reads, writes)]
    return Accumulation(
        micro_batches,
        deferred,
        float(phases.count @ np.max(times, axis=0)) + step,
        int(storage.memory_bytes - free),
        float((phases.count * writes).sum()),
        float((phases.count * reads).sum()),
    )
