"""An update whose gradients come one by one: what is sent when, and what is refused."""

import numpy as np
import pytest

from flashtrain.host import (
    BufferFull,
    NothingToCommit,
    TensorGroup,
    TensorMismatch,
    UpdatePending,
    open_device,
)
from flashtrain.host.functional.zones import StreamZones
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.host.state.optimizer_state import ATTEMPTS
from flashtrain.host.state.state_update import GroupUpdate
from flashtrain.spec import Status
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import Adam

ADAM = Adam(0.01)
ROW = 2 * 85  # parameters of a row of tiles of `tiny`
SIZES = (3, ROW, 2 * ROW, 100, 2)
GROUP = TensorGroup(OptimizerCode.ADAM, tuple((size,) for size in SIZES))


@pytest.fixture
def device():
    with open_device("tiny", node=UPDATE_NODE) as opened:
        yield opened


@pytest.fixture
def weights(seed):
    random = np.random.default_rng(seed)
    return [random.standard_normal(size).astype(np.float32) for size in SIZES]


@pytest.fixture
def state(device, weights):
    made = device.optimizer_state([GROUP, GROUP])
    made.initialise([weights, weights])
    return made


@pytest.fixture
def begin(state):
    return lambda: state.begin([ADAM.constants(1)] * 2)


@pytest.fixture
def rows(device):
    """Rows of tiles that the dies have updated, or are to."""
    g = device.config.geometry
    zones = device.stream("state_b").report

    def count():
        return sum(zone.capacity - zone.room for zone in zones()) // (g.channels * g.planes)

    return count


@pytest.fixture
def unchanged(state, weights):
    """Called at the end: the first generation is there, and a whole step from it works."""

    def check():
        for array, expected in ((Input.W, weights), (Input.M, [np.zeros_like(w) for w in weights])):
            for group in state.read(array):
                assert [one.tobytes() for one in group] == [one.tobytes() for one in expected]
        state.update([weights, weights], [ADAM.constants(1)] * 2)
        state.commit()

    return check


def test_rows_go_as_soon_as_their_gradients_are_there(state, begin, rows, weights, unchanged):
    under_way, seen = begin(), []
    for group, tensor in ((0, 1), (0, 0), (1, 0), (1, 1), (0, 3), (0, 2), (0, 4)):
        under_way.give(group, tensor, weights[tensor])
        seen.append(rows())
    # A group has four rows, of which the last one is not full; the second group begins after the first.
    assert seen == [0, 1, 1, 1, 1, 3, 5]
    for tensor in (2, 3, 4):
        assert not under_way.done
        under_way.give(1, tensor, weights[tensor])
    assert rows() == 8 and under_way.done
    assert under_way.result() == under_way.result() == [None, None]
    state.skip()
    unchanged()


def test_given_wrongly(state, begin, weights, unchanged):
    under_way = begin()
    under_way.give(0, 1, weights[1])
    for group, tensor, gradient, message in (
        (0, 1, weights[1], "tensor 1 of gradients of group 0 was given before"),
        (1, 1, weights[0], r"tensor 1 of gradients of group 1 is float32\[3\]; expected float32\[170\]"),
        (1, 0, np.zeros(3), r"is float64\[3\]; expected float32\[3\]"),
        (1, 5, weights[0], "tensor 5 of gradients of group 1; expected a number below 5"),
    ):
        with pytest.raises(TensorMismatch, match=message):
            under_way.give(group, tensor, gradient)
    with pytest.raises(TensorMismatch, match="no gradient of tensor 0 of group 0 and 8 more; expected all"):
        under_way.result()
    for action in (state.commit, state.skip):
        with pytest.raises(UpdatePending, match="whose result was not waited for"):
            action()
    for action in (begin, state.renew):
        with pytest.raises(UpdatePending):
            action()
    for group in (0, 1):
        for tensor, gradient in enumerate(weights):
            if (group, tensor) != (0, 1):
                under_way.give(group, tensor, gradient)
    under_way.result()
    state.skip()
    unchanged()


