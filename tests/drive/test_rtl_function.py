"""The drive in RTL, with its firmware, before a host whose memory is bytes of this process."""

import asyncio
import random
import struct

import pytest

from flashtrain.host.errors import DeviceHang
from flashtrain.nvme.subsystem.features import Feature
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.spec import Opcode, Status, ZoneAction
from tests.nvme.pcie.root_complex import (
    DATA,
    MSIX_CONTROL,
    MSIX_ENABLE,
    TABLE,
    RootComplex,
    entry,
)

from .drive_host import SIZES, TINY, host_of

G = TINY.geometry
BLOCK, PAGE, SECONDS = G.page_bytes, 4096, 60.0
MESSAGES = 0xFEE0_0000
COMMANDS = 40


@pytest.fixture
def link():
    link = PcieLink(TINY, SIZES, memory_bytes=4096)
    yield link
    link.close()


async def at_rest(host: RootComplex) -> None:
    """Until the drive is idle: no cycle passes any more."""
    cycles = -1
    while cycles != host.function.cycles:
        cycles = host.function.cycles
        for _ in range(20):
            await asyncio.sleep(0)


class Disk:
    """Commands to namespace 1, and what the host's memory is to be after each."""

    def __init__(self, host: RootComplex, chance: random.Random) -> None:
        self.host, self.chance = host, chance
        self.written: dict[int, list[bytes]] = {}
        self.cid = 0

    async def command(self, opcode: int, lba: int, blocks: int, prps=(0, 0), action: int = 0):
        self.cid += 1
        flags = 0x40 if prps[1] >> 56 == 0x30 else 0
        words = (lba & 0xFFFF_FFFF, lba >> 32, max(blocks - 1, 0), action)
        return await self.host.execute(1, entry(opcode, self.cid, 1, *prps, dwords=words, flags=flags))

    async def any_command(self) -> None:
        """An append, or a read of written and unwritten blocks, to pages anywhere; the memory is compared."""
        memory, chance = self.host.memory.bytes, self.chance
        zone, blocks = chance.randrange(3), chance.randint(1, 16)
        pages = chance.sample(range(DATA, DATA + 64 * PAGE, PAGE), 3)
        offset = 4 * chance.randrange(PAGE // 4)
        room = [(pages[0] + offset, PAGE - offset), (pages[1], PAGE), (pages[2], PAGE)]
        size = blocks * BLOCK
        spans, left = [], size
        for address, length in room:
            if left:
                spans.append((address, min(length, left)))
                left -= spans[-1][1]
        prps = pages[0] + offset, pages[1]
        if len(spans) == 3:
            memory[DATA - PAGE : DATA - PAGE + 16] = b"".join(one.to_bytes(8, "little") for one in pages[1:])
            prps = pages[0] + offset, DATA - PAGE
        if chance.random() < 0.5:  # the same data, cut anywhere
            parts = []
            for address, length in spans:
                cut = 4 * chance.randrange(length // 4)
                parts += [(address, cut), (address + cut, length - cut)]
            spans = parts
            segment = b"".join(struct.pack("<QQ", *part) for part in parts)
            memory[DATA - PAGE : DATA - PAGE + len(segment)] = segment
            prps = DATA - PAGE, len(segment) | 0x30 << 56
        held = self.written.setdefault(zone, [])
        start = zone * G.zone_size
        before = bytes(memory[DATA:])
        expected = bytearray(before)
        if chance.random() < 0.4 and len(held) + blocks <= G.zone_capacity:
            data = b"".join(before[address - DATA : address - DATA + length] for address, length in spans)
            answer = await self.command(Opcode.ZONE_APPEND, start, blocks, prps)
            assert (answer.status, answer.result) == (0, start + len(held))
            held += [data[at : at + BLOCK] for at in range(0, size, BLOCK)]
        else:
            first = chance.randint(0, G.zone_capacity - blocks)
            answer = await self.command(Opcode.READ, start + first, blocks, prps)
            assert answer.status == 0
            found = [held[n] if n < len(held) else bytes(BLOCK) for n in range(first, first + blocks)]
            data, at = b"".join(found), 0
            for address, length in spans:
                expected[address - DATA : address - DATA + length] = data[at : at + length]
                at += length
        assert memory[DATA:] == expected, f"{answer}"


async def begin(host: RootComplex) -> None:
    await host.enable()
    for vector in range(2):
        for dword, value in enumerate((MESSAGES + 0x1000 * vector, 0, vector, 0)):
            host.write(TABLE + 16 * vector + 4 * dword, value)
    host.function.configuration.write(MSIX_CONTROL, MSIX_ENABLE, 2)
    await host.create(1, 64, vector=1)


def test_a_host_has_its_data_back_through_resets(link, seed):
    """Random commands, a reset of the controller and one of the function; idle, the drive takes no cycle."""

    async def run() -> None:
        async with host_of(link) as host:
            disk = Disk(host, random.Random(seed))
            host.memory.bytes[DATA:] = disk.chance.randbytes(len(host.memory.bytes) - DATA)
            for ends in ("controller", "function", None):
                await begin(host)
                host.memory.messages.clear()
                for _ in range(COMMANDS // 2):
                    await disk.any_command()
                await at_rest(host)
                assert set(host.memory.messages) == {(MESSAGES + 0x1000, 1)}
                if ends == "controller":
                    await host.disable()
                elif ends == "function":
                    host.function.reset_controller()
            for zone in disk.written:
                answer = await disk.command(
                    Opcode.ZONE_MANAGEMENT_SEND, zone * G.zone_size, 1, action=ZoneAction.RESET
                )
                assert answer.status == 0
            log = host.function.log
            assert log.io.commands == 3 * (COMMANDS // 2) + len(disk.written) and not log.refusals.count
            assert log.sgls > 5 and log.reads.mean > 1000 and log.admin.commands >= 6

    asyncio.run(asyncio.wait_for(run(), SECONDS))


def test_nothing_goes_to_a_host_that_has_reset_the_function(link, seed):
    """Commands are under way at the reset: no byte, no message; and no memory without the right to it."""

    async def run() -> None:
        async with host_of(link) as host:
            await begin(host)
            reads = [entry(Opcode.READ, cid, 1, DATA + PAGE * cid, dwords=(0, 0, 7)) for cid in range(8)]
            host.memory.bytes[DATA : DATA + 8 * PAGE] = b"\xa5" * 8 * PAGE
            host.memory.messages.clear()
            host.submit(1, *reads)
            host.function.reset_controller()
            before = bytes(host.memory.bytes)
            await at_rest(host)
            assert host.memory.bytes == before and not host.memory.messages
            assert host.read(0x14) == host.read(0x1C) == host.read(0x24) == 0
            assert host.read(TABLE + 12) == 1
            # A submission queue that the function may not read is a fatal error.
            await begin(host)
            host.function.configuration.write(0x04, 0x2, 2)
            host.submit(1, reads[0])
            await host.until(lambda: host.read(0x1C) & 2, "CSTS.CFS")
            assert host.memory.bytes[DATA : DATA + PAGE] == b"\xa5" * PAGE

    asyncio.run(asyncio.wait_for(run(), SECONDS))


def test_an_error_of_the_simulation_is_reported_once(link, monkeypatch):
    """The host reads ones from then on, as of a function that is gone."""

    def serve(most: int, quiet: int) -> None:
        raise DeviceHang("a planted error")

    async def run() -> None:
        async with host_of(link, expected=["a planted error"]) as host:
            await begin(host)
            monkeypatch.setattr(link, "serve", serve)
            host.submit(1, entry(Opcode.FLUSH, 1, 1))
            await host.until(lambda: host.read(0x1C) == 0xFFFF_FFFF, "ones")
            host.write(0x14, 0)
            host.function.reset()
            assert host.read(0, 8) == 0xFFFF_FFFF_FFFF_FFFF

    asyncio.run(asyncio.wait_for(run(), SECONDS))


def test_refusals_are_counted(link):
    async def run() -> None:
        async with host_of(link) as host:
            await begin(host)
            beyond = entry(Opcode.READ, 1, 1, DATA, dwords=(0, 1, 0))
            for _ in range(2):
                assert (await host.execute(1, beyond)).status == Status.LBA_OUT_OF_RANGE
            identify = await host.execute(0, entry(AdminOpcode.IDENTIFY, 2, 0, DATA, dwords=(1,)))
            assert identify.status == 0 and host.memory.bytes[DATA + 4 : DATA + 20] == b"0123456789abcdef"
            await at_rest(host)
            refusals = host.function.log.refusals
            assert (refusals.count, refusals.repeated) == (2, 1)

    asyncio.run(asyncio.wait_for(run(), SECONDS))


def test_an_interrupt_that_waits_is_sent_in_the_end(link):
    """The drive is not at rest before, though it has nothing else to do."""

    async def run() -> None:
        async with host_of(link) as host:
            await begin(host)
            chosen = entry(AdminOpcode.SET_FEATURES, 3, dwords=(Feature.INTERRUPT_COALESCING, 1 << 8 | 9))
            assert (await host.execute(0, chosen)).status == 0
            await at_rest(host)
            host.memory.messages.clear()
            await host.execute(1, entry(Opcode.READ, 1, 1, DATA, dwords=(0, 0, 0)))
            assert not host.memory.messages
            await at_rest(host)
            assert host.memory.messages == [(MESSAGES + 0x1000, 1)]

    asyncio.run(asyncio.wait_for(run(), SECONDS))
