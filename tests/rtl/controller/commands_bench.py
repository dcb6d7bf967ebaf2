"""Commands that must be refused, each with its status, and what each port may do. The queues go on."""

import random

import cocotb
import numpy as np

from flashtrain.sim.bench.environment import MEMORY_BYTES, Environment, cycles
from flashtrain.sim.bench.scoreboard import operation_name
from flashtrain.spec import Access, Completion, Opcode, Port, Status, Submission, ZoneAction, ZoneState
from flashtrain.spec.registers import Counter, Register, State
from flashtrain.spec.streams import SINGLE_NODE
from tests.rtl.controller.fms_config import ACCESS_NODE
from tests.rtl.controller.fms_helpers import CONFIG, COVERAGE, GEOMETRY, PAGE, begin

APPEND, WRITE, READ, FLUSH = Opcode.ZONE_APPEND, Opcode.WRITE, Opcode.READ, Opcode.FLUSH
SEND, RECEIVE = Opcode.ZONE_MANAGEMENT_SEND, Opcode.ZONE_MANAGEMENT_RECEIVE
RESET, RETIRE = Opcode.STREAM_RESET, Opcode.ZONE_RETIRE

VOLATILE, DURABLE = 1, 2
ZONES = 4  # of each stream of BENCH_NODE
ZONE = GEOMETRY.zone_size
MOST = CONFIG.max_blocks

# What a good command of each kind has, beside its opcode and namespace.
GOOD = {
    APPEND: {},
    WRITE: {},
    READ: {},
    FLUSH: {},
    SEND: {"action": ZoneAction.CLOSE},
    RECEIVE: {"room": 128},
    RESET: {},
    RETIRE: {"action": ZoneState.READ_ONLY},
}
DATA = (APPEND, WRITE, READ)
WITH_POINTER = (*DATA, RECEIVE)

