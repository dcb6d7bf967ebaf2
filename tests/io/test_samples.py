"""What follows from the times of commands."""

import numpy as np
import pytest

from flashtrain.io.job import PERCENTILES
from flashtrain.io.samples import (
    Samples,
    Spread,
    Window,
    depth_shares,
    joined,
    latency_shares,
    percentiles,
)


def samples(times, window, size=4096, mhz=600):
    times = np.array(times, np.int64).reshape(-1, 3)
    return Samples(times, np.full(len(times), size, np.int64), Window(*window, mhz))


def test_rates_and_latencies():
    of = samples([(0, 6, 606), (600, 606, 1806)], (0, 6000))
    assert of.bytes_per_second == pytest.approx(8192 / 10e-6)
    assert of.iops == pytest.approx(2 / 10e-6)
    assert of.submission.tolist() == [10, 10]
    assert of.completion.tolist() == [1000, 2000]
    assert of.latency.tolist() == [1010, 2010]
    assert of.bandwidths(10).tolist() == pytest.approx([0, 4096e6, 0, 4096e6, 0, 0, 0, 0, 0, 0])


def test_without_time():
    of = samples([(0, 0, 0)], (0, 0))
    assert of.bytes == 4096 and of.bytes_per_second is None and of.iops is None


def test_jobs_are_joined():
    both = joined([samples([(0, 1, 2)], (0, 100)), samples([(5, 6, 7)] * 2, (50, 300), size=512)])
    assert (both.commands, both.bytes) == (3, 4096 + 1024)
    assert (both.window.begin, both.window.end) == (0, 300)


def test_percentiles(seed):
    values = np.random.default_rng(seed).permutation(np.arange(1, 10_001)).astype(float)
    assert percentiles(values, PERCENTILES) == pytest.approx(
        {each: each * 100 for each in PERCENTILES}, abs=1.01
    )
    assert percentiles(np.array([5.0]), PERCENTILES) == dict.fromkeys(PERCENTILES, 5.0)
    assert percentiles(values[:0], PERCENTILES) == {}


def test_spread():
    assert Spread.of(np.array([2.0, 4.0])) == Spread(2, 4, 3, 1, 2)
    assert Spread.of(np.empty(0)).count == 0


def test_histogram(seed):
    values = np.array([1, 3, 999, 1000, 1999, 2e9, 5e9])
    shares = latency_shares(values)
    found = {(unit, end): share for unit, ends in shares.items() for end, share in ends.items() if share}
    counts = {("ns", "2"): 1, ("ns", "4"): 1, ("ns", "1000"): 1, ("us", "2"): 2, ("ms", ">=2000"): 2}
    assert found == pytest.approx({end: 100 * count / 7 for end, count in counts.items()})
    random = np.random.default_rng(seed).lognormal(8, 3, 1000)
    total = sum(share for ends in latency_shares(random).values() for share in ends.values())
    assert total == pytest.approx(100)


def test_depths():
    assert depth_shares({1: 1, 3: 1, 64: 2, 200: 4}) == {
        "1": 12.5, "2": 12.5, "4": 0, "8": 0, "16": 0, "32": 0, ">=64": 75,
    }  # fmt: skip
