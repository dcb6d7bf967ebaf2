"""The event model against its rules, written down a second time, and by hand on small cases."""

import numpy as np
import pytest

from flashtrain.training.offload import (
    RAW,
    Phase,
    Profile,
    ProfiledOperation,
    SavedTensor,
    SharedPart,
    Storage,
)
from flashtrain.training.offload.event_model import IN_MEMORY, EventModel, Timeline
from tests.training.offload.profiles import random_profile, random_storage
from tests.training.offload.reference_model import ReferenceModel


def chain(tensors: int, seconds: float = 1.0, size: int = 100) -> Profile:
    """As many forward and backward operations as tensors, each of `seconds`."""
    phases = [Phase.FORWARD] * tensors + [Phase.BACKWARD] * tensors
    operations = tuple(ProfiledOperation(f"op{i}", seconds, phase) for i, phase in enumerate(phases))
    saved = tuple(SavedTensor(f"saved/{i}", size, i, (2 * tensors - 1 - i,)) for i in range(tensors))
    return Profile("chain", 1, operations, saved)


def played(
    profile: Profile, storage: Storage, orders: list[int], before: list[int], barrier=False
) -> Timeline:
    model = EventModel(profile, storage, [RAW] * len(profile.tensors))
    return model.run(np.array(orders, np.int32), np.array(before, np.int32), barrier)


@pytest.mark.parametrize("seed", range(200))
def test_it_is_the_reference_model(seed):
    rng = np.random.default_rng(seed)
    profile = random_profile(rng, int(rng.integers(2, 12)), int(rng.integers(2, 16)))
    storage = random_storage(rng, profile)
    count, barrier = len(profile.tensors), bool(rng.integers(0, 2))
    offloaded = rng.random(count) < rng.choice([0.3, 0.7, 1.0])
    orders = np.where(offloaded, rng.permutation(count), IN_MEMORY).astype(np.int32)
    before = np.array([rng.integers(t.made + 1, t.uses[0] + 1) for t in profile.tensors], np.int32)
    codecs = [storage.codec_for(tensor) for tensor in profile.tensors]
    timeline = EventModel(profile, storage, codecs).run(orders, before, barrier)
    reference = ReferenceModel(profile, storage, codecs, orders.tolist(), before.tolist(), barrier)

    assert timeline.stuck == reference.run()
    assert timeline.peak_bytes == reference.peak + profile.resident_bytes
    assert timeline.seconds == pytest.approx(reference.now, rel=1e-9)
    begun = len(reference.operations)
    _same(timeline.operations[:begun], reference.operations)
    _same(timeline.writes, [state.write for state in reference.states])
    _same(timeline.reads, [state.read for state in reference.states])


def _same(spans, expected):
    pairs = np.array([(span["begin"], span["end"]) for span in spans])
    np.testing.assert_allclose(pairs, np.array(expected).reshape(pairs.shape), rtol=1e-9, atol=1e-10)


def test_the_random_cases_reach_every_rule():
    """Stuck iterations, dropped writes, reads, and transfers that slow each other down all come up."""
    stuck = dropped = read = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        profile = random_profile(rng, 6, 8)
        storage = random_storage(rng, profile)
        before = np.array([tensor.uses[0] for tensor in profile.tensors], np.int32)
        timeline = EventModel(profile, storage, [RAW] * 8).run(np.arange(8, dtype=np.int32), before)
        stuck += timeline.stuck is not None
        dropped += bool(np.isnan(timeline.writes["begin"]).any() and timeline.stuck is None)
        read += not np.isnan(timeline.reads["begin"]).all()
    assert min(stuck, dropped, read) >= 5, (stuck, dropped, read)


def test_memory_without_offloading_is_that_of_all_tensors():
    timeline = played(chain(4), Storage("s", 400, 1e9, 1e9), [IN_MEMORY] * 4, [4] * 4)
    assert timeline.stuck is None and timeline.peak_bytes == 400 and timeline.seconds == 8.0
    assert played(chain(4), Storage("s", 399, 1e9, 1e9), [IN_MEMORY] * 4, [4] * 4).stuck == 3


def test_an_operation_waits_for_the_space_that_a_write_frees():
    # Two of three fit. The write of the first one takes 1.5 s from second 1, so operation 2 begins at 2.5.
    storage = Storage("s", 200, 100 / 1.5, 1e9)
    timeline = played(chain(3), storage, [0, IN_MEMORY, IN_MEMORY], [5, 5, 5])
    assert timeline.operations["begin"].tolist()[:3] == [0.0, 1.0, 2.5]
    assert timeline.peak_bytes == 200


