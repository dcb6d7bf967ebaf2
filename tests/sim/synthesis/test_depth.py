"""Depth of netlists that are written by hand, and of the whole controller."""

# amaranth: UnusedElaboratable=no

import pytest
from amaranth import Module as Logic
from amaranth import Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.channel.engine import ChannelEngine
from flashtrain.rtl.controller import Controller
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.synthesis.depth import LIMIT, LoopError, depths_of, measure_depths
from flashtrain.sim.synthesis.netlist import Module, Source
from flashtrain.spec import preset
from flashtrain.spec.errors import ToolError

TOPS = {"engine": ChannelEngine, "controller": Controller}


@pytest.mark.early
@pytest.mark.usual("tiny-engine")
@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("name", ["tiny", "small", "behemoth"])
def test_no_path_is_deeper_than_the_limit(yosys, name, top):
    """Of an engine the paths through its ports end there; a controller takes Yosys most of a minute."""
    units = measure_depths(TOPS[top](preset(name)), top).units()
    deep = [f"{unit}: {path}" for unit, path in units.items() if path.depth > LIMIT]
    assert not deep, f"{name} has units deeper than {LIMIT}:\n" + "\n".join(deep)


OUTPUTS = {"Z", "Q", "S0", "S1", "COUT", "DO", "P", "out3"}


def module(cells, *, inputs=(), outputs=(), names=(), units=("",), registers=()):
    """A module of cells (type, pins), each pin with the numbers of its wires."""

    def cell(kind, pins):
        return {
            "type": kind,
            "connections": {pin: bits if isinstance(bits, list) else [bits] for pin, bits in pins.items()},
            "port_directions": {pin: "output" if pin in OUTPUTS else "input" for pin in pins},
        }

    ports = {f"in{bit}": {"direction": "input", "bits": [bit]} for bit in inputs}
    ports |= {f"out{bit}": {"direction": "output", "bits": [bit]} for bit in outputs}
    content = {
        "ports": ports,
        "cells": {f"cell{number}": cell(*one) for number, one in enumerate(cells)},
        "netnames": {
            **{name: {"bits": [bit]} for bit, name in names},
            **{f"wire{bit}": {"bits": [bit]} for bit in set(range(10)) - {bit for bit, _ in names}},
        },
    }
    return Module(content, Source(frozenset(units), frozenset(registers), {}))


def depth_of(cells, **ports):
    """The depth of the one output of a module."""
    depths = depths_of({"top": module(cells, **ports)}, "top")
    (path,) = [path for path in depths.paths if path.endpoint.startswith("out")]
    return path.depth


@pytest.mark.parametrize(
    ("cells", "depth"),
    [
        ([], 0),
        ([("LUT4", {"A": 1, "B": 2, "Z": 9})], 1),
        ([("LUT4", {"A": 1, "Z": 2}), ("LUT4", {"A": 1, "B": 2, "Z": 9})], 2),
        ([("LUT4", {"A": 1, "Z": 2}), ("PFUMX", {"ALUT": 2, "C0": 1, "Z": 9})], 1),
        ([("LUT4", {"A": 1, "Z": 2}), ("TRELLIS_FF", {"DI": 2, "Q": 9})], 0),
        ([("CCU2C", {"A0": 1, "S0": 9})], 1),
        ([("CCU2C", {"A0": 1, "COUT": 2}), ("CCU2C", {"CIN": 2, "S1": 9})], 2),
        ([("CCU2C", {"A0": 1, "COUT": 2}), ("CCU2C", {"CIN": 2, "COUT": 3}), ("CCU2C", {"CIN": 3, "S0": 9})],
         2 + 1 / 16),
        # The lower sum does not depend on the upper digits.
        ([("LUT4", {"A": 1, "Z": 2}), ("CCU2C", {"A0": 1, "A1": 2, "S0": 9})], 1),
        ([("LUT4", {"A": 1, "Z": 2}), ("CCU2C", {"A0": 1, "A1": 2, "S1": 9})], 2),
        ([("LUT4", {"A": 1, "Z": 2}), ("TRELLIS_DPR16X4", {"RAD": [2], "DI": [1], "DO": [9]})], 2),
        ([("MULT18X18D", {"A0": 1, "P": 9})], 4),
    ],
)  # fmt: skip
def test_each_cell_has_a_depth(cells, depth):
    assert depth_of(cells, inputs=[1], outputs=[9]) == depth


