"""Next states at the clock of their registers: the text, and that it behaves as before."""

import re

import numpy as np
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.export.systemverilog import export_design
from flashtrain.sim.partition.next_states import with_next_states_at_the_clock


class Mixture(wiring.Component):
    """Registers of all kinds: with a default and without, written in parts, seen in their next state."""

    term: In(32)
    total: Out(64)

    def elaborate(self, platform):
        m = Module()
        held, parts = Signal(16), Signal(16, init=3)
        unreset, early = Signal(16, reset_less=True), Signal(16)
        m.d.sync += early.eq(self.term[:16])
        with m.If(self.term[0]):
            m.d.sync += held.eq(held + self.term[8:])
        with m.Elif(self.term[1]):
            m.d.sync += held.eq(parts)
        with m.Switch(self.term[2:4]):
            with m.Case(1):
                m.d.sync += parts[:8].eq(unreset)
            with m.Case(2):  # which is written as an assignment to several parts at once
                m.d.sync += [parts.eq(early), parts[4:12].eq(self.term[16:])]
        with m.If(self.term[4]):
            m.d.sync += unreset.eq(unreset ^ self.term)
        m.d.comb += self.total[:16].eq(held)
        m.d.comb += self.total[16:32].eq(parts)
        m.d.comb += self.total[32:48].eq(unreset)
        m.d.comb += self.total[48:].eq(early)
        return m


def exported() -> str:
    return export_design(Mixture(), "mixture").files["mixture.sv"]


def test_next_states_become_assignments():
    text = with_next_states_at_the_clock(exported())
    assert text.count("always_comb") == 1, "what assigns several parts at once stays"
    assert text.split("always_comb")[0].count("<=") == 1, "and the register that takes it"
    assert text.split("  always_ff @(posedge clk) begin\n")[-1].count("if (rst)") == 1


def test_a_next_state_that_is_read_stays():
    text = exported()
    (first, *_) = [line for line in text.splitlines() if "<= \\$" in line]
    next_state = first.split()[-2]
    read = text.replace("endmodule", f"  wire seen;\n  assign seen = | {next_state} ;\nendmodule")
    assert with_next_states_at_the_clock(read).count("always_comb") == 2


class Steps(wiring.Component):
    """Each register reads the one before."""

    term: In(8)
    third: Out(8)

    def elaborate(self, platform):
        m = Module()
        first, second = Signal(8, name="first_one"), Signal(8)
        m.d.sync += [first.eq(self.term), second.eq(first + 1), self.third.eq(second)]
        return m


def test_readers_stand_before_what_they_read():
    text = with_next_states_at_the_clock(export_design(Steps(), "steps").files["steps.sv"])
    running, reset = text.split("  always_ff @(posedge clk) begin\n")[-1].split("if (rst)")
    assert re.findall(r"^    (\w+) +<=", running, re.MULTILINE) == ["third", "second", "first_one"]
    assert reset.count("<=") == 3, "which comes last"


def test_behaves_as_before(behaviour, seed):
    terms = np.random.default_rng(seed).integers(0, 1 << 32, 2000, np.uint32)
    text = exported()
    before, after = behaviour(text, terms), behaviour(with_next_states_at_the_clock(text), terms)
    assert len(set(before)) > 1000
    np.testing.assert_array_equal(after, before)
