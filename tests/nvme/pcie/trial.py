"""Random commands beside an oracle: each has a status that the standard allows, and no byte goes astray."""

import asyncio
import random
import struct

from flashtrain.nvme.wire.commands import AdminOpcode

from . import oracle
from .oracle import APPEND, READ, WRITE, Fault, Queues, Zones, data_addresses, sgl_addresses
from .root_complex import DATA, ENABLE, MEMORY_BYTES, Completion, RootComplex, entry
from .sgl_lists import FAULTS, Sgl, blocks_of

USED_ZONES = 3
FLUSH, MANAGE = 0x00, 0x79
RESET_ZONE = 4
ENTRIES = 16
LISTS = 0x18_0000
"""Where lists of PRPs are, in front of the data."""


def same(expected: bytes, memory: bytes) -> bool:
    """Whether two memories are equal. An `assert` of them would have pytest list all bytes for hours."""
    return expected == memory


class Trial:
    """Random commands to one function, one at a time, with all memory compared after each.

    queues: of I/O, at most. blocks: of a command, at most. posted: data go to the host as they do on PCI
    Express, so that nobody knows of those that have no memory there. transfer: bytes that SGLs are made for.
    """

    def __init__(
        self,
        host: RootComplex,
        seed: int,
        zones: Zones,
        queues: int,
        blocks: int,
        posted: bool = False,
        transfer: int = 0,
    ) -> None:
        self.host, self.random = host, random.Random(seed)
        self.zones, self.most_queues, self.most_blocks, self.posted = zones, queues, blocks, posted
        self.most_pieces = (transfer or blocks * zones.block) // 4096 + 1
        self.page = 4096
        self.statuses: dict[int, int] = {}

    async def enable(self) -> None:
        """Reset the controller, with another page size."""
        exponent = self.random.choice([0, 0, 0, 1, 2])
        self.page = 4096 << exponent
        await self.host.enable(configuration=ENABLE | exponent << 7)
        self.queues = Queues(self.most_queues, 1024, self.page)
        await self.host.create(1, ENTRIES)
        self.queues.completions.add(1)
        self.queues.submissions[1] = 1

    async def run(self, commands: int) -> None:
        await self.enable()
        kinds = [self.io] * 12 + [self.queue] * 4 + [self.identify] * 2 + [self.unknown]
        for _ in range(commands):
            if self.random.random() < 0.02:
                await self.interrupted()
            await self.random.choice(kinds)()

    async def check(
        self, queue: int, one: bytes, allowed: set[int], data: bytes = b"", pieces=()
    ) -> Completion:
        """Execute a command. Memory changes where its completion and, after success, its data belong."""
        host, memory = self.host, self.host.memory.bytes
        pair = host.pairs[queue]
        place = pair.submissions + 64 * pair.tail
        expected = bytearray(memory)
        expected[place : place + 64] = one
        entry_place = pair.completions + 16 * pair.head
        answer = await host.execute(queue, one)
        assert answer.status in allowed, f"{answer} of {one.hex()}; expected {[hex(x) for x in allowed]}"
        assert (answer.queue, answer.head, answer.cid) == (queue, pair.tail, one[2] | one[3] << 8)
        expected[entry_place : entry_place + 16] = memory[entry_place : entry_place + 16]
        if answer.status == 0:
            start = 0
            for address, size in pieces:
                if address < len(expected):  # else it was posted to where no memory is
                    expected[address : address + size] = data[start : start + size]
                start += size
        assert same(expected, memory), f"stray bytes after {one.hex()}"
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        return answer

    # Data pointers.

    def pointer(self, length: int) -> tuple[int, int]:
        """PRPs for data of a length, right ones or with a fault, and their lists in memory."""
        r, page = self.random, self.page
        offset = r.choice([0, 0, r.randrange(0, page, 4)])
        pages = list(range(DATA, MEMORY_BYTES - page, page))
        count = -(-(length + offset) // page)
        chosen = r.sample(pages, count) if r.random() < 0.6 else pages[:count]
        prp1, rest = chosen[0] + offset, chosen[1:]
        prp2 = r.choice([0, rest[0] if rest else r.randrange(1 << 64)]) if len(rest) < 2 else 0
        if len(rest) == 1:
            prp2 = rest[0]
        elif len(rest) > 1:
            prp2 = self.list_of(rest)
        fault = r.random()
        if fault < 0.05:
            prp1 += r.choice([1, 2, 3, MEMORY_BYTES])
        elif fault < 0.12:
            prp2 ^= r.choice([1, 4, 8, 0x200, 1 << 40])
        elif fault < 0.2 and len(rest) > 1:
            place = prp2 + 8 * r.randrange(len(rest))
            if place + 8 <= MEMORY_BYTES:
                wrong = r.choice([r.randrange(1 << 64), prp2 & -page, rest[0] + 8, 1 << 63])
                self.host.memory.bytes[place : place + 8] = struct.pack("<Q", wrong)
        return prp1, prp2

    def sgl(self, length: int) -> tuple[int, int]:
        """The words of an SGL, right, with a fault, or longer than the data. Its blocks do not overlap."""
        r, most = self.random, self.most_pieces
        at, segment = DATA, LISTS + r.randrange(0, 4096, 8)

        def place(size: int) -> int:
            nonlocal at
            address = at + 4 * r.randrange(200)
            at = address + size
            return address

        def segment_place(size: int) -> int:
            nonlocal segment
            segment += size + 8 * r.randrange(100)
            return segment - size

        def put(where: int, one: int) -> None:
            self.host.memory.bytes[where : where + 16] = one.to_bytes(16, "little")

        longer = 4 * r.randrange(3000) if r.random() < 0.1 else 0
        count = r.choice([1, 5, most])
        blocks = blocks_of(r, length + longer, count, place, max(32 << 10, length + longer))
        if not longer:
            r.shuffle(blocks)
        found = Sgl(r, blocks, put, segment_place)
        if r.random() < 0.3:
            found.spoil(r.choice(FAULTS), MEMORY_BYTES, most)
        return found.write()

    def list_of(self, pages: list[int]) -> int:
        """Write a list that begins anywhere in a page, and goes on in others."""
        r, page = self.random, self.page
        free = list(range(LISTS, DATA, page))
        r.shuffle(free)
        first = place = free.pop() + r.choice([0, page - 8, page - 16, r.randrange(0, page, 8)])
        for number, address in enumerate(pages):
            if place % page == page - 8 and number + 1 < len(pages):
                following = free.pop()
                self.host.memory.bytes[place : place + 8] = struct.pack("<Q", following)
                place = following
            self.host.memory.bytes[place : place + 8] = struct.pack("<Q", address)
            place += 8
        return first

    # Kinds of commands.

    async def io(self) -> None:
        """A read, a write, an append, a flush, or a reset of a zone."""
        r = self.random
        opcode = r.choice([READ] * 6 + [WRITE] * 5 + [APPEND] * 3 + [FLUSH, MANAGE])
        zone = r.randrange(USED_ZONES)
        most = self.most_blocks
        blocks = r.choice([1, 1, 2, 3, r.randint(1, min(32, most)), r.randint(1, most)])
        lba = self.place(opcode, zone)
        cid, nsid = r.randrange(1 << 16), 1 if r.random() < 0.97 else r.choice([2, 77, 0])
        if opcode == FLUSH:
            one = entry(opcode, cid, nsid)
            await self.check(1, one, {0} if nsid == 1 else {oracle.INVALID_NAMESPACE, oracle.INVALID_FIELD})
            return
        if opcode == MANAGE:
            await self.reset(zone)
            return
        length, flags = blocks * self.zones.block, r.choice([0] * 30 + [0x40] * 20 + [0x80] * 2 + [0xC0])
        prp1, prp2 = self.sgl(length) if flags else self.pointer(length)
        one = entry(opcode, cid, nsid, prp1, prp2, (lba & 0xFFFF_FFFF, lba >> 32, blocks - 1), flags)
        allowed: set[int] = set()
        if flags == 0xC0:
            allowed.add(oracle.INVALID_FIELD)
        if nsid != 1:
            allowed |= {oracle.INVALID_NAMESPACE, oracle.INVALID_FIELD}
        memory, pieces = self.host.memory.bytes, []
        try:
            posted = self.posted and opcode == READ
            if flags:
                words, most = struct.pack("<QQ", prp1, prp2), self.most_pieces
                pieces = sgl_addresses(memory, words, length, most, 2 * most, posted)
            else:
                pieces = data_addresses(memory, prp1, prp2, length, self.page, posted)
        except Fault as fault:
            allowed.add(fault.status)
            if not flags:
                allowed |= {oracle.DATA_TRANSFER_ERROR, oracle.INVALID_PRP_OFFSET}
        if allowed:
            allowed |= self.zones.refusals(lba, blocks, opcode)
            answer = await self.check(1, one, allowed)
            if answer.status == oracle.DATA_TRANSFER_ERROR and opcode != READ:
                await self.reset(zone)  # its blocks are indeterminate, and the write pointer with them
        elif opcode == READ:
            statuses, data = self.zones.read(lba, blocks)
            await self.check(1, one, statuses, data, pieces)
        else:
            data = b"".join(memory[address : address + size] for address, size in pieces)
            statuses, result = self.zones.write(lba, data, opcode)
            found = await self.check(1, one, statuses)
            assert statuses != {0} or found.result == result, f"{one.hex()}: {found}, not {result:#x}"

    async def reset(self, zone: int) -> None:
        self.zones.reset(zone)
        words = (zone * self.zones.size, 0, 0, RESET_ZONE)
        await self.check(1, entry(MANAGE, self.random.randrange(1 << 16), 1, dwords=words), {0})

    def place(self, opcode: int, zone: int) -> int:
        r, start = self.random, zone * self.zones.size
        pointer = self.zones.pointers.get(zone, 0)
        if r.random() < 0.05:
            return r.choice([self.zones.end - 1, 1 << 40, start + self.zones.size - 1])
        if opcode == READ:
            return start + max(0, r.randrange(max(pointer, 1)) - r.choice([0, 5]))
        if opcode == APPEND:
            return start + r.choice([0] * 15 + [3])
        return start + pointer + (r.choice([1, -1]) if pointer and r.random() < 0.1 else 0)

    async def queue(self) -> None:
        """Queues are made and deleted, with right and wrong fields. Queue 1 stays for I/O commands."""
        r, q = self.random, self.queues
        number = r.choice([2, 2, 3, 4, 0, 1, self.most_queues + 1, 0xFFFF])
        entries = r.choice([2, 16, 1024, 1, 1025, 0x10000]) if r.random() < 0.5 else 16
        base = 0x10_0000 + r.randrange(8) * 0x1_0000
        base += 0 if r.random() < 0.8 else r.choice([8, 0x200])
        flags = 1 if r.random() < 0.8 else r.choice([0, 2])
        match r.choice(
            [AdminOpcode.CREATE_CQ, AdminOpcode.CREATE_SQ, AdminOpcode.DELETE_CQ, AdminOpcode.DELETE_SQ]
        ):
            case AdminOpcode.CREATE_CQ as opcode:
                vector = r.choice([0, self.most_queues, self.most_queues + 1])
                allowed = q.create_completions(number, entries, base, flags, vector)
                words = ((entries - 1) << 16 | number, flags | vector << 16)
            case AdminOpcode.CREATE_SQ as opcode:
                chosen = r.choice([1, 2, 3, 4, 0, 9])
                allowed = q.create_submissions(number, entries, base, flags, chosen)
                words = ((entries - 1) << 16 | number, flags | chosen << 16)
            case AdminOpcode.DELETE_CQ as opcode:
                allowed, words = q.delete_completions(number), (number,)
            case opcode:
                number = 2 if number == 1 else number
                allowed, words = q.delete_submissions(number), (number,)
        await self.check(0, entry(opcode, r.randrange(1 << 16), prp1=base, dwords=words), allowed)

    async def identify(self) -> None:
        """Identify moves 4,096 bytes to any place; its content is that of another Identify."""
        r = self.random
        structure = r.choice([1, 2, 0x13])
        prp1, prp2 = self.pointer(4096)
        memory = self.host.memory.bytes
        before = bytes(memory[DATA : DATA + 4096])
        assert (await self.host.execute(0, entry(6, 9, prp1=DATA, dwords=(structure,)))).status == 0
        content = bytes(memory[DATA : DATA + 4096])
        memory[DATA : DATA + 4096] = before
        try:
            pieces = data_addresses(memory, prp1, prp2, 4096, self.page, self.posted)
            allowed = {0}
        except Fault as fault:
            pieces, allowed = [], {fault.status, oracle.DATA_TRANSFER_ERROR}
        one = entry(6, r.randrange(1 << 16), prp1=prp1, prp2=prp2, dwords=(structure,))
        await self.check(0, one, allowed, content, pieces)

    async def unknown(self) -> None:
        """Commands that there are not, with anything else in them."""
        r = self.random
        queue, opcodes = r.choice(
            [(0, [0x0D, 0x10, 0x18, 0x7F, 0x84, 0xC0]), (1, [0x05, 0x08, 0x19, 0x80, 0xFF])]
        )
        raw = bytearray(r.randbytes(64))
        raw[0], raw[1] = r.choice(opcodes), 0
        await self.check(queue, bytes(raw), {oracle.INVALID_OPCODE})

    async def interrupted(self) -> None:
        """Reset the controller with commands under way: from the end of CSTS.RDY on nothing is written."""
        host, r = self.host, self.random
        block, count = self.zones.block, r.randrange(1, ENTRIES)
        reads = [entry(READ, cid, 1, DATA + cid * block, 0, (cid, 0, 0)) for cid in range(count)]
        host.memory.bytes[DATA : DATA + ENTRIES * block] = r.randbytes(ENTRIES * block)
        host.submit(1, *reads)
        for _ in range(r.randrange(4)):
            await asyncio.sleep(0)
        if r.random() < 0.5:
            await host.disable()
        else:
            host.function.configuration.write(0x69, 0x80, 1)  # FLR
        after = bytes(host.memory.bytes)
        for _ in range(20):
            await asyncio.sleep(0)
        assert same(after, host.memory.bytes), "bytes were written after a reset"
        await self.enable()
