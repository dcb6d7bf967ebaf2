"""The age of a zone against plain arithmetic: at the ends of each class, round the end of the counter."""

import random

import cocotb
from cocotb.triggers import Timer

from flashtrain.spec.streams import Retention
from tests.rtl.zones.zone_helpers import cycles, reset

TOP = 1 << 32
ENDS = {which: (which.due, which.limit) for which in Retention}


def old(age: int, limit: int) -> bool:
    """Ages from `limit` on, for half the range of the counter."""
    return limit <= age % TOP < limit + TOP // 2 or limit <= age % TOP + TOP < limit + TOP // 2


async def check(dut, time: int, age: int) -> None:
    """The outputs a clock after the time of the data, two after their class."""
    dut.since.value = (time - age) % TOP
    for number in range(4):
        dut.retention.value = number
        await cycles(dut, 2)
        await Timer(100, "ps")
        due, limit = ENDS.get(number, (None, None))
        for name, end in (("due", due), ("expired", limit)):
            expected = end is not None and old(age, end)
            assert int(getattr(dut, name).value) == expected, (time, age, number, name)


@cocotb.test()
async def every_end_of_every_class(dut):
    dut.time.value, dut.since.value, dut.retention.value = 0, 0, 0
    await reset(dut)
    ends = sorted({end for pair in ENDS.values() for end in pair})
    near = [end + step for end in (0, *ends, TOP // 2, TOP) for step in (-2, -1, 0, 1, 2)]
    near += [end + TOP // 2 + step for end in ends for step in (-1, 0, 1)]
    for time in (0, 1, TOP - 1, TOP // 2, *(random.getrandbits(32) for _ in range(20))):
        dut.time.value = time
        await cycles(dut, 3)
        for age in (*near, *(random.getrandbits(32) for _ in range(20))):
            await check(dut, time, age)


@cocotb.test()
async def a_clock_behind_the_time(dut):
    """Right from the reset on, and three clocks after each second."""
    dut.time.value, dut.since.value, dut.retention.value = 0, 0, int(Retention.MINUTES)
    await reset(dut)
    await cycles(dut, 1)
    await check(dut, 0, 0)
    limit = Retention.MINUTES.limit
    dut.time.value, dut.since.value, dut.retention.value = limit, 0, int(Retention.MINUTES)
    await cycles(dut, 2)
    await Timer(100, "ps")
    assert (dut.due.value, dut.expired.value) == (0, 0), "before the time is there"
    await cycles(dut, 1)
    await Timer(100, "ps")
    assert (dut.due.value, dut.expired.value) == (1, 1)