def test_constants_of_too_few_groups(state, unchanged):
    with pytest.raises(TensorMismatch, match="constants of 1 groups; expected 2"):
        state.begin([ADAM.constants(1)])
    unchanged()


def test_dropped(state, begin, rows, weights, unchanged):
    under_way = begin()
    under_way.give(0, 0, weights[0])
    under_way.give(0, 1, weights[1])
    assert rows()
    under_way.drop()
    under_way.drop()
    assert not rows()
    with pytest.raises(NothingToCommit, match="a gradient for an update that has ended"):
        under_way.give(0, 2, weights[2])
    with pytest.raises(NothingToCommit, match="skip without an update"):
        state.skip()
    unchanged()


def test_dropped_by_other_content(state, begin, weights, unchanged):
    under_way = begin()
    under_way.give(0, 1, weights[1])
    state.initialise([weights, weights])
    with pytest.raises(NothingToCommit):
        under_way.give(0, 0, weights[0])
    unchanged()


def test_pinned_meanwhile(state, begin, weights):
    under_way = begin()
    pinned = state.pin()
    for group in (0, 1):
        for tensor, gradient in enumerate(weights):
            under_way.give(group, tensor, gradient)
    under_way.result()
    state.commit()
    assert [one.tobytes() for one in state.read(Input.W, pinned)[1]] == [w.tobytes() for w in weights]


def test_a_tensor_buffer_without_room(device, state, begin, weights, unchanged):
    under_way = begin()
    device.wait()  # the constants hold some of it
    taken = device.buffer(device.buffer_free_bytes - 512, np.uint8)
    under_way.give(0, 0, weights[0])  # less than a row
    with pytest.raises(BufferFull):
        under_way.give(0, 1, weights[1])
    del taken
    with pytest.raises(NothingToCommit):
        state.commit()
    unchanged()


@pytest.mark.parametrize("failures", [1, 100])
def test_programs_that_fail_are_repeated_with_the_gradients_that_were_given(
    monkeypatch, state, begin, weights, unchanged, failures
):
    original, left = StreamZones.update, [Status.WRITE_FAULT] * failures

    def update(*arguments):
        status = original(*arguments)
        return left.pop() if left and not status else status

    monkeypatch.setattr(StreamZones, "update", update)
    under_way = begin()
    for group in (0, 1):
        for tensor, gradient in enumerate(weights):
            under_way.give(group, tensor, gradient)
    if failures > ATTEMPTS:
        with pytest.raises(MediaError, match="WRITE_FAULT"):
            under_way.result()
        left.clear()
    else:
        under_way.result()
        state.commit()
        expected, _ = ADAM.step(weights[2], weights[2], ADAM.initial_state(weights[2]), 1)
        assert all(group[2].tobytes() == expected.tobytes() for group in state.read(Input.W))
        return
    unchanged()


@pytest.mark.parametrize("fault", [False, True])
def test_constants_of_another_state_between(monkeypatch, device, weights, fault):
    """The update is repeated; one that does not see it (a planted fault) has other weights."""
    if fault:
        monkeypatch.setattr(GroupUpdate, "is_replaced", False)
    states = [
        device.optimizer_state([GROUP], streams)
        for streams in (("state_a", "state_b"), ("state_c", "trained"))
    ]
    for state in states:
        state.initialise([weights])
    under_way = states[0].begin([ADAM.constants(1)])
    for tensor in (0, 1):
        under_way.give(0, tensor, weights[tensor])
    states[1].update([weights], [Adam(0.5).constants(1)])
    states[1].skip()
    for tensor in (2, 3, 4):
        under_way.give(0, tensor, weights[tensor])
    under_way.result()
    states[0].commit()
    expected, _ = ADAM.step(weights[2], weights[2], ADAM.initial_state(weights[2]), 1)
    assert (states[0].read(Input.W)[0][2].tobytes() == expected.tobytes()) != fault
