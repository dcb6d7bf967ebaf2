"""Files in a store: what was written is read, in whole and in parts."""

import io

import numpy as np
import pytest
import torch

from flashtrain.checkpoint import (
    AppendedCheckpoints,
    CheckpointError,
    CheckpointExists,
    NoCheckpoint,
    save,
)
from flashtrain.checkpoint.stores.flash_file import CHUNK_BYTES
from flashtrain.torch.checkpoint import flash_file
from tests.torch.compare import network, same


def names(store):
    return [one.name for one in store.checkpoints]


def test_what_torch_saves_it_loads(device, store):
    state = {"model": network().state_dict(), "large": torch.randn(90_000).bfloat16(), "epoch": 3}
    with flash_file(store, "a", "wb", step=5) as file:
        torch.save(state, file)
        assert names(store) == []
    assert store.checkpoints[0].step == 5
    device.link.power_cycle()
    device.recover()
    with flash_file(AppendedCheckpoints(device), "a") as file:
        loaded = torch.load(file)
    same([*loaded["model"].values(), loaded["large"]], [*state["model"].values(), state["large"]])
    assert loaded["epoch"] == 3


def test_arrays_of_numpy(store):
    array = np.arange(40_000)
    with flash_file(store, "a", "wb") as file:
        np.savez(file, array=array)
    with flash_file(store, "a") as file:
        assert np.array_equal(np.load(file)["array"], array)


def test_as_a_file_in_memory(store, seed):
    random = np.random.default_rng(seed)
    memory, file = io.BytesIO(), flash_file(store, "a", "wb")
    for size in random.integers(0, 2 * CHUNK_BYTES, 9):
        data = random.bytes(int(size))
        assert file.write(memoryview(data)) == memory.write(data)
        assert file.tell() == memory.tell()
    file.close()
    file.close()
    with pytest.raises(ValueError, match="closed file"):
        file.write(b"more")
    file = flash_file(store, "a")
    assert file.readable() and file.seekable() and not file.writable()
    memory.seek(0)
    for _ in range(60):
        whence = int(random.integers(3))
        least = [0, -memory.tell(), -len(memory.getvalue())][whence]
        offset = least + int(random.integers(len(memory.getvalue()) + 9))
        assert file.seek(offset, whence) == memory.seek(offset, whence) == file.tell()
        size = int(random.integers(CHUNK_BYTES * 3 // 2))
        assert file.read(size) == memory.read(size)
    file.seek(0)
    assert file.read() == memory.getvalue()
    with pytest.raises(ValueError, match="seek to byte -1"):
        file.seek(-1)


def test_a_read_takes_what_is_asked_for(store, read):
    with flash_file(store, "a", "wb") as file:
        for number in range(10):
            file.write(bytes([number]) * CHUNK_BYTES)
    with flash_file(store, "a") as file:
        read.clear()
        file.seek(7 * CHUNK_BYTES - 2)
        assert file.read(4) == b"\6\6\7\7" and file.read(5) == b"\7" * 5
        assert sum(read) <= 2 * (CHUNK_BYTES + store._stream.block_bytes)


def test_a_file_that_is_not_finished_never_was(store):
    with pytest.raises(ZeroDivisionError), flash_file(store, "a", "wb") as file:
        file.write(bytes(3 * CHUNK_BYTES))
        _ = 1 / 0
    assert file.closed and names(store) == []
    file = flash_file(store, "a", "wb")
    file.write(b"forgotten")
    del file
    assert names(store) == []
    with flash_file(store, "a", "wb"):
        pass
    assert names(store) == ["a"]
    with flash_file(store, "a") as file:
        assert file.read() == b""


def test_what_is_refused(store):
    with pytest.raises(CheckpointError, match="mode is 'w'; expected 'rb' or 'wb'"):
        flash_file(store, "a", "w")
    with pytest.raises(NoCheckpoint, match="no checkpoint 'a'"):
        flash_file(store, "a")
    save(store, "a", 1, {"w": np.ones(3)})
    with pytest.raises(NoCheckpoint, match="'a' is no file; its arrays are w"):
        flash_file(store, "a")
    with pytest.raises(CheckpointExists):
        flash_file(store, "a", "wb")
