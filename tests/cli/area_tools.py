"""Tools of synthesis that find given numbers, for tests of `flashtrain area`."""

from flashtrain.sim.synthesis import depth, placement, synthesis, tools
from flashtrain.sim.synthesis.depth import Depths, Path
from flashtrain.sim.synthesis.placement import Placement
from flashtrain.sim.synthesis.timing import TimedPath


def replace_tools(monkeypatch, synthesise, clocks, depth_of=lambda name: 4.0):
    """`synthesise` gives areas, `clocks` the MHz of a part and seed, and `depth_of` the depth of a part."""

    def place(component, name, clock_mhz, seeds, static, routed):
        path = TimedPath("unit", ("unit.first", "unit.last"), ns=7.5)
        return [
            Placement(seed, 5_000, clocks(name, seed), [path], routed=routed) for seed in range(1, seeds + 1)
        ]

    def measure_depths(component, name):
        return Depths((Path("unit", ("unit.first", "unit.last"), depth=depth_of(name)),))

    monkeypatch.setattr(synthesis, "synthesise", synthesise)
    monkeypatch.setattr(placement, "place", place)
    monkeypatch.setattr(depth, "measure_depths", measure_depths)
    monkeypatch.setattr(tools, "versions", lambda placing: {"yosys": "Yosys 0", "nextpnr": "nextpnr 0"})
