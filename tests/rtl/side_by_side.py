"""Units side by side as one bench top, built once for all of them, and access to one of them."""

from collections.abc import Mapping

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped


class SideBySide(wiring.Component):
    """Members: a port of each name in `units`, with the members of that unit."""

    def __init__(self, units: Mapping[str, wiring.Component]):
        self._units = units
        super().__init__({name: Out(unit.signature) for name, unit in units.items()})

    def elaborate(self, platform):
        m = Module()
        for name, unit in self._units.items():
            m.submodules[name] = unit
            connect(m, unit, flipped(getattr(self, name)))
        return m

    def idle_inputs(self) -> dict[str, int]:
        """All inputs of all units at 0: a bench drives one unit, and the others are idle."""
        ports = self.signature.flatten(self)
        return {"__".join(map(str, path)): 0 for path, member, _ in ports if member.flow == In}


class Unit:
    """One of the units: `drive` sets inputs by name, and a look-up gives an output."""

    def __init__(self, dut, name: str):
        self._dut, self._name = dut, name

    def drive(self, **values: int) -> None:
        for name, value in values.items():
            getattr(self._dut, f"{self._name}__{name}").value = int(value)

    def __getitem__(self, name: str) -> int:
        return int(getattr(self._dut, f"{self._name}__{name}").value)
