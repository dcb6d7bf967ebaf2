"""The counter of live bytes against storages that end when the test ends them."""

import torch

from flashtrain.torch.activations.live_bytes import LiveBytes


def test_each_storage_once_until_it_ends():
    live = LiveBytes()
    first, second = torch.zeros(100, dtype=torch.uint8), torch.zeros(50, dtype=torch.int16)
    for tensor in (first, first[3:], first.view(10, 10), second):
        live.add(tensor.untyped_storage())
    assert (live.now, live.peak) == (200, 200)
    view = first[7:8]
    del first, tensor
    assert live.now == 200  # a view keeps all of it
    del view
    assert (live.now, live.peak) == (100, 200)
    array = second.numpy()
    del second
    assert live.now == 100  # NumPy keeps it
    del array
    assert (live.now, live.peak) == (0, 200)


def test_storages_at_one_address():
    live, addresses, count = LiveBytes(), set(), 0
    while len(addresses) == count and count < 1000:
        tensor = torch.zeros(1 << 20, dtype=torch.uint8)
        addresses.add(tensor.data_ptr())
        live.add(tensor.untyped_storage())
        assert live.now == 1 << 20
        del tensor
        count += 1
    assert len(addresses) < count, "no address was used twice"
    assert (live.now, live.peak) == (0, 1 << 20)