# (commands, what is wrong, status). In the order of the checks of `spec.nvme`; the numbers are its.
FAULTS = [
    # 2
    (GOOD, {"fuse": 1}, Status.INVALID_FIELD),
    (GOOD, {"fuse": 2}, Status.INVALID_FIELD),
    (WITH_POINTER, {"psdt": 0}, Status.INVALID_FIELD),
    (WITH_POINTER, {"psdt": 2}, Status.INVALID_FIELD),
    (WITH_POINTER, {"psdt": 3}, Status.INVALID_FIELD),
    # 3
    *((GOOD, {"nsid": nsid}, Status.INVALID_NAMESPACE) for nsid in (0, 9, 0x101, 0xFFFF_FFFF)),
    *((GOOD, {"nsid": nsid}, Status.INVALID_FIELD) for nsid in (4, 8)),
    # 5
    (DATA, {"nlb": MOST}, Status.INVALID_FIELD),
    (DATA, {"nlb": 0xFFFF}, Status.INVALID_FIELD),
    ((APPEND, SEND, RETIRE), {"slba": 1}, Status.INVALID_FIELD),
    ((APPEND, SEND, RETIRE), {"slba": ZONE + ZONE // 2}, Status.INVALID_FIELD),
    *(((SEND,), {"action": action}, Status.INVALID_FIELD) for action in (0, 6, 0x10, 0xFF)),
    ((SEND,), {"action": 0, "select_all": 1}, Status.INVALID_FIELD),
    *(((RETIRE,), {"action": action}, Status.INVALID_FIELD) for action in (0, 1, 0xE, 0xFF)),
    ((RECEIVE,), {"action": 1}, Status.INVALID_FIELD),
    *(((RECEIVE,), {"report_options": options}, Status.INVALID_FIELD) for options in (8, 0x10, 0x80)),
    ((RECEIVE,), {"dwords": 14, "length": 60}, Status.INVALID_FIELD),
    ((RECEIVE,), {"dwords": 0, "length": 4}, Status.INVALID_FIELD),
    # 6
    *((WITH_POINTER, {"sgl_type": kind}, Status.SGL_TYPE_INVALID) for kind in (0x01, 0x10, 0x20, 0xF0)),
    *((DATA, {"length": length}, Status.SGL_LENGTH_INVALID) for length in (0, PAGE - 1, PAGE + 1, 2 * PAGE)),
    ((RECEIVE,), {"length": 0}, Status.SGL_LENGTH_INVALID),
    ((RECEIVE,), {"length": 132}, Status.SGL_LENGTH_INVALID),
    *((DATA, {"address": 0x8000 + by}, Status.SGL_GRANULARITY_INVALID) for by in (1, 8, PAGE // 2)),
    ((RECEIVE,), {"address": 0x8004}, Status.SGL_GRANULARITY_INVALID),
    *(
        (WITH_POINTER, {"address": address}, Status.DATA_TRANSFER_ERROR)
        for address in (MEMORY_BYTES, 1 << 35, 1 << 36, 1 << 40, 1 << 63, (1 << 64) - PAGE)
    ),
    ((RECEIVE,), {"address": MEMORY_BYTES - 120}, Status.DATA_TRANSFER_ERROR),
    # 7
    *(
        ((*DATA, SEND, RECEIVE, RETIRE), {"slba": zone * ZONE}, Status.LBA_OUT_OF_RANGE)
        for zone in (ZONES, 16, 1 << 20, 1 << 40, ((1 << 64) - 1) // ZONE)
    ),
    # 8, of an empty zone
    ((READ,), {}, Status.UNWRITTEN_BLOCK),
    ((READ,), {"slba": ZONE - 1}, Status.UNWRITTEN_BLOCK),
    ((WRITE,), {"slba": 1}, Status.ZONE_INVALID_WRITE),
    ((WRITE,), {"slba": ZONE - 1}, Status.ZONE_INVALID_WRITE),
    ((SEND,), {}, Status.INVALID_ZONE_TRANSITION),
]  # fmt: skip

# Two things wrong: the first check that fails gives the status.
TWO_FAULTS = [
    (APPEND, {"opcode": 0x7F, "fuse": 1, "nsid": 9}, Status.INVALID_OPCODE),
    (APPEND, {"fuse": 1, "nsid": 9}, Status.INVALID_FIELD),
    (APPEND, {"nsid": 9, "nlb": 0xFFFF}, Status.INVALID_NAMESPACE),
    (APPEND, {"nlb": MOST, "sgl_type": 1}, Status.INVALID_FIELD),
    (READ, {"sgl_type": 1, "length": 1}, Status.SGL_TYPE_INVALID),
    (READ, {"length": 1, "address": 1}, Status.SGL_LENGTH_INVALID),
    (READ, {"address": MEMORY_BYTES + 1}, Status.SGL_GRANULARITY_INVALID),
    (READ, {"address": MEMORY_BYTES, "slba": ZONES * ZONE}, Status.DATA_TRANSFER_ERROR),
    (WRITE, {"slba": ZONES * ZONE + 1}, Status.LBA_OUT_OF_RANGE),
    (RECEIVE, {"dwords": 7, "length": 32, "address": 1}, Status.INVALID_FIELD),
]

# The contract has no word on it: any of these tells the host that its data did not move.
MEMORY_ERRORS = {
    APPEND: {Status.DATA_TRANSFER_ERROR, Status.WRITE_FAULT},
    READ: {Status.DATA_TRANSFER_ERROR, Status.UNRECOVERED_READ_ERROR},
    RECEIVE: {Status.DATA_TRANSFER_ERROR, Status.INTERNAL_ERROR},
}


@cocotb.test()
async def malformed_commands(dut):
    """Every fault on every command it concerns, from both ports, with good commands between."""
    env = await begin(dut)
    cases = [(opcode, fault, status) for opcodes, fault, status in FAULTS for opcode in opcodes]
    cases += TWO_FAULTS
    cases += [
        (FLUSH, {"opcode": opcode}, Status.INVALID_OPCODE)
        for opcode in (0x03, 0x04, 0x08, 0x78, 0x7C, 0x7F, 0x85, 0x87, 0x89, 0xFF)
    ]
    random.shuffle(cases)
    for number, (opcode, fault, status) in enumerate(cases):
        port = Port(number % 2)
        env.submit(port, opcode, VOLATILE, **GOOD[opcode], fields=fault, status=status)
        if number % 20 == 0:
            env.submit(port, APPEND, DURABLE, zone=port, blocks=1, status=Status.SUCCESS)
        if len(env.pending) > 40:
            await env.wait(next(iter(env.pending.values())))
    await env.drain()
    errors = await env.registers.counter(Counter.ERRORS)
    assert errors == env.scoreboard.totals.errors == len(cases)
    await env.finish()


@cocotb.test()
async def the_largest_command(dut):
    """As many blocks as the limit allows, at the very end of the tensor buffer."""
    env = await begin(dut)
    end = range(MEMORY_BYTES - MOST * PAGE, MEMORY_BYTES)
    content = np.frombuffer(random.randbytes(len(end)), np.uint8)
    for opcode in (APPEND, READ):
        command = env.submit(
            Port.CORE, opcode, VOLATILE, blocks=MOST, fields={"address": end.start}, predict=False
        )
        # After `submit`: the piece that it takes, and fills, may be here.
        env.buffer.bytes[end.start :] = content if opcode is APPEND else 0
        env.buffer.grant(end, read=opcode is APPEND, write=opcode is READ)
        await env.wait(command)
        assert command.ok, f"{command}: {command.completion}"
    assert np.array_equal(env.buffer.bytes[end.start :], content)
    await env.finish()


async def permissions(env: Environment) -> None:
    """Every port, stream and command of the environment's node against the table in `spec.streams`."""
    needs = {READ: Access.READ, RECEIVE: Access.READ | Access.APPEND}
    for port in Port:
        for stream in env.node.streams:
            for opcode, good in GOOD.items():
                allowed = bool(stream.access(port) & needs.get(opcode, Access.APPEND))
                zone = 1 if opcode is RETIRE else 0  # it is lost afterwards
                command = env.submit(port, opcode, stream.nsid, zone=zone, **good)
                status, _ = command.answer
                assert (status != Status.ACCESS_DENIED) == allowed, f"{command}: predicted {status!r}"
                COVERAGE.hit("permission", f"{operation_name(opcode)}_{'allowed' if allowed else 'denied'}")
        await env.drain()


@cocotb.test()
async def permission_matrix(dut):
    """The streams of both nodes of Behemoth on one device; then each kind of access for each port."""
    env = await begin(dut, node=SINGLE_NODE)
    await permissions(env)
    await env.disable()
    env.use_node(ACCESS_NODE)
    await env.configure()
    await env.enable()
    await permissions(env)
    await env.finish()


@cocotb.test()
async def the_tensor_buffer_refuses(dut):
    """SLVERR from the tensor buffer fails the command whose access it was, no other, and its zone goes on."""
    env = await begin(dut)
    for opcode, size, offset in ((APPEND, {"blocks": 3}, PAGE + 4), (READ, {"blocks": 3}, PAGE + 4),
                                 (RECEIVE, {"room": 256}, 64)):  # fmt: skip
        await env.run(Port.HOST, APPEND, DURABLE, blocks=3, status=Status.SUCCESS)
        bad = env.submit(Port.HOST, opcode, DURABLE, **size, predict=False)
        env.buffer.broken.append(range(bad.piece.start + offset, bad.piece.start + offset + 8))
        good = env.submit(Port.CORE, APPEND, VOLATILE, blocks=1, status=Status.SUCCESS)
        await env.wait(bad, good)
        assert bad.completion.status in MEMORY_ERRORS[opcode], f"{bad}: {bad.completion}"
        env.buffer.broken.clear()
        COVERAGE.hit("memory_error", operation_name(opcode))
        await env.run(Port.HOST, RESET, DURABLE, status=Status.SUCCESS)

    # Nobody knows whose entry it is that cannot be fetched: it reads as zeros here.
    queue = env.queues[Port.HOST]
    slot = queue.sq_address + queue.pushed % queue.sq_entries * Submission.BYTES
    env.buffer.broken.append(range(slot, slot + Submission.BYTES))
    command = env.submit(Port.HOST, FLUSH, VOLATILE, fields={"cid": 0}, predict=False)
    await env.wait(command)
    assert command.completion.status == Status.DATA_TRANSFER_ERROR
    env.buffer.broken.clear()
    COVERAGE.hit("memory_error", "fetch")
    await env.run(Port.HOST, FLUSH, VOLATILE, status=Status.SUCCESS)
    await env.finish()

    # A completion that cannot be written is fatal: nobody would ever learn of it.
    env.buffer.broken.append(range(queue.cq_address, queue.cq_address + Completion.BYTES * queue.cq_entries))
    env.submit(Port.HOST, FLUSH, VOLATILE)
    for _ in range(200):
        await cycles(50)
        if await env.registers.read(Register.STATE) & State.FATAL:
            break
    else:
        raise AssertionError("STATE does not say FATAL")
    env.buffer.broken.clear()
    COVERAGE.hit("memory_error", "completion")
    await env.disable()
    await env.enable()
    await env.run(Port.CORE, APPEND, VOLATILE, blocks=1, status=Status.SUCCESS)
    await env.finish()
