"""FlashNeuron's choice, worked out by hand from the rules of its public code."""

import pytest

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import Phase, Profile, ProfiledOperation, SavedTensor, Storage
from flashtrain.training.offload.drafts import timeline_of
from flashtrain.training.offload.flashneuron import flashneuron_choice
from flashtrain.training.offload.published import flashneuron_plan
from tests.training.offload.profiles import MIB

SIZE = 6_000_000


def profile(kinds: str, size: int = SIZE, seconds: float = 1.0) -> Profile:
    """A tensor for each letter: r, of a ReLU; f, of four bytes per element; p, plain."""
    count = len(kinds)
    operations = [ProfiledOperation(f"f{i}", seconds, Phase.FORWARD) for i in range(count)]
    operations += [ProfiledOperation(f"b{i}", seconds, Phase.BACKWARD) for i in range(count)]
    tensors = [
        SavedTensor(
            f"saved/{i}", size, i, (2 * count - 1 - i,), None, 2 if kind == "p" else 4, kind == "r",
            {"zeros": 2.0},
        )
        for i, kind in enumerate(kinds)
    ]  # fmt: skip
    return Profile("letters", 1, tuple(operations), tuple(tensors))


def storage(kept: float, seconds: float, codecs: tuple[str, ...] = ("zeros",)) -> Storage:
    """Memory of which 60 % are so many tensors, and a raw write of a tensor takes `seconds`."""
    return Storage("s", round(kept * SIZE / 0.6), SIZE / seconds, SIZE / seconds, codecs=codecs)


def test_phase_1_takes_tensors_in_order_until_the_rest_is_less_than_60_percent_of_the_memory():
    # 8 tensors, 4.5 may stay: 3.5 are to go, so 4 go.
    assert flashneuron_choice(profile("p" * 8), storage(4.5, 0.1)) == [0, 1, 2, 3]


def test_exactly_nothing_left_is_not_below_0():
    assert flashneuron_choice(profile("p" * 8), storage(4, 0.1)) == [0, 1, 2, 3, 4]


def test_at_least_two_are_taken():
    assert flashneuron_choice(profile("p" * 8), storage(7.5, 0.1)) == [0, 1]


def test_nothing_is_taken_that_fits():
    assert flashneuron_choice(profile("p" * 8), storage(8, 0.1)) == []


def test_tensors_of_a_mib_or_less_stay():
    assert flashneuron_choice(profile("p" * 8, size=MIB), storage(0.1, 0.1)) == []
    assert flashneuron_choice(profile("p" * 8, size=MIB + 1), storage(0.1, 0.1)) == list(range(8))


def test_phase_2_replaces_plain_tensors_by_later_compressible_ones_while_late():
    # Six are to go; plain ones take 3 s, those of a ReLU a quarter. 0 to 5 would end at 1 + 6 x 3 > 10.
    # Dropped: 5, 4, 3, 2 for 6, 7, 8, 9. Then 0, 1, 6 to 9 end at 1 + 3 + 3, and the last at 10.75: late.
    # So 1 and 0 go, too, but nothing is left to add for them: both stay.
    chosen = flashneuron_choice(profile("p" * 6 + "r" * 4), storage(4.5, 3.0))
    assert chosen == [0, 1, 6, 7, 8, 9]


def test_phase_2_ends_as_soon_as_the_last_transfer_is_in_time():
    # Five are to go, at 2.2 s each: 0 to 4 end at 1 + 11 of 10. Tensor 4 goes for 5, of a ReLU (0.55 s):
    # 0 to 3 end at 9.8, tensor 5 at 10.35. Tensor 3 for 6: 0 to 2 end at 7.6, then 8.15, 8.7 in time.
    assert flashneuron_choice(profile("p" * 5 + "r" * 5), storage(5.5, 2.2)) == [0, 1, 2, 5, 6]


def test_phase_2_drops_four_byte_elements_when_no_plain_tensor_is_left():
    # All of 0 to 3 are FP16 at 4 s: they end at 1 + 16 of 12. For 3, 2 and 1 those of a ReLU are added, at
    # 2 s: the last one then ends at 15, at 13, and at 1 + 4 + 6, which is in time.
    assert flashneuron_choice(profile("f" * 4 + "r" * 8), storage(8.5, 8.0)) == [0, 4, 5, 6]


def test_the_flags_need_codecs():
    # Plain or not, without codecs nothing can be added: the choice of phase 1 stays.
    assert flashneuron_choice(profile("f" * 4 + "r" * 8), storage(8.5, 8.0, codecs=())) == [0, 1, 2, 3]


def test_its_plan_waits_for_all_writes_and_stores_by_measured_ratios():
    plan = flashneuron_plan(profile("r" * 8), storage(4.5, 8.0))
    assert plan.barrier and plan.schedule == "flashneuron"
    assert [tensor.codec for tensor in plan.tensors] == ["zeros"] * len(plan.tensors)
    timeline = timeline_of(plan, profile("r" * 8))
    # 4 s for each of the four, by the measured ratio of 2; the flags had said 2 s.
    assert timeline.writes["end"][3] == pytest.approx(17.0)
    assert timeline.operations["begin"][8] == pytest.approx(17.0)


def test_a_plan_that_does_not_fit_is_refused():
    with pytest.raises(OffloadError, match=r"letters: operation f2 finds no space in memory \(flashneuron\)"):
        flashneuron_plan(profile("p" * 8, size=MIB), storage(0.25, 0.1))
