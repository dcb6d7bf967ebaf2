"""Training command sequences: generation, soundness, liveness, summary."""

from dataclasses import replace

import pytest

from flashtrain.spec import Port, preset
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.training.arrays import ArraySpec
from flashtrain.training.errors import SequenceError
from flashtrain.training.layers import ReLU
from flashtrain.training.networks import NETWORKS, Network, convnet, mlp
from flashtrain.training.optimizers import OPTIMIZERS, SGD, Adam
from flashtrain.training.sequence import (
    Append,
    Compute,
    Initialise,
    Operation,
    Read,
    Reset,
    StreamRole,
    TensorInfo,
    TrainingSequence,
    Update,
    UpdatePlace,
    summarise,
    summary_table,
    training_sequence,
)
from flashtrain.training.sequence.sequence import last_uses
from flashtrain.training.step_policy import StepPolicy

MLP = training_sequence(mlp(), 128, Adam())
BY_CORE = training_sequence(mlp(), 128, Adam(), UpdatePlace.CORE)


def words(steps):
    """Steps as short words: what is done to which tensor."""
    kinds = {Append: "append", Read: "read"}
    for step in steps:
        match step:
            case Append() | Read():
                yield f"{kinds[type(step)]} {step.tensor}"
            case Reset():
                yield f"reset {step.stream}"
            case Compute():
                yield f"{step.operation} {step.layer}".strip()
            case Initialise():
                yield f"initialise {' '.join(step.tensors)}"
            case Update():
                yield f"update {' '.join(step.tensors)} by {' '.join(step.gradients)}"


def mlp_iteration(after_output, after_hidden, at_the_end):
    """The iteration of `mlp` in words; given what follows each layer's backward pass, and both."""
    return [
        "load",
        "append input/images",
        "append input/labels",
        "read input/images",
        "read input/labels",
        "forward vector",
        "read weights/hidden",
        "forward hidden",
        "append activation/hidden/x",
        "forward relu",
        "append activation/relu/positive",
        "read weights/output",
        "forward output",
        "append activation/output/x",
        "loss",
        "read activation/output/x",
        "read weights/output",
        "backward output",
        *after_output,
        "read activation/relu/positive",
        "backward relu",
        "read activation/hidden/x",
        "read weights/hidden",
        "backward hidden",
        *after_hidden,
        "backward vector",
        *at_the_end,
        "reset activations",
    ]


def test_mlp_iteration_is_the_one_expected():
    assert list(words(MLP.prologue)) == [
        "initialise hidden",
        "initialise output",
        "initialise weights/hidden weights/output",
    ]
    update = "update weights/hidden weights/output by gradient/hidden gradient/output"
    assert list(words(MLP.iteration)) == mlp_iteration([], [], ["constants", update])


def test_mlp_iteration_with_updates_by_the_core():
    def update(layer):
        return [
            f"read state/{layer}/m",
            f"read state/{layer}/v",
            f"update {layer}",
            f"append weights/{layer}",
            f"append state/{layer}/m",
            f"append state/{layer}/v",
        ]

    assert list(words(BY_CORE.iteration)) == mlp_iteration(update("output"), update("hidden"), [])


def test_host_appends_inputs_and_reads_trained_weights_and_nothing_else():
    host = [s for s in MLP.steps(1) if isinstance(s, Append | Read) and s.port is Port.HOST]
    assert list(words(host)) == [
        "append input/images",
        "append input/labels",
        "read trained/hidden",
        "read trained/output",
    ]


def test_tensors_have_their_sizes_from_the_shapes():
    sizes = {tensor.name: tensor.spec.bytes for tensor in MLP.tensors}
    assert sizes["input/images"] == 128 * 64 * 4
    assert sizes["input/labels"] == 128
    assert sizes["activation/relu/positive"] == 128 * 64 / 8
    assert sizes["weights/hidden"] == sizes["gradient/hidden"] == (64 * 64 + 64) * 4
    assert sizes["constants"] == 8 * 4
    assert BY_CORE.by_name["state/hidden/m"].spec == MLP.by_name["weights/hidden"].spec


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("place", UpdatePlace)
def test_every_network_and_optimizer_make_a_sound_sequence(network, optimizer, place):
    optimizer = OPTIMIZERS[optimizer]
    sequence = training_sequence(NETWORKS[network](), 16, optimizer, place)
    assert sequence.update is place
    stored = {s.tensor for s in sequence.steps(1) if isinstance(s, Append)}
    if sequence.state is not None:
        assert sequence.state.program is optimizer.code
        stored.update(sequence.state.tensors)
    assert stored == {tensor.name for tensor in sequence.tensors if tensor.stream is not None}
    states = [tensor for tensor in sequence.tensors if tensor.name.startswith("state/")]
    trained = [tensor for tensor in sequence.tensors if tensor.stream is StreamRole.TRAINED]
    assert len(states) == (place is UpdatePlace.CORE) * len(trained) * len(optimizer.state_names)


