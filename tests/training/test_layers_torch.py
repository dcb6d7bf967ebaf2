"""Layers, losses and schedules beside PyTorch: outputs, gradients, running statistics, learning rates."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from flashtrain.training.layers import (
    GELU,
    BatchNorm,
    Conv2d,
    Embedding,
    LayerNorm,
    MaxPool2d,
    Softmax,
    mean_squared_error,
    softmax_cross_entropy,
)
from flashtrain.training.schedules import Constant, Cosine, Linear, Step, WarmUp

IMAGE = (2, 7, 5, 3)
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def conv(stride, padding):
    def of_torch(x, weight, bias):
        kernel = weight.reshape(3, 3, 3, 4).permute(3, 2, 0, 1)
        return functional.conv2d(x.permute(0, 3, 1, 2), kernel, bias, stride, padding).permute(0, 2, 3, 1)

    return Conv2d(3, 4, stride=stride, padding=padding), of_torch


CASES = {
    "gelu": (GELU(), lambda x: functional.gelu(x, approximate="tanh")),
    "softmax": (Softmax(), lambda x: functional.softmax(x, -1)),
    "layer_norm": (LayerNorm(3), lambda x, scale, shift: functional.layer_norm(x, (3,), scale, shift)),
    "conv_stride_2": conv(2, 1),
    "conv_padding_2": conv(1, 2),
    "conv_stride_3": conv(3, 0),
    "pool": (
        MaxPool2d(3, 2, 1),
        lambda x: functional.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1).permute(0, 2, 3, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("layer", "of_torch"), CASES.values(), ids=CASES)
def test_outputs_and_gradients(layer, of_torch, seed):
    random = np.random.default_rng(seed)
    x = random.standard_normal(IMAGE)
    parameters = {name: random.standard_normal(shape) for name, shape in layer.parameter_shapes().items()}
    theirs = [torch.tensor(a, requires_grad=True) for a in (x, *parameters.values())]
    expected = of_torch(*theirs)
    y, saved = layer.forward(parameters, x)
    np.testing.assert_allclose(y, expected.detach().numpy(), **CLOSE)
    dy = random.standard_normal(y.shape)
    expected.backward(torch.tensor(dy))
    dx, gradients = layer.backward(parameters, saved, dy)
    for own, tensor in zip((dx, *(gradients[name] for name in parameters)), theirs, strict=True):
        np.testing.assert_allclose(own, tensor.grad.numpy(), **CLOSE)


def test_batch_norm_in_training_and_outside(seed):
    random, layer = np.random.default_rng(seed), BatchNorm(3, momentum=0.3)
    theirs = torch.nn.BatchNorm2d(3, momentum=0.3).double()
    parameters, running = (
        {"scale": random.standard_normal(3), "shift": random.standard_normal(3)},
        layer.first_running(),
    )
    with torch.no_grad():
        theirs.weight.copy_(torch.tensor(parameters["scale"]))
        theirs.bias.copy_(torch.tensor(parameters["shift"]))
    for _ in range(3):
        x = random.standard_normal(IMAGE) * 2 + 1
        tensor = torch.tensor(x, requires_grad=True)
        expected = theirs(tensor.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        y, saved = layer.forward(parameters, x)
        running = layer.next_running(running, saved)
        np.testing.assert_allclose(y, expected.detach().numpy(), **CLOSE)
        dy = random.standard_normal(IMAGE)
        theirs.zero_grad()
        expected.backward(torch.tensor(dy))
        dx, gradients = layer.backward(parameters, saved, dy)
        np.testing.assert_allclose(dx, tensor.grad.numpy(), **CLOSE)
        np.testing.assert_allclose(gradients["scale"], theirs.weight.grad.numpy(), **CLOSE)
        np.testing.assert_allclose(gradients["shift"], theirs.bias.grad.numpy(), **CLOSE)
    np.testing.assert_allclose(running["mean"], theirs.running_mean.numpy(), rtol=1e-6)
    np.testing.assert_allclose(running["variance"], theirs.running_var.numpy(), rtol=1e-6)
    expected = theirs.eval()(torch.tensor(x).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    np.testing.assert_allclose(
        layer.evaluate(parameters, running, x), expected.detach().numpy(), rtol=1e-5, atol=1e-6
    )


def test_embedding_of_repeated_tokens(seed):
    random, layer = np.random.default_rng(seed), Embedding(5, 4)
    vectors, x = random.standard_normal((5, 4)), random.integers(0, 5, (3, 6)).astype(np.uint8)
    tensor = torch.tensor(vectors, requires_grad=True)
    expected = functional.embedding(torch.tensor(x.astype(np.int64)), tensor)
    y, saved = layer.forward({"vectors": vectors}, x)
    np.testing.assert_array_equal(y, expected.detach().numpy())
    dy = random.standard_normal(y.shape)
    expected.backward(torch.tensor(dy))
    _, gradients = layer.backward({"vectors": vectors}, saved, dy)
    np.testing.assert_allclose(gradients["vectors"], tensor.grad.numpy(), **CLOSE)


def test_losses(seed):
    random = np.random.default_rng(seed)
    outputs, labels = random.standard_normal((4, 3, 5)), random.integers(0, 5, (4, 3))
    targets = random.standard_normal(outputs.shape)
    tensor = torch.tensor(outputs, requires_grad=True)
    rows = functional.cross_entropy(tensor.reshape(-1, 5), torch.tensor(labels.reshape(-1)))
    cases = (
        (softmax_cross_entropy(outputs, labels), rows),
        (mean_squared_error(outputs, targets), functional.mse_loss(tensor, torch.tensor(targets))),
    )  # fmt: skip
    for (loss, gradient), theirs in cases:
        tensor.grad = None
        theirs.backward()
        assert loss == pytest.approx(theirs.item(), rel=1e-12)
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), **CLOSE)


SCHEDULES = {
    "constant": (Constant(), lambda o, s: s.ConstantLR(o, 1.0)),
    "step": (Step(4, 0.5), lambda o, s: s.StepLR(o, 4, 0.5)),
    "linear": (Linear(12), lambda o, s: s.LinearLR(o, 1.0, 0.0, 12)),
    "cosine": (Cosine(12), lambda o, s: s.CosineAnnealingLR(o, 12)),
    "warm_up": (
        WarmUp(4, Cosine(8)),
        lambda o, s: s.SequentialLR(o, [s.LinearLR(o, 0.25, 1.0, 3), s.CosineAnnealingLR(o, 8)], [4]),
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("schedule", "make"), SCHEDULES.values(), ids=SCHEDULES)
def test_schedules(schedule, make):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    theirs = make(optimizer, torch.optim.lr_scheduler)
    for iteration in range(12):
        assert schedule.factor(iteration) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-12)
        optimizer.step()
        theirs.step()
