"""cocotb tests of a part with two LUNs: what each does alone, what both share, and careless hosts."""

import random

import cocotb
from cocotb.triggers import Timer

from tests.parts.sdr_host import NEVER_READY_NS, Geometry, Host

BLOCKS = 4
"""Of a LUN. The bit of the LUN is above those of the block."""
PAIR = Geometry(512, 16, 4, 2 * BLOCKS)
GOOD, FAILED, BUSY = 0xE0, 0xE1, 0x80
"""Statuses of a LUN; a busy one is to have no bit but that of WP_n and what is not valid."""


class Pair(Host):
    """A host of both LUNs. A block of LUN 1 has its number plus `BLOCKS`."""

    def __init__(self, dut) -> None:
        super().__init__(dut, "pair", PAIR)
        self.before = self.counts()

    def counts(self) -> list[int]:
        values = (self.pin(name).value for name in ("violations", "misuses", "ignored"))
        return [int(value) if value.is_resolvable else 0 for value in values]

    def check(self, misuses: int = 0, misuse: str | None = None, ignored: int = 0) -> None:
        counted = [now - before for now, before in zip(self.counts(), self.before, strict=True)]
        assert counted == [0, misuses, ignored], f"violations, misuses, ignored: {counted}"
        if misuse is not None:
            assert int(self.pin("misuse").value).to_bytes(8, "big").decode().rstrip() == misuse
        self.before = self.counts()

    async def ready(self, block: int) -> int:
        """The status of a LUN when it is ready."""
        for _ in range(200):
            status = await self.enhanced_status(block)
            if status & 0x40:
                return status
        raise AssertionError(f"the LUN of block {block} stays busy: {status:#04x}")

    async def choose(self, block: int, page: int, column: int, count: int) -> bytes:
        """06h, address, E0h and data."""
        await self.command(0x06)
        await self.full_address(block, page, column)
        await self.command(0xE0)
        return await self.read(count, "tCCS")

    async def settle(self) -> None:
        """tWB."""
        await Timer(self.ns("tWB") + 1, "ns")


async def pair(dut, *written: int) -> tuple[Pair, dict[int, bytes]]:
    """A part after power-on whose named blocks have a first page, and these pages."""
    host = Pair(dut)
    await host.power_on()
    await host.set_mode(4)
    host.before = host.counts()
    pages = {block: random.randbytes(64) for block in written}
    for block, page in pages.items():
        await host.begin_erase(block)
        await host.settle()
        assert await host.ready(block) == GOOD
        await host.begin_program(block, 0, 0, page)
        await host.settle()
        assert await host.ready(block) == GOOD
    host.check()
    return host, pages


@cocotb.test()
async def target_has_two_luns(dut):
    """The first LUN answers for both; each has the feature, and both are reset."""
    host, _ = await pair(dut)
    page = await host.parameter_page(256)
    assert page[100] == 2 and page[6] >> 1 & 1 and page[96:100] == bytes([BLOCKS, 0, 0, 0])
    assert await host.read_id(0x20, 4) == b"ONFI"
    assert await host.get_feature(0x01) == bytes([4, 0, 0, 0])
    assert int(dut.pair_mode.value) == 4 << 3 | 4
    await host.begin_erase(0)
    await host.settle()
    await host.begin_erase(BLOCKS)
    await host.settle()
    assert not await host.enhanced_status(0) & 0x40 and not await host.enhanced_status(BLOCKS) & 0x40
    await host.reset()
    assert await host.status() == GOOD, "of the first LUN alone"
    assert int(dut.pair_mode.value) == 0
    assert [await host.enhanced_status(block) for block in (0, BLOCKS)] == [GOOD, GOOD]
    host.check()


@cocotb.test()
async def each_is_busy_alone(dut):
    """An erase of one beside programs of the other, each with its own status; R/B# is low for both."""
    host, _ = await pair(dut, 0)
    await host.begin_erase(BLOCKS + 1)
    await host.settle()
    data = random.randbytes(100)
    await host.begin_program(0, 1, 5, data)
    await host.settle()
    assert await host.enhanced_status(BLOCKS) & 0x60 == 0 and await host.enhanced_status(0) & 0x60 == 0
    assert await host.ready(0) == GOOD
    assert await host.enhanced_status(BLOCKS) & 0x60 == 0 and not dut.pair_rb_n.value
    await host.begin_read(0, 1)
    await host.settle()
    assert await host.ready(0) == GOOD
    await host.command(0x00)
    assert await host.read(105) == b"\xff" * 5 + data
    assert await host.ready(BLOCKS + 1) == GOOD and dut.pair_rb_n.value
    host.check()


