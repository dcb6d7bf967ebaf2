"""All units between two clocks, side by side in one top."""

from amaranth import Module
from amaranth.lib import wiring

from flashtrain.rtl.crossing.channel_crossing import CHANNELS, FRONT
from flashtrain.rtl.crossing.control_crossings import CounterCrossing, IdleCrossing, ResetCrossing
from flashtrain.rtl.crossing.data_crossing import DataCrossing
from flashtrain.rtl.crossing.handshake import Handshake
from flashtrain.rtl.lib.forward import forward
from flashtrain.spec import FmsConfig

DOMAINS = (FRONT, CHANNELS, "sync", "nand")


class Crossings(wiring.Component):
    """Members are those of the units, behind `request__`, `data__`, `idle__`, `counter__` and `reset__`."""

    def __init__(self, config: FmsConfig):
        self.units = {
            "request": Handshake(16, FRONT, CHANNELS),
            "data": DataCrossing(config),
            "idle": IdleCrossing(),
            "counter": CounterCrossing(),
            "reset": ResetCrossing(),
        }
        super().__init__({name: wiring.Out(unit.signature) for name, unit in self.units.items()})

    def elaborate(self, platform):
        m = Module()
        for name, unit in self.units.items():
            m.submodules[name] = unit
            forward(m, unit, getattr(self, name), unit.signature.members)
        return m
