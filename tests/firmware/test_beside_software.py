"""Random admin commands to the firmware and to the function in software: the same answers, the same bytes.

`pytest tests/firmware --seed N` repeats a run, `--long COMMANDS` makes it longer.
"""

import asyncio
import random
from collections import Counter
from ctypes import CDLL

from flashtrain.firmware import firmware_tables
from flashtrain.host import Device, open_device
from flashtrain.nvme.subsystem.features import Feature
from flashtrain.nvme.subsystem.namespaces import MOST_TRANSFER_BYTES
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.spec.host_commands import EVERY_NAMESPACE
from flashtrain.spec.streams import NODES
from tests.nvme.conformance.admin_trials import AdminTrials
from tests.nvme.conformance.shape import Shape
from tests.nvme.pcie.root_complex import (
    DATA,
    DOORBELLS,
    ENABLE,
    MEMORY_BYTES,
    Completion,
    Memory,
    RootComplex,
    attached,
    entry,
)

from .front_end import FirmwareFunction

COMMANDS = 400
QUEUES, ENTRIES, SERIAL = 4, 64, "beside"
NODE = NODES["objects"]
LISTS = 0x18_0000
SLOTS = 64
_CHANGED = (
    Feature.ASYNC_EVENTS, Feature.INTERRUPT_VECTOR, Feature.INTERRUPT_COALESCING, Feature.ERROR_RECOVERY,
    Feature.QUEUES,
)  # fmt: skip
_QUEUE_OPCODES = (
    *2 * [AdminOpcode.CREATE_CQ, AdminOpcode.CREATE_SQ], AdminOpcode.DELETE_CQ, AdminOpcode.DELETE_SQ,
)  # fmt: skip


def tables(config):
    settings = SubsystemSettings(queues=QUEUES, entries=ENTRIES)
    return firmware_tables(config, NODE, SLOTS, MOST_TRANSFER_BYTES, settings, SERIAL)