def test_a_read_is_issued_when_its_operation_is_due_and_ends_a_latency_after_its_data():
    storage = Storage("s", 300, 1e9, 100.0, read_seconds=0.25)
    timeline = played(chain(3), storage, [0, IN_MEMORY, IN_MEMORY], [4, 5, 5])
    read = timeline.reads[0]
    assert (read["begin"], read["end"]) == (4.0, 5.25)
    assert timeline.operations["begin"][5] == 5.25


def test_the_latency_of_a_write_overlaps_the_next_one():
    storage = Storage("s", 300, 100.0, 1e9, write_seconds=0.5)
    timeline = played(chain(3, seconds=0.0), storage, [0, 1, 2], [5, 4, 3], barrier=True)
    assert timeline.writes["begin"].tolist() == [0.0, 1.0, 2.0]
    assert timeline.writes["end"].tolist() == [1.5, 2.5, 3.5]


def test_the_write_buffer_takes_what_it_has_room_for_and_drains_at_the_write_rate():
    storage = Storage("s", 300, 100.0, 1e9, port_bytes_per_second=1000.0, buffer_bytes=150)
    timeline = played(chain(3, seconds=0.25), storage, [0, 1, 2], [5, 4, 3], barrier=True)
    # The first write takes the time of the port and leaves 90 bytes in the buffer, of which 75 are left when
    # the second one begins at 0.5. Of that 75 fit, so 25 wait, but 100 bytes of the port take 0.1 s.
    # It ends at 0.75 with 150 bytes, and the third one takes a whole second.
    assert timeline.writes["begin"].tolist() == pytest.approx([0.25, 0.5, 0.75])
    assert timeline.writes["end"].tolist() == pytest.approx([0.35, 0.75, 1.75])


def test_a_tensor_that_is_needed_before_its_write_has_ended_stays():
    slow = Storage("s", 300, 100 / 3.0, 1e9)
    timeline = played(chain(3), slow, [IN_MEMORY, 0, 1], [5, 4, 3])
    assert timeline.seconds == 6.0
    assert np.isnan(timeline.reads["begin"]).all()
    assert np.isnan(timeline.writes[2]["begin"])  # the write before it goes on to second 5
    assert timeline.writes[1]["end"] == 5.0


def test_the_barrier_waits_for_all_writes():
    storage = Storage("s", 300, 100 / 2.5, 1e9)
    orders, before = [0, 1, IN_MEMORY], [5, 4, 3]
    free = played(chain(3), storage, orders, before)
    held = played(chain(3), storage, orders, before, barrier=True)
    assert free.operations["begin"][3] == 3.0
    assert held.operations["begin"][3] == 6.0  # two writes of 2.5 s from second 1


def test_a_write_and_a_read_slow_each_other_down_in_a_part_that_they_share():
    phases = [Phase.FORWARD] * 2 + [Phase.BACKWARD] * 3
    operations = tuple(ProfiledOperation(f"op{i}", 2.0, phase) for i, phase in enumerate(phases))
    saved = (SavedTensor("saved/0", 100, 0, (3,)), SavedTensor("saved/1", 100, 1, (4,)))
    profile = Profile("pair", 1, operations, saved)
    storage = Storage("s", 200, 100.0, 100.0, shared=(SharedPart("arrays", 100.0, 100.0),))
    timeline = played(profile, storage, [0, 1], [2, 4])
    # The write of tensor 1 and the read of tensor 0 begin at second 4, and each has half of the arrays.
    assert timeline.writes.tolist() == [(2.0, 3.0), (4.0, 6.0)]
    assert timeline.reads.tolist() == [(4.0, 6.0), (8.0, 9.0)]
    assert timeline.seconds == 11.0


def test_reads_can_be_left_out():
    storage = Storage("s", 300, 1e9, 1.0)
    model = EventModel(chain(3), storage, [RAW] * 3, instant_reads=True)
    timeline = model.run(np.array([0, 1, 2], np.int32), np.array([5, 4, 3], np.int32))
    assert timeline.seconds == 6.0


@pytest.mark.parametrize("seed", range(20))
def test_without_offloading_it_takes_the_bytes_of_the_profile(seed):
    """Where the memory suffices for all, by a byte, and not below."""
    rng = np.random.default_rng(seed)
    profile = random_profile(rng, int(rng.integers(2, 12)), int(rng.integers(2, 16)))
    kept = [IN_MEMORY] * len(profile.tensors)
    for memory, is_stuck in ((profile.peak_bytes, False), (profile.peak_bytes - 1, True)):
        timeline = played(profile, Storage("flash", memory, 1e9, 1e9), kept, [0] * len(kept))
        assert (timeline.stuck is not None) == is_stuck
        if not is_stuck:
            assert timeline.peak_bytes == profile.peak_bytes
            assert timeline.seconds == pytest.approx(profile.seconds)
