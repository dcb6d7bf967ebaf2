"""Drives a channel's NAND pins by hand: cycles, data, and the operations made of them.

Every gap is as short as the timing allows, unless an argument says otherwise: so a bench that passes without
a violation shows that the checker does not ask for more than the timing does.
"""

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout
from cocotb.utils import get_sim_time

from flashtrain.sim.bench.streams import HIGH, LOW
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus, Feature

PERIOD_NS = 2
OUTPUT_CYCLES = 1  # from `re` to `dqs_i`


class NandDriver:
    """One channel, one operation at a time. Numbers of cycles are edges since the start of the simulation."""

    def __init__(self, dut, config: FmsConfig):
        self.dut = dut
        self.config = config
        self.geometry = config.geometry
        self.selected = 0
        self.last_we = 0
        self.data_from = 0  # the earliest clock of the next data

    def cycles(self, name: str) -> int:
        return self.config.timing.cycles(name)

    @property
    def now(self) -> int:
        """The last edge. What is driven now is seen by the next."""
        return round(get_sim_time("ns")) // PERIOD_NS

    async def start(self) -> None:
        """Drive every pin and reset the design."""
        Clock(self.dut.clk, PERIOD_NS, "ns", impl="gpi").start()
        await self.power_cycle()
        self.deselect()
        self.forgive()

    async def power_cycle(self) -> None:
        """Whatever goes on ends; the selected die is selected again."""
        dut = self.dut
        for pin in (dut.bus__cle, dut.bus__ale, dut.bus__we, dut.bus__dqs_o, dut.bus__re, dut.bus__dq_o):
            pin.value = 0
        dut.rst.value = 1
        self.deselect()
        await ClockCycles(dut.clk, 3)
        dut.rst.value = 0
        await ClockCycles(dut.clk, 2)
        self.select(self.selected)
        self.last_we = self.now

    def deselect(self) -> None:
        self.dut.bus__ce_n.value = (1 << self.geometry.dies) - 1

    def select(self, die: int) -> None:
        self.selected = die
        self.dut.bus__ce_n.value = ((1 << self.geometry.dies) - 1) & ~(1 << die)

    async def wait(self, cycles: int) -> None:
        """As `ClockCycles`, whose coroutine goes on in each cycle."""
        if cycles > 3:
            await RisingEdge(self.dut.clk)
            await Timer((cycles - 1) * PERIOD_NS - 1, "ns")
            await RisingEdge(self.dut.clk)
        elif cycles > 0:
            await ClockCycles(self.dut.clk, cycles)

    async def until(self, clock: int) -> None:
        """Return so that what is driven then is seen at `clock`, or as soon as possible."""
        await self.wait(clock - 1 - self.now)

    # Cycles.

    async def cycle(self, byte: int, *, cle: int = 0, ale: int = 0, cycles: int | None = None) -> None:
        """One command or address cycle; `cycles` from edge to edge of WE_n."""
        dut = self.dut
        dut.bus__cle.value, dut.bus__ale.value, dut.bus__dq_o.value = cle, ale, byte
        await self.wait((cycles or self.cycles("twc")) - 1)
        dut.bus__we.value = 1
        await RisingEdge(dut.clk)
        dut.bus__we.value = 0
        dut.bus__cle.value = dut.bus__ale.value = 0
        self.last_we = self.now

    async def command(self, code: int) -> None:
        await self.cycle(code, cle=1)

    async def address(self, value: int, cycles: int) -> None:
        for byte in value.to_bytes(cycles, "little"):
            await self.cycle(byte, ale=1)

    def row(self, plane: int, block: int, page: int) -> int:
        return self.geometry.row_address(block, plane, page)

    async def full_address(self, plane: int, block: int, page: int, column: int = 0) -> None:
        await self.address(self.row(plane, block, page) << 16 | column, 5)

    async def data_in(self, content: bytes, after: int | None = None) -> None:
        """Send bytes `after` cycles from the last edge of WE_n (tADL)."""
        await self.until(self.last_we + (self.cycles("tadl") if after is None else after))
        dqs, dq, edge = self.dut.bus__dqs_o, self.dut.bus__dq_o, RisingEdge(self.dut.clk)
        dqs.value = 1
        for index in range(0, len(content), 2):
            dq.value = int.from_bytes(content[index : index + 2], "little")
            await edge
        dqs.value = 0

    async def data_out(self, count: int, turnaround: int | None = None) -> bytes:
        """Take `count` bytes without a gap, and leave the bus alone for tRHW."""
        await self.until(self.data_from)
        dut, edge = self.dut, RisingEdge(self.dut.clk)
        re, dqs, dq = dut.bus__re, dut.bus__dqs_i, dut.bus__dq_i
        content = bytearray()
        re.value = 1
        for beat in range(count // 2 + OUTPUT_CYCLES):
            await edge
            if beat == count // 2 - 1:
                re.value = 0
                last = self.now
            assert dqs.value == (HIGH if beat >= OUTPUT_CYCLES else LOW), f"DQS at beat {beat}"
            if beat >= OUTPUT_CYCLES:
                content += int(dq.value).to_bytes(2, "little")
        await self.until(last + (self.cycles("trhw") if turnaround is None else turnaround))
        return bytes(content)

    # Status.

    async def status(self, plane: int | None = None, block: int = 0) -> DieStatus:
        """The status of the die, or of one of its planes."""
        await self.until(self.last_we + self.cycles("twb"))
        if plane is None:
            await self.command(C.READ_STATUS)
        else:
            await self.command(C.READ_STATUS_ENHANCED)
            await self.address(self.row(plane, block, 0), 3)
        self.data_from = self.last_we + self.cycles("twhr")
        low, high = await self.data_out(2)
        assert high == 0
        return DieStatus(low)

    async def ready(self) -> int:
        """Wait until the selected die is ready; returns for how many cycles it was busy.

        No operation takes so long that the wait could end otherwise unless the die hangs.
        """
        longest = (4 * self.cycles("tbers") + 300_000) * PERIOD_NS
        await self.wait(self.last_we + self.cycles("twb") - self.now)
        if not self._rb_n():
            while not self._rb_n():
                await with_timeout(self.dut.bus__rb_n.value_change, longest, "ns")
            await RisingEdge(self.dut.clk)  # which sees it
        self.data_from = max(self.data_from, self.now + self.cycles("trr"))
        return self.now - 1 - self.last_we

    def _rb_n(self) -> bool:
        return bool(int(self.dut.bus__rb_n.value) >> self.selected & 1)

    async def idle(self) -> DieStatus:
        """Wait until the array of the selected die is idle, by status; returns the status."""
        while True:
            status = await self.status()
            if DieStatus.ARDY in status:
                return status
            await self.wait(50)

    # Operations. Each waits until the die is ready again, and returns for how long it was busy.

    async def load(self, plane: int, block: int, page: int, content: bytes, column: int = 0) -> None:
        await self.command(C.PROGRAM)
        await self.full_address(plane, block, page, column)
        await self.data_in(content)

    async def confirm(self, code: int) -> int:
        await self.command(code)
        return await self.ready()

    async def program(self, places, page: int, contents, last: int = C.PROGRAM_CACHE) -> int:
        """Program page `page` of [(plane, block), ...]."""
        for index, ((plane, block), content) in enumerate(zip(places, contents, strict=True)):
            await self.load(plane, block, page, content)
            if index + 1 < len(places):
                await self.confirm(C.PROGRAM_MULTI_PLANE)
        return await self.confirm(last)

    async def read(self, places, page: int, last: int = C.READ_CONFIRM, column: int = 0) -> int:
        for index, (plane, block) in enumerate(places):
            await self.command(C.READ)
            await self.full_address(plane, block, page, column)
            busy = await self.confirm(C.READ_MULTI_PLANE if index + 1 < len(places) else last)
        return busy

    async def erase(self, places) -> int:
        for index, (plane, block) in enumerate(places):
            await self.command(C.ERASE)
            await self.address(self.row(plane, block, 0), 3)
            busy = await self.confirm(C.ERASE_MULTI_PLANE if index + 1 < len(places) else C.ERASE_CONFIRM)
        return busy

    async def copy_from(self, plane: int, block: int, page: int) -> int:
        """Sense a page that is to be programmed elsewhere."""
        return await self.read([(plane, block)], page, last=C.COPYBACK_READ_CONFIRM)

    async def copy_to(self, plane: int, block: int, page: int, last: int = C.PROGRAM_CONFIRM) -> int:
        await self.command(C.CHANGE_WRITE_COLUMN)
        await self.full_address(plane, block, page)
        return await self.confirm(last)

    async def choose(self, plane: int, block: int, page: int, column: int = 0) -> None:
        """Select a plane for output."""
        await self.command(C.CHANGE_READ_COLUMN_ENHANCED)
        await self.full_address(plane, block, page, column)
        await self.command(C.CHANGE_READ_COLUMN_CONFIRM)
        self.data_from = self.last_we + self.cycles("tccs")

    # Suspended reads.

    async def name_suspended_pages(self, places, page: int) -> None:
        for plane, block in places:
            await self.command(C.SUSPENDED_READ)
            await self.address(self.row(plane, block, page), 3)

    async def begin_suspended_read(self, places=(), page: int = 0) -> None:
        """Read [(plane, block), ...] beside the array's work; without places, the next page of the same."""
        await self.name_suspended_pages(places, page)
        await self.command(C.SUSPENDED_READ_CONFIRM)

    async def suspended_read_done(self) -> DieStatus:
        """Wait until the set is in the data registers, by status; returns the status."""
        while True:
            status = await self.status()
            if DieStatus.SUSPENDED_READ in status:
                return status

    async def select_suspended_page(self, plane: int, block: int, page: int) -> None:
        await self.command(C.SUSPENDED_READ_SELECT)
        await self.address(self.row(plane, block, page), 3)
        self.data_from = self.last_we + self.cycles("tccs")

    async def take_suspended_read(self, places, page: int) -> list[bytes]:
        """Output of the set, and its end."""
        contents = []
        for plane, block in places:
            await self.select_suspended_page(plane, block, page)
            contents.append(await self.data_out(self.geometry.raw_page_bytes))
        await self.end_suspended_read()
        return contents

    async def end_suspended_read(self) -> None:
        await self.command(C.SUSPENDED_READ_END)

    async def change_read_column(self, column: int) -> None:
        await self.command(C.CHANGE_READ_COLUMN)
        await self.address(column, 2)
        await self.command(C.CHANGE_READ_COLUMN_CONFIRM)
        self.data_from = self.last_we + self.cycles("tccs")

    async def back_to_output(self) -> None:
        """After a status."""
        await self.command(C.READ)
        self.data_from = self.last_we + self.cycles("twhr")

    async def set_feature(self, feature: int, parameters: bytes) -> None:
        """Each parameter at both edges of DQS."""
        await self.command(C.SET_FEATURES)
        await self.address(feature, 1)
        await self.data_in(bytes(byte for parameter in parameters for byte in (parameter, parameter)))

    async def set_read_level(self, level: int) -> int:
        await self.set_feature(Feature.READ_LEVEL, bytes([level, 0, 0, 0]))
        self.last_we = self.now  # from which tWB counts
        return await self.ready()

    async def reset_die(self) -> int:
        await self.command(C.RESET)
        return await self.ready()

    def forgive(self) -> None:
        """Violations are counted from now on."""
        self._violations_before = int(self.dut.violations.value)

    @property
    def violations(self) -> int:
        """Since the start, or since they were forgiven."""
        return int(self.dut.violations.value) - self._violations_before


async def started(dut, config: FmsConfig) -> NandDriver:
    driver = NandDriver(dut, config)
    await driver.start()
    return driver
