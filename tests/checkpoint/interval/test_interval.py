"""Rules for the interval, optima, adaptation, failures and what they cost."""

from math import sqrt

import numpy as np
import pytest

from flashtrain.checkpoint.errors import CheckpointPolicyError
from flashtrain.checkpoint.interval import (
    PREEMPTIONS,
    AdaptiveInterval,
    FailureTrace,
    daly_seconds,
    even_failures,
    goodput,
    lost_work,
    mean_goodput,
    optimum_interval,
    overhead_interval,
    poisson_failures,
    young_seconds,
)
from flashtrain.checkpoint.systems import CheckFreq, FileSave, PinAndCopy, PinState, TrainingJob

GB = 10**9
JOB = TrainingJob(12 * GB, 4 * GB, 0, iteration_seconds=2.0, update_seconds=0.5)
FILE = FileSave(12 * GB, 1 * GB, 2 * GB)
CHECKFREQ = CheckFreq(4 * GB, 1 * GB, 2 * GB)
PIN = PinState(1e-6, 100e-6, 0.0, 10 * GB, 20 * GB)


def test_rule():
    assert overhead_interval(2.0, 0.0, 0.0, 0.03) == 1
    assert overhead_interval(2.0, 0.0, 12.0, 0.03) == 6
    assert overhead_interval(2.0, 0.0, 12.1, 0.03) == 7
    assert overhead_interval(0.1, 0.3, 0.0, 0.1) == 27  # 0.3 / (0.3 + 2.7)
    stall, bound = 1.5, 0.035
    interval = overhead_interval(2.0, stall, 0.0, bound)
    assert stall / (stall + 2.0 * interval) <= bound < stall / (stall + 2.0 * (interval - 1))


@pytest.mark.parametrize("bound", [0.03, 0.035, 0.2])
def test_rule_is_that_of_the_systems(bound):
    for system, background in ((FILE, 0.0), (CHECKFREQ, 12.0)):
        stall = system.stall_seconds(JOB, 10**6)
        assert overhead_interval(2.0, stall, background, bound) == system.least_interval(JOB, bound)


def test_optima():
    assert young_seconds(2.0, 100.0) == pytest.approx(20.0)
    assert daly_seconds(2.0, 100.0) == pytest.approx(20 * (1 + 0.1 / 3 + 0.01 / 9) - 2)
    assert daly_seconds(200.0, 100.0) == 100.0
    assert optimum_interval(20.0, 3.0) == 7
    assert optimum_interval(0.0, 3.0) == 1


def test_daly_is_close_to_the_best_of_a_simulation(seed):
    """Of the file at random failures, by trying all intervals."""
    between = 900.0
    trace = poisson_failures(1 / between, 4000 * between, seed)
    found = {k: goodput(FILE, JOB, k, trace) for k in range(20, 160, 4)}
    daly = optimum_interval(daly_seconds(FILE.stall_seconds(JOB, 1), between), 2.0)
    nearest = min(found, key=lambda k: abs(k - daly))
    assert found[nearest] > 0.995 * max(found.values())
    assert max(found[20], found[156]) < 0.96 * found[nearest]


def test_adaptation_settles_below_the_bound():
    """Training with CheckFreq; in the middle its iterations become four times as fast, later slow again."""
    adaptive = AdaptiveInterval(0.03)
    settled = {}
    for phase, seconds in (("slow", 2.0), ("fast", 0.5), ("slow again", 2.0)):
        job = TrainingJob(12 * GB, 4 * GB, 0, seconds, 0.4)
        for _ in range(60):
            interval = adaptive.observe(seconds, CHECKFREQ.stall_seconds(job, adaptive.interval), 12.0)
        least = CHECKFREQ.least_interval(job, 0.03)
        assert least <= interval <= 1.15 * least + 1
        assert adaptive.overhead <= 0.03
        settled[phase] = interval
    assert settled["fast"] > settled["slow"]
    assert abs(settled["slow again"] - settled["slow"]) <= 0.15 * settled["slow"]


def test_adaptation_is_quick_up_and_slow_down():
    adaptive = AdaptiveInterval(0.03, interval=4)
    assert adaptive.observe(1.0, 0.0) == 3  # half of the way to 1
    assert adaptive.observe(1.0, 0.0) == 2
    before = adaptive.interval
    assert adaptive.observe(1.0, 2.0) == overhead_interval(1.0, 0.5, 0.0, 0.03) > before
    assert adaptive.overhead == pytest.approx(2 / (2 + 2))
    # Of 9 s, 8 are the wait for a file of 10 s, which an interval of ten iterations does not have.
    waiting = AdaptiveInterval(0.5, interval=2)
    assert waiting.observe(1.0, 9.0, 10.0) == 10
    steady = AdaptiveInterval(0.03, interval=35)
    for stall in (1.0, 1.02, 0.98, 1.0):  # noise of 2 %
        assert 33 <= steady.observe(1.0, stall) <= 35


