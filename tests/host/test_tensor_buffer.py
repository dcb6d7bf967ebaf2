"""Arrays in the tensor buffer: where they lie, and how long."""

import gc

import numpy as np
import pytest

from flashtrain.host import ArrayError, BufferFull
from flashtrain.host.memory.tensor_buffer import TensorBuffer

BLOCK = 512


@pytest.fixture
def buffer():
    return TensorBuffer(np.full(16 * BLOCK, 0xEE, np.uint8), 3 * BLOCK + 1, BLOCK)


def test_arrays_are_zeros_in_the_memory(buffer):
    array = buffer.array((10, 20), np.float32)
    assert not array.any()
    array[:] = 1.5
    address = buffer.address_of(array)
    assert address == 4 * BLOCK
    assert (buffer.memory[address : address + array.nbytes].view(np.float32) == 1.5).all()
    assert not buffer.memory[address + array.nbytes : address + 2 * BLOCK].any()


def test_an_array_leaves_with_its_last_view(buffer):
    assert buffer.free_blocks == 12
    array = buffer.array((BLOCK,), np.uint8)
    part = array[5:9]
    transposed = array.reshape(2, -1).T
    assert buffer.free_blocks == 11
    del array
    gc.collect()
    assert buffer.free_blocks == 11
    del part
    gc.collect()
    assert buffer.free_blocks == 11
    del transposed
    gc.collect()
    assert buffer.free_blocks == 12


def test_what_the_device_can_use_where_it_is(buffer):
    array = buffer.array((3 * BLOCK + 8,), np.uint8)
    base = buffer.address_of(array)
    assert base is not None
    assert buffer.address_of(array.view(np.float64)) == base
    assert buffer.address_of(array[BLOCK : 3 * BLOCK]) == base + BLOCK
    for other in (
        array[1:],
        array[: BLOCK - 1],
        array[:-1],
        array[::2],
        array[BLOCK:],
        np.zeros(BLOCK, np.uint8),
    ):
        assert buffer.address_of(other) is None


def test_no_room(buffer):
    kept = buffer.array((10 * BLOCK,), np.uint8)
    with pytest.raises(BufferFull, match="no room for 3 blocks of 512 bytes: 2 of 12 are free"):
        buffer.array((2 * BLOCK + 1,), np.uint8)
    assert buffer.address_of(kept) == 4 * BLOCK


@pytest.mark.parametrize("shape", [(0,), (2, 0), (-1,), (1.5,)])
def test_impossible_shapes(buffer, shape):
    with pytest.raises(ArrayError, match="expected dimensions of at least 1"):
        buffer.array(shape, np.float32)


@pytest.mark.parametrize("dtype", [object, "S0", "no such type"])
def test_impossible_dtypes(buffer, dtype):
    with pytest.raises(ArrayError, match="dtype"):
        buffer.array((3,), dtype)
