"""Queues, doorbells and interrupts: wrap, a host that does not keep up, many commands in flight."""

import random

import cocotb

from flashtrain.sim.bench.environment import MEMORY_BYTES, Environment, cycles
from flashtrain.spec import Opcode, Port, Status
from flashtrain.spec import registers as r
from tests.rtl.controller.fms_helpers import CONFIG, COVERAGE, begin

APPEND, READ, FLUSH, RECEIVE = Opcode.ZONE_APPEND, Opcode.READ, Opcode.FLUSH, Opcode.ZONE_MANAGEMENT_RECEIVE
VOLATILE, DURABLE, SECOND = 1, 2, 3
AT_ONCE = 60  # cycles within which an interrupt follows its completion, with an AXI port that is never slow


def quick_command(env: Environment, port: Port) -> None:
    """A command that is answered at once, with success or not."""
    number = random.randrange(4)
    if number == 0:
        env.submit(port, RECEIVE, VOLATILE, room=64)
    elif number == 1:
        env.submit(port, READ, SECOND, status=Status.UNWRITTEN_BLOCK)
    elif number == 2:
        env.submit(port, APPEND, 9, status=Status.INVALID_NAMESPACE)
    else:
        env.submit(port, FLUSH, VOLATILE, status=Status.SUCCESS)


@cocotb.test()
async def queues_wrap(dut):
    """The shortest queue and one of odd length, many times round; each entry's head, phase and slot count."""
    env = await begin(dut, entries={Port.HOST: 2, Port.CORE: 5})
    for number in range(60):
        port = Port.HOST if number % 4 == 0 else Port.CORE
        quick_command(env, port)
        if number % 10 == 0:
            env.submit(Port.CORE, APPEND, DURABLE, blocks=2, status=Status.SUCCESS)
            env.submit(Port.CORE, Opcode.STREAM_RESET, DURABLE, status=Status.SUCCESS)
    await env.drain()
    for port, queue in env.queues.items():
        assert queue.written > 3 * queue.cq_entries
        COVERAGE.hit("queue_wrap", f"{port.name}_submission")
        COVERAGE.hit("queue_wrap", f"{port.name}_completion")
    await env.finish()


@cocotb.test()
async def a_host_that_does_not_keep_up(dut):
    """A full completion queue holds up its own port only; each slot that is given back lets one more come."""
    env = await begin(dut, entries={Port.HOST: 4, Port.CORE: 16})
    env.consume[Port.HOST] = False
    host = env.queues[Port.HOST]
    for _ in range(12):
        env.submit(Port.HOST, RECEIVE, VOLATILE, room=64)
    await env.until(lambda: host.written == 3)
    for _ in range(10):
        quick_command(env, Port.CORE)
    await env.wait(*(command for command in env.pending.values() if command.port is Port.CORE))
    COVERAGE.hit("slow_host", "other_port_goes_on")
    await cycles(500)
    assert host.written == 3, "the queue of 4 holds 3"
    COVERAGE.hit("slow_host", "queue_full")
    for count in (1, 2, 1):
        before = host.written
        await host.release(count)
        await cycles(500)
        assert host.written == before + count
    COVERAGE.hit("slow_host", "one_by_one")
    env.consume[Port.HOST] = True
    await host.release()
    await env.finish()


@cocotb.test()
async def many_commands_in_flight(dut):
    """More durable appends than there are tags, on both ports at once; what needs no tag overtakes them."""
    env = await begin(dut)
    count = CONFIG.commands + 2
    slow = [
        env.submit(Port(number % 2), APPEND, DURABLE, zone=number % 2, blocks=1, status=Status.SUCCESS)
        for number in range(count)
    ]
    quick = env.submit(Port.HOST, RECEIVE, VOLATILE, room=64, status=Status.SUCCESS)
    most = 0
    while env.pending:
        fetched = await env.registers.counter(r.Counter.COMMANDS)
        most = max(most, fetched - env.scoreboard.totals.commands)
    assert most >= CONFIG.commands, f"at most {most} commands in flight"
    COVERAGE.hit("in_flight", "all_tags")
    assert quick.completed < max(command.completed for command in slow)
    COVERAGE.hit("in_flight", "overtaken")
    assert await env.registers.counter(r.Counter.APPENDS) == count
    await env.finish()


