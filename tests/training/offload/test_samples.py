"""Networks by formula: bytes, FLOPs and uses in closed form."""

import pytest

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.processor import Processor
from flashtrain.training.offload.samples import SAMPLES, GptChain, ResNetChain, ToyChain


def test_gpt_saves_16_times_the_hidden_state_and_the_scores():
    """Of each layer: 2 + 1 + 3 + 1 + 1 + 4 + 4 hidden states, and a softmax per head."""
    network = GptChain(layers=3, hidden=64, heads=4, tokens=32)
    profile = network.profile(5)
    hidden, scores = 4 * 5 * 32 * 64, 4 * 5 * 4 * 32 * 32
    assert profile.saved_bytes == 3 * (16 * hidden + scores)
    assert len(profile.operations) == 2 * (1 + 3 * 8)
    assert profile.resident_bytes == 16 * 3 * (12 * 64**2 + 4 * 64)


def test_gpt_takes_the_time_of_its_flops():
    """24 h^2 + 4 t h FLOPs per token and layer, three times as many with the backward pass."""
    endless = Processor(1e12, 1e30)
    profile = GptChain(2, 64, 4, 32, endless).profile(1)
    assert profile.seconds == pytest.approx(3 * 2 * 32 * (24 * 64**2 + 4 * 32 * 64) / 1e12)


def test_a_relu_output_is_one_storage_of_two_savers():
    profile = ResNetChain(blocks=(1,), width=8, side=4).profile(2)
    relu = [tensor for tensor in profile.tensors if tensor.relu]
    assert len(relu) == 2 and all(len(tensor.uses) == 2 for tensor in relu)
    conv = {profile.operations[tensor.uses[0]].name for tensor in relu}
    assert conv == {"layer1.0.conv2.backward", "layer1.0.conv3.backward"}


def test_the_backward_pass_needs_tensors_in_reverse_order():
    profile = ToyChain(operations=5).profile(3)
    assert [tensor.uses for tensor in profile.tensors] == [(9,), (8,), (7,), (6,), (5,)]
    assert profile.seconds == pytest.approx(5 * 3 * 3 * 120e-6)


@pytest.mark.parametrize("name", SAMPLES)
def test_more_examples_are_proportionally_more_bytes(name):
    one, four = SAMPLES[name].profile(1), SAMPLES[name].profile(4)
    assert four.saved_bytes == 4 * one.saved_bytes
    assert four.resident_bytes == one.resident_bytes
    with pytest.raises(OffloadError, match="batch: expected at least 1, got 0"):
        SAMPLES[name].profile(0)
