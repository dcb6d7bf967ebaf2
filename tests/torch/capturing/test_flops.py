"""FLOPs of operators beside closed forms, and operators that have none are listed."""

from collections.abc import Callable
from math import log2, prod

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula

from flashtrain.torch import capture
from flashtrain.torch.capturing.flops import flops_of
from flashtrain.torch.capturing.recording import Recording

ATEN = torch.ops.aten
OFFSETS = torch.tensor([3, 8], dtype=torch.int32)


class Of(nn.Module):
    """A function of parameters of these shapes."""

    def __init__(self, function: Callable[..., Tensor], *shapes: tuple[int, ...]) -> None:
        super().__init__()
        self.function = function
        self.operands = nn.ParameterList(nn.Parameter(torch.randn(shape)) for shape in shapes)

    def forward(self, _: Tensor) -> Tensor:
        return self.function(*self.operands)


def recorded(function: Callable[..., Tensor], *shapes: tuple[int, ...]) -> Recording:
    return capture(Of(function, *shapes), torch.Tensor.sum, torch.ones(1)).recording


def grouped(left: Tensor, right: Tensor) -> Tensor:
    return functional.grouped_mm(left.bfloat16(), right.bfloat16(), offs=OFFSETS).float()


def in_place(name: str) -> Callable[..., Tensor]:
    return lambda added, *operands: getattr(added * 1, name)(*operands)


