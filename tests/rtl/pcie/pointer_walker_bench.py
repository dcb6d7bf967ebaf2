"""Random data pointers, right and wrong: the pieces and statuses of `flashtrain.nvme.pcie.prp` and `sgl`."""

import random
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.memory import Span, Unreachable
from flashtrain.nvme.pcie.prp import spans
from flashtrain.nvme.pcie.sgl import sgl_spans
from flashtrain.nvme.subsystem.io_commands import Refusal
from flashtrain.rtl.pcie.layouts import DataPointer, Piece
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.pcie import MAX_PAGE_EXPONENT, PAGE_BITS, PRP_BYTES, TlpSizes, most_blocks
from tests.nvme.pcie import sgl_lists
from tests.nvme.pcie.sgl_lists import DATA_BLOCK, LAST_SEGMENT, Sgl, blocks_of, descriptor
from tests.rtl.pcie.host_memory import TlpHost

POINTERS, MOST_BYTES = bench_parameters()["pointers"], bench_parameters()["most_bytes"]
TLP = TlpSizes()
MEMORY_BYTES = 8 << 20
LATENCY, LIST_LATENCY, PAGE_LATENCY, SEGMENT_LATENCY = 9, 11, 12, 11
"""Cycles from a command to its first piece; more with a list, each further page of it, and a segment.

Those of the port are among them; those of the memory and of the entries come on top.
"""
FAULTS = 5
POINTER, PIECE = DataPointer(MOST_BYTES), Piece()
Command = tuple[int, int, int, bool]
"""Two words of the data pointer, bytes, and whether it is an SGL."""


