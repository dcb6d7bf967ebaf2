"""Turns of queues beside a model: round robin, and weighted by classes."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start
from flashtrain.spec.pcie import MailboxArbitration, Priority

QUEUES, ROUNDS = (bench_parameters()[name] for name in ("queues", "rounds"))
READY = 8
"""Cycles after which there is an offer of each class with requests, also in the first of a round."""
MOST_LATENCY = 5
_FIELDS = {
    Priority.HIGH: MailboxArbitration.high,
    Priority.MEDIUM: MailboxArbitration.medium,
    Priority.LOW: MailboxArbitration.low,
}


class Model:
    """Whose turn it is, when all of them always have commands or none."""

    def __init__(self) -> None:
        self.last = dict.fromkeys(Priority, QUEUES - 1)
        self.left = dict.fromkeys(_FIELDS, 0)
        self.classes = [Priority.URGENT] * QUEUES

    def next(self, requests: int, weights: int) -> int:
        asking = {mine for queue, mine in enumerate(self.classes) if requests >> queue & 1}
        chosen = Priority.URGENT
        if Priority.URGENT not in asking:
            if not any(self.left[mine] for mine in asking):
                self.left = {mine: field.get(weights) + 1 for mine, field in _FIELDS.items()}
            chosen = min(mine for mine in asking if self.left[mine])
            self.left[chosen] -= 1
        order = [(self.last[chosen] + step) % QUEUES for step in range(1, QUEUES + 1)]
        self.last[chosen] = next(
            queue for queue in order if requests >> queue & 1 and self.classes[queue] == chosen
        )
        return self.last[chosen]


class Bench:
    def __init__(self, dut):
        self.dut, self.model, self.requests, self.weights = dut, Model(), 0, 0

    async def start(self, weighted: bool) -> None:
        names = "requests", "weights", "sets", "queue", "priority", "take"
        await start(self.dut, within=1000 * ROUNDS, weighted=weighted, **dict.fromkeys(names, 0))

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.clk)

    async def sort(self, priorities: list[Priority], weighted: bool) -> None:
        """Give each queue its class."""
        for queue, priority in enumerate(priorities):
            self.dut.sets.value, self.dut.queue.value, self.dut.priority.value = 1, queue, priority
            self.model.classes[queue] = priority if weighted else Priority.URGENT
            await self.cycles(1)
        self.dut.sets.value = 0

    def ask(self, requests: int, weights: int) -> None:
        self.requests, self.weights = requests, weights
        self.dut.requests.value, self.dut.weights.value = requests, weights

    async def take(self) -> int:
        assert self.dut.valid.value == 1, "there is no offer"
        found = int(self.dut.index.value)
        self.dut.take.value = 1
        await self.cycles(1)
        self.dut.take.value = 0
        return found


def some_queues() -> int:
    """Requests of a few queues, or of many."""
    return sum(1 << queue for queue in random.sample(range(QUEUES), random.choice([1, 3, QUEUES // 2])))


@cocotb.test()
@cocotb.parametrize(weighted=[False, True])
async def turns_are_those_of_the_model(dut, weighted):
    for _ in range(ROUNDS):
        bench = Bench(dut)
        await bench.start(weighted)
        kinds = random.choice([list(Priority), list(_FIELDS), [Priority.HIGH, Priority.LOW], [Priority.LOW]])
        await bench.sort([random.choice(kinds) for _ in range(QUEUES)], weighted)
        weights = sum(field.put(random.choice([0, 1, 3, 255])) for field in _FIELDS.values())
        bench.ask(some_queues(), weights | random.getrandbits(8))
        await bench.cycles(READY)
        for _ in range(30):
            await bench.cycles(READY)
            wanted = bench.model.next(bench.requests, bench.weights)
            found = await bench.take()
            assert found == wanted, f"queue {found} has the turn of {wanted}"


@cocotb.test()
async def shares_are_those_of_the_weights(dut):
    """At the engine's pace, where a search may not have ended: of each round no turn is lost."""
    bench = Bench(dut)
    await bench.start(True)
    await bench.sort([list(_FIELDS)[queue % 3] for queue in range(QUEUES)], True)
    counts = {Priority.HIGH: 5, Priority.MEDIUM: 2, Priority.LOW: 1}
    bench.ask((1 << QUEUES) - 1, sum(_FIELDS[mine].put(count - 1) for mine, count in counts.items()))
    taken = dict.fromkeys(_FIELDS, 0)
    for _ in range(8 * ROUNDS):
        await bench.cycles(3)
        while dut.valid.value != 1:
            await bench.cycles(1)
        taken[bench.model.classes[await bench.take()]] += 1
    assert taken == {mine: count * ROUNDS for mine, count in counts.items()}


@cocotb.test()
async def an_urgent_queue_is_first_and_all_have_turns(dut):
    bench = Bench(dut)
    await bench.start(True)
    await bench.sort([Priority(queue % 4) for queue in range(QUEUES)], True)
    bench.ask((1 << QUEUES) - 1 & ~0x1111_1111_1111_1111, 0)
    seen = set()
    for _ in range(3 * QUEUES):
        await bench.cycles(READY)
        seen.add(await bench.take())
    assert seen == {queue for queue in range(QUEUES) if queue % 4}
    bench.ask(bench.requests | 1 << 8, 0)
    await bench.cycles(MOST_LATENCY + 1)
    assert await bench.take() == 8
