"""The environment of a whole-controller bench: host, tensor buffer, monitors and scoreboard.

    env = await Environment.start(dut, CONFIG, coverage)
    command = env.submit(Port.CORE, Opcode.ZONE_APPEND, 2, blocks=5)
    env.submit(Port.CORE, Opcode.READ, 2, blocks=5)
    await env.finish()

Every wait has a bound. Whatever is submitted is predicted by the functional model and compared.
"""

import random
from collections import deque
from collections.abc import Callable, Mapping

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import Event, Lock, RisingEdge, SimTimeoutError, Timer, ValueChange, with_timeout
from cocotb.utils import get_sim_time

from flashtrain.host.queues.entries import CompletionEntry, raw_entry
from flashtrain.sim.bench.coverage import Coverage
from flashtrain.sim.bench.host_queue import HostQueue
from flashtrain.sim.bench.nand_watch import NandWatch
from flashtrain.sim.bench.registers import Registers
from flashtrain.sim.bench.scoreboard import PendingCommand, Scoreboard
from flashtrain.sim.bench.streams import PERIOD_NS, start
from flashtrain.sim.bench.tensor_buffer import TensorBuffer
from flashtrain.spec import FmsConfig, NodeTable, Opcode, Port, Status
from flashtrain.spec.registers import (
    MAX_STREAMS,
    PORTS,
    Control,
    Register,
    State,
    StreamRegister,
    stream_attributes,
    stream_register,
)
from flashtrain.spec.streams import SINGLE_NODE

MEMORY_BYTES = 256 << 10
_QUEUE_SPACE = 4 << 10  # for each of the four queues
ARENA = 4 * _QUEUE_SPACE  # data lie behind the queues
DEFAULT_TIMEOUT = 450_000
"""Cycles: all zones may have to be erased first, with a NAND's clock three times as slow as the system's."""

_DATA_COMMANDS = (Opcode.READ, Opcode.WRITE, Opcode.ZONE_APPEND)
# Arrays outlive a reset of the design: only the first test of a simulation finds them erased.
_dies_are_new = True


def clock() -> int:
    """The present clock."""
    return round(get_sim_time("ns") / PERIOD_NS)


async def cycles(count: int) -> None:
    await Timer(count * PERIOD_NS, "ns")


def _fit_new_dies(dut, config: FmsConfig) -> bool:
    """Whether the arrays are as from the factory. Where the simulator shows their insides, they are made so.

    That is on Icarus, for which waiting for erases at the start of every test would take too long.
    """
    global _dies_are_new
    new, _dies_are_new = _dies_are_new, False
    if new or not hasattr(dut, "nand_0"):
        return new
    g = config.geometry
    for channel in range(g.channels):
        for die in range(g.dies):
            array = getattr(getattr(dut, f"nand_{channel}"), f"die{die}").array
            for block in range(g.planes * g.blocks):
                array.programmed[block].value = 0
    return True


