"""Memory over time, and its figure."""

import numpy as np
import pytest

from flashtrain.training.offload import Storage
from flashtrain.training.offload.drafts import timeline_of
from flashtrain.training.offload.event_model import EventModel
from flashtrain.training.offload.figure import draw_plan
from flashtrain.training.offload.memory import memory_levels
from flashtrain.training.offload.samples import SAMPLES
from flashtrain.training.offload.schedule import offload_plan
from flashtrain.writing import OutputError
from tests.training.offload.profiles import random_profile, random_storage
from tests.training.offload.test_event_model import chain, played


def test_the_levels_of_a_case_by_hand():
    timeline = played(chain(2), Storage("s", 200, 200.0, 200.0), [0, -1], [3, 3])
    times, levels = memory_levels(chain(2), timeline)
    # Tensor 0 is written by 1.5, and read from 3.0 on; tensor 1 is made at 1 and used by 3.
    assert list(zip(times.tolist(), levels.tolist(), strict=True)) == [
        (0.0, 100), (1.0, 200), (1.5, 100), (3.0, 100), (4.5, 0),
    ]  # fmt: skip


def test_the_highest_level_is_the_peak_and_the_last_one_is_resident(seed):
    rng = np.random.default_rng(seed)
    compared = 0
    for _ in range(60):
        profile = random_profile(rng, 8, 10)
        storage = random_storage(rng, profile)
        before = np.array([tensor.uses[0] for tensor in profile.tensors], np.int32)
        orders = np.where(rng.random(10) < 0.7, np.arange(10), -1).astype(np.int32)
        timeline = EventModel(profile, storage, ["raw"] * 10).run(orders, before)
        if timeline.stuck is None:
            times, levels = memory_levels(profile, timeline)
            assert (np.diff(times) > 0).all()
            assert levels.max() <= timeline.peak_bytes <= storage.memory_bytes
            assert levels[-1] == profile.resident_bytes
            compared += 1
    assert compared > 10


def test_a_figure_is_drawn(tmp_path):
    profile = SAMPLES["toy-chain"].profile(1)
    plan = offload_plan(profile, random_storage(np.random.default_rng(1), profile))
    draw_plan(profile, timeline_of(plan, profile), plan.storage.memory_bytes, tmp_path / "plan.png", "toy")
    assert (tmp_path / "plan.png").stat().st_size > 10_000
    with pytest.raises(OutputError, match=r"plan.nothing: expected a figure that ends with .png"):
        draw_plan(profile, timeline_of(plan, profile), 1, tmp_path / "plan.nothing")
