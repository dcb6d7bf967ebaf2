"""Random and broken entries through the decoder, against the oracle."""

import random
from collections import Counter

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import OPERATION_OF, Command, Operation, StreamTable
from flashtrain.rtl.layouts import Entry as EntryLayout
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import Opcode, Status
from tests.configurations import configuration
from tests.rtl.host_if.decoder_oracle import (
    FLUSH,
    GENERATION,
    OPCODES,
    RESET,
    SERVES_DIES,
    UPDATE,
    WRITE,
    Entry,
    Oracle,
    random_entry,
    random_oracle,
)

CONFIG = configuration(bench_parameters()["preset"])
COMMAND, ENTRY = Command(CONFIG), EntryLayout()
ENTRIES = bench_parameters()["entries"]
DECODER_STATUSES = {
    Status.SUCCESS, Status.INVALID_OPCODE, Status.INVALID_FIELD, Status.INVALID_NAMESPACE,
    Status.ACCESS_DENIED, Status.SGL_TYPE_INVALID, Status.SGL_LENGTH_INVALID, Status.SGL_GRANULARITY_INVALID,
    Status.DATA_TRANSFER_ERROR, Status.LBA_OUT_OF_RANGE,
    *([Status.STREAM_IS_CODED] if CONFIG.codec else []),
}  # fmt: skip


class Bench:
    def __init__(self, dut, busy: float = 1):
        self.dut = dut
        self.entries = StreamSource(dut, "entries", busy)
        self.commands = StreamSink(dut, "commands", busy)

    async def start(self, oracle: Oracle) -> None:
        self.use(oracle)
        await start(self.dut)

    def use(self, oracle: Oracle) -> None:
        self.dut.memory_bytes.value = oracle.memory_bytes
        for number, stream in enumerate(oracle.streams):
            getattr(self.dut, f"streams__{number}").value = pack(
                StreamTable(CONFIG), valid=stream.valid, host=stream.rights[0], core=stream.rights[1],
                first=stream.first, zones=stream.zones,
                **({"codec": stream.codec} if CONFIG.codec else {}),
            )  # fmt: skip

    def send(self, port: int, entry: Entry, error: int = 0) -> None:
        self.entries.send(pack(ENTRY, port=port, error=error, bytes=entry.bits))

    async def command(self, number: int) -> dict[str, int]:
        return unpack(COMMAND, (await self.commands.wait_for(number + 1))[number])


def check(oracle: Oracle, port: int, entry: Entry, command: dict[str, int]) -> Status:
    """Compare one command; returns its status."""
    status = oracle.status(port, entry)
    story = f"port {port}, entry {[hex(dword) for dword in entry.dwords]}"
    assert command["status"] == status, f"{Status(command['status'])!r} instead of {status!r} for {story}"
    operation = OPERATION_OF[Opcode(entry.opcode)] if entry.opcode in OPCODES else Operation.INVALID
    assert command["operation"] == operation.value, story
    assert (command["port"], command["cid"]) == (port, entry.cid), story
    if status is Status.SUCCESS:
        wanted = oracle.fields(port, entry)
        assert {name: command[name] for name in wanted} == wanted, story
    return status


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.6])
async def every_entry_gets_the_status_of_its_first_fault(dut, busy):
    oracle = random_oracle(CONFIG)
    bench = Bench(dut, busy)
    await bench.start(oracle)
    seen: Counter[tuple[int | None, Status]] = Counter()
    tables, done = 20, 0
    for _ in range(tables):
        sent = [(random.randrange(2), random_entry(oracle)) for _ in range(ENTRIES // tables)]
        for port, entry in sent:
            bench.send(port, entry)
        await bench.commands.wait_for(done + len(sent))
        for port, entry in sent:
            command = unpack(COMMAND, bench.commands.items[done])
            opcode = entry.opcode if entry.opcode in OPCODES else None
            seen[opcode, check(oracle, port, entry, command)] += 1
            done += 1
        oracle = random_oracle(CONFIG)
        bench.use(oracle)
        await RisingEdge(dut.clk)
    assert {status for _, status in seen} == DECODER_STATUSES
    dut._log.info("covered: %s", {f"{opcode} {status.name}": n for (opcode, status), n in seen.items()})
    for opcode in OPCODES:
        statuses = {status for which, status in seen if which == opcode}
        least = {Status.SUCCESS, Status.INVALID_FIELD, Status.INVALID_NAMESPACE, Status.ACCESS_DENIED}
        if opcode not in (FLUSH, RESET, GENERATION, *SERVES_DIES):
            least.add(Status.LBA_OUT_OF_RANGE)
        if CONFIG.codec and opcode in (WRITE, UPDATE):
            least.add(Status.STREAM_IS_CODED)
        assert least <= statuses, f"opcode {opcode:02x}: only {statuses}"


@cocotb.test()
async def an_entry_not_fetched_is_a_transfer_error(dut):
    oracle = random_oracle(CONFIG)
    bench = Bench(dut)
    await bench.start(oracle)
    for number in range(50):
        entry = random_entry(oracle)
        bench.send(number % 2, entry, error=1)
        command = await bench.command(number)
        assert command["status"] == Status.DATA_TRANSFER_ERROR
        assert command["operation"] == Operation.INVALID.value
        assert command["port"] == number % 2


@cocotb.test()
async def a_command_takes_four_cycles_and_follows_every_fourth_clock(dut):
    oracle = random_oracle(CONFIG)
    bench = Bench(dut)
    await bench.start(oracle)
    for _ in range(100):
        bench.send(0, random_entry(oracle))
    await RisingEdge(dut.entries__valid)
    latency = 0
    while dut.commands__valid.value != 1:
        await RisingEdge(dut.clk)
        latency += 1
    assert latency == 5, "four cycles, and one until the bench sees it"
    await bench.commands.wait_for(100)
    taken = bench.commands.cycles
    assert taken[-1] - taken[0] == 4 * 99
