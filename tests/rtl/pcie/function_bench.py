"""A host, firmware and an executor of commands round the whole function; the memory is compared whole."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.nvme.subsystem.features import Feature
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import pack
from flashtrain.spec import Opcode, Status
from flashtrain.spec.pcie import (
    DOORBELLS,
    Configuration,
    Mailbox,
    MailboxAggregation,
    MailboxBurst,
    MailboxState,
    MailboxVector,
    Property,
    Ready,
    Vector,
)
from tests.rtl.pcie.function_executor import MOST_BYTES, WIDTH
from tests.rtl.pcie.function_firmware import ACCESS, ENTRIES, QUEUES
from tests.rtl.pcie.function_host import BLOCK_BYTES, ENABLED, MESSAGES, Bench, entry

COMMANDS, UNIT_CYCLES = bench_parameters()["commands"], bench_parameters()["unit_cycles"]
ADMIN_LATENCY, LATENCIES = 11, range(13, 17)
ROWS = max(1, 64 // WIDTH)
"""Of an entry. A wide row has several words of it, and of a completion."""
COMMAND_LATENCIES, ANSWER_LATENCY = (6 + 8 // ROWS, 7 + 8 // ROWS), 8 if WIDTH == 8 else 9


async def open_queues(bench: Bench, count: int) -> list[int]:
    """Make I/O queues, some of which share their completion queue."""
    numbers = random.sample(range(1, QUEUES + 1), count)
    for number in numbers:
        others = [cq for cq in bench.cqs.values() if cq.number]
        shared = random.choice(others) if others and random.random() < 0.3 else None
        await bench.create(number, random.randint(2, ENTRIES), shared, random.random() < 0.8)
    return numbers


async def wrong_changes(bench: Bench, count: int) -> None:
    """Commands about queues with any values: the statuses are those of the software."""
    for _ in range(count):
        opcode = random.choice([AdminOpcode.CREATE_CQ, AdminOpcode.CREATE_SQ])
        number = random.choice([0, QUEUES + 1, *bench.sqs, random.randint(1, QUEUES)])
        entries = random.choice([1, ENTRIES + 1, 4])
        base = random.choice([bench.page, bench.page + 512])
        partner = random.choice([0, QUEUES + 1, *bench.cqs, random.randint(1, QUEUES)])
        await bench.admin(opcode, (base, 0), d10=(entries - 1) << 16 | number, d11=partner << 16)
        await bench.admin(AdminOpcode.DELETE_CQ, d10=random.choice([0, QUEUES + 1, *bench.cqs]))
    assert await bench.admin(AdminOpcode.DELETE_SQ, d10=random.choice([0, QUEUES + 1]))


async def submit_some(bench: Bench, numbers: list[int], left: int) -> int:
    """Commands in any queue with room; how many."""
    sq = bench.sqs[random.choice(numbers)]
    count = min(bench.room(sq), left, random.randint(1, 4), len(bench.free) // 24)
    if count <= 0:
        return 0
    await bench.submit(sq, *(bench.any_command(sq.number) for _ in range(count)))
    return count


@cocotb.test()
@cocotb.parametrize((("exponent", "busy", "latency"), [(0, 0.7, 20), (1, 1, 50)]))
async def commands_pass_from_doorbell_to_interrupt(dut, exponent, busy, latency):
    bench = Bench(dut, busy, latency)
    await bench.start()
    await bench.enable_vectors()
    await bench.enable(exponent, random.randint(3, 8))
    page = bench.take_page()
    assert not await bench.admin(AdminOpcode.GET_LOG_PAGE, (page, 0))
    assert not await bench.admin(AdminOpcode.SET_FEATURES, (page, 0))
    assert await bench.admin(AdminOpcode.KEEP_ALIVE) == Status.INVALID_OPCODE
    numbers = await open_queues(bench, 4)
    await wrong_changes(bench, 3)
    too_long = bench.command(numbers[0], Opcode.READ, MOST_BYTES // BLOCK_BYTES + 1)
    await bench.submit(bench.sqs[numbers[0]], too_long)
    for opcode in (Opcode.READ, Opcode.ZONE_APPEND):  # in each direction one without a fault
        while bench.open:
            await RisingEdge(dut.clk)
            for cq in list(bench.cqs.values()):
                await bench.poll(cq)
        await bench.submit(bench.sqs[numbers[0]], bench.command(numbers[0], opcode, 1))
    left = COMMANDS
    for _ in range(20_000):
        if left and random.random() < 0.3:
            left -= await submit_some(bench, numbers, left)
        for cq in list(bench.cqs.values()):
            await bench.poll(cq)
        if not left and not bench.open:
            break
        await RisingEdge(dut.clk)
    assert not bench.open, f"{len(bench.open)} commands have no completion"
    await bench.settle()
    bench.compare()
    assert all(bench.executor.moved.values()) and len(set(bench.found.values())) > 1
    # The message of a vector is behind the entries that it tells of.
    for vector in range(QUEUES + 1):
        mine = [cq for cq in bench.cqs.values() if cq.partner == vector and cq.interrupts and cq.place]
        places = [number for number, one in enumerate(bench.host.log)
                  if one["length"] == 1 and one["address"] == MESSAGES + Vector.BYTES * vector]  # fmt: skip
        assert bool(mine) == bool(places), f"vector {vector}"
        for cq in mine:
            ends = cq.base, cq.base + 16 * cq.entries
            posted = [number for number, one in enumerate(bench.host.log)
                      if one["write"] and ends[0] <= one["address"] < ends[1]]  # fmt: skip
            assert len(posted) == cq.place and posted[-1] < places[-1]
    assert all(data == (address - MESSAGES) // Vector.BYTES for address, data in bench.host.messages)
    # Queues are deleted with commands that wait, and their doorbells are wrong then.
    number = random.choice(numbers)
    bench.executor.held = True
    await submit_some(bench, [number], 3)
    cocotb.start_soon(_let_go(bench))
    assert not await bench.admin(AdminOpcode.DELETE_SQ, d10=number)
    assert not bench.executor.under_way
    await bench.poll(bench.cqs[bench.sqs[number].partner])
    fetched = len(bench.executor.commands.items)
    await bench.ring(number, False, bench.sqs[number].place % bench.sqs[number].entries ^ 1)
    await bench.settle(400)
    assert len(bench.executor.commands.items) == fetched
    assert bench.firmware.wrong == MailboxState.WRONG_QUEUE
    bench.compare()


async def _let_go(bench: Bench) -> None:
    """Answers are held until the queue's end has waited for them."""
    await bench.settle(1500)
    assert all(queue for queue, _ in bench.results), "the queue has ended before its commands"
    bench.executor.held = False


