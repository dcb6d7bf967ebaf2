"""Checkpoints that pin generations of the state on the dies."""

import numpy as np
import pytest

from flashtrain.checkpoint import (
    CheckpointExists,
    CopyOut,
    FileCheckpoints,
    NoCheckpoint,
    PinnedCheckpoints,
    Retention,
    arrays_of,
    initialise_from,
    load,
    save,
)
from flashtrain.host import FunctionalLink, TensorGroup, open_device
from flashtrain.model import ModelLink
from flashtrain.spec import preset
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import Adam, Momentum

GROUPS = [
    TensorGroup(OptimizerCode.ADAM, ((7, 11), (300,))),
    TensorGroup(OptimizerCode.MOMENTUM, ((40,),)),
]
OPTIMIZERS = [Adam(0.01), Momentum(0.1)]


def tensors(random):
    return [[random.standard_normal(shape).astype(np.float32) for shape in g.shapes] for g in GROUPS]


@pytest.fixture(params=[2, 3], ids=["two streams", "three streams"])
def streams(request):
    return ("state_a", "state_b", "state_c")[: request.param]


@pytest.fixture
def state(device, streams, random):
    made = device.optimizer_state(GROUPS, streams)
    made.initialise(tensors(random))
    return made


def update(state, random):
    step = state.current.updates + 1
    state.update(tensors(random), [one.constants(step) for one in OPTIMIZERS])


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_every_step_a_checkpoint(device, state, streams, random):
    """As many as there is room for, through losses of power."""
    kept = {}
    for number in range(1, 12):
        checkpoints = PinnedCheckpoints(state)
        update(state, random)
        made = checkpoints.commit(f"step {number}", host := random.bytes(20))
        kept[made.name] = (arrays_of(state), host)
        assert made.step == number and made.nbytes == 4 * (3 * 377 + 2 * 40)
        if number % 4 == 0:
            device.link.power_cycle()
            device.recover()
            state = device.optimizer_state(GROUPS, streams, recovered=True)
            checkpoints = PinnedCheckpoints(state)
        names = [one.name for one in checkpoints.checkpoints]
        assert names == [f"step {n}" for n in range(number - len(names) + 1, number + 1)]
        assert len(names) == checkpoints.most == 1
        for name in names:
            assert same(checkpoints.load(name), kept[name][0]) and checkpoints.host(name) == kept[name][1]
            assert np.array_equal(checkpoints.read(name, "0/1/v"), kept[name][0]["0/1/v"])
            with pytest.raises(
                NoCheckpoint, match="no array '1/0/v' of the optimizer state; there are 0/0/w"
            ):
                checkpoints.read(name, "1/0/v")
    assert not checkpoints.prune(Retention(last=1))


@pytest.mark.parametrize("streams", [3], ids=["three streams"], indirect=True)
def test_training_goes_on_from_a_checkpoint(device, state, streams, random):
    """As if the steps after it had not been. A copy has a place beside it and the current generation."""
    checkpoints = PinnedCheckpoints(state)
    checkpoints.save("begin", b"at 0")
    with pytest.raises(CheckpointExists, match="'begin' already"):
        checkpoints.save("begin")
    assert checkpoints.restore("begin") == b"at 0"
    begin = arrays_of(state)
    after = []
    for _ in range(2):
        same_random = np.random.default_rng(3)
        for _ in range(3):
            update(state, same_random)
            state.commit()
        after.append(arrays_of(state))
        assert checkpoints.restore("begin") == b"at 0"
        assert same(arrays_of(state), begin) and state.current.updates == 0
        device.link.power_cycle()
        device.recover()
        state = device.optimizer_state(GROUPS, streams, recovered=True)
        checkpoints = PinnedCheckpoints(state)
        assert same(arrays_of(state), begin) and state.current.updates == 0
    assert same(*after) and not same(after[0], begin)
    checkpoints.delete("begin")
    with pytest.raises(NoCheckpoint, match="no generation is pinned as checkpoint 'begin'; pinned are none"):
        checkpoints.load("begin")


def test_a_pin_gets_a_name_later(device, state, streams):
    """The note of a generation that is pinned already is recorded."""
    state.pin()
    PinnedCheckpoints(state).save("late", b"host")
    for _ in range(2):
        checkpoints = PinnedCheckpoints(state)
        assert [one.name for one in checkpoints.checkpoints] == ["late"]
        assert checkpoints.host("late") == b"host"
        device.link.power_cycle()
        device.recover()
        state = device.optimizer_state(GROUPS, streams, recovered=True)


def test_another_geometry(state, random):
    checkpoints = PinnedCheckpoints(state)
    update(state, random)
    checkpoints.commit("one", b"host")
    arrays = checkpoints.load("one")
    with FunctionalLink(preset("small")) as link, open_device(link=link, node=UPDATE_NODE) as other:
        restored = other.optimizer_state(GROUPS)
        initialise_from(restored, arrays, 1, b"host")
        assert same(arrays_of(restored), arrays)
        assert restored.current.updates == 1 and restored.note() == b"host"
        twice = np.random.default_rng(1), np.random.default_rng(1)
        for one, random in zip((state, restored), twice, strict=True):
            update(one, random)
            one.commit()
        assert same(arrays_of(restored), arrays_of(state))
        arrays.pop("0/1/m")
        with pytest.raises(NoCheckpoint, match="no array '0/1/m' of the optimizer state; there"):
            initialise_from(restored, arrays, 1)


def test_a_pin_is_copied_off_the_device(random, tmp_path):
    """While training goes on, to files, and from there to a device of another geometry."""
    with ModelLink(preset("tiny"), 1 << 16) as link, open_device(link=link, node=UPDATE_NODE) as device:
        state = device.optimizer_state(GROUPS)
        state.initialise(tensors(random))
        update(state, random)
        checkpoints = PinnedCheckpoints(state)
        checkpoints.commit("one", b"host")
        copy = CopyOut(device, state, state.current)
        assert copy.nbytes >= 4 * (3 * 377 + 2 * 40)
        expected = checkpoints.load("one")
        for _ in range(20):
            copy.advance()
            update(state, random)
            state.commit()
            if copy.done:
                break
        assert same(copy.result(), expected) and not same(arrays_of(state), expected)
        files = FileCheckpoints(tmp_path)
        save(files, "one", 1, copy.result(), b"host")
    with open_device("small", node=UPDATE_NODE) as other:
        restored = other.optimizer_state(GROUPS)
        manifest = files.manifest("one")
        initialise_from(restored, load(files, "one"), manifest.step, manifest.host)
        assert same(arrays_of(restored), expected) and restored.note() == b"host"
