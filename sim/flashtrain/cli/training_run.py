"""One training run on a device, with its progress on the console."""

import time
from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.perf.usage import Snapshot, Usage
from flashtrain.training.arrays import unpack
from flashtrain.training.data import Dataset
from flashtrain.training.flash_training import FlashTraining, train_through_flash
from flashtrain.training.losses import Evaluation
from flashtrain.training.networks import Network, Parameters
from flashtrain.training.recipes import Recipe
from flashtrain.training.sequence import TrainingSequence, UpdatePlace, training_sequence
from flashtrain.training.sequence.build import weights_name
from flashtrain.training.tensors import DeviceStorage

from .console import Console
from .run_trace import RunTrace

LINES = 16
"""Lines of a run's table, about."""


@dataclass(frozen=True)
class TrainingRun:
    """The result, the work of the device for it, and the cost of the simulation.

    cycles: simulated from the first to the last command; wall_seconds: of the same; evaluations: (iteration,
    figures of the test examples), as shown.
    """

    training: FlashTraining
    usage: Usage
    cycles: int
    wall_seconds: float
    evaluations: list[tuple[int, Evaluation]]

    @property
    def cycles_per_second(self) -> float:
        return self.cycles / self.wall_seconds


def run_training(
    recipe: Recipe, data: Dataset, seed: int, place: UpdatePlace, device: Device, trace: RunTrace,
    console: Console, evaluate: int | None = None, resume: bool = False, overlap: bool = False,
) -> TrainingRun:  # fmt: skip
    """Train as `recipe` says with all tensors on `device`, and trace it.

    evaluate: iterations from one evaluation to the next; None: about `LINES` in the run.
    resume: go on with the run whose tensors the device has recovered.

    overlap: the dies update each layer as soon as it has its gradient.
    """
    storage = DeviceStorage.on(device)
    sequence = training_sequence(recipe.network, recipe.batch, recipe.optimizer, place, overlap)
    progress = _ProgressTable(recipe, data, device, storage, sequence, console, evaluate)
    before, first_cycle, started = Snapshot.of(device), device.cycles, time.monotonic()
    progress.begin()
    trace.start(device)
    trace.before_iteration(1)

    def on_iteration(iteration: int) -> None:
        trace.after_iteration(iteration)
        progress.show(iteration)
        trace.before_iteration(iteration + 1)

    training = train_through_flash(
        recipe.network, data, recipe.optimizer, recipe.batch, recipe.iterations, seed, storage,
        sequence, progress=progress.note_loss, on_iteration=on_iteration, resume=resume,
        policy=recipe.policy, on_running=progress.note_running,
    )  # fmt: skip
    trace.stop()
    return TrainingRun(
        training=training,
        usage=Snapshot.of(device).since(before),
        cycles=device.cycles - first_cycle,
        wall_seconds=time.monotonic() - started,
        evaluations=progress.evaluations,
    )


class _ProgressTable:
    """A line now and then, and the loss of every iteration as progress."""

    def __init__(
        self, recipe: Recipe, data: Dataset, device: Device, storage: DeviceStorage,
        sequence: TrainingSequence, console: Console, evaluate: int | None,
    ) -> None:  # fmt: skip
        self._recipe = recipe
        self._data = data
        self._device = device
        self._storage = storage
        self._sequence = sequence
        self._console = console
        self._evaluate = evaluate
        self._losses: dict[int, float] = {}
        self._running: dict[int, Parameters] = {}
        self._started, self._first_cycle = time.monotonic(), device.cycles
        self.evaluations: list[tuple[int, Evaluation]] = []

    def begin(self) -> None:
        self._started, self._first_cycle = time.monotonic(), self._device.cycles
        figure = self._recipe.network.loss.figure
        self._console.say(
            f"{'iteration':>9}  {'loss':>8}  {self._test_loss('test loss')}{figure:>8}"
            f"  {'simulated':>12}  {'wall':>8}"
        )

    def note_loss(self, iteration: int, loss: float) -> None:
        self._losses[iteration] = loss

    def note_running(self, iteration: int, running: Parameters) -> None:
        self._running[iteration] = running

    def show(self, iteration: int) -> None:
        """All of `iteration` has finished."""
        last, running = self._recipe.iterations, self._running.pop(iteration)
        if not self._is_evaluated(iteration):
            self._console.progress(
                f"iteration {iteration} of {last}, loss {self._losses[iteration]:.4f},"
                f" {self._simulated()} simulated in {self._wall()}"
            )
            return
        found = self._evaluation(running)
        self.evaluations.append((iteration, found))
        self._console.say(
            f"{iteration:9}  {self._losses[iteration]:8.4f}  {self._test_loss(f'{found.loss:.4f}')}"
            f"{found.text:>8}  {self._simulated():>12}  {self._wall():>8}"
        )

    def _is_evaluated(self, iteration: int) -> bool:
        last = self._recipe.iterations
        if self._evaluate is not None:
            return iteration % self._evaluate == 0 or iteration == last
        return iteration % max(1, last // LINES) == 0 or iteration in (1, last)

    def _test_loss(self, text: str) -> str:
        """Its column, if evaluations were asked for and the figure beside it is another."""
        shown = self._evaluate is not None and self._recipe.network.loss.figure != "error"
        return f"{text:>9}  " if shown else ""

    def _simulated(self) -> str:
        seconds = (self._device.cycles - self._first_cycle) / self._device.config.timing.clock_hz
        return f"{seconds * 1e3:.2f} ms" if seconds else "-"

    def _wall(self) -> str:
        return f"{time.monotonic() - self._started:.1f} s"

    def _evaluation(self, running: Parameters) -> Evaluation:
        """Of the test examples, with the weights as they lie in the flash now."""
        network, test = self._recipe.network, self._data.test
        parameters = stored_parameters(network, self._sequence, self._storage)
        return network.evaluate(parameters, test.inputs, test.targets, running)


def stored_parameters(network: Network, sequence: TrainingSequence, storage: DeviceStorage) -> Parameters:
    """The current weights, read by the core; not counted as traffic of the training."""
    shapes = {name: layer.parameter_shapes() for name, layer in network.layers if layer.parameter_shapes()}
    vectors = {layer: storage.peek(sequence.by_name[weights_name(layer)]) for layer in shapes}
    return {layer: unpack(vector, shapes[layer]) for layer, vector in vectors.items()}
