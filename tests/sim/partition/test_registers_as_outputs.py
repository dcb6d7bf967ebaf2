"""Registers with the names of outputs: the text, and that it behaves as before."""

import re

import numpy as np
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.export.systemverilog import export_design
from flashtrain.sim.partition.registers_as_outputs import with_registers_as_outputs


class Inner(wiring.Component):
    """What a memory puts out is an output, by way of a wire; another follows its input."""

    term: In(32)
    word: Out(32)
    shown: Out(32)

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=32, depth=4, init=[])
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [
            write.addr.eq(self.term[:2]),
            write.data.eq(self.term),
            write.en.eq(self.term[2]),
            read.addr.eq(self.term[3:5]),
            read.en.eq(self.term[5]),
            self.word.eq(read.data),
            self.shown.eq(self.term),
        ]
        return m


class Mixture(wiring.Component):
    term: In(32)
    total: Out(64)

    def elaborate(self, platform):
        m = Module()
        m.submodules.inner = inner = Inner()
        m.d.comb += [inner.term.eq(self.term), self.total.eq(inner.word + inner.shown)]
        return m


def exported() -> str:
    return export_design(Mixture(), "mixture").files["mixture.sv"]


def test_a_register_has_the_name_of_its_output():
    before, text = exported(), with_registers_as_outputs(exported())
    (output,) = re.findall(r"^  output \[31:0\] (\w+);\n  reg \[31:0\] \1 ;", text, re.MULTILINE)
    assert re.search(r"^ +_0_ <= memory", before, re.MULTILINE)
    assert re.search(rf"^ +{output} +<= memory", text, re.MULTILINE)
    assert "_0_" not in text
    assert not re.search(rf"assign {output} ", text)
    assert "assign shown = term" in text, "what is no register stays"


def test_pins_of_instances_keep_their_names():
    text = """\
module top(clk, out);
  output [7:0] out;
  wire [7:0] out;
  reg [7:0] held;
  always_ff @(posedge clk)
    held <= 8'h01;
  assign out = held;
  inner inner (
    .held(held)
  );
endmodule
"""
    assert re.search(r"^    \.held\(out *\)$", with_registers_as_outputs(text), re.MULTILINE)


def test_behaves_as_before(behaviour, seed):
    terms = np.random.default_rng(seed).integers(0, 1 << 32, 2000, np.uint32)
    before = behaviour(exported(), terms)
    assert len(set(before)) > 1000
    np.testing.assert_array_equal(behaviour(with_registers_as_outputs(exported()), terms), before)
