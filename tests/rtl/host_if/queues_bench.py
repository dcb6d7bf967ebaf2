"""Two queue pairs, their host and whoever answers: order, contents, wrap, full queues, rates, latencies."""

import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Answer, Entry
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import preset
from tests.rtl.host_if.axi_memory import AxiMemory

CONFIG = preset("tiny")
MEMORY_BYTES = 1 << 16
RETRIED = (0x004, 0x082, 0x280)  # statuses without DNR
LATENCY = 120  # cycles of the tensor buffer, in the tests of rates


@dataclass
class HostPort:
    """The host's side of one queue pair, and what it knows of each command."""

    dut: object
    memory: AxiMemory
    port: int
    sq_base: int
    sq_entries: int
    cq_base: int
    cq_entries: int
    lazy: float = 0  # chance per clock not to look at completions
    submitted: list[bytes] = field(default_factory=list)
    taken: list[bytes] = field(default_factory=list)
    open_answers: dict[int, dict[str, int]] = field(default_factory=dict)  # by CID
    completed: int = 0
    head: int = 0  # commands that the device has reported as fetched
    consumed: int = 0  # completions, as told by the doorbell
    written: int = 0

    def __post_init__(self):
        self.set("sq_base", self.sq_base)
        self.set("sq_size", self.sq_entries - 1)
        self.set("sq_tail", 0)
        self.set("cq_base", self.cq_base)
        self.set("cq_size", self.cq_entries - 1)
        self.set("cq_head", 0)

    def set(self, name: str, value: int) -> None:
        getattr(self.dut, f"queues__{self.port}__{name}").value = value

    @property
    def room(self) -> int:
        """Entries that may be submitted."""
        return self.sq_entries - 1 - (len(self.submitted) - self.head)

    def submit(self) -> None:
        """An entry of random bytes; its CID is unique for long enough."""
        number = len(self.submitted)
        raw = bytearray(random.randbytes(64))
        raw[2:4] = number.to_bytes(2, "little")
        at = self.sq_base + 64 * (number % self.sq_entries)
        self.memory.memory[at : at + 64] = raw
        self.submitted.append(bytes(raw))

    def ring(self) -> None:
        self.set("sq_tail", len(self.submitted) % self.sq_entries)

    def poll(self) -> bool:
        """Look at the next completion entry; take it if its phase bit is new."""
        at = self.cq_base + 16 * (self.completed % self.cq_entries)
        entry = int.from_bytes(self.memory.memory[at : at + 16], "little")
        phase = entry >> 112 & 1
        if phase == self.completed // self.cq_entries % 2:
            return False
        answer = self.open_answers.pop(entry >> 96 & 0xFFFF)
        assert entry & (1 << 64) - 1 == answer["result"]
        assert entry >> 80 & 0xFFFF == self.port
        assert entry >> 113 & 0x7FF == answer["status"]
        assert entry >> 124 == 8 * (answer["status"] not in (0, *RETRIED))
        self.head += ((entry >> 64 & 0xFFFF) - self.head) % self.sq_entries
        assert self.head <= len(self.taken) + 1, "reported as fetched before it was"
        self.completed += 1
        return True

    def release(self) -> None:
        self.consumed = self.completed
        self.set("cq_head", self.completed % self.cq_entries)

    def check_write(self, address: int) -> None:
        """A completion entry has been written: to the next place, which is free."""
        assert address == self.cq_base + 16 * (self.written % self.cq_entries)
        assert self.written - self.consumed < self.cq_entries - 1, "an entry not yet consumed was overwritten"
        self.written += 1