PRODUCTS = {  # function, shapes, FLOPs of the forward pass; the backward pass has two products as large
    "grouped rows": (grouped, [(8, 16), (2, 16, 24)], 2 * 8 * 16 * 24),
    "addbmm": (torch.addbmm, [(4, 6), (3, 4, 5), (3, 5, 6)], 2 * 3 * 4 * 5 * 6),
    "addmm_": (in_place("addmm_"), [(4, 6), (4, 5), (5, 6)], 2 * 4 * 5 * 6),
    "baddbmm_": (in_place("baddbmm_"), [(3, 4, 6), (3, 4, 5), (3, 5, 6)], 2 * 3 * 4 * 5 * 6),
    "addbmm_": (in_place("addbmm_"), [(4, 6), (3, 4, 5), (3, 5, 6)], 2 * 3 * 4 * 5 * 6),
    "addr": (torch.addr, [(4, 5), (4,), (5,)], 2 * 4 * 5),
    "conv_tbc": (torch.conv_tbc, [(10, 3, 4), (3, 4, 6), (6,)], 2 * 8 * 3 * 3 * 4 * 6),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->bik", a, b), [(3, 4, 5), (3, 5, 6)], 2 * 3 * 4 * 5 * 6),
    "linear": (functional.linear, [(2, 7, 4), (6, 4), (6,)], 2 * 2 * 7 * 4 * 6),
    "conv2d": (functional.conv2d, [(2, 4, 5, 5), (6, 4, 3, 3)], 2 * 2 * 9 * 6 * 4 * 9),
    "conv2d, transposed": (functional.conv_transpose2d, [(2, 4, 5, 5), (4, 6, 3, 3)], 2 * 2 * 25 * 6 * 4 * 9),
    "conv2d, depthwise": (
        lambda a, b: functional.conv2d(a, b, groups=4), [(2, 4, 5, 5), (4, 1, 3, 3)], 2 * 2 * 9 * 4 * 9,
    ),
    "conv1d, 2 groups": (
        lambda a, b: functional.conv1d(a, b, groups=2), [(2, 4, 10), (6, 2, 3)], 2 * 2 * 8 * 6 * 2 * 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str):
    function, shapes, forward = PRODUCTS[name]
    recording = recorded(function, *shapes)
    assert sum(each.flops for each in recording.operations if not each.backward) == forward
    assert recording.flops == 3 * forward


OTHERS = {  # function, shapes, FLOPs of both passes
    "dot": (torch.dot, [(5,), (5,)], 2 * 5),
    "vdot": (torch.vdot, [(5,), (5,)], 2 * 5),
    "mv": (torch.mv, [(4, 5), (5,)], 2 * 2 * 20),
    "addmv": (torch.addmv, [(4,), (4, 5), (5,)], 2 * 2 * 20),
    "addmv_": (in_place("addmv_"), [(4,), (4, 5), (5,)], 2 * 2 * 20),
    # One product with the weight in each direction, and one with the second operand, of which `bilinear`
    # takes the cheaper order: B=7, O=6, I=4, J=5.
    "bilinear": (
        functional.bilinear, [(7, 4), (7, 5), (6, 4, 5), (6,)],
        2 * (7 * 6 * 4 * 5 + 7 * 6 * 5) + 2 * (7 * 6 * 4 * 5 + 7 * 4 * 5) + 2 * (7 * 6 * 4 * 5 + 7 * 6 * 4)
        + 2 * (7 * 6 * 4 * 5 + 7 * 6 * 5),
    ),
    "rfft": (
        lambda a: torch.view_as_real(torch.fft.rfft(a)), [(4, 16)],
        4 * (2.5 * 16 * 4) + 4 * (5 * 16 * log2(16)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_others(name: str):
    function, shapes, flops = OTHERS[name]
    assert recorded(function, *shapes).flops == flops


def shaped(*shape: int) -> Tensor:
    return torch.empty(shape, device="meta")


def given(*sizes: tuple[int, ...]) -> list[Tensor]:
    return [shaped(*size) for size in sizes]


RNN_WEIGHTS = given((24, 5), (24, 6), (24,), (24,), (24, 6), (24, 6), (24,), (24,))
FORMULAS = [
    ("_grouped_mm", given((8, 16), (16, 24)), 2 * 8 * 16 * 24),  # gradients of weights: groups of inner rows
    ("_grouped_mm", given((2, 8, 16), (16, 24)), 2 * 8 * 16 * 24),
    ("_grouped_mm", given((2, 8, 16), (2, 16, 24)), 2 * 2 * 8 * 16 * 24),
    ("_scaled_grouped_mm", given((8, 16), (2, 16, 24)), 2 * 8 * 16 * 24),
    ("_scaled_mm", given((8, 16), (16, 24), (), ()), 2 * 8 * 16 * 24),
    ("_int_mm", given((8, 16), (16, 24)), 2 * 8 * 16 * 24),
    ("_addmm_activation", given((24,), (8, 16), (16, 24)), 2 * 8 * 16 * 24),
    ("_euclidean_dist", given((2, 40, 5), (2, 60, 5)), 2 * 2 * 40 * 60 * 7),
    ("_fft_c2c", [shaped(4, 8, 16), [1, 2]], 4 * 5 * 128 * 7),
    ("_fft_c2r", [shaped(4, 9), [1]], 4 * 2.5 * 16 * 4),
    ("_cudnn_rnn", [shaped(7, 3, 5), RNN_WEIGHTS], 2 * 21 * 24 * (5 + 6 + 6 + 6)),
    ("_cudnn_rnn_backward", [shaped(7, 3, 5), RNN_WEIGHTS], 2 * 2 * 21 * 24 * (5 + 6 + 6 + 6)),
    ("_scaled_dot_product_fused_attention_overrideable", given(*3 * [(2, 3, 8, 4)]), 4 * 2 * 3 * 8 * 8 * 4),
]


@pytest.mark.parametrize(("name", "operands", "flops"), FORMULAS)
def test_formulas(name: str, operands: list, flops: float):
    operator = getattr(getattr(ATEN, name), getattr(ATEN, name).overloads()[0])
    assert flops_of(operator, tuple(operands), {}, shaped(4, 16)) == flops


def test_pytorch_counts_the_same_where_it_has_a_formula():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))
    x = torch.randn(2, 3, 8, 8)
    with FlopCounterMode(display=False) as counter:
        model(x).sum().backward()
    assert capture(model, torch.Tensor.sum, x).recording.flops == counter.get_total_flops()


def test_operators_without_a_formula():
    """With their bytes: the gelu reads and writes 64 elements, and its gradient's operator 3 times 64."""
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU())
    recording = capture(model, lambda y: y.square().sum(), torch.ones(8, 8)).recording
    listed = recording.uncounted
    assert listed["aten.gelu"] == 2 * 256 and listed["aten.gelu_backward"] == 3 * 256
    assert not {"aten.addmm", "aten.mm", "aten.view", "aten.t"} & set(listed)
    assert list(listed.values()) == sorted(listed.values(), reverse=True)
    total = sum(each.bytes for each in recording.operations)
    assert recording.uncounted_shares["aten.gelu"] == 512 / total
    profile = capture(nn.Linear(8, 8), torch.Tensor.sum, torch.ones(8, 8), measured=1).profile()
    assert 0 < sum(profile.uncounted.values()) < 1


@torch.library.custom_op("flashtrain_test::product", mutates_args=())
def product(left: Tensor, right: Tensor) -> Tensor:
    return left @ right


@product.register_fake
def _(left: Tensor, right: Tensor) -> Tensor:
    return left.new_empty(left.shape[0], right.shape[1])


product.register_autograd(
    lambda ctx, gradient: (gradient @ ctx.saved_tensors[1].T, ctx.saved_tensors[0].T @ gradient),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)


def test_an_operator_of_the_user(monkeypatch: pytest.MonkeyPatch):
    """It is listed until `register_flop_formula` has its formula."""
    shapes, each = [(4, 5), (5, 6)], 2 * 4 * 5 * 6
    before = recorded(product, *shapes)
    assert before.flops == 2 * each
    assert before.uncounted["flashtrain_test.product"] == 4 * (4 * 5 + 5 * 6 + 4 * 6)
    packet = torch.ops.flashtrain_test.product
    monkeypatch.setitem(flop_registry, packet, None)  # so that the formula is taken back
    del flop_registry[packet]
    register_flop_formula(packet)(lambda left, right, out_shape=None, **_: 2 * prod(left) * right[1])
    after = recorded(product, *shapes)
    assert after.flops == 3 * each and "flashtrain_test.product" not in after.uncounted
