"""`dcp.save`, `dcp.async_save` and `dcp.load` on a device, in a single process."""

import os
import pickle
import resource
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.api import CheckpointException

from flashtrain.checkpoint import AppendedCheckpoints, CheckpointDamaged, Retention, prune, save
from flashtrain.host import DeviceStream, FunctionalLink, open_device
from flashtrain.model import ModelLink
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import Adam
from flashtrain.torch.checkpoint import FlashReader, FlashWriter
from flashtrain.torch.checkpoint.metadata_bytes import packed, unpacked
from tests.stress.powercut.test_functional_power import FailingLink
from tests.torch.compare import bits, give_gradients, network, same

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled:UserWarning")

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.complex64,
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool,
]  # fmt: skip


def tensor_of_each(random):
    made = {}
    for dtype in DTYPES:
        size = torch.empty((), dtype=dtype).element_size()
        raw = torch.from_numpy(random.integers(0, 2, (3, 5 * size), np.uint8))
        made[str(dtype)] = raw.view(dtype) if dtype is not torch.bool else raw.to(dtype)
    return made


def state_of(random):
    return {
        "model": network().state_dict(),
        "tensors": tensor_of_each(random) | {
            "transposed": torch.randn(6, 4).T, "part": torch.randn(9, 9)[2:5, 1:], "empty": torch.empty(0, 3),
            "scalar": torch.tensor(3.5), "scalar of BF16": torch.tensor(2.5, dtype=torch.bfloat16),
            "conjugate": torch.randn(3, dtype=torch.complex64).conj(),
        },
        "epoch": 7, "text": "host", "bytes": bytes(range(256)), "list": [1.5, None, torch.ones(2)],
        "nested": {"a": {"b": (1, 2)}, "c": OrderedDict(d=True)},
    }  # fmt: skip


def emptied(value):
    """The same with other numbers, for a load to fill."""
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    if isinstance(value, dict):
        return type(value)((key, emptied(one)) for key, one in value.items())
    return [emptied(one) for one in value] if isinstance(value, list) else None


def equal(one, other):
    if isinstance(one, torch.Tensor):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        return bits(one.resolve_conj()) == bits(other.resolve_conj())
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other and type(one) is type(other)


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def test_all_kinds_of_values(device, store, random):
    state = state_of(random)
    dcp.save(state, checkpoint_id="run/step 12", storage_writer=FlashWriter(store))
    (made,) = store.checkpoints
    assert (made.name, made.step) == ("run/step 12", 12)
    assert np.array_equal(store.read(made.name, "model.0.weight"), state["model"]["0.weight"].numpy())
    device.link.power_cycle()
    device.recover()
    loaded = emptied(state)
    dcp.load(loaded, storage_reader=FlashReader(AppendedCheckpoints(device), "run/step 12"))
    assert equal(loaded, state) and not equal(emptied(state), state)


@pytest.mark.parametrize("on_dies", [(), (0,), (1,)], ids=["neither", "from dies", "to dies"])
def test_stateful_objects(device, store, on_dies):
    """Models and optimizers: PyTorch's own, and one on the dies."""
    models = [network() for _ in range(2)]
    optimizers = [
        Adam(model.parameters(), 0.01, device=device)
        if number in on_dies
        else torch.optim.Adam(model.parameters(), 0.01)
        for number, model in enumerate(models)
    ]
    for optimizer in optimizers:
        give_gradients(models)
        optimizer.step()
    writer, reader = FlashWriter(store), FlashReader(store)
    dcp.save({"model": models[0], "optimizer": optimizers[0]}, checkpoint_id="a", storage_writer=writer)
    dcp.load({"model": models[1], "optimizer": optimizers[1]}, checkpoint_id="a", storage_reader=reader)
    same(models[0].state_dict().values(), models[1].state_dict().values())
    first, second = (one.state_dict()["state"] for one in optimizers)
    assert equal(first, second)


def test_a_partial_load_reads_what_is_asked_for(store, read):
    state = {f"layer {number}": torch.randn(100, 100) for number in range(20)}
    dcp.save(state, checkpoint_id="a", storage_writer=FlashWriter(store))
    part, size = {"layer 7": torch.zeros(100, 100)}, 4 * 100 * 100
    read.clear()
    dcp.load(part, checkpoint_id="a", storage_reader=FlashReader(store))
    same(part.values(), [state["layer 7"]])
    block = store._stream.block_bytes
    # Manifest and metadata, and the blocks of the tensor.
    assert sum(read) <= size + 2 * block + 5 * block < 20 * size


