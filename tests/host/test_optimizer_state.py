"""Optimizer state on the dies: what is refused, and that nothing has changed then."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import (
    ArrayError,
    BufferFull,
    ForeignGeneration,
    GenerationPinned,
    NothingToCommit,
    StateMissing,
    StreamFull,
    TensorGroup,
    TensorMismatch,
    UpdateError,
    UpdatePending,
    open_device,
)
from flashtrain.host.functional.zones import StreamZones
from flashtrain.host.queues.command_errors import (
    AccessDenied,
    MediaError,
    StreamPinned,
    StreamUncommitted,
    ZoneOffline,
)
from flashtrain.host.state.optimizer_state import ATTEMPTS
from flashtrain.numerics.float32 import to_bfloat16
from flashtrain.numerics.state_format import upper_halves
from flashtrain.spec import ConfigError, NodeTable, Persistency, Port, Status, ZoneState
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input, OptimizerCode
from flashtrain.spec.state_format import StateFormat, StateFormats
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.spec.update import Tile
from flashtrain.training.optimizers import SGD, Adam, AdamW, Momentum

ADAM = Adam(0.01)
SIZE = 1500  # in two zones of `tiny`
GROUP = TensorGroup(OptimizerCode.ADAM, ((SIZE,),))


@pytest.fixture
def device():
    with open_device("tiny", node=UPDATE_NODE) as opened:
        yield opened


@pytest.fixture
def tensors(seed):
    random = np.random.default_rng(seed)
    return [random.standard_normal(SIZE).astype(np.float32) for _ in range(2)]


@pytest.fixture
def state(device, tensors):
    made = device.optimizer_state([GROUP])
    made.initialise([[tensors[0]]])
    return made


@pytest.fixture
def update(state, tensors):
    """One update, its success not yet decided."""
    return lambda t=1, optimizer=ADAM: state.update([[tensors[1]]], [optimizer.constants(t)])


@pytest.fixture
def unchanged(state, tensors, update):
    """Called at the end: the first generation is still there, and a step from it works."""

    def check():
        (w,) = state.read(Input.W)[0]
        assert w.tobytes() == tensors[0].tobytes()
        assert not any(state.read(array)[0][0].any() for array in (Input.M, Input.V))
        update()
        state.commit()
        expected, _ = ADAM.step(tensors[0], tensors[1], ADAM.initial_state(tensors[0]), 1)
        assert state.read(Input.W)[0][0].tobytes() == expected.tobytes()

    return check


def test_state_that_was_never_initialised(device, tensors):
    state = device.optimizer_state([GROUP])
    for attempt in (
        lambda: state.current,
        lambda: state.read(Input.W),
        lambda: state.update([[tensors[1]]], [ADAM.constants(1)]),
        state.pin,
    ):
        with pytest.raises(StateMissing, match="never initialised"):
            attempt()
    for action in (state.commit, state.skip):
        with pytest.raises(NothingToCommit, match="without an update before it"):
            action()


def test_commit_or_skip_without_an_update(state, update, unchanged):
    with pytest.raises(NothingToCommit, match="commit without an update"):
        state.commit()
    update()
    state.skip()
    with pytest.raises(NothingToCommit, match="skip without an update"):
        state.skip()
    unchanged()


def test_an_update_that_is_not_decided(device, state, update, unchanged):
    update()
    with pytest.raises(UpdatePending):
        update()
    with pytest.raises(StreamUncommitted):
        device.stream("state_b").read_blocks(0, 1)
    state.skip()
    unchanged()


def test_an_update_under_way(state, tensors, unchanged):
    under_way = state.update_async([[tensors[1]]], [ADAM.constants(1)])
    for action in (state.commit, state.skip):
        with pytest.raises(UpdatePending, match="whose result was not waited for"):
            action()
    with pytest.raises(UpdatePending, match="neither committed nor skipped"):
        state.update_async([[tensors[1]]], [ADAM.constants(1)])
    (w,) = state.read(Input.W)[0]
    assert w.tobytes() == tensors[0].tobytes()
    assert under_way.result() == under_way.result() == [None]
    assert under_way.done
    state.skip()
    unchanged()


@pytest.mark.parametrize("port", Port)
@pytest.mark.parametrize("code", [OptimizerCode.ADAM, OptimizerCode.MOMENTUM, OptimizerCode.SGD])
def test_tensors_one_by_one(device, seed, code, port):
    """Tensors that begin and end anywhere in rows and zones, in two groups."""
    random = np.random.default_rng(seed)
    shapes = (((30, 7), (), (613,), (171,)), ((340,), (3, 100)))
    groups = [TensorGroup(code, each) for each in shapes]
    arrays = groups[0].arrays
    given = {
        array: [[np.asarray(random.standard_normal(s), np.float32) for s in each] for each in shapes]
        for array in arrays
    }
    state = device.optimizer_state(groups)
    state.initialise(*(given[array] for array in arrays))
    for array in arrays:
        for group, each in enumerate(shapes):
            for tensor in range(len(each)):
                where, expected = state.locate(array, group, tensor), given[array][group][tensor]
                got = where.array(device.stream(where.stream, port).read(where.pages))
                assert (got.shape, got.tobytes()) == (expected.shape, expected.tobytes())
    if Input.V not in arrays:
        with pytest.raises(ArrayError, match="has no V"):
            state.locate(Input.V, 0, 0)


@pytest.mark.parametrize(
    ("gradients", "constants", "message"),
    [
        (
            [[np.zeros(SIZE - 1, np.float32)]],
            [ADAM],
            r"gradients of group 0 is float32\[1499\]; expected float",
        ),
        ([[np.zeros(SIZE)]], [ADAM], r"is float64\[1500\]; expected float32\[1500\]"),
        ([[np.zeros(SIZE, np.uint16)]], [ADAM], r"is uint16\[1500\]; expected float32\[1500\]"),
        ([[]], [ADAM], "0 tensors of gradients of group 0; expected 1"),
        ([], [ADAM], "gradients of 0 groups, constants of 1; expected 1 of both"),
        ([[np.zeros(SIZE, np.float32)]], [ADAM, ADAM], "gradients of 1 groups, constants of 2"),
        ([[np.zeros(SIZE, np.float32)]], [SGD()], "SGD has 1 arrays of state; group 0 has 3"),
        ([[np.zeros(SIZE, np.float32)]], [Momentum()], "MOMENTUM has 2 arrays of state; group 0 has 3"),
    ],
)
def test_gradients_that_do_not_match(state, unchanged, gradients, constants, message):
    with pytest.raises(TensorMismatch, match=message):
        state.update(gradients, [optimizer.constants(1) for optimizer in constants])
    unchanged()


def test_state_that_does_not_match(device, state, tensors, unchanged):
    with pytest.raises(TensorMismatch, match=r"W of group 0 is float32\[1499\]"):
        state.initialise([[tensors[0][1:]]])
    with pytest.raises(TensorMismatch, match="V of 2 groups; expected 1"):
        state.initialise([[tensors[0]]], v=[[tensors[0]]] * 2)
    unchanged()
    momentum = device.optimizer_state([TensorGroup(OptimizerCode.MOMENTUM, ((3,),))])
    momentum.initialise([[tensors[0][:3]]], m=[[tensors[1][:3]]])
    assert momentum.read(Input.M)[0][0].tobytes() == tensors[1][:3].tobytes()
    with pytest.raises(ArrayError, match="group 0, MOMENTUM, has no V"):
        momentum.read(Input.V)


def test_codes_of_a_family_share_their_state(state, tensors, update):
    update(1, AdamW(0.01, beta1=0.25))
    state.commit()
    expected, _ = AdamW(0.01, beta1=0.25).step(tensors[0], tensors[1], ADAM.initial_state(tensors[0]), 1)
    assert state.read(Input.W)[0][0].tobytes() == expected.tobytes()


def test_pinned_generations(device, state, tensors, update):
    first = state.pin()
    with pytest.raises(GenerationPinned, match="stream 'state_a' is pinned; expected all to be released"):
        state.initialise([[tensors[0]]])
    with pytest.raises(StreamPinned):
        device.stream("state_a").reset()
    update()
    second = state.commit(pin=True)
    update(2)
    third = state.commit()
    assert [one.stream for one in (first, second, third)] == ["state_a", "state_b", "state_c"]
    with pytest.raises(
        GenerationPinned, match="stream 'state_a', stream 'state_b' is pinned; the next generation has no"
    ):
        update(3)
    assert state.read(Input.W, first)[0][0].tobytes() == tensors[0].tobytes()
    with pytest.raises(ForeignGeneration, match=r"updates=2, page=0\) is not pinned"):
        state.release(third)
    state.release(first)
    with pytest.raises(ForeignGeneration, match="neither the current one nor pinned"):
        state.read(Input.W, first)
    update(3)
    with pytest.raises(ForeignGeneration, match=r"updates=0, page=0\) is not pinned"):
        state.commit(release=first)
    state.commit(release=second)
    assert state.pinned == ()
    # The current generation may be pinned and released without an update between.
    state.release(state.pin())
    update(4)
    state.commit()


def test_a_stream_that_was_reset(device, state, update):
    device.stream("state_a").reset()
    with pytest.raises(ForeignGeneration, match="stream 'state_a' is at generation 1; expected 0"):
        update()
    with pytest.raises(ForeignGeneration):
        state.read(Input.W)
    assert device.stream("state_b").report()[0].write_pointer == 0


def test_another_state_in_the_same_streams(device, state, tensors, update):
    other = device.optimizer_state([GROUP])
    other.initialise([[tensors[1]]])
    with pytest.raises(ForeignGeneration):
        update()
    assert other.read(Input.W)[0][0].tobytes() == tensors[1].tobytes()


def test_a_destination_with_another_user(device):
    g = device.config.geometry
    w = np.ones(2 * 85, np.float32)  # a row of tiles
    state = device.optimizer_state([TensorGroup(OptimizerCode.ADAM, (w.shape,))])
    state.initialise([[w]])
    # The zone has two rows, so that an update of the second is possible.
    device.stream("state_a").append(np.zeros(g.channels * g.planes * g.page_bytes, np.uint8))
    device.stream("state_b").append(np.zeros(g.channels * g.planes * g.page_bytes, np.uint8))
    with pytest.raises(ForeignGeneration, match="stream 'state_b' has another user, who appended to it"):
        state.update([[w]], [ADAM.constants(1)])
    with pytest.raises(NothingToCommit):
        state.commit()
    # The update that failed has emptied it.
    state.update([[w]], [ADAM.constants(1)])
    assert state.read(Input.W)[0][0].tobytes() == w.tobytes()


def test_a_failure_in_the_middle(device, state, update):
    """The second zone of the destination is offline: what was updated in the first is dropped."""
    device.stream("state_b").retire_zone(1, ZoneState.OFFLINE)
    before = state.read(Input.W)[0][0].tobytes()
    with pytest.raises(ZoneOffline):
        update()
    assert [zone.write_pointer for zone in device.stream("state_b").report()] == [0, None]
    assert state.read(Input.W)[0][0].tobytes() == before
    with pytest.raises(NothingToCommit):
        state.commit()


def test_zones_out_of_service_from_the_start(device, tensors):
    device.stream("state_a").retire_zone(0, ZoneState.OFFLINE)
    small = device.optimizer_state([TensorGroup(OptimizerCode.ADAM, ((5,),))])
    with pytest.raises(UpdateError, match="stream 'state_a' has zones out of service"):
        small.initialise([[tensors[0][:5]]])
    with pytest.raises(StateMissing):
        small.read(Input.W)


def test_the_host_may_not_update(device, tensors):
    state = device.optimizer_state([GROUP], port=Port.HOST)
    with pytest.raises(AccessDenied):
        state.initialise([[tensors[0]]])


def test_streams_that_will_not_do(device):
    for names, message in (
        (["state_a"], "expected at least two"),
        (["state_a", "state_a"], "expected different streams"),
        (["state_a", "nothing"], "has no stream 'nothing'"),
    ):
        with pytest.raises(ConfigError, match=message):
            device.optimizer_state([GROUP], streams=names)
    with pytest.raises(ConfigError, match=r"groups is .*; expected at least one"):
        device.optimizer_state([])
    with open_device("small", node=UPDATE_NODE) as other:
        with pytest.raises(ConfigError, match=r"zones of the streams is \{.*\}; expected equal numbers"):
            other.optimizer_state([GROUP], streams=["state_a", "trained"])


def test_state_that_does_not_fit(device):
    g = device.config.geometry
    most = 2 * g.pages * g.channels * 85
    device.optimizer_state([TensorGroup(OptimizerCode.ADAM, ((most,),))])
    with pytest.raises(
        StreamFull, match=r"streams state_a, state_b, state_c have room for 12 rows of tiles each; 13 are"
    ):
        device.optimizer_state([TensorGroup(OptimizerCode.ADAM, ((most,), (1,)))])


@pytest.mark.parametrize("shapes", [(), ((0,),), ((3, -1),)])
def test_groups_without_parameters(shapes):
    with pytest.raises((ConfigError, ArrayError)):
        TensorGroup(OptimizerCode.SGD, shapes)


def test_a_small_tensor_buffer(tensors):
    """Updates go row by row where no more has room; with less than a row there is nothing to be done."""
    queues = 2 * 4 * 80
    blocks = 8
    with open_device("tiny", node=UPDATE_NODE, queue_entries=4, memory_bytes=1024 + blocks * 512) as device:
        assert device.buffer_free_bytes >= blocks * 512 - queues
        state = device.optimizer_state([GROUP])
        state.initialise([[tensors[0]]])
        state.update([[tensors[1]]], [ADAM.constants(1)])
        state.commit()
        expected, _ = ADAM.step(tensors[0], tensors[1], ADAM.initial_state(tensors[0]), 1)
        assert state.read(Input.W)[0][0].tobytes() == expected.tobytes()
        taken = device.buffer(device.buffer_free_bytes - 512, np.uint8)
        with pytest.raises(BufferFull):
            state.update([[tensors[1]]], [ADAM.constants(2)])
        del taken
        assert state.read(Input.W)[0][0].tobytes() == expected.tobytes()
        state.update([[tensors[1]]], [ADAM.constants(2)])
        state.skip()


def commands_to_initialise(node):
    with open_device("tiny", node=node) as device:
        state = device.optimizer_state([TensorGroup(OptimizerCode.SGD, ((1,),))])
        before = device.counters()["COMMANDS"]
        state.initialise([[np.ones(1, np.float32)]])
        return device.counters()["COMMANDS"] - before


def test_a_volatile_first_generation_is_flushed():
    """What lies in write buffers only cannot be sensed."""
    streams = tuple(stream for stream in UPDATE_NODE.streams if stream is not UPDATE_NODE.journal)
    volatile = tuple(replace(stream, persistency=Persistency.VOLATILE) for stream in streams)
    needed = commands_to_initialise(NodeTable("no journal", streams))
    assert commands_to_initialise(NodeTable("volatile", volatile)) == needed + 1


@pytest.fixture
def fail_updates(monkeypatch):
    """Called with a number: the programs of so many UPDATE commands fail from now on."""
    original, left = StreamZones.update, []

    def update(*arguments):
        status = original(*arguments)
        return left.pop() if left and not status else status

    monkeypatch.setattr(StreamZones, "update", update)
    return lambda count: left.extend([Status.WRITE_FAULT] * count)


def test_an_update_whose_programs_fail_is_repeated(state, update, unchanged, fail_updates):
    fail_updates(2 * (ATTEMPTS - 1))  # each attempt has two commands
    update()
    state.skip()
    unchanged()


def test_an_update_whose_programs_fail_again_and_again(state, update, unchanged, fail_updates):
    fail_updates(2 * ATTEMPTS)
    with pytest.raises(MediaError, match="WRITE_FAULT"):
        update()
    with pytest.raises(NothingToCommit):
        state.commit()
    unchanged()


def test_weights_in_two_halves_are_read_in_two_bytes(seed):
    """Upper halves fill a page of `small`: a forward pass reads it alone, and no copy is sent."""
    random = np.random.default_rng(seed)
    formats = StateFormats(StateFormat.SPLIT, StateFormat.BF16)
    with open_device("small", node=UPDATE_NODE) as device:
        g = device.config.geometry
        tile = Tile.of(g, OptimizerCode.ADAM, GradientFormat.BF16, CopyFormat.NONE, formats)
        count = 2 * tile.parameters * g.channels
        weights, gradient = random.standard_normal((2, count)).astype(np.float32)
        group = TensorGroup(OptimizerCode.ADAM, ((count,),), GradientFormat.BF16, formats=formats)
        state = device.optimizer_state([group])
        state.initialise([[weights]])
        state.update([[to_bfloat16(gradient)]], [ADAM.constants(1)])
        state.commit()

        def bytes_read(read):
            before = device.counters()["PAGES_READ"]
            (found,) = read()
            return found, (device.counters()["PAGES_READ"] - before) * g.page_bytes

        exact, of_both = bytes_read(lambda: state.read(Input.W)[0])
        upper, of_upper = bytes_read(lambda: state.read_bfloat16(0))
        assert (of_both, of_upper) == (4 * count, 2 * count)
        assert upper.dtype == np.uint16 and np.array_equal(upper, upper_halves(exact))
        assert not np.array_equal(exact, weights)


def test_weights_that_cannot_be_read_as_bf16(device, state):
    with pytest.raises(ArrayError) as caught:
        state.read_bfloat16(0)
    assert str(caught.value) == "group 0 has W in FP32; expected W in BF16 or SPLIT to be read as BF16"
    momentum = TensorGroup(OptimizerCode.SGD, ((10,),), holds=(Input.M,))
    with pytest.raises(ArrayError, match=r"^group 0 has no W; expected W in BF16 or SPLIT"):
        device.optimizer_state([momentum]).read_bfloat16(0)
