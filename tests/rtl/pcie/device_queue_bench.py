"""A controller at its queue pair: entries of the reference, completions as answers, and reports that pass."""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout, write_beat_layout
from flashtrain.rtl.pcie.device_queue import QueueDoorbell, queue_entries
from flashtrain.rtl.pcie.layouts import DeviceAnswer
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import Completion, Status, Submission
from tests.rtl.pcie.host_entries import (
    CONFIG,
    ENTRY,
    MOST_BYTES,
    NAMESPACES,
    SLOTS,
    any_entry,
    fields_of,
    host_commands,
)

COMMANDS = bench_parameters()["commands"]
ADDRESS, BEAT, WORD = burst_layout(CONFIG.address_bits), read_beat_layout(64), write_beat_layout(64)
BELL, ANSWER = QueueDoorbell(), DeviceAnswer(SLOTS)
PLACES = queue_entries(SLOTS)
COMPLETIONS = SLOTS * MOST_BYTES
BELL_LATENCY, FETCH_LATENCY, ANSWER_LATENCY, ENTRY_CYCLES = 2, 1, 3, 9


class Bench:
    def __init__(self, dut, busy: float = 1):
        self.dut, self.busy = dut, busy
        self.entries, self.answers = StreamSource(dut, "entries", busy), StreamSink(dut, "completions", busy)
        self.bells = StreamSink(dut, "doorbells", busy)
        self.fetches, self.beats = StreamSource(dut, "read__ar", busy), StreamSink(dut, "read__r", busy)
        self.bursts, self.words = StreamSource(dut, "write__aw", busy), StreamSource(dut, "write__w", busy)
        self.acknowledged = StreamSink(dut, "write__b", busy)
        self.report_bursts, self.report_words = (
            StreamSink(dut, "reports__aw", busy), StreamSink(dut, "reports__w", busy),
        )  # fmt: skip
        self.report_answers = StreamSource(dut, "reports__b", busy)
        self.free = deque(range(SLOTS))
        self.sent: list[int] = []
        self.executing: list[int] = []
        self.expected: list[tuple[int, int, int, int]] = []
        self.reports: list[tuple[int, list[int]]] = []
        self.tail = self.head = self.fetched = self.completed = self.written = 0
        self.refused = random.getrandbits(SLOTS)
        self.told: list[int] = []

    async def start(self) -> None:
        await start(self.dut, enable=1, refused=self.refused)
        cocotb.start_soon(self._watch())

    def send(self) -> None:
        """A command of the reference in a free slot."""
        model, slot = host_commands(NAMESPACES), self.free.popleft()
        while True:
            raw = any_entry()
            if model.refusal(raw) == Status.SUCCESS:
                break
        blocks = MOST_BYTES // CONFIG.geometry.page_bytes
        offset = random.randrange(blocks) * CONFIG.geometry.page_bytes
        entry = next(model.steps(raw, slot, slot * MOST_BYTES + offset))
        self.sent.append(entry)
        self.entries.send(pack(ENTRY, **fields_of(entry)))

    async def _watch(self) -> None:
        """Fetch what the doorbell says, and check its entry."""
        seen = taken = 0
        while True:
            await RisingEdge(self.dut.clk)
            if answered := int(self.dut.answered.value):
                self.told.append(answered)
            for bits in self.bells.items[seen:]:
                bell = unpack(BELL, bits)
                seen += 1
                if bell["of_completions"]:
                    self.head += (bell["value"] - self.head) % PLACES
                    assert self.head <= self.completed
                    continue
                self.tail += (bell["value"] - self.tail) % PLACES
                assert self.tail <= len(self.sent), "a doorbell is ahead of the entries"
            while self.fetched < self.tail:
                place = self.fetched % PLACES * Submission.BYTES
                self.fetches.send(pack(ADDRESS, address=place, length=7))
                self.fetched += 1
            while len(self.beats.items) >= 8 * (taken + 1):
                beats = [unpack(BEAT, bits) for bits in self.beats.items[8 * taken : 8 * taken + 8]]
                entry = sum(beat["data"] << 64 * number for number, beat in enumerate(beats))
                assert entry == self.sent[taken], f"{entry:#x}, expected {self.sent[taken]:#x}"
                assert [beat["last"] for beat in beats] == [0] * 7 + [1]
                self.executing.append(Submission.cid.get(entry))
                taken += 1

    async def _write(self, address: int, words: list[int]) -> None:
        self.bursts.send(pack(ADDRESS, address=address, length=len(words) - 1))
        for number, word in enumerate(words):
            self.words.send(pack(WORD, data=word, last=number == len(words) - 1))
        self.written += 1
        await self.acknowledged.wait_for(self.written)

    async def complete(self) -> None:
        slot = self.executing.pop(random.randrange(len(self.executing)))
        status, result = random.choice([*Status]), random.getrandbits(64)
        c, place = Completion, self.completed % PLACES
        self.completed += 1
        entry = c.result.put(result) | c.cid.put(slot) | c.status.put(status)
        entry |= c.sq_head.put(random.getrandbits(16)) | c.phase.put(random.getrandbits(1))
        entry |= c.do_not_retry.put(random.getrandbits(1))
        self.expected.append((slot, status, result, self.refused >> slot & 1))
        await self._write(COMPLETIONS + 16 * place, [entry & (1 << 64) - 1, entry >> 64])
        self.free.append(slot)

    async def report(self) -> None:
        words = [random.getrandbits(64) for _ in range(8)]
        address = random.randrange(COMPLETIONS // 64) * 64
        self.reports.append((address, words))
        self.report_answers.send(0)
        await self._write(address, words)

    def check(self) -> None:
        names = "slot", "status", "result", "unreachable"
        answers = [unpack(ANSWER, bits) for bits in self.answers.items]
        assert [tuple(answer[name] for name in names) for answer in answers] == self.expected
        assert self.told == [1 << slot for slot, *_ in self.expected], "another refusal ends"
        bursts = [unpack(ADDRESS, bits) for bits in self.report_bursts.items]
        assert [burst["address"] for burst in bursts] == [address for address, _ in self.reports]
        words = [unpack(WORD, bits)["data"] for bits in self.report_words.items]
        assert words == [word for _, some in self.reports for word in some]


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.6, 0.3])
async def a_controller_has_what_the_translator_gives(dut, busy):
    bench = Bench(dut, busy)
    await bench.start()
    while bench.completed < COMMANDS:
        if bench.free and len(bench.sent) < COMMANDS and random.random() < 0.6:
            bench.send()
        if bench.executing and random.random() < 0.4:
            await bench.complete()
        if random.random() < 0.05:
            await bench.report()
        await RisingEdge(dut.clk)
    for _ in range(100):
        await RisingEdge(dut.clk)
    bench.check()
    assert bench.tail == bench.head == COMMANDS, "a doorbell is missing"
    # The queues begin anew with the controller.
    dut.enable.value = 0
    await RisingEdge(dut.clk)
    dut.enable.value = 1
    bench.tail = bench.head = bench.fetched = 0
    bells = len(bench.bells.items)
    bench.send()
    while len(bench.bells.items) == bells:
        await RisingEdge(dut.clk)
    assert unpack(BELL, bench.bells.items[-1]) == {"of_completions": 0, "value": 1}


@cocotb.test()
async def cycles_are_those_of_the_data_sheet(dut):
    bench = Bench(dut)
    await bench.start()

    async def cycles_to(begin: str, end: str) -> int:
        while getattr(dut, f"{begin}__valid").value != 1:
            await RisingEdge(dut.clk)
        cycles = 0
        while getattr(dut, f"{end}__valid").value != 1:
            await RisingEdge(dut.clk)
            cycles += 1
        return cycles

    bench.send()
    assert await cycles_to("entries", "doorbells") == BELL_LATENCY
    assert await cycles_to("read__ar", "read__r") == FETCH_LATENCY
    while not bench.executing:
        await RisingEdge(dut.clk)
    task = cocotb.start_soon(bench.complete())
    assert await cycles_to("write__aw", "completions") == ANSWER_LATENCY
    await task
    before = len(bench.beats.items)
    for _ in range(SLOTS):
        bench.send()
    await bench.beats.wait_for(before + 8 * SLOTS)
    taken = bench.beats.cycles[before:]
    assert taken[-8] - taken[0] == (SLOTS - 1) * ENTRY_CYCLES
    bench.check()
