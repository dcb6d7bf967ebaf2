"""Named tensors in streams: versions, padding, and zones that come free."""

import random

import numpy as np
import pytest

from flashtrain.host import StreamFull
from flashtrain.host.queues.command_errors import AccessDenied
from flashtrain.spec import Port
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.training.arrays import ArraySpec
from flashtrain.training.errors import TensorError
from flashtrain.training.optimizers import Adam
from flashtrain.training.sequence import StreamRole, TensorInfo
from flashtrain.training.state import StateStore
from flashtrain.training.tensors import DeviceStorage, TensorStore


def floats(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_tensors_of_any_shape_come_back(tiny):
    store = TensorStore(tiny, "activations")
    tensors = {
        "matrix": floats((7, 33)),
        "mask": np.arange(300, dtype=np.uint8),
        "one": floats((1,)),
        "exact": floats((128,)),  # one block of `tiny` to the byte
        "large": floats((1000,)),
    }
    for name, array in tensors.items():
        store.append(name, array, Port.CORE).result()
    for name, array in tensors.items():
        back = store.read(name, Port.CORE).result()
        assert (back.shape, back.dtype, back.tobytes()) == (array.shape, array.dtype, array.tobytes())
    assert store.names == tuple(tensors)
    assert [store.handle(name).blocks for name in tensors] == [2, 1, 1, 1, 8]
    assert store.traffic.appended_bytes == sum(array.nbytes for array in tensors.values())
    assert store.traffic.stored_bytes == 13 * 512
    assert store.traffic.read_bytes == store.traffic.appended_bytes


def test_a_new_version_supersedes_the_old_one(tiny):
    store = TensorStore(tiny, "weights")
    store.append("w", floats((10,), 1), Port.CORE).result()
    before = store.handle("w")
    pending = store.append("w", floats((20,), 2), Port.CORE)
    assert store.handle("w") == before
    pending.result()
    assert store.handle("w").lba != before.lba
    assert store.read("w", Port.CORE).result().tobytes() == floats((20,), 2).tobytes()


def test_many_appends_and_reads_may_be_under_way_at_once(small):
    store = TensorStore(small, "activations")
    arrays = {f"t{i}": floats((100 * i,), i) for i in range(1, 40)}
    appends = [store.append(name, array, Port.CORE) for name, array in arrays.items()]
    for append in appends:
        append.result()
    reads = {name: store.read(name, Port.CORE) for name in reversed(arrays)}
    for name, read in reads.items():
        assert read.result().tobytes() == arrays[name].tobytes()


def test_a_reset_drops_everything_and_makes_room(tiny):
    store = TensorStore(tiny, "activations")
    for seed in range(20):
        store.append("x", floats((128 * 30,), seed), Port.CORE).result()
        assert store.read("x", Port.CORE).result().tobytes() == floats((128 * 30,), seed).tobytes()
        store.reset(Port.CORE).result()
    assert store.names == ()
    assert store.traffic.stream_resets == 20
    with pytest.raises(TensorError, match="stream activations: no tensor x is stored"):
        store.read("x", Port.CORE)


def test_dead_zones_are_reset_and_living_tensors_survive(tiny):
    """Random versions of a few tensors, many times the capacity of the stream."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    choose = random.Random(seed)
    store = TensorStore(tiny, "weights")
    capacity = tiny.stream("weights").zones * tiny.stream("weights").zone_capacity
    current = {}
    while store.traffic.stored_bytes < 5 * capacity * 512:
        # In turn, as training does: a tensor that is never superseded would hold its zone for ever.
        for name in ("a", "b", "c"):
            current[name] = floats((choose.randrange(1, 128 * 9),), choose.randrange(1 << 16))
            store.append(name, current[name], Port.CORE).result()
        for name, array in current.items():
            assert store.read(name, Port.CORE).result().tobytes() == array.tobytes()
    assert store.traffic.zone_resets >= 4 * tiny.stream("weights").zones
    assert store.traffic.stream_resets == 0


def test_zones_come_free_while_appends_are_under_way(tiny):
    store = TensorStore(tiny, "weights")
    under_way = []
    for seed in range(60):
        under_way.append((seed, store.append(f"t{seed % 3}", floats((128 * 5,), seed), Port.CORE)))
        if len(under_way) == 3:
            for _, append in under_way:
                append.result()
            for last, _ in under_way:
                back = store.read(f"t{last % 3}", Port.CORE).result()
                assert back.tobytes() == floats((128 * 5,), last).tobytes()
            under_way.clear()
    assert store.traffic.zone_resets > 5


def test_a_stream_of_living_tensors_gets_full(tiny):
    store = TensorStore(tiny, "trained")
    with pytest.raises(StreamFull, match="trained"):
        for i in range(1000):
            store.append(f"t{i}", floats((128 * 4,)), Port.CORE).result()
    assert store.read("t0", Port.HOST).result().tobytes() == floats((128 * 4,)).tobytes()


def test_ports_keep_to_their_rights(tiny):
    inputs = TensorStore(tiny, "inputs")
    inputs.append("x", floats((10,)), Port.HOST).result()
    assert inputs.read("x", Port.CORE).result().tobytes() == floats((10,)).tobytes()
    with pytest.raises(AccessDenied):
        inputs.read("x", Port.HOST).result()
    with pytest.raises(AccessDenied):
        inputs.append("x", floats((10,)), Port.CORE).result()
    assert inputs.read("x", Port.CORE).result().tobytes() == floats((10,)).tobytes()


W = (
    TensorInfo("weights/a", StreamRole.STATE, ArraySpec((700,))),
    TensorInfo("weights/b", StreamRole.STATE, ArraySpec((3, 5))),
)
INITIAL = [floats(tensor.spec.shape, seed) for seed, tensor in enumerate(W)]


def constants(t):
    return np.array(Adam().constants(t).words, np.uint32).view(np.float32)


def test_state_is_updated_where_it_is(small):
    store = StateStore(small, W, INITIAL, OptimizerCode.ADAM, Port.CORE)
    w, states = list(INITIAL), [Adam().initial_state(array) for array in INITIAL]
    for t in (1, 2, 3):
        gradients = [floats(tensor.spec.shape, 10 * t + i) for i, tensor in enumerate(W)]
        # In another order, as a sequence may list them.
        pending = store.update(W[::-1], gradients[::-1], constants(t))
        assert store.read("weights/b", Port.HOST).result().tobytes() == w[1].tobytes()
        assert pending.result() is True
        for i, g in enumerate(gradients):
            w[i], states[i] = Adam().step(w[i], g, states[i], t)
            for port in Port:
                got = store.read(W[i].name, port).result()
                assert (got.shape, got.tobytes()) == (w[i].shape, w[i].tobytes())
            assert store.peek(W[i].name, Input.V).tobytes() == states[i]["v"].tobytes()
    assert (store.traffic.appends, store.traffic.reads) == (2, 3 * (1 + 4))
    assert (store.updates.updates, store.updates.parameters) == (3, 3 * 715)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_an_overflow_leaves_the_state_as_it_was(small, bad):
    store = StateStore(small, W, INITIAL, OptimizerCode.ADAM, Port.CORE)
    gradients = [floats(tensor.spec.shape) for tensor in W]
    gradients[1][2, 3] = bad
    assert store.update(W, gradients, constants(1)).result() is False
    assert store.peek("weights/a").tobytes() == INITIAL[0].tobytes()
    assert not store.peek("weights/a", Input.M).any()
    gradients[1][2, 3] = np.finfo(np.float32).max  # the norm alone overflows, which nobody asks for
    assert store.update(W, gradients, constants(1)).result() is True
    assert (store.updates.updates, store.updates.skips) == (2, 1)


def test_state_that_does_not_begin_at_zero(small):
    """z of schedule-free AdamW begins at the weights, which a sequence does not do."""
    with pytest.raises(TensorError, match="state of ADAMW_SCHEDULE_FREE begins with the weights"):
        StateStore(small, W, INITIAL, OptimizerCode.ADAMW_SCHEDULE_FREE, Port.CORE)


def test_state_that_is_not_there(small):
    storage = DeviceStorage.on(small)
    with pytest.raises(TensorError, match="the stream state was never initialised"):
        storage.read(W[0], Port.CORE)
    with pytest.raises(TensorError, match="the stream state was never initialised"):
        storage.update(W, INITIAL, constants(1), Port.CORE)
    storage.initialise(W, INITIAL, OptimizerCode.ADAM, Port.CORE).result()
    with pytest.raises(TensorError, match="stream state: no tensor x is stored"):
        storage.read(TensorInfo("x", StreamRole.STATE, ArraySpec((1,))), Port.CORE)
    with pytest.raises(TensorError, match="update of x; expected weights/a, weights/b"):
        storage.update([TensorInfo("x", StreamRole.STATE, W[0].spec)], INITIAL[:1], constants(1), Port.CORE)
    assert storage.update(W[:1], INITIAL[:1], constants(1), Port.CORE).result() is None
    with pytest.raises(TensorError, match="update of weights/a; expected weights/b"):
        storage.update(W[:1], INITIAL[:1], constants(1), Port.CORE)
