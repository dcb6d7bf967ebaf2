"""A controller that stops at any moment behind the AXI guard: the memory never sees half a burst."""

import random
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout, write_beat_layout
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import pack, start, unpack
from tests.rtl.host_if.axi_memory import AxiMemory

DATA_BYTES = bench_parameters()["data_bytes"]
ADDRESS_BITS = bench_parameters()["address_bits"]
BURSTS = bench_parameters()["bursts"]
PARTS = bench_parameters()["parts"]  # of a beat, each with a bit of the mask
HALF = 1 << 15  # reads in the lower half of the memory, writes in the upper
BURST = burst_layout(ADDRESS_BITS)
READ_BEAT, WRITE_BEAT = read_beat_layout(8 * DATA_BYTES), write_beat_layout(8 * DATA_BYTES, PARTS)


def random_burst() -> tuple[int, int]:
    """Offset in a half of the memory, and number of beats."""
    beats = random.choice([1, 2, random.randint(1, min(32, 4096 // DATA_BYTES))])
    page = random.randrange(HALF // 4096) * 4096
    return page + random.randrange(4096 // DATA_BYTES - beats + 1) * DATA_BYTES, beats


def random_mask() -> int:
    """At least a part is written: a beat without strobes is one of the guard's own."""
    return random.choice((0, random.randrange((1 << PARTS) - 1)))


def strobes_of(mask: int) -> int:
    """The bytes of the parts that are not masked."""
    size = DATA_BYTES // PARTS
    return sum(((1 << size) - 1) << size * part for part in range(PARTS) if not mask >> part & 1)


@dataclass
class Offer:
    """One stream out of the controller: what is offered now, if anything."""

    name: str
    payload: int | None = None


@dataclass
class Core:
    """The controller's side: bursts and beats at random, and a stop in any clock."""

    dut: object
    busy: float
    burst_stream: dict[str, Offer] = field(default_factory=lambda: {n: Offer(n) for n in ("ar", "aw", "w")})
    running: bool = True

    def __post_init__(self):
        self.reads: list[tuple[int, int]] = []  # accepted
        self.writes: list[tuple[int, list[tuple[int, int]]]] = []  # of each beat its data and strobes
        self._forget()
        self.drive()

    def _forget(self) -> None:
        self.owed_beats: list[int] = []
        self.expected: list[tuple[int, bool]] = []  # of reads: address of the beat and whether it is the last
        self.unanswered = 0
        for offer in self.burst_stream.values():
            offer.payload = None
        self.r_ready = self.b_ready = False

    def stop(self) -> None:
        self.running = False
        self._forget()
        self.drive()

    def drive(self) -> None:
        for name, offer in self.burst_stream.items():
            side = "read" if name == "ar" else "write"
            getattr(self.dut, f"{side}__{name}__valid").value = int(offer.payload is not None)
            if offer.payload is not None:
                getattr(self.dut, f"{side}__{name}__payload").value = offer.payload
        self.dut.read__r__ready.value = int(self.r_ready)
        self.dut.write__b__ready.value = int(self.b_ready)

    def take(self) -> None:
        """What was handed over in the last clock."""
        dut, offers = self.dut, self.burst_stream
        if offers["ar"].payload is not None and dut.read__ar__ready.value == 1:
            burst = unpack(BURST, offers["ar"].payload)
            offers["ar"].payload = None
            beats = burst["length"] + 1
            self.reads.append((burst["address"], beats))
            self.expected += [(burst["address"] + n * DATA_BYTES, n == beats - 1) for n in range(beats)]
        if offers["aw"].payload is not None and dut.write__aw__ready.value == 1:
            offers["aw"].payload = None
            self.unanswered += 1
        if offers["w"].payload is not None and dut.write__w__ready.value == 1:
            offers["w"].payload = None
        if self.r_ready and dut.read__r__valid.value == 1:
            address, last = self.expected.pop(0)
            beat = unpack(READ_BEAT, int(dut.read__r__payload.value))
            assert beat == {"data": memory_word(address), "last": int(last), "error": 0}
        if self.b_ready and dut.write__b__valid.value == 1:
            assert self.unanswered > 0
            self.unanswered -= 1

    def offer(self) -> None:
        offers = self.burst_stream
        if offers["ar"].payload is None and random.random() < self.busy / 4:
            address, beats = random_burst()
            offers["ar"].payload = pack(BURST, address=address, length=beats - 1)
        if offers["aw"].payload is None and len(self.owed_beats) < 40 and random.random() < self.busy / 4:
            offset, beats = random_burst()
            address = HALF + offset
            offers["aw"].payload = pack(BURST, address=address, length=beats - 1)
            words = [random.getrandbits(8 * DATA_BYTES) for _ in range(beats)]
            masks = [random_mask() for _ in range(beats)]
            self.writes.append((address, list(zip(words, map(strobes_of, masks), strict=True))))
            self.owed_beats += [
                pack(WRITE_BEAT, data=word, last=n == beats - 1, masked=mask)
                for n, (word, mask) in enumerate(zip(words, masks, strict=True))
            ]
        if offers["w"].payload is None and self.owed_beats and random.random() < self.busy:
            offers["w"].payload = self.owed_beats.pop(0)
        self.r_ready, self.b_ready = random.random() < self.busy, random.random() < self.busy

    async def run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            if self.running:
                self.take()
                self.offer()
                self.drive()


def memory_word(address: int) -> int:
    """What reads find."""
    return (address * 0x9E3779B97F4A7C15 + 1) % (1 << 8 * DATA_BYTES)


async def bench(dut, busy: float, latency: int) -> tuple[Core, AxiMemory]:
    core = Core(dut, busy)
    memory = AxiMemory(dut, "pins", DATA_BYTES, 2 * HALF, latency, busy)
    await start(dut, quiesce=0)
    cocotb.start_soon(core.run())
    for address in range(0, HALF, DATA_BYTES):
        memory.memory[address : address + DATA_BYTES] = memory_word(address).to_bytes(DATA_BYTES, "little")
    return core, memory


def check_writes(core: Core, memory: AxiMemory) -> int:
    """Every burst of the memory is one of the controller's; returns how many beats had no strobes."""
    silent = 0
    for seen, (address, beats) in zip(memory.writes, core.writes, strict=False):
        assert (seen.address, seen.beats) == (address, len(beats))
        sent = [beat for beat in seen.data if beat[1]]
        assert all(not strobes for _, strobes in seen.data[len(sent) :]), "strobes came back within a burst"
        assert sent == beats[: len(sent)]
        silent += seen.beats - len(sent)
    return silent


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.5], latency=[0, 60])
async def a_stop_leaves_no_burst_open(dut, busy, latency):
    core, memory = await bench(dut, busy, latency)
    silent = 0
    for _ in range(12):
        for _ in range(random.randint(1, 150)):
            await RisingEdge(dut.clk)
        core.stop()
        dut.quiesce.value = 1
        for _ in range(4000):
            await RisingEdge(dut.clk)
            if dut.drained.value == 1:
                break
            assert dut.read__r__valid.value == 0 and dut.write__b__valid.value == 0
        assert dut.drained.value == 1
        await RisingEdge(dut.clk)
        assert memory.quiet
        core.writes = core.writes[: len(memory.writes)]
        silent += check_writes(core, memory)
        memory.writes.clear()
        core.writes.clear()
        dut.quiesce.value = 0
        core.running = True
    assert silent > 0, "no burst was stopped in its middle"


@cocotb.test()
async def it_waits_at_its_limit_of_bursts(dut):
    core, memory = await bench(dut, 1, 100_000)
    for _ in range(60 * BURSTS):
        await RisingEdge(dut.clk)
        assert len(core.reads) <= BURSTS and core.unanswered <= BURSTS
    assert len(core.reads) >= BURSTS - 1 and core.unanswered >= BURSTS - 1
    memory.latency = 0


@cocotb.test()
async def a_burst_passes_in_its_own_clock(dut):
    core, _ = await bench(dut, 1, 0)
    core.stop()
    await RisingEdge(dut.clk)
    core.burst_stream["ar"].payload = pack(BURST, address=2 * DATA_BYTES, length=0)
    core.burst_stream["aw"].payload = pack(BURST, address=HALF, length=0)
    core.burst_stream["w"].payload = pack(WRITE_BEAT, data=5, last=1)
    core.drive()
    await RisingEdge(dut.clk)
    assert dut.pins__arvalid.value == 1 and dut.pins__araddr.value == 2 * DATA_BYTES
    assert dut.pins__awvalid.value == 1 and dut.pins__awaddr.value == HALF
    await RisingEdge(dut.clk)
    assert dut.pins__wvalid.value == 1 and dut.pins__wdata.value == 5, "a beat takes one clock"


@cocotb.test()
async def beats_without_a_burst_are_dropped(dut):
    """As many as are held; `quiesce` ends as soon as the port is drained."""
    core, memory = await bench(dut, 1, 0)
    core.stop()
    offers = core.burst_stream
    for word in (1, 2):
        offers["w"].payload = pack(WRITE_BEAT, data=word, last=1)
        core.drive()
        await RisingEdge(dut.clk)
    offers["w"].payload = None
    core.drive()
    dut.quiesce.value = 1
    await RisingEdge(dut.clk)
    for _ in range(5):
        if dut.drained.value == 1:
            break
        await RisingEdge(dut.clk)
    assert dut.drained.value == 1
    dut.quiesce.value = 0
    offers["aw"].payload = pack(BURST, address=HALF, length=0)
    offers["w"].payload = pack(WRITE_BEAT, data=5, last=1)
    core.drive()
    await RisingEdge(dut.clk)
    core.stop()
    for _ in range(10):
        await RisingEdge(dut.clk)
    assert int.from_bytes(memory.memory[HALF : HALF + DATA_BYTES], "little") == 5