@cocotb.test()
@cocotb.parametrize((("busy", "latency"), [(0.7, 10), (1, 60)]))
async def a_reset_ends_what_was_begun(dut, busy, latency):
    """Commands are in all places when the controller is disabled; the memory does not change afterwards."""
    bench = Bench(dut, busy, latency)
    await bench.start()
    for exponent in (0, 1, 0, 2):
        await bench.enable(exponent)
        numbers = await open_queues(bench, 2)
        await bench.submit(bench.sqs[0], entry(AdminOpcode.ASYNC_EVENT_REQUEST, bench.new_cid()))
        for _ in range(6):
            await submit_some(bench, numbers, 8)
        page = bench.take_page()
        await bench.submit(bench.sqs[0], entry(AdminOpcode.GET_LOG_PAGE, bench.new_cid(), (page, 0)))
        bench.executor.held = True
        # Pieces wait in the walker.
        bench.executor.pieces.busy = random.choice([0, busy])
        for _ in range(random.randrange(400)):
            await RisingEdge(dut.clk)
        # CC.MPS changes with CC.EN, and not that of the commands under way.
        await bench.write(Property.CONFIGURATION, Configuration.page_exponent.put(random.randrange(5)))
        await bench.settle(300)
        waits = bench.executor.under_way
        ready = await bench.read(Property.STATUS)
        assert ready == (Ready.READY if waits else ready)
        bench.executor.held, bench.executor.pieces.busy = False, busy
        await bench.status(0)
        assert not bench.executor.under_way and dut.running.value == 0
        for cq in bench.cqs.values():
            await bench.poll(cq, release=False)
        bench.compare()
        requests = len(bench.host.log)
        for number in (0, *numbers):
            await bench.ring(number, False, 1)
        bench.firmware.stalled = True
        await bench.settle(100)
        bench.firmware.write(Mailbox.ANSWER, 0)  # to a command that is not there
        await bench.firmware.rest()
        bench.firmware.write(Mailbox.ADDRESS, page)
        bench.firmware.write(Mailbox.BURST, MailboxBurst.write.put(1))
        assert await bench.firmware.rest() & MailboxState.FAILED
        bench.firmware.stalled = False
        await bench.settle()
        assert len(bench.host.log) == requests and bench.host.quiet, "it touches memory while it is disabled"
        bench.compare()


