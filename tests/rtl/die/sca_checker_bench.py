"""cocotb tests of the checker of packets: each breach is refused once, and nothing else is."""

from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.streams import start
from flashtrain.spec.sca import END_OF_ADDRESS, Header

# The parameters that `sca_checker.sv` has without others.
DIES, TCA, TWHR, TSCE, TCHZ = 2, 18, 48, 18, 18
PINS = {"ca_ce_n": 3, "ca_clk": 0, "ca_o": 0, "ca_oe": 0, "ca_valid": 0, "dqs_o": 0, "re": 0}


class Pins:
    """Drives the pins of the bus, a cycle of CA_CLK or a run of beats at a time."""

    def __init__(self, dut):
        self.dut = dut

    async def begin(self) -> None:
        await start(self.dut, **PINS, cycle=0, channel=0)
        cocotb.start_soon(self._count())
        await self.wait(4)

    async def _count(self) -> None:
        cycle = 0
        while True:
            await RisingEdge(self.dut.clk)
            cycle += 1
            self.dut.cycle.value = cycle

    async def drive(self, cycles: int, **values: int) -> None:
        for name, value in {**PINS, **values}.items():
            getattr(self.dut, name).value = value
        for _ in range(cycles):
            await RisingEdge(self.dut.clk)

    async def wait(self, cycles: int) -> None:
        await self.drive(cycles)

    async def clock(self, die: int, bits: int, *, cycles: int = TCA // 3, oe: int = 1, ce_n: int = 0) -> None:
        low = {"ca_ce_n": ce_n or 3 & ~(1 << die), "ca_o": bits, "ca_oe": oe}
        await self.drive(cycles - 1, **low)
        await self.drive(1, **low, ca_clk=1)

    async def packet(self, die: int, header: int, byte: int = 0, *, cycles: int = TCA // 3) -> None:
        for bits in (header, byte & 15, byte >> 4):
            await self.clock(die, bits, cycles=cycles)

    async def status(self, die: int, *, pairs: int = 4, oe: int = 0) -> None:
        await self.clock(die, Header.STATUS)
        await self.clock(die, 0, oe=0)
        for _ in range(pairs):
            await self.clock(die, 0, oe=0)
            await self.drive(1, ca_ce_n=3 & ~(1 << die), ca_valid=1, ca_oe=oe)
        await self.wait(2)

    async def data(self, beats: int = 8, *, pin: str = "re") -> None:
        await self.drive(beats, **{pin: 1})
        await self.wait(1)

    async def burst(self, die: int, *, pin: str = "re", settle: int = TSCE) -> None:
        await self.packet(die, Header.DATA_BEGIN)
        await self.wait(settle)
        await self.data(pin=pin)
        await self.packet(die, Header.DATA_END)

    async def program(self, die: int, *, ended: bool = True) -> None:
        await self.packet(die, Header.COMMAND, 0x80)
        for byte in range(5):
            await self.packet(die, Header.ADDRESS, byte)
        if ended:
            await self.packet(die, Header.COMMAND, END_OF_ADDRESS)


async def _short_packet(pins: Pins) -> None:
    await pins.packet(0, Header.COMMAND, 0x31, cycles=5)


async def _two_enabled(pins: Pins) -> None:
    await pins.drive(1, ca_ce_n=0, ca_oe=1)


async def _unknown_header(pins: Pins) -> None:
    await pins.packet(0, 7)


async def _undriven(pins: Pins) -> None:
    await pins.clock(0, Header.COMMAND)
    await pins.clock(0, 0, oe=0)
    await pins.clock(0, 3)


async def _early_status(pins: Pins) -> None:
    await pins.packet(0, Header.COMMAND, 0x70)
    await pins.wait(TWHR - 8)
    await pins.status(0)


async def _driven_status(pins: Pins) -> None:
    await pins.clock(0, Header.STATUS)
    await pins.clock(0, 0, oe=1)


async def _cut_status(pins: Pins) -> None:
    await pins.status(0, pairs=2)


async def _packet_behind_status(pins: Pins) -> None:
    await pins.clock(0, Header.STATUS)
    for _ in range(6):
        await pins.clock(0, 0, oe=0)


async def _second_burst(pins: Pins) -> None:
    await pins.packet(0, Header.DATA_BEGIN)
    await pins.packet(1, Header.DATA_BEGIN)


async def _end_of_another(pins: Pins) -> None:
    await pins.packet(0, Header.DATA_BEGIN)
    await pins.packet(1, Header.DATA_END)


async def _data_outside(pins: Pins) -> None:
    await pins.drive(1, re=1)


async def _early_data(pins: Pins) -> None:
    await pins.packet(0, Header.DATA_BEGIN)
    await pins.wait(TSCE - 2)
    await pins.drive(1, re=1)


async def _both_directions(pins: Pins) -> None:
    await pins.packet(0, Header.DATA_BEGIN)
    await pins.wait(TSCE)
    await pins.drive(1, re=1, dqs_o=1)


async def _address_not_ended(pins: Pins) -> None:
    await pins.program(0, ended=False)
    await pins.packet(0, Header.DATA_BEGIN)


async def _ended_without_address(pins: Pins) -> None:
    await pins.packet(0, Header.COMMAND, END_OF_ADDRESS)


BREACHES = (
    (_short_packet, 4),  # each cycle but the first, and the packet
    (_two_enabled, 1),
    (_unknown_header, 1),
    (_undriven, 1),
    (_early_status, 1),
    (_driven_status, 1),
    (_cut_status, 1),
    (_packet_behind_status, 1),
    (_second_burst, 1),
    (_end_of_another, 1),
    (_data_outside, 1),
    (_early_data, 1),
    (_both_directions, 1),
    (_address_not_ended, 1),
    (_ended_without_address, 1),
)


@cocotb.test()
async def what_is_allowed(dut):
    pins = Pins(dut)
    await pins.begin()
    for die in range(DIES):
        await pins.packet(die, Header.COMMAND, 0xFF)
        await pins.packet(die, Header.COMMAND, 0x70)
        await pins.wait(TWHR)
        await pins.status(die)
        await pins.burst(die)
        await pins.program(die)
        await pins.burst(die, pin="dqs_o")
        await pins.packet(die, Header.COMMAND, 0x15)
    for die, other in pairwise((0, 1, 0)):
        await pins.packet(die, Header.DATA_BEGIN)
        await pins.packet(other, Header.COMMAND, 0x31)
        await pins.data(beats=4)
        await pins.packet(die, Header.DATA_END)
    # A reset of the controller cuts a packet short, and a die's reset ends its data.
    await pins.packet(0, Header.DATA_BEGIN)
    await pins.clock(1, Header.COMMAND)
    await pins.wait(3)
    await pins.packet(0, Header.COMMAND, 0xFF)
    await pins.burst(1)
    assert dut.violations.value == 0


@cocotb.test()
async def every_breach(dut):
    pins = Pins(dut)
    await pins.begin()
    for breach, most in BREACHES:
        before = int(dut.violations.value)
        await breach(pins)
        await pins.wait(TCA + 4)
        assert 1 <= int(dut.violations.value) - before <= most, breach.__name__
        dut.rst.value = 1
        await pins.wait(2)
        dut.rst.value = 0
        await pins.wait(2)
