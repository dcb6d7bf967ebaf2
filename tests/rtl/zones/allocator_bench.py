"""Which zone is handed out and which one is erased."""

import random
from collections.abc import Callable

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.zones.allocator import ErasedZone
from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.rtl.zones.restore import RestoredZone
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.spec import preset
from flashtrain.spec.identity import MOST_WEAR
from tests.rtl.zones.zone_helpers import Sink, Source, clock_number, cycles, pack, reset

CONFIG = preset(bench_parameters()["preset"])
ZONES, BLOCKS = CONFIG.geometry.zones, CONFIG.geometry.blocks
PASS = BLOCKS + 6  # cycles


class Bench:
    """Takes and releases zones at command, and erases after `erase_cycles`."""

    def __init__(self, dut, factory: bool, recovering: bool = False):
        self.dut = dut
        self.wear = [0] * ZONES
        self.erased = set(range(ZONES)) if factory and not recovering else set()
        self.dirty = set() if factory or recovering else set(range(BLOCKS))
        self.erase_cycles = 1
        self.failing: set[int] = set()
        self.taken: list[int] = []
        self.taken_at: list[int] = []
        self.erase_order: list[int] = []
        dut.factory.value = int(factory)
        dut.recovering.value = int(recovering)
        dut.zone_select.value = 0
        self.next = Sink(dut, "next", ErasedZone(CONFIG), self._take, busy=0)
        self.restored = Source(dut, "restored")
        self.release = Source(dut, "release")
        self.erase = Sink(dut, "erase", EraseRequest(CONFIG), self._erase)
        self.results = Source(dut, "erased")

    async def start(self) -> None:
        await reset(self.dut)
        await cycles(self.dut, BLOCKS + 2)
        assert self.dut.ready.value == 1

    async def take(self) -> int:
        count = len(self.taken)
        self.next.busy = 1
        await self.until(lambda: len(self.taken) > count, "no zone is handed out")
        self.next.busy = 0
        return self.taken[-1]

    async def until(self, condition: Callable[[], bool], complaint: str) -> None:
        for _ in range(ZONES * 8 * PASS):
            if condition():
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(complaint)

    async def idle(self) -> None:
        await cycles(self.dut, 1)
        await self.until(
            lambda: self.dut.idle.value == 1 and not self.dirty and self.release.empty, "not idle"
        )

    def give_back(self, zone: int) -> None:
        self.dirty.add(zone)
        self.release.send(zone)

    def restore(self, zone: int, wear: int, dirty: bool) -> None:
        if zone < ZONES:
            self.wear[zone] = wear
        self.dirty -= {zone}
        self.dirty |= {zone} if dirty else set()
        self.restored.send(pack(RestoredZone(CONFIG), zone=zone, wear=wear, dirty=int(dirty)))

    def _take(self, erased) -> None:
        zone = erased.zone
        assert zone in self.erased, f"zone {zone} is handed out, which is not erased"
        assert erased.wear == self.wear[zone], f"zone {zone} was erased {self.wear[zone]} times"
        self.erased.remove(zone)
        self.taken.append(zone)
        self.taken_at.append(clock_number())

    def _erase(self, request) -> None:
        zone = request.zone
        assert self.dut.recovering.value == 0, f"zone {zone} is erased while recovering"
        assert zone in self.dirty, f"zone {zone} is erased, which was not released"
        self.dirty.remove(zone)
        self.erase_order.append(zone)
        cocotb.start_soon(self._finish(zone))

    async def _finish(self, zone: int) -> None:
        await cycles(self.dut, self.erase_cycles)

        def offered() -> None:
            if zone not in self.failing and zone < ZONES:
                self.wear[zone] = min(self.wear[zone] + 1, MOST_WEAR)
                self.erased.add(zone)

        self.results.send(pack(EraseResult(), failed=int(zone in self.failing)), offered)

    async def check_wear(self) -> None:
        for zone in range(ZONES):
            self.dut.zone_select.value = zone
            await cycles(self.dut, 3)
            assert int(self.dut.zone_wear.value) == self.wear[zone], zone


@cocotb.test()
async def hands_out_the_least_worn(dut):
    """With nothing under way, zones come by wear and then by number, but for the one that was at hand."""
    bench = Bench(dut, factory=True)
    await bench.start()
    for _ in range(25):
        await cycles(dut, 2 * PASS)
        assert dut.next__valid.value == 1
        at_hand = ErasedZone(CONFIG).from_bits(int(dut.next__payload.value)).zone
        count = random.randint(1, ZONES - 1)
        expected = sorted(bench.erased - {at_hand}, key=lambda zone: (bench.wear[zone], zone))
        taken = []
        for _ in range(count):
            taken.append(await bench.take())
            await cycles(dut, 2 * PASS)
        assert taken == [at_hand, *expected][:count]
        for zone in random.sample(taken, len(taken)):
            bench.give_back(zone)
        await bench.idle()
    await bench.check_wear()
    assert max(bench.wear) > 3


