"""Good and bad traffic on the pins of the AXI checker: good is let through, each breach is counted once."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

INPUTS = (
    "awid", "awaddr", "awlen", "awsize", "awburst", "awvalid", "awready", "wdata", "wstrb", "wlast", "wvalid",
    "wready", "bid", "bresp", "bvalid", "bready", "arid", "araddr", "arlen", "arsize", "arburst", "arvalid",
    "arready", "rid", "rdata", "rresp", "rlast", "rvalid", "rready",
)  # fmt: skip
STROBES = 0xFF  # of the 8 bytes that are the checker's default
BURST = {"size": 3, "burst": 1}


class Pins:
    """Drives the pins a clock at a time: what is not given is 0."""

    def __init__(self, dut):
        self.dut = dut
        self.known = 0  # violations so far

    async def start(self) -> None:
        Clock(self.dut.clk, 2, "ns", impl="gpi").start()
        self.dut.rst.value = 1
        await self.clock()
        await self.clock()
        self.dut.rst.value = 0
        await self.clock()

    async def clock(self, **values: int) -> None:
        for name in INPUTS:
            getattr(self.dut, name).value = values.get(name, 0)
        await FallingEdge(self.dut.clk)

    async def address(self, kind: str, address: int, length: int, **fields: int) -> None:
        fields = {"addr": address, "len": length, "valid": 1, "ready": 1, **BURST, **fields}
        await self.clock(**{f"a{kind}{name}": value for name, value in fields.items()})

    async def write_beats(self, count: int, last: int | None = None, wstrb: int = STROBES) -> None:
        for beat in range(count):
            ends = beat == (count - 1 if last is None else last)
            await self.clock(wvalid=1, wready=1, wdata=beat, wstrb=wstrb, wlast=int(ends))

    async def read_beats(self, count: int, last: int | None = None) -> None:
        for beat in range(count):
            ends = beat == (count - 1 if last is None else last)
            await self.clock(rvalid=1, rready=1, rdata=beat, rlast=int(ends))

    async def answer(self) -> None:
        await self.clock(bvalid=1, bready=1)

    async def expect(self, violations: int) -> None:
        """So many more than before."""
        await self.clock()
        found = int(self.dut.violations.value) - self.known
        self.known += found
        assert found == violations, f"{found} violations; expected {violations}"

    @property
    def under_way(self) -> tuple[int, int]:
        return int(self.dut.reads.value), int(self.dut.writes.value)


async def begin(dut) -> Pins:
    pins = Pins(dut)
    await pins.start()
    pins.known = int(dut.violations.value)
    return pins


@cocotb.test()
async def good_traffic(dut):
    pins = await begin(dut)
    await pins.address("w", 0x1000, 3)
    await pins.address("w", 0x0FF8, 0)
    assert pins.under_way == (0, 2)
    await pins.write_beats(4)
    await pins.write_beats(1, wstrb=0)
    await pins.answer()
    await pins.answer()
    await pins.write_beats(2)  # before its address
    await pins.address("w", 0x8, 1)
    await pins.answer()
    await pins.address("r", 0x2000, 255)
    await pins.address("r", 0x2800, 0)
    assert pins.under_way == (2, 0)
    await pins.read_beats(256)
    await pins.read_beats(1)
    assert pins.under_way == (0, 0)
    offer = {"awvalid": 1, "awaddr": 0x40, "awlen": 0, "awsize": 3, "awburst": 1}
    for _ in range(3):
        await pins.clock(**offer)
    await pins.clock(**offer, awready=1)
    await pins.write_beats(1)
    await pins.answer()
    await pins.expect(0)


@cocotb.test()
async def bad_bursts(dut):
    pins = await begin(dut)
    for kind in ("w", "r"):
        for address, length, fields in (
            (0x1004, 0, {}),
            (0x0FF8, 1, {}),
            (0x0800, 256 - 1, {"addr": 0x0808}),
            (0x1000, 0, {"burst": 0}),
            (0x1000, 0, {"burst": 2}),
            (0x1000, 0, {"size": 2}),
            (0x1000, 0, {"id": 1}),
        ):
            await pins.address(kind, address, length, **fields)
            await pins.expect(1)


@cocotb.test()
async def withdrawn_and_changed(dut):
    pins = await begin(dut)
    for channel, field in (("aw", "addr"), ("ar", "addr"), ("w", "data"), ("b", "resp"), ("r", "data")):
        ready = f"{channel}ready"
        offer = {f"{channel}valid": 1, f"{channel}{field}": 2}
        if channel in ("aw", "ar"):
            offer |= {f"{channel}size": 3, f"{channel}burst": 1}
        await pins.clock(**offer)
        await pins.expect(1)  # withdrawn
        await pins.clock(**offer)
        await pins.clock(**(offer | {f"{channel}{field}": 1}))
        await pins.clock(**(offer | {f"{channel}{field}": 1, ready: 0}))
        await pins.expect(2)  # changed, then withdrawn


@cocotb.test()
async def wrong_counts(dut):
    pins = await begin(dut)
    await pins.answer()
    await pins.expect(1)  # to nothing
    await pins.read_beats(1)
    await pins.expect(1)  # of nothing
    await pins.address("w", 0, 3)
    await pins.answer()
    await pins.expect(1)  # too early
    await pins.write_beats(3)
    await pins.expect(1)  # WLAST too early
    await pins.answer()
    await pins.address("w", 0, 0)
    await pins.write_beats(2)
    await pins.expect(1)  # too late
    await pins.answer()
    await pins.address("w", 0, 0)
    await pins.write_beats(1, wstrb=0x0F)
    await pins.expect(1)  # some strobes
    await pins.answer()
    await pins.address("r", 0, 3)
    await pins.read_beats(4, last=2)
    await pins.expect(2)  # RLAST early, and none on the last


@cocotb.test()
async def valid_in_reset(dut):
    pins = await begin(dut)
    dut.rst.value = 1
    await pins.clock()
    await pins.clock(arvalid=1)
    dut.rst.value = 0
    await pins.expect(1)
