"""What the journal keeps of when zones were allocated: never too late a time, and not much too early."""

import random

from flashtrain.host.recovery.allocation_times import Moment, noted, time_of
from flashtrain.spec.journal import MOMENTS


def test_an_allocation_is_as_old_as_the_last_moment_before_it():
    moments = (Moment(0, 100), Moment(5, 200), Moment(9, 300))
    times = {0: 100, 4: 100, 5: 200, 8: 200, 9: 300, 1000: 300}
    assert {sequence: time_of(moments, sequence) for sequence in times} == times
    assert time_of(moments[1:], 4) == time_of((), 7) == 0, "nobody knows"


def test_a_moment_without_allocations_replaces_the_one_before():
    moments = noted((Moment(0, 100), Moment(5, 200)), Moment(5, 250))
    assert moments == (Moment(0, 100), Moment(5, 250))
    assert noted(moments, Moment(7, 250)) == moments, "two of one time: the one that covers more"


def test_a_clock_that_is_set_back_leaves_nothing_in_the_future():
    assert noted((Moment(0, 100), Moment(5, 200)), Moment(8, 150)) == (Moment(0, 100), Moment(5, 150))


def test_no_time_is_too_late_and_few_are_much_too_early(seed):
    chance = random.Random(seed)
    moments: tuple[Moment, ...] = ()
    truth, time, sequence = {}, 0, 0
    for _ in range(5000):
        moments = noted(moments, Moment(sequence, time))
        assert len(moments) <= MOMENTS and list(moments) == sorted(moments)
        for _ in range(chance.randrange(3)):
            time += chance.choice((0, 1, 60, 3600))
            truth[sequence] = time
            sequence += 1
        time += chance.choice((1, 100, 10_000))
    late = [time_of(moments, sequence) - at for sequence, at in truth.items()]
    assert max(late) <= 0
    assert min(late) > -time // 4