@pytest.mark.parametrize("device", [FunctionalLink, ModelLink], indirect=True)
@pytest.mark.parametrize("many", [1, 4])
def test_saves_beside_the_main_thread(device, store, many):
    """The saved numbers are those of the call, though training goes on with the device meanwhile."""
    model = network()
    optimizer = Adam(model.parameters(), 0.01, device=device)
    activations = device.stream("activations")
    expected, futures = [], []
    writer = FlashWriter(store)
    for number in range(many):
        give_gradients([model])
        optimizer.step()
        expected.append({name: bits(p) for name, p in model.state_dict().items()})
        futures.append(
            dcp.async_save({"model": model}, checkpoint_id=f"step {number}", storage_writer=writer)
        )
    steps = 0
    while steps < 3 or not all(future.done() for future in futures):
        give_gradients([model])
        optimizer.step()
        stored = activations.append(np.full(3000, steps))
        assert (activations.read(stored) == steps).all()
        activations.drop(stored)
        steps += 1
    for future in futures:
        future.result()
    assert {one.name for one in store.checkpoints} == {f"step {number}" for number in range(many)}
    for number in range(many):
        other = network()
        dcp.load({"model": other}, checkpoint_id=f"step {number}", storage_reader=FlashReader(store))
        assert {name: bits(p) for name, p in other.state_dict().items()} == expected[number]
    prune(store, Retention(last=1))
    assert [one.step for one in store.checkpoints] == [many - 1]
    assert int(optimizer.state[model[0].weight]["step"]) == many + steps


class PowerFails(Exception):
    pass


@pytest.mark.parametrize("device", [FunctionalLink, ModelLink], indirect=True)
@pytest.mark.parametrize("appends", range(6))
def test_a_loss_of_power_leaves_the_last_whole_one(device, store, monkeypatch, appends):
    """The power fails at an append of the save: of data, or at last of the manifest or the catalogue."""
    state = {"w": torch.randn(100_000), "v": torch.randn(1000)}
    dcp.save(state, checkpoint_id="whole", storage_writer=FlashWriter(store))
    append, annotate = DeviceStream.append_async, DeviceStream.annotate_async
    left = appends

    def failing(original):
        def call(stream, value):
            nonlocal left
            if left == 0:
                raise PowerFails
            left -= 1
            return original(stream, value)

        return call

    monkeypatch.setattr(DeviceStream, "append_async", failing(append))
    monkeypatch.setattr(DeviceStream, "annotate_async", failing(annotate))
    with pytest.raises(CheckpointException, match="PowerFails"):
        dcp.save(
            {"w": torch.zeros(100_000), "v": torch.zeros(1000)},
            checkpoint_id="in part", storage_writer=FlashWriter(store),
        )  # fmt: skip
    monkeypatch.undo()
    device.link.power_cycle()
    device.recover()
    store = AppendedCheckpoints(device)
    store.reclaim()
    assert [one.name for one in store.checkpoints] == ["whole"]
    loaded = emptied(state)
    dcp.load(loaded, checkpoint_id="whole", storage_reader=FlashReader(store))
    assert equal(loaded, state)
    dcp.save(state, checkpoint_id="in part", storage_writer=FlashWriter(store))


def test_power_failures_at_random_commands(seed):
    """Every checkpoint that is there is whole, and the last one that was acknowledged is there."""
    random, kept, acknowledged, cuts = Random(seed), {}, None, 0
    config = preset("tiny")
    config = replace(config, geometry=replace(config.geometry, blocks=80))
    link = FailingLink(random, config)
    with open_device(link=link, node=UPDATE_NODE) as device:
        for step in range(25):
            store = AppendedCheckpoints(device)
            state = {f"layer {number}": torch.randn(500) for number in range(3)}
            link.left = random.randrange(12)
            kept[f"step {step}"] = state
            try:
                dcp.save(state, checkpoint_id=f"step {step}", storage_writer=FlashWriter(store))
                link.left = -1
                acknowledged = step
                prune(store, Retention(last=2))
            except CheckpointException:
                cuts += 1
                link.power_cycle()
                link.left = -1
                device.recover()
                store = AppendedCheckpoints(device)
                store.reclaim()
            names = [one.name for one in store.checkpoints]
            assert len(names) <= 3 and (acknowledged is None or f"step {acknowledged}" in names)
            for name in names:
                loaded = emptied(kept[name])
                dcp.load(loaded, checkpoint_id=name, storage_reader=FlashReader(store))
                assert equal(loaded, kept[name])
    print(cuts, "cuts")
    assert 3 < cuts < 22


