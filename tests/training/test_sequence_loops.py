"""Training command sequences with loops: soundness, unrolling, files, traffic."""

import json
from dataclasses import replace

import pytest

from flashtrain.host import open_device
from flashtrain.reading import InputError
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import SINGLE_NODE
from flashtrain.training.arrays import UINT8, ArraySpec
from flashtrain.training.errors import SequenceError
from flashtrain.training.flash_training import replay
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import Adam
from flashtrain.training.sequence import (
    Append,
    Compute,
    Index,
    Operation,
    Read,
    Repeat,
    Reset,
    StreamRole,
    TensorInfo,
    TrainingSequence,
    load_sequence,
    save_sequence,
    summarise,
    training_sequence,
)
from flashtrain.training.tensors import DeviceStorage

X = "activation/{layer}/{part}"
FORWARD = Compute(Operation.FORWARD, "{layer}", (), (X,), flops=1000)
BACKWARD = Compute(Operation.BACKWARD, "{layer}", (X,), seconds=1e-6)


def looped(iteration, layers=3, parts=2):
    return TrainingSequence(
        network="loops",
        optimizer="sgd",
        batch=1,
        tensors=(TensorInfo(X, StreamRole.ACTIVATIONS, ArraySpec((1000,), UINT8)),),
        prologue=(),
        iteration=iteration,
        epilogue=(),
        indices=(Index("layer", layers), Index("part", parts)),
    )


def over(steps, down=False):
    return Repeat("layer", (Repeat("part", steps, down),), down)


ITERATION = (
    over((FORWARD, Append(X, Port.CORE))),
    over((Read(X, Port.CORE), BACKWARD), down=True),
    Reset(StreamRole.ACTIVATIONS, Port.CORE),
)
SEQUENCE = looped(ITERATION)


def test_unrolled_names_and_order():
    flat = SEQUENCE.unrolled()
    assert [tensor.name for tensor in flat.tensors][:3] == [
        "activation/0/0",
        "activation/0/1",
        "activation/1/0",
    ]
    reads = [step.tensor for step in flat.iteration if isinstance(step, Read)]
    appends = [step.tensor for step in flat.iteration if isinstance(step, Append)]
    assert reads == appends[::-1]
    assert flat.iteration[0] == Compute(Operation.FORWARD, "0", (), ("activation/0/0",), flops=1000)
    assert len(flat.iteration) == SEQUENCE.iteration_steps == 25
    assert SEQUENCE.steps(2) == flat.steps(2)
    assert flat.unrolled() is flat


def test_traffic_is_that_of_the_unrolled_sequence():
    small, flat = preset("small"), SEQUENCE.unrolled()
    assert summarise(SEQUENCE, SEQUENCE.iteration, small) == summarise(flat, flat.iteration, small)


def test_the_summary_of_huge_loops_costs_nothing():
    huge = looped(ITERATION, layers=10**9, parts=10**9)
    traffic = summarise(huge, huge.iteration, preset("small"))[StreamRole.ACTIVATIONS]
    assert traffic.appended_bytes == 10**21
    with pytest.raises(SequenceError, match="expected at most 1048576"):
        huge.unrolled()


def test_the_file(tmp_path):
    save_sequence(SEQUENCE, tmp_path / "loops.json")
    assert load_sequence(tmp_path / "loops.json") == SEQUENCE


def test_version_2_is_read(tmp_path):
    flat = training_sequence(mlp(4), 8, Adam())
    save_sequence(flat, tmp_path / "new.json")
    document = json.loads((tmp_path / "new.json").read_text(encoding="utf-8")) | {"version": 2}
    del document["indices"]
    (tmp_path / "old.json").write_text(json.dumps(document), encoding="utf-8")
    assert load_sequence(tmp_path / "old.json") == flat


@pytest.mark.parametrize(
    ("iteration", "message"),
    [
        ((over((BACKWARD,)),), r"iteration\[0\].steps\[0\].steps\[0\]: uses .* which is not in memory"),
        ((over((Read(X, Port.CORE),)),), r"reads activation/\{layer\}/\{part\}, which is not stored"),
        ((FORWARD,), r"iteration\[0\]: names .* outside a loop over 'layer'"),
        ((Repeat("part", (FORWARD,)),), "outside a loop over 'layer'"),
        ((Repeat("head", ()),), "repeats over 'head'; the indices are: layer, part"),
        ((Repeat("part", (Repeat("part", ()),)),), "repeats over 'part' within a loop over it"),
        (
            (Repeat("part", (Reset(StreamRole.ACTIVATIONS, Port.CORE),)),),
            "expected appends, reads and compute steps of the core alone in a loop",
        ),
        ((Repeat("part", (Compute(Operation.LOAD),)),), "of the core alone in a loop"),
    ],
)
def test_unsound_loops(iteration, message):
    with pytest.raises(SequenceError, match=message):
        looped(iteration)


def test_unsound_indices():
    with pytest.raises(SequenceError, match="indices: 'part' to 0"):
        looped((), parts=0)
    with pytest.raises(SequenceError, match="different names"):
        replace(SEQUENCE, indices=(Index("layer", 1), Index("layer", 1), Index("part", 1)))
    with pytest.raises(SequenceError, match="has no known index 'part'"):
        replace(SEQUENCE, indices=(Index("layer", 1),), iteration=())


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("flops", 0, "flops: expected an integer of at least 1, got 0"),
        ("seconds", -1, "seconds: expected a number above 0, got -1"),
        ("order", "sideways", 'order: expected one of up, down, got "sideways"'),
    ],
)
def test_faults_of_a_loop_in_a_file(key, value, message, tmp_path):
    save_sequence(SEQUENCE, tmp_path / "loops.json")
    document = json.loads((tmp_path / "loops.json").read_text(encoding="utf-8"))
    inner = document["iteration"][0]["steps"][0]
    (inner if key == "order" else inner["steps"][0])[key] = value
    (tmp_path / "bad.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_sequence(tmp_path / "bad.json")


def test_replay():
    with open_device("tiny", node=SINGLE_NODE) as device:
        run = replay(SEQUENCE, 2, DeviceStorage.on(device))
    assert run.traffic[StreamRole.ACTIVATIONS].reads == 12
