"""Queues of a host, the engine behind the port of TLPs, and whoever answers commands."""

import random
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.queues import CompletionQueue, SubmissionQueue
from flashtrain.rtl.pcie.layouts import (
    AdminQueues,
    ChangeKind,
    Doorbell,
    QueueAnswer,
    QueueChange,
    QueueEntry,
)
from flashtrain.rtl.pcie.queue_engine import BUFFER_ENTRIES, MAILBOX_ENTRIES
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSource, pack, start, unpack
from flashtrain.spec.pcie import MailboxArbitration, Priority, TlpSizes
from tests.rtl.pcie.host_memory import TlpHost

QUEUES, COMMANDS = bench_parameters()["queues"], bench_parameters()["commands"]
TLP = TlpSizes()
PAGE = 4096
MEMORY_BYTES = 64 * PAGE
ADMIN_LATENCY, LATENCIES = 9, range(11, 15)
"""Cycles from a doorbell to the request of the port, of the admin queue and of others."""
ADMIN, CHANGE, DOORBELL, ENTRY, ANSWER = (
    layout() for layout in (AdminQueues, QueueChange, Doorbell, QueueEntry, QueueAnswer)
)


@dataclass
class Pair:
    """A submission queue and its completion queue, as their host keeps them; `completions` may be shared."""

    number: int
    entries: int
    completions: "Completions"
    base: int
    submitted: list[bytes] = field(default_factory=list)
    delivered: int = 0
    reported: int = 0
    """Commands that the engine has reported as fetched."""

    @property
    def room(self) -> int:
        return self.entries - 1 - (len(self.submitted) - self.reported)


@dataclass
class Completions:
    number: int
    entries: int
    base: int
    vector: int
    interrupts: bool = True
    taken: int = 0
    released: int = 0


