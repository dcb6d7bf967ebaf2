"""A plan at work: what is offloaded, when it is read, and which models it refuses."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from flashtrain.host import open_device
from flashtrain.spec import ConfigError
from flashtrain.spec.streams import SINGLE_NODE, Codec
from flashtrain.torch import CodecUnavailable, OffloadActivations, PlanMismatch, keep
from flashtrain.torch.activations.memory import ActivationMemory
from flashtrain.torch.activations.store import ActivationStore
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import (
    Phase,
    Plan,
    PlannedTensor,
    Profile,
    ProfiledOperation,
    SavedTensor,
    Storage,
)

from .saving import Saved

ELEMENTS = (2000, 300, 4000, 5000, 6000)
"""Of the tensors that :class:`Chain` saves, each in a node of its own."""


class Chain(nn.Module):
    def __init__(self, elements: tuple[int, ...] = ELEMENTS) -> None:
        super().__init__()
        self.elements = elements

    def forward(self) -> list[Saved]:
        return [Saved(torch.full((count,), float(count))) for count in self.elements]


PROFILE = Profile(
    "chain",
    1,
    (*(ProfiledOperation(f"f{i}", 1e-6, Phase.FORWARD) for i in range(5)),
     *(ProfiledOperation(f"b{i}", 1e-6, Phase.BACKWARD) for i in range(5))),
    tuple(SavedTensor(f"saved/{i}", 4 * count, i, (9 - i,)) for i, count in enumerate(ELEMENTS)),
    resident_bytes=1000,
)  # fmt: skip


def planned(number: int, prefetch_with: str | None, codec: str = "raw") -> PlannedTensor:
    nbytes = 4 * ELEMENTS[number]
    return PlannedTensor(f"saved/{number}", nbytes, codec, 1.0, number, 9 - number, 5, prefetch_with)


PLAN = Plan(
    "chain", PROFILE.fingerprint, "ours", False, Storage("flash", 1 << 20, 1e9, 1e9),
    (planned(0, "saved/3"), planned(2, "saved/4"), planned(3, None)),
    seconds=1e-5, peak_bytes=76_000,
)  # fmt: skip


def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    events: list[str] = []
    read, fetch, wait = ActivationStore.read, ActivationMemory.fetch, ActivationMemory.wait_written

    def number(label: str) -> str:
        return label.split(",")[0].removeprefix("saved/")

    def logged_read(self, copy, out):
        events.append(f"read {number(copy.label)}")
        return read(self, copy, out)

    def logged_fetch(self, saved):
        events.append(f"need {number(saved.label)}")
        return fetch(self, saved)

    def logged_wait(self):
        events.append("wait")
        wait(self)

    monkeypatch.setattr(ActivationStore, "read", logged_read)
    monkeypatch.setattr(ActivationMemory, "fetch", logged_fetch)
    monkeypatch.setattr(ActivationMemory, "wait_written", logged_wait)
    return events


def backward(graphs: list[Saved]) -> None:
    while graphs:
        saved = graphs.pop()
        (tensor,) = saved.restore()
        assert (tensor == tensor.numel()).all()


@pytest.mark.parametrize("barrier", [False, True])
@pytest.mark.parametrize("profile", [None, PROFILE], ids=["plan", "profile"])
def test_reads_of_the_plan(device, monkeypatch, profile, barrier):
    events = logged(monkeypatch)
    activations = OffloadActivations(device, replace(PLAN, barrier=barrier), profile=profile)
    for iteration in range(1, 3):
        with activations:
            graphs = Chain()()
        assert activations.report().live_bytes == 4 * (300 + 6000)
        backward(graphs)
        report = activations.report()
        assert report.kept == {"by the plan": iteration * 4 * (300 + 6000)}
        assert report.total.offloaded_bytes == report.total.read_bytes == iteration * 4 * 11_000
    own = [*(["wait"] if barrier else []), "read 3", "read 2", "read 0", "need 3", "need 2", "need 0"]
    assert events == 2 * own
    assert report.limit_bytes == (None if profile is None else 75_000)


def test_one_context_around_a_loop(device):
    """Names begin anew when the graph before has ended."""
    with OffloadActivations(device, PLAN, profile=PROFILE) as activations:
        for _ in range(3):
            backward(Chain()())
    assert activations.report().total.offloaded_bytes == 3 * 4 * 11_000


def test_keep_goes_before_the_plan(device):
    activations = OffloadActivations(device, PLAN)
    with activations, keep():
        graphs = Chain()()
    backward(graphs)
    assert activations.report().kept == {"by keep": sum(ELEMENTS) * 4}


def test_codecs_of_the_plan():
    tensors = (planned(2, None, "round16"), planned(3, None, "window16"), planned(4, None))
    plan = replace(PLAN, tensors=tensors)
    node = SINGLE_NODE.with_codecs(activations=Codec.ROUND16)
    with open_device("small_codec", node=node) as device:
        activations = OffloadActivations(device, plan)
        with activations:
            graphs = Chain()()
        backward(graphs)
    assert activations.report().total.rounded_bytes == 4 * 4000


def test_a_codec_that_the_stream_does_not_have(device):
    plan = replace(PLAN, tensors=(planned(2, None, "window32"),))
    with pytest.raises(CodecUnavailable, match="WINDOW32 in stream 'activations' of codec RAW"):
        with OffloadActivations(device, plan):
            Chain()()


@pytest.mark.parametrize("profile", [None, PROFILE], ids=["plan", "profile"])
def test_other_sizes(device, profile):
    other = Chain((2000, 300, 4001, 5000, 6000))
    expected = r"saved/2, float32\[4001\] of module 'Chain', has 16,004 bytes; expected 16,000 .*'chain'"
    with pytest.raises(PlanMismatch, match=expected), OffloadActivations(device, PLAN, profile=profile):
        other()


def test_fewer_tensors(device):
    with pytest.raises(PlanMismatch, match=r"has saved 3 tensors; expected also saved/3 of 20,000 bytes"):
        with OffloadActivations(device, PLAN):
            graphs = Chain(ELEMENTS[:3])()
    backward(graphs)


def test_more_tensors(device):
    with OffloadActivations(device, PLAN, profile=PROFILE):
        graphs = Chain((*ELEMENTS, 7000))()
    with pytest.raises(PlanMismatch, match=r"saved/5, float32\[7000\] of module 'Chain', is needed"):
        backward(graphs)


def test_an_unlisted_size_that_the_profile_has(device):
    """The profile also knows tensors that stay in memory."""
    with pytest.raises(PlanMismatch, match=r"saved/1, float32\[301\]"):
        with OffloadActivations(device, PLAN, profile=PROFILE):
            Chain((2000, 301, 4000, 5000, 6000))()


def test_a_profile_of_another_model(device):
    other = replace(PROFILE, tensors=PROFILE.tensors[:4])
    with pytest.raises(OffloadError, match="fingerprint"):
        OffloadActivations(device, PLAN, profile=other)


def test_no_passes_are_no_mismatch(device):
    with OffloadActivations(device, PLAN), torch.no_grad():
        torch.ones(3) * 2


def test_options(device):
    with pytest.raises(ConfigError, match="expected None with a plan"):
        OffloadActivations(device, PLAN, codec="raw")
    with pytest.raises(ConfigError, match="expected None without a plan"):
        OffloadActivations(device, profile=PROFILE)
    with pytest.raises(PlanMismatch, match="'conv1' of the plan; expected a name such as 'saved/0'"):
        OffloadActivations(device, replace(PLAN, tensors=(replace(planned(0, None), name="conv1"),)))
