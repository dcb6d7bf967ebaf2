"""Any cycles at any times: none may hang a part, and the answers are the same in every simulator."""

import hashlib
import random
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

from flashtrain.sim.bench.parameters import bench_parameters
from tests.parts.sdr_host import NEVER_READY_NS, Geometry, Host

ACTIONS = bench_parameters()["actions"]
SIZES = {"full": Geometry(2048, 64, 8, 8), "plain": Geometry(512, 16, 6, 9)}
COMMANDS = [
    0x00, 0x05, 0x06, 0x10, 0x11, 0x15, 0x30, 0x31, 0x32, 0x35, 0x3F, 0x60, 0x70, 0x78, 0x80, 0x85, 0x90,
    0xD0, 0xD1, 0xE0, 0xEC, 0xED, 0xEE, 0xEF, 0xFF,
]  # fmt: skip
SEQUENCES = [
    (0x00, 5, 0x30), (0x00, 5, 0x31), (0x00, 5, 0x32), (0x00, 5, 0x35), (0x80, 5, 0x10), (0x80, 5, 0x15),
    (0x80, 5, 0x11), (0x60, 3, 0xD0), (0x60, 3, 0xD1), (0x05, 2, 0xE0), (0x06, 5, 0xE0), (0x85, 5, 0x10),
    (0xEF, 1, 0x70), (0x90, 1, 0x70), (0x31, 0, 0x31), (0xEC, 1, 0x70),
]  # fmt: skip


class Storm:
    """Random cycles, with a digest of what can be seen after each of them."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.dut = host.dut
        self.digest = hashlib.sha256()

    async def wait(self, most_ns: int) -> None:
        """Of some picoseconds, so that no edge of the host meets one of the part."""
        await Timer(random.randrange(1_000, 1_000 * most_ns), "ps")

    def look(self) -> None:
        names = ["rb_n", "oe", "violations", "violation", "misuses", "misuse", "ignored", "mode"]
        seen = [int(self.host.pin(name).value) for name in names] + [int(self.dut.io.value)]
        self.digest.update(repr(seen).encode())

    async def write(self, value: int, cle: int, ale: int) -> None:
        dut = self.dut
        dut.host_oe.value, dut.host_o.value, dut.cle.value, dut.ale.value = 1, value, cle, ale
        await self.wait(100)
        dut.we_n.value = 0
        await self.wait(100)
        dut.we_n.value = 1
        await self.wait(100)
        self.look()

    async def read(self) -> None:
        dut = self.dut
        dut.host_oe.value, dut.cle.value, dut.ale.value = 0, 0, 0
        await self.wait(100)
        for _ in range(random.randrange(1, 4)):
            dut.re_n.value = 0
            await self.wait(80)
            self.look()
            dut.re_n.value = 1
            await self.wait(80)
            self.look()

    async def sequence(self, first: int, addresses: int, last: int) -> None:
        await self.write(first, 1, 0)
        for number in range(addresses):
            await self.write(random.randrange(16 if number in (1, 2) else 4), 0, 1)
        if first in (0x80, 0x85, 0xEF):
            for _ in range(4):
                await self.write(random.randrange(8), 0, 0)
        await self.write(last, 1, 0)

    async def act(self) -> None:
        dut = self.dut
        action = random.randrange(40)
        if action < 12:
            await self.sequence(*random.choice(SEQUENCES))
        elif action < 16:
            await self.write(random.choice(COMMANDS), 1, 0)
        elif action < 18:
            await self.write(random.randrange(256), *random.choice([(1, 0), (0, 1), (0, 0), (1, 1)]))
        elif action < 26:
            await self.read()
        elif action < 33:
            await self.wait(20_000)
        elif action == 33:
            dut.wp_n.value = random.choice([0, 1, 1])
        elif action == 34:
            dut.fail_program.value, dut.fail_erase.value = random.choice([(0, 0), (0, 0), (1, 0), (0, 1)])
        elif action == 35:
            dut.wrong_bits.value = random.choice([0, 1000])
        elif action == 36:
            self.host.pin("ce_n").value = 1
            await self.wait(200)
            self.host.pin("ce_n").value = 0
        elif action == 37 and random.random() < 0.3:
            self.host.pin("power").value = 0
            await self.wait(1000)
            self.host.pin("power").value = 1
            await self.wait(20_000)
        elif action == 38:
            await self.write(0xFF, 1, 0)
            await self.wait(200_000)
        self.look()


@cocotb.test()
@cocotb.parametrize(part=list(SIZES))
async def storm(dut, part):
    host = Host(dut, part, SIZES[part])
    await host.power_on()
    storm = Storm(host)
    for _ in range(ACTIONS):
        await storm.act()
    # It still works.
    await Timer(NEVER_READY_NS, "ns")
    dut.wp_n.value, dut.fail_program.value, dut.fail_erase.value, dut.wrong_bits.value = 1, 0, 0, 0
    host.pin("ce_n").value = 0
    await Timer(1, "us")
    await host.reset()
    assert await host.erase(0) == 0xE0
    assert await host.program(0, 0, 0, b"after the storm") == 0xE0
    assert await host.read_page(0, 0, 0, 15) == b"after the storm"
    Path(f"{part}.digest").write_text(storm.digest.hexdigest(), encoding="ascii")
