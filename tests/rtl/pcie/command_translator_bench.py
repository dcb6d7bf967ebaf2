"""Random commands of hosts, right and wrong: entries and answers of `flashtrain.spec.host_commands`."""

import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.pcie.layouts import (
    BlockRun,
    DeviceAnswer,
    IoCommand,
    NamespaceSettings,
    QueueAnswer,
)
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import Opcode, Status, Submission
from flashtrain.spec.host_commands import (
    EVERY_NAMESPACE,
    FORCE_UNIT_ACCESS,
    Answer,
    HostCommands,
    HostNamespace,
    Steps,
    Zeros,
)
from flashtrain.spec.nvme import do_not_retry
from flashtrain.spec.pcie import INVALID_PRP_OFFSET, RESERVED_PSDT
from flashtrain.spec.registers import MAX_STREAMS
from tests.rtl.pcie.host_entries import (
    CONFIG,
    ENTRY,
    MOST_BYTES,
    NAMESPACES,
    SLOTS,
    G,
    any_entry,
    fields_of,
    host_commands,
)

COMMANDS = bench_parameters()["commands"]
COMMAND = IoCommand(MOST_BYTES)
ANSWER, DONE, SETTINGS = DeviceAnswer(SLOTS), QueueAnswer(), NamespaceSettings(CONFIG)
LATENCIES = {
    ("commands", "entries"): 7, ("commands", "places"): 2, ("pointed", "entries"): 4,
    ("completions", "done"): 3,
}  # fmt: skip
RUN = BlockRun(SLOTS, MOST_BYTES, G.page_bytes)
CYCLES = 8
"""Of a command and its answer."""

POINTERS = (*[Status.SUCCESS] * 8, INVALID_PRP_OFFSET, Status.DATA_TRANSFER_ERROR)
STATUSES = (*[Status.SUCCESS] * 90, *Status)
OF_A_READ = (*[Status.UNWRITTEN_BLOCK] * 90, *[Status.SUCCESS] * 90, *Status)


@dataclass
class Host:
    """A command as its host sees it, and the reference: the steps, the next entry, and the answer.

    `steps` is None until its first entry has come.
    """

    queue: int
    entry: int
    pointer: int
    steps: Steps | None = None
    expected: dict[str, int] | Zeros | None = None
    answer: Answer | None = None


def wrong_entries() -> list[int]:
    """A command for each status of a refusal."""
    s = Submission
    read = s.opcode.put(Opcode.READ)
    return [
        s.opcode.put(Opcode.INSPECT) | s.nsid.put(1),
        read | s.nsid.put(3),
        read | s.nsid.put(MAX_STREAMS + 1),
        read | s.nsid.put(1) | s.slba.put(NAMESPACES[1].zones * G.zone_size),
    ]


def unwritten_entries() -> list[int]:
    """Reads of one block, of two and of the most, and one whose host wants to know of unwritten blocks."""
    s, most = Submission, MOST_BYTES // G.page_bytes
    read = s.opcode.put(Opcode.READ)
    return [
        read | s.nsid.put(1) | s.slba.put(2),
        read | s.nsid.put(2) | s.nlb.put(1),
        read | s.nsid.put(7) | s.slba.put(5) | s.nlb.put(most - 1),
        read | s.nsid.put(5) | s.nlb.put(1),
    ]


def long_entries() -> list[int]:
    """Commands of several steps."""
    s, durable = Submission, FORCE_UNIT_ACCESS.put(1)
    return [
        s.opcode.put(Opcode.FLUSH) | s.nsid.put(EVERY_NAMESPACE),
        s.opcode.put(Opcode.ZONE_APPEND) | s.nsid.put(2) | durable,
        s.opcode.put(Opcode.ZONE_APPEND) | s.nsid.put(7) | durable,
        s.opcode.put(Opcode.WRITE) | s.nsid.put(2) | durable,
    ]


def pointed_length(model: HostCommands, entry: int) -> int:
    """The length that a command has from the buffer of I/O commands."""
    length = model.length(entry)
    return length if length <= MOST_BYTES and Submission.psdt.get(entry) != RESERVED_PSDT else 0


