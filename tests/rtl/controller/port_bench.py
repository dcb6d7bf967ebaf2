"""Firmware on the command ports of a whole controller, with ONFI chips on the asynchronous pins."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer
from cocotb.utils import get_sim_time

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.registers import Registers
from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec import registers as r
from flashtrain.spec.registers import Control, CycleKind, Register, State
from tests.chip.onfi_chip import OnfiChip
from tests.chip.sdr_pins import SdrPins
from tests.rtl.controller.port_config import CONFIG

NAND_PERIOD_NS = bench_parameters()["nand_period_ns"]
CHANNELS, DIES = range(CONFIG.geometry.channels), range(CONFIG.geometry.dies)
ALL = (1 << len(CHANNELS)) - 1
BUSY, PAUSED = 1 << 8, 1 << 9
AXI_INPUTS = (
    "awready", "wready", "bid", "bresp", "bvalid", "arready", "rid", "rdata", "rresp", "rlast", "rvalid",
)  # fmt: skip
LONGEST = 8 * CONFIG.port_modes[0].turn  # of a cycle, in either clock, with what comes before


class Firmware:
    """Registers on one side, chips on the other."""

    def __init__(self, dut):
        self.dut = dut
        self.chips = [
            [OnfiChip(first_busy=4_000, page_busy=2_000, feature_busy=500) for _ in DIES] for _ in CHANNELS
        ]

    async def start(self) -> "Firmware":
        dut = self.dut
        cocotb.start_soon(self._hang())
        self.registers = Registers(dut)
        two_clocks = NAND_PERIOD_NS is not None
        for port in ("data", "queue"):
            for name in AXI_INPUTS:
                getattr(dut, f"{port}__{name}").value = 0
        self.pins = []
        for channel, chips in enumerate(self.chips):
            getattr(dut, f"nand__{channel}__dqs_i").value = 0
            self.pins.append(
                SdrPins(
                    dut,
                    chips,
                    mhz=CONFIG.timing.clock_mhz,
                    away=CONFIG.port_delay,
                    prefix=f"nand__{channel}__",
                    clk="nand_clk" if two_clocks else "clk",
                    period_ns=NAND_PERIOD_NS if two_clocks else PERIOD_NS,
                )
            )
        resets = [dut.rst, *([dut.nand_rst] if two_clocks else [])]
        for reset in resets:
            reset.value = 1
        await Timer(PERIOD_NS, "ns")
        Clock(dut.clk, PERIOD_NS, "ns", impl="gpi").start()
        if two_clocks:
            Clock(dut.nand_clk, NAND_PERIOD_NS, "ns", impl="gpi").start()
        await Timer(20, "ns")
        await RisingEdge(dut.clk)
        for reset in resets:
            reset.value = 0
        await Timer(20, "ns")
        return self

    async def _hang(self) -> None:
        await Timer(3_000_000, "ns")
        raise AssertionError("it hangs")

    async def write(self, register: int, value: int, *, refused: bool = False) -> None:
        await self.registers.write(register, value, refused=refused)

    async def state(self) -> int:
        return await self.registers.read(Register.NAND_STATE)

    async def pause(self, mask: int = ALL) -> None:
        await self.write(Register.NAND_PAUSE_LOW, mask)

    async def enable(self) -> None:
        await self.write(Register.CONTROL, Control.ENABLE | Control.FACTORY)

    async def until_paused(self, channel: int = 0) -> None:
        await self.write(Register.CHANNEL_SELECT, channel)
        for _ in range(20):
            if await self.state() & PAUSED:
                return
        raise AssertionError(f"channel {channel} is not paused")

    async def end_of_cycle(self) -> int:
        began = get_sim_time("ns")
        while (state := await self.state()) & BUSY:
            longest = LONGEST * max(PERIOD_NS, NAND_PERIOD_NS or 0)
            assert get_sim_time("ns") - began < longest, "the port stays busy"
        return state & 0xFF

    async def cycle(self, kind: CycleKind, byte: int = 0, die: int = 0) -> int:
        await self.write(Register.NAND_CYCLE, byte | die << 8 | kind << 12)
        return await self.end_of_cycle()

    async def until_ready(self, die: int = 0) -> None:
        for _ in range(2_000):
            if await self.cycle(CycleKind.LOOK) >> die & 1:
                return
        raise AssertionError("the chip stays busy")

    async def read_id(self, address: int, count: int, die: int = 0) -> bytes:
        await self.cycle(CycleKind.COMMAND, 0x90, die)
        await self.cycle(CycleKind.ADDRESS, address, die)
        return bytes([await self.cycle(CycleKind.DATA_OUT, 0, die) for _ in range(count)])

    async def reset_chip(self, die: int = 0) -> None:
        await self.cycle(CycleKind.COMMAND, 0xFF, die)
        await self.until_ready(die)


@cocotb.test()
async def a_chip_answers_before_the_engine_has_touched_it(dut):
    firmware = await Firmware(dut).start()
    await firmware.pause()
    await firmware.enable()
    for channel in CHANNELS:
        await firmware.until_paused(channel)
        for die in DIES:
            chip = firmware.chips[channel][die]
            assert not chip.commands
            await firmware.reset_chip(die)
            assert await firmware.read_id(0x20, 4, die) == b"ONFI"
            assert await firmware.read_id(0x00, 5, die) == chip.identity
            assert chip.commands == [0xFF, 0x90, 0x90]
    # The parameter page, with the end of its busy time by the status.
    chip = firmware.chips[CHANNELS[-1]][0]
    await firmware.cycle(CycleKind.COMMAND, 0xEC)
    await firmware.cycle(CycleKind.ADDRESS, 0)
    await firmware.cycle(CycleKind.COMMAND, 0x70)
    for _ in range(200):
        if await firmware.cycle(CycleKind.DATA_OUT) & 0x40:
            break
    await firmware.cycle(CycleKind.COMMAND, 0x00)
    assert chip.copies is not None
    content = bytes([await firmware.cycle(CycleKind.DATA_OUT) for _ in range(64)])
    assert content == chip.copies[0][:64]
    # A faster timing mode, for the chip by SET FEATURES and for the port.
    await firmware.cycle(CycleKind.COMMAND, 0xEF)
    await firmware.cycle(CycleKind.ADDRESS, 0x01)
    for byte in (5, 0, 0, 0):
        await firmware.cycle(CycleKind.DATA_IN, byte)
    await firmware.until_ready()
    firmware.pins[CHANNELS[-1]].set_mode(5)
    await firmware.write(Register.NAND_MODE, 5)
    await firmware.cycle(CycleKind.COMMAND, 0xEE)
    await firmware.cycle(CycleKind.ADDRESS, 0x01)
    await firmware.until_ready()
    assert bytes([await firmware.cycle(CycleKind.DATA_OUT) for _ in range(4)]) == bytes([5, 0, 0, 0])
    assert not await firmware.registers.read(Register.STATE) & State.READY
    assert not chip.unknown and not chip.ignored


@cocotb.test()
async def the_engine_begins_after_the_pause(dut):
    """It resets its dies by the strobes of its own interface."""
    firmware = await Firmware(dut).start()
    await firmware.pause()
    await firmware.enable()
    await firmware.until_paused(0)
    await firmware.reset_chip()
    strobes = [getattr(dut, f"nand__{channel}__we") for channel in CHANNELS]
    assert not any(int(strobe.value) for strobe in strobes)
    await firmware.pause(ALL & ~1)
    began = get_sim_time("ns")
    while not int(strobes[0].value):
        assert get_sim_time("ns") - began < 5_000 * PERIOD_NS
        await RisingEdge(dut.clk)
    assert int(dut.nand__0__sdr.value) == 0 and int(dut.nand__0__dq_o.value) == 0xFF
    assert not any(int(strobe.value) for strobe in strobes[1:])
    await firmware.write(Register.NAND_CYCLE, 0x90, refused=True)  # of the channel that goes on
    await firmware.until_paused(len(CHANNELS) - 1)
    await firmware.cycle(CycleKind.COMMAND, 0xFF)


@cocotb.test()
async def what_has_no_effect_is_refused(dut):
    firmware = await Firmware(dut).start()
    cycle, fresh = Register.NAND_CYCLE, 0x90
    await firmware.write(cycle, fresh, refused=True)  # disabled
    await firmware.pause()
    await firmware.write(cycle, fresh, refused=True)
    await firmware.enable()
    await firmware.until_paused()
    for value in (fresh | len(DIES) << 8, fresh | 5 << 12, fresh | 7 << 12, fresh | 1 << 11, fresh | 1 << 31):
        await firmware.write(cycle, value, refused=True)
    for value in (6, 7, 8, 1 << 31):
        await firmware.write(Register.NAND_MODE, value, refused=True)
    await firmware.write(Register.NAND_PAUSE_LOW, ALL + 1, refused=True)
    await firmware.write(Register.NAND_PAUSE_HIGH, 1, refused=True)
    await firmware.write(Register.NAND_STATE, 0, refused=True)
    await firmware.registers.read(cycle, refused=True)
    assert not any(chip.commands for chips in firmware.chips for chip in chips)

    await firmware.write(cycle, 0xFF)
    await firmware.write(cycle, fresh, refused=True)  # busy
    await firmware.write(Register.NAND_PAUSE_LOW, 0, refused=True)
    assert await firmware.registers.read(Register.NAND_PAUSE_LOW) == ALL
    await firmware.end_of_cycle()
    assert [chips[0].commands for chips in firmware.chips] == [[0xFF], *([] for _ in CHANNELS[1:])]
    await firmware.pause(0)
    await firmware.write(cycle, fresh, refused=True)


@cocotb.test()
async def no_accesses_hang_it(dut):
    """Random writes of all its registers, disables in the middle of cycles, and then it works."""
    firmware = await Firmware(dut).start()
    for pins in firmware.pins:
        pins.careless = True
    registers = firmware.registers.master
    targets = [r.Register.CONTROL, r.Register.CHANNEL_SELECT, Register.NAND_PAUSE_LOW, Register.NAND_MODE]
    for _ in range(rounds(250, 100)):
        target = random.choice([*targets, *[Register.NAND_CYCLE] * 4])
        value = {
            Register.CONTROL: random.choice((0, 1, 1, 1)),
            Register.CHANNEL_SELECT: random.choice(CHANNELS),
            Register.NAND_PAUSE_LOW: random.choice((0, 1, ALL, ALL)),
            Register.NAND_MODE: random.randrange(8),
            Register.NAND_CYCLE: random.getrandbits(8) | random.randrange(6) << 12,
        }[target]
        await registers.write(target, value.to_bytes(4, "little"))
        if random.random() < 0.4:
            await Timer(random.randrange(1_500), "ns")
        if random.random() < 0.3:
            await firmware.state()
    await firmware.end_of_cycle()
    await firmware.write(Register.CONTROL, 0)
    for pins in firmware.pins:
        pins.careless = False
    await firmware.pause()
    await firmware.write(Register.NAND_MODE, 0)
    await firmware.enable()
    for channel in CHANNELS:
        await firmware.until_paused(channel)
        await firmware.reset_chip()
        assert await firmware.read_id(0x20, 4) == b"ONFI"
