"""cocotb tests of the part's commands, busy times, faults, rules and losses of power."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time

from flashtrain.sim.bench.parameters import bench_parameters
from tests.parts.sdr_host import Geometry, Host

OPERATIONS = bench_parameters()["operations"]
FULL = Geometry(2048, 64, 8, 8)
FULL_SCALE = 50
PLAIN = Geometry(512, 16, 6, 9)
PLAIN_SCALE = 10
PLAIN_BAD = 3
GOOD, FAILED, FAILED_BEFORE, PROTECTED = 0xE0, 0xE1, 0xE2, 0x60
"""Statuses: ready; the last operation failed; the one before; WP_n is low."""


async def full(dut) -> Host:
    return await empty(Host(dut, "full", FULL))


async def plain(dut) -> Host:
    return await empty(Host(dut, "plain", PLAIN))


async def empty(host: Host) -> Host:
    """Power on, and erase what the tests before have left."""
    await host.power_on()
    for block in range(host.geometry.blocks):
        await host.erase(block)
    return host


class Counters:
    """What the part counts, since this object was made."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.before = self.now()

    def now(self) -> list[int]:
        return [int(self.host.pin(name).value) for name in ("violations", "misuses", "ignored")]

    def check(
        self, violations: int = 0, misuses: int = 0, ignored: int = 0, misuse: str | None = None
    ) -> None:
        counted = [now - before for now, before in zip(self.now(), self.before, strict=True)]
        assert counted == [violations, misuses, ignored], f"violations, misuses, ignored: {counted}"
        if misuse is not None:
            name = int(self.host.pin("misuse").value).to_bytes(8, "big").decode().rstrip()
            assert name == misuse, name
        self.before = self.now()


def some_bytes(count: int) -> bytes:
    return random.randbytes(count)


def crc16(data: bytes) -> int:
    """ONFI's CRC by division of polynomials over GF(2): the initial value stands before the first bits."""
    dividend = int.from_bytes(data, "big") << 16 ^ 0x4F4E << 8 * len(data)
    for bit in range(8 * len(data) + 15, 15, -1):
        if dividend >> bit & 1:
            dividend ^= 0x18005 << bit - 16
    return dividend


async def low_time(pin) -> float:
    """ns for which R/B_n is low, from its next falling edge."""
    await FallingEdge(pin)
    fell = get_sim_time("ps")
    await RisingEdge(pin)
    return (get_sim_time("ps") - fell) / 1000


# Identification.


@cocotb.test()
async def read_id(dut):
    host = await full(dut)
    counters = Counters(host)
    for mode in range(6):
        await host.set_mode(mode)
        assert await host.read_id(0x00, 5) == bytes([0x2C, 0xF1, 0x80, 0x95, 0x02])
        assert await host.read_id(0x20, 4) == b"ONFI"
    counters.check()


