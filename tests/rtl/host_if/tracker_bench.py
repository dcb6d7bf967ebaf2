"""Random commands through the tracker: each is answered once, after its last event; its tag comes back."""

import random
from dataclasses import dataclass, field, replace

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.host_if.stopwatch import Span
from flashtrain.rtl.layouts import (
    Answer,
    Opening,
    Operation,
    PageEvent,
    ReadEffort,
    Retired,
    ReturnedPage,
    Settled,
)
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import Completion, Status, preset

CONFIG = replace(preset("tiny_ecc"), codec=bench_parameters()["codec"])
SOURCES = ("arrived", "programmed", "returned")
OPERATIONS = (
    Operation.APPEND, Operation.WRITE, Operation.READ, Operation.FLUSH, Operation.UPDATE, Operation.CONSTANTS,
    Operation.STATISTICS, Operation.INSPECT,
)  # fmt: skip
READS = (Operation.READ, Operation.STATISTICS, Operation.INSPECT)


@dataclass
class End:
    """The end of an encoded append, its event number `at`."""

    at: int
    offset: int
    stored: int
    slack: int
    non_volatile: int

    @property
    def result(self) -> int:
        """Its part of the result: the offset within the zone, and the length in the high half."""
        return self.offset | self.stored << 32

    def count(self) -> int:
        """Events that the opening counts: the end, and the programs of the bound."""
        return 1 + self.non_volatile * (self.stored + self.slack)


@dataclass
class Tracked:
    """A command of the model."""

    port: int
    cid: int
    stream: int
    source: int
    zone: int
    operation: Operation
    result: int
    events: list[int]  # for each, whether it fails
    tag: int = 0
    opened_at: int = 0
    offered_at: int = 0  # its answer
    answered_at: int = 0
    reported: int = 0
    program_failed: bool = False
    efforts: list[dict[str, int]] = field(default_factory=list)  # of pages that were returned
    end: End | None = None
    refused: bool = False  # the codec has refused a page

    @property
    def told(self) -> int:
        """The result of a read."""
        return sum(
            getattr(Completion, name).put(max((one[name] for one in self.efforts), default=0))
            for name in ("corrected", "retries")
        )

    @property
    def latency_kind(self) -> str | None:
        return {Operation.READ: "read", Operation.APPEND: "append", Operation.WRITE: "append"}.get(
            self.operation
        )

    @property
    def answer(self) -> dict[str, int]:
        failed = any(self.events)
        fault = Status.UNRECOVERED_READ_ERROR if self.operation in READS else Status.WRITE_FAULT
        result = self.told if self.operation is Operation.READ else self.result
        if self.end:
            result |= self.end.result
        refusal = Status.CODED_PAGE_ERROR if self.refused else Status.SUCCESS
        return {
            "port": self.port,
            "cid": self.cid,
            "status": fault if failed else refusal,
            "result": 0 if failed or self.refused else result,
        }