@cocotb.test()
async def a_new_page_size_is_not_that_of_commands_under_way(dut):
    """The host changes CC.MPS as it disables the controller, and the pieces of a list have not been taken."""
    bench = Bench(dut)
    await bench.start()
    await bench.enable()
    await bench.create(1, 8, None)
    bench.executor.pieces.busy = 0
    await bench.submit(bench.sqs[1], bench.command(1, Opcode.READ, MOST_BYTES // BLOCK_BYTES))
    await bench.until(lambda: bench.executor.commands.items, "the command")
    await bench.write(Property.CONFIGURATION, Configuration.page_exponent.put(4))
    await bench.settle()
    bench.executor.pieces.busy = 1
    await bench.status(0)
    assert not bench.executor.under_way
    bench.compare()


@cocotb.test()
async def the_function_comes_to_rest_once(dut):
    """The controller is disabled at each time of a fetch, and its entry is dropped or was not read."""
    bench = Bench(dut)
    await bench.start()
    bench.firmware.stalled = True
    for delay in range(24):
        await bench.enable()
        await bench.submit(bench.sqs[0], entry(AdminOpcode.KEEP_ALIVE, bench.new_cid()))
        for _ in range(delay):
            await RisingEdge(dut.clk)
        await bench.write(Property.CONFIGURATION, 0)
        await bench.until(lambda: dut.running.value == 0, "rest", 200)
        for _ in range(40):
            await RisingEdge(dut.clk)
            assert dut.running.value == 0, f"it goes on after its rest, {delay} cycles after the doorbell"
        assert await bench.read(Property.STATUS) == 0


@cocotb.test()
async def interrupts_wait_for_more_completions(dut):
    """As the firmware has set it, and until the controller is disabled."""
    bench = Bench(dut)
    await bench.start()
    await bench.enable_vectors()
    await bench.enable()
    await bench.create(1, 16, None, vector=2)

    async def change(feature: Feature, value: int) -> None:
        assert not await bench.admin(AdminOpcode.SET_FEATURES, d10=feature, d11=value)

    async def flush(count: int) -> list[int]:
        """Vectors of messages after so many completions."""
        await bench.settle()
        bench.host.messages.clear()
        for _ in range(count):
            await bench.submit(bench.sqs[1], bench.command(1, Opcode.FLUSH, 1))
            await bench.until(lambda: bench.results, "the answer")
            await bench.settle()
            assert await bench.poll(bench.cqs[1]) == 1
        return [vector for _, vector in bench.host.messages]

    time = MailboxAggregation.time.put(6)
    await change(Feature.INTERRUPT_COALESCING, MailboxAggregation.threshold.put(2) | time)
    begun = bench.executor.clock
    assert await flush(1) == []
    await bench.until(lambda: bench.host.messages, "the end of the time")
    assert 0 <= bench.executor.clock - begun - 6 * UNIT_CYCLES < 600
    assert await flush(2) == [] and await flush(1) == [2]
    await change(Feature.INTERRUPT_VECTOR, MailboxVector.number.put(2) | MailboxVector.alone.put(1))
    assert await flush(2) == [2, 2]
    await change(Feature.INTERRUPT_VECTOR, MailboxVector.number.put(2))
    assert await flush(2) == []
    await change(Feature.INTERRUPT_COALESCING, 0)
    await bench.settle()
    assert [vector for _, vector in bench.host.messages] == [2, 0]
    await change(Feature.INTERRUPT_COALESCING, 255 | time)
    assert await flush(1) == []
    await bench.write(Property.CONFIGURATION, 0)
    await bench.status(0)
    await bench.settle(6 * UNIT_CYCLES)
    assert not bench.host.messages
    await bench.enable()
    await bench.create(1, 16, None, vector=2)
    assert await flush(2) == [2, 2]
    bench.compare()


@cocotb.test()
async def the_end_is_recorded_by_the_firmware(dut):
    bench = Bench(dut)
    await bench.start()
    await bench.enable()
    await bench.write(Property.CONFIGURATION, ENABLED | Configuration.shutdown.put(1))
    await bench.status(Ready.READY | Ready.SHUTDOWN_DONE)


@cocotb.test()
async def latencies_are_those_of_the_data_sheet(dut):
    bench = Bench(dut, latency=40)
    await bench.start()
    await bench.enable()
    await bench.create(1, 8, None, cq_entries=4)  # two commands are open
    bench.executor.held = True

    async def cycles_to(begin, end) -> int:
        while not begin():
            await RisingEdge(dut.clk)
        cycles = 0
        while not end():
            await RisingEdge(dut.clk)
            cycles += 1
        return cycles

    def requests() -> bool:
        return dut.requests__valid.value == 1

    found = []
    for queue, raw in (
        (0, entry(AdminOpcode.ASYNC_EVENT_REQUEST, bench.new_cid())),
        (1, bench.command(1, Opcode.FLUSH, 1)),
        (1, bench.command(1, Opcode.WRITE, 1)),
    ):
        await bench.settle(200)
        sq = bench.sqs[queue]
        bench.put(sq.base + 64 * (sq.place % sq.entries), raw)
        bench.open[queue, int.from_bytes(raw[2:4], "little")] = raw
        sq.place += 1
        access = pack(ACCESS, write=1, offset=(DOORBELLS + 8 * queue) // 4, data=sq.place % sq.entries)
        bench.accesses.send(access)
        # The doorbell reaches the engine a cycle after the access.
        found.append(await cycles_to(lambda: dut.accesses__valid.value == 1, requests) - 1)
        if queue:
            beats = [0]

            def ended(beats=beats) -> bool:
                beats[0] += dut.completions__valid.value == 1
                return beats[0] == ROWS

            found.append(await cycles_to(ended, lambda: dut.commands__valid.value == 1))
    await bench.settle(200)
    bench.executor.held = False
    found.append(await cycles_to(lambda: dut.done__valid.value == 1, requests))
    print(found)
    assert found[0] == ADMIN_LATENCY, found
    assert found[1] in LATENCIES and found[3] in LATENCIES, found
    assert (found[2], found[4]) == COMMAND_LATENCIES, found
    assert found[5] == ANSWER_LATENCY, found
