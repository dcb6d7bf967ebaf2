"""The controller of the flash memory system."""

from functools import reduce
from operator import or_

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ADDRESS_BITS

from .axi import Axi4LiteSignature, Axi4Signature
from .channel.engine import ChannelEngine
from .frontend.clockwork import HubClockwork
from .hub import Hub
from .nand_bus import NandBus
from .shared import SharedModule


class Fms(wiring.Component):
    """The hub, its clockwork, and a channel engine per channel.

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
        m.submodules.hub = hub = SharedModule(Hub(self.config), "flashtrain_hub")
        clockwork = SharedModule(
            HubClockwork(self.config), "flashtrain_hub_clockwork", reset=hub.channel_reset
        )
        m.submodules.clockwork = clockwork
        connect(m, hub.clockwork, clockwork.port)
        connect(m, hub.data, flipped(self.data))
        connect(m, hub.queue, flipped(self.queue))
        connect(m, flipped(self.registers), hub.registers)
        m.d.comb += self.irq.eq(hub.irq)

        engine = ChannelEngine(self.config)
        read_data = []
        for number, ports in enumerate(hub.channels):
            channel = SharedModule(engine, "flashtrain_channel", reset=hub.channel_reset)
            m.submodules[f"channel_{number}"] = channel
            spare_use = ("spare_use",) if self.config.geometry.spare_blocks else ()
            for name in ("pages", "programmed", "reads", "read_head", "erase", "erased", "flush", *spare_use):
                connect(m, getattr(ports, name), getattr(channel, name))
            for name in ("flushed", "ready", "idle", "counter_value"):
                m.d.comb += getattr(ports, name).eq(getattr(channel, name))
            connect(m, channel.nand, flipped(self.nand[number]))
            m.d.comb += [
                channel.data.eq(hub.write_data),
                channel.data_valid.eq(hub.write_data_valid[number]),
                channel.raw.eq(ports.raw),
                channel.counter_select.eq(hub.channel_counter_select),
                channel.counter_sample.eq(hub.channel_counter_sample),
                ports.read_valid.eq(channel.read_data.valid),
                channel.read_data.ready.eq(ports.read_ready),
            ]
            read_data.append(Mux(ports.read_chosen, channel.read_data.payload, 0))
        m.d.comb += hub.read_data.eq(reduce(or_, read_data))
        return m
