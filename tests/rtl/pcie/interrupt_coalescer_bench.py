"""Interrupts beside `flashtrain.nvme.pcie.coalescing`, whose time is that of the clock."""

import random
import struct
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.coalescing import Coalescing
from flashtrain.nvme.subsystem.features import Feature, Features
from flashtrain.nvme.subsystem.profile import PCIE
from flashtrain.nvme.wire.commands import AdminOpcode, Entry, parse_entry
from flashtrain.rtl.pcie.layouts import AggregationSetting
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import pack, start
from flashtrain.spec.pcie import MailboxAggregation, MailboxVector

VECTORS, UNIT, ROUNDS = (bench_parameters()[name] for name in ("vectors", "unit_cycles", "rounds"))
SETTING = AggregationSetting()
LATENCY = 2
"""Of an interrupt that does not wait, while others may."""
SCAN = VECTORS + LATENCY


def feature(number: Feature, value: int) -> Entry:
    return parse_entry(struct.pack("<B39xII16x", AdminOpcode.SET_FEATURES, number, value))


class Bench:
    """Drives the unit, and keeps what has fired as (cycle, vector). The model has the same interrupts."""

    def __init__(self, dut):
        self.dut, self.clock = dut, 0
        self.found: list[tuple[int, int]] = []
        self.expected: list[tuple[int, int]] = []
        self.features = Features(PCIE.features, VECTORS - 1, False, b"", 0)
        self.model = Coalescing(
            self.features, lambda vector: self.expected.append((self.clock, vector)), self._later
        )
        self.ended = -SCAN
        self.timer: tuple[int, Callable[[], None]] | None = None

    def _later(self, units: int, function: Callable[[], None]):
        self.timer = self.clock + units * UNIT, function
        return SimpleNamespace(cancel=lambda: setattr(self, "timer", None))

    async def start(self) -> None:
        idle = {
            "settings__valid": 0,
            "settings__payload": 0,
            "interrupts__valid": 0,
            "interrupts__payload": 0,
        }
        await start(self.dut, enable=1, **idle)
        self.dut.enable.value = 1

    async def cycle(self, count: int = 1) -> None:
        """What is driven now is taken at the end of the cycle."""
        for _ in range(count):
            await RisingEdge(self.dut.clk)
            self.clock += 1
            if self.dut.fire__valid.value == 1:
                self.found.append((self.clock, int(self.dut.fire__payload.value)))
            if self.timer is not None and self.timer[0] == self.clock:
                end, self.timer, self.ended = self.timer[1], None, self.clock
                end()

    async def interrupt(self, vector: int) -> None:
        self.dut.interrupts__valid.value, self.dut.interrupts__payload.value = 1, vector
        await self.cycle()
        self.model.posted(vector)
        self.dut.interrupts__valid.value = 0
        await self.cycle()

    async def set(self, of_vector: bool, value: int) -> None:
        self.dut.settings__payload.value = pack(SETTING, of_vector=of_vector, value=value)
        self.dut.settings__valid.value = 1
        await self.cycle()
        number = Feature.INTERRUPT_VECTOR if of_vector else Feature.INTERRUPT_COALESCING
        assert not self.features.set(feature(number, value), (), False).status
        self.model.flush()
        self.dut.settings__valid.value = 0
        await self.cycle(SCAN + 3)

    async def rest(self) -> None:
        """Wait until no time ends, or has ended within a round."""
        while self.clock - self.ended <= SCAN + 2 or (self.timer and self.timer[0] - self.clock < 4):
            await self.cycle()

    def any_setting(self) -> tuple[bool, int]:
        if random.random() < 0.4:
            alone = MailboxVector.alone.put(random.randrange(2))
            return True, random.randrange(VECTORS) | alone
        threshold = random.choice([0, 1, 2, random.randrange(8), 255])
        return False, threshold | MailboxAggregation.time.put(random.choice([0, 1, 3, 6]))

    def compare(self) -> None:
        """Each vector fires as often, and not later than by a round of all."""
        for vector in range(VECTORS):
            found, expected = (
                [cycle for cycle, one in fired if one == vector] for fired in (self.found, self.expected)
            )
            assert len(found) == len(expected), f"vector {vector}"
            for cycle, wanted in zip(found, expected, strict=True):
                assert 0 <= cycle - wanted <= SCAN, f"vector {vector} fires {cycle - wanted} cycles late"


