"""Pages counted at buses and at arrays: only work that lies wholly within the time that is counted."""

import numpy as np
import pytest

from flashtrain.perf.array_work import ArrayKind, ArrayWork
from flashtrain.perf.die_time import BusKind, BusWork
from flashtrain.perf.measurement import BenchmarkError
from flashtrain.perf.mixed import Counted, Mix
from flashtrain.perf.page_rates import PageRates, rates_of_arrays, rates_of_buses
from flashtrain.spec import preset

SENSE, PROGRAM = ArrayKind.SENSE, ArrayKind.PROGRAM
IN, OUT = BusKind.DATA_IN, BusKind.DATA_OUT


def page(kind, end, channel=0):
    return BusWork(kind, end - 90, end, channel, 0)


def work(kind, start, end, die=0, planes=4):
    return ArrayWork(kind, start, end, 0, die, planes)


def test_buses_are_counted_from_the_end_of_one_page_to_that_of_another():
    """The first page ends where the time begins; commands are no pages; channels are added up."""
    works = [page(OUT, 1000), page(IN, 1100), page(OUT, 1300), page(BusKind.COMMAND, 1350), page(OUT, 1400)]
    found = rates_of_buses([*works, page(IN, 50, 1), page(IN, 150, 1)], channels=2)
    assert found == PageRates(1 / 400 + 1 / 100, 2 / 400)


def test_arrays_are_counted_from_the_start_of_one_program_to_that_of_another():
    """A program from before the time does not count, nor do the senses in it and behind the last one."""
    works = [work(PROGRAM, 90, 300), work(SENSE, 150, 170)]
    works += [work(PROGRAM, 300, 520), work(SENSE, 310, 330, planes=2), work(SENSE, 520, 540)]
    works += [work(PROGRAM, 550, 760), work(SENSE, 560, 580), work(PROGRAM, 800, 900), work(SENSE, 805, 825)]
    assert rates_of_arrays(works, begin=100, dies=1) == PageRates(8 / 500, 10 / 500)


def test_a_window_with_too_little_in_it_is_refused():
    with pytest.raises(BenchmarkError, match="1 of 2 channels moved data"):
        rates_of_buses([page(IN, 100), page(IN, 200)], channels=2)
    with pytest.raises(BenchmarkError, match="0 of 1 channels moved data"):
        rates_of_buses([], channels=1)
    with pytest.raises(BenchmarkError, match="1 of 2 dies programmed"):
        rates_of_arrays([work(PROGRAM, 0, 9), work(PROGRAM, 10, 19), work(PROGRAM, 0, 9, die=1)], 0, 2)


@pytest.mark.parametrize("seed", range(3))
def test_arrays_that_are_never_idle_are_at_their_bound_wherever_the_time_begins(seed):
    """Reads in bursts: the ratio differs from stretch to stretch, and the bound is of the stretch."""
    config = preset("small")
    tr, tprog, planes = config.timing.cycles("tr"), config.timing.cycles("tprog"), config.geometry.planes
    rng, works, now = np.random.default_rng(seed), [], 0
    for _ in range(20):
        begin, senses = now, int(rng.integers(0, 8))
        works += [work(SENSE, begin + n * tr, begin + (n + 1) * tr, planes=planes) for n in range(senses)]
        now += tprog + senses * tr
        works.append(work(PROGRAM, begin, now, planes=planes))
    every = [each._replace(channel=ch, die=die) for each in works for ch in range(4) for die in range(2)]
    for begin in rng.integers(0, now // 2, 5).tolist():
        known = [each for each in every if each.end >= begin]
        rates = rates_of_arrays(known, begin, dies=8)
        counted = Counted.at_arrays(config, rates)
        assert counted.share == pytest.approx(1), f"seed {seed}, begin {begin}"
        assert counted.bound == pytest.approx(Mix(rates.read / rates.appended).arrays(config))
