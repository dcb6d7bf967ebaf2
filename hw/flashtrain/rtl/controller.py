"""The controller of the flash memory system."""

from functools import reduce
from operator import or_

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ADDRESS_BITS

from .channel.engine import ChannelEngine
from .front_end import FrontEnd
from .lib.axi import Axi4LiteSignature, Axi4Signature
from .lib.forward import forward
from .lib.shared import SharedModule
from .nand_bus import NandBus


class Controller(wiring.Component):
    """The front end, and a channel engine per channel.

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
        m.submodules.front_end = front_end = SharedModule(FrontEnd(self.config), "flashtrain_front_end")
        forward(m, front_end, self, ("data", "queue", "registers", "irq"))
        engine = ChannelEngine(self.config)
        read_data = []
        for number, port in enumerate(front_end.channels):
            channel = SharedModule(engine, "flashtrain_channel", reset=front_end.channel_reset)
            m.submodules[f"channel_{number}"] = channel
            connect(m, port, channel.front_end)
            connect(m, front_end.broadcast, channel.broadcast)
            connect(m, channel.nand, flipped(self.nand[number]))
            m.d.comb += channel.data_valid.eq(front_end.data_valid[number])
            read_data.append(Mux(port.read_chosen, channel.read_data, 0))
        m.d.comb += front_end.read_data.eq(reduce(or_, read_data))
        return m
