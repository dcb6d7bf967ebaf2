"""Nanoseconds to cycles: never too few, never one too many."""

import random
from fractions import Fraction

import pytest

from flashtrain.spec import ConfigError, Duration, NandTiming
from flashtrain.spec.timing import ns


@pytest.mark.parametrize(
    ("duration", "clock_mhz", "cycles"),
    [
        (ns(25), 600, 15),
        (ns(100), 600, 60),
        (ns(20), 600, 12),
        (ns(25), 333, 9),  # 8.325
        (ns(1), 600, 1),  # 0.6
        (ns(0), 600, 1),  # the least number of cycles
        (ns(100_000), 600, 60_000),
        (ns(0.1), 10, 1),  # 0.001: the smallest step that counts
        (Duration(20, 25), 600, 20),  # the cycles are more
        (Duration(3, 25), 600, 15),  # the nanoseconds are more
        (Duration(15, 25), 600, 15),
    ],
)
def test_rounding(duration, clock_mhz, cycles):
    assert duration.cycles_at(clock_mhz) == cycles


def test_never_short_and_never_long(seed):
    choose = random.Random(seed)
    for _ in range(5000):
        clock_mhz = choose.randint(1, 2000)
        nanoseconds = choose.randint(0, 6_000_000)
        exact = Fraction(nanoseconds * clock_mhz, 1000)
        cycles = ns(nanoseconds).cycles_at(clock_mhz)
        assert cycles >= exact, (clock_mhz, nanoseconds)
        assert cycles == 1 or cycles - 1 < exact, (clock_mhz, nanoseconds)


def test_cycles_of_the_reference():
    timing = NandTiming()
    assert timing.clock_hz == 600e6
    assert timing.bytes_per_second == 1.2e9
    names = "twc tadl twhr trhw tchz tccs twb trr tdbsy tcbsy tr tprog tbers trst".split()
    assert {name: timing.cycles(name) for name in names} == {
        "twc": 15,
        "tadl": 90,
        "twhr": 48,
        "trhw": 60,
        "tchz": 18,
        "tccs": 180,
        "twb": 60,
        "trr": 12,
        "tdbsy": 300,
        "tcbsy": 1_800,
        "tr": 1_800,
        "tprog": 60_000,
        "tbers": 3_000_000,
        "trst": 3_000,
    }


def test_unknown_name():
    with pytest.raises(ConfigError, match=r"timing has no 'tfoo'; expected one of twc, tadl, .*, trst"):
        NandTiming().cycles("tfoo")
    with pytest.raises(ConfigError, match="timing has no 'clock_mhz'"):
        NandTiming().cycles("clock_mhz")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("clock_mhz", 0, "timing.clock_mhz is 0; expected an integer from 1 to 2000"),
        ("clock_mhz", 2001, "timing.clock_mhz is 2001; expected an integer from 1 to 2000"),
        ("clock_mhz", 600.0, "timing.clock_mhz is 600.0; expected an integer from 1 to 2000"),
        ("tr", 3000, "timing.tr is 3000; expected a Duration"),
        ("tr", Duration(0, 5), "timing.tr.cycles is 0; expected an integer from 1 to 1000000"),
        ("twc", Duration(1, -1), "timing.twc.ns is -1; expected a number from 0 to 1000000000"),
        ("twc", Duration(1, float("nan")), "timing.twc.ns is nan; expected a number from 0 to 1000000000"),
    ],
)  # fmt: skip
def test_bad_timing(field, value, message):
    with pytest.raises(ConfigError) as caught:
        NandTiming(**{field: value})
    assert str(caught.value) == message
