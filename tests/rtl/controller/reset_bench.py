"""CONTROL.ENABLE cleared while all is under way: the bus stays whole, and afterwards the device works."""

import random

import cocotb
from cocotb.triggers import RisingEdge, with_timeout

from flashtrain.sim.bench.environment import DEFAULT_TIMEOUT, Environment, cycles
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec import Opcode, Port, Status
from flashtrain.spec import registers as r
from tests.rtl.controller.fms_helpers import COVERAGE, GEOMETRY, begin

APPEND, READ, FLUSH, RECEIVE = Opcode.ZONE_APPEND, Opcode.READ, Opcode.FLUSH, Opcode.ZONE_MANAGEMENT_RECEIVE
VOLATILE, DURABLE, SECOND = 1, 2, 3
SOON = 100_000 * PERIOD_NS


def busy_with_everything(env: Environment) -> None:
    """Appends, programs and reads on both ports, and zones to erase."""
    for number in range(4):
        env.submit(Port.HOST, APPEND, DURABLE, blocks=3, status=Status.SUCCESS)
        env.submit(Port.CORE, APPEND, VOLATILE, blocks=4, status=Status.SUCCESS)
        env.submit(
            Port.CORE,
            READ,
            VOLATILE,
            offset=random.randrange(4 * number + 1),
            blocks=4,
            status=Status.SUCCESS,
        )
        env.submit(
            Port.HOST, READ, DURABLE, offset=random.randrange(3 * number + 1), blocks=3, status=Status.SUCCESS
        )
        env.submit(Port.CORE, APPEND, SECOND, zone=number, blocks=1, status=Status.SUCCESS)
        env.submit(Port.CORE, Opcode.STREAM_RESET, SECOND, status=Status.SUCCESS)


async def works(env: Environment) -> None:
    """Some of everything, after an enable."""
    for nsid in (VOLATILE, DURABLE):
        env.submit(Port.CORE, READ, nsid, status=Status.UNWRITTEN_BLOCK)
        env.submit(Port.CORE, APPEND, nsid, blocks=5, status=Status.SUCCESS)
        env.submit(Port.CORE, READ, nsid, blocks=5, status=Status.SUCCESS)
    await env.drain()
    env.check()


async def disable(env: Environment) -> None:
    """Disable; afterwards nothing moves any more, and the registers are as they were."""
    await env.disable()
    written = [queue.written for queue in env.queues.values()]
    content = env.buffer.bytes.copy()
    await cycles(300)
    assert env.bursts == 0
    assert [queue.written for queue in env.queues.values()] == written
    assert (env.buffer.bytes == content).all(), "the tensor buffer changed after the disable"
    assert await env.registers.read(r.Register.STATE) & (r.State.READY | r.State.FATAL) == 0
    assert (
        await env.registers.read(r.port_register(0, r.PortRegister.SQ_SIZE))
        == env.queues[Port.HOST].sq_entries - 1
    )
    env.check()


@cocotb.test()
async def in_mid_flight(dut):
    """At points where each kind of activity is known to be under way."""
    env = await begin(dut)
    nand = env.nand
    points = {
        "data_read": lambda: int(dut.data_reads.value) > 0,
        "data_write": lambda: int(dut.data_writes.value) > 0,
        "program": lambda: nand.programmed > nand.passed,
        "erase": lambda: nand.operations["erase_2"] > 0,
        "suspended_read": lambda: (
            nand.operations["suspended_read_1"] + nand.operations["suspended_read_2"] > 0
        ),
    }
    for name, reached in points.items():
        busy_with_everything(env)
        await env.until(reached)
        await disable(env)
        COVERAGE.hit("reset_during", name)
        await env.enable()
    # Without FACTORY every block is erased before it is used. The NAND may have a third of the clock.
    await env.until_state(r.State.IDLE, 3 * DEFAULT_TIMEOUT)
    assert await env.registers.counter(r.Counter.ERASES) == GEOMETRY.zones
    COVERAGE.hit("erase", "before_use")
    await env.finish()


@cocotb.test()
async def while_the_bus_is_stuck(dut):
    """The tensor buffer stops answering, the controller is disabled, the tensor buffer goes on."""
    env = await begin(dut)
    queue, data = env.buffer.queue, env.buffer.data
    for name, channels, signal in (
        ("queue_write", (queue.write_if.w_channel, queue.write_if.aw_channel), dut.queue__wvalid),
        ("queue_read", (queue.read_if.r_channel, queue.read_if.ar_channel), dut.queue__arvalid),
        (
            "data_write",
            (data.write_if.w_channel, data.write_if.b_channel, data.write_if.aw_channel),
            dut.data__wvalid,
        ),
        ("data_read", (data.read_if.r_channel, data.read_if.ar_channel), dut.data__arvalid),
    ):
        channel = random.choice(channels)
        channel.pause = True
        busy_with_everything(env)
        await with_timeout(RisingEdge(signal), SOON, "ns")
        await cycles(random.randint(0, 300))
        await env.control(r.Control(0))
        await cycles(random.randint(1, 200))
        assert await env.registers.read(r.Register.STATE) & r.State.READY, (
            "the tensor buffer is not let go yet"
        )
        channel.pause = False
        await disable(env)
        COVERAGE.hit("reset_stuck", name)
        await env.enable()
    await works(env)
    await env.finish()


@cocotb.test()
async def at_any_time(dut):
    """After a random number of cycles, down to none after the enable, and with the enable right behind."""
    env = await begin(dut)
    env.buffer.slow_down(0.7)
    for longest in (1, 300, 4000):
        busy_with_everything(env)
        await cycles(random.randint(1, longest))
        if longest == 300:
            # Not waiting for the end of what is under way: the controller has to.
            await env.control(r.Control(0))
            await env.control(r.Control.ENABLE)
            await cycles(random.randint(1, 100))
            COVERAGE.hit("reset_during", "drain")
        await disable(env)
        if longest == 4000:
            await env.control(r.Control.ENABLE)
            await cycles(random.randint(1, 700))
            await disable(env)
            COVERAGE.hit("reset_during", "initialisation")
        await env.enable()
        assert await env.registers.read(r.stream_register(SECOND, r.StreamRegister.GENERATION)) == 0
    await works(env)
    await env.finish()
