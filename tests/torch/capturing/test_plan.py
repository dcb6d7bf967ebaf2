"""A plan made from a capture applies to a run: the hooks save the same storages under the same names."""

from dataclasses import replace

import pytest
import torch

from flashtrain.host import open_device
from flashtrain.torch import OffloadActivations, Processor, capture
from flashtrain.training.offload import RAW, Plan, PlannedTensor, Storage

from .models import CHOICES, MODELS, recurrent, router


def gradients(model):
    found = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    return found


def every_other(profile):
    """A plan that offloads every other storage, and reads it before its first use."""
    tensors = [
        PlannedTensor(tensor.name, tensor.bytes, RAW, 1.0, order, tensor.uses[0], tensor.uses[0], None)
        for order, tensor in enumerate(profile.tensors[::2])
    ]
    storage = Storage("flash", 1 << 30, 1e9, 1e9)
    return Plan(
        profile.model, profile.fingerprint, "ours", False, storage, tuple(tensors), profile.seconds, 1 << 30
    )


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("first", [0, 1])
def test_a_saver_that_ends_in_the_forward_pass(name, first):
    """Indices are saved once more by those who use them, under the number that they had."""
    torch.manual_seed(1)
    model, loss, inputs = router(name)
    loss(model(inputs)).backward()
    expected = gradients(model)
    profile = capture(model, loss, inputs).profile(Processor(1e9))
    plan = every_other(replace(profile, tensors=profile.tensors[first:]))
    plan = replace(plan, fingerprint=profile.fingerprint)
    with open_device("tiny") as device:
        with OffloadActivations(device, plan, profile=profile) as activations:
            result = loss(model(inputs))
        result.backward()
    assert all(map(torch.equal, gradients(model), expected))
    assert activations.report().total.offloaded_bytes >= plan.offloaded_bytes


@pytest.mark.parametrize("name", [*MODELS, "recurrent"])
def test_a_run_follows_the_plan_of_a_capture(name):
    model, loss, inputs = {**MODELS, "recurrent": recurrent}[name]()
    loss(model(inputs)).backward()
    expected = gradients(model)
    profile = capture(model, loss, inputs).profile(Processor(1e9))
    plan = every_other(profile)
    with open_device("tiny") as device:
        activations = OffloadActivations(device, plan, profile=profile)
        with activations:
            result = loss(model(inputs))
        result.backward()
        total = activations.report().total
    assert all(map(torch.equal, gradients(model), expected))
    assert total.tensors == len(profile.tensors)
    assert total.saved_bytes == profile.saved_bytes
    assert total.offloaded_bytes == plan.offloaded_bytes
