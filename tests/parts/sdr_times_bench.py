"""cocotb tests of the part's times: each one that a host keeps, at its limit and 1 ns below, in every mode.

All other times are generous, so that only the one under test can be violated.
"""

from collections.abc import Awaitable, Callable

import cocotb
from cocotb.triggers import RisingEdge, Timer, with_timeout

from tests.parts.sdr_host import NEVER_READY_NS, TIMES, Geometry, Host

FULL = Geometry(2048, 64, 8, 8)
SLACK = 1000
MODES = range(6)


class Pins:
    """The bus, edge by edge."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.dut = host.dut

    async def put(self, wait: float = SLACK, **pins: int) -> None:
        """Change pins and wait; `ce_n` is that of the part."""
        for name, value in pins.items():
            (self.host.pin(name) if name == "ce_n" else getattr(self.dut, name)).value = value
        await Timer(wait, "ns")

    async def idle(self) -> None:
        await self.put(host_oe=1, ce_n=0, cle=0, ale=0, we_n=1, re_n=1, wp_n=1, host_o=0x70)

    async def cycle(self, after: float = SLACK, **pins: int) -> None:
        """A write cycle with generous times, but for `after` from the rising edge of WE_n."""
        await self.put(**pins)
        await self.put(we_n=0)
        await self.put(after, we_n=1)

    async def command(self, value: int, after: float = SLACK) -> None:
        await self.cycle(after, host_o=value, cle=1, ale=0)

    async def addresses(self, *values: int) -> None:
        for value in values:
            await self.cycle(host_o=value, cle=0, ale=1)

    async def read(self) -> None:
        await self.put(cle=0, ale=0, host_oe=0)
        await self.put(re_n=0)
        await self.put(re_n=1)
        await self.put(host_oe=1)

    async def ready(self) -> None:
        await with_timeout(RisingEdge(self.host.pin("rb_n")), NEVER_READY_NS, "ns")

    async def read_page(self) -> None:
        await self.command(0x00)
        await self.addresses(0, 0, 0, 0, 0)
        await self.command(0x30, 1)
        await self.ready()


Case = Callable[[Pins, float, int], Awaitable[None]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__.replace("_", "t", 1)] = function
    return function


@case
async def _CS(pins, gap, pulse):
    await pins.put(ce_n=1)
    await pins.put(cle=1)
    await pins.put(gap - pulse, ce_n=0)
    await pins.put(pulse, we_n=0)
    await pins.put(we_n=1)


@case
async def _CH(pins, gap, pulse):
    await pins.command(0x70, gap)
    await pins.put(ce_n=1)


@case
async def _CLS(pins, gap, pulse):
    await pins.put(we_n=0)
    await pins.put(gap, cle=1)
    await pins.put(we_n=1)


@case
async def _CLH(pins, gap, pulse):
    await pins.command(0x70, gap)
    await pins.put(cle=0)


@case
async def _ALS(pins, gap, pulse):
    await pins.put(we_n=0)
    await pins.put(gap, ale=1)
    await pins.put(we_n=1)


@case
async def _ALH(pins, gap, pulse):
    await pins.cycle(gap, ale=1)
    await pins.put(ale=0)


@case
async def _DS(pins, gap, pulse):
    await pins.put(cle=1, we_n=0, host_o=0)
    await pins.put(gap, host_o=0x70)
    await pins.put(we_n=1)


@case
async def _DH(pins, gap, pulse):
    await pins.command(0x70, gap)
    await pins.put(host_o=0)


@case
async def _WP(pins, gap, pulse):
    await pins.put(cle=1)
    await pins.put(gap, we_n=0)
    await pins.put(we_n=1)


@case
async def _WH(pins, gap, pulse):
    await pins.command(0x70, gap)
    await pins.put(we_n=0)
    await pins.put(we_n=1)


@case
async def _WC(pins, gap, pulse):
    await pins.put(cle=1)
    await pins.put(pulse, we_n=0)
    await pins.put(gap - pulse, we_n=1)
    await pins.put(we_n=0)
    await pins.put(we_n=1)


@case
async def _RP(pins, gap, pulse):
    await pins.command(0x70)
    await pins.put(cle=0, host_oe=0)
    await pins.put(gap, re_n=0)
    await pins.put(re_n=1)


@case
async def _REH(pins, gap, pulse):
    await pins.command(0x70)
    await pins.put(cle=0, host_oe=0)
    await pins.put(re_n=0)
    await pins.put(gap, re_n=1)
    await pins.put(re_n=0)
    await pins.put(re_n=1)


@case
async def _RC(pins, gap, pulse):
    await pins.command(0x70)
    await pins.put(cle=0, host_oe=0)
    await pins.put(pulse, re_n=0)
    await pins.put(gap - pulse, re_n=1)
    await pins.put(re_n=0)
    await pins.put(re_n=1)


@case
async def _ADL(pins, gap, pulse):
    await pins.command(0x80)
    await pins.addresses(0, 0, 0, 0)
    await pins.cycle(gap - 200, ale=1, cle=0)
    await pins.put(100, ale=0)
    await pins.put(100, we_n=0)
    await pins.put(we_n=1)


@case
async def _CCS(pins, gap, pulse):
    await pins.read_page()
    await pins.put()
    await pins.command(0x05)
    await pins.addresses(0, 0)
    await pins.command(0xE0, gap - 100)
    await pins.put(100, cle=0, host_oe=0)
    await pins.put(re_n=0)
    await pins.put(re_n=1)


@case
async def _WHR(pins, gap, pulse):
    await pins.command(0x70, 30)
    await pins.put(gap - 30, cle=0, host_oe=0)
    await pins.put(re_n=0)
    await pins.put(re_n=1)


@case
async def _RHW(pins, gap, pulse):
    """A read cycle that the part does not answer, so that it does not drive the bus."""
    await pins.command(0x90)
    await pins.addresses(0x55)
    await pins.put(ale=0)
    await pins.put(re_n=0)
    await pins.put(gap, re_n=1)
    await pins.put(we_n=0)
    await pins.put(we_n=1)


@case
async def _RR(pins, gap, pulse):
    await pins.command(0x00)
    await pins.addresses(0, 0, 0, 0, 0)
    await pins.command(0x30, 150)
    await pins.put(1, cle=0, host_oe=0)
    await pins.ready()
    await Timer(gap, "ns")
    await pins.put(re_n=0)
    await pins.put(re_n=1)


@case
async def _CLR(pins, gap, pulse):
    await pins.command(0x70)
    await pins.put(gap, cle=0, host_oe=0)
    await pins.put(re_n=0)
    await pins.put(re_n=1)


@case
async def _AR(pins, gap, pulse):
    await pins.command(0x90)
    await pins.addresses(0)
    await pins.put(gap, ale=0, host_oe=0)
    await pins.put(re_n=0)
    await pins.put(re_n=1)


@case
async def _WW(pins, gap, pulse):
    await pins.put(gap, wp_n=0)
    await pins.put(we_n=0)
    await pins.put(we_n=1)


@case
async def _WB(pins, gap, pulse):
    """A command while the part does not yet show that it is busy."""
    await pins.command(0x00)
    await pins.addresses(0, 0, 0, 0, 0)
    await pins.command(0x30, gap - pulse)
    await pins.put(pulse, we_n=0)
    await pins.put(1, we_n=1)
    await pins.ready()


NOT_A_GAP = {"tRHZ", "tREA", "tCEA", "tCHZ", "tRHOH", "tRLOH", "tCOH"}


async def start(dut) -> Pins:
    host = Host(dut, "full", FULL)
    await host.power_on()
    return Pins(host)


async def in_each_mode(dut):
    """The pins with host and part in each mode, and the mode."""
    pins = await start(dut)
    for mode in MODES:
        await pins.idle()
        await pins.host.set_mode(mode)
        await pins.idle()
        await pins.host.status()
        await pins.idle()
        assert int(dut.full_mode.value) == mode
        yield pins, mode


@cocotb.test()
@cocotb.parametrize(name=sorted(CASES))
async def limit(dut, name):
    """At its limit a time is kept; 1 ns below it is violated, by its name and no other."""
    async for pins, mode in in_each_mode(dut):
        for short in (0, 1):
            before = int(dut.full_violations.value)
            await CASES[name](pins, TIMES[name][mode] - short, TIMES["tWP"][mode])
            count = int(dut.full_violations.value) - before
            assert count == short, f"{name} in mode {mode}: {count} violations, {last(dut)}"
            if short:
                assert last(dut) == name, f"mode {mode}: {last(dut)}"
            await pins.idle()


def last(dut) -> str:
    return int(dut.full_violation.value).to_bytes(5, "big").decode().rstrip()


@cocotb.test()
async def every_time_has_a_case(dut):
    assert set(CASES) | NOT_A_GAP == set(TIMES)


@cocotb.test()
async def column_setup_of_data_in(dut):
    """tCCS holds for data after 85h, too."""
    async for pins, mode in in_each_mode(dut):
        for short in (0, 1):
            before = int(dut.full_violations.value)
            await pins.command(0x80)
            await pins.addresses(0, 0, 0, 0, 0)
            await pins.command(0x85)
            await pins.addresses(0)
            await pins.cycle(TIMES["tCCS"][mode] - short - 200, ale=1, cle=0)
            await pins.put(100, ale=0)
            await pins.put(100, we_n=0)
            await pins.put(we_n=1)
            assert int(dut.full_violations.value) - before == short
            await pins.idle()
        assert last(dut) == "tCCS"


@cocotb.test()
async def early_status(dut):
    """A status that is read before tWB is the old one, and a violation."""
    pins = await start(dut)
    await pins.idle()
    await pins.command(0x00)
    await pins.addresses(0, 0, 0, 0, 0)
    await pins.command(0x30, 30)
    await pins.put(20, host_o=0x70, we_n=0)
    await pins.put(30, we_n=1)
    await pins.put(20, cle=0, host_oe=0)
    await pins.put(60, re_n=0)
    assert int(dut.io.value) & 0x60 == 0x60, "busy before tWB"
    assert last(dut) == "tWB"
    await pins.put(200)
    assert int(dut.io.value) & 0x60 == 0x00, "ready after tWB"
    await pins.put(re_n=1)


@cocotb.test()
async def contention(dut):
    """WE_n falls while the part drives the bus."""
    pins = await start(dut)
    await pins.idle()
    await pins.command(0x70)
    await pins.put(cle=0, host_oe=0)
    await pins.put(re_n=0)
    before = int(dut.full_violations.value)
    await pins.put(we_n=0)
    assert (int(dut.full_violations.value) - before, last(dut)) == (1, "tRHZ")
    await pins.put(we_n=1, re_n=1)


@cocotb.test()
async def unselected(dut):
    """Nothing is checked, and nothing happens, while CE_n is high."""
    pins = await start(dut)
    await pins.idle()
    await pins.put(ce_n=1)
    before = int(dut.full_violations.value), int(dut.full_ignored.value)
    for pin in ("we_n", "re_n"):
        for _ in range(3):
            await pins.put(1, **{pin: 0})
            await pins.put(1, **{pin: 1, "cle": 1, "host_o": 0xFF})
    assert (int(dut.full_violations.value), int(dut.full_ignored.value)) == before
    assert dut.full_rb_n.value == 1


@cocotb.test()
async def output(dut):
    """A byte is on the pins from tREA on, and goes when the host can no longer rely on it."""
    async for pins, mode in in_each_mode(dut):
        access, hold, floating = (TIMES[name][mode] for name in ("tREA", "tRHOH", "tRHZ"))
        await pins.command(0x90)
        await pins.addresses(0x20)
        await pins.put(ale=0, host_oe=0)
        assert int(dut.io.value) == 0xFF
        await pins.put(access - 1, re_n=0)
        assert int(dut.io.value) == 0xFF ^ ord("O"), "before tREA"
        await pins.put(12)
        assert int(dut.io.value) == ord("O"), "after tREA"
        if hold:
            await pins.put(hold - 1, re_n=1)
            assert int(dut.io.value) == ord("O"), "before tRHOH"
            await pins.put(2)
        else:
            await pins.put(1, re_n=1)
        assert int(dut.io.value) == 0xFF ^ ord("O"), "after tRHOH"
        await pins.put(floating - max(hold + 1, 1) - 1)
        assert dut.full_oe.value == 1
        await pins.put(2)
        assert dut.full_oe.value == 0 and int(dut.io.value) == 0xFF


@cocotb.test()
async def fast_output(dut):
    """Cycles of tRC: each byte is sampled in the last moment at which the host may rely on it.

    That is tRLOH after the next fall of RE_n (EDO), or tRHOH after its rise, or the rise itself.
    """
    async for pins, mode in in_each_mode(dut):
        await pins.command(0x90)
        await pins.addresses(0x20)
        await pins.put(ale=0, host_oe=0)
        low, cycle, late = (TIMES[name][mode] for name in ("tRP", "tRC", "tRLOH"))
        high = cycle - low
        before = int(dut.full_violations.value)
        data = []
        await pins.put(low, re_n=0)
        for _ in range(4):
            held = min(TIMES["tRHOH"][mode], high) - 0.5
            if held < 0:
                data.append(int(dut.io.value))
                await pins.put(high, re_n=1)
            else:
                await pins.put(held, re_n=1)
                if not late:
                    data.append(int(dut.io.value))
                await Timer(high - held, "ns")
            await pins.put(max(late - 0.5, 0.5), re_n=0)
            if late:
                data.append(int(dut.io.value))
            await Timer(low - max(late - 0.5, 0.5), "ns")
        await pins.put(re_n=1)
        assert bytes(data) == b"ONFI", f"mode {mode}: {data}"
        assert int(dut.full_violations.value) == before


@cocotb.test()
async def chip_enable(dut):
    """CE_n ends the output after tCHZ, and begins it no earlier than tCEA."""
    async for pins, mode in in_each_mode(dut):
        access, hold, floating = (TIMES[name][mode] for name in ("tCEA", "tCOH", "tCHZ"))
        await pins.command(0x90)
        await pins.addresses(0x20)
        await pins.put(ale=0, host_oe=0)
        await pins.put(ce_n=1)
        await pins.put(1, ce_n=0)
        await pins.put(access - 2, re_n=0)
        assert int(dut.io.value) == 0xFF ^ ord("O"), "before tCEA"
        await pins.put(2)
        assert int(dut.io.value) == ord("O"), "after tCEA"
        if hold:
            await pins.put(hold - 1, ce_n=1)
            assert int(dut.io.value) == ord("O"), "before tCOH"
            await pins.put(2)
        else:
            await pins.put(1, ce_n=1)
        assert int(dut.io.value) == 0xFF ^ ord("O"), "after tCOH"
        await pins.put(floating - max(hold + 1, 1) - 1)
        assert dut.full_oe.value == 1
        await pins.put(2, re_n=1)
        assert dut.full_oe.value == 0
        await pins.put(ce_n=0)
