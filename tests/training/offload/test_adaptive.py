"""A plan follows the ratios that drift."""

from dataclasses import replace

import pytest

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import Storage
from flashtrain.training.offload.adaptive import AdaptivePlan
from flashtrain.training.offload.drafts import timeline_of
from flashtrain.training.offload.schedule import offload_plan
from tests.training.offload.test_event_model import chain

STORAGE = Storage("s", 1000, 25.0, 50.0, codecs=("window",))


def profile(ratio: float):
    """Sixteen tensors of which ten fit; by a ratio of 4, writes take as long as operations."""
    plain = chain(16)
    return replace(plain, tensors=tuple(replace(t, ratios={"window": ratio}) for t in plain.tensors))


def observe(adaptive: AdaptivePlan, ratio: float) -> None:
    for tensor in adaptive.plan.tensors:
        adaptive.measured(tensor.name, "window", ratio)


def test_a_small_drift_keeps_the_plan():
    adaptive = AdaptivePlan(profile(4.0), STORAGE)
    first = adaptive.plan
    observe(adaptive, 4.1)
    assert adaptive.next_iteration() is first
    assert adaptive.next_iteration() is first


def test_a_large_drift_makes_the_plan_of_the_new_ratios():
    adaptive = AdaptivePlan(profile(4.0), STORAGE)
    first = adaptive.plan
    assert first.seconds == profile(4.0).seconds
    observe(adaptive, 2.0)
    second = adaptive.next_iteration()
    assert second == offload_plan(adaptive.profile, STORAGE)
    assert second.stored_bytes > first.stored_bytes
    assert second.seconds <= timeline_of(first, adaptive.profile).seconds
    observe(adaptive, 4.0)
    assert adaptive.next_iteration().seconds == first.seconds


def test_a_codec_that_expands_is_given_up():
    adaptive = AdaptivePlan(profile(4.0), STORAGE)
    observe(adaptive, 0.5)
    offloaded = [tensor.name for tensor in adaptive.plan.tensors]
    plan = adaptive.next_iteration()
    assert all(plan.by_name[name].codec == "raw" for name in offloaded if name in plan.by_name)


def test_drifts_add_up():
    """Three times 2 % is 6 % of what the plan expects."""
    adaptive = AdaptivePlan(profile(4.0), STORAGE)
    first = adaptive.plan
    for ratio in (4.08, 4.16):
        observe(adaptive, ratio)
        assert adaptive.next_iteration() is first
    observe(adaptive, 4.24)
    assert adaptive.next_iteration() is not first


def test_mistakes():
    adaptive = AdaptivePlan(profile(4.0), STORAGE)
    with pytest.raises(OffloadError, match="chain: no tensor saved/99; expected one of its profile"):
        adaptive.measured("saved/99", "window", 1.0)
    with pytest.raises(OffloadError, match="tensor saved/1: codec other; s offers window"):
        adaptive.measured("saved/1", "other", 1.0)
    with pytest.raises(OffloadError, match="drift: -1; expected 0 or more"):
        AdaptivePlan(profile(4.0), STORAGE, drift=-1)