class Bench:
    def __init__(self, dut, busy: float = 1, latency: int = 0, sizes=((16, 16), (16, 16))):
        self.dut = dut
        self.busy = busy
        self.memory = AxiMemory(dut, "pins", 8, MEMORY_BYTES, latency, busy)
        self.entries = StreamSink(dut, "entries", busy)
        self.answers = [StreamSource(dut, f"answers__{source}", busy) for source in range(2)]
        self.ports = [
            HostPort(dut, self.memory, port, 0x1000 + 0x2000 * port, sq, 0x8040 + 0x2000 * port, cq)
            for port, (sq, cq) in enumerate(sizes)
        ]
        self.waiting: deque[tuple[int, int]] = deque()  # port and CID of commands to be answered
        self.held: set[int] = set()  # ports of which no command is answered
        self.interrupts = [0, 0]
        self.errors = self.failures = 0  # answers that tell of one; pulses
        self._writes = 0
        self.fetch_errors: list[int] = []

    async def start(self) -> None:
        await start(self.dut, enable=1)
        cocotb.start_soon(self._controller())

    async def _controller(self) -> None:
        """Take entries, answer them in any order, and watch writes and interrupts."""
        while True:
            await RisingEdge(self.dut.clk)
            for bits in self.entries.new_items():
                self._take(unpack(Entry(), bits))
            for burst in self.memory.writes[self._writes :]:
                self._writes += 1
                self.ports[burst.address >= 0xA000].check_write(burst.address)
            for port in (0, 1):
                self.interrupts[port] += int(self.dut.written.value) >> port & 1
            self.failures += int(self.dut.failed.value)
            if self.waiting and random.random() < self.busy:
                self._answer()

    def _take(self, entry: dict[str, int]) -> None:
        host = self.ports[entry["port"]]
        raw = entry["bytes"].to_bytes(64, "little")
        number = len(host.taken)
        if entry["error"]:
            self.fetch_errors.append(number)
        assert raw == host.submitted[number], f"port {host.port}, entry {number}"
        host.taken.append(raw)
        self.waiting.append((host.port, number & 0xFFFF))

    def _answer(self) -> None:
        ready = [item for item in self.waiting if item[0] not in self.held]
        if not ready:
            return
        port, cid = random.choice(ready[:8]) if self.busy < 1 else ready[0]
        self.waiting.remove((port, cid))
        status = random.choice([0, 0, random.choice(RETRIED), random.getrandbits(11)])
        result = random.getrandbits(32)
        self.ports[port].open_answers[cid] = {"status": status, "result": result}
        self.errors += status != 0
        source = self.answers[random.randrange(2)]
        source.send(pack(Answer(CONFIG), port=port, cid=cid, status=status, result=result))

    async def run(self, counts: tuple[int, int], cycles: int = 60_000) -> None:
        """Hosts submit and consume at random until each port's commands are completed."""
        for _ in range(cycles):
            await RisingEdge(self.dut.clk)
            for host, count in zip(self.ports, counts, strict=True):
                if len(host.submitted) < count and host.room and random.random() < self.busy:
                    for _ in range(random.randint(1, min(host.room, count - len(host.submitted)))):
                        host.submit()
                    host.ring()
                if random.random() >= host.lazy:
                    while host.poll():
                        pass
                if random.random() >= host.lazy:
                    host.release()
            if all(host.completed >= count for host, count in zip(self.ports, counts, strict=True)):
                return
        raise AssertionError(f"{[host.completed for host in self.ports]} of {counts} commands completed")

    async def settle(self) -> None:
        for _ in range(2 * self.memory.latency + 40):
            await RisingEdge(self.dut.clk)


@cocotb.test()
@cocotb.parametrize(
    (("busy", "latency"), [(1, 0), (1, 100), (0.5, 5)]),
    sizes=[((16, 16), (16, 16)), ((2, 2), (8, 3)), ((5, 16), (64, 7))],
)
async def commands_go_round_the_rings(dut, busy, latency, sizes):
    bench = Bench(dut, busy, latency, sizes)
    for host in bench.ports:
        host.lazy = random.choice([0, 0.5, 0.95])
    await bench.start()
    counts = (min(60, 8 * min(sizes[0])), 60)
    await bench.run(counts)
    await bench.settle()
    assert bench.interrupts == [host.completed for host in bench.ports] == list(counts)
    assert bench.failures == bench.errors
    assert dut.idle.value == 1 and dut.fault.value == 0
    assert bench.memory.quiet


@cocotb.test()
async def a_full_completion_queue_holds_up_its_own_port_only(dut):
    bench = Bench(dut, latency=10, sizes=((32, 8), (16, 16)))
    bench.ports[0].lazy = 1
    await bench.start()
    await bench.run((0, 5))
    for _ in range(20):
        bench.ports[0].submit()
    bench.ports[0].ring()
    await bench.run((0, 80))
    await bench.settle()
    assert bench.ports[0].written == 7, "as many as the queue holds"
    assert len(bench.ports[0].taken) == 7, "no more are fetched than can be answered"
    assert dut.idle.value == 0
    bench.ports[0].lazy = 0
    await bench.run((20, 80))
    await bench.settle()
    assert dut.idle.value == 1


@cocotb.test()
async def unanswered_commands_of_a_port_do_not_hold_up_the_other(dut):
    """However many there are: a port is given three quarters of the 256 commands in flight."""
    bench = Bench(dut, latency=10, sizes=((16, 16), (256, 256)))
    bench.held = {1}
    await bench.start()
    for _ in range(240):
        bench.ports[1].submit()
    bench.ports[1].ring()
    await bench.run((200, 0))
    assert len(bench.ports[1].taken) == 192
    bench.held = set()
    await bench.run((200, 240))