def test_updates_that_overlap_the_backward_pass():
    """Each layer is updated behind its backward pass, with constants from before it; places in that order."""
    sequence = training_sequence(mlp(), 128, Adam(), overlap=True)
    assert sequence.overlaps and sequence.update is UpdatePlace.DIE
    assert not MLP.overlaps and not BY_CORE.overlaps
    assert sequence.state.tensors == MLP.state.tensors[::-1] == ("weights/output", "weights/hidden")
    steps = [
        step
        for step in sequence.iteration
        if isinstance(step, Update)
        or (isinstance(step, Compute) and step.operation in (Operation.CONSTANTS, Operation.BACKWARD))
    ]
    kinds = [step.layer or step.operation if isinstance(step, Compute) else step.tensors for step in steps]
    layers = ["constants", "output", ("weights/output",), "relu", "hidden", ("weights/hidden",), "vector"]
    assert kinds == layers
    assert sequence.completing == {steps[-2]}
    with pytest.raises(SequenceError, match="those of the dies; expected die"):
        training_sequence(mlp(), 128, Adam(), UpdatePlace.CORE, overlap=True)
    with pytest.raises(SequenceError, match="clipping in a sequence expects none that overlap"):
        StepPolicy(max_norm=1.0).check(Adam(), UpdatePlace.DIE, overlap=True)


def test_activations_are_read_in_the_reverse_order_of_their_appends():
    def activations(kind):
        names = [step.tensor for step in MLP.iteration if isinstance(step, kind)]
        return [name for name in names if name.startswith("activation/")]

    assert activations(Read) == activations(Append)[::-1]


def test_no_tensor_stays_in_memory_between_passes():
    """An activation has no use between its append and its read, so memory lets it go."""
    steps = MLP.steps(2)
    memory, at_loss, peak = set(), [], 0
    for step, dying in zip(steps, last_uses(steps), strict=True):
        if isinstance(step, Read):
            memory.add(step.tensor)
        if isinstance(step, Compute):
            if step.operation is Operation.LOSS:
                at_loss.append(set(memory))
            memory.update(step.gives)
        peak = max(peak, len(memory))
        memory.difference_update(dying)
    assert at_loss == [{"input/labels"}, {"input/labels"}]
    assert memory == set()
    assert peak < len(MLP.tensors) / 2


def test_a_tensor_that_is_not_read_back_stays_until_its_last_use():
    steps = [
        Compute(Operation.LOAD, gives=("x", "y")),
        Append("x", Port.HOST),
        Compute(Operation.LOSS, "", ("x",)),
    ]
    assert last_uses(steps) == [("y",), (), ("x",)]


def test_without_weights_nothing_is_updated():
    network = Network("fixed", (10,), 10, (("relu", ReLU()),))
    for place in UpdatePlace:
        sequence = training_sequence(network, 4, Adam(), place)
        assert not any(isinstance(step, Initialise | Update) for step in sequence.steps(1))


X = TensorInfo("x", StreamRole.INPUTS, ArraySpec((4,)))
Y = TensorInfo("y", StreamRole.ACTIVATIONS, ArraySpec((4,)))
LOAD_X = Compute(Operation.LOAD, gives=("x",))
GIVE_Y = Compute(Operation.FORWARD, "a", gives=("y",))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([Append("z", Port.HOST)], r"iteration\[0\]: no tensor is called z"),
        ([Append("x", Port.HOST)], r"iteration\[0\]: uses x, which is not in memory"),
        ([Read("x", Port.CORE)], r"iteration\[0\]: reads x, which is not stored"),
        ([LOAD_X, Append("x", Port.CORE)], r"iteration\[1\]: the core port may not append .* stream inputs"),
        (
            [LOAD_X, Append("x", Port.HOST), Read("x", Port.HOST)],
            r"iteration\[2\]: the host port may not read",
        ),
        (
            [Reset(StreamRole.ACTIVATIONS, Port.HOST)],
            r"the host port may not append to or reset .* activations",
        ),
        (
            [GIVE_Y, Append("y", Port.CORE), Reset(StreamRole.ACTIVATIONS, Port.CORE), Read("y", Port.CORE)],
            r"iteration\[3\]: reads y, which is not stored",
        ),
        ([Compute(Operation.LOSS, "a")], r"iteration\[0\]: loss with layer 'a'"),
        ([Compute(Operation.FORWARD)], r"iteration\[0\]: forward with layer ''"),
    ],
)
def test_unsound_sequences_are_refused(steps, message):
    with pytest.raises(SequenceError, match=message):
        TrainingSequence("n", "o", 1, (X, Y), (), tuple(steps), ())