@cocotb.test()
async def parameter_pages(dut):
    """Three copies with a sound CRC, and the declarations in their places."""
    for start, geometry, modes, optional, features in (
        (full, FULL, 0x3F, 0x207F, 0x0048),
        (plain, PLAIN, 0x0F, 0x0000, 0x0000),
    ):
        host = await start(dut)
        counters = Counters(host)
        pages = await host.parameter_page(3 * 256 if host.part == "plain" else 2 * 256)
        page = pages[:256]
        assert pages == page * (len(pages) // 256)
        assert int.from_bytes(page[254:], "little") == crc16(page[:254])
        assert page[:4] == b"ONFI"
        fields = {
            4: (2, 0x0002), 6: (2, features), 8: (2, optional), 64: (1, 0x2C),
            80: (4, geometry.page), 84: (2, geometry.spare), 92: (4, geometry.pages),
            96: (4, geometry.blocks), 100: (1, 1), 101: (1, 0x23), 102: (1, 1), 129: (2, modes),
            133: (2, 600), 135: (2, 3000), 137: (2, 25), 139: (2, 500),
        }  # fmt: skip
        for place, (count, value) in fields.items():
            assert int.from_bytes(page[place : place + count], "little") == value, f"byte {place}"
        assert page[101] >> 4 == 2 and page[101] & 15 == 3, "address cycles"
        assert await host.read_column(254, 2) == page[254:]
        counters.check()
        await host.deselect()


@cocotb.test()
async def checksum_is_sensitive(dut):
    page = bytes(range(254))
    other = bytearray(page)
    other[100] ^= 1
    assert crc16(page) != crc16(bytes(other)) and crc16(b"") == 0x4F4E


@cocotb.test()
async def unique_id(dut):
    host = await full(dut)
    content = await host.unique_id(64)
    assert content[:32] == content[32:]
    assert bytes(byte ^ 0xFF for byte in content[:16]) == content[16:32]


async def maker_command(host: Host, command: int, wait: bool = True) -> None:
    await host.command(command)
    await host.address(*host.row(0, 0))
    if wait:
        await host.wait_ready()


@cocotb.test()
@cocotb.parametrize(erases=[False, True])
async def suspended_work(dut, erases: bool):
    """A program, or an erase, is suspended twice for reads, and ends as if it had not been."""
    host = await full(dut)
    suspend, resume = (0x61, 0xD2) if erases else (0x84, 0x13)
    kept, data = random.randbytes(64), random.randbytes(64)
    assert await host.program(1, 0, 0, kept) == GOOD
    assert await host.program(2, 0, 0, kept) == GOOD
    counters, suspensions = Counters(host), int(dut.full_suspensions.value)
    before = get_sim_time("ns")
    if erases:
        await host.begin_erase(2)
    else:
        await host.begin_program(2, 1, 0, data)
    for _ in range(2):
        await Timer(1000, "ns")
        assert await host.status() == 0x80 | 3
        await maker_command(host, suspend)
        assert await host.status() == GOOD
        assert await host.read_page(1, 0, 0, 64) == kept
        await maker_command(host, resume, wait=False)
    await host.wait_ready()
    work_ns = (700_000 if erases else 200_000) / FULL_SCALE
    assert get_sim_time("ns") - before > work_ns + 2 * (20_000 + 25_000) / FULL_SCALE
    assert await host.status() == GOOD
    expected = (b"\xff" * 64, b"\xff" * 64) if erases else (kept, data)
    for page, content in enumerate(expected):
        assert await host.read_page(2, page, 0, 64) == content
    assert dut.full_suspensions.value == suspensions + 2
    # Without work to suspend neither command has an effect.
    for command in (suspend, resume):
        await maker_command(host, command)
    assert await host.read_page(1, 0, 0, 64) == kept
    counters.check()


@cocotb.test()
async def careless_suspends(dut):
    """Too soon, of the other work, beside other programs, and of the rows that are worked on."""
    host = await full(dut)
    counters = Counters(host)
    await host.begin_erase(2)
    await Timer(1000, "ns")
    await maker_command(host, 0x84, wait=False)
    counters.check(misuses=1, misuse="SUSPEND")
    await maker_command(host, 0x61)
    await host.command(0x80)
    counters.check(misuses=1, misuse="SUSPEND", ignored=1)
    await host.begin_read(2, 3)
    await host.wait_ready()
    counters.check(misuses=1, misuse="SUSPEND")
    await maker_command(host, 0xD2, wait=False)
    await Timer(host.ns("tWB"), "ns")
    await maker_command(host, 0x61)
    counters.check(misuses=1, misuse="ADVANCE")
    # A reset tears what is suspended.
    await host.reset()
    assert await host.read_page(2, 0, 0, 64) != b"\xff" * 64
    assert await host.erase(2) == GOOD


@cocotb.test()
async def calibrations(dut):
    """tZQCL and tZQCS, of LUN 0. The strengths that byte 151 does not have are refused."""
    host = await full(dut)
    counters = Counters(host)
    for command, busy_ns in ((0xF9, 1000), (0xD9, 300)):
        await host.command(command)
        await host.address(0x00)
        await FallingEdge(dut.full_rb_n)
        begin = get_sim_time("ns")
        await RisingEdge(dut.full_rb_n)
        assert get_sim_time("ns") - begin == pytest.approx(busy_ns / FULL_SCALE, abs=0.01)
        await Timer(host.ns("tRR"), "ns")
        assert await host.status() == GOOD
    assert (await host.parameter_page(256))[151] == 0x03
    await host.set_feature(0x10, bytes([3, 0, 0, 0]))
    counters.check()
    await host.command(0xF9)
    await host.address(0x01)
    counters.check(ignored=1)
    await host.set_feature(0x10, bytes(4))
    counters.check(misuses=1, misuse="FEATURE")
    assert await host.get_feature(0x10) == bytes([3, 0, 0, 0])


@cocotb.test()
async def features(dut):
    host = await full(dut)
    counters = Counters(host)
    assert await host.get_feature(0x01) == bytes(4)
    await host.set_mode(4)
    assert await host.get_feature(0x01) == bytes([4, 0, 0, 0])
    assert await host.get_feature(0x10) == bytes([2, 0, 0, 0])
    await host.set_feature(0x10, bytes([1, 0, 0, 0]))
    assert await host.get_feature(0x10) == bytes([1, 0, 0, 0])
    await host.set_feature(0x55, bytes([9, 9, 9, 9]))
    assert await host.get_feature(0x55) == bytes(4), "a feature that the part does not have"
    counters.check()
    await host.set_feature(0x01, bytes([6, 0, 0, 0]))
    counters.check(misuses=1, misuse="FEATURE")
    assert dut.full_mode.value == 4
    # READ STATUS in between; 00h returns to the data.
    await host.command(0xEE)
    await host.address(0x10)
    await host.wait_ready()
    assert await host.status() == GOOD
    await host.command(0x00)
    assert await host.read(4) == bytes([1, 0, 0, 0])
    await host.reset()
    assert dut.full_mode.value == 0


# Reads, programs, erases.


@cocotb.test()
async def whole_page(dut):
    """In the fastest mode: program, read, columns in and out, erase."""
    host = await full(dut)
    await host.set_mode(5)
    counters = Counters(host)
    assert await host.read_page(3, 0, 0, 8) == b"\xff" * 8
    data = bytearray(some_bytes(FULL.page + FULL.spare))
    assert await host.program(3, 0, 0, bytes(data)) == GOOD
    assert await host.read_page(3, 0, 0, len(data)) == data
    assert await host.read_column(2040, 72) == data[2040:]
    assert await host.read_page(3, 0, 2048, 64) == data[2048:]
    assert await host.read_page(3, 1, 0, 8) == b"\xff" * 8
    assert await host.erase(3) == GOOD
    assert await host.read_page(3, 0, 0, 8) == b"\xff" * 8
    counters.check()


@cocotb.test()
async def data_in_at_columns(dut):
    host = await full(dut)
    counters = Counters(host)
    await host.command(0x80)
    await host.full_address(0, 0, 10)
    await host.write(b"abc")
    await host.command(0x85)
    await host.address(0x00, 0x08)
    await host.write(b"spare", "tCCS")
    await host.command(0x10)
    await host.wait_ready()
    assert await host.status() == GOOD
    assert await host.read_page(0, 0, 8, 6) == b"\xff\xffabc\xff"
    assert await host.read_column(2047, 7) == b"\xffspare\xff"
    counters.check()


@cocotb.test()
async def programs_only_clear_bits(dut):
    host = await plain(dut)
    first, second = some_bytes(32), some_bytes(32)
    assert await host.program(0, 0, 0, first) == GOOD
    assert await host.program(0, 0, 0, second) == GOOD
    both = bytes(a & b for a, b in zip(first, second, strict=True))
    assert await host.read_page(0, 0, 0, 32) == both


@cocotb.test()
async def random_operations(dut):
    """Programs, erases and reads of random places, compared with a dictionary, in every mode."""
    host = await full(dut)
    counters = Counters(host)
    pages: dict[tuple[int, int], bytes] = {}
    following = dict.fromkeys(range(FULL.blocks), 0)
    for number in range(OPERATIONS):
        if number % 10 == 0:
            await host.set_mode(number // 10 % 6)
        block = random.randrange(FULL.blocks)
        action = random.choice(["program", "program", "read", "erase"])
        if action == "program" and following[block] < FULL.pages:
            place = block, following[block]
            following[block] += 1
            column = random.randrange(FULL.page + FULL.spare - 20)
            data = some_bytes(20)
            assert await host.program(*place, column, data) == GOOD
            pages[place] = b"\xff" * column + data + b"\xff" * (FULL.page + FULL.spare - column - 20)
        elif action == "erase":
            assert await host.erase(block) == GOOD
            following[block] = 0
            pages = {place: page for place, page in pages.items() if place[0] != block}
        else:
            place = block, random.randrange(FULL.pages)
            if pages and random.random() < 0.8:
                place = random.choice(list(pages))
            page = pages.get(place, b"\xff" * (FULL.page + FULL.spare))
            column = random.randrange(len(page) - 20)
            assert await host.read_page(*place, column, 20) == page[column : column + 20]
            start = next((at for at, byte in enumerate(page) if byte != 0xFF), 0)
            assert await host.read_column(start, 16) == (page + b"\xff" * 16)[start : start + 16]
    counters.check()


# Busy times and status.


@cocotb.test()
async def busy_times(dut):
    """R/B_n falls tWB after the command, for the time of the operation."""
    host = await plain(dut)
    for begin, expected in (
        (lambda: host.begin_read(0, 0), 25_000),
        (lambda: host.begin_program(0, 0, 0, b"x"), 200_000),
        (lambda: host.begin_erase(0), 700_000),
        (lambda: host.command(0xFF), 5_000),
    ):
        measured = cocotb.start_soon(low_time(host.pin("rb_n")))
        await begin()
        await measured
        assert measured.result() == expected / PLAIN_SCALE
    await Timer(1, "us")
    other = await full(dut)
    for begin, expected in (
        (lambda: other.command(0xEE), None),
        (lambda: other.address(0x01), 1_000),
        (lambda: other.begin_erase(2), 700_000),
    ):
        if expected is None:
            await begin()
            continue
        measured = cocotb.start_soon(low_time(other.pin("rb_n")))
        await begin()
        await measured
        assert measured.result() == expected / FULL_SCALE


@cocotb.test()
async def reset_times(dut):
    """RESET takes as long as what it cuts off demands; the first one after power-on takes longest."""
    host = Host(dut, "plain", PLAIN)
    powering = cocotb.start_soon(host.power_on())
    assert await low_time(dut.plain_rb_n) == 100_000 / PLAIN_SCALE
    assert await low_time(dut.plain_rb_n) == 1_000_000 / PLAIN_SCALE
    await powering
    for begin, expected in (
        (lambda: host.begin_read(0, 0), 5_000),
        (lambda: host.begin_program(0, 0, 0, b"x"), 10_000),
        (lambda: host.begin_erase(0), 500_000),
    ):
        await begin()
        await Timer(host.ns("tWB") + 500, "ns")
        assert not dut.plain_rb_n.value
        await host.command(0xFF)
        start = get_sim_time("ps")
        await RisingEdge(dut.plain_rb_n)
        passed = (get_sim_time("ps") - start) / 1000 + max(host.ns("tWH"), host.ns("tWC") - host.ns("tCLS"))
        assert passed == host.ns("tWB") + expected / PLAIN_SCALE
        await Timer(host.ns("tRR"), "ns")
        assert await host.status() == GOOD


@cocotb.test()
async def status_while_busy(dut):
    """Read again and again with one READ STATUS, or with RE_n kept low."""
    host = await plain(dut)
    await host.begin_read(0, 0)
    await Timer(host.ns("tWB"), "ns")
    assert await host.status() & 0x60 == 0
    for _ in range(3):
        assert (await host.read(1))[0] & 0x60 == 0
    dut.re_n.value = 0
    await RisingEdge(dut.plain_rb_n)
    await Timer(1, "ns")
    assert int(dut.io.value) == GOOD
    dut.re_n.value = 1
    await Timer(host.ns("tRHZ"), "ns")
    await host.command(0x00)
    assert await host.read(4) == b"\xff" * 4
    Counters(host).check()


@cocotb.test()
async def commands_while_busy(dut):
    """All but RESET and READ STATUS are without effect, and so are addresses, data and reads."""
    host = await plain(dut)
    assert await host.program(0, 0, 0, b"kept") == GOOD
    counters = Counters(host)
    await host.begin_read(0, 0)
    await Timer(host.ns("tWB"), "ns")
    assert await host.read(1) == b"\xff", "nobody drives the bus"
    for command in (0x60, 0x90, 0x80):
        await host.command(command)
    await host.address(0)
    await host.write(b"z")
    await host.command(0xD0)
    await host.wait_ready()
    assert await host.read(4) == b"kept"
    counters.check(ignored=7)


@cocotb.test()
async def undeclared_commands(dut):
    """The plain part declares no optional command, and takes none."""
    host = await plain(dut)
    counters = Counters(host)
    for command in (
        0xED,
        0xEE,
        0xEF,
        0x78,
        0x3F,
        0x15,
        0x11,
        0xD1,
        0x32,
        0x06,
        0x81,
        0x23,
        0x7A,
        0xC0,
        0xF9,
        0xD9,
    ):
        await host.command(command)
    counters.check(ignored=16)
    await host.command(0x00)
    await host.full_address(0, 0, 0)
    await host.command(0x35)
    await host.command(0x85)
    counters.check(ignored=2)
    assert dut.plain_rb_n.value == 1
    assert await host.read_id(0x20, 4) == b"ONFI"


@cocotb.test()
async def incomplete_commands(dut):
    host = await plain(dut)
    counters = Counters(host)
    await host.command(0x00)
    await host.address(0, 0, 0, 0)
    await host.command(0x30)
    await host.command(0x60)
    await host.address(0, 0)
    await host.command(0xD0)
    await host.command(0x80)
    await host.address(0, 0)
    await host.command(0x10)
    await host.command(0xE0)
    assert dut.plain_rb_n.value == 1
    counters.check(ignored=4)
    await host.command(0x90)
    await host.address(0, 0)
    counters.check(ignored=1)


@cocotb.test()
async def other_part_is_deaf(dut):
    """Two parts on a bus: each takes what is for it."""
    first = await full(dut)
    await first.deselect()
    second = Host(dut, "plain", PLAIN)
    counters = Counters(first), Counters(second)
    dut.plain_power.value = 1
    await Timer(1, "ns")
    await second.wait_ready()
    await second.select()
    await second.reset()
    assert await second.erase(0) == GOOD
    assert await second.program(0, 0, 0, b"second") == GOOD
    await second.deselect()
    await first.select()
    assert await first.program(0, 0, 0, b"first") == GOOD
    assert await first.read_page(0, 0, 0, 6) == b"first\xff"
    await first.deselect()
    await second.select()
    assert await second.read_page(0, 0, 0, 6) == b"second"
    for each in counters:
        each.check()


# Faults of the part.


@cocotb.test()
async def write_protect(dut):
    """With WP_n low, programs and erases do nothing, and the status says why."""
    host = await plain(dut)
    assert await host.program(0, 0, 0, b"kept") == GOOD
    dut.wp_n.value = 0
    await Timer(host.ns("tWW"), "ns")
    assert await host.program(0, 1, 0, b"lost") == PROTECTED
    assert await host.erase(0) == PROTECTED
    dut.wp_n.value = 1
    await Timer(host.ns("tWW"), "ns")
    assert await host.status() == GOOD
    assert await host.read_page(0, 0, 0, 4) == b"kept"
    assert await host.read_page(0, 1, 0, 4) == b"\xff" * 4
    counters = Counters(host)
    await host.begin_program(0, 1, 0, b"late")
    await Timer(host.ns("tWB") + 10, "ns")
    dut.wp_n.value = 0
    await Timer(10, "ns")
    counters.check(misuses=1, misuse="WP_n")
    dut.wp_n.value = 1


@cocotb.test()
async def factory_marks(dut):
    """Bad blocks have 00h in the first spare byte of the first page, and fail."""
    host = await plain(dut)
    marks = {}
    for block in range(PLAIN.blocks):
        marks[block] = (await host.read_page(block, 0, PLAIN.page, 1))[0]
    bad = [block for block, mark in marks.items() if mark == 0]
    assert len(bad) == PLAIN_BAD and 0 not in bad
    assert all(mark == 0xFF for block, mark in marks.items() if block not in bad)
    assert await host.erase(bad[0]) == FAILED
    assert await host.program(bad[0], 0, 0, b"lost") == FAILED
    assert await host.read_page(bad[0], 0, PLAIN.page, 2) == b"\x00\xff", "the mark stays"
    assert await host.read_page(bad[0], 0, 0, 4) == b"\xff" * 4
    good = next(block for block in marks if block not in bad)
    assert await host.erase(good) == GOOD, "a good status follows a bad one"


@cocotb.test()
async def failures_on_demand(dut):
    host = await plain(dut)
    data = bytes(64)
    dut.fail_program.value = 1
    assert await host.program(0, 0, 0, data) == FAILED
    dut.fail_program.value = 0
    torn = await host.read_page(0, 0, 0, 64)
    assert torn not in (data, b"\xff" * 64)
    assert await host.status() == GOOD, "a read clears FAIL"
    dut.fail_erase.value = 1
    assert await host.erase(0) == FAILED
    dut.fail_erase.value = 0
    assert await host.read_page(0, 0, 0, 64) != b"\xff" * 64
    assert await host.erase(0) == GOOD
    assert await host.read_page(0, 0, 0, 64) == b"\xff" * 64


@cocotb.test()
async def wrong_bits(dut):
    """As many as the rate says, elsewhere at each read, and none in the cells."""
    host = await plain(dut)
    size = PLAIN.page + PLAIN.spare
    data = some_bytes(size)
    assert await host.program(0, 0, 0, data) == GOOD
    dut.wrong_bits.value = 1000
    seen = []
    for _ in range(4):
        read = await host.read_page(0, 0, 0, size)
        seen.append(int.from_bytes(read, "big") ^ int.from_bytes(data, "big"))
        assert await host.read_column(0, 4) == read[:4], "the register does not change"
    assert len(set(seen)) == len(seen)
    for wrong in seen:
        assert 8 * size // 1000 - 2 <= wrong.bit_count() <= 8 * size // 1000 + 1
    dut.wrong_bits.value = 0
    assert await host.read_page(0, 0, 0, size) == data


# Rules.


@cocotb.test()
async def partial_programs(dut):
    """The plain part allows two programs of a page between erases."""
    host = await plain(dut)
    counters = Counters(host)
    for number in range(2):
        await host.program(0, 0, number, b"\x00")
    counters.check()
    await host.program(0, 0, 2, b"\x00")
    counters.check(misuses=1, misuse="NOP")
    await host.erase(0)
    await host.program(0, 0, 0, b"\x00")
    counters.check()


@cocotb.test()
async def order_of_pages(dut):
    host = await plain(dut)
    counters = Counters(host)
    for page in (0, 1, 1, 2):
        await host.program(0, page, 0, b"\x00")
    counters.check()
    await host.program(0, 4, 0, b"\x00")
    counters.check(misuses=1, misuse="ORDER")
    await host.program(0, 3, 0, b"\x00")
    counters.check(misuses=1, misuse="ORDER")
    await host.erase(0)
    await host.program(0, 0, 0, b"\x00")
    counters.check()


@cocotb.test()
async def beyond_the_part(dut):
    """Rows and columns that do not exist."""
    host = await plain(dut)
    counters = Counters(host)
    assert await host.program(PLAIN.blocks, 0, 0, b"x") == FAILED
    counters.check(misuses=1, misuse="ROW")
    assert await host.program(0, PLAIN.pages, 0, b"x") == FAILED
    counters.check(misuses=1, misuse="ROW")
    assert await host.erase(PLAIN.blocks) == FAILED
    counters.check(misuses=1, misuse="ROW")
    assert await host.read_page(PLAIN.blocks, 0, 0, 2) == b"\xff\xff"
    counters.check(misuses=1, misuse="ROW")
    assert await host.read_page(0, 0, PLAIN.page + PLAIN.spare - 1, 2) == b"\xff\xff"
    counters.check(misuses=1, misuse="COLUMN")
    assert await host.program(0, 0, PLAIN.page + PLAIN.spare - 1, b"ab") == GOOD
    counters.check(misuses=1, misuse="COLUMN")
    await host._write(0x70, 1, 1)
    counters.check(misuses=1, ignored=1, misuse="CLE+ALE")


# Optional commands.


@cocotb.test()
async def cached_programs(dut):
    """R/B_n rises before the array has ended; FAILC is the result of the page before."""
    host = await full(dut)
    counters = Counters(host)
    pages = [some_bytes(8) for _ in range(3)]
    await host.begin_program(1, 0, 0, pages[0], 0x15)
    await host.wait_ready()
    assert await host.status() & 0xE2 == 0xC0, "RDY without ARDY"
    dut.fail_program.value = 1
    await host.begin_program(1, 1, 0, pages[1], 0x15)
    await host.wait_ready()
    dut.fail_program.value = 0
    assert await host.status() & 0xE2 == 0xC2, "FAILC: the first page"
    await host.begin_program(1, 2, 0, pages[2], 0x10)
    await host.wait_ready()
    assert await host.status() == GOOD
    assert await host.read_page(1, 1, 0, 8) == pages[1]
    assert await host.read_page(1, 2, 0, 8) == pages[2]
    counters.check()
    # The last page but one fails.
    await host.begin_program(3, 0, 0, pages[0], 0x15)
    await host.wait_ready()
    dut.fail_program.value = 1
    await Timer(200_000 // FULL_SCALE, "ns")
    dut.fail_program.value = 0
    assert await host.status() == FAILED
    await host.begin_program(3, 1, 0, pages[1], 0x10)
    await host.wait_ready()
    assert await host.status() == FAILED_BEFORE
    # What the array cannot do beside a program.
    await host.begin_program(5, 0, 0, pages[0], 0x15)
    await host.wait_ready()
    counters.check()
    await host.command(0x60)
    counters.check(misuses=1, ignored=1, misuse="CACHE")


@cocotb.test()
async def cached_reads(dut):
    host = await full(dut)
    pages = [some_bytes(8) for _ in range(4)]
    for page, data in enumerate(pages):
        await host.program(2, page, 0, data)
    other = some_bytes(8)
    await host.program(5, 0, 0, other)
    counters = Counters(host)
    assert await host.read_page(2, 0, 0, 8) == pages[0]
    for page in (0, 1):
        await host.command(0x31)
        await host.wait_ready()
        assert await host.status() & 0xE0 == 0xC0
        await host.command(0x00)
        assert await host.read(8) == pages[page]
    await host.begin_read(5, 0, 0, 0x31)
    await host.wait_ready()
    assert await host.read(8) == pages[2]
    await host.command(0x3F)
    await host.wait_ready()
    assert await host.read(8) == other
    assert await host.status() == GOOD
    counters.check()
    await host.read_page(2, 7, 0, 1)
    await host.command(0x31)
    counters.check(misuses=1, misuse="BLOCK")


@cocotb.test()
async def two_planes(dut):
    """One program, one erase and one read of two planes; 78h has the status of each."""
    host = await full(dut)
    counters = Counters(host)
    even, odd = some_bytes(8), some_bytes(8)
    await host.begin_program(2, 0, 0, even, 0x11)
    await host.wait_ready()
    await host.begin_program(5, 0, 0, odd, 0x10)
    await host.wait_ready()
    assert await host.status() == GOOD
    await host.begin_read(2, 0, 0, 0x32)
    await host.wait_ready()
    await host.begin_read(5, 0, 0, 0x30)
    await host.wait_ready()
    assert await host.read(8) == odd
    await host.command(0x06)
    await host.full_address(2, 0, 0)
    await host.command(0xE0)
    assert await host.read(8, "tCCS") == even
    counters.check()
    dut.fail_erase.value = 1
    await host.begin_erase(2, 0xD1)
    await host.wait_ready()
    await host.begin_erase(5)
    await host.wait_ready()
    dut.fail_erase.value = 0
    assert await host.status() == FAILED
    await host.begin_erase(2)
    await host.wait_ready()
    assert await host.enhanced_status(2) == GOOD
    assert await host.read_page(2, 0, 0, 8) == b"\xff" * 8
    counters.check()
    await host.begin_program(2, 0, 0, even, 0x11)
    await host.wait_ready()
    await host.begin_program(5, 1, 0, odd, 0x10)
    await host.wait_ready()
    counters.check(misuses=1, misuse="PLANE")  # not the same page


@cocotb.test()
async def status_of_one_plane(dut):
    host = await full(dut)
    assert await host.program(2, 0, 0, b"x") == GOOD
    dut.fail_program.value = 1
    await host.begin_program(3, 0, 0, b"x")
    await host.wait_ready()
    dut.fail_program.value = 0
    assert await host.enhanced_status(3) == FAILED
    assert await host.enhanced_status(2) == GOOD
    assert await host.status() == FAILED


@cocotb.test()
async def copyback(dut):
    host = await full(dut)
    data = some_bytes(16)
    await host.program(2, 0, 0, data)
    counters = Counters(host)
    await host.begin_read(2, 0, 0, 0x35)
    await host.wait_ready()
    await host.command(0x85)
    await host.full_address(4, 0, 4)
    await host.write(b"new", "tCCS")
    await host.command(0x10)
    await host.wait_ready()
    assert await host.status() == GOOD
    assert await host.read_page(4, 0, 0, 16) == data[:4] + b"new" + data[7:]
    counters.check()


# Power.


@cocotb.test()
async def needs_reset(dut):
    """Between power-on and RESET, the part takes nothing else."""
    host = Host(dut, "plain", PLAIN)
    await host.power_on()
    await host.program(0, 0, 0, b"kept")
    dut.plain_power.value = 0
    await Timer(1, "us")
    dut.plain_power.value = 1
    await Timer(1, "ns")
    assert not dut.plain_rb_n.value
    counters = Counters(host)
    await host.command(0xFF)
    counters.check(ignored=1)  # too early
    await host.wait_ready()
    await host.command(0x90)
    await host.address(0)
    assert await host.read(2) == b"\xff\xff"
    await host.begin_read(0, 0)
    assert dut.plain_rb_n.value == 1
    assert await host.status() == 0xFF
    await host.reset()
    assert await host.read_page(0, 0, 0, 4) == b"kept"


@cocotb.test()
async def status_during_the_first_reset(dut):
    host = await plain(dut)
    dut.plain_power.value = 0
    await Timer(1, "us")
    dut.plain_power.value = 1
    await Timer(1, "ns")
    await host.wait_ready()
    await host.command(0xFF)
    await Timer(host.ns("tWB"), "ns")
    assert await host.status() & 0x60 == 0
    await RisingEdge(dut.plain_rb_n)
    assert await host.status() == GOOD


async def lose_power(host: Host, after: float) -> None:
    await Timer(after, "ns")
    host.pin("power").value = 0
    await Timer(1, "us")
    host.pin("power").value = 1
    host.mode = 0
    await Timer(1, "ns")
    await host.wait_ready()
    await host.reset()


@cocotb.test()
async def torn_program(dut):
    """Power fails in the middle: that page is neither old nor new, the others are there."""
    host = await plain(dut)
    first, second = some_bytes(64), some_bytes(64)
    await host.program(0, 0, 0, first)
    await host.begin_program(0, 1, 0, second)
    await lose_power(host, 10_000)
    assert await host.read_page(0, 0, 0, 64) == first
    torn = await host.read_page(0, 1, 0, 64)
    assert torn not in (second, b"\xff" * 64)
    assert all(a & b == b for a, b in zip(torn, second, strict=True)), "a bit was cleared that should not be"
    assert await host.read_page(0, 2, 0, 8) == b"\xff" * 8
    assert await host.erase(0) == GOOD
    assert await host.read_page(0, 1, 0, 64) == b"\xff" * 64


@cocotb.test()
async def torn_erase(dut):
    """Power fails in the middle: no page of the block is what it was, or erased."""
    host = await plain(dut)
    data = some_bytes(64)
    await host.program(0, 0, 0, data)
    await host.begin_erase(0)
    await lose_power(host, 10_000)
    assert await host.read_page(0, 0, 0, 64) not in (data, b"\xff" * 64)
    assert await host.read_page(0, 3, 0, 64) != b"\xff" * 64
    assert await host.erase(0) == GOOD
    assert await host.read_page(0, 0, 0, 64) == b"\xff" * 64


@cocotb.test()
async def power_takes_all_latches(dut):
    host = await full(dut)
    await host.set_mode(5)
    await host.set_feature(0x10, bytes([1, 0, 0, 0]))
    await host.command(0x80)
    await host.full_address(0, 0, 0)
    await host.write(b"lost")
    await lose_power(host, 10)
    assert dut.full_mode.value == 0
    assert await host.get_feature(0x10) == bytes([2, 0, 0, 0])
    counters = Counters(host)
    await host.command(0x10)
    counters.check(ignored=1)
    assert await host.read_page(0, 0, 0, 4) == b"\xff" * 4


@cocotb.test()
async def power_fails_without_an_operation(dut):
    host = await plain(dut)
    data = some_bytes(64)
    await host.program(0, 0, 0, data)
    await lose_power(host, 10)
    assert await host.read_page(0, 0, 0, 64) == data
    await host.begin_read(0, 0)
    await lose_power(host, 500)
    assert await host.read_page(0, 0, 0, 64) == data


@cocotb.test()
async def reset_cuts_a_program(dut):
    host = await plain(dut)
    data = bytes(64)
    await host.begin_program(0, 0, 0, data)
    await Timer(5, "us")
    await host.reset()
    assert await host.status() == GOOD
    assert await host.read_page(0, 0, 0, 64) not in (data, b"\xff" * 64)