class Lists:
    """Makes data pointers whose lists lie behind each other in the memory, so that many can be under way."""

    def __init__(self, memory: bytearray, page: int):
        self.memory, self.page = memory, page
        self._at = 0

    def views(self, address: int, length: int) -> list[memoryview]:
        """The memory as the software sees it."""
        if address + length > len(self.memory):
            raise Unreachable(f"{address:#x}")
        return [memoryview(self.memory)[address : address + length]]

    def any_page(self) -> int:
        """The address of data, which the walker does not read."""
        return random.getrandbits(64 - PAGE_BITS - 4) * self.page

    def new_page(self) -> int:
        self._at = (self._at + self.page) % len(self.memory)
        return self._at

    def pointer(self, number: int) -> Command:
        """A data pointer; each kind of faults is among the first ones, and with a list."""
        page = self.page
        length = random.choice([random.randint(1, 3 * page), random.randint(1, min(20 * page, MOST_BYTES))])
        if random.random() < 0.03:
            length = random.randint(MOST_BYTES - page, MOST_BYTES)
        length = min(4 * page if number < FAULTS else length, MOST_BYTES)
        first = self.any_page() + random.choice([0, 4 * random.randrange(page // 4)])
        left = length - (page - first % page)
        if left <= page:
            second = self.any_page()
        else:
            second = self.write_list(-(-left // page))
        kind = number if number < FAULTS else random.randrange(3 * FAULTS)
        return *self.fault(kind, first, second, length), False

    def sgl(self, fault: str | None) -> Command:
        """An SGL, at times longer than the data."""
        length = 4 * random.choice([1, random.randint(1, 8192), random.randint(1, MOST_BYTES // 4)])
        most = most_blocks(MOST_BYTES)
        count = random.choice([10, most])
        blocks = blocks_of(random, length, count, self.block, max(32 << 10, length // count))
        found = Sgl(random, blocks, self.put_descriptor, self.place_of)
        if fault:
            found.spoil(fault, len(self.memory), most)
        elif random.random() < 0.2:  # a block far longer than the data
            last = found.segments[-1][-1]
            found.segments[-1][-1] = descriptor(DATA_BLOCK, last, 1 << random.randrange(22, 32))
        if random.random() < 0.2:
            length = max(4, length - 4 * random.randint(0, 2000))
        return *found.write(), length, True

    def block(self, size: int) -> int:
        """The address of a data block; some end with the last address."""
        return (1 << 64) - size if random.random() < 0.1 else 4 * random.getrandbits(60)

    def place_of(self, size: int) -> int:
        """Of a segment, anywhere in one page or several."""
        pages = size // self.page + 2
        if self._at + (pages + 1) * self.page > len(self.memory):
            self._at = 0
        begins = self.new_page()
        self._at += (pages - 1) * self.page
        return begins + 8 * random.randrange(self.page // 8)

    def put_descriptor(self, place: int, value: int) -> None:
        if place + 16 <= len(self.memory):
            self.memory[place : place + 16] = value.to_bytes(16, "little")

    def write_list(self, count: int) -> int:
        """Entries anywhere in a page, and on in others; data pages follow each other at times."""
        begins = self.new_page()
        room = random.choice([1, 2, random.randint(1, 40), self.page // PRP_BYTES])
        place = begins + self.page - room * PRP_BYTES
        start = place
        entry = self.any_page()
        while count:
            if place % self.page == self.page - PRP_BYTES and count > 1:
                following = self.new_page()
                if random.random() < 0.02:
                    following = place & -self.page  # back to itself
                self.put(place, following)
                place = following
                continue
            self.put(place, entry)
            entry = entry + self.page if random.random() < 0.5 else self.any_page()
            entry %= 1 << 60
            place += PRP_BYTES
            count -= 1
        return start

    def put(self, place: int, entry: int) -> None:
        self.memory[place : place + PRP_BYTES] = entry.to_bytes(PRP_BYTES, "little")

    def fault(self, kind: int, first: int, second: int, length: int) -> tuple[int, int, int]:
        """The pointer with a fault, in a third of the cases: not each of them has an effect."""
        match kind:
            case 0:
                return first | random.randrange(1, 4), second, length
            case 1:
                return first, second | 1 << random.randrange(PAGE_BITS), length
            case 2:
                return first, len(self.memory) + random.randrange(0, self.page, PRP_BYTES), length
            case 3 | 4:  # an entry of the list, or one that leads to its next page
                place = (
                    second + PRP_BYTES * random.randrange(20)
                    if random.random() < 0.5
                    else second | self.page - PRP_BYTES
                )
                if place + PRP_BYTES <= len(self.memory):
                    wrong = random.choice([1 << random.randrange(PAGE_BITS), len(self.memory)])
                    (view,) = self.views(place, PRP_BYTES)
                    self.put(place, int.from_bytes(view, "little") | wrong)
        return first, second, length


def merged(pieces: list[dict[str, int]]) -> list[Span]:
    """Pieces in spans that are as long as they can be, as the software gives them."""
    found: list[Span] = []
    for piece in pieces:
        if found and found[-1].address + found[-1].length == piece["address"]:
            found[-1] = Span(found[-1].address, found[-1].length + piece["length"])
        else:
            found.append(Span(piece["address"], piece["length"]))
    return found


@cocotb.test()
@cocotb.parametrize(
    (("exponent", "busy", "latency"), [(0, 1, 30), (0, 0.6, 5), (2, 0.8, 0), (MAX_PAGE_EXPONENT, 1, 50)])
)
async def pieces_are_those_of_the_software(dut, exponent, busy, latency):
    page = 1 << PAGE_BITS + exponent
    host = TlpHost(dut, MEMORY_BYTES, TLP, busy, latency)
    pointers, pieces = StreamSource(dut, "pointers", busy), StreamSink(dut, "pieces", busy)
    lists = Lists(host.memory, page)
    await start(dut, within=2_000_000, page_exponent=exponent)
    expected, reads, faults = [], set(), random.sample(sgl_lists.FAULTS, len(sgl_lists.FAULTS))
    seen, counted, done, under_way = 0, 0, 0, []
    for number in range(POINTERS):
        if number > FAULTS and number % 2:
            command = lists.sgl(faults.pop() if faults and number % 4 == 1 else None)
        else:
            command = lists.pointer(number)
        touched: list[tuple[int, int]] = []

        class Watched:
            def views(self, address: int, length: int, touched=touched) -> list[memoryview]:
                touched.append((address, length))
                return lists.views(address, length)

        *words, is_sgl = command
        try:
            answer = sgl_spans(Watched(), *words, MOST_BYTES) if is_sgl else spans(Watched(), *words, page)
        except Refusal as refusal:
            answer = int(refusal.status)
        if is_sgl:  # a whole segment
            touched += [(address, 2 * lists.page) for address, _ in touched]
        reads.update(
            place for address, length in touched for place in range(address, address + length, PRP_BYTES)
        )
        expected.append((command, answer))
        pointers.send(pack(POINTER, first=command[0], second=command[1], length=command[2], sgl=command[3]))
        # Lists stay as they are while their commands are under way.
        while number - done > 6:
            await pieces.wait_for(counted + 1)
            done += unpack(PIECE, pieces.items[counted])["last"]
            counted += 1
    for command, answer in expected:
        under_way.clear()
        while not under_way or not under_way[-1]["last"]:
            await pieces.wait_for(seen + 1)
            under_way.append(unpack(PIECE, pieces.items[seen]))
            seen += 1
        if isinstance(answer, int):
            assert [piece["status"] for piece in under_way] == [answer], f"{command}: expected {answer:#x}"
            continue
        assert not any(piece["status"] for piece in under_way), f"{command}: {under_way}"
        assert all(piece["sgl"] == command[3] for piece in under_way)
        if command[3]:
            assert [Span(piece["address"], piece["length"]) for piece in under_way] == answer, f"{command}"
            continue
        assert merged(under_way) == answer, f"{command}"
        for piece in under_way:
            assert piece["address"] % page + piece["length"] <= page and piece["length"]
    for _ in range(200):
        await RisingEdge(dut.clk)
    assert dut.idle.value == 1 and len(pieces.items) == seen
    for request in host.log:
        places = range(request["address"], request["address"] + 4 * request["length"], PRP_BYTES)
        assert reads.issuperset(places), f"{request} reads more than the list"
    kinds = {answer if isinstance(answer, int) else "list" for _, answer in expected}
    assert len(kinds) > 5, f"only {kinds}"


async def cycles_to_piece(dut) -> int:
    while dut.pointers__valid.value != 1:
        await RisingEdge(dut.clk)
    cycles = 0
    while dut.pieces__valid.value != 1:
        await RisingEdge(dut.clk)
        cycles += 1
    return cycles


@cocotb.test()
async def latencies_are_those_of_the_data_sheet(dut):
    latency = 40
    host = TlpHost(dut, MEMORY_BYTES, TLP, latency=latency)
    pointers, pieces = StreamSource(dut, "pointers"), StreamSink(dut, "pieces", 1)
    await start(dut, page_exponent=0)
    lists = Lists(host.memory, 4096)
    for count, chained in ((0, False), (1, False), (10, False), (100, False), (10, True)):
        second = 4096
        while count > 1:
            second = lists.write_list(count)
            room = (4096 - second % 4096) // PRP_BYTES
            if room == 1 if chained else room >= count:
                break
        before = len(pieces.items)
        pointers.send(pack(POINTER, first=0, second=second, length=4096 * (count + 1)))
        cycles = await cycles_to_piece(dut)
        expected = LATENCY
        if count > 1:
            expected += LIST_LATENCY + latency + count
        if chained:
            expected += PAGE_LATENCY + latency
        assert cycles == expected, (count, chained, cycles - expected)
        await pieces.wait_for(before + count + 1)
        taken = pieces.cycles[before:]
        assert all(second - first == 3 for first, second in pairwise(taken))
        for _ in range(20):
            await RisingEdge(dut.clk)
    for descriptors in (0, 1, 4):
        size, place = 512, 0x10_0000
        for number in range(descriptors):
            lists.put_descriptor(place + 16 * number, descriptor(DATA_BLOCK, 4096 * number, size))
        one = (
            descriptor(LAST_SEGMENT, place, 16 * descriptors)
            if descriptors
            else descriptor(DATA_BLOCK, 64, size)
        )
        first, second = one % (1 << 64), one >> 64
        before = len(pieces.items)
        pointers.send(pack(POINTER, first=first, second=second, length=size * max(descriptors, 1), sgl=1))
        cycles = await cycles_to_piece(dut)
        expected = LATENCY + (SEGMENT_LATENCY + latency + 2 * descriptors if descriptors else 0)
        assert cycles == expected, (descriptors, cycles - expected)
        await pieces.wait_for(before + max(descriptors, 1))
        for _ in range(20):
            await RisingEdge(dut.clk)
