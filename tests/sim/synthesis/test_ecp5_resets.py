"""The driver of a large reset net is copied for each unit with registers on it."""

from flashtrain.sim.synthesis import ecp5_resets
from flashtrain.sim.synthesis.ecp5_resets import copy_reset_drivers

RESET, OTHER = 3, 4


def module(resets: dict[str, int], kind: str = "LUT4", source: str = "A", output: str = "Z") -> dict:
    """Registers with the reset of each, which a look-up table or a register drives from input 2."""

    def cell(kind, **pins):
        ways = {pin: "output" if pin in ("Z", "Q") else "input" for pin in pins}
        connections = {pin: [bit] for pin, bit in pins.items()}
        return {"type": kind, "parameters": {}, "port_directions": ways, "connections": connections}

    registers = {
        name: cell("TRELLIS_FF", LSR=reset, Q=10 + index)
        for index, (name, reset) in enumerate(resets.items())
    }
    drivers = {f"driver{bit}": cell(kind, **{source: 2, output: bit}) for bit in (RESET, OTHER)}
    return {"cells": drivers | registers, "netnames": {"last": {"bits": [20, "0"]}}}


def unit(register):
    return register.partition(".")[0]


def test_each_unit_has_a_copy(monkeypatch):
    monkeypatch.setattr(ecp5_resets, "LARGE", 3)
    found = module({"a.x": RESET, "a.y": RESET, "b.x": RESET, "b.y": OTHER})
    assert copy_reset_drivers(found, unit) == 2
    resets = {name: found["cells"][name]["connections"]["LSR"] for name in ("a.x", "a.y", "b.x", "b.y")}
    assert resets == {"a.x": [21], "a.y": [21], "b.x": [22], "b.y": [OTHER]}
    for name, output in (("a.reset_LUT4_Z_0", 21), ("b.reset_LUT4_Z_1", 22)):
        assert found["cells"][name]["connections"] == {"A": [2], "Z": [output]}
        assert found["netnames"][name]["bits"] == [output]


def test_register_and_the_logic_behind_it(monkeypatch):
    monkeypatch.setattr(ecp5_resets, "LARGE", 2)
    found = module({"a.x": RESET, "b.x": RESET, "b.y": OTHER}, "TRELLIS_FF", "DI", "Q")
    pins = {"port_directions": {"A": "input", "Z": "output"}, "connections": {"A": [RESET], "Z": [15]}}
    found["cells"]["b.gate"] = {"type": "LUT4", "parameters": {}, **pins}
    assert copy_reset_drivers(found, unit) == 2
    cells = found["cells"]
    assert [cells[name]["connections"]["LSR"] for name in ("a.x", "b.x", "b.y")] == [[21], [22], [OTHER]]
    assert cells["b.gate"]["connections"] == {"A": [22], "Z": [15]}
    assert cells["b.reset_TRELLIS_FF_Q_1"]["connections"] == {"DI": [2], "Q": [22]}


def test_small_resets_stay():
    found = module({"a.x": RESET, "b.x": RESET})
    assert copy_reset_drivers(found, unit) == 0
    assert len(found["cells"]) == 4
