"""Capture without data of what looks at its data, and of experts."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from flashtrain.torch import CaptureError, capture
from flashtrain.torch.capturing.fake_tensors import FakeTensors


def same_on_meta(model, loss, inputs):
    """The recording on the meta device, compared with that of real tensors."""
    real = capture(model, loss, inputs).recording
    on_meta = {tensor: tensor.to("meta") for tensor in inputs.values()}
    inputs = {name: on_meta[tensor] for name, tensor in inputs.items()}
    meta = capture(model.to("meta"), loss, inputs).recording
    assert [each.flops for each in meta.operations] == [each.flops for each in real.operations]
    assert meta.saves == real.saves
    assert meta.parameters == real.parameters
    return meta


class Masked(nn.Module):
    """Leaves out a mask without padding, for which it has to look: `transformers` does the same."""

    def __init__(self, width=8):
        super().__init__()
        self.embedding = nn.Embedding(20, width)
        self.out = nn.Linear(width, 20)

    def forward(self, ids, padding):
        x = self.embedding(ids)
        tokens = ids.shape[1]
        mask = padding[:, None, :] & torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        if not isinstance(padding, FakeTensor) and padding.all().item():
            return self.out(x)
        scores = (x @ x.transpose(-1, -2)).masked_fill(~mask, -1e9)
        return self.out(scores.softmax(-1) @ x)


def masked_loss(output):
    return cross_entropy(output.flatten(0, 1), torch.zeros(12, dtype=torch.long, device=output.device))


def test_a_mask_that_the_model_looks_into():
    ids = torch.arange(12).reshape(2, 6)
    recording = same_on_meta(Masked(), masked_loss, {"ids": ids, "padding": ids < 10})
    assert sum(each.flops for each in recording.operations) == 3 * 2 * 12 * 8 * (20 + 2 * 6)


def test_a_mask_that_the_model_makes_itself():
    class Packed(Masked):
        def forward(self, ids):
            ends = ids.diff(dim=-1, prepend=ids[:, :1]) != 0
            if not isinstance(ends, FakeTensor) and not ends.any():
                return self.out(self.embedding(ids))
            return super().forward(ids, ends)

    ids = torch.tensor([[3, 3, 4, 4, 4, 4], [1, 2, 2, 2, 2, 2]])
    same_on_meta(Packed(), masked_loss, {"ids": ids})


class Experts(nn.Module):
    """A layer of experts, each a linear layer, on the rows that a router sorts."""

    def __init__(self, experts, width, out, dtype):
        super().__init__()
        self.router = nn.Linear(width, experts, dtype=dtype)
        self.weight = nn.Parameter(torch.randn(experts, out, width, dtype=dtype))

    def forward(self, x):
        expert = self.router(x).argmax(-1)
        counts = (expert[:, None] == torch.arange(len(self.weight), device=x.device)).sum(0)
        rows = x[expert.argsort()]
        return torch._grouped_mm(
            rows, self.weight.transpose(-1, -2), offs=counts.cumsum(0, dtype=torch.int32)
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("out", [16, 24])
def test_experts(dtype, out):
    model = Experts(4, 16, out, dtype)
    x = torch.randn(32, 16, dtype=dtype)
    recording = same_on_meta(model, lambda y: y.float().square().mean(), {"x": x})
    experts, router = 2 * 32 * 16 * out, 2 * 32 * 16 * 4
    # The rows need no gradient, and no gradient comes through the choice of an expert.
    assert recording.flops == router + 2 * experts


ENDS = torch.tensor([8, 24], dtype=torch.int32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("columns", [6, 8, 12])
@pytest.mark.parametrize(
    ("left", "right", "ends"),
    [((24, 16), (2, 16), ENDS), ((5, 24), (24,), ENDS), ((2, 5, 16), (2, 16), None)],
)
def test_layout_of_grouped_products(dtype, columns, left, right, ends):
    """The same as that of PyTorch's kernel for the CPU."""
    *groups, inner = right
    operands = (
        torch.rand(left, dtype=dtype),
        torch.rand(*groups, columns, inner, dtype=dtype).transpose(-1, -2),
    )
    real = torch._grouped_mm(*operands, offs=ends)
    with FakeTensors() as fakes:
        on_meta = [each if each is None else each.to("meta") for each in (*operands, ends)]
        fake = torch._grouped_mm(*on_meta[:2], offs=on_meta[2])
        assert fakes.of(fake) is fake
    assert (fake.shape, fake.stride(), fake.dtype) == (real.shape, real.stride(), real.dtype)
    assert fake.untyped_storage().nbytes() == real.untyped_storage().nbytes()


def test_grouped_products_that_pytorch_refuses():
    left, right = torch.rand(8, 16, device="meta"), torch.rand(2, 12, 8, device="meta")
    with FakeTensors(), pytest.raises(RuntimeError):
        torch._grouped_mm(left, right, offs=torch.empty(2, dtype=torch.int32, device="meta"))


def test_an_input_that_is_changed_in_place():
    class Doubling(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x, again):
            y = self.first(x) + self.first(again)
            return y + self.second(x.mul_(2)) + self.second(again)

    x = torch.rand(2, 4)
    meta = same_on_meta(Doubling(), lambda y: y.square().sum(), {"x": x, "again": x})
    assert [save.input for save in meta.saves] == [0, 0, None]


def test_attention_of_pytorch():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(8, 24)

        def forward(self, x, padding):
            if not isinstance(padding, FakeTensor) and padding.all():
                raise AssertionError
            q, k, v = self.qkv(x)[:, None].chunk(3, -1)
            return scaled_dot_product_attention(q, k, v, attn_mask=padding[:, None, None, :])

    with torch.device("meta"):
        inputs = torch.rand(2, 6, 8), torch.rand(2, 6) < 1
        recording = capture(Attention(), torch.Tensor.sum, inputs).recording
    forward = 2 * 12 * 8 * 24 + 4 * 12 * 6 * 8
    assert sum(each.flops for each in recording.operations if not each.backward) == forward


class Scaled(torch.autograd.Function):
    """Its backward pass takes a number from a tensor."""

    @staticmethod
    def forward(ctx, x, take):
        ctx.take = take
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * float(ctx.take(gradient)), None


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda g: g.sum().item(), "module Backward: aten._local_scalar_dense.default of float32[]: "),
        (lambda g: g.sum().numpy(), "module Backward: "),
    ],
)
def test_backward_pass_that_depends_on_data(take, message):
    class Backward(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            return Scaled.apply(self.linear(x), take)

    model, x = Backward(), torch.rand(2, 4)
    capture(model, torch.Tensor.sum, x)
    with pytest.raises(CaptureError) as error:
        capture(model.to("meta"), torch.Tensor.sum, x.to("meta"))
    assert message in str(error.value)
    assert "if only for fake tensors; or a capture of real tensors" in str(error.value)


def test_fake_tensors_of_another_device():
    with FakeTensorMode():
        model, x = nn.Linear(4, 4), torch.rand(2, 4)
        with pytest.raises(
            CaptureError, match=r"parameter weight: float32\[4, 4\] is a FakeTensor, .*meta device"
        ):
            capture(model, torch.Tensor.sum, x)


def test_the_model_is_afterwards_without_fake_tensors():
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        capture(model, torch.Tensor.sum, torch.rand(3, 4))
    tensors = (*model.parameters(), *model.buffers())
    assert not any(isinstance(each, FakeTensor) for each in tensors)
    assert all(parameter.grad is None for parameter in model.parameters())
