"""cocotb tests of the replacing of blocks: a die whose blocks fail, and a twin that knows what to do."""

import random
from typing import NamedTuple

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.die_agent.eraser import EraseStep
from flashtrain.rtl.layouts import SpareUse
from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from tests.rtl.channel.spare_configs import SPARE_CONFIGS
from tests.rtl.channel.timeout_streams import clock_now

CONFIG = SPARE_CONFIGS[bench_parameters()["config"]]
G = CONFIG.geometry
PLANES, SPARES = range(G.planes), range(G.spare_blocks)
SWEEP = G.spare_blocks * G.planes


class Step(NamedTuple):
    """An erase of a zone's blocks on these planes, and whether one of them has failed."""

    zone: int
    planes: tuple[int, ...]
    failed: bool


class Change(NamedTuple):
    zone: int
    plane: int
    spare: int


class Die:
    """Blocks that fail, by number and plane, and the table of what lies where."""

    def __init__(self):
        self.bad: set[tuple[int, int]] = set()
        self.table = {(zone, plane): zone for zone in range(G.blocks) for plane in PLANES}

    def fails(self, zone: int, planes: tuple[int, ...]) -> bool:
        return any((self.table[zone, plane], plane) in self.bad for plane in planes)

    def change(self, change: Change) -> None:
        self.table[change.zone, change.plane] = G.zones + change.spare


class Twin:
    """What has to happen on a die of its own."""

    def __init__(self, die: Die):
        self.bad = die.bad
        self.die = Die()
        self.die.bad = die.bad
        self.in_use: set[tuple[int, int]] = set()
        self.done: list[Step | Change] = []
        self.answers: list[bool] = []
        self.replaced = 0

    def erase(self, zone: int) -> None:
        if zone >= G.zones:
            for plane in PLANES:
                if (zone - G.zones, plane) not in self.in_use and self._fails(zone, (plane,)):
                    self.in_use.add((zone - G.zones, plane))
            self.answers.append(False)
            return
        failed = self._fails(zone, tuple(PLANES))
        self.answers.append(failed and not all(self._mend(zone, plane) for plane in PLANES))

    def restore(self, change: Change) -> None:
        self.done.append(change)
        self.die.change(change)
        self.in_use.add((change.spare, change.plane))

    def _mend(self, zone: int, plane: int) -> bool:
        fresh = False
        while self._fails(zone, (plane,)):
            free = [spare for spare in SPARES if (spare, plane) not in self.in_use]
            if not free:
                return False
            self.restore(Change(zone, plane, free[0]))
            fresh = True
        self.replaced += fresh
        return True

    def _fails(self, zone: int, planes: tuple[int, ...]) -> bool:
        failed = self.die.fails(zone, planes)
        self.done.append(Step(zone, planes, failed))
        return failed


