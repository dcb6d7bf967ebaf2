"""Models that cannot be captured: the message names module, tensor and what was expected."""

import pytest
import torch
from torch import nn

from flashtrain.torch import CaptureError, capture

from .models import mlp


class Branch(nn.Module):
    """Control flow that depends on data, by any of several ways."""

    def __init__(self, decide):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.decide = decide

    def forward(self, x):
        y = self.first(x)
        return y if self.decide(y) else -y


class Outer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (lambda y: y.sum() > 0, "module inner: aten._local_scalar_dense.default of bool[]: Tensor.item()"),
        (lambda y: y.nonzero().shape[0], "module inner: aten.nonzero.default of float32[2, 4]: "),
        (lambda y: y.sum().tolist() > 0, "module inner: aten."),
        (lambda y: y.detach().numpy().any(), "module inner: "),
    ],
)
def test_control_flow_that_depends_on_data(decide, message):
    model = Outer(Branch(decide))
    capture(model, torch.Tensor.sum, torch.ones(2, 4))
    with pytest.raises(CaptureError) as error, torch.device("meta"):
        capture(model.to("meta"), torch.Tensor.sum, torch.ones(2, 4))
    assert message in str(error.value)
    assert "real tensors" in str(error.value)


def test_an_error_of_the_model_itself_is_not_ours():
    for device in ("cpu", "meta"):
        with pytest.raises(ZeroDivisionError), torch.device(device):
            capture(Branch(lambda y: 1 / 0), torch.Tensor.sum, torch.ones(2, 4))


def test_sparse_gradient():
    model = nn.Embedding(8, 4, sparse=True)
    with pytest.raises(CaptureError, match=r"float32\[8, 4\] has the layout sparse_coo; expected a plain"):
        capture(model, torch.Tensor.sum, torch.zeros(2, dtype=torch.long))


def test_sparse_activation():
    class Sparse(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            return torch.sparse.mm(x.to_sparse(), self.linear.weight)

    with pytest.raises(CaptureError, match=r"module Sparse: .* has the layout sparse_coo; expected a plain"):
        capture(Sparse(), torch.Tensor.sum, torch.ones(2, 4))


LINEAR = nn.Linear(4, 4)
X = torch.ones(2, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((LINEAR, lambda y: y.detach().sum(), X), "Linear: the loss float32[] has no gradient; expected one"),
        ((LINEAR, lambda y: y, X), "Linear: the loss is float32[2, 4]; expected a tensor of one element"),
        ((LINEAR, lambda y: 1.0, X), "Linear: the loss is a float; expected a tensor of one element"),
        ((LINEAR, None, X), "the loss is a NoneType; expected a function of the model's output"),
        ((lambda x: x, torch.sum, X), "the model is a function; expected a torch.nn.Module"),
        ((LINEAR, torch.sum, 3), "the inputs are a int; expected a tensor, a tuple or a mapping"),
        ((LINEAR, torch.sum, torch.tensor(1.0)), "Linear: no input has a dimension; expected `batch`"),
        ((nn.ReLU(), torch.sum, X), "ReLU: no parameter; expected a model to train"),
        (
            (LINEAR, torch.sum, X.to("meta")),
            "Linear: input 0 lies on meta; expected cpu, as of parameter weight",
        ),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(CaptureError) as error:
        capture(*arguments)
    assert message in str(error.value)


def test_what_the_meta_device_has_not():
    with pytest.raises(CaptureError, match="durations on the meta device; expected real tensors"):
        capture(*mlp("meta"), measured=1)
    with pytest.raises(CaptureError, match="ratios on the meta device; expected real tensors"):
        capture(*mlp("meta"), with_ratios=True)
    with pytest.raises(CaptureError, match="no durations were measured; expected a processor"):
        capture(*mlp("meta")).profile()


def test_autocast():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            with torch.autocast("cpu", torch.bfloat16):
                return self.inner(x)

    real = capture(Mixed(), lambda y: y.float().sum(), X).recording
    assert {save.dtype for save in real.saves} == {"bfloat16"}
    with pytest.raises(
        CaptureError,
        match=r"module inner: torch.nn.functional.linear: autocast has no effect on the meta",
    ):
        capture(Mixed().to("meta"), torch.sum, X.to("meta"))


def test_labels_on_another_device():
    model, _, inputs = mlp("meta")
    _, loss, _ = mlp("cpu")
    with pytest.raises(CaptureError, match=r"module \(loss\): aten.* int64\[16\] lies on cpu; expected meta"):
        capture(model, loss, inputs)


def test_iterations_that_differ():
    class Alternating(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return (self.a if self.calls % 2 else self.b)(x)

    with pytest.raises(CaptureError, match="Alternating: its iterations differ in their operations"):
        capture(Alternating(), torch.Tensor.sum, X, measured=1)
