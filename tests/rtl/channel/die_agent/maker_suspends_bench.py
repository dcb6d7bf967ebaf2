"""cocotb tests of a die's agent with suspend commands of a maker: what it suspends, and how often."""

import random

import cocotb

from flashtrain.spec.nand import RESUME_ERASE, RESUME_PROGRAM, SUSPEND_ERASE, SUSPEND_PROGRAM, BusOp
from tests.rtl.channel.die_agent.agent_helpers import (
    CONFIG,
    CYCLES,
    GEOMETRY,
    Bench,
    a_read,
    a_set,
    random_lateness,
    send_random_work,
)
from tests.rtl.channel.die_model import ArrayWork, DieModel
from tests.rtl.channel.timeout_streams import wait

SUSPENDS = {SUSPEND_PROGRAM: "program", SUSPEND_ERASE: "erase"}
RESUMES = {RESUME_PROGRAM: "program", RESUME_ERASE: "erase"}
BETWEEN = {BusOp.STATUS, BusOp.READ_MORE, BusOp.READ_LAST, BusOp.SELECT, BusOp.DATA_OUT, *RESUMES}


class SuspendableDie(DieModel):
    """Its programs and erases are suspended and resumed by commands; both have no effect without any.

    held: what is suspended, and the cycles that are left of it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.held: tuple[ArrayWork, int] | None = None
        self.resumed_at = -(10**9)
        self.suspensions: list[str] = []  # their kinds
        self.too_late = 0  # suspends behind the end of the work

    def operation(self, op: BusOp, block: int, row: int, plane: int, clock: int, level: int = 0) -> None:
        where = f"{self.name} at {clock}: {op.name}"
        assert self.held is None or op in BETWEEN, f"{where} while work is suspended"
        if op in SUSPENDS:
            self._suspend(SUSPENDS[op], clock, where)
        elif op in RESUMES:
            self._resume(RESUMES[op], clock, where)
        else:
            super().operation(op, block, row, plane, clock, level)
            return
        self.history.append((clock, op))

    def _suspend(self, kind: str, clock: int, where: str) -> None:
        assert clock >= self.status_from and not self.gathered and self.named is None, where
        assert clock >= self.resumed_at + CYCLES("tres") + CYCLES("tadv"), f"{where}: tADV"
        work = next(work for work in reversed(self.works) if work.kind != "sense")
        assert work.kind == kind, f"{where} of {work.kind}"
        if clock >= work.end:
            assert clock >= self.array_end, where
            self.too_late += 1
            return
        self.held = work, work.end - clock
        self.suspensions.append(kind)
        work.end, self.programming = clock, False
        self.works.append(ArrayWork("pause", clock, clock + CYCLES("tsusp"), [], False))
        self._busy(clock, CYCLES("tsusp"))

    def _resume(self, kind: str, clock: int, where: str) -> None:
        self.cache, self.sensed, self.selected = [], None, None
        if self.held is None:
            return
        assert clock >= self.ready_at and self.seen_ready, f"{where} while busy"
        (work, left), self.held = self.held, None
        assert work.kind == kind, f"{where} of {work.kind}"
        self.works = [each for each in self.works if each.kind != "pause" and each is not work] + [work]
        work.end = clock + left + CYCLES("tres")
        self.resumed_at = clock
        self._busy(clock, work.end - clock)


@cocotb.test()
@cocotb.parametrize(kind=["program", "erase"])
async def one_set_for_each_suspension(dut, kind):
    """tADV and tRES apart, so the work ends; each of them is for a read that does not wait for its end."""
    die = SuspendableDie(CONFIG, "die")
    bench = Bench(dut, die)
    await bench.start()
    if kind == "program":
        bench.send_set(**a_set(0))
    else:
        bench.send_erase(3)
    while not bench.works(kind):
        await wait(dut, 10)
    for row in range(12):
        bench.send_read(**a_read(row, row % GEOMETRY.planes, zone=0))
    await bench.finish()
    work = bench.works(kind)[0]
    inside = [sense for sense in bench.works("sense") if sense.begin < work.end]
    assert die.suspensions == [kind] * len(inside) and len(inside) > 1
    assert len(inside) <= 1 + (work.end - work.begin) // CYCLES("tadv")


@cocotb.test()
async def failures_are_not_lost(dut):
    """Programs and erases that end, and fail, before the suspend: the read would clear their status."""
    die = SuspendableDie(
        CONFIG, "die", late=lambda kind, cycles: cycles if kind == "sense" else cycles // 3,
        fails=lambda kind, pages: random.random() < 0.7,
    )  # fmt: skip
    bench = Bench(dut, die)
    await bench.start()
    for row in range(24):
        if row % 6 == 5:
            bench.send_erase(random.randrange(4, GEOMETRY.zones))
        bench.send_set(**a_set(row))
        for page in (row, row + 1):
            bench.send_read(**a_read(page, 0, zone=0))
        await wait(dut, random.randrange(CYCLES("tprog")))
    await bench.finish()
    dut._log.info(f"{die.too_late} suspends too late, {len(die.suspensions)} in time")
    assert die.too_late > 3


@cocotb.test()
@cocotb.parametrize((("delay", "pause"), [(0, 0), (300, 100)]))
async def random_work(dut, delay, pause):
    """Everything at once, on a slow bus and a die that is early, late and bad."""
    die = SuspendableDie(CONFIG, "die", late=random_lateness, fails=lambda kind, pages: random.random() < 0.3)
    bench = Bench(dut, die, delay=delay, pause=pause)
    await bench.start()
    await send_random_work(bench, rows=40)
    await bench.finish()
    assert die.suspensions
