"""Training in which every tensor lives in flash.

The training loop is the player of the training command sequence:

- The host appends batches of inputs, and reads the trained weights at the end.
- The core reads the inputs. It appends activations in the forward pass, and reads them in reverse in the
  backward pass. It sends gradients to the dies and appends the trained weights.
- The dies update weights and optimizer state. Alternatively the core updates: it reads and supersedes both.

Between two uses, no part of a tensor stays in memory. The arithmetic is that of `reference.train_reference`,
so the results must be equal to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass

from flashtrain.host import StateMissing
from flashtrain.training.data import Dataset
from flashtrain.training.errors import PositionError
from flashtrain.training.machines import NetworkMachine, check_fits
from flashtrain.training.networks import Network, Parameters
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.player import Playback, play
from flashtrain.training.reference import TrainingLog
from flashtrain.training.run_identity import RunIdentity
from flashtrain.training.run_position import RunPosition
from flashtrain.training.sequence import StreamRole, TrainingSequence, training_sequence
from flashtrain.training.step_policy import StepPolicy
from flashtrain.training.synthetic import SyntheticMachine
from flashtrain.training.tensors import DeviceStorage
from flashtrain.training.traffic import Traffic, UpdateTraffic


@dataclass(frozen=True)
class FlashRun:
    """A run: traffic by stream, updates on the dies (if any), and the statistics of the player."""

    traffic: dict[StreamRole, Traffic]
    updates: UpdateTraffic | None
    playback: Playback


@dataclass(frozen=True)
class FlashTraining:
    """A training run through the flash: losses, trained weights as the host read them, and traffic.

    begin: the iterations that were complete before; losses and traffic are those after them.
    """

    log: TrainingLog
    run: FlashRun
    begin: int = 0


def train_through_flash(
    network: Network,
    data: Dataset,
    optimizer: Optimizer,
    batch: int,
    iterations: int,
    seed: int,
    storage: DeviceStorage,
    sequence: TrainingSequence | None = None,
    lookahead: int | None = None,
    progress: Callable[[int, float], None] = lambda iteration, loss: None,
    on_iteration: Callable[[int], None] = lambda iteration: None,
    resume: bool = False,
    policy: StepPolicy = StepPolicy(),
    on_running: Callable[[int, Parameters], None] = lambda iteration, running: None,
) -> FlashTraining:
    """Train as `train_reference` does with the same arguments, with all tensors in `storage`.

    `sequence` is by default the one made for this network, batch size and optimizer, with updates on the
    dies; another must compute the same. (Where the core updates no step is skipped: that is `train_reference`
    with `skip_overflow=False`.) `progress` is called with the number of the iteration, from 1, and its loss
    as soon as it is known; `on_iteration` when everything of the iteration has finished. `on_running` gets
    the running arrays when `progress` gets the loss. `lookahead` is the player's.

    `resume`: go on with the same run, which a loss of power has cut, after the recovery of its device. The
    result has the same bits. A run that was cut before its first weights were stored begins anew. Inputs and
    trained weights that the device has recovered are dropped, unless their stream has a note.
    `PositionError` if the weights are not on the dies, or were stored by something else. So it is after a run
    with another seed, batch, network, optimizer or policy.
    """
    if sequence is None:
        sequence = training_sequence(network, batch, optimizer)
    check_fits(sequence, network, batch, optimizer)
    policy.check(optimizer, sequence.update, sequence.overlaps)
    found = _attach(sequence, storage) if resume else None
    if found is not None and found.iterations:
        RunIdentity.of(network, optimizer, batch, seed, policy, sequence.overlaps).require(found.run)
    position = RunPosition() if found is None else found
    machine = NetworkMachine(
        network, data, optimizer, batch, seed, progress, position, policy, on_running, sequence.overlaps
    )
    storage.host_state = lambda: machine.position().pack()
    left = max(0, iterations - position.iterations)
    playback = play(
        sequence, iterations if found is None else left, machine, storage, lookahead,
        lambda iteration: on_iteration(position.iterations + iteration), resumed=found is not None,
    )  # fmt: skip
    run = FlashRun(storage.traffic(), storage.updates(), playback)
    return FlashTraining(machine.log(), run, position.iterations)


def _attach(sequence: TrainingSequence, storage: DeviceStorage) -> RunPosition | None:
    """The position of the run whose state the device has recovered; None if it has none."""
    state = sequence.unrolled().state
    if state is None:
        raise PositionError("a run whose core updates keeps its weights in a volatile stream; expected die")
    tensors = [sequence.by_name[name] for name in state.tensors]
    try:
        note = storage.attach(tensors, state.program, state.port)
    except StateMissing:
        return None
    # The first generation has no note: no iteration was complete.
    return RunPosition.unpack(note) if note else RunPosition()


def replay(
    sequence: TrainingSequence,
    iterations: int,
    storage: DeviceStorage,
    lookahead: int | None = None,
    on_iteration: Callable[[int], None] = lambda iteration: None,
) -> FlashRun:
    """Carry out the traffic of `sequence` with made-up data, and check what comes back (`ReplayError`).

    Nothing is computed, so the network that the sequence was made for need not exist.
    """
    sequence = sequence.unrolled()
    playback = play(sequence, iterations, SyntheticMachine(sequence), storage, lookahead, on_iteration)
    return FlashRun(storage.traffic(), storage.updates(), playback)