@cocotb.test()
async def answers_wait_while_too_many_are_unacknowledged(dut):
    """Those of 80 commands at once, 200 cycles before the first one is acknowledged."""
    bench = Bench(dut, latency=200, sizes=((64, 64), (64, 64)))
    bench.held = {0, 1}
    await bench.start()
    for host in bench.ports:
        for _ in range(40):
            host.submit()
        host.ring()
    await bench.entries.wait_for(80)
    bench.held = set()
    await bench.run((40, 40))
    await bench.settle()
    assert bench.interrupts == [40, 40]


@cocotb.test()
async def ports_take_turns(dut):
    bench = Bench(dut, latency=LATENCY, sizes=((64, 64), (64, 64)))
    await start(dut, enable=0)
    for host in bench.ports:
        for _ in range(40):
            host.submit()
        host.ring()
    await bench.settle()
    assert not bench.memory.reads and not bench.entries.items, "fetched while disabled"
    dut.enable.value = 1
    await bench.entries.wait_for(80)
    order = [bits & 1 for bits in bench.entries.items]
    assert all(order[n] != order[n + 1] for n in range(79)), "ports do not alternate"


@cocotb.test()
async def rates_hold_at_a_distant_memory(dut):
    """Entries and completions flow at least every 16 cycles each, with over 100 cycles of latency."""
    bench = Bench(dut, latency=LATENCY, sizes=((128, 128), (128, 128)))
    await bench.start()
    for _ in range(100):
        bench.ports[0].submit()
    bench.ports[0].ring()
    await bench.entries.wait_for(100)
    cycles = bench.entries.cycles
    interval = (cycles[-1] - cycles[20]) / 79
    dut._log.info("an entry every %.2f cycles at %d cycles of latency", interval, LATENCY)
    assert interval <= 9
    await bench.run((100, 0))

    answered = [pack(Answer(CONFIG), port=1, cid=n) for n in range(100)]
    bench.ports[1].open_answers = {n: {"status": 0, "result": 0} for n in range(100)}
    written_at = []
    for bits in answered:
        bench.answers[0].send(bits)
    while len(written_at) < 100:
        await RisingEdge(dut.clk)
        if dut.written.value == 2:
            written_at.append(bench.memory.clock)
    interval = (written_at[-1] - written_at[20]) / 79
    dut._log.info("a completion every %.2f cycles", interval)
    assert interval <= 9


@cocotb.test()
async def latencies(dut):
    """2 clocks from the doorbell to the burst, 1 from the last beat to the entry, 1 from an answer to its
    burst, and 1 from there to the first beat."""
    bench = Bench(dut)
    bench.held = {0}
    await bench.start()
    await bench.settle()
    bench.ports[0].submit()
    bench.ports[0].ring()
    await RisingEdge(dut.clk)  # the doorbell is seen from here on
    for clock in range(2):
        await RisingEdge(dut.clk)
        assert dut.pins__arvalid.value == (clock == 1)
    while not (dut.pins__rvalid.value == 1 and dut.pins__rlast.value == 1):
        await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    assert dut.entries__valid.value == 1
    await bench.settle()
    bench.held = set()
    while dut.answers__0__valid.value != 1 and dut.answers__1__valid.value != 1:
        await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    assert dut.pins__awvalid.value == 1
    for last in (0, 1):
        await RisingEdge(dut.clk)
        assert dut.pins__wvalid.value == 1 and dut.pins__wlast.value == last


@cocotb.test()
async def an_entry_that_cannot_be_read_is_marked(dut):
    bench = Bench(dut, latency=3)
    await bench.start()
    bench.memory.faults = {0x1000 + 64 * 2, 0x1000 + 64 * 5}
    await bench.run((10, 10))
    assert bench.fetch_errors == [2, 5]


@cocotb.test()
async def an_entry_of_which_any_beat_fails_is_marked(dut):
    bench = Bench(dut, latency=3)
    await bench.start()
    bench.memory.faulty_beats = {0x1000 + 64 * entry + 8 * beat for entry, beat in ((1, 0), (4, 3), (6, 7))}
    await bench.run((10, 10))
    assert bench.fetch_errors == [1, 4, 6]


@cocotb.test()
async def a_refused_completion_is_a_fault(dut):
    bench = Bench(dut, latency=3)
    await bench.start()
    await bench.run((3, 3))
    assert dut.fault.value == 0
    bench.memory.faults = {0x8040 + 16 * 3}
    await bench.run((5, 5))
    await bench.settle()
    assert dut.fault.value == 1
