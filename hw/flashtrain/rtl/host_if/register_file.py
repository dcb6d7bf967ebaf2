"""The registers of `flashtrain.spec.registers`, behind AXI4-Lite."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import TIME_BITS, EngineInterface, StreamTable
from flashtrain.rtl.lib.axi import Axi4LiteSignature
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import (
    ADDRESS_BITS,
    CHANNEL_COUNTER_BASE,
    ID_VALUE,
    MAX_STREAMS,
    PORTS,
    VERSION_VALUE,
    ChannelCounter,
    Counter,
    CycleKind,
    NandCycle,
    NandState,
    PortRegister,
    Register,
    State,
    StreamAttributes,
    StreamRegister,
    channel_counter_register,
    counter_register,
    cq_head_doorbell,
    port_register,
    sq_tail_doorbell,
    stream_register,
)
from flashtrain.spec.sdr import SDR_MODES
from flashtrain.spec.streams import Codec

from .counters import COUNTER_BITS, CounterPort
from .fetch import QueueSettings
from .port_access import PortRegisters
from .register_bus import RegisterBus, RegisterMap

MEMORY_BITS = 48
CHANNEL_COUNTER_BITS = 48
BASE_ALIGNMENT_BITS = 6
ALWAYS = Const(1)


class RegisterFile(wiring.Component):
    """Settings, doorbells, interrupts and the windows on counters. Not reset with the rest of the controller.

    SLVERR answers an access that has no effect:

    - an address without a register, or a write of a read-only register
    - a value too wide for the register, a selection past its range, a base that is not a multiple of 64
    - a queue of one entry, which could hold none
    - a write of queues, streams or the tensor buffer's size while the controller is enabled
    - a write of a doorbell while it is disabled
    - what the command port refuses (`spec.registers.NandCycle`)

    A doorbell past its queue sets BAD_DOORBELL, and so does a submission doorbell of a port whose completion
    queue has one entry. Disabling clears doorbells, BAD_DOORBELL and pending
    interrupts.

    The high half of a counter is the one that belongs to the counter whose low half was read last.

    Latency: a write takes effect after 2 cycles, one of queues, streams or the tensor buffer's size after 3.
    A read is answered after 8, of a channel's counter when it is no longer pending.

    Members
    -------
    bus : In(Axi4LiteSignature)
    enable, factory, recover, raw : Out(1)    CONTROL
    memory_bytes : Out(48)                    size of the tensor buffer
    queues : Out(QueueSettings).array(PORTS)
    streams : Out(StreamTable).array(8)       valid ones lie within the device, which has their codec
    generation : In(16).array(8)
    ready, fatal, idle, recovering : In(1)    STATE
    completed : In(PORTS)                     pulse: a completion was written
    irq : Out(1)                              an interrupt is pending and not masked
    counters : Out(CounterPort)               of the front end
    channel_select : Out, channel_counters : Out(CounterPort)   of the selected channel
    counter_pending : In(1)                   `sample` is high, and its value is not there yet
    zone_select, zone_wear                    erases of physical zones
    sequence : In(32)                         SEQUENCE
    time : Out(32)                            TIME
    second : In(1)                            pulse: a second is over
    port : Out(PortRegisters)                 with a command port
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._last_codec = max(Codec) if config.codec else Codec.RAW
        g = config.geometry
        super().__init__({
            "bus": In(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "enable": Out(1),
            "factory": Out(1),
            "recover": Out(1),
            "raw": Out(1),
            "memory_bytes": Out(MEMORY_BITS),
            "queues": Out(QueueSettings(config)).array(PORTS),
            "streams": Out(StreamTable(config)).array(MAX_STREAMS),
            "generation": In(16).array(MAX_STREAMS),
            "ready": In(1),
            "fatal": In(1),
            "idle": In(1),
            "recovering": In(1),
            "completed": In(PORTS),
            "irq": Out(1),
            "counters": Out(CounterPort(len(Counter), COUNTER_BITS)),
            "channel_select": Out(range(g.channels)),
            "channel_counters": Out(CounterPort(len(ChannelCounter), CHANNEL_COUNTER_BITS)),
            "counter_pending": In(1),
            "zone_select": Out(range(g.zones)),
            "zone_wear": In(PageIdentity.wear.width),
            "sequence": In(PageIdentity.sequence.width),
            "time": Out(TIME_BITS),
            "second": In(1),
            **({"port": Out(PortRegisters(config))} if config.command_port else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.bus = bus = RegisterBus(ADDRESS_BITS)
        wiring.connect(m, wiring.flipped(self.bus), bus.bus)
        registers = RegisterMap(bus.write_data)
        bad_doorbell, pending = Signal(), Signal(PORTS)
        m.d.sync += pending.eq(pending | self.completed)

        with m.If(self.second):
            m.d.sync += self.time.eq(self.time + 1)  # unless it is written
        registers.setting(Register.TIME, self.time, ALWAYS)

        self._constants(registers)
        self._control(m, registers, bad_doorbell, pending)
        self._ports(m, registers, bad_doorbell)
        self._streams(m, registers)
        self._windows(m, bus, registers)
        if self.config.command_port:
            self._command_port(m, registers)
        registers.connect(m, bus)

        with m.If(~self.enable):
            m.d.sync += [bad_doorbell.eq(0), pending.eq(0)]
            m.d.sync += [queue.sq_tail.eq(0) for queue in self.queues]
            m.d.sync += [queue.cq_head.eq(0) for queue in self.queues]
        return m

    def _constants(self, registers: RegisterMap):
        config, g = self.config, self.config.geometry
        values = {
            Register.ID: ID_VALUE,
            Register.VERSION: VERSION_VALUE,
            Register.GEOMETRY: g.channels | g.dies << 8 | g.planes << 16 | g.spare_blocks << 24,
            Register.BLOCKS: g.blocks | g.pages << 16,
            Register.PAGE: g.page_bytes | g.spare_bytes << 16,
            Register.LIMITS: config.commands | config.max_blocks << 16,
            Register.CLOCK_MHZ: config.timing.clock_mhz,
            Register.ZONES: config.max_open | config.max_active << 16,
        }
        registers.reads.update({address: Const(value, 32) for address, value in values.items()})

    def _control(self, m: Module, registers: RegisterMap, bad_doorbell, pending):
        registers.setting(Register.CONTROL, Cat(self.enable, self.factory, self.recover, self.raw), ALWAYS)
        registers.wide_setting(Register.MEMORY_LOW, Register.MEMORY_HIGH, self.memory_bytes, ~self.enable)

        bits = {
            State.READY: self.ready,
            State.FATAL: self.fatal,
            State.IDLE: self.idle,
            State.BAD_DOORBELL: bad_doorbell,
            State.RECOVERING: self.recovering,
        }
        state = Signal(len(State))
        m.d.comb += [state[flag.bit_length() - 1].eq(value) for flag, value in bits.items()]
        registers.reads[Register.STATE] = state

        mask = Signal(PORTS)
        registers.setting(Register.INTERRUPT_MASK, mask, ALWAYS)
        registers.reads[Register.INTERRUPT] = pending
        registers.writes[Register.INTERRUPT] = (
            ALWAYS, [pending.eq(pending & ~registers.written | self.completed)],
        )  # fmt: skip
        m.d.comb += self.irq.eq((pending & mask).any())

    def _ports(self, m: Module, registers: RegisterMap, bad_doorbell):
        written, outside = registers.written, Signal()
        m.d.sync += [outside.eq(0), bad_doorbell.eq(bad_doorbell | outside)]
        for port, queue in enumerate(self.queues):
            submission = queue.sq_base, queue.sq_size, queue.sq_tail
            completion = queue.cq_base, queue.cq_size, queue.cq_head
            submission_at = PortRegister.SQ_BASE_LOW, PortRegister.SQ_BASE_HIGH, PortRegister.SQ_SIZE
            completion_at = PortRegister.CQ_BASE_LOW, PortRegister.CQ_BASE_HIGH, PortRegister.CQ_SIZE
            has_place = Signal(name=f"has_place{port}")  # for a completion
            m.d.sync += has_place.eq(queue.cq_size != 0)
            for (base, size, doorbell), addresses, doorbell_address, usable in (
                (submission, submission_at, sq_tail_doorbell(port), has_place),
                (completion, completion_at, cq_head_doorbell(port), ALWAYS),
            ):
                base_low, base_high, size_address = (port_register(port, address) for address in addresses)
                registers.wide_setting(base_low, base_high, base, ~self.enable)
                registers.require(base_low, written[:BASE_ALIGNMENT_BITS] == 0)
                registers.late_setting(size_address, size, ~self.enable)
                registers.require(size_address, written != 0)

                inside = (written <= size) & usable
                registers.reads[doorbell_address] = doorbell
                registers.writes[doorbell_address] = (
                    self.enable,
                    [
                        doorbell.eq(Mux(inside, written, doorbell)),
                        outside.eq(~inside),
                    ],
                )

    def _streams(self, m: Module, registers: RegisterMap):
        zones = self.config.geometry.zones
        for number, table in enumerate(self.streams):
            nsid = number + 1
            extent = Signal(32, name=f"extent{nsid}")
            attributes = Signal(16, name=f"attributes{nsid}")
            registers.late_setting(stream_register(nsid, StreamRegister.ZONES), extent, ~self.enable)
            registers.late_setting(stream_register(nsid, StreamRegister.ATTRIBUTES), attributes, ~self.enable)
            registers.reads[stream_register(nsid, StreamRegister.GENERATION)] = self.generation[number]

            first, count = extent[:16], extent[16:]
            end = Signal(17, name=f"end{nsid}")
            m.d.sync += end.eq(first + count)
            valid, non_volatile, host, core, retention, refuses, codec = (
                attributes[bits.low : bits.low + bits.width]
                for bits in (
                    StreamAttributes.valid, StreamAttributes.non_volatile,
                    StreamAttributes.host, StreamAttributes.core, StreamAttributes.retention,
                    StreamAttributes.refuses, StreamAttributes.codec,
                )
            )  # fmt: skip
            m.d.sync += [
                table.valid.eq(valid & (end <= zones) & (codec <= self._last_codec)),
                table.non_volatile.eq(non_volatile),
                table.host.eq(host),
                table.core.eq(core),
                table.retention.eq(retention),
                table.refuses.eq(refuses),
                table.first.eq(first),
                table.zones.eq(count),
            ]
            if self.config.codec:
                m.d.sync += table.codec.eq(codec)

    def _windows(self, m: Module, bus, registers: RegisterMap):
        g = self.config.geometry
        for address, selection, count in (
            (Register.CHANNEL_SELECT, self.channel_select, g.channels),
            (Register.ZONE_SELECT, self.zone_select, g.zones),
        ):
            registers.setting(address, selection, registers.written < count)
        registers.reads[Register.ZONE_WEAR] = self.zone_wear
        registers.reads[Register.SEQUENCE] = self.sequence

        high = Signal(32)
        # Channels may be in another clock, so they are asked for their own counters alone.
        of_channel = (bus.read_address - CHANNEL_COUNTER_BASE)[: len(bus.read_address)]
        own, channels = self.counters, self.channel_counters
        m.d.comb += [
            own.sample.eq(bus.reading),
            channels.sample.eq(bus.reading & (of_channel < 8 * len(ChannelCounter))),
            bus.read_pending.eq(self.counter_pending),
        ]
        for port, addresses in (
            (own, [counter_register(counter) for counter in Counter]),
            (channels, [channel_counter_register(counter) for counter in ChannelCounter]),
        ):
            m.d.comb += port.select.eq((bus.read_address - addresses[0]) >> 3)
            for address in addresses:
                registers.reads[address] = port.value[:32]
                registers.reads[address + 4] = high
            is_low_half = Signal()
            m.d.sync += is_low_half.eq(Cat(bus.read_address == address for address in addresses).any())
            with m.If(bus.read & is_low_half):
                m.d.sync += high.eq(port.value[32:])

    def _command_port(self, m: Module, registers: RegisterMap):
        port, written = self.port, registers.written
        fields = NandCycle.byte, NandCycle.die, NandCycle.kind
        byte, die, kind = (written[field.low : field.low + field.width] for field in fields)
        known = sum((1 << field.width) - 1 << field.low for field in fields)
        mode = Signal(range(len(SDR_MODES)))
        m.d.comb += port.channel.eq(self.channel_select)
        m.d.sync += port.start.eq(0)  # unless a cycle is written

        registers.setting(Register.NAND_PAUSE_LOW, port.pause[:32], ~port.busy)
        registers.setting(Register.NAND_PAUSE_HIGH, port.pause[32:], ~port.busy)
        registers.setting(Register.NAND_MODE, mode, written < len(SDR_MODES))
        if self.config.chips.sdr:
            self._interface(m, registers)
        kinds = len(CycleKind) if self.config.chips.ready_busy else CycleKind.WAS_BUSY
        exists = (written & ~known == 0) & (die < self.config.chip_enables) & (kind < kinds)
        cycle = {"kind": kind, "die": die, "mode": mode, "byte": byte}
        registers.writes[Register.NAND_CYCLE] = (
            exists & self.enable & port.paused & ~port.busy,
            [port.start.eq(1), *(port.cycle[name].eq(value) for name, value in cycle.items())],
        )
        state = Signal(NandState.paused.low + 1)
        for field, value in (
            (NandState.byte, port.byte), (NandState.busy, port.busy), (NandState.paused, port.paused),
        ):  # fmt: skip
            m.d.comb += state[field.low : field.low + field.width].eq(value)
        registers.reads[Register.NAND_STATE] = state

    def _interface(self, m: Module, registers: RegisterMap):
        """Only engines in reset, and engines that are all paused, may change to another one."""
        chips, port = self.config.chips, self.port
        chosen = Signal(EngineInterface(), init={"mode": chips.sdr_mode, "sdr": not chips.ddr})
        written = data.View(EngineInterface(), registers.written[: len(chosen.as_value())])
        m.d.comb += port.interface.eq(chosen)
        exists = (written.mode < len(SDR_MODES)) & (1 if chips.ddr else written.sdr)
        still = (~self.enable | port.pause.all()) & ~port.busy
        registers.setting(Register.NAND_INTERFACE, chosen.as_value(), exists & still)