def test_nothing_is_visible_before_the_end(store, monkeypatch):
    begun, go_on = Event(), Event()
    append = DeviceStream.append_async

    def slow(stream, array):
        begun.set()
        assert go_on.wait(60)
        return append(stream, array)

    monkeypatch.setattr(DeviceStream, "append_async", slow)
    future = dcp.async_save({"w": torch.ones(9)}, checkpoint_id="a", storage_writer=FlashWriter(store))
    assert begun.wait(60) and store.checkpoints == ()
    go_on.set()
    future.result()
    assert [one.name for one in store.checkpoints] == ["a"]


def test_what_is_refused(store):
    writer, reader, state = FlashWriter(store), FlashReader(store), {"w": torch.ones(3)}
    dcp.save(state, checkpoint_id="a", storage_writer=writer)
    save(store, "plain", 1, {"w": np.ones(3)})
    with pytest.raises(CheckpointException, match="CheckpointExists: there is a checkpoint 'a'"):
        dcp.save(state, checkpoint_id="a", storage_writer=writer)
    with pytest.raises(CheckpointException, match="checkpoint_id is None; expected a name"):
        dcp.save(state, storage_writer=FlashWriter(store))
    with pytest.raises(CheckpointException, match="a tensor has the layout sparse_coo; expected a plain"):
        dcp.save({"w": torch.eye(3).to_sparse()}, checkpoint_id="b", storage_writer=writer)
    with pytest.raises(CheckpointException, match="no checkpoint 'c' in stream 'trained'; it has a, plain"):
        dcp.load(state, checkpoint_id="c", storage_reader=reader)
    with pytest.raises(CheckpointException, match=r"'plain' has no array '\.metadata'"):
        dcp.load(state, checkpoint_id="plain", storage_reader=reader)
    with pytest.raises(CheckpointException, match="Missing key in checkpoint state_dict: v"):
        dcp.load({"v": torch.ones(3)}, checkpoint_id="a", storage_reader=reader)
    assert [one.name for one in store.checkpoints] == ["a", "plain"]
    assert FlashWriter.validate_checkpoint_id("a") and not FlashReader.validate_checkpoint_id("")


def test_metadata_name_no_other_functions(store):
    dcp.save({"w": torch.ones(3, dtype=torch.bfloat16)}, checkpoint_id="a", storage_writer=FlashWriter(store))
    metadata = FlashReader(store, "a").read_metadata()
    assert unpacked(packed(metadata)) == metadata

    class Planted:
        def __reduce__(self):
            return os.getcwd, ()

    for planted in (pickle.dumps(Planted()), pickle.dumps(torch.ones(2)), b"no pickle", pickle.dumps(3)):
        with pytest.raises(CheckpointDamaged, match="metadata of the checkpoint are"):
            unpacked(planted)


@pytest.mark.parametrize(
    "planted",
    [
        b"\x80\x04Nr\xff\xff\xff\x1f.",  # entry 536,870,911 of the memo
        b"Np536870911\n.",
        b"\x80\x05\x96\x00\x00\x00\x40\x00\x00\x00\x00.",  # a bytearray of 1 GiB
        b"(" + b"K\x01" * 1000 + b"t\x940" + (b"ctorch\nSize\nh\x00\x85R0" * 100) + b"N.",  # copies of a size
    ],
)
def test_metadata_take_no_more_memory_than_they_have_bytes(planted):
    limit = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20), limit[1]))
    try:
        with pytest.raises(CheckpointDamaged, match=r"entry 536870911|bytearray8, but only|it copies 1000"):
            unpacked(planted)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)


def test_metadata_of_many_members():
    """Objects that share one large table of members."""
    state = pickle.dumps({f"member {number}": number for number in range(1000)}, 2)[2:-1]
    module = b"ctorch.distributed.checkpoint.metadata\nBytesStorageMetadata\n"
    raw = b"\x80\x02" + state + b"q\x000" + (module + b")\x81h\x00b0") * 100 + b"N."
    with pytest.raises(CheckpointDamaged, match="it copies 1000 items; expected 64 at most"):
        unpacked(raw)


def test_a_process_group_of_one(store, tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    try:
        model, other = nn.Linear(3, 4), nn.Linear(3, 4)
        dcp.save({"model": model}, checkpoint_id="a", storage_writer=FlashWriter(store))
        dcp.load({"model": other}, checkpoint_id="a", storage_reader=FlashReader(store))
    finally:
        dist.destroy_process_group()
    same(model.parameters(), other.parameters())
