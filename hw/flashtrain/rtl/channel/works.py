"""All of a channel engine but its clockwork."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig

from ..arbiter import StreamMerge
from ..layouts import STREAM_BITS, PageEvent, ReadHead, ReadPage, SpareUse, WritePage
from ..nand_bus import NandBus
from ..zones.erase import EraseBroadcast, EraseRequest, EraseResult
from .block_table import BlockTable
from .bus_controller import BusActivity, BusController
from .counters import EventCounts
from .die_agent import DieAgent
from .die_watch import DieTimers
from .page_corrector import CorrectionCounts
from .read_buffer import ReadBuffer
from .read_intake import ReadIntake
from .read_retry import ReadRetry
from .write_buffer import WriteBuffer


class ChannelWorks(wiring.Component):
    """Buffers, agents and bus of one channel; their docstrings tell the timing.

    A die whose agent finds it lost is offline: its operations fail and its pages are not returned, at the
    bus' speed, until the next reset. The other dies go on.

    While nothing comes and no timer ends, nothing in here changes.

    Members
    -------
    pages, data_valid, data, programmed, flush, flushed : see `WriteBuffer`
    reads : In(stream(ReadPage))
    read_head, read_data, raw : see `ReadBuffer`
    erase : In(stream(EraseRequest))   of every die; what the write buffer holds of the zone is discarded
    erased : Out(stream(EraseResult))
    spare_use : In(stream(SpareUse))   of one die, in recovery; if there are spare blocks
    ready : Out(1)    block table and dies are initialised
    idle : Out(1)     no die is busy and nothing waits; page sets may be open
    timers, activity, events : Out   see `ChannelClockwork`
    nand : Out(NandBus(dies))
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        bits = 8 * config.data_bytes
        super().__init__({
            "pages": In(stream.Signature(WritePage(config))),
            "data_valid": In(1),
            "data": In(bits),
            "programmed": Out(stream.Signature(PageEvent(config))),
            "flush": In(stream.Signature(STREAM_BITS)),
            "flushed": Out(1),
            "reads": In(stream.Signature(ReadPage(config))),
            "read_head": Out(stream.Signature(ReadHead(config))),
            "read_data": Out(stream.Signature(bits)),
            "raw": In(1),
            "erase": In(stream.Signature(EraseRequest(config))),
            "erased": Out(stream.Signature(EraseResult())),
            **({"spare_use": In(stream.Signature(SpareUse(config)))} if config.geometry.spare_blocks else {}),
            "ready": Out(1),
            "idle": Out(1),
            "timers": Out(DieTimers(config)).array(config.geometry.dies),
            "activity": Out(BusActivity),
            "events": Out(EventCounts(config)),
            "nand": Out(NandBus(config.geometry.dies)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, dies = self.config, self.config.geometry.dies
        m.submodules.write_buffer = write_buffer = WriteBuffer(config)
        m.submodules.read_intake = intake = ReadIntake(config)
        m.submodules.read_buffer = read_buffer = ReadBuffer(config)
        m.submodules.bus = bus = BusController(config)
        m.submodules.block_table = blocks = BlockTable(config)
        m.submodules.eraser = eraser = EraseBroadcast(config, dies)
        agents = [DieAgent(config) for _ in range(dies)]

        # Between the centre and the buffers.
        connect(m, flipped(self.pages), write_buffer.pages)
        connect(m, write_buffer.programmed, flipped(self.programmed))
        connect(m, flipped(self.flush), write_buffer.flush)
        connect(m, flipped(self.reads), intake.pages)
        connect(m, read_buffer.read_head, flipped(self.read_head))
        connect(m, read_buffer.read_data, flipped(self.read_data))
        m.d.comb += [
            write_buffer.data_valid.eq(self.data_valid),
            write_buffer.data.eq(self.data),
            self.flushed.eq(write_buffer.flushed),
        ]

        # Between the buffers: pages that a read finds in the write buffer.
        connect(m, intake.lookup, write_buffer.lookup)
        connect(m, intake.hits, read_buffer.hits)
        connect(m, read_buffer.copy, write_buffer.copy)
        m.d.comb += [
            intake.hit.eq(write_buffer.hit),
            intake.hit_slot.eq(write_buffer.hit_slot),
            write_buffer.copy_room.eq(read_buffer.copy_room),
            read_buffer.copy_valid.eq(write_buffer.copy_valid),
            read_buffer.copy_data.eq(write_buffer.copy_data),
        ]

        # Between the buffers and the bus.
        connect(m, bus.fetch, write_buffer.fetch)
        connect(m, write_buffer.beats, bus.beats)
        connect(m, bus.fill, read_buffer.fill)
        connect(m, bus.lookup, blocks.lookup)
        connect(m, bus.nand, flipped(self.nand))
        m.d.comb += [
            read_buffer.fill_valid.eq(bus.fill_valid),
            read_buffer.fill_data.eq(bus.fill_data),
            read_buffer.raw.eq(self.raw),
            write_buffer.home_of.eq(bus.home_of),
            bus.home.eq(write_buffer.home),
        ]

        # An erase discards first, so that no die programs the zone after its erase.
        m.d.comb += [
            write_buffer.discard.valid.eq(self.erase.valid & eraser.request.ready),
            write_buffer.discard.payload.eq(self.erase.payload.zone),
            eraser.request.valid.eq(self.erase.valid & write_buffer.discard.ready),
            eraser.request.payload.eq(self.erase.payload),
            self.erase.ready.eq(write_buffer.discard.ready & eraser.request.ready),
        ]
        connect(m, eraser.done, flipped(self.erased))

        reads, retries = intake.reads, Signal()  # waiting
        if config.code and config.read_levels:
            m.submodules.read_retry = retry = ReadRetry(config, config.code)
            connect(m, read_buffer.retries, retry.failed)
            m.d.comb += [retry.settled.eq(read_buffer.settled), retries.eq(retry.busy)]
            for number, agent in enumerate(agents):
                connect(m, intake.reads[number], retry.reads[number])
                connect(m, retry.retries[number], agent.retries)
            reads = retry.places

        for number, agent in enumerate(agents):
            m.submodules[f"agent_{number}"] = agent
            connect(m, write_buffer.sets[number], agent.sets)
            connect(m, agent.results, write_buffer.results[number])
            connect(m, agent.updated, write_buffer.updated[number])
            connect(m, reads[number], agent.reads)
            m.d.comb += agent.backlog.eq(intake.backlog[number])
            connect(m, eraser.erase[number], agent.erase)
            connect(m, agent.erased, eraser.erased[number])
            connect(m, agent.bus, bus.requests[number])
            connect(m, agent.timers, flipped(self.timers[number]))
            m.d.comb += [
                agent.bus_done.eq(bus.done[number]),
                agent.bus_status.eq(bus.status),
            ]

        if config.geometry.spare_blocks:
            self._replace_blocks(m, agents, blocks)

        # What an agent tells is counted a clock later: the ways from its units are long enough.
        pulses = ["lost", "programmed", "page_programmed", "sensed", "page_output", "ended", "failure"]
        pulses += ["replaced", "repeated"] if config.geometry.spare_blocks else []
        told = {name: Signal(dies, name=f"told_{name}") for name in pulses}
        for name, bits in told.items():
            m.d.sync += bits.eq(Cat(getattr(agent, name) for agent in agents))
        events = self.events
        m.d.sync += bus.offline.eq(bus.offline | told["lost"])
        m.d.comb += [
            self.ready.eq(blocks.ready & Cat(agent.ready for agent in agents).all()),
            self.idle.eq(
                Cat(agent.idle for agent in agents).all() & ~intake.busy & ~write_buffer.busy & ~retries
            ),
            self.activity.eq(bus.activity),
            events.programs.eq(sum(told["programmed"])),
            events.pages_programmed.eq(sum(told["page_programmed"])),
            events.senses.eq(sum(told["sensed"])),
            events.pages_sensed.eq(sum(told["page_output"])),
            events.buffer_hits.eq(read_buffer.hits.valid & read_buffer.hits.ready),
            events.erases.eq(sum(told["ended"])),
            events.failures.eq(sum(told["failure"])),
            events.dies_offline.eq(sum(told["lost"] & ~bus.offline)),
            *(events[name].eq(read_buffer.counts[name]) for name in CorrectionCounts(config).members),
        ]
        if config.geometry.spare_blocks:
            m.d.comb += [
                events.blocks_replaced.eq(sum(told["replaced"])),
                events.sets_repeated.eq(sum(told["repeated"])),
            ]
        return m

    def _replace_blocks(self, m: Module, agents: list[DieAgent], blocks: BlockTable) -> None:
        """What replaces what: from recovery to the agents, from these to the table."""
        g = self.config.geometry
        m.submodules.changes = changes = StreamMerge(SpareUse(self.config), g.dies)
        for number, agent in enumerate(agents):
            mine = self.spare_use.payload.die == number
            m.d.comb += [
                agent.restored.payload.eq(self.spare_use.payload),
                agent.restored.valid.eq(self.spare_use.valid & mine),
                changes.inputs[number].payload.eq(agent.change.payload),
                changes.inputs[number].payload.die.eq(number),
                changes.inputs[number].valid.eq(agent.change.valid),
                agent.change.ready.eq(changes.inputs[number].ready),
            ]
            with m.If(mine):
                m.d.comb += self.spare_use.ready.eq(agent.restored.ready)
        change = changes.output.payload
        m.d.comb += [
            blocks.change.payload.place.zone.eq(change.zone),
            blocks.change.payload.place.die.eq(change.die),
            blocks.change.payload.place.plane.eq(change.plane),
            blocks.change.payload.block.eq(g.zones + change.spare),
            blocks.change.valid.eq(changes.output.valid),
            changes.output.ready.eq(blocks.change.ready),
        ]
