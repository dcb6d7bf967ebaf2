"""A host of an SDR NAND part, for cocotb: it drives the pins at the shortest times that the standard allows.

`TIMES` is a copy of the standard's table of its own, so that a test compares it with that of the part.
"""

from dataclasses import dataclass

from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge, Timer

TIMES = {
    "tCS": (70, 35, 25, 25, 20, 15),
    "tCH": (20, 10, 10, 5, 5, 5),
    "tCLS": (50, 25, 15, 10, 10, 10),
    "tCLH": (20, 10, 10, 5, 5, 5),
    "tALS": (50, 25, 15, 10, 10, 10),
    "tALH": (20, 10, 10, 5, 5, 5),
    "tDS": (40, 20, 15, 10, 10, 7),
    "tDH": (20, 10, 5, 5, 5, 5),
    "tWP": (50, 25, 17, 15, 12, 10),
    "tWH": (30, 15, 15, 10, 10, 7),
    "tWC": (100, 45, 35, 30, 25, 20),
    "tRP": (50, 25, 17, 15, 12, 10),
    "tREH": (30, 15, 15, 10, 10, 7),
    "tRC": (100, 50, 35, 30, 25, 20),
    "tADL": (400,) * 6,
    "tCCS": (500,) * 6,
    "tWHR": (120, 80, 80, 80, 80, 80),
    "tRHW": (200, 100, 100, 100, 100, 100),
    "tRR": (40, 20, 20, 20, 20, 20),
    "tCLR": (20, 10, 10, 10, 10, 10),
    "tAR": (25, 10, 10, 10, 10, 10),
    "tWW": (100,) * 6,
    "tWB": (200, 100, 100, 100, 100, 100),
    "tRHZ": (200, 100, 100, 100, 100, 100),
    "tREA": (40, 30, 25, 20, 20, 16),
    "tCEA": (100, 45, 30, 25, 25, 25),
    "tCHZ": (100, 50, 50, 50, 30, 30),
    "tRHOH": (0, 15, 15, 15, 15, 15),
    "tRLOH": (0, 0, 0, 0, 5, 5),
    "tCOH": (0, 15, 15, 15, 15, 15),
}
"""ns in timing modes 0 to 5: ONFI 4.0, SDR timing parameters."""

NEVER_READY_NS = 5_000_000


@dataclass(frozen=True)
class Geometry:
    """Bytes of a page with its spare ones, pages of a block, and bits of a row's page number."""

    page: int
    spare: int
    pages: int
    blocks: int

    def row(self, block: int, page: int) -> int:
        return block << (self.pages - 1).bit_length() | page


