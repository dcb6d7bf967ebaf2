"""Random bursts of a controller, to and from random pages: bytes are where the pieces say, and only there."""

import random
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout, write_beat_layout
from flashtrain.rtl.pcie.layouts import BlockRun, Message, Piece
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import Status, preset
from flashtrain.spec.nvme import ZoneDescriptor
from flashtrain.spec.pcie import INVALID_PRP_OFFSET, REQUEST_BYTES, TlpSizes, most_blocks
from tests.nvme.pcie.sgl_lists import blocks_of
from tests.rtl.pcie.host_memory import TlpHost

PARAMETERS = bench_parameters()
BURSTS, SLOTS, MOST_BYTES = (PARAMETERS[name] for name in ("bursts", "slots", "most_bytes"))
CONFIG = preset(PARAMETERS["preset"])
WIDE = CONFIG.data_bytes
TLP, MEMORY_BYTES, WHOLE = TlpSizes(PARAMETERS["port_bytes"], PARAMETERS["tags"]), 1 << 20, REQUEST_BYTES
WIDTH = TLP.port_bytes
REPORT_BYTES, BLOCK_BYTES = 64, CONFIG.geometry.page_bytes
ZERO_BURST_BYTES = min(BLOCK_BYTES, 2048)
RUN = BlockRun(SLOTS, MOST_BYTES, BLOCK_BYTES)
MESSAGES = 0xFEE0_0000
ADDRESS, PIECE, MESSAGE = burst_layout(CONFIG.address_bits), Piece(), Message()
READ_BEAT, WRITE_BEATS = read_beat_layout(8 * WIDE), {w: write_beat_layout(8 * w) for w in (WIDE, 8)}
READ_LATENCY, WRITE_LATENCY, BEAT_LATENCY = 10, 15, 8
"""From a burst to its first request, and from a request to its first beat of a row, ports included.

The cycles of the memory come on top, and one for each further row of a beat.
"""


