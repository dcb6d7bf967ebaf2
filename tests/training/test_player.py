"""The player: results independent of the storage's timing, overlap where allowed, memory that is let go."""

import random
from dataclasses import replace

import numpy as np
import pytest

from flashtrain.numerics import Constants, update
from flashtrain.spec import Port
from flashtrain.spec.optimizer import PROGRAMS
from flashtrain.training.errors import ReplayError, SequenceError, ShapeError
from flashtrain.training.machines import NetworkMachine, check_fits
from flashtrain.training.networks import NETWORKS, convnet, mlp
from flashtrain.training.optimizers import OPTIMIZERS, SGD, Adam
from flashtrain.training.player import play
from flashtrain.training.reference import train_reference
from flashtrain.training.sequence import (
    Append,
    Compute,
    Initialise,
    Operation,
    Read,
    Reset,
    Update,
    UpdatePlace,
    training_sequence,
)
from flashtrain.training.synthetic import SyntheticMachine

DIE, CORE = UpdatePlace


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

    def wait_beside(self, others):
        while not any(arrival.done for arrival in (self, *others)):
            self.storage.something_happens()

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
        self.given = {}
        self.state = {}

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

    def initialise(self, tensors, arrays, program, port):
        names = tuple(tensor.name for tensor in tensors)
        program = PROGRAMS[program]

        def begin():
            self.program = program
            self.state = {}
            for tensor, w in zip(tensors, arrays, strict=True):
                m, v = (None if output is None else np.zeros_like(w) for output in (program.m, program.v))
                self.state[tensor.name] = (m, v)
                self.stored[tensor.name] = (tensor.stream, w.copy())

        return self.start(("initialise", names, port), begin)

    def update(self, tensors, gradients, constants, port):
        names = tuple(tensor.name for tensor in tensors)
        self.given |= dict(zip(names, gradients, strict=True))
        if self.given.keys() < self.state.keys():
            return self.start(("update", names, port), lambda: None)
        given, self.given = self.given, {}

        def step():
            if not all(np.isfinite(g).all() for g in given.values()):
                return False
            words = Constants.from_words(self.program.code, tuple(map(int, constants.view(np.uint32))))
            for name, g in given.items():
                stream, w = self.stored[name]
                after = update(words, g, w, *self.state[name])
                self.state[name] = (after.m, after.v)
                self.stored[name] = (stream, after.w)
            return True

        return self.start(("update", names, port), step)


def silent(iteration, loss):
    """No progress."""


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("lookahead", [1, 7, None])
@pytest.mark.parametrize(("place", "overlap"), [(DIE, False), (DIE, True), (CORE, False)])
def test_training_equals_the_reference_whatever_the_timing(
    network, optimizer, lookahead, place, overlap, data
):
    network, optimizer = NETWORKS[network](), OPTIMIZERS[optimizer]
    seed = random.randrange(1 << 32)
    print("seed", seed)
    machine = NetworkMachine(network, data, optimizer, 16, seed=3, progress=silent)
    storage = RandomStorage(seed)
    play(training_sequence(network, 16, optimizer, place, overlap), 4, machine, storage, lookahead)
    assert machine.log().equals(train_reference(network, data, optimizer, 16, 4, seed=3))
    assert {name.split("/")[0] for name in storage.stored} <= {"input", "weights", "state", "trained"}


@pytest.mark.parametrize("place", UpdatePlace)
def test_steps_one_by_one_are_in_the_order_of_the_sequence(place):
    sequence = training_sequence(mlp(4), 8, Adam(), place)
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
            case Initialise():
                expected.append(("initialise", step.tensors, step.port))
            case Update():
                expected.append(("update", step.tensors, step.port))
    assert storage.calls == expected
    assert playback.most_in_flight == 1
    assert playback.steps == len(sequence.steps(2))