class Bench:
    def __init__(self, dut, busy: float = 1, latency: int = 0):
        self.dut, self.busy = dut, busy
        self.host = TlpHost(dut, MEMORY_BYTES, TLP, busy, latency)
        self.doorbells = StreamSource(dut, "doorbells", busy)
        self.changes = StreamSource(dut, "changes", busy)
        self.answers = {0: StreamSource(dut, "admin_answers", busy), 1: StreamSource(dut, "answers", busy)}
        self.pairs: dict[int, Pair] = {}
        self.queues: dict[int, Completions] = {}
        self.waiting: list[tuple[int, bytes]] = []
        self.held: set[int] = set()
        """Queues whose commands are taken, and not answered."""
        self.taking = True
        self.open: dict[tuple[int, int], dict[str, int]] = {}
        self.order: list[int] = []
        self.arrived_at: list[int] = []
        self.vectors: list[int] = []
        self.wrong = [0, 0]
        self.failed = self.clock = 0
        self._untaken: list[int] = []
        self._pages = 0

    def page(self) -> int:
        self._pages += 1
        return self._pages * PAGE

    async def start(self, entries: tuple[int, int] = (8, 8), weighted: int = 0, weights: int = 0) -> None:
        completions = Completions(0, entries[1], self.page(), 0)
        self.pairs = {0: Pair(0, entries[0], completions, self.page())}
        self.queues = {0: completions}
        admin = pack(ADMIN, sq_base=self.pairs[0].base, sq_size=entries[0] - 1,
                     cq_base=completions.base, cq_size=entries[1] - 1)  # fmt: skip
        await start(self.dut, admin=admin, enable=1, taken=0, weighted=weighted, weights=weights)
        cocotb.start_soon(self._controller())

    def create(
        self, number: int, entries: int, partner: Completions | int, interrupts: bool = True,
        priority: int = 0,
    ) -> Pair:  # fmt: skip
        """Make a submission queue, and a completion queue with as many entries as `partner` says."""
        if isinstance(partner, int):
            partner = Completions(number, partner, self.page(), random.randrange(QUEUES + 1), interrupts)
            self.queues[number] = partner
            self.change(ChangeKind.CREATE_COMPLETIONS, number, base=partner.base, size=partner.entries - 1,
                        partner=partner.vector, interrupts=interrupts)  # fmt: skip
        pair = Pair(number, entries, partner, self.page())
        self.pairs[number] = pair
        self.change(ChangeKind.CREATE_SUBMISSIONS, number, base=pair.base, size=entries - 1,
                    partner=partner.number, priority=priority)  # fmt: skip
        return pair

    def change(self, kind: ChangeKind, number: int, **fields: int) -> None:
        self.changes.send(pack(CHANGE, kind=kind.value, queue=number, **fields))

    def ring(self, number: int, of_completions: bool, value: int) -> None:
        self.doorbells.send(pack(DOORBELL, queue=number, of_completions=of_completions, value=value))

    def submit(self, pair: Pair, count: int = 1) -> None:
        for _ in range(count):
            raw = bytearray(random.randbytes(64))
            raw[2:4] = (len(pair.submitted) & 0xFFFF).to_bytes(2, "little")
            at = pair.base + 64 * (len(pair.submitted) % pair.entries)
            self.host.memory[at : at + 64] = raw
            pair.submitted.append(bytes(raw))
        self.ring(pair.number, False, len(pair.submitted) % pair.entries)

    def poll(self, queue: Completions) -> bool:
        """Take the next completion entry if its phase is new; it is of a command that was answered."""
        at = queue.base + 16 * (queue.taken % queue.entries)
        raw = int.from_bytes(self.host.memory[at : at + 16], "little")
        if raw >> 112 & 1 == queue.taken // queue.entries % 2:
            return False
        pair = self.pairs[raw >> 80 & 0xFFFF]
        answer = self.open.pop((pair.number, raw >> 96 & 0xFFFF))
        found = {"result": raw & (1 << 64) - 1, "status": raw >> 113 & 0x7FF, "do_not_retry": raw >> 127}
        assert found == answer
        pair.reported += ((raw >> 64 & 0xFFFF) - pair.reported) % pair.entries
        assert pair.reported <= pair.delivered
        queue.taken += 1
        return True

    def release(self, queue: Completions) -> None:
        if queue.released != queue.taken:
            queue.released = queue.taken
            self.ring(queue.number, True, queue.taken % queue.entries)

    async def _controller(self) -> None:
        """Take entries, answer commands in any order, and watch interrupts and wrong doorbells."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            self.clock += 1
            if dut.entries__valid.value == 1:
                self._take(unpack(ENTRY, int(dut.entries__payload.value)))
            if dut.interrupts__valid.value == 1:
                self.vectors.append(int(dut.interrupts__payload.value))
            self.wrong[0] += int(dut.wrong_queue.value)
            self.wrong[1] += int(dut.wrong_value.value)
            self.failed += int(dut.failed.value)
            dut.taken.value = 1 << (self._untaken.pop(0) != 0) if self.taking and self._untaken else 0
            ready = [item for item in self.waiting if item[0] not in self.held]
            if ready and random.random() < self.busy:
                self._answer(random.choice(ready) if self.busy < 1 else ready[0])

    def _take(self, entry: dict[str, int]) -> None:
        pair = self.pairs[entry["queue"]]
        raw = entry["bytes"].to_bytes(64, "little")
        assert raw == pair.submitted[pair.delivered], f"queue {pair.number}, entry {pair.delivered}"
        pair.delivered += 1
        self.order.append(pair.number)
        self.arrived_at.append(self.clock)
        self._untaken.append(pair.number)
        assert sum(number == 0 for number in self._untaken) <= MAILBOX_ENTRIES
        assert sum(number != 0 for number in self._untaken) <= BUFFER_ENTRIES
        self.waiting.append((pair.number, raw))

    def _answer(self, item: tuple[int, bytes]) -> None:
        self.waiting.remove(item)
        number, raw = item
        cid = int.from_bytes(raw[2:4], "little")
        fields = {"result": random.getrandbits(64), "status": random.getrandbits(11),
                  "do_not_retry": random.getrandbits(1)}  # fmt: skip
        self.open[number, cid] = fields
        self.answers[min(number, 1)].send(pack(ANSWER, queue=number, cid=cid, **fields))

    async def settle(self, cycles: int = 150) -> None:
        for _ in range(int(cycles / self.busy) + self.host.latency):
            await RisingEdge(self.dut.clk)

    async def until(self, condition, what: str, cycles: int = 60_000) -> None:
        for _ in range(cycles):
            await RisingEdge(self.dut.clk)
            if condition():
                return
        raise AssertionError(f"{what} has not come in {cycles} cycles")


@cocotb.test()
@cocotb.parametrize((("busy", "latency"), [(0.6, 20), (1, 60), (1, 0)]))
async def commands_go_round_the_rings(dut, busy, latency):
    """Queues of all sizes, some of which share their completion queue; wrong doorbells change nothing."""
    bench = Bench(dut, busy, latency)
    await bench.start((random.randint(2, 6), random.randint(2, 6)))
    numbers = random.sample(range(1, QUEUES + 1), 5)
    for number in numbers:
        shared = [pair.completions for pair in bench.pairs.values() if pair.number]
        if shared and random.random() < 0.4:
            bench.create(number, random.randint(2, 40), random.choice(shared))
        else:
            bench.create(number, random.randint(2, 40), random.randint(2, 20), random.random() < 0.8)
    await bench.until(lambda: bench.changes.empty, "the queues")
    before = bytes(bench.host.memory)
    wrong, lazy = [0, 0], random.choice([0, 0.8])

    def finished() -> bool:
        return all(
            len(pair.submitted) >= COMMANDS and pair.delivered == len(pair.submitted)
            for pair in bench.pairs.values()
        ) and not (bench.open or bench.waiting)

    for _ in range(200_000):
        await RisingEdge(dut.clk)
        pair = random.choice(list(bench.pairs.values()))
        left = min(pair.room, COMMANDS - len(pair.submitted))
        if left > 0 and random.random() < 0.2:
            bench.submit(pair, random.randint(1, left))
        if random.random() < 0.01:
            absent = random.choice([number for number in range(500) if number not in bench.pairs])
            bench.ring(absent, False, 1)
            bench.ring(
                pair.number, False, random.choice([pair.entries, 0xFFFF, len(pair.submitted) % pair.entries])
            )
            bench.ring(pair.completions.number, True, random.randrange(pair.completions.entries, 1 << 16))
            wrong[0] += 1
            wrong[1] += 2
        for queue in bench.queues.values():
            while bench.poll(queue):
                pass
            if random.random() >= lazy:
                bench.release(queue)
        if finished():
            break
    assert finished(), f"{[(pair.number, pair.delivered) for pair in bench.pairs.values()]}"
    await bench.settle()
    assert bench.wrong == wrong and bench.failed == 0
    fired = sum(queue.taken for queue in bench.queues.values() if queue.interrupts)
    assert len(bench.vectors) == fired
    for queue in bench.queues.values():
        expected = sum(
            one.taken for one in bench.queues.values() if one.vector == queue.vector and one.interrupts
        )
        assert bench.vectors.count(queue.vector) == expected
    # No byte outside of the completion queues has changed, but by the host.
    after = bytearray(bench.host.memory)
    for base, size in (
        *((pair.base, 64 * pair.entries) for pair in bench.pairs.values()),
        *((queue.base, 16 * queue.entries) for queue in bench.queues.values()),
    ):
        after[base : base + size] = before[base : base + size]
    assert after == before


@cocotb.test()
async def doorbells_are_checked_as_by_the_software(dut):
    """Every value at every place of small queues: the decision of `flashtrain.nvme.pcie.queues`."""
    bench = Bench(dut)
    await bench.start()
    pair = bench.create(1, 4, 4)
    bench.held = {1}
    completions = CompletionQueue(1, 0, 4, 0)
    model = SubmissionQueue(1, 0, 4, completions, lambda *_: None)
    await bench.settle()
    decisions = set()

    async def ring(of_completions: bool, value: int) -> None:
        before, tail = bench.wrong[1], model.tail
        model.head = pair.delivered % 4
        while bench.poll(pair.completions):
            completions.tail = (completions.tail + 1) % 4
        accepted = completions.free(value) if of_completions else model.extend(value)
        if accepted and not of_completions:
            bench.submit(pair, (value - tail) % 4)
        else:
            bench.ring(1, of_completions, value)
        await bench.settle(60)
        assert bench.wrong == [0, before + (not accepted)], (model, completions, value)
        decisions.add((of_completions, accepted))

    for _ in range(40):
        await ring(False, random.choice([0, 1, 2, 3, 4, 0x1000, 0xFFFF]))
        bench.held = {1} if random.random() < 0.5 else set()
        await bench.settle(60)
        for _ in range(2):
            await ring(True, random.choice([0, 1, 2, 3, 4, 0xFFFF]))
    assert len(decisions) == 4


@cocotb.test()
async def queues_take_turns_and_admin_commands_come_first(dut):
    bench = Bench(dut, latency=40)
    await bench.start((16, 16))
    numbers = random.sample(range(1, QUEUES + 1), 4)
    bench.taking = False
    bench.held = {0, *numbers}
    for number in numbers:
        bench.submit(bench.create(number, 32, 32), 20)
    await bench.settle(400)
    assert len(bench.order) == BUFFER_ENTRIES, "as many as there are places behind the engine"
    bench.submit(bench.pairs[0], 6)
    await bench.settle()
    assert bench.order[BUFFER_ENTRIES:] == [0] * MAILBOX_ENTRIES, "I/O commands do not hold up admin commands"
    bench.taking = True
    await bench.until(lambda: len(bench.order) == 86, "all commands")
    order = [number for number in bench.order if number]
    steady = order[4:-4]
    for at in range(len(steady) - 4):
        assert len(set(steady[at : at + 4])) == 4, f"queues do not take turns: {order}"


@cocotb.test()
async def a_full_completion_queue_holds_up_its_own_commands_only(dut):
    bench = Bench(dut, latency=10)
    await bench.start((8, 2))
    slow, fast = bench.create(1, 32, 4), bench.create(2, 32, 32)
    bench.submit(slow, 20)
    bench.submit(bench.pairs[0], 3)
    bench.submit(fast, 20)
    await bench.settle(800)
    assert slow.delivered == 3, "as many as have places for completions"
    assert fast.delivered == 20
    assert bench.pairs[0].delivered == 3, "admin commands are fetched without"
    assert bench.vectors.count(0) >= 1 and not bench.answers[0].empty, "the second admin answer waits"
    for _ in range(8):
        for queue in bench.queues.values():
            while bench.poll(queue):
                pass
            bench.release(queue)
        await bench.settle(200)
    assert slow.delivered == 20 and not bench.open and bench.answers[0].empty


@cocotb.test()
async def a_deleted_queue_is_not_read(dut):
    bench = Bench(dut, latency=80)
    await bench.start()
    pair, other = bench.create(3, 32, 32), bench.create(4, 8, 8)
    await bench.settle()
    bench.submit(pair, 30)
    await bench.settle(20)
    bench.change(ChangeKind.DELETE_SUBMISSIONS, 3)
    await bench.until(lambda: bench.changes.empty, "the end of the queue")
    fetched, reads = pair.delivered, len(bench.host.log)
    assert 0 < fetched < 30
    bench.ring(3, False, 31)
    await bench.settle()
    assert pair.delivered == fetched and bench.wrong == [1, 0]
    assert not [one for one in bench.host.log[reads:] if not one["write"]]
    while bench.poll(pair.completions):
        pass
    assert pair.completions.taken == fetched, "commands that were fetched are answered"
    bench.submit(other, 3)
    await bench.settle(300)
    assert other.delivered == 3
    bench.change(ChangeKind.DELETE_COMPLETIONS, 3)
    await bench.settle(20)
    writes = len(bench.host.log)
    bench.answers[1].send(pack(ANSWER, queue=3, cid=1))
    await bench.settle()
    assert len(bench.host.log) == writes and bench.answers[1].empty


@cocotb.test()
async def a_disabled_engine_ends_what_it_has_begun(dut):
    bench = Bench(dut, latency=50)
    await bench.start()
    for time in range(3):
        pair = bench.create(7, 32, 32)
        await bench.until(lambda: bench.changes.empty, "the queue")
        bench.submit(pair, 10)
        bench.submit(bench.pairs[0], 3)
        await bench.settle(random.randrange(60))
        dut.enable.value = 0
        await bench.until(lambda: dut.running.value == 0, "the end")
        done = len(bench.host.log)
        for source in bench.answers.values():
            await bench.until(lambda source=source: source.empty, "the end of answers")
        bench.ring(7, False, 20)
        await bench.settle()
        assert len(bench.host.log) == done and bench.host.quiet, "it touches memory while it is disabled"
        bench.waiting.clear()
        bench.open.clear()
        for one in bench.pairs.values():
            one.submitted.clear()
            one.delivered = one.reported = 0
        admin = bench.queues[0]
        admin.taken = admin.released = 0
        bench.host.memory[admin.base : admin.base + PAGE] = bytes(PAGE)
        dut.enable.value = 1
        await bench.until(lambda: dut.running.value == 1, "the start")
        bench.ring(7, False, 1)
        await bench.settle(40)
        assert bench.wrong[0] == time + 1, "no queue but the admin queue"
        bench.submit(bench.pairs[0], 2)
        await bench.settle(300)
        while bench.poll(admin):
            pass
        assert admin.taken == 2
        bench.release(admin)


@cocotb.test()
async def a_refused_request_is_reported(dut):
    bench = Bench(dut)
    await bench.start()
    pair = bench.create(1, 8, 8)
    await bench.settle()
    bench.host.faults.add(pair.base + 64)
    bench.submit(pair, 2)
    await bench.settle(200)
    assert pair.delivered == 1 and bench.failed == 1


@cocotb.test()
async def latencies_and_rates_are_those_of_the_data_sheet(dut):
    bench = Bench(dut, latency=80)
    await bench.start((64, 64))
    pair = bench.create(5, 200, 200)
    bench.held = {0, 5}
    found = []
    for one in (bench.pairs[0], pair, pair):
        await bench.settle(400)
        bench.submit(one)
        cycles = -1  # the port takes one
        await bench.until(lambda: dut.doorbells__valid.value == 1, "the doorbell")
        while dut.requests__valid.value != 1:
            await RisingEdge(dut.clk)
            cycles += 1
        found.append(cycles)
    assert found[0] == ADMIN_LATENCY and all(cycles in LATENCIES for cycles in found[1:]), found
    await bench.settle(400)
    bench.submit(pair, 100)
    await bench.until(lambda: pair.delivered == 102, "all entries")
    interval = (bench.arrived_at[-1] - bench.arrived_at[20]) / 79
    writes = len(bench.host.log)
    bench.held = set()
    await bench.until(lambda: not bench.waiting and bench.answers[1].empty, "all answers")
    await bench.settle()
    assert len(bench.host.log) - writes == 103
    assert interval <= 9, interval


@cocotb.test()
async def classes_have_their_shares(dut):
    """Urgent commands first, then three of high priority, two of medium and one of low in each round."""
    bench = Bench(dut, latency=20)
    weights = MailboxArbitration.high.put(2) | MailboxArbitration.medium.put(1)
    await bench.start(weighted=1, weights=weights)
    numbers = dict(zip(Priority, random.sample(range(1, QUEUES + 1), len(Priority)), strict=True))
    for priority, number in numbers.items():
        bench.create(number, 40, 40, priority=priority)
    await bench.until(lambda: bench.changes.empty, "the queues")
    await bench.settle()
    bench.taking = False
    urgent = BUFFER_ENTRIES + 4
    for priority, number in numbers.items():
        bench.submit(bench.pairs[number], urgent if priority == Priority.URGENT else 12)
        await bench.until(lambda: bench.doorbells.empty, "the doorbell")
        await bench.settle()
    assert bench.order == [numbers[Priority.URGENT]] * BUFFER_ENTRIES
    bench.taking = True
    await bench.until(lambda: len(bench.order) == urgent + 36, "the last command")
    kinds = {number: priority for priority, number in numbers.items()}
    found = [kinds[number] for number in bench.order[BUFFER_ENTRIES:]]
    of_round = [Priority.HIGH] * 3 + [Priority.MEDIUM] * 2 + [Priority.LOW]
    assert found[: 4 + 24] == [Priority.URGENT] * 4 + of_round * 4
