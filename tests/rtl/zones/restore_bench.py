"""What recovery tells channels of their spare blocks; `recovery_bench` has the rest of the unit."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Command, SpareUse
from flashtrain.rtl.zones.restore import RestoredZone
from flashtrain.spec.identity import RestoreAction
from tests.rtl.zones.test_zones import MANY_SPARES as CONFIG
from tests.rtl.zones.zone_helpers import Sink, clock_number, cycles, pack, reset

G = CONFIG.geometry


class Bench:
    def __init__(self, dut, busy: float = 1):
        self.dut = dut
        self.told: list[tuple[int, ...]] = []
        self.told_at: list[int] = []
        self.physical: list[tuple[int, int]] = []
        dut.recover.value = 1
        dut.execute.value = dut.allocated.value = dut.command.value = 0
        Sink(dut, "spare_use", SpareUse(CONFIG), self._tell, busy)
        Sink(
            dut,
            "physical",
            RestoredZone(CONFIG),
            lambda one: self.physical.append((one.zone, one.dirty)),
            busy,
        )

    def _tell(self, use) -> None:
        channel = int(self.dut.spare_channel.value)
        self.told.append((use.zone, channel, use.die, use.plane, use.spare))
        self.told_at.append(clock_number())

    async def execute(self, action: RestoreAction, physical: int, **fields: int) -> int:
        """When it is not busy, as the zone manager does; gives the clock."""
        while self.dut.busy.value == 1:
            await RisingEdge(self.dut.clk)
        self.dut.command.value = pack(Command(CONFIG), action=action.value, physical=physical, **fields)
        self.dut.execute.value = 1
        await RisingEdge(self.dut.clk)
        self.dut.execute.value = 0
        self.dut.command.value = random.getrandbits(20)
        now = clock_number()
        await RisingEdge(self.dut.clk)
        return now


def place(channel: int, die: int, plane: int, spare: int) -> dict[str, int]:
    return {"sequence": channel | die << 8 | plane << 16, "generation": spare}


@cocotb.test()
async def tells_a_channel_of_its_spare(dut):
    bench = Bench(dut, busy=0.4)
    await reset(dut)
    expected, zones = [], []
    for _ in range(60):
        which = [random.randrange(n) for n in (G.channels, G.dies, G.planes, G.spare_blocks)]
        if random.random() < 0.3:
            zones.append((random.randrange(G.blocks), 1))
            await bench.execute(RestoreAction.PHYSICAL, zones[-1][0], **place(*which))
        else:
            expected.append((random.randrange(G.zones), *which))
            await bench.execute(RestoreAction.BLOCK, expected[-1][0], **place(*which))
    await cycles(dut, 50)
    assert bench.told == expected and bench.physical == zones
    assert dut.recovering.value == 1


@cocotb.test()
async def a_clock_after_the_command(dut):
    bench = Bench(dut)
    await reset(dut)
    await cycles(dut, 3)
    executed = await bench.execute(RestoreAction.BLOCK, 4, **place(3, 1, 2, 0))
    await cycles(dut, 3)
    assert bench.told == [(4, 3, 1, 2, 0)] and bench.told_at == [executed + 1]
    assert dut.busy.value == 0