@cocotb.test()
async def interrupts(dut):
    """A bit per port; masked, cleared, raised again; the line is the OR of what is let through."""
    env = await begin(dut)
    registers, irq = env.registers, dut.irq

    async def complete(port: Port) -> None:
        await env.run(port, RECEIVE, VOLATILE, room=64)
        await cycles(AT_ONCE)

    assert irq.value == 0 and await registers.read(r.Register.INTERRUPT) == 0
    for port in Port:
        await complete(port)
        assert irq.value == 1
        assert await registers.read(r.Register.INTERRUPT) == 1 << port
        COVERAGE.hit("interrupt", f"{port.name}_raised")
        await registers.write(r.Register.INTERRUPT, 1 << port)
        assert irq.value == 0 and await registers.read(r.Register.INTERRUPT) == 0
        COVERAGE.hit("interrupt", f"{port.name}_cleared")
    await registers.write(r.Register.INTERRUPT_MASK, 1 << Port.CORE)
    await complete(Port.HOST)
    assert irq.value == 0 and await registers.read(r.Register.INTERRUPT) == 1 << Port.HOST
    COVERAGE.hit("interrupt", "masked")
    await complete(Port.CORE)
    assert irq.value == 1 and await registers.read(r.Register.INTERRUPT) == 3
    await registers.write(r.Register.INTERRUPT, 1 << Port.CORE)
    assert irq.value == 0 and await registers.read(r.Register.INTERRUPT) == 1 << Port.HOST
    await registers.write(r.Register.INTERRUPT_MASK, 3)
    await cycles(5)
    assert irq.value == 1
    COVERAGE.hit("interrupt", "unmasked")
    await env.disable()
    await cycles(5)
    assert irq.value == 0 and await registers.read(r.Register.INTERRUPT) == 0
    COVERAGE.hit("interrupt", "disabled")
    await env.finish()


@cocotb.test()
async def bad_doorbells_and_registers(dut):
    """A doorbell past its queue is ignored and noted; settings are locked while enabled, doorbells else."""
    env = await begin(dut, entries=8)
    registers = env.registers
    for doorbell in (r.sq_tail_doorbell, r.cq_head_doorbell):
        for port in Port:
            for value in (8, 9, 0xFFFF):
                await registers.write(doorbell(port), value)
    await cycles(500)
    assert await registers.read(r.Register.STATE) & r.State.BAD_DOORBELL
    assert all(queue.written == 0 for queue in env.queues.values())
    for port in Port:
        await env.run(port, FLUSH, VOLATILE, status=Status.SUCCESS)
    COVERAGE.hit("doorbell", "past_the_queue")

    locked = [
        (r.Register.MEMORY_LOW, MEMORY_BYTES // 2),
        (r.port_register(0, r.PortRegister.SQ_BASE_LOW), 0x4000),
        (r.port_register(1, r.PortRegister.CQ_SIZE), 3),
        (r.stream_register(1, r.StreamRegister.ATTRIBUTES), 0),
        (r.stream_register(3, r.StreamRegister.ZONES), 0),
    ]
    for address, value in locked:
        await registers.write(address, value, refused=True)
    for address in (r.Register.ID, r.Register.STATE, r.Register.ZONE_WEAR, 0x040, 0x1FFC):
        await registers.write(address, 0, refused=True)
    await registers.read(0x040, refused=True)
    await registers.write(r.Register.CHANNEL_SELECT, CONFIG.geometry.channels, refused=True)
    assert await registers.read(r.Register.MEMORY_LOW) == MEMORY_BYTES
    await env.run(Port.HOST, APPEND, VOLATILE, blocks=2, status=Status.SUCCESS)
    COVERAGE.hit("register", "refused")

    await env.disable()
    assert not await registers.read(r.Register.STATE) & r.State.BAD_DOORBELL
    await registers.write(r.sq_tail_doorbell(0), 1, refused=True)
    await registers.write(r.cq_head_doorbell(1), 1, refused=True)
    COVERAGE.hit("doorbell", "while_disabled")
    await env.enable()
    await env.run(Port.HOST, APPEND, VOLATILE, blocks=2, status=Status.SUCCESS)
    await env.finish()