@dataclass
class Command:
    """A command in a slot: the address of each of its dwords."""

    slot: int
    length: int
    dwords: list[int] = field(default_factory=list)

    def bytes_of(self, offset: int, length: int) -> list[int]:
        """Addresses of dwords."""
        return self.dwords[offset // 4 : (offset + length) // 4]

    def requests(self, offset: int, length: int) -> int:
        """Requests of a burst: one for each 128 bytes of a page."""
        places = self.bytes_of(offset, length)
        return len({address // WHOLE for address in places})


class Bench:
    """Controller and host. `takes`: the chance of a cycle in which the controller takes a beat."""

    def __init__(self, dut, exponent: int, busy: float = 1, latency: int = 0, takes: float = 1):
        self.dut, self.busy, self.page = dut, busy, 4096 << exponent
        # Anywhere: no bit of an address may be lost.
        base = random.getrandbits(63) // MEMORY_BYTES * MEMORY_BYTES
        self.host = TlpHost(dut, MEMORY_BYTES, TLP, busy, latency, dwords=True, base=base)
        self.host.memory[:] = random.randbytes(MEMORY_BYTES)
        self.expected = bytearray(self.host.memory)
        self.exponent = exponent
        self.places, self.pieces = StreamSource(dut, "places", busy), StreamSource(dut, "pieces", busy)
        self.pointed = StreamSink(dut, "pointed", busy)
        self.asks, self.beats = StreamSource(dut, "reads__ar", busy), StreamSink(dut, "reads__r", takes)
        self.writers = {
            name: (
                StreamSource(dut, f"{name}__aw", busy), StreamSource(dut, f"{name}__w", busy),
                StreamSink(dut, f"{name}__b", busy),
            )
            for name in ("writes", "reports")
        }  # fmt: skip
        self.zeros, self.zeroed = StreamSource(dut, "zeros", busy), StreamSink(dut, "zeroed", busy)
        self.free = list(range(0, MEMORY_BYTES, self.page))
        random.shuffle(self.free)
        self.commands: dict[int, Command] = {}
        self.statuses: list[int] = []
        self.messages = StreamSource(dut, "messages", busy)
        self.requests = self.errors = self._asked = self._sent = self._answered = 0

    async def start(self) -> None:
        await start(self.dut, page_exponent=self.exponent)

    async def point(self, slot: int, length: int, offset: int | None = None) -> Command:
        """Another command in a slot."""
        old = self.commands.pop(slot, None)
        if old is not None:
            await self.answer(slot)
            self.free += sorted({address // self.page * self.page for address in old.dwords})
        command = Command(slot, length)
        is_sgl = offset is None and random.random() < 0.5
        offset = random.choice([0, 4 * random.randrange(self.page // 4)]) if offset is None else offset
        spans, left = self.blocks(length) if is_sgl else [], 0 if is_sgl else length
        while left:
            address = self.free.pop(0) + offset
            size = min(left, self.page - offset)
            spans.append((address, size))
            offset, left = 0, left - size
        if random.random() < 0.1 and self.busy < 1:
            await self._give(slot, [(random.getrandbits(60), 0)], INVALID_PRP_OFFSET)
        for address, size in spans:
            command.dwords += range(address, address + size, 4)
        await self._give(slot, spans, Status.SUCCESS, is_sgl)
        self.commands[slot] = command
        return command

    async def answer(self, slot: int) -> None:
        """The command of a slot is answered, for a cycle; others may be, too."""
        for _ in range(2):
            self._answered ^= 1 << slot
            self.dut.answered.value = self._answered
            await RisingEdge(self.dut.clk)

    def blocks(self, length: int) -> list[tuple[int, int]]:
        """Blocks of an SGL, of any dwords; each is in a page of its own, and there may be so many."""
        most, page = most_blocks(MOST_BYTES), self.page

        def place(size: int) -> int:
            return self.free.pop(0) + 4 * random.randint(0, (page - size) // 4)

        return blocks_of(random, length, most, place, page)

    async def _give(self, slot: int, spans: list[tuple[int, int]], status: int, is_sgl: bool = False) -> None:
        number = len(self.statuses)
        self.statuses.append(status)
        self.places.send(slot)
        for address, size in spans:
            is_last = (address, size) == spans[-1]
            fields = {"length": size, "last": is_last, "status": status, "sgl": is_sgl}
            self.pieces.send(pack(PIECE, address=self.host.base + address, **fields))
        assert (await self.pointed.wait_for(number + 1))[number] == status

    def any_burst(self, command: Command) -> tuple[int, int]:
        """Offset and bytes."""
        grain = max(WIDE, 8)
        most = min(command.length, 256 * WIDE) // grain
        length = grain * random.choice([random.randint(1, most), random.randint(1, min(most, 40)), most])
        return grain * random.randrange((command.length - length) // grain + 1), length

    def address(self, command: Command, offset: int, length: int, beat_bytes: int) -> int:
        return pack(ADDRESS, address=command.slot * MOST_BYTES + offset, length=length // beat_bytes - 1)

    def ask(self, command: Command, offset: int, length: int) -> tuple[int, list[int]]:
        """Send a burst; where its beats begin, and the places of its dwords."""
        at, self._asked = self._asked, self._asked + length // WIDE
        self.requests += command.requests(offset, length)
        self.asks.send(self.address(command, offset, length, WIDE))
        return at, command.bytes_of(offset, length)

    async def take(self, slot: int, at: int, places: list[int]) -> None:
        """Beats of a burst: they are those of the memory, with errors where it fails."""
        count = 4 * len(places) // WIDE
        await self.beats.wait_for(at + count)
        found = [unpack(READ_BEAT, bits) for bits in self.beats.items[at : at + count]]
        assert [beat["last"] for beat in found] == [0] * (len(found) - 1) + [1]
        faulty = {address // WHOLE for address in self.host.faults}
        wrong = 0
        for number, beat in enumerate(found):
            mine = places[number * WIDE // 4 : (number + 1) * WIDE // 4]
            if beat["error"]:
                begin = number * WIDE // 8 * 2
                words = places[begin : begin + max(WIDE // 4, 2)]  # a narrow beat has the fault of its word
                assert any(address // WHOLE in faulty for address in words), f"no fault in beat {number}"
                wrong += 1
                continue
            data = b"".join(self.expected[address : address + 4] for address in mine)
            assert beat["data"] == int.from_bytes(data, "little"), f"beat {number} of slot {slot}"
        failed = any(address // WHOLE in faulty for address in places)
        assert bool(wrong) == failed, f"{wrong} errors"
        self.errors += bool(wrong)
        refused = int(self.dut.refused.value) >> slot & 1
        assert refused or not failed, "the refusal is not told"

    async def write(self, name: str, beat_bytes: int, command: Command, offset: int, length: int) -> None:
        bursts, beats, answers = self.writers[name]
        data, places, count = random.randbytes(length), command.bytes_of(offset, length), len(answers.items)
        self.requests += command.requests(offset, length)
        bursts.send(self.address(command, offset, length, beat_bytes))
        for number in range(length // beat_bytes):
            word = int.from_bytes(data[number * beat_bytes :][:beat_bytes], "little")
            last = (number + 1) * beat_bytes == length
            beats.send(pack(WRITE_BEATS[beat_bytes], data=word, last=last))
        if name == "reports":
            kept = ZoneDescriptor.time.low // 8
            data = data[:kept].ljust(length, b"\0")
        for number, address in enumerate(places):
            self.expected[address : address + 4] = data[4 * number : 4 * number + 4]
        found = await answers.wait_for(count + 1)
        assert found[count] == 0
        await self._message()
        moved = b"".join(self.host.memory[address : address + 4] for address in places)
        assert moved == data, "the answer was before the data"

    async def fill(self, command: Command, block: int, more: int) -> None:
        """Zeros in blocks of a command, and nowhere else."""
        begin, size = block * BLOCK_BYTES, (more + 1) * BLOCK_BYTES
        count = len(self.zeroed.items)
        for offset in range(begin, begin + size, ZERO_BURST_BYTES):
            self.requests += command.requests(offset, ZERO_BURST_BYTES)
        places = command.bytes_of(begin, size)
        for address in places:
            self.expected[address : address + 4] = bytes(4)
        self.zeros.send(pack(RUN, slot=command.slot, block=block, more=more))
        assert (await self.zeroed.wait_for(count + 1))[count] == command.slot
        await self._message()
        assert not any(any(self.host.memory[at : at + 4]) for at in places), "the answer was before the data"

    async def _message(self) -> None:
        """What is written after an answer is behind the data: wait until it has come."""
        self._sent += 1
        self.requests += 1
        mine = MESSAGES, self._sent
        self.messages.send(pack(MESSAGE, address=mine[0], data=mine[1]))
        while mine not in self.host.messages:
            await RisingEdge(self.dut.clk)

    async def settle(self) -> None:
        for _ in range(400):
            await RisingEdge(self.dut.clk)
        assert self.host.quiet
        places = [at for at in range(MEMORY_BYTES) if self.host.memory[at] != self.expected[at]]
        assert not places, f"{len(places)} bytes differ, the first at {places[0]:#x}"
        for request in self.host.log:
            assert request["address"] % WHOLE + 4 * request["length"] <= WHOLE, f"{request} is not whole"
        assert len(self.host.log) == self.requests, f"{len(self.host.log)} requests, not {self.requests}"


def any_length() -> int:
    return 512 * random.choice([1, random.randint(1, 4), random.randint(1, MOST_BYTES // 512)])


async def many_reads(bench: Bench, slots: list[int]) -> None:
    """Several bursts at once; some of them have a fault."""
    for number in range(BURSTS):
        for slot in slots:
            if slot not in bench.commands or random.random() < 0.2:
                await bench.point(slot, any_length())
                assert not int(bench.dut.refused.value) >> slot & 1, "it has the refusal of another command"
        bursts = []
        for _ in range(random.randint(1, 3)):
            command = bench.commands[random.choice(slots)]
            bursts.append((command, *bench.any_burst(command)))
        bench.host.faults = set()
        if number % 4 == 1 and bench.busy < 1:
            line = random.choice(bursts[0][0].bytes_of(*bursts[0][1:])) // WHOLE * WHOLE
            bench.host.faults = set(range(line, line + WHOLE, 4))
        for command, at, places in [(command, *bench.ask(command, *burst)) for command, *burst in bursts]:
            await bench.take(command.slot, at, places)


async def many_writes(bench: Bench, name: str, beat_bytes: int, slots: list[int]) -> None:
    for _ in range(BURSTS):
        slot = random.choice(slots)
        if slot not in bench.commands or random.random() < 0.3:
            await bench.point(slot, any_length())
        command = bench.commands[slot]
        burst = bench.any_burst(command)
        if name == "reports":
            burst = REPORT_BYTES * random.randrange(command.length // REPORT_BYTES), REPORT_BYTES
        await bench.write(name, beat_bytes, command, *burst)


async def many_zeros(bench: Bench, slot: int) -> None:
    if MOST_BYTES < BLOCK_BYTES:
        return
    for _ in range(BURSTS // 2):
        blocks = random.randint(1, min(MOST_BYTES // BLOCK_BYTES, 6))
        command = await bench.point(slot, blocks * BLOCK_BYTES)
        first = random.randrange(blocks)
        await bench.fill(command, first, random.randrange(blocks - first))


@cocotb.test()
@cocotb.parametrize(
    (("exponent", "busy", "latency", "takes"), [(0, 0.7, 20, 0.7), (1, 0.4, 0, 0.4), (0, 1, 60, 0.15)])
)
async def bytes_are_where_the_pieces_say(dut, exponent, busy, latency, takes):
    bench = Bench(dut, exponent, busy, latency, takes)
    await bench.start()
    slots = random.sample(range(SLOTS), SLOTS)
    tasks = [
        cocotb.start_soon(many_reads(bench, slots[:3])),
        cocotb.start_soon(many_writes(bench, "writes", WIDE, slots[3:6])),
        cocotb.start_soon(many_writes(bench, "reports", 8, slots[6:7])),
        cocotb.start_soon(many_zeros(bench, slots[7])),
    ]
    for task in tasks:
        await task
    await bench.settle()
    assert busy == 1 or bench.errors


@cocotb.test()
async def cycles_are_those_of_the_data_sheet(dut):
    latency = 40
    bench = Bench(dut, 0, latency=latency)
    await bench.start()
    count = min(4096, 256 * WIDE)
    from_host, to_host = await bench.point(0, 4096, 0), await bench.point(1, 4096, 0)

    async def cycles_to(name: str) -> int:
        cycles = 0
        while getattr(dut, name).value != 1:
            await RisingEdge(dut.clk)
            cycles += 1
        return cycles

    async def read() -> None:
        await bench.take(0, *bench.ask(from_host, 0, count))

    async def write() -> None:
        await bench.write("writes", WIDE, to_host, 0, count)

    rows = count // min(WIDE, WIDTH)
    task = cocotb.start_soon(read())
    await cycles_to("reads__ar__valid")
    found = [await cycles_to("requests__valid"), await cycles_to("reads__r__valid")]
    await task
    taken = bench.beats.cycles
    found.append(taken[-1] - taken[0])
    task = cocotb.start_soon(write())
    await cycles_to("writes__aw__valid")
    found += [await cycles_to("requests__valid"), await cycles_to("writes__b__valid")]
    await task
    print(found, rows)
    assert found[0] == READ_LATENCY
    assert found[1] == latency + BEAT_LATENCY + WIDE // max(WIDTH, 8)
    assert found[2] == (len(taken) - 1) * max(1, WIDE // WIDTH)
    assert found[3] == WRITE_LATENCY
    assert found[4] <= rows + 2, f"{found[4]} cycles of {count} bytes"
    await bench.settle()