@pytest.mark.parametrize("place", UpdatePlace)
def test_the_next_batch_is_on_its_way_before_the_iteration_ends(place):
    sequence = training_sequence(mlp(4), 8, Adam(), place)
    storage = RandomStorage(0)
    playback = play(sequence, 3, SyntheticMachine(sequence), storage)
    images = [i for i, call in enumerate(storage.calls) if call[:2] == ("append", "input/images")]
    resets = [i for i, call in enumerate(storage.calls) if call[0] == "reset"]
    assert images[1] < resets[0]
    assert images[2] < resets[1]
    assert playback.most_in_flight > 4


class SlowStorage(RandomStorage):
    """Finishes `slow` calls only when nothing else is under way, and remembers what was called meanwhile."""

    def __init__(self, slow):
        super().__init__(0)
        self.slow = slow
        self.meanwhile = []

    def something_happens(self):
        others = [arrival for arrival in self.under_way if not arrival.is_slow]
        arrival = (others or self.under_way)[0]
        self.under_way.remove(arrival)
        arrival.finish()

    def start(self, call, action):
        if any(arrival.is_slow for arrival in self.under_way):
            self.meanwhile.append(call)
        arrival = super().start(call, action)
        arrival.is_slow = self.slow(call)
        return arrival


def test_layers_go_on_while_the_dies_update_those_behind_them(data):
    """The update of a layer holds up no other; weights are read after the last one."""
    network, optimizer = mlp(4), Adam()
    sequence = training_sequence(network, 8, optimizer, overlap=True)
    storage = SlowStorage(lambda call: call[:2] == ("update", ("weights/output",)))
    machine = NetworkMachine(network, data, optimizer, 8, seed=3, progress=silent)
    play(sequence, 3, machine, storage)
    assert ("update", ("weights/hidden",), Port.CORE) in storage.meanwhile
    updates = [call[1] for call in storage.calls if call[0] == "update"]
    assert updates == [("weights/output",), ("weights/hidden",)] * 3
    calls = [call[:2] for call in storage.calls]
    first, second = [n for n, call in enumerate(calls) if call == ("update", ("weights/hidden",))][:2]
    assert calls[first:second].count(("read", "weights/hidden")) == 2  # one for each pass
    assert machine.log().equals(train_reference(network, data, optimizer, 8, 3, seed=3))


class Clock:
    """Time that passes when somebody waits for the end of a compute step."""

    def __init__(self):
        self.now = 0.0

    def begin(self, step):
        return Lasting(self, self.now + step.seconds)


class Lasting:
    def __init__(self, clock, end):
        self.clock, self.end = clock, end

    @property
    def done(self):
        return self.clock.now >= self.end

    def wait_beside(self, others):
        if not any(other.done for other in others):
            self.clock.now = self.end

    def result(self):
        self.clock.now = max(self.clock.now, self.end)


def test_compute_steps_that_take_time(data):
    """They follow each other on their processor; all others go on beside them, to the same result."""
    network, optimizer = mlp(4), Adam()
    sequence = training_sequence(network, 8, optimizer, overlap=True)
    timed = replace(
        sequence,
        iteration=tuple(
            replace(step, seconds=1.0) if isinstance(step, Compute) and step.layer else step
            for step in sequence.iteration
        ),
    )
    clock, ends = Clock(), []
    machine = NetworkMachine(network, data, optimizer, 8, seed=3, progress=silent)
    play(timed, 3, machine, RandomStorage(0), on_iteration=lambda _: ends.append(clock.now), pace=clock.begin)
    layers = sum(bool(step.layer) for step in timed.iteration if isinstance(step, Compute))
    assert all(end >= layers * number for number, end in enumerate(ends, 1)) and ends[-1] == 3 * layers
    assert machine.log().equals(train_reference(network, data, optimizer, 8, 3, seed=3))


