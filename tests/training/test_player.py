"""The player: results independent of the storage's timing, overlap where allowed, memory that is let go."""

import random
from dataclasses import replace

import numpy as np
import pytest

from flashtrain.spec import Port
from flashtrain.training.errors import ReplayError, SequenceError, ShapeError
from flashtrain.training.machines import NetworkMachine, SyntheticMachine, check_fits
from flashtrain.training.networks import NETWORKS, convnet, mlp
from flashtrain.training.optimizers import OPTIMIZERS, SGD, Adam
from flashtrain.training.player import play
from flashtrain.training.reference import train_reference
from flashtrain.training.sequence import Append, Operation, Read, Reset, training_sequence


class Arrival:
    def __init__(self, storage, action):
        self.storage = storage
        self.action = action
        self.value = None
        self.done = False

    def result(self):
        while not self.done:
            self.storage.something_happens()
        return self.value

    def finish(self):
        self.value = self.action()
        self.done = True


class RandomStorage:
    """Keeps tensors in memory; waiting for a result lets what is under way take effect in random order."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.stored = {}
        self.under_way = []
        self.calls = []

    def something_happens(self):
        self.under_way.pop(self.random.randrange(len(self.under_way))).finish()

    def start(self, call, action):
        self.calls.append(call)
        arrival = Arrival(self, action)
        self.under_way.append(arrival)
        return arrival

    def append(self, tensor, array, port):
        def store():
            self.stored[tensor.name] = (tensor.stream, array.copy())

        return self.start(("append", tensor.name, port), store)

    def read(self, tensor, port):
        return self.start(("read", tensor.name, port), lambda: self.stored[tensor.name][1].copy())

    def reset(self, stream, port):
        def drop():
            for name in [name for name, (where, _) in self.stored.items() if where == stream]:
                del self.stored[name]

        return self.start(("reset", stream, port), drop)


def silent(iteration, loss):
    """No progress."""


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("lookahead", [1, 7, None])
def test_training_equals_the_reference_whatever_the_timing(network, optimizer, lookahead, data):
    network, optimizer = NETWORKS[network](), OPTIMIZERS[optimizer]
    seed = random.randrange(1 << 32)
    print("seed", seed)
    machine = NetworkMachine(network, data, optimizer, 16, seed=3, progress=silent)
    storage = RandomStorage(seed)
    play(training_sequence(network, 16, optimizer), 4, machine, storage, lookahead)
    assert machine.log().equals(train_reference(network, data, optimizer, 16, 4, seed=3))
    assert {name.split("/")[0] for name in storage.stored} <= {"input", "weights", "state", "trained"}


def test_steps_one_by_one_are_in_the_order_of_the_sequence():
    sequence = training_sequence(mlp(4), 8, Adam())
    storage = RandomStorage(0)
    playback = play(sequence, 2, SyntheticMachine(sequence), storage, lookahead=1)
    expected = []
    for step in sequence.steps(2):
        match step:
            case Append():
                expected.append(("append", step.tensor, step.port))
            case Read():
                expected.append(("read", step.tensor, step.port))
            case Reset():
                expected.append(("reset", step.stream, step.port))
    assert storage.calls == expected
    assert playback.most_in_flight == 1
    assert playback.steps == len(sequence.steps(2))


def test_the_next_batch_is_on_its_way_before_the_iteration_ends():
    sequence = training_sequence(mlp(4), 8, Adam())
    storage = RandomStorage(0)
    playback = play(sequence, 3, SyntheticMachine(sequence), storage)
    images = [i for i, call in enumerate(storage.calls) if call[:2] == ("append", "input/images")]
    resets = [i for i, call in enumerate(storage.calls) if call[0] == "reset"]
    assert images[1] < resets[0]
    assert images[2] < resets[1]
    assert playback.most_in_flight > 4


def test_iterations_are_announced_in_order():
    sequence = training_sequence(mlp(4), 8, SGD())
    seen = []
    play(sequence, 3, SyntheticMachine(sequence), RandomStorage(1), on_iteration=seen.append)
    assert seen == [1, 2, 3]


def test_memory_holds_a_small_part_of_the_tensors():
    sequence = training_sequence(convnet(), 64, Adam())
    everything = sum(tensor.spec.bytes for tensor in sequence.tensors)
    playback = play(sequence, 2, SyntheticMachine(sequence), RandomStorage(1), lookahead=1)
    largest = max(tensor.spec.bytes for tensor in sequence.tensors)
    assert largest <= playback.peak_bytes < everything / 2


class ForgetfulStorage(RandomStorage):
    """Returns the tensor `name` with one bit flipped."""

    def __init__(self, name):
        super().__init__(0)
        self.name = name

    def read(self, tensor, port):
        if tensor.name != self.name:
            return super().read(tensor, port)

        def flip():
            array = self.stored[tensor.name][1].copy()
            array.reshape(-1).view(np.uint8)[5] ^= 1
            return array

        return self.start(("read", tensor.name, port), flip)


@pytest.mark.parametrize(
    "name", ["input/images", "activation/hidden/x", "weights/output", "state/hidden/v", "trained/output"]
)
def test_a_replay_notices_one_wrong_bit(name):
    sequence = training_sequence(mlp(4), 8, Adam())
    with pytest.raises(
        ReplayError, match=rf"{name}, version 0: 1 of \d+ bytes came back wrong, the first at 5"
    ):
        play(sequence, 1, SyntheticMachine(sequence), ForgetfulStorage(name))


@pytest.mark.parametrize(
    "name", ["input/labels", "activation/relu/positive", "weights/output", "state/output/m", "trained/output"]
)
def test_training_learns_from_what_the_storage_returns(name, data):
    """One bit wrong in the storage changes the result: the machine has no hidden copy of a tensor."""
    network, optimizer = mlp(8), Adam()
    machine = NetworkMachine(network, data, optimizer, 16, seed=3, progress=silent)
    play(training_sequence(network, 16, optimizer), 4, machine, ForgetfulStorage(name))
    assert not machine.log().equals(train_reference(network, data, optimizer, 16, 4, seed=3))


def test_a_storage_that_returns_another_shape_is_noticed():
    class Reshaping(RandomStorage):
        def read(self, tensor, port):
            return self.start(("read", tensor.name, port), lambda: self.stored[tensor.name][1].reshape(-1))

    sequence = training_sequence(mlp(4), 8, Adam())
    with pytest.raises(ShapeError, match=r"input/images: expected float32\[8, 8, 8\], got float32\[512\]"):
        play(sequence, 1, SyntheticMachine(sequence), Reshaping(0))


@pytest.mark.parametrize(("iterations", "lookahead"), [(0, None), (1, 0)])
def test_nothing_to_play_is_refused(iterations, lookahead):
    sequence = training_sequence(mlp(4), 8, Adam())
    with pytest.raises(SequenceError, match="expected at least 1, got 0"):
        play(sequence, iterations, SyntheticMachine(sequence), RandomStorage(0), lookahead)


def test_a_sequence_may_keep_tensors_in_memory(data):
    """Without the appends and reads of activations the result is the same, for the memory they take."""
    network, optimizer = mlp(8), Adam()
    full = training_sequence(network, 16, optimizer)
    kept = [
        step
        for step in full.iteration
        if not (isinstance(step, Append | Read) and step.tensor.startswith("activation/"))
    ]
    lean = replace(full, iteration=tuple(kept))
    check_fits(lean, network, 16, optimizer)
    logs = []
    for sequence in (full, lean):
        machine = NetworkMachine(network, data, optimizer, 16, seed=0, progress=silent)
        play(sequence, 3, machine, RandomStorage(5))
        logs.append(machine.log())
    assert logs[0].equals(logs[1])


def test_sequences_of_another_training_are_refused():
    sequence = training_sequence(mlp(), 16, Adam())
    with pytest.raises(SequenceError, match="network: the sequence is for mlp, expected convnet"):
        check_fits(sequence, convnet(), 16, Adam())
    with pytest.raises(SequenceError, match="optimizer: the sequence is for adam, expected sgd"):
        check_fits(sequence, mlp(), 16, SGD())
    with pytest.raises(SequenceError, match="batch: the sequence is for 16, expected 32"):
        check_fits(sequence, mlp(), 32, Adam())
    with pytest.raises(
        SequenceError, match=r"tensors: weights/hidden is float32\[4160\], expected float32\[2080\]"
    ):
        check_fits(sequence, mlp(32), 16, Adam())


def test_sequences_that_compute_something_else_are_refused():
    network, optimizer = mlp(), Adam()
    sequence = training_sequence(network, 16, optimizer)

    def without(operation):
        steps = [s for s in sequence.iteration if getattr(s, "operation", None) is not operation]
        return replace(sequence, iteration=tuple(steps))

    with pytest.raises(SequenceError, match=r"iteration: compute step 7 is backward relu .* update output"):
        check_fits(without(Operation.UPDATE), network, 16, optimizer)
    with pytest.raises(SequenceError, match="epilogue: 0 compute steps, expected 4"):
        check_fits(replace(sequence, epilogue=()), network, 16, optimizer)


def test_the_host_port_is_used_by_the_host_alone():
    sequence = training_sequence(mlp(4), 8, Adam())
    storage = RandomStorage(2)
    play(sequence, 2, SyntheticMachine(sequence), storage)
    by_host = {call[1].split("/")[0] for call in storage.calls if call[2] is Port.HOST}
    assert by_host == {"input", "trained"}
