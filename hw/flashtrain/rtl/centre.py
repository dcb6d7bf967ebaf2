"""The centre of the controller: all that deals in commands and zones, and exists once."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import MAX_STREAMS, PORTS

from .arbiter import StreamMerge
from .axi import ReadPort, WritePort
from .channel_ports import ChannelPorts
from .frontend.clockwork import HubClockworkPort
from .frontend.completion import CompletionWriter
from .frontend.decode import Decoder
from .frontend.fetch import SubmissionFetch
from .frontend.registers import MEMORY_BITS
from .frontend.tracker import CommandTracker
from .frontend.write_mux import WriteMux
from .layouts import TIME_BITS, PageEvent, ReadHead, ReadJob, StreamTable, WriteJob
from .queue import Queue
from .read.pipeline import ReadPipeline
from .register_slice import RegisterSlice
from .write.pipeline import WritePipeline
from .zones.allocator import WEAR_BITS
from .zones.table import GENERATION_BITS
from .zones.zones import Zones


class QueueSettings(wiring.Signature):
    """One port's queues, from the registers: bases, sizes in entries - 1, doorbells."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "sq_base": Out(config.address_bits),
            "sq_size": Out(16),
            "sq_tail": Out(16),
            "cq_base": Out(config.address_bits),
            "cq_size": Out(16),
            "cq_head": Out(16),
        })  # fmt: skip