class Beside:
    """Two hosts that send the same commands: to the software, and to the firmware."""

    changed: tuple[Feature, ...] = _CHANGED

    def __init__(
        self, software: RootComplex, firmware: RootComplex, device: Device, chance: random.Random
    ) -> None:
        self.software, self.firmware = software, firmware
        self.hosts = (self.software, self.firmware)
        self.chance, self.statuses, self.cid = chance, Counter(), 0
        g, zones = device.config.geometry, device.node.zones(device.config.geometry.zones)
        shape = Shape(
            {stream.nsid: len(zones[stream.nsid]) for stream in NODE.streams if stream.nsid < 3},
            g.zone_size, g.zone_capacity, g.page_bytes, 1, 1, 4,
        )  # fmt: skip
        self.trials = AdminTrials(chance, shape)
        self.page = 4096
        self.put(LISTS, chance.randbytes(MEMORY_BYTES - LISTS))

    async def enable(self) -> None:
        exponent = self.chance.choice([0, 0, 1, 2])
        self.page = 4096 << exponent
        for host in self.hosts:
            if host.read(0x1C) & 1:
                await host.disable()
            await host.enable(16, ENABLE | exponent << 7)

    async def rest(self) -> None:
        """Until the firmware has done all. The model has no time."""

    async def completions(self, what: str) -> list[Completion]:
        """The completions of both hosts, which are the same but for the head of the submission queue."""
        await self.rest()
        expected = [one._replace(head=0) for one in self.firmware.poll(0)]
        found: list[Completion] = []
        for turn in range(40):
            found += [one._replace(head=0) for one in self.software.poll(0)]
            await asyncio.sleep(0)
            if len(found) >= len(expected) and turn > 8:
                break
        assert expected == found, f"the firmware, and the software, have answered {what}"
        start = slice(LISTS, None)
        same = self.software.memory.bytes[start] == self.firmware.memory.bytes[start]
        assert same, f"memory differs behind {what}"
        for one in found:
            self.statuses[one.status] += 1
        return found

    def put(self, address: int, data: bytes) -> None:
        for host in self.hosts:
            host.memory.bytes[address : address + len(data)] = data

    async def submit(self, one: bytes, what: str) -> list[Completion]:
        for host in self.hosts:
            host.submit(0, one)
        return await self.completions(what)

    def pointers(self, length: int) -> tuple[int, int]:
        """Two PRPs for so many bytes, a tenth of them wrong."""
        chance, page = self.chance, self.page
        pages = list(range(DATA, MEMORY_BYTES, page))
        chance.shuffle(pages)
        first = pages.pop() + chance.choice([0, 0, 4 * chance.randrange(page // 4)])
        left = length - min(length, page - first % page)
        count = -(-left // page)
        if chance.random() < 0.05:
            first |= 2
        listed = [pages.pop() for _ in range(count)]
        if listed and chance.random() < 0.1:
            listed[chance.randrange(count)] += 8 * chance.randrange(1, page // 8)
        if count < 2:
            return first, listed[0] if listed else chance.getrandbits(64)
        # Lists near the end of their page go on in another one.
        room = chance.choice([1, 2, 3, 4, page // 8])
        place = (LISTS - LISTS % page) + page - 8 * room
        begin = place
        entries = list(listed)
        while len(entries) > room:
            following = place - place % page + page
            taken, entries = entries[: room - 1], entries[room - 1 :]
            self._put_list(place, [*taken, following + (8 if chance.random() < 0.05 else 0)])
            place, room = following, page // 8
        self._put_list(place, entries)
        if chance.random() < 0.1:
            begin = chance.choice([begin + 4, MEMORY_BYTES + 8 * chance.randrange(100)])
        return first, begin

    def _put_list(self, place: int, entries: list[int]) -> None:
        self.put(place, b"".join(one.to_bytes(8, "little") for one in entries))

    def command(self) -> tuple[bytes, str]:
        chance = self.chance
        self.cid = (self.cid + 1) % 0x10000
        cid = self.cid if chance.random() < 0.93 else (self.cid - chance.randrange(30)) % 0x10000
        flags = 0 if chance.random() < 0.96 else chance.choice([1, 2, 3, 0x40, 0x80, chance.randrange(256)])
        if chance.random() < 0.35:
            opcode, number = chance.choice(_QUEUE_OPCODES), chance.randint(1, 2)
            size, base, word = 15, 0x4_0000 + 0x1_0000 * number, 1 | number << 16
            match chance.randrange(8):
                case 0:
                    number = chance.choice([*range(QUEUES + 2), 70, 0xFFFF])
                case 1:
                    size = chance.choice([63, 64, 0, 0xFFFF])
                case 2:
                    base += chance.choice([8, 0x1000, 0x2000])
                case 3:
                    word = chance.choice([0, 1, 3]) | chance.choice([*range(QUEUES + 2), 500]) << 16
            one = entry(opcode, cid, 0, base, 0, (size << 16 | number, word), flags)
            return one, f"{opcode.name} of {number}, {size + 1} entries, {word:#x}, base {base:#x}"
        if chance.random() < 0.2:
            opcode = chance.choice([AdminOpcode.SET_FEATURES, AdminOpcode.GET_FEATURES])
            code, nsid = chance.choice(self.changed), chance.choice([0, 0, 1, 2, 3, EVERY_NAMESPACE])
            value = chance.choice([chance.getrandbits(32), chance.randrange(QUEUES + 2) | 1 << 16])
            one = entry(opcode, cid, nsid, dwords=(code, value), flags=flags)
            return one, f"{opcode.name} of {code.name}, {value:#x}, nsid {nsid:#x}"
        if chance.random() < 0.15:
            return entry(AdminOpcode.ASYNC_EVENT_REQUEST, cid, flags=flags), "an event request"
        trial = self.trials.next()
        found = trial.entry
        length = min(trial.length, 64 << 10)
        if found.opcode == AdminOpcode.GET_LOG_PAGE and chance.random() < 0.3:
            length = 4 * chance.randint(1, 16 << 10)
            found = found._replace(dword_10=found.dword_10 & 0xFFFF | (length // 4 - 1) << 16)
        rae = chance.randrange(2) << 15 if found.opcode == AdminOpcode.GET_LOG_PAGE else 0
        cntid = chance.choice([0, 1, 2]) << 16 if found.opcode == AdminOpcode.IDENTIFY else 0
        dwords = (found.dword_10 | rae | cntid, *found[-5:])
        first, second = self.pointers(length)
        return entry(found.opcode, cid, found.nsid, first, second, dwords, flags), str(trial)

    async def step(self) -> None:
        chance = self.chance
        if chance.random() < 0.01:
            await self.enable()
        if chance.random() < 0.1:
            number, value = chance.choice([(2 * 9, 1), (2 * 9 + 1, 0), (0, 500), (1, 500)])
            for host in self.hosts:
                host.write(DOORBELLS + 4 * number, value)
            await self.completions(f"the value {value} of doorbell {number}")
        await self.submit(*self.command())


def before_a_model(device: Device, library: CDLL | None = None) -> RootComplex:
    """A host of the firmware before the model of its front end."""
    memory = Memory()
    return RootComplex(FirmwareFunction(memory, tables(device.config), library), memory, [])


def test_random_commands(seed, request):
    async def run() -> Counter:
        with open_device("tiny", "functional", NODE) as device:
            async with attached(device, queues=QUEUES, entries=ENTRIES, serial=SERIAL) as host:
                beside = Beside(host, before_a_model(device), device, random.Random(seed))
                await beside.enable()
                for _ in range(max(COMMANDS, request.config.getoption("--long"))):
                    await beside.step()
                return beside.statuses

    statuses = asyncio.run(run())
    assert len(statuses) >= 12, statuses