@cocotb.test()
async def vectors_fire_when_those_of_the_model_do(dut):
    """No interrupt comes while all fire, because the model lets them do so at once."""
    bench = Bench(dut)
    await bench.start()
    for _ in range(ROUNDS):
        await bench.set(*bench.any_setting())
        mine = random.sample(range(VECTORS), min(VECTORS, 3))
        for _ in range(random.randrange(30)):
            await bench.rest()
            if random.random() < 0.7:
                await bench.interrupt(random.choice(mine))
            else:
                await bench.cycle(random.choice([1, 2, 5, UNIT]))
        if random.random() < 0.2:
            await bench.rest()
            dut.enable.value = 0
            await bench.cycle()
            bench.model.stop()
            bench.features.reset()
            await bench.cycle(2)
            dut.enable.value = 1
        await bench.cycle(6 * UNIT + SCAN)
        bench.compare()
    assert len(bench.found) > 2 * ROUNDS


@cocotb.test()
async def latencies_are_those_of_the_data_sheet(dut):
    bench = Bench(dut)
    await bench.start()

    async def cycles_of(vector: int) -> int:
        bench.found.clear()
        begun = bench.clock + 1
        await bench.interrupt(vector)
        while not bench.found:
            await bench.cycle()
        return bench.found[0][0] - begun

    assert await cycles_of(1) == 0
    await bench.set(False, 1 | MailboxAggregation.time.put(2))
    assert await cycles_of(0) == LATENCY
    assert 2 * UNIT <= await cycles_of(1) <= 2 * UNIT + SCAN
    await bench.interrupt(2)
    assert await cycles_of(2) == LATENCY
    await bench.set(True, MailboxVector.alone.put(1) | 2)
    assert await cycles_of(2) == LATENCY
    await bench.set(False, 1)
    assert await cycles_of(1) == 0


@cocotb.test()
async def no_interrupt_is_lost_or_late(dut):
    """At any time, also while all fire, and with settings between them."""
    bench = Bench(dut)
    await bench.start()
    waiting: dict[int, int] = {}
    completions, fires = Counter[int](), Counter[int]()
    longest = 3 * UNIT + 8 * SCAN
    for _ in range(60 * ROUNDS):
        if random.random() < 0.02:
            value = random.randrange(5) | MailboxAggregation.time.put(random.randrange(4))
            dut.settings__payload.value, dut.settings__valid.value = pack(SETTING, value=value), 1
        vector = random.choice([1, 2, VECTORS - 1, random.randrange(VECTORS)])
        comes = random.random() < 0.6
        dut.interrupts__payload.value, dut.interrupts__valid.value = vector, comes
        if comes:
            completions[vector] += 1
            waiting.setdefault(vector, bench.clock)
        for _ in range(2):
            bench.found.clear()
            await bench.cycle()
            dut.interrupts__valid.value = dut.settings__valid.value = 0
            for _, fired in bench.found:
                fires[fired] += 1
                waiting.pop(fired, None)
                assert fires[fired] <= completions[fired], f"vector {fired} fires without a completion"
        late = [vector for vector, since in waiting.items() if bench.clock - since > longest]
        assert not late, f"vectors {late} have waited for {longest} cycles"
    bench.found.clear()
    await bench.cycle(longest)
    behind = {vector for _, vector in bench.found}
    assert waiting.keys() <= behind and sum(fires.values()) < sum(completions.values())