@cocotb.test()
async def erases_the_least_worn(dut):
    """Of zones released while an erase is under way the least-worn one is next."""
    bench = Bench(dut, factory=False)
    await bench.start()
    await bench.idle()
    assert bench.erase_order == list(range(BLOCKS))
    for _ in range(10):
        taken = [await bench.take() for _ in range(random.randint(2, ZONES))]
        bench.erase_cycles = 4 * PASS
        first, *others = random.sample(taken, len(taken))
        done = len(bench.erase_order) + 1
        bench.give_back(first)
        await bench.until(lambda d=done: len(bench.erase_order) == d, "nothing is erased")
        expected = sorted(others, key=lambda zone: (bench.wear[zone], zone))
        for zone in others:
            bench.give_back(zone)
        await bench.idle()
        assert bench.erase_order[done:] == expected
    await bench.check_wear()


@cocotb.test()
async def a_new_zone_within_two_passes(dut):
    bench = Bench(dut, factory=True)
    await bench.start()
    await cycles(dut, PASS)
    bench.next.busy = 1
    await bench.until(lambda: len(bench.taken) == ZONES, "no zone is handed out")
    intervals = [b - a for a, b in zip(bench.taken_at, bench.taken_at[1:], strict=False)]
    dut._log.info(f"{ZONES} zones, {intervals} cycles between takes")
    assert max(intervals) <= 2 * PASS
    await cycles(dut, 3)
    assert dut.exhausted.value == 1
    bench.give_back(bench.taken[3])
    await cycles(dut, 4)
    assert dut.exhausted.value == 0


@cocotb.test()
async def random_traffic(dut):
    bench = Bench(dut, factory=random.random() < 0.5)
    await bench.start()
    bench.failing = {2}
    in_use: list[int] = []
    for _ in range(rounds(400)):
        bench.erase_cycles = random.randint(1, 60)
        if len(in_use) < ZONES - 4 and random.random() < 0.5:
            in_use.append(await bench.take())
        elif in_use:
            bench.give_back(in_use.pop(random.randrange(len(in_use))))
        await cycles(dut, random.choice((0, 1, 5, 50)))
    for zone in in_use:
        bench.give_back(zone)
    await bench.idle()
    await bench.check_wear()
    assert bench.taken.count(2) <= 1, "handed out after its erase had failed"


@cocotb.test()
async def restores_what_it_is_told(dut):
    """Of the restored zones the dirty ones are erased, the least-worn first, and not before the end; what
    nobody has restored is never touched. Zones may be restored again, and then as something else."""
    bench = Bench(dut, factory=random.random() < 0.5, recovering=True)
    await bench.start()
    assert dut.idle.value == 1 and dut.next__valid.value == 0
    known = random.sample(range(ZONES), ZONES - 3)
    for zone in known + random.sample(known, 5):
        bench.restore(zone, random.choice((0, 1, 7, random.getrandbits(19))), random.random() < 0.6)
    bench.restore(known[0], 3, dirty=True)
    bench.restore(known[1], 3, dirty=False)
    begin, count = clock_number(), len(known) + 7
    await bench.until(lambda: bench.restored.empty, "a restored zone is not taken")
    assert clock_number() - begin <= 3 * count
    await cycles(dut, 3 * PASS)
    await bench.check_wear()
    assert dut.idle.value == 0 and not bench.erase_order
    dirty = sorted(bench.dirty, key=lambda zone: (bench.wear[zone], zone))
    dut.recovering.value = 0
    await bench.idle()
    assert bench.erase_order == dirty
    expected = sorted(dirty[1:], key=lambda zone: (bench.wear[zone], zone))
    taken = []
    for _ in dirty:
        taken.append(await bench.take())
        await cycles(dut, 2 * PASS)
    assert taken[0] == dirty[0] and taken[1:] == expected
    assert dut.exhausted.value == 1
    await bench.check_wear()


@cocotb.test()
async def is_exhausted_when_nothing_is_restored(dut):
    bench = Bench(dut, factory=True, recovering=True)
    await bench.start()
    bench.restore(3, 5, dirty=True)
    bench.restore(3, 6, dirty=False)
    await cycles(dut, 10)
    dut.recovering.value = 0
    await cycles(dut, 3 * PASS)
    assert dut.exhausted.value == 1 and dut.idle.value == 1
    bench.give_back(3)
    await bench.idle()
    assert await bench.take() == 3 and bench.wear[3] == 7


@cocotb.test()
async def spares_are_erased_last_and_never_handed_out(dut):
    """Counts stop at the most that there is, and zones of that wear come before spares."""
    bench = Bench(dut, factory=True, recovering=True)
    await bench.start()
    spares = range(ZONES, BLOCKS)
    for spare in spares:
        bench.restore(spare, MOST_WEAR, dirty=True)
    for zone, wear in ((5, 8), (1, MOST_WEAR), (2, MOST_WEAR - 1)):
        bench.restore(zone, wear, dirty=True)
    await bench.until(lambda: bench.restored.empty, "a restored zone is not taken")
    await cycles(dut, 10)
    dut.recovering.value = 0
    await bench.idle()
    assert bench.erase_order == [5, 2, 1, *spares]
    taken = [await bench.take() for _ in range(3)]
    await cycles(dut, 3 * PASS)
    assert taken == [5, 1, 2] and dut.exhausted.value == 1 and dut.next__valid.value == 0
    await bench.check_wear()