@dataclass
class Bench:
    """Opens commands as tags come, reports their events in any order, and checks answers as they come."""

    dut: object
    busy: float = 1
    in_flight: dict[int, Tracked] = field(default_factory=dict)  # by tag
    answered: list[Tracked] = field(default_factory=list)
    clock: int = 0

    def __post_init__(self):
        dut = self.dut
        self.tags = StreamSink(dut, "tags", self.busy)
        self.opening = StreamSource(dut, "opening", self.busy)
        sources = (*SOURCES, "settled") if CONFIG.codec else SOURCES
        self.events = {name: StreamSource(dut, name, self.busy) for name in sources}
        self.answers = StreamSink(dut, "answers", self.busy)
        self.retired = StreamSink(dut, "retired", self.busy)
        self.begun: dict[int, int] = {}
        self.latencies: list[tuple[str, int]] = []
        self.retired_at: list[int] = []

    async def run(self, commands: list[Tracked]) -> None:
        await start(self.dut)
        cocotb.start_soon(self._watch())
        cocotb.start_soon(self._open(list(commands)))
        cocotb.start_soon(self._report())
        await self.answers.wait_for(len(commands))
        await self.retired.wait_for(len(commands))
        for _ in range(4):
            await RisingEdge(self.dut.clk)
        assert self.dut.idle.value == 1
        assert sorted(c.cid for c in self.answered) == sorted(c.cid for c in commands)
        assert [unpack(Retired(CONFIG), bits) for bits in self.retired.items] == [
            {
                "stream": c.stream,
                "source": c.source,
                "zone": c.zone,
                "operation": c.operation.value,
                "program_failed": int(c.program_failed),
            }
            for c in self.answered
        ]
        assert {c.program_failed for c in self.answered if any(c.events)} == {False, True}
        # It begins two clocks after its opening, and ends one before its answer.
        assert self.latencies == [
            (command.latency_kind, command.offered_at - command.opened_at - 3)
            for command in self.answered
            if command.latency_kind is not None
        ]

    async def _open(self, commands: list[Tracked]) -> None:
        for number, command in enumerate(commands):
            command.tag = (await self.tags.wait_for(number + 1))[number]
            assert command.tag not in self.in_flight, "a tag was lent twice"
            self.in_flight[command.tag] = command
            self.opening.send(pack(
                Opening(CONFIG), tag=command.tag, port=command.port, cid=command.cid, stream=command.stream,
                source=command.source, zone=command.zone, operation=command.operation.value,
                count=command.end.count() if command.end else len(command.events), result=command.result,
            ))  # fmt: skip

    async def _report(self) -> None:
        """An event about as often as one is wanted, of any command that has been opened."""
        while True:
            await RisingEdge(self.dut.clk)
            opened = [c for c in self.in_flight.values() if c.opened_at and c.reported < len(c.events)]
            command = random.choice(opened) if opened else None
            name = self._source_of(command)
            source = self.events[name]
            if command and len(source.items) < 2:
                failed = command.events[command.reported]
                source.send(self._event(name, command, failed))
                command.reported += 1
                command.program_failed |= bool(failed) and name == "programmed"

    @staticmethod
    def _source_of(command: Tracked | None) -> str:
        """Of the command's next event."""
        if command and command.end:
            return "settled" if command.reported == command.end.at else "programmed"
        return random.choice(SOURCES)

    @staticmethod
    def _event(name: str, command: Tracked, failed: int) -> int:
        if name == "settled":
            end = command.end
            assert end is not None
            return pack(
                Settled(CONFIG), tag=command.tag, failed=failed, stream=command.stream, zone=command.zone,
                offset=end.offset, stored=end.stored, slack=end.slack, non_volatile=end.non_volatile,
            )  # fmt: skip
        if name != "returned":
            return pack(PageEvent(CONFIG), tag=command.tag, failed=failed)
        bits = random.choice((0, 1, random.getrandbits(ReadEffort(CONFIG).size)))
        command.efforts.append(unpack(ReadEffort(CONFIG), bits))
        fields = {"tag": command.tag, "failed": failed, "effort": bits}
        if CONFIG.codec:
            may_be_refused = command.operation is Operation.READ and command.cid % 2
            fields["refused"] = int(may_be_refused and random.random() < 0.5)
            command.refused |= bool(fields["refused"])
        return pack(ReturnedPage(CONFIG), **fields)

    async def _watch(self) -> None:
        """Follow what is handed over in each clock."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            self.clock += 1
            if dut.opening__valid.value == 1 and dut.opening__ready.value == 1:
                opening = unpack(Opening(CONFIG), int(dut.opening__payload.value))
                self.in_flight[opening["tag"]].opened_at = self.clock
            if dut.answers__valid.value == 1:
                cid = unpack(Answer(CONFIG), int(dut.answers__payload.value))["cid"]
                command = next(c for c in self.in_flight.values() if c.cid == cid)
                command.offered_at = command.offered_at or self.clock
            if dut.answers__valid.value == 1 and dut.answers__ready.value == 1:
                self._check_answer(unpack(Answer(CONFIG), int(dut.answers__payload.value)))
            if dut.retired__valid.value == 1 and dut.retired__ready.value == 1:
                self.retired_at.append(self.clock)
            self._check_reading(dut.reading.value == 1)
            span = unpack(Span(CONFIG), int(dut.span.value))
            assert not span["begins"] & span["ends"]
            if span["begins"]:
                self.begun[span["tag"]] = self.clock
            for kind in ("append", "read"):
                if span["ends"] and span[kind]:
                    self.latencies.append((kind, self.clock - self.begun[span["tag"]]))

    def _check_reading(self, reading: bool) -> None:
        """High while a read is in flight, give or take the cycles in which one comes or goes."""
        reads = [c for c in self.in_flight.values() if c.operation is Operation.READ]
        goes = self.answered and (
            len(self.retired_at) < len(self.answered)
            or max(self.retired_at[-1], self.answered[-1].answered_at) >= self.clock - 1
        )
        if reading:
            assert reads or goes, "reading, without a read"
        else:
            fresh = [c for c in reads if not c.opened_at or self.clock - c.opened_at <= 3]
            assert all(c in fresh or c.offered_at for c in reads), "unnoticed read"

    def _check_answer(self, answer: dict[str, int]) -> None:
        command = next(c for c in self.in_flight.values() if c.cid == answer["cid"])
        assert answer == command.answer
        assert command.reported == len(command.events), "answered before its last event"
        assert self.dut.idle.value == 0
        del self.in_flight[command.tag]
        self.answered.append(command)
        command.answered_at = self.clock


def random_commands(count: int) -> list[Tracked]:
    commands = [random_command(cid) for cid in random.sample(range(1 << 16), count)]
    for command in commands[:6]:  # reads without a failure, of which some may be refused
        command.operation, command.result, command.end = Operation.READ, 0, None
        command.events = [0] * 2 * CONFIG.max_blocks
    random.shuffle(commands)
    return commands


def random_command(cid: int) -> Tracked:
    operation = random.choice(OPERATIONS)
    end = random_end() if CONFIG.codec and operation is Operation.APPEND and random.random() < 0.8 else None
    events = random.choice([1, 1, 3 * CONFIG.max_blocks, random.randint(1, CONFIG.max_blocks)])
    result = 0 if operation is Operation.READ else random.getrandbits(32)
    if end:
        events = 1 + end.non_volatile * end.stored
        result &= ~(CONFIG.geometry.zone_size - 1)
    return Tracked(
        port=random.randrange(2),
        cid=cid,
        stream=random.randrange(8),
        source=random.randrange(8),
        zone=random.randrange(CONFIG.geometry.zones),
        operation=operation,
        result=result,
        events=[int(random.random() < 0.03) for _ in range(events)],
        end=end,
    )


def random_end() -> End:
    """Often without slack, or with one block stored; before, between or after its programs."""
    bound = random.randint(1, CONFIG.max_blocks)
    stored, non_volatile = random.choice((1, bound, random.randint(1, bound))), random.getrandbits(1)
    at = random.choice((0, stored, random.randint(0, stored))) * non_volatile
    offset = random.randrange(CONFIG.geometry.zone_size)
    return End(at, offset, stored, bound - stored, non_volatile)


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.7])
async def every_command_is_answered_once(dut, busy):
    bench = Bench(dut, busy)
    await bench.run(random_commands(120))
    if CONFIG.codec:
        ended = [command for command in bench.answered if command.end]
        assert {command.end.non_volatile for command in ended if command.end} == {0, 1}
        assert any(not any(command.events) for command in bench.answered if command.refused)


@cocotb.test()
async def each_source_is_served_every_eight_cycles(dut):
    """Openings and all event sources at once: none falls behind its share."""
    bench = Bench(dut)
    await start(dut)
    tags = await bench.tags.wait_for(CONFIG.commands)
    events = CONFIG.max_blocks
    for tag in tags:
        bench.opening.send(pack(Opening(CONFIG), tag=tag, cid=tag, count=events, operation=3))
    await RisingEdge(dut.opening__valid)
    for _ in range(2 * len(tags) + 1):
        await RisingEdge(dut.clk)
    # The sources share the events of every command; the last event of all comes from `arrived`.
    for number in range(events * len(tags)):
        bench.events[SOURCES[number % 3]].send(pack(PageEvent(CONFIG), tag=tags[number // events]))
    cycles = 0
    while len(bench.answers.items) < len(tags):
        await RisingEdge(dut.clk)
        cycles += 1
    assert cycles <= 2 * events * len(tags) + 12, f"{cycles} cycles for {events * len(tags)} events"


@cocotb.test()
async def the_answer_follows_the_last_event_by_three_clocks(dut):
    bench = Bench(dut)
    await start(dut)
    tag = (await bench.tags.wait_for(1))[0]
    assert dut.idle.value == 1
    bench.opening.send(pack(Opening(CONFIG), tag=tag, count=1, operation=6))
    await RisingEdge(dut.opening__valid)
    for _ in range(4):
        await RisingEdge(dut.clk)
    assert dut.idle.value == 0
    bench.events["returned"].send(pack(ReturnedPage(CONFIG), tag=tag))
    await RisingEdge(dut.returned__valid)
    cycles = 0
    while dut.answers__valid.value != 1:
        await RisingEdge(dut.clk)
        cycles += 1
    assert cycles == 4, "three clocks, and one until the bench sees it"