async def _run_nand_clock(dut, period_ps: int) -> None:
    """From a random phase on, and out of reset after some cycles."""
    dut.nand_rst.value = 1
    await Timer(random.randint(1, period_ps), "ps")
    Clock(dut.nand_clk, period_ps, "ps", impl="gpi", period_high=period_ps // 2).start()
    for _ in range(4):
        await RisingEdge(dut.nand_clk)
    dut.nand_rst.value = 0


class Environment:
    """One simulated device under a host that checks everything.

    consume: whether completions of a port are taken as they come (else with `queues[port].release`).
    """

    def __init__(
        self,
        dut,
        config: FmsConfig,
        coverage: Coverage,
        node: NodeTable,
        entries: dict[Port, int],
        memory_bytes: int,
    ):
        self.dut = dut
        self.config = config
        self.coverage = coverage
        self.buffer = TensorBuffer(dut, memory_bytes)
        self.registers = Registers(dut)
        self.scoreboard = Scoreboard(config, self.buffer.bytes, coverage)
        self.use_node(node)
        self.nand = NandWatch(dut, config, self._nand_operation)
        self.consume = dict.fromkeys(Port, True)
        self.queues = {
            port: HostQueue(
                port, self.buffer, self.registers,
                2 * port * _QUEUE_SPACE, entries[port], (2 * port + 1) * _QUEUE_SPACE, entries[port],
                lambda entry, port=port: self._completed(port, entry),
            )
            for port in Port
        }  # fmt: skip
        self.pending: dict[tuple[Port, int], PendingCommand] = {}
        self._waiting: dict[Port, deque[PendingCommand]] = {port: deque() for port in Port}
        self._more = {port: Event() for port in Port}
        self._answered = {port: Event() for port in Port}
        self._enabled = False
        self._doorbells = Lock()  # no doorbell is rung while the controller is disabled
        self._buffer_in_use: list[range] = []  # pieces of the arena in use

    @classmethod
    async def start(
        cls,
        dut,
        config: FmsConfig,
        coverage: Coverage,
        *,
        node: NodeTable = SINGLE_NODE,
        entries: int | dict[Port, int] = 32,
        enable: bool = True,
        nand_period_ps: int = 0,
        memory_bytes: int = MEMORY_BYTES,
    ) -> "Environment":
        """Reset the design, configure and enable it.

        nand_period_ps: of the NAND's own clock; memory_bytes: the size of the tensor buffer.
        """
        entries = entries if isinstance(entries, dict) else dict.fromkeys(Port, entries)
        env = cls(dut, config, coverage, node, entries, memory_bytes)
        new_dies = _fit_new_dies(dut, config)
        if nand_period_ps:
            cocotb.start_soon(_run_nand_clock(dut, nand_period_ps))
        await start(dut, within=1_000_000_000)  # each command has a limit of its own
        cocotb.start_soon(env._watch_violations())
        for port in Port:
            cocotb.start_soon(env._feed(port))
            cocotb.start_soon(env._consume(port))
        await env.configure()
        if enable:
            await env.enable(new_dies)
        return env

    def use_node(self, node: NodeTable) -> None:
        """Other streams, from the next `configure` on."""
        self.node = node
        self.scoreboard.use_node(node)

    # The controller's registers.

    async def configure(self) -> None:
        write = self.registers.write
        await write(Register.MEMORY_LOW, self.buffer.size)
        await write(Register.MEMORY_HIGH, 0)
        await write(Register.INTERRUPT_MASK, (1 << PORTS) - 1)
        for queue in self.queues.values():
            await queue.configure()
        zones = self.node.zones(self.config.geometry.zones)
        for nsid in range(1, MAX_STREAMS + 1):
            await write(stream_register(nsid, StreamRegister.ATTRIBUTES), 0)
        for stream in self.node.streams:
            own = zones[stream.nsid]
            await write(stream_register(stream.nsid, StreamRegister.ZONES), own.start | len(own) << 16)
            await write(stream_register(stream.nsid, StreamRegister.ATTRIBUTES), stream_attributes(stream))

    async def enable(self, factory: bool = False) -> None:
        """Enable with everything empty, and wait until it is ready. `factory`: the arrays are erased."""
        self.scoreboard.reset()
        self.nand.forget()
        for queue in self.queues.values():
            queue.reset()
        await self.control(Control.ENABLE | (Control.FACTORY if factory else Control(0)))
        await self.until_state(State.READY)
        self._enabled = True
        for port in Port:
            self._more[port].set()

    async def control(self, bits: Control) -> None:
        """Write CONTROL. No doorbell is rung from here to the end of the next `enable`."""
        async with self._doorbells:
            self._enabled = False
        await self.registers.write(Register.CONTROL, bits)

    async def disable(self) -> None:
        """Disable, whatever is going on: commands in flight are forgotten."""
        await self.control(Control(0))
        for _ in range(1000):
            if not await self.registers.read(Register.STATE) & State.READY:
                break
            await cycles(50)
        else:
            raise AssertionError(f"READY after a disable; {self.bursts} bursts are under way")
        assert self.bursts == 0, f"not READY any more, and {self.bursts} bursts under way"
        for waiting in self._waiting.values():
            waiting.clear()
        for command in list(self.pending.values()):
            self.scoreboard.check_dropped(command)
            self._finish(command)

    async def until_state(self, bits: State, timeout: int = DEFAULT_TIMEOUT) -> None:
        """Wait until these bits of STATE are set."""
        end = clock() + timeout
        while (state := State(await self.registers.read(Register.STATE))) & bits != bits:
            assert not state & State.FATAL, "a fatal fault"
            assert clock() < end, f"STATE is {state!r} after {timeout} cycles; expected {bits!r}"
            await cycles(100)

    async def until(self, condition: Callable[[], bool], timeout: int = DEFAULT_TIMEOUT) -> None:
        """Wait until `condition` holds, and look every few cycles."""
        end = clock() + timeout
        while not condition():
            assert clock() < end, f"what the test waits for did not happen within {timeout} cycles"
            await cycles(3)

    @property
    def bursts(self) -> int:
        """AXI bursts under way, on both ports of the tensor buffer."""
        dut = self.dut
        return sum(
            int(count.value) for count in (dut.data_reads, dut.data_writes, dut.queue_reads, dut.queue_writes)
        )

    # Commands.

    def submit(
        self,
        port: Port,
        opcode: Opcode,
        nsid: int,
        *,
        zone: int = 0,
        offset: int = 0,
        blocks: int = 1,
        action: int = 0,
        select_all: bool = False,
        room: int = 0,
        partial: bool = False,
        report_options: int = 0,
        fields: Mapping[str, int] | None = None,
        status: Status | None = None,
        predict: bool = True,
    ) -> PendingCommand:
        """Submit a command to block `offset` of `zone`; `room`: bytes of a zone report with `report_options`.

        `fields` replace those that follow from the other arguments. `status`: what the model must predict.
        """
        own: dict[str, int] = {
            "opcode": opcode, "nsid": nsid, "slba": zone * self.config.geometry.zone_size + offset,
            "action": action,
        }  # fmt: skip
        length = 0
        if opcode in _DATA_COMMANDS:
            own["nlb"] = blocks - 1
            length = blocks * self.config.geometry.page_bytes
        elif opcode == Opcode.ZONE_MANAGEMENT_RECEIVE:
            own |= {"dwords": room // 4 - 1, "partial": int(partial), "report_options": report_options}
            length = room
        elif opcode == Opcode.ZONE_MANAGEMENT_SEND:
            own["select_all"] = int(select_all)
        piece = self.take_piece(length)
        if length:
            own |= {"psdt": 1, "address": piece.start, "length": length}
        return self.submit_entry(port, own | dict(fields or {}), piece, status=status, predict=predict)

    def submit_entry(
        self,
        port: Port,
        fields: Mapping[str, int],
        piece: range,
        *,
        flipped: int = 0,
        status: Status | None = None,
        predict: bool = True,
    ) -> PendingCommand:
        """Submit an entry as it is, some bits `flipped`; its identifier is chosen here if it has none."""
        cid = fields.get("cid", random.randrange(1 << 16))
        while (port, cid) in self.pending:
            cid = random.randrange(1 << 16)
        raw = raw_entry(**{**fields, "cid": cid})
        raw = (int.from_bytes(raw, "little") ^ flipped).to_bytes(len(raw), "little")
        command = PendingCommand(port, raw, piece)
        command.submitted = clock()
        self.pending[port, cid] = command
        predicted = self.scoreboard.predict(command) if predict else Status.SUCCESS
        assert status in (None, predicted), f"{command}: the model says {predicted!r}, the test {status!r}"
        if predicted == Status.SUCCESS:
            reads = command.request.opcode in (Opcode.ZONE_APPEND, Opcode.WRITE)
            self.buffer.grant(piece, read=reads, write=command.request.has_data and not reads)
        self._waiting[port].append(command)
        self._more[port].set()
        return command

    def take_piece(self, length: int) -> range:
        """A part of the tensor buffer that nobody uses, at random, with random content."""
        page = self.config.geometry.page_bytes
        size = max(page, -(-length // page) * page)
        for _ in range(1000):
            start = random.randrange(ARENA, self.buffer.size - size + 1, page)
            piece = range(start, start + size)
            if all(piece.stop <= other.start or other.stop <= piece.start for other in self._buffer_in_use):
                self._buffer_in_use.append(piece)
                self.buffer.bytes[start : piece.stop] = np.frombuffer(random.randbytes(size), np.uint8)
                return piece
        raise ValueError(f"the tensor buffer has no room for {size} bytes")

    async def wait(self, *pending: PendingCommand, timeout: int = DEFAULT_TIMEOUT) -> None:
        """Until these are answered."""
        for command in pending:
            try:
                await with_timeout(command.done.wait(), timeout * PERIOD_NS, "ns")
            except SimTimeoutError:
                raise AssertionError(f"{command} is not answered after {timeout} cycles") from None

    async def drain(self, timeout: int = DEFAULT_TIMEOUT) -> None:
        """Until everything is answered."""
        await self.wait(*self.pending.values(), timeout=timeout)

    async def run(self, port: Port, opcode: Opcode, nsid: int, **arguments) -> PendingCommand:
        """Submit one command and wait for its answer."""
        command = self.submit(port, opcode, nsid, **arguments)
        await self.wait(command)
        return command

    async def finish(self) -> None:
        """The end of every test: all is answered, nothing more comes, and nobody has complained."""
        await self.drain()
        await cycles(400)
        assert self.bursts == 0, f"{self.bursts} bursts under way, and no command"
        self.check()
        self.coverage.save()

    def check(self) -> None:
        """Nobody has complained so far."""
        for name in ("violations", "data_violations", "queue_violations", "registers_violations"):
            count = int(getattr(self.dut, name).value)
            assert count == 0, f"{name}: {count}"

    # Behind the scenes.

    async def _feed(self, port: Port) -> None:
        """Push what waits, some entries for each doorbell."""
        queue, waiting = self.queues[port], self._waiting[port]
        while True:
            if not (waiting and queue.room and self._enabled):
                self._more[port].clear()
                await self._more[port].wait()
                continue
            async with self._doorbells:
                for _ in range(random.choice((1, 4, queue.sq_entries))):
                    if waiting and queue.room and self._enabled:
                        command = waiting.popleft()
                        command.position = queue.push(command.raw)
                if self._enabled:
                    await queue.ring()

    async def _consume(self, port: Port) -> None:
        """Give slots back: of all completions, or of some after a while."""
        queue = self.queues[port]
        while True:
            self._answered[port].clear()
            await self._answered[port].wait()
            while self.consume[port] and queue.unreleased and self._enabled:
                await cycles(random.choice((1, 1, 100)))
                async with self._doorbells:
                    if self._enabled:
                        await queue.release(random.choice((None, 1)))

    def _completed(self, port: Port, entry: CompletionEntry) -> None:
        command = self.pending.get((port, entry.cid))
        assert command is not None, (
            f"port {port.name} answered command {entry.cid}, which is not in flight: {entry}"
        )
        assert 0 <= command.position < self.queues[port].fetched, (
            f"{command}: answered, but behind the reported head"
        )
        command.completion = entry
        command.completed = clock()
        self.scoreboard.check(command)
        durable = self.scoreboard.totals.durable_pages
        assert self.nand.passed >= durable, (
            f"{command}: {durable} non-volatile pages are acknowledged, {self.nand.passed} pages have passed"
        )
        self._finish(command)
        self._answered[port].set()
        self._more[port].set()

    def _finish(self, command: PendingCommand) -> None:
        del self.pending[command.port, command.request.cid]
        self._buffer_in_use.remove(command.piece)
        self.buffer.grant(command.piece)
        command.done.set()

    def _nand_operation(self, channel: int, name: str) -> None:
        self.coverage.hit("nand", name)
        if name.startswith("erase") and self.pending:
            self.coverage.hit("erase", "with_traffic")

    async def _watch_violations(self) -> None:
        while True:
            await ValueChange(self.dut.violations)
            assert self.dut.violations.value == 0, "a breach of the NAND protocol; see the simulator's output"