class Bench:
    """Plays the eraser, the table and those who ask. `most`: cycles of a step, at most; all at random."""

    def __init__(self, dut, busy: float = 1, most: int = 1):
        self.dut = dut
        self.most = most
        self.die = Die()
        self.twin = Twin(self.die)
        self.done: list[Step | Change] = []
        self.begun: list[int] = []  # cycles in which steps were first seen
        self.ended: list[int] = []
        self.replaced = 0
        self.erase, self.restored = StreamSource(dut, "erase", busy), StreamSource(dut, "restored", busy)
        self.erased, self.change = StreamSink(dut, "erased", busy), StreamSink(dut, "change", busy)

    async def start(self) -> None:
        await start(self.dut, step__ready=0, stepped__valid=0, stepped__payload=0)
        cocotb.start_soon(self._erase())
        cocotb.start_soon(self._watch())

    def ask(self, zone: int) -> None:
        self.twin.erase(zone)
        self.erase.send(pack(EraseRequest(CONFIG), zone=zone))

    async def finish(self) -> None:
        """Wait for all answers, and compare."""
        answers = await self.erased.wait_for(len(self.twin.answers))
        await self.rest()
        assert [bool(unpack(EraseResult(), item)["failed"]) for item in answers] == self.twin.answers
        assert self.done == self.twin.done
        assert self.replaced == self.twin.replaced
        assert self.die.table == self.twin.die.table

    async def rest(self) -> None:
        for _ in range(5):
            await RisingEdge(self.dut.clk)
        while self.dut.busy.value == 1:
            await RisingEdge(self.dut.clk)

    async def _erase(self) -> None:
        """As `Eraser` does: the step stays until its result is taken."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            if dut.step__valid.value != 1:
                continue
            self.begun.append(clock_now())
            payload = int(dut.step__payload.value)
            step = unpack(EraseStep(CONFIG), payload)
            planes = (step["plane"],) if step["alone"] else tuple(PLANES)
            failed = self.die.fails(step["zone"], planes)
            for _ in range(random.randrange(self.most)):
                await RisingEdge(dut.clk)
                assert dut.step__valid.value == 1 and int(dut.step__payload.value) == payload
            dut.stepped__valid.value, dut.stepped__payload.value = 1, int(failed)
            dut.step__ready.value = 1
            await RisingEdge(dut.clk)
            assert dut.stepped__ready.value == 1 and int(dut.step__payload.value) == payload
            self.ended.append(clock_now())
            self.done.append(Step(step["zone"], planes, failed))
            dut.stepped__valid.value = dut.step__ready.value = 0

    async def _watch(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            self.replaced += dut.replaced.value == 1
            if dut.change__valid.value == 1 and dut.change__ready.value == 1:
                fields = unpack(SpareUse(CONFIG), int(dut.change__payload.value))
                change = Change(fields["zone"], fields["plane"], fields["spare"])
                self.die.change(change)
                self.done.append(change)


@cocotb.test()
async def one_step_if_nothing_fails(dut):
    bench = Bench(dut)
    await bench.start()
    while dut.busy.value == 1:
        await RisingEdge(dut.clk)
    asked = clock_now()
    dut.erased__ready.value = 1
    bench.ask(2)
    await bench.finish()
    # The source offers it in the clock after the next, and the sink counts its own.
    assert bench.begun == [asked + 3] and len(bench.ended) == 1
    assert bench.done == [Step(2, tuple(PLANES), False)]


@cocotb.test()
async def sweeps_after_a_reset(dut):
    bench = Bench(dut)
    begin = clock_now()
    await bench.start()
    reset = clock_now()
    bench.ask(0)
    await bench.finish()
    assert bench.begun[0] - reset <= SWEEP + 3, (begin, reset)


@cocotb.test()
async def cycles_between_the_steps(dut):
    """The last plane's block fails, and so do all spares of it but the last."""
    bench = Bench(dut)
    plane = G.planes - 1
    await bench.start()
    await bench.rest()
    bench.die.bad |= {(1, plane)} | {(G.zones + spare, plane) for spare in SPARES[:-1]}
    bench.ask(1)
    await bench.finish()
    gaps = [begin - end for begin, end in zip(bench.begun[1:], bench.ended, strict=False)]
    alone, looks = [1] * G.planes, [1 + 2 * (spare + 1) + 1 for spare in SPARES]
    assert gaps == alone + looks, gaps
    assert bench.replaced == 1 and bench.twin.answers == [False]


@cocotb.test()
async def gives_up_without_spares(dut):
    bench = Bench(dut)
    await bench.start()
    bench.die.bad |= {(block, 0) for block in range(G.blocks)}
    for zone in (0, 1, 0):
        bench.ask(zone)
    await bench.finish()
    assert bench.twin.answers == [True, True, True] and bench.replaced == 0
    assert len([one for one in bench.done if isinstance(one, Change)]) == G.spare_blocks


@cocotb.test()
async def forgets_at_a_reset(dut):
    bench = Bench(dut)
    await bench.start()
    bench.die.bad.add((0, 0))
    bench.ask(0)
    await bench.finish()
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    bench.die.table = Die().table
    again = Twin(bench.die)
    bench.done, bench.replaced, bench.erased.items, bench.twin = [], 0, [], again
    bench.ask(0)
    await bench.finish()
    assert Change(0, 0, 0) in bench.done


@cocotb.test()
@cocotb.parametrize(busy=[0.3, 0.7, 1.0], most=[1, 8])
async def random_blocks_fail(dut, busy, most):
    """Spares are restored, then zones and spares erased while ever more blocks fail."""
    bench = Bench(dut, busy, most)
    await bench.start()
    blocks = [(block, plane) for block in range(G.blocks) for plane in PLANES]
    for spare, plane in random.sample([(s, p) for s in SPARES for p in PLANES], random.randrange(SWEEP)):
        change = Change(random.randrange(G.zones), plane, spare)
        if not any(one[:2] == change[:2] for one in bench.twin.done):
            bench.twin.restore(change)
            bench.restored.send(pack(SpareUse(CONFIG), zone=change.zone, plane=plane, spare=spare))
    while not bench.restored.empty:
        await RisingEdge(dut.clk)
    for _ in range(40):
        if random.random() < 0.3:
            bench.die.bad.add(random.choice(blocks))
        if random.random() < 0.1 and bench.die.bad:
            bench.die.bad.remove(random.choice(sorted(bench.die.bad)))
        bench.ask(random.randrange(G.blocks))
        await bench.finish()