def test_adaptation_repeats(seed):
    found = []
    for _ in range(2):
        random, adaptive = np.random.default_rng(seed), AdaptiveInterval(0.035)
        found.append([adaptive.observe(*random.uniform(0.1, 2, 3)) for _ in range(50)])
    assert found[0] == found[1]
    assert len(set(found[0])) > 5


def test_lost_work():
    report = lost_work(FILE, JOB, 10, failures_per_day=4)
    assert report.seconds_per_failure == pytest.approx(FILE.lost_seconds(JOB, 10))
    assert report.failure_seconds_per_day == pytest.approx(4 * 16)
    assert report.stall_seconds_per_day == pytest.approx((86_400 - 64) * 13 / 33)
    assert "4 failures a day of 16 s (10 repeated, 0 not yet durable, 6 loading): 64 s lost" in str(report)
    assert lost_work(FILE, JOB, 10_000, 100).failure_seconds_per_day == 86_400


def test_goodput_by_hand():
    """Of 100 s, failures at 40 and 80; cycles of 10 s of work and 5 s of stall, loads of 6 s."""
    system = FileSave(12 * GB, 3 * GB, 2 * GB)
    trace = FailureTrace(100.0, (40.0, 80.0))
    assert system.cycle_seconds(JOB, 5) == pytest.approx(15)
    # 40 s: two checkpoints. 34 s: two. 14 s: all of its work.
    assert goodput(system, JOB, 5, trace) == pytest.approx((20 + 20 + 14 * 10 / 15) / 100)
    assert goodput(system, JOB, 5, FailureTrace(100.0, ())) == pytest.approx(10 / 15)
    # Snapshot and file take 15 s, so that the checkpoint at 30 s does not survive the failure at 40 s.
    assert CHECKFREQ.cycle_seconds(JOB, 6) == pytest.approx(13.5)
    assert goodput(CHECKFREQ, JOB, 6, FailureTrace(40.0, (40.0,))) == pytest.approx(12 / 40)
    copy = PinAndCopy(PIN, 20 * GB, 0.25)
    # Copies of 2.4 s, of every second pin, each 4.13 s after the one before: eight end before 39 s.
    assert goodput(copy, JOB, 1, FailureTrace(39.0, (39.0,))) == pytest.approx(32 / 39)


@pytest.mark.parametrize("system", [FILE, CHECKFREQ, PIN], ids=lambda system: system.name)
def test_the_mean_is_that_of_many_failures(system, seed):
    rate = 1 / 2000
    interval = system.least_interval(JOB, 0.1)
    simulated = goodput(system, JOB, interval, poisson_failures(rate, 2000 / rate, seed))
    assert simulated == pytest.approx(mean_goodput(system, JOB, interval, rate), rel=0.02)


def test_failures(seed):
    even = even_failures(3, 100.0)
    assert even.runs == (25.0, 25.0, 25.0, 25.0)
    assert even.per_day == pytest.approx(3 * 864)
    one, other = (poisson_failures(0.01, 1e6, each) for each in (seed, seed + 1))
    assert one == poisson_failures(0.01, 1e6, seed) != other
    assert len(one.times) == pytest.approx(10_000, abs=4 * sqrt(10_000))
    # Exponential: the deviation of the time between failures is its mean.
    assert np.std(one.runs) / np.mean(one.runs) == pytest.approx(1, abs=0.05)
    assert PREEMPTIONS.per_day == pytest.approx(64.1, abs=0.05)
    assert all(time % 63 == 0 for time in PREEMPTIONS.times)


def test_mistakes():
    with pytest.raises(CheckpointPolicyError, match="expected measured durations"):
        overhead_interval(0.0, 1.0, 1.0, 0.03)
    with pytest.raises(CheckpointPolicyError, match="a bound of 0 on the overhead; expected a share"):
        AdaptiveInterval(0.0)
    with pytest.raises(CheckpointPolicyError, match="an interval of 0 iterations; expected at least 1"):
        AdaptiveInterval(0.03, interval=0)
    with pytest.raises(CheckpointPolicyError, match="expected measured durations"):
        AdaptiveInterval(0.03).observe(1.0, -1.0)
    with pytest.raises(CheckpointPolicyError, match="0 s between failures; expected durations"):
        young_seconds(1.0, 0.0)
    with pytest.raises(CheckpointPolicyError, match="expected ascending times"):
        FailureTrace(10.0, (5.0, 4.0))
    with pytest.raises(CheckpointPolicyError, match="-1 failures a day"):
        lost_work(FILE, JOB, 1, -1)
    with pytest.raises(CheckpointPolicyError, match="-1 failures a second"):
        poisson_failures(-1, 10, 1)
