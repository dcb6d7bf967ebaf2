"""Training command sequences: generation, soundness, liveness, summary."""

from dataclasses import replace

import pytest

from flashtrain.spec import Port, preset
from flashtrain.training.arrays import ArraySpec
from flashtrain.training.errors import SequenceError
from flashtrain.training.networks import NETWORKS, mlp
from flashtrain.training.optimizers import OPTIMIZERS, SGD, Adam
from flashtrain.training.sequence import (
    Append,
    Compute,
    Operation,
    Read,
    Reset,
    StreamRole,
    TensorInfo,
    TrainingSequence,
    summarise,
    summary_table,
    training_sequence,
)
from flashtrain.training.sequence.sequence import last_uses

MLP = training_sequence(mlp(), 128, Adam())


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


def test_mlp_iteration_is_the_one_expected():
    assert list(words(MLP.iteration)) == [
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
        "read state/output/m",
        "read state/output/v",
        "update output",
        "append weights/output",
        "append state/output/m",
        "append state/output/v",
        "read activation/relu/positive",
        "backward relu",
        "read activation/hidden/x",
        "read weights/hidden",
        "backward hidden",
        "read state/hidden/m",
        "read state/hidden/v",
        "update hidden",
        "append weights/hidden",
        "append state/hidden/m",
        "append state/hidden/v",
        "backward vector",
        "reset activations",
    ]


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
    assert sizes["weights/hidden"] == sizes["state/hidden/m"] == (64 * 64 + 64) * 4


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_network_and_optimizer_make_a_sound_sequence(network, optimizer):
    sequence = training_sequence(NETWORKS[network](), 16, OPTIMIZERS[optimizer])
    appended = [s.tensor for s in sequence.steps(1) if isinstance(s, Append)]
    assert set(appended) == {tensor.name for tensor in sequence.tensors}
    states = [tensor for tensor in sequence.tensors if tensor.name.startswith("state/")]
    trained = [tensor for tensor in sequence.tensors if tensor.stream is StreamRole.TRAINED]
    assert len(states) == len(trained) * len(OPTIMIZERS[optimizer].state_names)


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
    traffic = summarise(MLP, MLP.iteration, preset("small"))
    inputs = traffic[StreamRole.INPUTS]
    assert (inputs.appends, inputs.appended_bytes, inputs.stored_bytes) == (2, 32768 + 128, 32768 + 4096)
    assert (inputs.reads, inputs.read_bytes) == (2, 32768 + 128)
    weights = traffic[StreamRole.WEIGHTS]
    assert weights.appended_bytes == 3 * 4 * mlp().parameter_count()
    assert weights.read_bytes == 4 * 4 * mlp().parameter_count()
    assert traffic[StreamRole.ACTIVATIONS].resets == 1
    assert traffic[StreamRole.TRAINED].appends == 0


def test_summary_splits_tensors_that_one_command_cannot_carry():
    sequence = training_sequence(mlp(), 128, SGD())
    small = preset("small")
    whole = summarise(sequence, sequence.iteration, small)[StreamRole.INPUTS]
    split = summarise(sequence, sequence.iteration, replace(small, max_blocks=3))[StreamRole.INPUTS]
    assert (whole.append_commands, split.append_commands) == (2, 3 + 1)  # 8 blocks of images, 1 of labels


def test_summary_table_names_each_phase_and_stream():
    table = summary_table(MLP, preset("small"))
    assert table.splitlines()[0].startswith("mlp, batch 128, adam: 13 tensors")
    assert [line.split()[:2] for line in table.splitlines()[2:]] == [
        ["prologue", "weights"],
        ["iteration", "inputs"],
        ["iteration", "activations"],
        ["iteration", "weights"],
        ["epilogue", "weights"],
        ["epilogue", "trained"],
    ]
