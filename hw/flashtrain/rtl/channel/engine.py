"""A channel engine: everything of the controller that there is once per channel."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.layouts import SpareUse
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.streams import StreamMerge
from flashtrain.rtl.nand_bus import nand_bus
from flashtrain.rtl.zones.erase_broadcast import EraseBroadcast
from flashtrain.spec import FmsConfig

from .block_table import BlockTable
from .bus.bus_controller import BusController, interface_port
from .counters import ChannelCounters
from .die_agent.die_agent import DieAgent
from .interface import ChannelBroadcast, ChannelInterface
from .read_buffer.read_buffer import ReadBuffer
from .read_buffer.read_lookup import ReadLookup
from .read_buffer.read_retry import ReadRetry
from .write_buffer.write_buffer import WriteBuffer


class ChannelEngine(wiring.Component):
    """Buffers, die agents, bus controller, block table and counters of one channel.

    A die that stops responding is taken offline until the next reset. The bus ends its operations with a
    failure, and its pages are not returned. The other dies continue.

    Latency, throughput: see the units.

    Members
    -------
    front_end : In(ChannelInterface)
    broadcast : In(ChannelBroadcast)
    data_valid : In(1)   a beat of write data is in `broadcast.data`
    read_data : Out      valid with `front_end.read_valid`
    nand : Out(NandBus(dies))
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "front_end": In(ChannelInterface(config)),
            "broadcast": In(ChannelBroadcast(config)),
            "data_valid": In(1),
            "read_data": Out(8 * config.data_bytes),
            "nand": Out(nand_bus(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, dies, luns = self.config, self.config.geometry.dies, self.config.chips.luns
        m.submodules.write_buffer = write_buffer = WriteBuffer(config)
        m.submodules.read_lookup = read_lookup = ReadLookup(config)
        m.submodules.read_buffer = read_buffer = ReadBuffer(config)
        m.submodules.bus = bus = BusController(config)
        m.submodules.block_table = blocks = BlockTable(config)
        m.submodules.eraser = eraser = EraseBroadcast(config, dies)
        agents = [DieAgent(config) for _ in range(dies)]
        for number, agent in enumerate(agents):
            m.submodules[f"agent_{number}"] = agent

        connect(m, bus.nand, flipped(self.nand))
        self._serve_front_end(m, write_buffer, read_lookup, read_buffer)
        self._copy(m, read_lookup, write_buffer, read_buffer)
        self._transfer(m, bus, blocks, write_buffer, read_buffer)
        self._erase(m, eraser, write_buffer, agents)
        retrying = self._read(m, read_lookup, read_buffer, agents)
        for number, agent in enumerate(agents):
            connect(m, write_buffer.sets[number], agent.sets)
            connect(m, agent.results, write_buffer.results[number])
            connect(m, agent.updated, write_buffer.updated[number])
            connect(m, agent.bus, bus.requests[number])
            m.d.comb += [agent.bus_done.eq(bus.done[number]), agent.bus_status.eq(bus.status)]
        if config.geometry.spare_blocks:
            self._replace_blocks(m, agents, blocks)
        self._count(m, agents, bus, read_buffer)
        if config.command_port:
            forward(m, bus, self.front_end, ("cycles", "answers", "paused"))
            pause = Signal(reset_less=True)  # so that the bus is paused from the end of a reset on
            m.d.sync += pause.eq(self.front_end.pause)
            m.d.comb += bus.pause.eq(pause)
        if config.chips.ready_busy:
            self._watch_lines(m, agents)
        if luns > 1:
            for first in range(0, dies, luns):
                _reset_together(m, agents[first : first + luns])
            m.d.comb += [
                bus.holds_data.eq(Cat(agent.holds_data for agent in agents)),
                *(agent.yields.eq(bus.yields[number]) for number, agent in enumerate(agents)),
            ]
        if config.chips.sdr:
            settled = Cat(agent.ready for agent in agents)
            if luns > 1:
                # Chips whose first LUN was lost may not have got another mode.
                first_lost = (bus.offline[number // luns * luns] for number in range(dies))
                settled &= ~Cat(first_lost)
            m.d.comb += bus.settled.eq(settled)
            for user in (bus, *agents):
                forward(m, user, self.front_end, interface_port(config))
        busy = read_lookup.busy | write_buffer.busy | retrying
        m.d.comb += [
            self.front_end.ready.eq(blocks.ready & Cat(agent.ready for agent in agents).all()),
            self.front_end.idle.eq(Cat(agent.idle for agent in agents).all() & ~busy),
        ]
        return m

    def _serve_front_end(
        self, m: Module, write_buffer: WriteBuffer, read_lookup: ReadLookup, read_buffer: ReadBuffer
    ):
        forward(m, write_buffer, self.front_end, ("pages", "programmed", "flush", "flushed"))
        connect(m, flipped(self.front_end.reads), read_lookup.pages)
        forward(m, read_buffer, self.front_end, ("read_head", "raw"))
        m.d.comb += [
            write_buffer.data.eq(self.broadcast.data),
            write_buffer.data_valid.eq(self.data_valid),
            self.read_data.eq(read_buffer.read_data.payload),
            self.front_end.read_valid.eq(read_buffer.read_data.valid),
            read_buffer.read_data.ready.eq(self.front_end.read_ready),
        ]

    def _copy(self, m: Module, read_lookup: ReadLookup, write_buffer: WriteBuffer, read_buffer: ReadBuffer):
        """Pages that a read finds in the write buffer."""
        connect(m, read_lookup.lookup, write_buffer.lookup)
        connect(m, read_lookup.hits, read_buffer.hits)
        connect(m, read_buffer.copy, write_buffer.copy)
        m.d.comb += [
            read_lookup.hit.eq(write_buffer.hit),
            read_lookup.hit_slot.eq(write_buffer.hit_slot),
            write_buffer.copy_room.eq(read_buffer.copy_room),
            read_buffer.copy_valid.eq(write_buffer.copy_valid),
            read_buffer.copy_data.eq(write_buffer.copy_data),
        ]

    def _transfer(self, m: Module, bus: BusController, blocks: BlockTable, write_buffer, read_buffer):
        """Data between the buffers and the bus, and the blocks that they belong to."""
        connect(m, bus.fetch, write_buffer.fetch)
        connect(m, write_buffer.beats, bus.beats)
        connect(m, bus.fill, read_buffer.fill)
        connect(m, bus.lookup, blocks.lookup)
        m.d.comb += [
            read_buffer.fill_valid.eq(bus.fill_valid),
            read_buffer.fill_data.eq(bus.fill_data),
            write_buffer.origin_of.eq(bus.origin_of),
            bus.origin.eq(write_buffer.origin),
        ]
        if self.config.chips.sca:
            m.d.comb += bus.fill_room.eq(read_buffer.fill_room)

    def _erase(self, m: Module, eraser: EraseBroadcast, write_buffer: WriteBuffer, agents: list[DieAgent]):
        """An erase discards first, so that no die programs the zone after its erase."""
        m.d.comb += [
            write_buffer.discard.valid.eq(self.front_end.erase.valid & eraser.request.ready),
            write_buffer.discard.payload.eq(self.front_end.erase.payload.zone),
            eraser.request.valid.eq(self.front_end.erase.valid & write_buffer.discard.ready),
            eraser.request.payload.eq(self.front_end.erase.payload),
            self.front_end.erase.ready.eq(write_buffer.discard.ready & eraser.request.ready),
        ]
        for number, agent in enumerate(agents):
            connect(m, eraser.erase[number], agent.erase)
            connect(m, agent.erased, eraser.erased[number])
        connect(m, eraser.done, flipped(self.front_end.erased))

    def _read(
        self, m: Module, read_lookup: ReadLookup, read_buffer: ReadBuffer, agents: list[DieAgent]
    ) -> Signal:
        """Reads to the dies; returns whether retries are pending."""
        reads, retrying = read_lookup.reads, Signal()
        if self.config.code and self.config.read_levels:
            m.submodules.read_retry = retry = ReadRetry(self.config, self.config.code)
            connect(m, read_buffer.retries, retry.failed)
            m.d.comb += [retry.settled.eq(read_buffer.settled), retrying.eq(retry.busy)]
            for number, agent in enumerate(agents):
                connect(m, read_lookup.reads[number], retry.reads[number])
                connect(m, retry.retries[number], agent.retries)
            reads = retry.places
        for number, agent in enumerate(agents):
            connect(m, reads[number], agent.reads)
            m.d.comb += agent.backlog.eq(read_lookup.backlog[number])
        return retrying

    def _replace_blocks(self, m: Module, agents: list[DieAgent], blocks: BlockTable):
        """Spare blocks in use: from recovery to the agents, from the agents to the block table."""
        g = self.config.geometry
        m.submodules.changes = changes = StreamMerge(SpareUse(self.config), g.dies)
        for number, agent in enumerate(agents):
            mine = self.front_end.spare_use.payload.die == number
            m.d.comb += [
                agent.restored.payload.eq(self.front_end.spare_use.payload),
                agent.restored.valid.eq(self.front_end.spare_use.valid & mine),
                changes.inputs[number].payload.eq(agent.change.payload),
                changes.inputs[number].payload.die.eq(number),
                changes.inputs[number].valid.eq(agent.change.valid),
                agent.change.ready.eq(changes.inputs[number].ready),
            ]
            with m.If(mine):
                m.d.comb += self.front_end.spare_use.ready.eq(agent.restored.ready)
        change = changes.output.payload
        m.d.comb += [
            *(blocks.change.payload.place[name].eq(change[name]) for name in ("zone", "die", "plane")),
            blocks.change.payload.block.eq(g.zones + change.spare),
            blocks.change.valid.eq(changes.output.valid),
            changes.output.ready.eq(blocks.change.ready),
        ]

    def _watch_lines(self, m: Module, agents: list[DieAgent]):
        """R/B# for the agents. Of a shared line each pin has the level, or of simulated dies each its own."""
        lines = Signal.like(self.nand.rb_n)
        m.submodules.lines = FFSynchronizer(self.nand.rb_n, lines)
        shared, luns = self.config.chips.shared_ready_busy, self.config.chips.luns
        for number, agent in enumerate(agents):
            enable = number // luns
            m.d.comb += agent.line.eq(lines.all() if shared else lines[enable])
            if self.config.chips.shares_ready_busy:
                users = agents if shared else agents[enable * luns : (enable + 1) * luns]
                others = [other.working for other in users if other is not agent]
                m.d.comb += agent.alone.eq(~Cat(others).any())

    def _count(self, m: Module, agents: list[DieAgent], bus: BusController, read_buffer: ReadBuffer):
        """Counts events, and takes dies offline. Agents' pulses are registered: their paths are long."""
        m.submodules.counters = counters = ChannelCounters(self.config)
        pulses = {
            "programs": "programmed",
            "pages_programmed": "page_programmed",
            "senses": "sensed",
            "pages_sensed": "page_output",
            "erases": "ended",
            "failures": "failure",
            "dies_offline": "lost",
        }
        if self.config.geometry.spare_blocks:
            pulses |= {"blocks_replaced": "replaced", "sets_repeated": "repeated"}
        events = counters.events
        for name, pulse in pulses.items():
            pulsed = Signal(len(agents), name=f"pulsed_{pulse}")
            m.d.sync += pulsed.eq(Cat(getattr(agent, pulse) for agent in agents))
            if pulse == "lost":
                m.d.sync += bus.offline.eq(bus.offline | pulsed)
                pulsed = pulsed & ~bus.offline
            m.d.comb += events[name].eq(sum(pulsed))
        m.d.comb += [
            counters.activity.eq(bus.activity),
            events.buffer_hits.eq(read_buffer.hits.valid & read_buffer.hits.ready),
            *(events[name].eq(read_buffer.counts[name]) for name in read_buffer.counts.shape().members),
            counters.select.eq(self.broadcast.counter_select),
            counters.sample.eq(self.broadcast.counter_sample),
            self.front_end.counter_value.eq(counters.value),
        ]


def _reset_together(m: Module, luns: list[DieAgent]) -> None:
    """The first of these LUNs of a chip enable sends the reset for all of them."""
    leader = luns[0]
    all_reset = Cat(agent.is_reset for agent in luns).all()
    for agent in luns:
        m.d.comb += [
            agent.leads.eq(agent is leader),
            agent.reset_sent.eq(leader.sends_reset),
            agent.all_reset.eq(all_reset),
            agent.mode_sent.eq(leader.sends_mode),
        ]
