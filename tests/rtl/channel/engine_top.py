"""A channel engine with its interfaces as flat ports, as a bench top."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.channel.engine import ChannelEngine
from flashtrain.rtl.channel.interface import ChannelBroadcast, ChannelInterface
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.nand_bus import nand_bus
from flashtrain.spec import FmsConfig

_READ_BUS = ("read_valid", "read_ready", "read_chosen")


class EngineTop(wiring.Component):
    """Members: those of `ChannelInterface` and `ChannelBroadcast`, `data_valid` and `nand` of the engine.

    read_data : Out(stream)   in the place of the handshake of the shared read bus
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        members = {**ChannelInterface(config).flip().members, **ChannelBroadcast(config).flip().members}
        super().__init__({
            **{name: member for name, member in members.items() if name not in _READ_BUS},
            "data_valid": In(1),
            "read_data": Out(stream.Signature(8 * config.data_bytes)),
            "nand": Out(nand_bus(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = engine = ChannelEngine(self.config)
        for interface in (engine.front_end, engine.broadcast):
            forward(m, interface, self, (n for n in interface.signature.members if n not in _READ_BUS))
        forward(m, engine, self, ("data_valid", "nand"))
        m.d.comb += [
            self.read_data.payload.eq(engine.read_data),
            self.read_data.valid.eq(engine.front_end.read_valid),
            engine.front_end.read_ready.eq(self.read_data.ready),
        ]
        return m