@pytest.mark.parametrize("network", [mlp, convnet])
@pytest.mark.parametrize("place", UpdatePlace)
def test_data_cannot_bypass_the_flash(network, place):
    """Without a read from host to core, or back, a sequence is refused at the step that needs it."""
    sequence = training_sequence(network(), 8, Adam(), place)
    for phase, name, port, step in (
        ("iteration", "input/images", Port.CORE, "forward"),
        ("iteration", "input/labels", Port.CORE, "loss"),
        ("epilogue", "trained/output", Port.HOST, "collect"),
    ):
        steps = [one for one in getattr(sequence, phase) if one != Read(name, port)]
        takers = [isinstance(one, Compute) and one.operation == step and name in one.takes for one in steps]
        index = takers.index(True)
        owner = "host" if port is Port.CORE else "core"
        with pytest.raises(
            SequenceError,
            match=rf"^{phase}\[{index}\]: uses {name}, which only the {owner} has in memory; "
            f"expected a read of it by the {port.name.lower()} port before$",
        ):
            replace(sequence, **{phase: tuple(steps)})


def test_a_new_batch_has_to_be_read_anew():
    load = (LOAD_X, Append("x", Port.HOST), Read("x", Port.CORE))
    with pytest.raises(SequenceError, match=r"iteration\[1\]: uses x, which only the host has in memory"):
        TrainingSequence("n", "o", 1, (X,), load, (LOAD_X, Compute(Operation.LOSS, "", ("x",))), ())


W = TensorInfo("w", StreamRole.STATE, ArraySpec((4,)))
U = TensorInfo("u", StreamRole.STATE, ArraySpec((5,)))
G = TensorInfo("g", None, ArraySpec((4,)))
H = TensorInfo("h", None, ArraySpec((5,)))
C = TensorInfo("c", None, ArraySpec((8,)))
D = TensorInfo("d", None, ArraySpec((8,)))
GIVE_W = Compute(Operation.INITIALISE, "a", gives=("w", "u"))
STORE_W = Initialise(("w",), OptimizerCode.SGD, Port.CORE)
STORE_BOTH = Initialise(("w", "u"), OptimizerCode.SGD, Port.CORE)
GIVE_G = Compute(Operation.BACKWARD, "a", gives=("g",))
GIVE_C = Compute(Operation.CONSTANTS, gives=("c",))
UPDATE = Update(("w",), ("g",), "c", Port.CORE)
GIVE_ALL = Compute(Operation.BACKWARD, "a", gives=("h", "c", "d"))
UPDATE_U = Update(("u",), ("h",), "c", Port.CORE)


def state_sequence(prologue, iteration):
    return TrainingSequence("n", "o", 1, (W, U, G, H, C, D, X), tuple(prologue), tuple(iteration), ())


def test_a_sound_update():
    sequence = state_sequence(
        [GIVE_W, STORE_W],
        [GIVE_G, GIVE_C, UPDATE, Read("w", Port.CORE), Compute(Operation.FORWARD, "a", ("w",))],
    )
    assert sequence.update is UpdatePlace.DIE
    assert sequence.state == STORE_W
    assert not sequence.overlaps and sequence.completing == {UPDATE}
    sequence = state_sequence(
        [GIVE_W, STORE_BOTH],
        [GIVE_ALL, UPDATE_U, GIVE_G, UPDATE, Read("u", Port.CORE), Compute(Operation.FORWARD, "a", ("u",))],
    )
    assert sequence.overlaps and sequence.completing == {UPDATE}