class Bench:
    """The function before the translator, the mover beside it, and the controller behind it."""

    def __init__(self, dut, namespaces: dict[int, HostNamespace], busy: float = 1):
        self.dut, self.busy, self.model = dut, busy, host_commands(namespaces)
        self.commands, self.pointed = StreamSource(dut, "commands", busy), StreamSource(dut, "pointed", busy)
        self.places, self.entries = StreamSink(dut, "places", busy), StreamSink(dut, "entries", busy)
        self.completions = StreamSource(dut, "completions", busy)
        self.zeros, self.zeroed = StreamSink(dut, "zeros", busy), StreamSource(dut, "zeroed", busy)
        self.filling: list[int] = []
        self.filled: set[tuple[bool, bool]] = set()
        self.done = StreamSink(dut, "done", busy)
        self.hosts: dict[tuple[int, int], Host] = {}
        self.to_point: deque[Host] = deque()
        self.to_issue: deque[Host] = deque()
        self.placed: deque[int] = deque()
        self.slots: dict[int, Host] = {}
        self.executing: list[tuple[int, bool]] = []
        self.found: set[int] = set()
        self.held = False
        for number in range(MAX_STREAMS):
            one = namespaces.get(number + 1, HostNamespace(0, True, True))
            getattr(dut, f"namespaces__{number}").value = pack(SETTINGS, **one._asdict())

    async def start(self) -> None:
        await start(self.dut)
        cocotb.start_soon(self._run())

    def submit(self, entry: int) -> Host:
        queue, length = random.randint(1, 64), pointed_length(self.model, entry)
        pointer = random.choice(POINTERS) if length and self.busy < 1 else Status.SUCCESS
        one, refusal = Host(queue, entry, pointer), self.model.refusal(entry, pointer)
        self.hosts[queue, Submission.cid.get(entry)] = one
        if length:
            self.to_point.append(one)
        if refusal == Status.SUCCESS:
            self.to_issue.append(one)
        else:
            one.answer = Answer(refusal)
        self.commands.send(pack(COMMAND, queue=queue, bytes=entry, length=length))
        return one

    async def _run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            for slot in self.places.new_items():
                assert slot not in self.slots, f"slot {slot} is in use"
                one = self.to_point.popleft()
                self.slots[slot] = one
                self.pointed.send(one.pointer)
            for bits in self.entries.new_items():
                self._execute(unpack(ENTRY, bits))
            for bits in self.done.new_items():
                self._finish(unpack(DONE, bits))
            for bits in self.zeros.new_items():
                self._fill(unpack(RUN, bits))
            if self.filling and random.random() < self.busy:
                slot = self.filling.pop(random.randrange(len(self.filling)))
                self.zeroed.send(slot)
                self._answer(slot, Answer(Status.SUCCESS))
            if self.executing and not self.held and random.random() < self.busy:
                self._complete(*self.executing.pop(random.randrange(len(self.executing))))

    def _execute(self, found: dict[str, int]) -> None:
        """An entry is the next step of its slot, or the first one of the next command without a refusal."""
        slot = found["slot"]
        one = self.slots.get(slot)
        if one is None or one.steps is None:
            one = self.to_issue.popleft()
            while one.answer is None and one.expected is None:
                steps = self.model.steps(one.entry, slot, slot * MOST_BYTES)
                try:
                    one.expected, one.steps = fields_of(next(steps)), steps
                except StopIteration as end:
                    one.answer, one = end.value, self.to_issue.popleft()
            assert self.slots.setdefault(slot, one) is one, f"slot {slot} is that of another command"
        assert found == one.expected, f"{found}, expected {one.expected}"
        one.expected = None
        self.executing.append((slot, found["length"] != 0))

    def _complete(self, slot: int, has_data: bool) -> None:
        one = self.slots[slot]
        reads = Submission.opcode.get(one.entry) == Opcode.READ
        status, result = random.choice(OF_A_READ if reads else STATUSES), random.getrandbits(64)
        unreachable = has_data and random.random() < 0.05
        if self.busy == 1:
            status, unreachable = Status.SUCCESS, False
        self.completions.send(pack(ANSWER, slot=slot, status=status, result=result, unreachable=unreachable))
        self._answer(slot, Answer(status, result, unreachable))

    def _answer(self, slot: int, answer: Answer) -> None:
        """The next step of the command in a slot, or its end."""
        one = self.slots[slot]
        try:
            step = one.steps.send(answer)
            one.expected = step if isinstance(step, Zeros) else fields_of(step)
        except StopIteration as end:
            one.answer = end.value

    def _fill(self, found: dict[str, int]) -> None:
        """The zeros of a read are those that its next step wants."""
        one, size = self.slots[found["slot"]], G.page_bytes
        blocks = found["block"], found["more"]
        zeros = Zeros(found["slot"] * MOST_BYTES + blocks[0] * size, (blocks[1] + 1) * size)
        assert zeros == one.expected, f"{found}, expected {one.expected}"
        one.expected = None
        self.filling.append(found["slot"])
        self.filled.add((blocks[0] > 0, blocks[1] > 0))

    def _finish(self, found: dict[str, int]) -> None:
        one = self.hosts.pop((found["queue"], found["cid"]))
        if one.answer is None:  # a command without any step
            assert self.to_issue.popleft() is one
            one.answer = next_answer(self.model, one.entry)
        status, result, _ = one.answer
        expected = {"status": status, "result": result, "do_not_retry": do_not_retry(status)}
        assert {name: found[name] for name in expected} == expected, f"{found}, expected {expected}"
        self.slots = {slot: other for slot, other in self.slots.items() if other is not one}
        self.found.add(status)


