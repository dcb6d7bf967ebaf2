"""Random commands from both ports at once, under random back-pressure, against the functional model."""

import random

import cocotb

from flashtrain.host.conformance.random_commands import RandomCommands
from flashtrain.sim.bench.environment import MEMORY_BYTES, Environment, cycles
from flashtrain.spec import Access, Opcode, Port
from flashtrain.spec import registers as r
from flashtrain.spec.streams import SINGLE_NODE
from tests.rtl.controller.fms_config import ACCESS_NODE, BENCH_NODE
from tests.rtl.controller.fms_helpers import COMMANDS, CONFIG, COVERAGE, PAGE, begin

BATCH = 20
SESSION = 400
NODES = (SINGLE_NODE, BENCH_NODE, ACCESS_NODE)
PIECE = RandomCommands.piece_blocks(CONFIG) * CONFIG.geometry.page_bytes
MEMORY = max(MEMORY_BYTES, 2 * BATCH * PIECE)
"""Bytes of the tensor buffer: a batch finds room at random."""


class Source:
    """Batches of random commands, each with a piece of the tensor buffer."""

    def __init__(self, env: Environment):
        self._env = env
        self._pieces: list[range] = []
        self._commands = RandomCommands(
            random.Random(random.random()), CONFIG, env.node, lambda i: self._pieces[i].start, MEMORY
        )

    def submit(self, count: int) -> None:
        self._pieces = [self._env.take_piece(PIECE) for _ in range(count)]
        for command, piece in zip(self._commands.batch(count), self._pieces, strict=True):
            fields = {name: value for name, value in command.fields if name != "cid"}
            if MEMORY - PAGE < fields.get("address", 0) < MEMORY:
                fields["address"] = MEMORY - 32  # where not even the shortest report fits
            self._env.submit_entry(command.port, fields, piece, flipped=command.flipped)


async def check_counters(env: Environment) -> None:
    """The counters against what the host has seen since the enable."""
    totals = env.scoreboard.totals
    expected = {
        r.Counter.COMMANDS: totals.commands,
        r.Counter.ERRORS: totals.errors,
        r.Counter.APPENDS: totals.appends,
        r.Counter.READS: totals.reads,
        r.Counter.PAGES_APPENDED: totals.pages_appended,
        r.Counter.PAGES_READ: totals.pages_read,
    }
    for counter, value in expected.items():
        actual = await env.registers.counter(counter)
        assert actual == value, f"{counter.name} is {actual}; expected {value}"
        COVERAGE.hit("counter", counter)
    beats = CONFIG.page_beats
    assert await env.registers.counter(r.Counter.WRITE_BUSY) == totals.pages_appended * beats
    assert await env.registers.counter(r.Counter.READ_BUSY) == totals.pages_read * beats
    COVERAGE.hit("counter", r.Counter.WRITE_BUSY)
    COVERAGE.hit("counter", r.Counter.READ_BUSY)
    for channel_counter, value in (
        (r.ChannelCounter.PAGES_PROGRAMMED, env.nand.passed),
        (r.ChannelCounter.FAILURES, 0),
    ):
        counts = [
            await env.registers.channel_counter(c, channel_counter) for c in range(CONFIG.geometry.channels)
        ]
        assert sum(counts) == value, f"{channel_counter.name}: {counts}; expected {value} together"
        COVERAGE.hit("counter", channel_counter)


async def traffic(env: Environment, commands: int) -> None:
    source = Source(env)
    while commands:
        count = min(commands, random.randint(1, BATCH))
        source.submit(count)
        commands -= count
        await env.drain()
        env.check()


async def session(env: Environment, commands: int) -> None:
    """From an enable on: commands at three speeds of the tensor buffer; then the counters are right."""
    for busy in (1, 0.5, 0.2):
        env.buffer.slow_down(busy)
        await traffic(env, commands // 3)
    for stream in env.node.streams:
        env.submit(Port.CORE if stream.core & Access.APPEND else Port.HOST, Opcode.FLUSH, stream.nsid)
    await env.drain()
    await env.until_state(r.State.IDLE)
    await check_counters(env)
    env.check()


@cocotb.test()
async def random_commands(dut):
    """Session after session, on streams of all kinds and with short queues; between them a disable."""
    entries = {port: random.randint(3, 20) for port in Port}
    env = await begin(dut, node=random.choice(NODES), entries=entries, memory_bytes=MEMORY)
    done = 0
    while True:
        commands = min(COMMANDS - done, SESSION)
        await session(env, commands)
        done += commands
        if done >= COMMANDS:
            break
        Source(env).submit(BATCH)
        await cycles(random.randint(1, 5000))
        await env.disable()
        env.use_node(random.choice(NODES))
        await env.configure()
        await env.enable()
    await env.finish()