def test_the_next_batch_arrives_while_the_dies_update_and_weights_are_read_after(data):
    network, optimizer = mlp(4), Adam()
    sequence = training_sequence(network, 8, optimizer)
    machine = NetworkMachine(network, data, optimizer, 8, seed=3, progress=silent)
    storage = SlowStorage(lambda call: call[0] == "update")
    play(sequence, 3, machine, storage)
    assert machine.log().equals(train_reference(network, data, optimizer, 8, 3, seed=3))
    meanwhile = {(what, name) for what, name, _ in storage.meanwhile}
    assert ("reset", "activations") in meanwhile
    assert not any(str(name).startswith("weights/") for _, name in meanwhile)
    # The next batch was read at the latest then, since weights are read after an update and no batch is.
    calls = [(what, name) for what, name, _ in storage.calls]
    updates = [index for index, (what, _) in enumerate(calls) if what == "update"]
    for number, index in enumerate(updates):
        weights = calls.index(("read", "weights/hidden"), index)
        assert calls[:weights].count(("read", "input/images")) == min(number + 2, 3)


def test_a_step_waits_for_nothing_that_it_does_not_need():
    """The oldest step under way holds up those that depend on it alone: labels are not images."""
    sequence = training_sequence(mlp(4), 8, Adam())
    storage = SlowStorage(lambda call: call[:2] == ("append", "input/images"))
    play(sequence, 3, SyntheticMachine(sequence), storage)
    assert storage.meanwhile.count(("read", "input/labels", Port.CORE)) == 3


class Overflowing(NetworkMachine):
    """Every second gradient of one layer has an infinity or a NaN."""

    def compute(self, step, tensors):
        given = super().compute(step, tensors)
        if step.operation is Operation.BACKWARD and step.layer == "output":
            self.count = getattr(self, "count", 0) + 1
            if self.count % 2:
                given["gradient/output"][3] = np.inf if self.count % 4 == 1 else np.nan
        return given


def test_a_step_that_overflows_is_skipped_and_does_not_count(data):
    network, optimizer, batch = mlp(4), Adam(), 8
    machine, storage = Overflowing(network, data, optimizer, batch, seed=3, progress=silent), RandomStorage(2)
    play(training_sequence(network, batch, optimizer), 6, machine, storage)
    log = machine.log()
    same = [one == other for one, other in zip(log.digests, log.digests[1:], strict=False)]
    assert same == [True, False, True, False, True]
    # As many steps, with the constants of 1, 2, 3, as were committed.
    assert machine.compute(Compute(Operation.CONSTANTS, gives=("constants",)), {})["constants"].tobytes() == (
        np.array(optimizer.constants(4).words, np.uint32).tobytes()
    )


def test_the_reference_skips_overflows_as_the_dies_do(data):
    """With an absurd learning rate the loss overflows; both runs go on with the last finite weights."""
    network, optimizer = mlp(4), SGD(1e30)
    logs = []
    for place in UpdatePlace:
        machine = NetworkMachine(network, data, optimizer, 8, seed=3, progress=silent)
        with np.errstate(all="ignore"):
            play(training_sequence(network, 8, optimizer, place), 5, machine, RandomStorage(2))
            reference = train_reference(
                network, data, optimizer, 8, 5, seed=3, skip_overflow=place is UpdatePlace.DIE
            )
        assert machine.log().equals(reference)
        logs.append(machine.log())
    assert len(set(logs[0].digests)) < 5
    assert not logs[0].equals(logs[1])


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
    ("place", "name"),
    [
        *((DIE, n) for n in ("input/images", "activation/hidden/x", "weights/output", "trained/output")),
        *((CORE, n) for n in ("weights/output", "state/hidden/v")),
    ],
)
def test_a_replay_notices_one_wrong_bit(place, name):
    sequence = training_sequence(mlp(4), 8, Adam(), place)
    with pytest.raises(
        ReplayError, match=rf"{name}, version 0: 1 of \d+ bytes came back wrong, the first at 5"
    ):
        play(sequence, 1, SyntheticMachine(sequence), ForgetfulStorage(name))


class WrongUpdates(RandomStorage):
    """One bit of an updated weight is wrong, in the second update."""

    def update(self, tensors, gradients, constants, port):
        self.updates = getattr(self, "updates", 0) + 1
        arrival, second = super().update(tensors, gradients, constants, port), self.updates == 2
        step = arrival.action

        def wrong():
            committed = step()
            if second:
                self.stored["weights/output"][1].view(np.uint32)[7] ^= 1
            return committed

        arrival.action = wrong
        return arrival


