"""Codecs of the stream: lossless by default for every type; rounding only by its name, and declared."""

import pytest
import torch

from flashtrain.host import open_device
from flashtrain.spec.streams import SINGLE_NODE, Codec
from flashtrain.torch import CodecUnavailable, OffloadActivations

from .networks import Transformer, same, same_bits, trained, words_step
from .saving import Saved


def coded(codec: Codec):
    return open_device("small_codec", node=SINGLE_NODE.with_codecs(activations=codec))


@pytest.mark.parametrize("codec", Codec)
def test_lossless_unless_asked(codec):
    """NaNs with payloads, infinities, subnormal numbers and negative zeros of every type."""
    bits = torch.randint(-(1 << 31), 1 << 31, (3000,), dtype=torch.int64).to(torch.int32)
    tensors = [
        bits.view(dtype).clone() for dtype in (torch.float32, torch.bfloat16, torch.int32, torch.uint8)
    ]
    tensors.append(bits.view(torch.uint8)[:9001].clone())  # no whole number of elements
    expected = [tensor.clone() for tensor in tensors]
    with coded(codec) as device:
        with OffloadActivations(device, memory_bytes=0) as activations:
            saved = Saved(*tensors)
        del tensors
        assert all(map(same_bits, saved.restore(), expected))
        total = activations.report().total
    assert total.read_bytes == total.offloaded_bytes and total.rounded_bytes == 0


@pytest.mark.parametrize("bfloat16", [False, True], ids=["float32", "bfloat16"])
def test_one_stream_serves_both_types(bfloat16):
    network, step = Transformer(), words_step()
    with coded(Codec.WINDOW32) as device:
        activations = OffloadActivations(device, memory_bytes=0)
        ours = trained(network, step, lambda: activations, bfloat16)
        report = activations.report()
    assert same(ours, trained(network, step, bfloat16=bfloat16))
    assert report.ratio is not None and report.ratio > 1.05


def test_activations_shrink():
    tensor = torch.randn(100_000)
    for codec, values, least in [
        (Codec.WINDOW32, tensor.relu(), 1.8), (Codec.WINDOW32, tensor, 1.1),
        (Codec.WINDOW32, tensor.bfloat16(), 1.3), (Codec.WINDOW16, tensor.bfloat16(), 1.3),
    ]:  # fmt: skip
        with coded(codec) as device, OffloadActivations(device, memory_bytes=0) as activations:
            saved = Saved(values)
            assert same_bits(saved.restore()[0], values)
            ratio = activations.report().ratio
            assert ratio is not None and ratio > least


@pytest.mark.parametrize("name", ["round16", Codec.ROUND16])
def test_rounding_by_name(name):
    """Rounded whether or not the tensor was still in memory; other types keep their bits."""
    numbers, integers = torch.randn(5000), torch.randint(0, 1 << 31, (5000,), dtype=torch.int32)
    for memory_bytes in (0, 1 << 20):
        with coded(Codec.ROUND16) as device:
            with OffloadActivations(device, codec=name, memory_bytes=memory_bytes) as activations:
                saved = Saved(numbers, numbers[7:], integers)
            restored = saved.restore()
            total = activations.report().total
        assert torch.equal(restored[0], numbers.bfloat16().float())
        assert torch.equal(restored[1], restored[0][7:]) and torch.equal(restored[2], integers)
        assert (total.rounded_bytes, total.offloaded_bytes) == (20_000, 40_000)


def test_integers_in_a_rounded_storage():
    """A view of other elements on a storage that is rounded: it is stored once more, with all its bits."""
    numbers = torch.randn(5000)
    with coded(Codec.ROUND16) as device:
        with OffloadActivations(device, codec="round16") as activations:
            saved = Saved(numbers, numbers.view(torch.int32))
        rounded, integers = saved.restore()
        assert activations.report().total.tensors == 2
    assert torch.equal(rounded, numbers.bfloat16().float())
    assert torch.equal(integers, numbers.view(torch.int32))


def test_a_codec_that_the_stream_does_not_have(device):
    with pytest.raises(
        CodecUnavailable, match=r"codec ROUND16 in stream 'activations' of codec RAW; expected RAW"
    ):
        OffloadActivations(device, codec=Codec.ROUND16)
    with pytest.raises(CodecUnavailable, match="codec is 'zip'; expected one of RAW, WINDOW16"):
        OffloadActivations(device, codec="zip")
    with coded(Codec.WINDOW32) as other:
        with pytest.raises(CodecUnavailable, match="expected WINDOW32 or WINDOW16"):
            OffloadActivations(other, codec="round16")
