"""Plans played on devices: data, memory, and the predicted times beside those of the Link."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.training.errors import OffloadError, ReplayError
from flashtrain.training.offload import Storage
from flashtrain.training.offload.measure import measured_storage
from flashtrain.training.offload.play import play_plan
from flashtrain.training.offload.published import flashneuron_plan
from flashtrain.training.offload.samples import ToyChain
from flashtrain.training.offload.schedule import offload_plan

TOY = ToyChain()


def measured(link, preset="small", memory=8 * TOY.bytes) -> Storage:
    with open_device(preset, link, memory_bytes=32 << 20) as device:
        return measured_storage(device, memory, TOY.bytes)


@pytest.fixture(scope="module")
def small() -> Storage:
    return measured(ModelLink)


@pytest.mark.parametrize("make", [offload_plan, flashneuron_plan])
@pytest.mark.parametrize("seconds", [100e-6, 120e-6, 200e-6])
def test_the_model_is_within_3_percent_of_the_plan(small, make, seconds):
    """With 100 µs the writes are too slow to hide; with 200 µs FlashNeuron's are hidden, too."""
    profile = replace(TOY, seconds=seconds).profile(1)
    plan = make(profile, small, least_bytes=0)
    with open_device("small", ModelLink, memory_bytes=32 << 20) as device:
        played = play_plan(plan, profile, device)
    assert played.timeline.seconds == pytest.approx(plan.seconds, rel=0.03)
    assert played.timeline.peak_bytes <= small.memory_bytes
    assert played.written_bytes == plan.offloaded_bytes
    reads = ~np.isnan(played.timeline.reads["begin"])
    assert reads.sum() == len(plan.tensors)


def test_the_rtl_is_within_5_percent_of_the_plan(small):
    """With 50 µs an iteration takes a third longer than its operations."""
    profile = replace(TOY, seconds=50e-6).profile(1)
    plan = offload_plan(profile, small)
    assert plan.seconds > 1.25 * profile.seconds
    with open_device("small", RtlLink, memory_bytes=32 << 20) as device:
        played = play_plan(plan, profile, device)
    assert played.timeline.seconds == pytest.approx(plan.seconds, rel=0.05)


def test_a_link_without_time_plays_the_traffic(small):
    profile = TOY.profile(1)
    plan = offload_plan(profile, small)
    with open_device("small", FunctionalLink, memory_bytes=32 << 20) as device:
        played = play_plan(plan, profile, device)
        with pytest.raises(OffloadError, match="small: this Link has no time to measure"):
            measured_storage(device, 1, 1024)
    assert played.timeline.seconds == 0.0
    assert played.read_bytes == plan.offloaded_bytes
    assert played.timeline.peak_bytes <= small.memory_bytes


def test_a_codec_is_played_as_its_stored_bytes(small):
    profile = TOY.profile(1).with_ratios({f"saved/{i}": {"window32": 2.0} for i in range(16)})
    plan = offload_plan(profile, replace(small, codecs=("window32",)))
    with open_device("small", FunctionalLink, memory_bytes=32 << 20) as device:
        played = play_plan(plan, profile, device)
    assert played.written_bytes == plan.offloaded_bytes // 2


def test_measured_rates_are_below_the_bounds_and_near_the_benchmarks(small):
    """Appends of `small` are bounded by 1.31 GB/s, reads by 4.8 GB/s."""
    assert 1.25e9 < small.write_bytes_per_second < 1.32e9
    assert 3.8e9 < small.read_bytes_per_second < 4.8e9
    assert 0 < small.read_seconds < 50e-6
    assert 128 << 10 < small.buffer_bytes < 320 << 10  # 256 KiB, and what is on its way
    (part,) = small.shared
    assert part.write_bytes_per_second < 2 * small.write_bytes_per_second


def test_transfers_that_are_too_large_to_measure():
    with pytest.raises(OffloadError, match=r"tiny: transfers of 262,144 bytes, of which stream activations"):
        measured(ModelLink, "tiny")


def test_a_tensor_that_comes_back_changed_is_found(small, monkeypatch):
    profile = TOY.profile(1)
    plan = offload_plan(profile, small)
    with open_device("small", FunctionalLink, memory_bytes=32 << 20) as device:
        stream = device.stream("activations")
        read = type(stream).read_async

        def corrupting(self, stored, out=None):
            pending = read(self, stored, out)
            result = pending.result
            pending.result = lambda: result() ^ np.uint8(1)
            return pending

        monkeypatch.setattr(type(stream), "read_async", corrupting)
        with pytest.raises(ReplayError, match=r"tensor saved/\d+: what was read is not what was written"):
            play_plan(plan, profile, device)


def test_a_plan_that_is_too_large_for_the_device(small):
    profile = replace(TOY, bytes=32 << 20).profile(1)
    plan = offload_plan(profile, replace(small, memory_bytes=4 * (32 << 20)))
    with open_device("small", FunctionalLink, memory_bytes=32 << 20) as device:
        with pytest.raises(
            OffloadError, match=r"stores [\d,]+ bytes; expected at most 92,274,688, the room of"
        ):
            play_plan(plan, profile, device)


def test_a_plan_for_another_model_or_a_smaller_memory(small):
    profile = TOY.profile(1)
    plan = offload_plan(profile, small)
    with open_device("small", FunctionalLink, memory_bytes=32 << 20) as device:
        with pytest.raises(OffloadError, match="the plan is for model toy-chain"):
            play_plan(plan, replace(TOY, operations=4).profile(1), device)
        smaller = replace(plan, storage=replace(small, memory_bytes=TOY.bytes))
        with pytest.raises(OffloadError, match=r"operation op\.9 finds no space in memory"):
            play_plan(smaller, profile, device)
