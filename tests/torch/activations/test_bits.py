"""A training with its activations on the flash is one without, to the last bit."""

import pytest
import torch
from torch import nn

from flashtrain.torch import OffloadActivations, save_on_flash

from .networks import Transformer, convnet, images_step, same, trained, words_step

NETWORKS = {"transformer": (Transformer, words_step), "convnet": (convnet, images_step)}


@pytest.mark.parametrize("bfloat16", [False, True], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("memory_bytes", [0, 100_000])
def test_networks(device, name, bfloat16, memory_bytes):
    make, step = NETWORKS[name]
    network, step = make(), step()
    activations = OffloadActivations(device, memory_bytes=memory_bytes, min_bytes=0)
    ours = trained(network, step, lambda: activations, bfloat16)
    assert same(ours, trained(network, step, bfloat16=bfloat16))
    total = activations.report().total
    assert total.read_bytes > total.saved_bytes / 4 and total.kept_bytes == 0


def test_chunks_with_counters_of_their_own(device):
    """An LSTM changes the chunks of one storage in place, each under its own version counter."""
    network = nn.LSTM(8, 16, num_layers=2).double()
    inputs = torch.randn(5, 3, 8, dtype=torch.float64)
    activations = OffloadActivations(device, memory_bytes=0, min_bytes=0)
    ours = trained(network, lambda network: network(inputs)[0].sum(), lambda: activations)
    assert same(ours, trained(network, lambda network: network(inputs)[0].sum()))
    assert activations.report().total.read_bytes


def test_save_on_flash(device):
    network, step = Transformer(), words_step()
    assert same(trained(network, step, lambda: save_on_flash(device)), trained(network, step))


def test_one_context_around_a_loop(device):
    network, step = Transformer(), words_step()
    with OffloadActivations(device, memory_bytes=0) as activations:
        ours = trained(network, step, iterations=3)
    assert same(ours, trained(network, step, iterations=3))
    assert activations.report().total.read_bytes
