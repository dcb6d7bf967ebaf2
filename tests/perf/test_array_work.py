"""The rate of programs in the steady state."""

import pytest

from flashtrain.perf.array_work import ArrayKind, ArrayWork, programs_per_cycle
from flashtrain.perf.measurement import BenchmarkError


def programs(die, starts):
    return [ArrayWork(ArrayKind.PROGRAM, start, start + 9, channel=0, die=die, planes=4) for start in starts]


def test_regular_programs_are_exact():
    work = programs(0, range(7, 7 + 9 * 61_800, 61_800)) + programs(1, range(11, 11 + 9 * 20_600, 20_600))
    assert programs_per_cycle(work, dies=2, settle=2) == 1 / 61_800 + 1 / 20_600


def test_begin_and_end_do_not_count():
    starts = [0, 1, 2, *range(1000, 6000, 100), 9000, 9500, 9900]
    senses = [ArrayWork(ArrayKind.SENSE, start, start + 9, 0, 0, 4) for start in range(0, 9000, 10)]
    assert programs_per_cycle(programs(0, starts) + senses, dies=1, settle=3) == 1 / 100


@pytest.mark.parametrize("end", range(30, 40))
def test_where_the_end_lies_between_two_pauses_hardly_matters(end):
    """Four programs in 40 cycles, then a pause of 40: one in 20 on average."""
    starts = [80 * burst + 10 * number for burst in range(12) for number in range(4)]
    assert programs_per_cycle(programs(0, starts[:end]), dies=1, settle=0) == pytest.approx(1 / 20, rel=0.02)


def test_too_few():
    with pytest.raises(BenchmarkError, match="1 of 2 dies programmed"):
        programs_per_cycle(programs(0, range(9)), dies=2, settle=2)
    with pytest.raises(BenchmarkError, match="too little for a steady state"):
        programs_per_cycle(programs(0, range(5)), dies=1, settle=2)