@pytest.mark.parametrize(
    ("prologue", "iteration", "message"),
    [
        ([STORE_W], [], r"prologue\[0\]: uses w, which is not in memory"),
        ([GIVE_W], [GIVE_W, STORE_W], r"iteration\[1\]: initialises the state .* once, in the prologue"),
        ([GIVE_W, STORE_W, STORE_W], [], r"prologue\[2\]: initialises the state .* once, in the prologue"),
        ([GIVE_W, replace(STORE_W, port=Port.HOST)], [], r"the host port may not append to .* stream state"),
        ([GIVE_W, replace(STORE_W, tensors=())], [], r"prologue\[1\]: expected different tensors, got \[\]"),
        ([GIVE_W, replace(STORE_W, tensors=("w", "w"))], [], r"expected different tensors, got \['w', 'w'\]"),
        (
            [Compute(Operation.LOAD, gives=("x",)), replace(STORE_W, tensors=("x",))],
            [],
            r"prologue\[1\]: x is float32\[4\] of stream inputs; expected float32 of state",
        ),
        ([GIVE_W, Append("w", Port.CORE)], [], r"prologue\[1\]: only updates change the stream state"),
        ([], [Reset(StreamRole.STATE, Port.CORE)], r"iteration\[0\]: only updates change the stream state"),
        ([], [GIVE_G, Append("g", Port.CORE)], r"iteration\[1\]: g has no stream"),
        ([], [Read("g", Port.CORE)], r"iteration\[0\]: g has no stream"),
        ([], [GIVE_G, GIVE_C, UPDATE], r"iteration\[2\]: updates w, which is not stored"),
        ([GIVE_W, STORE_W], [GIVE_G, UPDATE], r"iteration\[1\]: uses c, which is not in memory"),
        ([GIVE_W, STORE_W], [GIVE_G, GIVE_C, replace(UPDATE, tensors=("z",))], r"no tensor is called z"),
        (
            [GIVE_W, STORE_BOTH],
            [GIVE_G, GIVE_C, UPDATE],
            r"iteration\[2\]: updates \['w'\]; expected all of the state stream",
        ),
        (
            [GIVE_W, STORE_BOTH],
            [GIVE_G, GIVE_C, UPDATE, UPDATE],
            r"iteration\[3\]: updates \['w', 'w'\]; expected each of the state stream once",
        ),
        (
            [GIVE_W, STORE_BOTH],
            [GIVE_G, GIVE_C, UPDATE, Read("w", Port.CORE)],
            r"iteration\[3\]: reads w, whose update is not complete",
        ),
        (
            [GIVE_W, STORE_BOTH],
            [GIVE_G, GIVE_ALL, replace(UPDATE, constants="d"), UPDATE_U],
            r"iteration\[3\]: updates with c, and tensors before with d; expected the same",
        ),
        (
            [GIVE_W, STORE_BOTH],
            [GIVE_G, GIVE_C, UPDATE, GIVE_C],
            r"iteration\[3\]: gives c, the constants of an update under way",
        ),
        (
            [GIVE_W, STORE_W],
            [GIVE_G, GIVE_C, replace(UPDATE, gradients=("g", "g"))],
            r"iteration\[2\]: 2 gradients, expected one for each of 1",
        ),
        (
            [GIVE_W, STORE_W],
            [GIVE_G, GIVE_C, replace(UPDATE, gradients=("c",))],
            r"iteration\[2\]: c is float32\[8\], expected float32\[4\]",
        ),
        (
            [GIVE_W, STORE_W],
            [GIVE_G, GIVE_C, replace(UPDATE, constants="g")],
            r"iteration\[2\]: g is float32\[4\], expected float32\[8\]",
        ),
        (
            [GIVE_W, STORE_W],
            [GIVE_G, GIVE_C, replace(UPDATE, port=Port.HOST)],
            r"iteration\[2\]: the host port may not append to or reset the stream state",
        ),
        (
            [GIVE_W, STORE_W],
            [Read("w", Port.CORE), GIVE_G, GIVE_C, UPDATE, Compute(Operation.FORWARD, "a", ("w",))],
            r"iteration\[4\]: uses w, which is not in memory",
        ),
    ],
)
def test_unsound_updates_are_refused(prologue, iteration, message):
    with pytest.raises(SequenceError, match=message):
        state_sequence(prologue, iteration)


