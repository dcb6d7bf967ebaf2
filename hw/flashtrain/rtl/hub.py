"""All of the controller but its channel engines and its clockwork."""

from amaranth import Module, ResetInserter, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ADDRESS_BITS, MAX_STREAMS

from .axi import Axi4LiteSignature, Axi4Signature
from .axi_guard import AxiGuard
from .centre import Centre
from .channel.counters import SELECT_BITS
from .channel_ports import ChannelPorts
from .frontend.clockwork import HubClockworkPort
from .frontend.registers import RegisterFile


class Hub(wiring.Component):
    """Registers, the centre, and the guards between the centre and the tensor buffer.

    While disabled everything but the registers is held in reset, the channels too; when ENABLE is cleared,
    bursts under way are ended first.

    What goes to the channels comes from registers and never depends, within a clock, on what comes from them.

    Members
    -------
    data, queue, registers, irq : see `Fms`
    channels : Out(ChannelPorts).array(C)
    write_data : Out, write_data_valid : Out(C)   to all channels; the one it is for
    read_data : In    of the channel whose `read_chosen` is high
    channel_reset : Out(1)
    channel_counter_select : Out, channel_counter_sample : Out(1)
    clockwork : Out(HubClockworkPort)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels = config.geometry.channels
        super().__init__({
            "data": Out(Axi4Signature(address_bits=config.address_bits, data_bits=8 * config.data_bytes)),
            "queue": Out(Axi4Signature(address_bits=config.address_bits, data_bits=64)),
            "registers": In(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "irq": Out(1),
            "channels": Out(ChannelPorts(config)).array(channels),
            "write_data": Out(8 * config.data_bytes),
            "write_data_valid": Out(channels),
            "read_data": In(8 * config.data_bytes),
            "channel_reset": Out(1),
            "channel_counter_select": Out(SELECT_BITS),
            "channel_counter_sample": Out(1),
            "clockwork": Out(HubClockworkPort(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config = self.config
        address_bits = config.address_bits
        m.submodules.register_file = registers = RegisterFile(config)
        m.submodules.data_guard = data_guard = AxiGuard(
            address_bits=address_bits, data_bits=8 * config.data_bytes
        )
        m.submodules.queue_guard = queue_guard = AxiGuard(address_bits=address_bits, data_bits=64)
        halted = Signal(init=1)
        m.submodules.centre = centre = ResetInserter(halted)(Centre(config))

        running, quiesce = Signal(), Signal()
        ready = Signal()  # also after a disable, until the tensor buffer is let go
        with m.FSM(name="enable"):
            with m.State("OFF"):
                m.d.comb += quiesce.eq(1)
                with m.If(registers.enable):
                    m.d.sync += halted.eq(0)
                    m.next = "ON"
            with m.State("ON"):
                m.d.comb += running.eq(~halted)
                m.d.comb += ready.eq(centre.ready)
                with m.If(~registers.enable):
                    m.d.sync += halted.eq(1)
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.comb += quiesce.eq(1)
                m.d.comb += ready.eq(~registers.enable)
                with m.If(data_guard.drained & queue_guard.drained):
                    m.next = "OFF"
        m.d.comb += [data_guard.quiesce.eq(quiesce), queue_guard.quiesce.eq(quiesce)]

        connect(m, registers.bus, flipped(self.registers))
        connect(m, centre.data_read, data_guard.read)
        connect(m, centre.data_write, data_guard.write)
        connect(m, data_guard.pins, flipped(self.data))
        connect(m, centre.queue_read, queue_guard.read)
        connect(m, centre.queue_write, queue_guard.write)
        connect(m, queue_guard.pins, flipped(self.queue))
        m.d.comb += [
            self.write_data.eq(centre.data),
            self.write_data_valid.eq(centre.data_valid),
            centre.read_data.eq(self.read_data),
            self.channel_reset.eq(halted | ResetSignal()),
            self.channel_counter_select.eq(registers.channel_counter_select),
            self.channel_counter_sample.eq(registers.counter_sample),
        ]
        for number, channel in enumerate(self.channels):
            connect(m, centre.channels[number], flipped(channel))
        with m.Switch(registers.channel_select):
            for number, channel in enumerate(self.channels):
                with m.Case(number):
                    m.d.comb += registers.channel_counter_value.eq(channel.counter_value)

        for number, queue in enumerate(centre.queues):
            for name in queue.signature.members:
                m.d.comb += getattr(queue, name).eq(getattr(registers, name)[number])
        for number in range(MAX_STREAMS):
            m.d.comb += [
                centre.streams[number].eq(registers.streams[number]),
                registers.generation[number].eq(centre.generation[number]),
            ]
        m.d.comb += [
            centre.memory_bytes.eq(registers.memory_bytes),
            centre.factory.eq(registers.factory),
            centre.recover.eq(registers.recover),
            centre.raw.eq(registers.raw),
            self.clockwork.pulses.eq(centre.pulses),
            self.clockwork.span.eq(centre.span),
            self.clockwork.select.eq(registers.counter_select),
            self.clockwork.sample.eq(registers.counter_sample),
            registers.counter_value.eq(self.clockwork.value),
            centre.zone_select.eq(registers.zone_select),
            registers.zone_wear.eq(centre.zone_wear),
            registers.sequence.eq(centre.sequence),
            registers.second.eq(self.clockwork.second),
            centre.time.eq(registers.time),
            registers.completed.eq(centre.completed),
            registers.ready.eq(ready),
            registers.idle.eq(running & centre.idle),
            registers.fatal.eq(running & centre.fatal),
            registers.recovering.eq(running & centre.recovering),
            self.irq.eq(registers.irq),
        ]
        return m
