"""The workload `replay`: the traffic of a training run on a device, with made-up data that are compared."""

from collections.abc import Mapping
from dataclasses import dataclass

from flashtrain.host import open_device
from flashtrain.perf.usage import Snapshot
from flashtrain.spec.limits import integer
from flashtrain.sweep.limits import Options, Value, choice, members
from flashtrain.sweep.point import Point, Workload
from flashtrain.training.flash_training import replay
from flashtrain.training.recipes import RECIPES, Recipe
from flashtrain.training.sequence import TrainingSequence, UpdatePlace, training_sequence
from flashtrain.training.sequence.fit import require_fit
from flashtrain.training.tensors import DeviceStorage

from .device import memory_bytes
from .links import LINKS


@dataclass(frozen=True)
class ReplayOptions(Options):
    """The training run; see each field's limits."""

    network: Recipe = choice(RECIPES, "mlp", "of the training run")
    batch: int = integer(1, 1 << 20, "", "examples of an iteration", 32)
    update: UpdatePlace = choice(members(UpdatePlace), "die", "place of the optimizer steps")
    iterations: int = integer(1, 1 << 20, "", "of the training run", 4)


def _sequence(options: ReplayOptions) -> TrainingSequence:
    recipe = options.network
    return training_sequence(recipe.network, options.batch, recipe.optimizer, options.update)


def _check(point: Point) -> None:
    options = point.options
    assert isinstance(options, ReplayOptions)
    sequence = _sequence(options)
    require_fit(sequence, options.iterations, point.config, sequence.update.node)


def _measure(point: Point) -> Mapping[str, Value]:
    options, config = point.options, point.config
    assert isinstance(options, ReplayOptions)
    sequence = _sequence(options)
    link = LINKS[point.link]
    with open_device(config, link.factory, sequence.update.node, memory_bytes(config)) as device:
        before = Snapshot.of(device)
        run = replay(sequence, options.iterations, DeviceStorage.on(device))
        usage = Snapshot.of(device).since(before)
    return {
        "appended_bytes": sum(traffic.appended_bytes for traffic in run.traffic.values()),
        "read_bytes": sum(traffic.read_bytes for traffic in run.traffic.values()),
        "cycles": usage.cycles if link.timed else None,
        "simulated_seconds": usage.seconds if link.timed else None,
    }


REPLAY = Workload(
    "flashtrain sequence replay: traffic of a training run",
    _measure,
    links=tuple(LINKS),
    options=ReplayOptions,
    check=_check,
)
