"""Saves at intervals that follow what they cost, beside the iterations of a simulated device."""

import numpy as np
import pytest

from flashtrain.checkpoint import AppendedCheckpoints, load
from flashtrain.checkpoint.interval import AdaptiveInterval, PacedSaves
from flashtrain.host import open_device
from flashtrain.model import ModelLink
from flashtrain.spec.streams import UPDATE_NODE


@pytest.mark.parametrize("bound", [0.02, 0.2])
def test_the_overhead_keeps_its_bound(bound):
    """Iterations of 20 us on `tiny`; a tighter bound has a longer interval."""
    with open_device("tiny", ModelLink, node=UPDATE_NODE, memory_bytes=1 << 15) as device:
        hz = device.config.timing.clock_hz
        interval = AdaptiveInterval(bound)
        saves = PacedSaves(AppendedCheckpoints(device), interval, lambda: device.cycles / hz)
        arrays = {"w": np.zeros(1000, np.float32)}
        for step in range(1, 400):
            arrays["w"] += 1
            device.link.run(12_000)
            saves.iteration(step, lambda: arrays, str(step).encode())
        saves.finish()
        store = AppendedCheckpoints(device)
        newest = store.checkpoints[-1]
        assert (load(store, newest.name)["w"] == newest.step).all()
        assert store.manifest(newest.name).host == str(newest.step).encode()
        assert newest.step > 399 - 2 * interval.interval and len(store.checkpoints) <= 2
        assert 0 < interval.overhead <= bound
        print(f"{saves.saves} saves, one every {interval.interval} iterations, {interval.overhead:.2%}")
    assert saves.saves > 5 and interval.interval > 1


def test_without_a_stall_each_iteration_is_saved():
    """The functional Link takes no time."""
    now = 0.0
    with open_device("small", node=UPDATE_NODE) as device:
        saves = PacedSaves(AppendedCheckpoints(device), AdaptiveInterval(0.01), lambda: now)
        for step in range(5):
            now += 1.0
            assert saves.iteration(step, dict)
        assert [one.step for one in AppendedCheckpoints(device).checkpoints] == [3, 4]