def test_a_reset_in_one_iteration_is_seen_in_the_next():
    """Stored in the prologue, read in the iteration, gone in the second one."""
    steps = (Read("y", Port.CORE), Reset(StreamRole.ACTIVATIONS, Port.CORE))
    with pytest.raises(SequenceError, match=r"iteration\[0\]: reads y, which is not stored"):
        TrainingSequence("n", "o", 1, (X, Y), (GIVE_Y, Append("y", Port.CORE)), steps, ())


def test_names_and_batch_are_checked():
    with pytest.raises(SequenceError, match="tensors: the name x is not unique"):
        TrainingSequence("n", "o", 1, (X, Y, X), (), (), ())
    with pytest.raises(SequenceError, match="batch: expected at least 1, got 0"):
        replace(MLP, batch=0)


def test_summary_counts_bytes_blocks_and_commands():
    traffic = summarise(BY_CORE, BY_CORE.iteration, preset("small"))
    inputs = traffic[StreamRole.INPUTS]
    assert (inputs.appends, inputs.appended_bytes, inputs.stored_bytes) == (2, 32768 + 128, 32768 + 4096)
    assert (inputs.reads, inputs.read_bytes) == (2, 32768 + 128)
    weights = traffic[StreamRole.WEIGHTS]
    assert weights.appended_bytes == 3 * 4 * mlp().parameter_count()
    assert weights.read_bytes == 4 * 4 * mlp().parameter_count()
    assert traffic[StreamRole.ACTIVATIONS].resets == 1
    assert traffic[StreamRole.TRAINED].appends == 0


@pytest.mark.parametrize(("optimizer", "commands"), [("sgd", 1 + 1), ("momentum", 3 + 1), ("adam", 4 + 1)])
def test_summary_counts_updates_on_the_dies(optimizer, commands):
    """A tile is a page set: 4096 words on `small`, of w and what the optimizer keeps; a row is 4 tiles."""
    network = mlp(hidden=256)  # 16,640 and 2,570 parameters
    optimizer = OPTIMIZERS[optimizer]
    sequence, small = training_sequence(network, 16, optimizer), preset("small")
    parameters, each = network.parameter_count(), 4096 // (1 + len(optimizer.state_names))
    rows = -(-parameters // (4 * each))
    rows += rows % 2  # a zone has places for more: tiles of zeros fill the page on both dies
    first = summarise(sequence, sequence.prologue, small)[StreamRole.STATE]
    assert (first.appends, first.appended_bytes) == (2, 4 * parameters)
    assert first.stored_bytes == rows * 4 * 4 * 4096
    step = summarise(sequence, sequence.iteration, small)[StreamRole.STATE]
    assert (step.updates, step.gradient_bytes, step.tiles) == (1, 4 * parameters, 4 * rows)
    assert (step.reads, step.read_bytes, step.appends) == (4, 4 * 2 * parameters, 0)
    # Each layer is read twice; of every row the planes with weights, all of which SGD has.
    assert step.read_commands == 2 * commands


def test_summary_splits_tensors_that_one_command_cannot_carry():
    sequence = training_sequence(mlp(), 128, SGD())
    small = preset("small")
    whole = summarise(sequence, sequence.iteration, small)[StreamRole.INPUTS]
    split = summarise(sequence, sequence.iteration, replace(small, max_blocks=3))[StreamRole.INPUTS]
    assert (whole.append_commands, split.append_commands) == (2, 3 + 1)  # 8 blocks of images, 1 of labels


def test_summary_table_names_each_phase_and_stream():
    table = summary_table(MLP, preset("small"))
    assert table.splitlines()[0].startswith("mlp, batch 128, adam: 12 tensors")
    assert [line.split()[:3] for line in table.splitlines()[2:]] == [
        ["prologue", "state", "2"],
        ["iteration", "inputs", "2"],
        ["iteration", "activations", "3"],
        ["iteration", "state", "0"],
        ["iteration", "state", "updates"],
        ["epilogue", "state", "0"],
        ["epilogue", "trained", "2"],
    ]
    assert "updates on the dies: 1, 19,240 bytes of gradients, 8 tiles" in table
    table = summary_table(BY_CORE, preset("small"))
    assert table.splitlines()[0].startswith("mlp, batch 128, adam: 15 tensors")
    assert [line.split()[:2] for line in table.splitlines()[2:]] == [
        ["prologue", "weights"],
        ["iteration", "inputs"],
        ["iteration", "activations"],
        ["iteration", "weights"],
        ["epilogue", "weights"],
        ["epilogue", "trained"],
    ]
