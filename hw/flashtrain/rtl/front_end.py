"""The front end: all of the controller but its channel engines."""

from amaranth import Cat, Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ADDRESS_BITS, MAX_STREAMS, PORTS

from .channel.interface import ChannelBroadcast, ChannelInterface
from .clocks import Clocks
from .datapath.read_pipeline import ReadPipeline
from .datapath.slice_writer import slice_parts
from .datapath.write_pipeline import WritePipeline
from .host_if.command_tracker import CommandTracker
from .host_if.completion import CompletionWriter
from .host_if.counters import Counters
from .host_if.decode import Decoder
from .host_if.enable import EnableSequencer
from .host_if.fetch import SubmissionFetch
from .host_if.port_access import PortAccess
from .host_if.register_file import RegisterFile
from .host_if.seconds import Seconds
from .host_if.stopwatch import Stopwatch
from .layouts import PageEvent, ReadHead, ReadJob, WriteJob
from .lib.axi import Axi4LiteSignature, Axi4Signature
from .lib.axi_guard import AxiGuard
from .lib.streams import HalfRateSlice, Queue, RegisterSlices, StreamMerge
from .lib.write_mux import WriteMux
from .zones.zones import Zones


class FrontEnd(wiring.Component):
    """Takes commands from the queues to the channels, and answers back. `docs/block-diagram.md` follows one.

    While the controller is disabled everything but the register file and the AXI guards is held in reset, the
    channels too (`EnableSequencer`).

    Every signal to a channel comes from registers and never depends, within a cycle, on one from a channel.

    Members
    -------
    data, queue, registers, irq : see `Controller`
    channels : Out(ChannelInterface).array(C)
    broadcast : Out(ChannelBroadcast)   to all channels
    data_valid : Out(C)    the channel that takes `broadcast.data`
    read_data : In         of the channel with `read_chosen`
    channel_reset : Out(1)    two cycles behind the reset of the units here

    With channels in another clock domain:

    data_room : In(1)      a beat of write data may be sent in the next cycle
    read_next : Out(C)     pulse: a head of this channel is accepted; its beats follow those of the one before
    read_room : In(1)      a head may be accepted
    channels_reset : In(1)    `channel_reset`, when it has arrived
    counter_pending : In(1)   see `RegisterFile`
    """

    def __init__(self, config: FmsConfig, clocks: Clocks | None = None):
        self.config = config
        self.clocks = clocks or Clocks(config.timing.clock_mhz)
        channels = config.geometry.channels
        self._registers = RegisterFile(config)
        self._sequencer = EnableSequencer()
        in_reset = ResetInserter(self._sequencer.reset)
        self._fetch = in_reset(SubmissionFetch(config))
        self._decoder = in_reset(Decoder(config))
        self._zones = in_reset(Zones(config))
        self._tracker = in_reset(CommandTracker(config))
        self._completion = in_reset(CompletionWriter(config, sources=2))
        self._write = in_reset(WritePipeline(config))
        self._read = in_reset(ReadPipeline(config))
        # Room for the job of every command in flight, so the zone manager's streams are always ready. A job
        # leaves before its command's tag is free.
        self._write_jobs = in_reset(Queue(WriteJob(config), config.commands))
        self._read_jobs = in_reset(Queue(ReadJob(config), config.commands))
        # Register slices keep the paths to the channels free of signals from them.
        self._events = in_reset(RegisterSlices(PageEvent(config), channels))
        # A head comes with a page, which takes many cycles.
        self._heads = in_reset(RegisterSlices(ReadHead(config), channels, HalfRateSlice))
        self._programmed = in_reset(StreamMerge(PageEvent(config), channels))
        self._stopwatch = in_reset(Stopwatch(config))
        self._counters = in_reset(Counters())
        self._seconds = in_reset(Seconds(round(self.clocks.system_mhz * 1_000_000)))
        self._port = in_reset(PortAccess(config)) if config.command_port else None
        data_port = {"address_bits": config.address_bits, "data_bits": 8 * config.data_bytes}
        queue_port = {"address_bits": config.address_bits, "data_bits": 64}
        self._queue_mux = in_reset(WriteMux(2, **queue_port))
        parts = slice_parts(config) if config.codec else 1
        self._data_guard, self._queue_guard = AxiGuard(**data_port, parts=parts), AxiGuard(**queue_port)
        crossing = {
            "data_room": In(1),
            "read_next": Out(channels),
            "read_room": In(1),
            "channels_reset": In(1),
            "counter_pending": In(1),
        }
        super().__init__({
            "data": Out(Axi4Signature(**data_port)),
            "queue": Out(Axi4Signature(**queue_port)),
            "registers": In(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "irq": Out(1),
            "channels": Out(ChannelInterface(config)).array(channels),
            "broadcast": Out(ChannelBroadcast(config)),
            "data_valid": Out(channels),
            "read_data": In(8 * config.data_bytes),
            "channel_reset": Out(1),
            **(crossing if self.clocks.crosses else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.register_file = self._registers
        m.submodules.sequencer = self._sequencer
        m.submodules.fetch = self._fetch
        m.submodules.decoder = self._decoder
        m.submodules.zones = self._zones
        m.submodules.tracker = self._tracker
        m.submodules.completion = self._completion
        m.submodules.write = self._write
        m.submodules.read = self._read
        m.submodules.write_jobs = self._write_jobs
        m.submodules.read_jobs = self._read_jobs
        m.submodules.event_slices = self._events
        m.submodules.head_slices = self._heads
        m.submodules.programmed = self._programmed
        m.submodules.stopwatch = self._stopwatch
        m.submodules.counters = self._counters
        m.submodules.seconds = self._seconds
        if self._port is not None:
            m.submodules.port_access = self._port
        m.submodules.queue_mux = self._queue_mux
        m.submodules.data_guard = self._data_guard
        m.submodules.queue_guard = self._queue_guard
        self._take_commands(m)
        self._complete(m)
        self._transfer(m)
        self._reach_channels(m)
        if self.clocks.crosses:
            self._wait_for_channels(m)
        else:
            self._have_channels(m)
        self._reset(m)
        self._configure(m)
        self._report_state(m)
        self._count(m)
        return m

    def _take_commands(self, m: Module):
        """From entries to jobs."""
        zones, tracker = self._zones, self._tracker
        connect(m, self._fetch.entries, self._decoder.entries)
        connect(m, self._decoder.commands, zones.commands)
        connect(m, tracker.tags, zones.tags)
        connect(m, zones.open, tracker.opening)
        connect(m, self._write_jobs.output, self._write.jobs)
        connect(m, self._read_jobs.output, self._read.jobs)
        for jobs, queue in ((zones.write, self._write_jobs), (zones.read, self._read_jobs)):
            m.d.comb += [queue.input.valid.eq(jobs.valid), queue.input.payload.eq(jobs.payload)]
        m.d.comb += [zones.issued.eq(self._write.issued), self._read.issued.eq(self._write.issued)]
        if self.config.codec:
            m.d.comb += [
                self._read.opened.eq(zones.open.valid & zones.open.ready),
                self._read.opened_tag.eq(zones.open.payload.tag),
            ]

    def _complete(self, m: Module):
        """From page events to completion entries."""
        tracker, completion = self._tracker, self._completion
        connect(m, self._programmed.output, tracker.programmed)
        connect(m, self._write.arrived, tracker.arrived)
        connect(m, self._read.returned, tracker.returned)
        connect(m, tracker.retired, self._zones.retired)
        if self.config.codec:
            self._settle(m)
        connect(m, tracker.answers, completion.answers[0])
        connect(m, self._zones.answers, completion.answers[1])
        m.d.comb += [
            self._fetch.answered.eq(completion.written),
            self._registers.completed.eq(completion.written),
            *(completion.sq_head[port].eq(self._fetch.head[port]) for port in range(PORTS)),
        ]

    def _settle(self, m: Module):
        """The end of an encoded append goes to the zones and to the tracker in the same cycle."""
        settled, zones, tracker = self._write.settled, self._zones.settled, self._tracker.settled
        m.d.comb += [
            zones.payload.eq(settled.payload),
            tracker.payload.eq(settled.payload),
            zones.valid.eq(settled.valid & tracker.ready),
            tracker.valid.eq(settled.valid & zones.ready),
            settled.ready.eq(zones.ready & tracker.ready),
        ]

    def _transfer(self, m: Module):
        """The ports on the tensor buffer."""
        connect(m, self._write.axi, self._data_guard.read)
        connect(m, self._read.axi, self._data_guard.write)
        connect(m, self._data_guard.pins, flipped(self.data))
        connect(m, self._completion.axi, self._queue_mux.writers[0])
        connect(m, self._zones.axi, self._queue_mux.writers[1])
        connect(m, self._fetch.axi, self._queue_guard.read)
        connect(m, self._queue_mux.axi, self._queue_guard.write)
        connect(m, self._queue_guard.pins, flipped(self.queue))

    def _reach_channels(self, m: Module):
        write, read, zones = self._write, self._read, self._zones
        raw = Signal()
        m.d.sync += raw.eq(self._registers.raw & zones.recovering)
        m.d.comb += [
            self.broadcast.data.eq(write.data),
            self.data_valid.eq(write.data_valid),
            read.data.eq(self.read_data),
        ]
        for number, channel in enumerate(self.channels):
            connect(m, write.pages[number], flipped(channel.pages))
            connect(m, write.flush[number], flipped(channel.flush))
            connect(m, read.pages[number], flipped(channel.reads))
            connect(m, zones.erase[number], flipped(channel.erase))
            connect(m, zones.erased[number], flipped(channel.erased))
            if self.config.geometry.spare_blocks:
                connect(m, zones.spare_uses[number], flipped(channel.spare_use))
            connect(m, flipped(channel.programmed), self._events.inputs[number])
            connect(m, self._events.outputs[number], self._programmed.inputs[number])
            connect(m, flipped(channel.read_head), self._heads.inputs[number])
            if self._port is not None:
                lines = self._port.channels[number]
                connect(m, lines.cycles, flipped(channel.cycles))
                connect(m, flipped(channel.answers), lines.answers)
                m.d.comb += [channel.pause.eq(lines.pause), lines.paused.eq(channel.paused)]
                if self.config.chips.sdr:
                    m.d.comb += channel.interface.eq(self._registers.port.interface)
            m.d.comb += [
                channel.raw.eq(raw),
                write.flush_done[number].eq(channel.flushed),
                read.data_valid[number].eq(channel.read_valid),
                channel.read_ready.eq(read.data_ready[number]),
                channel.read_chosen.eq(read.data_chosen[number]),
            ]

    def _have_channels(self, m: Module):
        """Channels in the same domain take and answer at once."""
        m.d.comb += [
            self._write.data_room.eq(1),
            self._sequencer.arrived.eq(self.channel_reset),
            self._registers.counter_pending.eq(0),
        ]
        for slice_output, head in zip(self._heads.outputs, self._read.heads, strict=True):
            connect(m, slice_output, head)

    def _wait_for_channels(self, m: Module):
        """Channels in another domain take and answer later."""
        m.d.comb += [
            self._write.data_room.eq(self.data_room),
            self._sequencer.arrived.eq(self.channels_reset),
            self._registers.counter_pending.eq(self.counter_pending),
        ]
        heads = zip(self._heads.outputs, self._read.heads, strict=True)
        for number, (slice_output, head) in enumerate(heads):
            m.d.comb += [
                head.payload.eq(slice_output.payload),
                head.valid.eq(slice_output.valid & self.read_room),
                slice_output.ready.eq(head.ready & self.read_room),
                self.read_next[number].eq(slice_output.valid & slice_output.ready),
            ]

    def _reset(self, m: Module):
        guards = self._data_guard, self._queue_guard
        # One register for the way to the engines, and one of which each of their units can have a copy.
        to_channels, of_channels = (Signal(init=1, name=name) for name in ("to_channels", "of_channels"))
        m.d.sync += [to_channels.eq(self._sequencer.reset), of_channels.eq(to_channels)]
        m.d.comb += [
            self._sequencer.enable.eq(self._registers.enable),
            self._sequencer.drained.eq(Cat(guard.drained for guard in guards).all()),
            *(guard.quiesce.eq(self._sequencer.quiesce) for guard in guards),
            self.channel_reset.eq(of_channels),
        ]

    def _configure(self, m: Module):
        """From the registers to the units."""
        registers, zones = self._registers, self._zones
        connect(m, flipped(self.registers), registers.bus)
        for port, settings in enumerate(registers.queues):
            connect(m, settings, self._fetch.queues[port])
            connect(m, settings, self._completion.queues[port])
        for number in range(MAX_STREAMS):
            m.d.comb += [
                self._decoder.streams[number].eq(registers.streams[number]),
                zones.streams[number].eq(registers.streams[number]),
            ]
        if self._port is not None:
            connect(m, registers.port, self._port.registers)
        m.d.comb += [
            self._decoder.memory_bytes.eq(registers.memory_bytes),
            zones.factory.eq(registers.factory),
            zones.recover.eq(registers.recover),
            zones.time.eq(registers.time),
            zones.zone_select.eq(registers.zone_select),
        ]

    def _report_state(self, m: Module):
        """From the units to the registers."""
        registers, zones, sequencer = self._registers, self._zones, self._sequencer
        ready, idle = Signal(), Signal()
        m.d.comb += [
            ready.eq(zones.ready & Cat(channel.ready for channel in self.channels).all()),
            idle.eq(ready & self._fetch.idle & self._tracker.idle & zones.idle),
            self._fetch.enable.eq(ready),
            sequencer.core_ready.eq(ready),
            registers.ready.eq(sequencer.ready),
            registers.fatal.eq(sequencer.running & self._completion.fault),
            registers.recovering.eq(sequencer.running & zones.recovering),
            registers.zone_wear.eq(zones.zone_wear),
            registers.sequence.eq(zones.sequence),
            registers.second.eq(self._seconds.second),
            self.irq.eq(registers.irq),
            *(registers.generation[n].eq(zones.generation[n]) for n in range(MAX_STREAMS)),
        ]
        channels_idle = Signal()
        m.d.sync += [
            channels_idle.eq(Cat(channel.idle for channel in self.channels).all()),
            registers.idle.eq(sequencer.running & idle & channels_idle),
        ]

    def _count(self, m: Module):
        """Counters of the front end, and those of the selected channel."""
        write, read, counters, registers = self._write, self._read, self._counters, self._registers
        connect(m, registers.counters, counters.port)
        pulses = counters.pulses
        m.d.comb += [
            pulses.commands.eq(self._fetch.fetched),
            pulses.errors.eq(self._completion.failed),
            pulses.pages_appended.eq(write.page_appended),
            pulses.pages_read.eq(read.page_read),
            pulses.write_busy.eq(write.busy),
            pulses.write_stall_buffer.eq(write.stall_buffer),
            pulses.write_stall_memory.eq(write.stall_memory),
            pulses.read_busy.eq(read.busy),
            pulses.read_stall_memory.eq(read.stall_memory),
            pulses.read_stall_channel.eq(read.no_page & self._tracker.reading),
            pulses.erases.eq(self._zones.erases),
            pulses.zone_waits.eq(self._zones.zone_waits),
            self._stopwatch.span.eq(self._tracker.span),
            counters.latency.eq(self._stopwatch.latency),
            self.broadcast.counter_select.eq(registers.channel_counters.select),
            self.broadcast.counter_sample.eq(registers.channel_counters.sample),
        ]
        with m.Switch(registers.channel_select):
            for number, channel in enumerate(self.channels):
                with m.Case(number):
                    m.d.comb += registers.channel_counters.value.eq(channel.counter_value)