class Centre(wiring.Component):
    """Commands from the queues to the channels, and their answers back. See `docs/design.md` for their life.

    Members
    -------
    queues : In(QueueSettings).array(PORTS)
    streams : In(StreamTable).array(MAX_STREAMS)
    memory_bytes, factory, recover, raw, time : In   from the registers
    channels : Out(ChannelPorts).array(C)
    data, data_valid : Out                      broadcast to the channels, see `PageFetcher`
    read_data : In                              of the channel whose `read_chosen` is high
    data_read, data_write : Out                 the data AXI port
    queue_read, queue_write : Out               the queue AXI port
    completed : Out(PORTS)                      pulse: a completion entry is in the tensor buffer
    generation : Out(16).array(MAX_STREAMS)
    pulses, span : Out                          see `HubClockworkPort`
    zone_select : In, zone_wear : Out           erases of a physical zone
    sequence : Out(32)                          of the next allocation of a physical zone
    ready, idle, fatal, recovering : Out(1)     as in `spec.registers.State`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        data_port = {"address_bits": config.address_bits, "data_bits": 8 * config.data_bytes}
        queue_port = {"address_bits": config.address_bits, "data_bits": 64}
        clockwork = HubClockworkPort(config).members
        super().__init__({
            "queues": In(QueueSettings(config)).array(PORTS),
            "streams": In(StreamTable(config)).array(MAX_STREAMS),
            "memory_bytes": In(MEMORY_BITS),
            "factory": In(1),
            "recover": In(1),
            "raw": In(1),
            "time": In(TIME_BITS),
            "channels": Out(ChannelPorts(config)).array(g.channels),
            "data": Out(8 * config.data_bytes),
            "data_valid": Out(g.channels),
            "read_data": In(8 * config.data_bytes),
            "data_read": Out(ReadPort(**data_port)),
            "data_write": Out(WritePort(**data_port)),
            "queue_read": Out(ReadPort(**queue_port)),
            "queue_write": Out(WritePort(**queue_port)),
            "completed": Out(PORTS),
            "generation": Out(GENERATION_BITS).array(MAX_STREAMS),
            "pulses": clockwork["pulses"],
            "span": clockwork["span"],
            "zone_select": In(g.zone_bits),
            "zone_wear": Out(WEAR_BITS),
            "sequence": Out(PageIdentity.sequence.width),
            "ready": Out(1),
            "idle": Out(1),
            "fatal": Out(1),
            "recovering": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config = self.config
        m.submodules.fetch = fetch = SubmissionFetch(config)
        m.submodules.decoder = decoder = Decoder(config)
        m.submodules.zones = zones = Zones(config)
        m.submodules.tracker = tracker = CommandTracker(config)
        m.submodules.completion = completion = CompletionWriter(config, sources=2)
        m.submodules.write = write = WritePipeline(config)
        m.submodules.read = read = ReadPipeline(config)

        # From the queues to jobs.
        connect(m, fetch.axi, flipped(self.queue_read))
        connect(m, fetch.entries, decoder.entries)
        connect(m, decoder.commands, zones.commands)
        connect(m, tracker.tags, zones.tags)
        connect(m, zones.open, tracker.opening)
        connect(m, tracker.retired, zones.retired)
        # Room for the job of every command in flight: no command waits for those before it.
        m.submodules.write_jobs = write_jobs = Queue(WriteJob(config), config.commands)
        m.submodules.read_jobs = read_jobs = Queue(ReadJob(config), config.commands)
        connect(m, zones.write, write_jobs.input)
        connect(m, write_jobs.output, write.jobs)
        connect(m, zones.read, read_jobs.input)
        connect(m, read_jobs.output, read.jobs)
        m.d.comb += [zones.issued.eq(write.issued), read.issued.eq(write.issued)]

        # From events to completion entries.
        m.submodules.programmed = programmed = StreamMerge(PageEvent(config), config.geometry.channels)
        connect(m, programmed.output, tracker.programmed)
        connect(m, write.arrived, tracker.arrived)
        connect(m, read.returned, tracker.returned)
        connect(m, tracker.answers, completion.answers[0])
        connect(m, zones.answers, completion.answers[1])
        m.submodules.queue_mux = queue_mux = WriteMux(2, address_bits=config.address_bits, data_bits=64)
        connect(m, completion.axi, queue_mux.writers[0])
        connect(m, zones.axi, queue_mux.writers[1])
        connect(m, queue_mux.axi, flipped(self.queue_write))

        # To and from the channels.
        connect(m, write.axi, flipped(self.data_read))
        connect(m, read.axi, flipped(self.data_write))
        m.d.comb += [
            self.data.eq(write.data),
            self.data_valid.eq(write.data_valid),
            read.data.eq(self.read_data),
        ]
        raw = Signal()
        m.d.sync += raw.eq(self.raw & self.recovering)
        for number, channel in enumerate(self.channels):
            m.d.comb += channel.raw.eq(raw)
            connect(m, write.pages[number], flipped(channel.pages))
            connect(m, write.flush[number], flipped(channel.flush))
            connect(m, read.pages[number], flipped(channel.reads))
            connect(m, zones.erase[number], flipped(channel.erase))
            connect(m, zones.erased[number], flipped(channel.erased))
            if config.geometry.spare_blocks:
                connect(m, zones.spare_uses[number], flipped(channel.spare_use))
            # Registers keep the way to the channel free of what comes from it (see `Hub`).
            m.submodules[f"programmed_slice_{number}"] = event = RegisterSlice(PageEvent(config))
            connect(m, flipped(channel.programmed), event.input)
            connect(m, event.output, programmed.inputs[number])
            m.submodules[f"head_slice_{number}"] = head = RegisterSlice(ReadHead(config))
            connect(m, flipped(channel.read_head), head.input)
            connect(m, head.output, read.heads[number])
            m.d.comb += [
                write.flush_done[number].eq(channel.flushed),
                read.data_valid[number].eq(channel.read_valid),
                channel.read_ready.eq(read.data_ready[number]),
                channel.read_chosen.eq(read.data_chosen[number]),
            ]

        channels_idle = Signal()
        self._connect_settings(m, fetch, decoder, completion, zones)
        m.d.comb += [
            self.ready.eq(zones.ready & Cat(channel.ready for channel in self.channels).all()),
            channels_idle.eq(Cat(channel.idle for channel in self.channels).all()),
            self.idle.eq(self.ready & fetch.idle & tracker.idle & zones.idle & channels_idle),
            self.fatal.eq(completion.fault),
            self.recovering.eq(zones.recovering),
        ]

        pulses = self.pulses
        m.d.comb += [
            pulses.commands.eq(fetch.fetched),
            pulses.errors.eq(completion.failed),
            pulses.pages_appended.eq(write.page_appended),
            pulses.pages_read.eq(read.page_read),
            pulses.write_busy.eq(write.busy),
            pulses.write_stall_buffer.eq(write.stall_buffer),
            pulses.write_stall_memory.eq(write.stall_memory),
            pulses.read_busy.eq(read.busy),
            pulses.read_stall_memory.eq(read.stall_memory),
            pulses.read_stall_channel.eq(read.no_page & tracker.reading),
            pulses.erases.eq(zones.erases),
            pulses.zone_waits.eq(zones.zone_waits),
            self.span.eq(tracker.span),
        ]
        return m

    def _connect_settings(self, m, fetch, decoder, completion, zones):
        m.d.comb += [
            fetch.enable.eq(self.ready),
            fetch.answered.eq(completion.written),
            decoder.memory_bytes.eq(self.memory_bytes),
            zones.factory.eq(self.factory),
            zones.recover.eq(self.recover),
            zones.time.eq(self.time),
            zones.zone_select.eq(self.zone_select),
            self.zone_wear.eq(zones.zone_wear),
            self.sequence.eq(zones.sequence),
            self.completed.eq(completion.written),
        ]
        for number, queue in enumerate(self.queues):
            m.d.comb += [
                fetch.sq_base[number].eq(queue.sq_base),
                fetch.sq_size[number].eq(queue.sq_size),
                fetch.sq_tail[number].eq(queue.sq_tail),
                fetch.cq_size[number].eq(queue.cq_size),
                fetch.cq_head[number].eq(queue.cq_head),
                completion.cq_base[number].eq(queue.cq_base),
                completion.cq_size[number].eq(queue.cq_size),
                completion.sq_head[number].eq(fetch.head[number]),
            ]
        for number in range(MAX_STREAMS):
            m.d.comb += [
                decoder.streams[number].eq(self.streams[number]),
                zones.streams[number].eq(self.streams[number]),
                self.generation[number].eq(zones.generation[number]),
            ]