def test_a_wrong_update_is_noticed_at_the_next_step(data):
    network, optimizer = mlp(4), Adam()
    sequence = training_sequence(network, 8, optimizer)
    with pytest.raises(ReplayError, match=r"weights/output, version 2: 1 of \d+ bytes came back wrong"):
        play(sequence, 4, SyntheticMachine(sequence), WrongUpdates(0))
    machine = NetworkMachine(network, data, optimizer, 8, seed=3, progress=silent)
    play(sequence, 4, machine, WrongUpdates(0))
    reference = train_reference(network, data, optimizer, 8, 4, seed=3)
    same = [a == b for a, b in zip(machine.log().digests, reference.digests, strict=True)]
    assert same == [True, True, False, False]


def test_a_replay_notices_an_update_that_is_skipped():
    class Skipping(RandomStorage):
        def update(self, tensors, gradients, constants, port):
            return self.start(("update", "", port), lambda: False)

    sequence = training_sequence(mlp(4), 8, Adam())
    with pytest.raises(ReplayError, match="weights/hidden, weights/output was skipped"):
        play(sequence, 2, SyntheticMachine(sequence), Skipping(0))


@pytest.mark.parametrize(
    ("place", "name"),
    [
        *((DIE, n) for n in ("input/labels", "activation/relu/positive", "weights/output", "trained/output")),
        *((CORE, n) for n in ("weights/output", "state/output/m")),
    ],
)
def test_training_learns_from_what_the_storage_returns(place, name, data):
    """One bit wrong in the storage changes the result: the machine has no hidden copy of a tensor."""
    network, optimizer = mlp(8), Adam()
    machine = NetworkMachine(network, data, optimizer, 16, seed=3, progress=silent)
    play(training_sequence(network, 16, optimizer, place), 4, machine, ForgetfulStorage(name))
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


@pytest.mark.parametrize("place", UpdatePlace)
def test_sequences_that_compute_something_else_are_refused(place):
    network, optimizer = mlp(), Adam()
    sequence = training_sequence(network, 16, optimizer, place)
    check_fits(sequence, network, 16, optimizer)
    with pytest.raises(SequenceError, match="epilogue: 0 compute steps, expected 4"):
        check_fits(replace(sequence, epilogue=()), network, 16, optimizer)


def test_sequences_that_update_otherwise_are_refused():
    network, optimizer = mlp(), Adam()

    def without(sequence, what):
        steps = [s for s in sequence.iteration if not what(s)]
        return replace(sequence, iteration=tuple(steps))

    by_core = training_sequence(network, 16, optimizer, CORE)
    lacking = without(by_core, lambda step: getattr(step, "operation", None) is Operation.UPDATE)
    with pytest.raises(SequenceError, match=r"iteration: compute step 7 is backward relu .* update output"):
        check_fits(lacking, network, 16, optimizer)
    by_dies = training_sequence(network, 16, optimizer)
    lacking = without(by_dies, lambda step: isinstance(step, Update))
    with pytest.raises(SequenceError, match="iteration: 11 compute steps, expected 12"):
        check_fits(lacking, network, 16, optimizer)
    # The same optimizer by name, but another program.
    with pytest.raises(SequenceError, match=r"prologue: .* for ADAM, expected initialise .* for ADAM_FAST"):
        check_fits(by_dies, network, 16, Adam(beta1=0.25))
    flipped = [
        replace(step, gradients=step.gradients[::-1]) if isinstance(step, Update) else step
        for step in training_sequence(mlp(10), 16, optimizer).iteration
    ]
    with pytest.raises(SequenceError, match="expected float32"):
        replace(training_sequence(mlp(10), 16, optimizer), iteration=tuple(flipped))


def test_the_host_port_is_used_by_the_host_alone():
    sequence = training_sequence(mlp(4), 8, Adam())
    storage = RandomStorage(2)
    play(sequence, 2, SyntheticMachine(sequence), storage)
    by_host = {call[1].split("/")[0] for call in storage.calls if call[2] is Port.HOST}
    assert by_host == {"input", "trained"}
