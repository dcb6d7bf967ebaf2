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

from flashtrain.training.data import Dataset
from flashtrain.training.machines import NetworkMachine, check_fits
from flashtrain.training.networks import Network
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.player import Playback, play
from flashtrain.training.reference import TrainingLog
from flashtrain.training.sequence import StreamRole, TrainingSequence, training_sequence
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
    """A training run through the flash: losses, trained weights as the host read them, and traffic."""

    log: TrainingLog
    run: FlashRun


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
) -> FlashTraining:
    """Train as `train_reference` does with the same arguments, with all tensors in `storage`.

    `sequence` is by default the one made for this network, batch size and optimizer, with updates on the
    dies; another must compute the same. (Where the core updates no step is skipped: that is `train_reference`
    with `skip_overflow=False`.) `progress` is called with the number of the iteration, from 1, and its loss
    as soon as it is known; `on_iteration` when everything of the iteration has finished. `lookahead` is the
    player's.
    """
    if sequence is None:
        sequence = training_sequence(network, batch, optimizer)
    check_fits(sequence, network, batch, optimizer)
    machine = NetworkMachine(network, data, optimizer, batch, seed, progress)
    playback = play(sequence, iterations, machine, storage, lookahead, on_iteration)
    return FlashTraining(machine.log(), FlashRun(storage.traffic(), storage.updates(), playback))


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