def test_an_endpoint_is_each_pin_of_a_register_and_memory():
    table = ("LUT4", {"A": 1, "Z": 2})
    register = ("TRELLIS_FF", {"CLK": 0, "DI": 1, "CE": 2, "LSR": "0", "Q": 5})
    memory = ("TRELLIS_DPR16X4", {"WCK": 0, "DI": [2], "RAD": [1], "DO": [6]})
    paths = depths_of({"top": module([table, register, memory], inputs=[0, 1])}, "top").paths
    ends = {path.endpoint: path.depth for path in paths}
    assert ends == {"wire5": 0, "wire5 (enable)": 1, "cell2": 1}


def test_a_unit_has_the_path_to_its_deepest_register():
    cells = [
        ("TRELLIS_FF", {"DI": 4, "Q": 1}),
        ("LUT4", {"A": 1, "Z": 2}),
        ("LUT4", {"A": 2, "Z": 3}),
        ("TRELLIS_FF", {"DI": 2, "Q": 4}),
        ("TRELLIS_FF", {"DI": 3, "Q": 5}),
    ]
    names = [
        (1, "copy"),
        (1, "zones.table.row"),
        (2, "next_LUT4_Z"),
        (4, "zones.state"),
        (5, "zones.table.data.field"),
    ]
    units = ["", "zones", "zones.table"]
    top = module(cells, names=names, units=units, registers=["zones.table.row"])
    units = depths_of({"top": top}, "top").units()
    assert {unit: path.depth for unit, path in units.items()} == {"zones.table": 2, "zones": 1}
    assert units["zones.table"].signals == ("zones.table.row", "wire3", "zones.table.data.field")


def test_paths_cross_the_borders_of_modules():
    """A table in the parent, one in each of two instances, in a row."""
    child = module([("LUT4", {"A": 1, "Z": 3})], inputs=[1], outputs=[3])
    parent = module(
        [
            ("LUT4", {"A": 1, "Z": 2}),
            ("child", {"in1": 2, "out3": 4}),
            ("child", {"in1": 4, "out3": 9}),
        ],
        inputs=[1],
        outputs=[9],
    )
    (path,) = depths_of({"top": parent, "child": child}, "top").paths
    assert path.depth == 3
    assert path.signals[:2] == ("in1", "wire2")


def test_a_wire_through_a_module_is_no_logic():
    child = module([], inputs=[3], outputs=[3])
    parent = module([("child", {"in3": 1, "out3": 2}), ("LUT4", {"A": 2, "Z": 9})], inputs=[1], outputs=[9])
    (path,) = depths_of({"top": parent, "child": child}, "top").paths
    assert path.depth == 1


def test_a_loop_has_a_name():
    cells = [("LUT4", {"A": 2, "B": 1, "Z": 3}), ("LUT4", {"A": 3, "Z": 2})]
    with pytest.raises(LoopError, match="a combinational loop: wire2, wire3"):
        depth_of(cells, inputs=[1], outputs=[3])


def test_a_cell_without_a_depth_is_refused():
    with pytest.raises(ToolError, match="cell0 is a ALU54B, whose depth is not known"):
        depth_of([("ALU54B", {"A": 1, "Z": 9})], inputs=[1], outputs=[9])


class Parity(wiring.Component):
    """The parity of 16 bits, a cycle later."""

    a: In(16)
    q: Out(1)

    def elaborate(self, platform):
        m = Logic()
        parity = Signal()
        m.d.sync += parity.eq(self.a.xor())
        m.d.comb += self.q.eq(parity)
        return m


class TwoParities(wiring.Component):
    """The parity of two parities and of 14 other bits, whose units are one module."""

    a: In(16)
    q: Out(1)

    def elaborate(self, platform):
        m = Logic()
        unit = Parity()
        m.submodules.first = first = SharedModule(unit, "unit")
        m.submodules.second = second = SharedModule(unit, "unit")
        m.d.comb += [first.a.eq(self.a), second.a.eq(self.a ^ first.q.replicate(16)), self.q.eq(second.q)]
        return m


def test_a_design_is_mapped_and_named(yosys):
    paths = measure_depths(TwoParities(), "top").paths
    ends = [(path.depth, path.unit, path.signals[0], path.endpoint) for path in paths if path.depth]
    assert ends == [(3, "second", "first.parity", "second.parity"), (2, "first", "a", "first.parity")]
