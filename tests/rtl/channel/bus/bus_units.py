"""The units of a bus controller side by side, as one bench top."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from flashtrain.rtl.channel.bus.bus_arbiter import Turnaround
from flashtrain.rtl.channel.bus.bus_cycles import CycleSequencer
from flashtrain.spec.timing import NandTiming

DIES = 3
SENT_CYCLES, GRANT_CYCLES = 2, 4
TIMING = NandTiming()


class BusUnits(wiring.Component):
    """Members: `turnaround` and `sequencer`, each with those of the unit."""

    def __init__(self):
        self._units = {
            "turnaround": Turnaround(TIMING, DIES, sent_cycles=SENT_CYCLES, grant_cycles=GRANT_CYCLES),
            "sequencer": CycleSequencer(copyback=True, features=True),
        }
        super().__init__({name: Out(unit.signature) for name, unit in self._units.items()})

    def elaborate(self, platform):
        m = Module()
        for name, unit in self._units.items():
            m.submodules[name] = unit
            connect(m, unit, flipped(getattr(self, name)))
        return m
