"""What arrays did all the time, from operations that are made up."""

import pytest

from flashtrain.perf.array_work import ArrayKind, ArrayWork
from flashtrain.perf.die_time import (
    BUS_IDLE,
    COMMANDS,
    DATA_IN,
    DATA_OUT,
    OTHER_DIE,
    BusKind,
    BusWork,
    DeviceTrace,
    array_shares,
)
from flashtrain.perf.measurement import BenchmarkError
from flashtrain.perf.sustained import zone_cycles


def array(kind: ArrayKind, start: int, end: int, die: int = 0, channel: int = 0) -> ArrayWork:
    return ArrayWork(kind, start, end, channel, die, planes=4)


def bus(kind: BusKind, start: int, end: int, die: int = 0, channel: int = 0) -> BusWork:
    return BusWork(kind, start, end, channel, die)


def test_each_clock_of_an_array_has_a_name():
    arrays = [
        array(ArrayKind.PROGRAM, 50, 200),  # began before the time that counts
        array(ArrayKind.ERASE, 300, 400),
        array(ArrayKind.SENSE, 1000, 1100),
    ]
    buses = [
        bus(BusKind.DATA_IN, 150, 250),  # of which the array waits for 50
        bus(BusKind.COMMAND, 250, 260),
        bus(BusKind.DATA_OUT, 400, 500),
        bus(BusKind.DATA_IN, 500, 600, die=1),
        bus(BusKind.DATA_OUT, 700, 750, die=1),
        bus(BusKind.STATUS, 990, 1050),
        bus(BusKind.DATA_IN, 100, 1100, channel=1),
    ]
    shares = array_shares(DeviceTrace(arrays, buses), begin=100, dies=2)
    assert shares == pytest.approx({
        "programs": 0.1, "senses": 0.1, "erases": 0.1,
        DATA_IN: 0.05, DATA_OUT: 0.1, OTHER_DIE: 0.15, COMMANDS: 0.02, BUS_IDLE: 0.38,
    })  # fmt: skip


def test_arrays_share_the_time():
    arrays = [array(ArrayKind.PROGRAM, 0, 100, die=0), array(ArrayKind.PROGRAM, 75, 100, die=1)]
    shares = array_shares(DeviceTrace(arrays, []), begin=0, dies=2)
    assert shares["programs"] == 0.625 and shares[BUS_IDLE] == 0.375


def test_a_sense_that_suspends_is_not_part_of_the_program_around_it():
    arrays = [
        array(ArrayKind.PROGRAM, 100, 300),
        array(ArrayKind.SENSE, 150, 160),
        array(ArrayKind.SENSE, 200, 210),
        array(ArrayKind.ERASE, 350, 450),
        array(ArrayKind.SENSE, 440, 460),  # its array is idle before it ends
        array(ArrayKind.PROGRAM, 480, 500),
    ]
    shares = array_shares(DeviceTrace(arrays, []), begin=0, dies=2)
    assert shares == pytest.approx({
        "programs": 0.4, "senses": 0.08, "erases": 0.18,
        DATA_IN: 0, DATA_OUT: 0, OTHER_DIE: 0, COMMANDS: 0, BUS_IDLE: 0.34,
    })  # fmt: skip


def test_of_nothing():
    assert array_shares(DeviceTrace([], []), begin=0, dies=2) == {}


def zone(start: int) -> list[ArrayWork]:
    """Three programs of 100 cycles and an erase of 50."""
    programs = [array(ArrayKind.PROGRAM, start + 100 * n, start + 100 * n + 100) for n in range(3)]
    return [*programs, array(ArrayKind.ERASE, start + 300, start + 350)]


def test_zone_cycles():
    work = [*zone(0), *zone(350), *zone(700)]
    assert zone_cycles(work, pages=3, zones=2) == [350]
    # Too little for three zones.
    assert zone_cycles(work, pages=3, zones=3) == []


def test_a_zone_that_was_not_erased():
    work = [*zone(0)[:3], *zone(350)]
    with pytest.raises(BenchmarkError, match="die 0 of channel 0 erased 0 times in 1 zones; expected 1"):
        zone_cycles(work, pages=3, zones=1)
