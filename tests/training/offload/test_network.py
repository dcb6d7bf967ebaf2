"""Captured networks at any batch, and their files."""

import json

import pytest

from flashtrain.reading import InputError
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.network import (
    STATE_BYTES,
    UPDATE,
    UPDATE_BYTES,
    Kernel,
    Linear,
    Network,
    NetworkOperation,
    NetworkTensor,
)
from flashtrain.training.offload.network_file import (
    load_network,
    network_named,
    network_names,
    save_network,
)
from flashtrain.training.offload.processor import Processor
from flashtrain.training.offload.profile import Phase

SMALL = Network(
    "small",
    "by hand",
    parameters=1000,
    resident=Linear(50, 7),
    operations=(
        NetworkOperation("a", Phase.FORWARD, (Kernel(Linear(0, 400), Linear(10, 20)),)),
        NetworkOperation(
            "a",
            Phase.BACKWARD,
            (Kernel(Linear(0, 800), Linear(10, 40)), Kernel(Linear(0, 0), Linear(0, 100))),
        ),
    ),
    tensors=(
        NetworkTensor("saved/0", Linear(0, 20), 0, 0, (1,), 4, relu=True),
        NetworkTensor("saved/1", Linear(8, 0), 0, 0, (1,), 1, relu=False),
    ),
    ratios={"window32": 1.5},
)
PUBLISHED = {"bert-large": 336e6, "gpt2": 124e6, "resnet152": 60.2e6, "densenet161": 28.7e6}
"""Parameters: Devlin et al. (2019) with the head of pre-training, Radford et al. (2019), torchvision."""


def test_a_profile_by_hand():
    profile = SMALL.profile(3, Processor(100, 50))
    seconds = [operation.seconds for operation in profile.operations]
    assert seconds == [12, 24 + 6, UPDATE_BYTES * 1000 / 50]
    assert [operation.name for operation in profile.operations] == ["a", "a", UPDATE]
    assert [(t.bytes, dict(t.ratios)) for t in profile.tensors] == [(60, {"window32": 1.5}), (8, {})]
    assert profile.resident_bytes == 1000 * STATE_BYTES + 50 + 7 * 3 and profile.batch == 3


def test_a_launch_is_the_least_time_of_a_kernel():
    profile = SMALL.profile(1, Processor(1e12, 1e12, launch_seconds=0.5))
    assert [operation.seconds for operation in profile.operations] == [0.5, 1.0, 0.5]


def test_a_file_gives_the_same(tmp_path):
    path = tmp_path / "network.json"
    save_network(SMALL, path)
    assert load_network(path) == SMALL


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "other", 'format: expected "flashtrain-network", got "other"'),
        ("resident", [1], "resident: expected two integers, a and b of a + b times the batch, got [1]"),
        ("parameters", 0, "parameters: expected an integer of at least 1, got 0"),
        (
            "operations",
            [{"name": "a", "phase": "up", "work": []}],
            "phase: expected one of forward, backward",
        ),
        ("operations", [{"name": "a", "phase": "forward", "work": [[[1, 2]]]}], "FLOPs and the bytes"),
        ("tensors", [{}], "tensors[0].name: missing"),
    ],
)
def test_faults_are_named(tmp_path, key, value, message):
    path = tmp_path / "network.json"
    save_network(SMALL, path)
    path.write_text(
        json.dumps({**json.loads(path.read_text(encoding="utf-8")), key: value}), encoding="utf-8"
    )
    with pytest.raises(InputError) as error:
        load_network(path)
    assert str(error.value).startswith(f"{path}: ") and message in str(error.value)


def test_lines():
    assert Linear.through((8, 16), (100, 180), "x") == Linear(20, 10)
    with pytest.raises(OffloadError, match=r"x: \(100, 181\) at batches \(8, 16\); expected values linear"):
        Linear.through((8, 16), (100, 181), "x")


@pytest.mark.parametrize("name", network_names())
def test_networks_of_the_package(name):
    network = network_named(name)
    assert network.model == name and network.parameters == pytest.approx(PUBLISHED[name], rel=0.01)
    one, two = (network.profile(batch, Processor(1e12)) for batch in (1, 2))
    assert two.saved_bytes == pytest.approx(2 * one.saved_bytes, rel=0.01)
    # The backward pass has twice the FLOPs of the forward pass.
    forward, backward = (
        sum(operation.seconds for operation in one.operations if operation.phase is phase) for phase in Phase
    )
    assert backward == pytest.approx(2 * forward, rel=0.03)


def test_an_unknown_name():
    with pytest.raises(OffloadError, match=r"no network 'alexnet'; expected one of bert-large, .*resnet152"):
        network_named("alexnet")


def test_a_batch_is_at_least_1():
    with pytest.raises(OffloadError, match="batch: expected at least 1, got 0"):
        SMALL.profile(0)
