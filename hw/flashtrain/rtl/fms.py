"""The controller of the flash memory system."""

from amaranth import Cat, Module, ResetInserter, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ADDRESS_BITS, MAX_STREAMS

from .axi import Axi4LiteSignature, Axi4Signature
from .axi_guard import AxiGuard
from .centre import Centre
from .channel.engine import ChannelEngine
from .frontend.registers import RegisterFile
from .nand_bus import NandBus
from .shared import SharedModule


class Fms(wiring.Component):
    """Registers, the centre, and a channel engine per channel.

    While disabled everything but the registers is held in reset; when ENABLE is cleared, bursts under way are
    ended first.

    Members
    -------
    data : Out(Axi4Signature)          tensor buffer, pages; 2 bytes wide for each channel
    queue : Out(Axi4Signature)         tensor buffer, queue entries and reports; 64 bits wide
    registers : In(Axi4LiteSignature)  see `spec.registers`
    irq : Out(1)                       level; a port has new completions
    nand : Out(NandBus).array(C)       the channels' pins
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        super().__init__({
            "data": Out(Axi4Signature(address_bits=config.address_bits, data_bits=8 * config.data_bytes)),
            "queue": Out(Axi4Signature(address_bits=config.address_bits, data_bits=64)),
            "registers": In(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "irq": Out(1),
            "nand": Out(NandBus(g.dies)).array(g.channels),
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
        running, quiesce = Signal(), Signal()
        halted = Signal(init=1)
        m.submodules.centre = centre = ResetInserter(halted)(Centre(config))

        with m.FSM(name="enable"):
            with m.State("OFF"):
                m.d.comb += quiesce.eq(1)
                with m.If(registers.enable):
                    m.d.sync += halted.eq(0)
                    m.next = "ON"
            with m.State("ON"):
                m.d.comb += running.eq(~halted)
                with m.If(~registers.enable):
                    m.d.sync += halted.eq(1)
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.comb += quiesce.eq(1)
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

        engine = ChannelEngine(config)
        channel_reset = Signal()
        m.d.comb += channel_reset.eq(halted | ResetSignal())
        channels = []
        for number in range(config.geometry.channels):
            channel = SharedModule(engine, "flashtrain_channel", reset=channel_reset)
            m.submodules[f"channel_{number}"] = channel
            channels.append(channel)
            ports = centre.channels[number]
            for name in ("pages", "reads", "erase", "flush"):
                connect(m, getattr(ports, name), getattr(channel, name))
            for name in ("programmed", "read_head", "read_data", "erased"):
                connect(m, getattr(channel, name), getattr(ports, name))
            connect(m, channel.nand, flipped(self.nand[number]))
            m.d.comb += [
                channel.data.eq(centre.data),
                channel.data_valid.eq(centre.data_valid[number]),
                ports.flushed.eq(channel.flushed),
                channel.counter_select.eq(registers.channel_counter_select),
            ]
        m.d.comb += [
            centre.channels_ready.eq(Cat(channel.ready for channel in channels).all()),
            centre.channels_idle.eq(Cat(channel.idle for channel in channels).all()),
        ]
        with m.Switch(registers.channel_select):
            for number, channel in enumerate(channels):
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
            centre.counter_select.eq(registers.counter_select),
            registers.counter_value.eq(centre.counter_value),
            centre.zone_select.eq(registers.zone_select),
            registers.zone_wear.eq(centre.zone_wear),
            registers.completed.eq(centre.completed),
            registers.ready.eq(running & centre.ready),
            registers.idle.eq(running & centre.idle),
            registers.fatal.eq(running & centre.fatal),
            self.irq.eq(registers.irq),
        ]
        return m