class Host:
    """Drives one of the parts of `sdr_bus`, or that of `sdr_luns`.

    Members
    -------
    part      the prefix of the part's pins
    mode      the timing mode of the host; the part's is set by `set_mode`
    """

    def __init__(self, dut: HierarchyObject, part: str, geometry: Geometry) -> None:
        self.dut = dut
        self.part = part
        self.geometry = geometry
        self.mode = 0
        self._read_last = False

    def pin(self, name: str):
        return getattr(self.dut, f"{self.part}_{name}")

    def ns(self, name: str) -> int:
        return TIMES[name][self.mode]

    # Cycles.

    async def select(self) -> None:
        self.pin("ce_n").value = 0
        await Timer(self.ns("tCS"), "ns")

    async def deselect(self) -> None:
        await Timer(self.ns("tCH"), "ns")
        self.pin("ce_n").value = 1
        await Timer(self.ns("tCHZ"), "ns")

    async def _write(self, value: int, cle: int, ale: int) -> None:
        dut = self.dut
        if self._read_last:
            await Timer(self.ns("tRHW"), "ns")
            self._read_last = False
        dut.cle.value, dut.ale.value, dut.host_o.value, dut.host_oe.value = cle, ale, value, 1
        setup = max(self.ns("tCLS"), self.ns("tALS"), self.ns("tDS"), self.ns("tWP"))
        if setup > self.ns("tWP"):
            await Timer(setup - self.ns("tWP"), "ns")
        dut.we_n.value = 0
        await Timer(self.ns("tWP"), "ns")
        dut.we_n.value = 1
        hold = max(self.ns("tCLH"), self.ns("tALH"), self.ns("tDH"), self.ns("tWH"))
        await Timer(max(hold, self.ns("tWC") - setup), "ns")

    async def command(self, value: int) -> None:
        await self._write(value, 1, 0)

    async def address(self, *values: int) -> None:
        for value in values:
            await self._write(value, 0, 1)

    async def write(self, data: bytes, after: str = "tADL") -> None:
        """Data cycles; the first one at a time after the last address."""
        await Timer(self.ns(after), "ns")
        for value in data:
            await self._write(value, 0, 0)

    async def read(self, count: int, after: str = "tWHR") -> bytes:
        """Data out; the first one at a time after the last command or address."""
        dut = self.dut
        dut.cle.value, dut.ale.value, dut.host_oe.value = 0, 0, 0
        await Timer(self.ns(after), "ns")
        data = []
        for _ in range(count):
            dut.re_n.value = 0
            low = max(self.ns("tRP"), self.ns("tREA") + 1)
            await Timer(low, "ns")
            data.append(int(dut.io.value))
            dut.re_n.value = 1
            await Timer(max(self.ns("tREH"), self.ns("tRC") - low), "ns")
        self._read_last = True
        return bytes(data)

    async def wait_ready(self) -> None:
        """By R/B_n, which is low tWB after the command."""
        await Timer(self.ns("tWB"), "ns")
        await Timer(1, "ns")
        if not self.pin("rb_n").value:
            await RisingEdge(self.pin("rb_n"))
        await Timer(self.ns("tRR"), "ns")

    # Commands.

    async def reset(self) -> None:
        await self.command(0xFF)
        await self.wait_ready()
        self.mode = 0

    async def power_on(self) -> None:
        """Every pin of the bus at its idle level, power, and the first RESET."""
        dut = self.dut
        dut.cle.value, dut.ale.value, dut.we_n.value, dut.re_n.value, dut.wp_n.value = 0, 0, 1, 1, 1
        dut.host_o.value, dut.host_oe.value, dut.wrong_bits.value = 0, 0, 0
        dut.fail_program.value, dut.fail_erase.value = 0, 0
        for part in ("full", "plain", "pair"):
            if hasattr(dut, f"{part}_power"):
                getattr(dut, f"{part}_power").value = 0
                getattr(dut, f"{part}_ce_n").value = 1
        await Timer(100, "ns")
        self.pin("power").value = 1
        self.mode = 0
        await Timer(1, "ns")
        await self.wait_ready()
        await self.select()
        await self.reset()

    async def status(self) -> int:
        await self.command(0x70)
        return (await self.read(1))[0]

    async def enhanced_status(self, block: int) -> int:
        await self.command(0x78)
        await self.address(*self.row(block, 0))
        return (await self.read(1))[0]

    async def read_id(self, address: int, count: int) -> bytes:
        await self.command(0x90)
        await self.address(address)
        return await self.read(count)

    async def parameter_page(self, count: int) -> bytes:
        await self.command(0xEC)
        await self.address(0)
        await self.wait_ready()
        return await self.read(count)

    async def unique_id(self, count: int) -> bytes:
        await self.command(0xED)
        await self.address(0)
        await self.wait_ready()
        return await self.read(count)

    async def set_feature(self, address: int, data: bytes) -> None:
        await self.command(0xEF)
        await self.address(address)
        await self.write(data)
        await self.wait_ready()

    async def set_mode(self, mode: int) -> None:
        await self.set_feature(0x01, bytes([mode, 0, 0, 0]))
        self.mode = mode

    async def get_feature(self, address: int) -> bytes:
        await self.command(0xEE)
        await self.address(address)
        await self.wait_ready()
        return await self.read(4)

    def row(self, block: int, page: int) -> tuple[int, int, int]:
        row = self.geometry.row(block, page)
        return row & 0xFF, row >> 8 & 0xFF, row >> 16

    async def full_address(self, block: int, page: int, column: int) -> None:
        await self.address(column & 0xFF, column >> 8, *self.row(block, page))

    async def begin_read(self, block: int, page: int, column: int = 0, confirm: int = 0x30) -> None:
        await self.command(0x00)
        await self.full_address(block, page, column)
        await self.command(confirm)

    async def read_page(self, block: int, page: int, column: int, count: int) -> bytes:
        await self.begin_read(block, page, column)
        await self.wait_ready()
        return await self.read(count)

    async def read_column(self, column: int, count: int) -> bytes:
        await self.command(0x05)
        await self.address(column & 0xFF, column >> 8)
        await self.command(0xE0)
        return await self.read(count, "tCCS")

    async def begin_program(
        self, block: int, page: int, column: int, data: bytes, confirm: int = 0x10
    ) -> None:
        await self.command(0x80)
        await self.full_address(block, page, column)
        await self.write(data)
        await self.command(confirm)

    async def program(self, block: int, page: int, column: int, data: bytes, confirm: int = 0x10) -> int:
        """The status afterwards."""
        await self.begin_program(block, page, column, data, confirm)
        await self.wait_ready()
        return await self.status()

    async def begin_erase(self, block: int, confirm: int = 0xD0) -> None:
        await self.command(0x60)
        await self.address(*self.row(block, 0))
        await self.command(confirm)

    async def erase(self, block: int) -> int:
        """The status afterwards."""
        await self.begin_erase(block)
        await self.wait_ready()
        return await self.status()