@cocotb.test()
async def failure_is_of_one(dut):
    host, _ = await pair(dut, 0, BLOCKS)
    for bit, failing, other in ((1, 0, BLOCKS), (2, BLOCKS, 0)):
        dut.fail_program.value = bit
        page = 1 + (bit == 2)
        for block in (failing, other):
            await host.begin_program(block, page, 0, b"data")
            await host.settle()
        assert await host.ready(failing) == FAILED and await host.ready(other) == GOOD
        assert await host.enhanced_status(failing + 1) == GOOD, "of the other plane"
    dut.fail_program.value = 0
    dut.fail_erase.value = 2
    for block in (0, BLOCKS):
        await host.begin_erase(block)
        await host.settle()
    assert await host.ready(0) == GOOD and await host.ready(BLOCKS) == FAILED
    host.check()


@cocotb.test()
async def reads_of_both(dut):
    """78h chooses whose data follow, in both orders and at any column."""
    host, pages = await pair(dut, 1, BLOCKS + 2)
    for first, second in ((1, BLOCKS + 2), (BLOCKS + 2, 1)):
        for block in (first, second):
            await host.begin_read(block, 0)
            await host.settle()
        assert await host.ready(second) == GOOD
        assert await host.choose(second, 0, 7, 20) == pages[second][7:27]
        assert await host.ready(first) == GOOD
        assert await host.choose(first, 0, 0, 64) == pages[first]
        assert await host.ready(second) == GOOD
        assert await host.choose(second, 0, 0, 64) == pages[second]
    host.check()


@cocotb.test()
async def careless_hosts(dut):
    """Each begins with both LUNs idle, and ends with a reset."""
    host, pages = await pair(dut, 0, BLOCKS)

    async def read_both() -> None:
        for block in (0, BLOCKS):
            await host.begin_read(block, 0)
            await host.settle()

    async def anew() -> None:
        await Timer(NEVER_READY_NS // 50, "ns")
        await host.reset()
        await host.set_mode(4)
        host.before = host.counts()

    # Data, and a status by 70h, of two LUNs that have both been busy.
    await read_both()
    await host.wait_ready()
    await host.read(1)
    host.check(2, "BUS")
    await anew()
    await read_both()
    await host.command(0x70)
    await host.read(1)
    host.check(2, "BUS")
    await anew()
    # 06h stops the output of idle LUNs alone.
    await host.begin_read(0, 0)
    await host.wait_ready()
    await host.begin_read(BLOCKS, 0)
    await host.settle()
    await host.choose(0, 0, 0, 1)
    host.check(2, "BUS")
    await anew()
    # 80h clears the page register of each idle LUN.
    await host.begin_read(0, 0)
    await host.wait_ready()
    await host.begin_program(BLOCKS, 1, 0, b"data")
    await host.settle()
    assert await host.ready(BLOCKS) == GOOD and await host.ready(0) == GOOD
    assert await host.choose(0, 0, 0, 1) == b"\xff" != pages[0][:1]
    host.check(1, "CLEARED")
    await anew()
    # Another LUN between two planes, in the middle of a page, and one that is not there.
    await host.begin_program(0, 1, 0, b"data", confirm=0x11)
    await host.wait_ready()
    await host.enhanced_status(BLOCKS)
    host.check(1, "LUN")
    await anew()
    await host.command(0x80)
    await host.full_address(0, 1, 0)
    await host.write(b"data")
    await host.command(0x60)
    await host.address(*host.row(BLOCKS, 0))
    host.check(1, "LUN")
    await anew()
    await host.command(0x60)
    await host.address(*host.row(2 * BLOCKS, 0))
    host.check(1, "LUN")
    # A LUN that is busy takes nothing, whatever the other one does.
    await anew()
    await host.begin_erase(3)
    await host.settle()
    await host.begin_read(0, 0)
    await host.settle()
    host.check(0, None, 2)
    await host.begin_read(BLOCKS, 0)
    await host.settle()
    assert await host.ready(BLOCKS) == GOOD
    await host.command(0x00)
    assert await host.read(64) == pages[BLOCKS]
    host.check()
