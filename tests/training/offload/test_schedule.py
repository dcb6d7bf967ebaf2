"""Our schedule against FlashNeuron's, and against the optimum."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import Plan, Storage
from flashtrain.training.offload.drafts import timeline_of
from flashtrain.training.offload.optimum import optimum
from flashtrain.training.offload.published import flashneuron_plan
from flashtrain.training.offload.samples import SAMPLES
from flashtrain.training.offload.schedule import offload_plan
from tests.training.offload.profiles import MIB, random_profile, random_storage
from tests.training.offload.test_event_model import chain

POSITIVE = (0.001, 0.005, 0.01, 0.02)


def found(make, *args, **options) -> Plan | None:
    try:
        return make(*args, **options)
    except OffloadError:
        return None


@pytest.mark.parametrize("seed", range(12))
def test_never_slower_than_flashneuron_and_never_above_the_memory(seed):
    """Ten profiles for each seed."""
    rng = np.random.default_rng(seed)
    compared = 0
    for _ in range(10):
        profile = random_profile(rng, int(rng.integers(3, 10)), int(rng.integers(3, 12)))
        storage = random_storage(rng, profile)
        theirs = found(flashneuron_plan, profile, storage, least_bytes=0)
        ours = found(offload_plan, profile, storage, least_bytes=0, runs=100)
        if theirs is not None:
            assert ours is not None, profile
            assert ours.seconds <= theirs.seconds * (1 + 1e-9), profile
            compared += 1
        if ours is not None:
            assert ours.peak_bytes <= storage.memory_bytes
            timeline = timeline_of(ours, profile)
            assert (timeline.seconds, timeline.peak_bytes) == (ours.seconds, ours.peak_bytes)
    assert compared, "no profile of this seed fits"


@pytest.mark.parametrize("seed", [3, 15, 22, 30, 38, 40, 46, 50, 53, 67, 76, 86, 92, 93])
def test_within_3_percent_of_the_optimum(seed):
    rng = np.random.default_rng(seed)
    profile = random_profile(rng, 4, 4, POSITIVE)
    storage = random_storage(rng, profile, shared=False)
    best = optimum(profile, storage)
    assert best is not None
    seconds = offload_plan(profile, storage).seconds
    assert best.seconds * (1 - 1e-4) <= seconds <= best.seconds * 1.03, (seconds, best.seconds)


def test_where_no_plan_is_found_none_exists():
    refused = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        profile = random_profile(rng, 4, 4, POSITIVE)
        storage = random_storage(rng, profile, shared=False)
        if found(offload_plan, profile, storage) is None:
            refused += 1
            assert optimum(profile, storage) is None, f"seed {seed}"
    assert refused >= 10, "the seeds have too much memory"


def test_the_optimum_of_a_case_by_hand():
    # Two of three tensors fit. The first one is written and read behind operations.
    assert optimum(chain(3), Storage("s", 200, 100.0, 100.0)).seconds == pytest.approx(6.0, rel=1e-4)
    # Written in 3 s from second 1 on: operation 2 waits from 2 to 4; its read ends in time.
    assert optimum(chain(3), Storage("s", 200, 100 / 3, 100.0)).seconds == pytest.approx(8.0, rel=1e-4)
    assert optimum(chain(3), Storage("s", 99, 100.0, 100.0)) is None


def test_without_need_nothing_is_offloaded():
    profile = chain(8)
    plan = offload_plan(profile, Storage("s", profile.saved_bytes, 1.0, 1.0))
    assert plan.tensors == () and plan.seconds == profile.seconds


def test_only_what_is_needed_is_offloaded():
    profile = chain(16)
    plan = offload_plan(profile, Storage("s", 1200, 100.0, 100.0))
    assert plan.seconds == profile.seconds
    assert plan.offloaded_bytes == 400


def test_reads_are_just_in_time():
    """A read takes a tenth of an operation: it is issued with the operation before, and no earlier."""
    profile = chain(16)
    plan = offload_plan(profile, Storage("s", 1200, 1000.0, 1000.0))
    assert [tensor.prefetch_before for tensor in plan.tensors] == [t.first_use - 1 for t in plan.tensors]


def test_no_plan_where_nothing_fits():
    with pytest.raises(OffloadError, match=r"chain: operation op0 finds no space in memory \(ours\);"):
        offload_plan(chain(4), Storage("s", 99, 1e9, 1e9))


def test_a_codec_is_chosen_by_its_measured_ratio():
    profile = chain(16, size=MIB)
    ratios = [{"a": 2.0, "b": 3.0}, {"a": 2.0, "b": 1.5}, {"a": 0.9}, {}]
    tensors = tuple(replace(t, ratios=ratios[i % 4]) for i, t in enumerate(profile.tensors))
    storage = Storage("s", 8 * MIB, MIB, MIB, codecs=("a", "b"))
    plan = offload_plan(replace(profile, tensors=tensors), storage)
    codecs = {tensor.name: tensor.codec for tensor in plan.tensors}
    assert codecs and all(
        codec == ("b", "a", "raw", "raw")[int(name.split("/")[1]) % 4] for name, codec in codecs.items()
    )


def test_a_codec_makes_a_slow_storage_faster():
    profile = SAMPLES["resnet-chain"].profile(512)
    storage = Storage("s", 16 * 10**9, 20e9, 40e9)
    raw = offload_plan(profile, storage)
    coded = offload_plan(profile, replace(storage, codecs=("round16",)))
    assert raw.seconds > 1.05 * profile.seconds
    assert coded.seconds < raw.seconds
