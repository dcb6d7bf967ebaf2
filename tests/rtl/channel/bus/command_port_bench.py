"""cocotb tests of the command port in the bus controller: cycles on the pins, and the engine's pauses."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.bus.bus_controller import BusActivity
from flashtrain.rtl.layouts import PortCycle
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, pack, start
from flashtrain.spec.nand import BusOp
from flashtrain.spec.registers import CycleKind
from tests.chip.sdr_pins import SdrPins
from tests.rtl.channel.bus.bus_controller_bench import CYCLES, SELECTS, Bench
from tests.rtl.channel.bus.command_port_model import CommandPortModel
from tests.rtl.channel.bus.nand_helpers import CONFIGS
from tests.rtl.channel.timeout_streams import clock_now, until, wait

CONFIG = CONFIGS[bench_parameters()["config"]]
DIES = range(CONFIG.geometry.dies)
PORT_CYCLE = PortCycle(CONFIG)
LONGEST_OPERATION = 2 * CONFIG.bus_page_bytes + 1000
TURN = CONFIG.port_modes[0].turn
WIRED = CONFIG.chips.ready_busy
KINDS = [kind for kind in CycleKind if WIRED or kind is not CycleKind.WAS_BUSY]
NO_WORK = [
    *(f"requests__{die}__{pin}" for die in DIES for pin in ("valid", "payload")), "lookup__block", "origin",
    "offline", "nand__dqs_i", "nand__dq_i", "nand__rb_n", "beats__valid", "beats__payload", "fetch__ready",
    "fill__ready",
]  # fmt: skip


class Recorder:
    """A chip that keeps what it gets and answers with random bytes."""

    def __init__(self):
        self.log: list[tuple[CycleKind, int]] = []
        self.is_ready = True

    def command(self, byte: int, now: float) -> None:
        self.log.append((CycleKind.COMMAND, byte))

    def address(self, byte: int, now: float) -> None:
        self.log.append((CycleKind.ADDRESS, byte))

    def data_in(self, byte: int, now: float) -> None:
        self.log.append((CycleKind.DATA_IN, byte))

    def data_out(self, now: float) -> int:
        byte = random.getrandbits(8)
        self.log.append((CycleKind.DATA_OUT, byte))
        return byte

    def ready(self, now: float) -> bool:
        return self.is_ready


class PortBench:
    """Firmware and chips around the bus controller."""

    def __init__(self, dut, answers_busy: float = 1):
        self.dut = dut
        self.engine = Bench(dut)
        self.answers_busy = answers_busy
        self.model = CommandPortModel(CONFIG)

    async def start(self, *, paused: bool = False, engine: bool = True) -> None:
        """Without `engine` nothing but firmware has work for the bus, and Python sleeps between two edges."""
        dut = self.dut
        dut.pause.value = int(paused)
        dut.cycles__valid.value = 0
        dut.cycles__payload.value = 0
        self.answers = StreamSink(dut, "answers", self.answers_busy)
        await (self.engine.start() if engine else start(dut, **dict.fromkeys(NO_WORK, 0)))
        self.chips = [Recorder() for _ in DIES]
        clock = CONFIG.timing.clock_mhz
        self.pins = SdrPins(dut, self.chips, mhz=clock, away=CONFIG.port_delay)

    async def pause(self) -> int:
        """Ask for the pause, and wait for it; the cycles that it takes."""
        self.dut.pause.value = 1
        asked = clock_now()
        while self.dut.paused.value != 1:
            await RisingEdge(self.dut.clk)
            assert clock_now() - asked < LONGEST_OPERATION, "the bus is not paused"
        return clock_now() - asked

    async def resume(self) -> int:
        self.dut.pause.value = 0
        asked = clock_now()
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.paused.value == 0:
                break
            assert clock_now() - asked < TURN + 20, "the bus stays paused"
        self.model.release()
        return clock_now() - asked

    async def cycle(self, kind: CycleKind, die: int = 0, mode: int = 0, byte: int = 0) -> int:
        """One cycle, whose duration and effect must be those of the model; what it has read."""
        dut = self.dut
        before = len(self.answers.items)
        logged = [len(chip.log) for chip in self.chips]
        dut.cycles__payload.value = pack(PORT_CYCLE, kind=kind, die=die, mode=mode, byte=byte)
        dut.cycles__valid.value = 1
        await until(dut, dut.cycles__ready)
        accepted = clock_now()
        dut.cycles__valid.value = 0
        expected = self.model.cycles(kind, die, mode)
        await until(dut, dut.answers__valid)
        assert clock_now() - accepted == expected, f"{kind.name}: {clock_now() - accepted}, not {expected}"
        while len(self.answers.items) == before:
            await RisingEdge(dut.clk)
        answer = self.answers.items[-1]
        for number, chip in enumerate(self.chips):
            new = chip.log[logged[number] :]
            if kind in (CycleKind.LOOK, CycleKind.WAS_BUSY) or number != die:
                assert not new
            elif kind is CycleKind.DATA_OUT:
                assert new == [(kind, answer)]
            else:
                assert new == [(kind, byte)]
        return answer

    async def random_cycle(self, mode: int) -> None:
        """Often of the same kind and die as before."""
        kind, die = self.model.last, self.model.die
        if die is None or random.random() < 0.5:
            kind = random.choice(KINDS)
        if die is None or random.random() < 0.2:
            die = random.choice(DIES)
        await self.cycle(kind, die, mode, random.getrandbits(8))


@cocotb.test()
@cocotb.parametrize(answers_busy=[1, 0.3])
async def performs_cycles_of_firmware(dut, answers_busy):
    """Each with the times of its mode, in as many cycles as the description says."""
    bench = PortBench(dut, answers_busy)
    await bench.start(engine=False)
    await bench.pause()
    for mode in random.sample(range(6), 6):
        await wait(dut, 40)  # what the cycle before holds, it holds in its own mode
        bench.pins.set_mode(mode)
        for _ in range(20):
            await wait(dut, random.choice((0, 0, 1, 30)))
            await bench.random_cycle(mode)
    assert bench.pins.reads > 5 and bench.pins.writes > 30


@cocotb.test()
async def shows_which_dies_are_ready(dut):
    bench = PortBench(dut)
    await bench.start(engine=False)
    await bench.pause()
    for _ in range(10):
        for chip in bench.chips:
            chip.is_ready = random.random() < 0.5
        await wait(dut, 24)
        expected = sum(chip.is_ready << number for number, chip in enumerate(bench.chips))
        assert await bench.cycle(CycleKind.LOOK) == expected


@cocotb.test(skip=not WIRED)
async def notes_which_dies_were_busy(dut):
    """A low level is kept until it has been read, and one that goes on is read again."""
    bench = PortBench(dut)
    await bench.start(engine=False)
    await bench.pause()
    await wait(dut, 24)
    await bench.cycle(CycleKind.WAS_BUSY)
    ready = [True for _ in DIES]
    for _ in range(10):
        was_busy = {number for number in DIES if not ready[number]}
        for _ in range(random.randint(0, 2)):
            ready = [random.random() < 0.7 for _ in DIES]
            was_busy |= {number for number in DIES if not ready[number]}
            for chip, is_ready in zip(bench.chips, ready, strict=True):
                chip.is_ready = is_ready
            await wait(dut, 24)
        assert await bench.cycle(CycleKind.WAS_BUSY) == sum(1 << number for number in was_busy)


@cocotb.test()
async def the_engine_goes_on_as_it_was(dut):
    """Pauses at random times of random operations: none begins within, all of them are done in the end."""
    bench = PortBench(dut)
    await bench.start()
    engine = bench.engine
    choice = [op for op in CYCLES if op not in (*SELECTS, BusOp.PROGRAM_PAGE)]
    for _ in range(8):
        for die in DIES:
            for _ in range(random.randint(0, 3)):
                engine.request(die, random.choice(choice))
        await wait(dut, random.choice((0, 3, 20, random.randrange(600))))
        await bench.pause()
        await wait(dut, 3)
        done, idle = len(engine.operations), engine.activity[BusActivity.IDLE]
        began = clock_now()
        for _ in range(random.randint(0, 4)):
            await bench.random_cycle(0)
        await wait(dut, random.choice((0, 10, 500)))
        assert len(engine.operations) == done
        assert engine.activity[BusActivity.IDLE] - idle == clock_now() - began
        selected = bench.model.die is not None
        took = await bench.resume()
        assert took <= 3 if not selected else TURN <= took <= TURN + 4
        if random.random() < 0.5:
            await wait(dut, random.randrange(400))
    await engine.finish()


@cocotb.test()
async def a_pause_holds_from_the_reset_on(dut):
    """Nothing of the engine reaches the pins before its end, though all dies ask at once."""
    bench = PortBench(dut)
    await bench.start(paused=True)
    for die in DIES:
        bench.engine.request(die, BusOp.RESET)
    await wait(dut, 2_000)
    assert not bench.engine.operations and dut.paused.value == 1
    assert await bench.cycle(CycleKind.COMMAND, 0, 0, 0x90) is not None
    await bench.resume()
    await bench.engine.finish()
    assert len(bench.engine.operations) == len(DIES)


@cocotb.test()
async def a_pause_that_ends_at_once_does_no_harm(dut):
    bench = PortBench(dut)
    await bench.start()
    for _ in range(25):
        bench.engine.request(random.choice(DIES), random.choice((BusOp.STATUS, BusOp.ERASE_LAST)))
        dut.pause.value = 1
        await wait(dut, random.randint(1, 4))
        dut.pause.value = 0
        await wait(dut, random.randint(1, 40))
    await bench.engine.finish()


@cocotb.test()
async def a_cycle_waits_for_the_pause(dut):
    """It is not taken before, and leaves the engine's pins alone."""
    bench = PortBench(dut)
    await bench.start()
    bench.engine.request(0, BusOp.DATA_OUT)
    await wait(dut, 20)
    under_way = cocotb.start_soon(bench.cycle(CycleKind.COMMAND, 0, 0, 0xFF))
    dut.pause.value = 1
    await until(dut, dut.paused)
    await under_way
    assert len(bench.engine.operations) == 1
    await bench.resume()
    await bench.engine.finish()