def next_answer(model: HostCommands, entry: int) -> Answer:
    """The answer to a command that has no step."""
    try:
        next(model.steps(entry, 0, 0))
    except StopIteration as end:
        return end.value
    raise AssertionError("the command has a step, and was answered without one")


@cocotb.test()
@cocotb.parametrize(
    (("busy", "appendable"), [(0.7, True), (0.3, True), (0.7, False)]),
)
async def commands_are_those_of_the_reference(dut, busy, appendable):
    table = NAMESPACES
    if not appendable:
        table = {nsid: one._replace(appends=False) for nsid, one in NAMESPACES.items()}
    bench = Bench(dut, table, busy)
    await bench.start()
    refused: set[int] = set()
    for number in range(COMMANDS):
        match number % 16:
            case 0:
                entry = random.choice(long_entries())
            case 1:
                entry = wrong_entries()[number // 16 % 4]
                refused.add(bench.model.refusal(entry))
            case 2 | 3 | 4 | 5:
                entry = random.choice(unwritten_entries())
            case _:
                entry = any_entry()
        bench.submit(entry | Submission.cid.put(number))
    for _ in range(200 * COMMANDS):
        if not bench.hosts:
            break
        await RisingEdge(dut.clk)
    assert not bench.hosts, f"{len(bench.hosts)} commands have no answer"
    assert not bench.executing and not bench.slots and not bench.filling
    # Zeros from the first block on, and from another one; of one block, and of several.
    assert len(bench.filled) == 4 or COMMANDS < 500, f"only {bench.filled}"
    assert len(refused) == 4 and bench.found >= refused, f"only {bench.found}"


@cocotb.test()
async def no_command_is_taken_without_a_slot(dut):
    bench = Bench(dut, NAMESPACES)
    bench.held = True
    await bench.start()
    s = Submission
    for number in range(SLOTS + 3):
        bench.submit(s.opcode.put(Opcode.READ) | s.nsid.put(1) | s.cid.put(number))
    for _ in range(40 * SLOTS):
        await RisingEdge(dut.clk)
    assert len(bench.executing) == SLOTS and len(bench.places.items) == SLOTS
    bench.held = False
    for _ in range(40 * SLOTS):
        await RisingEdge(dut.clk)
    assert not bench.hosts


@cocotb.test()
async def latencies_are_those_of_the_data_sheet(dut):
    bench = Bench(dut, NAMESPACES)
    await bench.start()
    s = Submission

    async def cycles_to(begin: str, end: str) -> int:
        while getattr(dut, f"{begin}__valid").value != 1:
            await RisingEdge(dut.clk)
        cycles = 0
        while getattr(dut, f"{end}__valid").value != 1:
            await RisingEdge(dut.clk)
            cycles += 1
        return cycles

    for number, ((begin, end), expected) in enumerate(LATENCIES.items()):
        opcode = Opcode.READ if {"places", "pointed"} & {begin, end} else Opcode.FLUSH
        bench.submit(s.opcode.put(opcode) | s.nsid.put(1) | s.cid.put(number))
        cycles = await cycles_to(begin, end)
        assert cycles == expected, f"{cycles} cycles from {begin} to {end}, expected {expected}"
        for _ in range(40):
            await RisingEdge(dut.clk)
        assert not bench.hosts
    for number in range(6 * SLOTS):
        bench.submit(s.opcode.put(Opcode.FLUSH) | s.nsid.put(1) | s.cid.put(number))
    while bench.hosts:
        await RisingEdge(dut.clk)
    taken = bench.entries.cycles[-4 * SLOTS - 1 :]
    assert taken[-1] - taken[0] == 4 * SLOTS * CYCLES, f"a command in {(taken[-1] - taken[0]) / SLOTS / 4}"
