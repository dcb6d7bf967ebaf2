"""Cutting a component into parts: which there are, and what joins them."""

import pytest
from amaranth import ClockDomain, DomainRenamer, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.partition.split import Cut, CutError, cut


class Adder(wiring.Component):
    term: In(8)
    total: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.total.eq(self.total + self.term)
        return m


class Chain(wiring.Component):
    """One adder after the other; the second has the first's total, or the input while `direct` is high."""

    term: In(8)
    direct: In(1)
    total: Out(8)
    always_three: Out(2, init=3)

    def elaborate(self, platform):
        m = Module()
        m.submodules.first = first = Adder()
        m.submodules.second = second = Adder()
        m.d.comb += [first.term.eq(self.term), second.term.eq(first.total), self.total.eq(second.total)]
        with m.If(self.direct):
            m.d.comb += second.term.eq(self.term)
        return m


class Slow(wiring.Component):
    """An adder with half the clock and a reset of its own, behind a shared module."""

    term: In(8)
    reset: In(1)
    total: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.domains.half = half = ClockDomain(async_reset=True, local=True)
        m.submodules.adder = adder = DomainRenamer("half")(Adder())
        m.submodules.fast = fast = SharedModule(Adder(), "fast", reset=self.reset)
        clock = Signal()
        m.d.sync += clock.eq(~clock)
        m.d.comb += [half.clk.eq(clock), half.rst.eq(self.reset), fast.term.eq(self.term)]
        m.d.comb += [adder.term.eq(fast.total), self.total.eq(adder.total)]
        return m


def wires(whole: Cut) -> dict[tuple[str, str], set[tuple[str, str]]]:
    return {(wire.part, wire.port): set(wire.to) for wire in whole.wires}


def test_ports_that_are_only_joined_are_wires():
    whole, modules = cut(Chain(), (Adder,), "chain")
    found = wires(whole)
    assert [part.name for part in whole.parts] == ["rest", "first", "second"]
    assert ("first", "term") in found["", "term"]
    assert found["second", "total"] == {("", "total")}
    assert len(modules) == 2, "equal parts have one module"
    assert whole.parts[1].module == whole.parts[2].module == "chain_adder"


def test_what_is_driven_under_a_condition_is_logic_of_the_rest():
    found = wires(cut(Chain(), (Adder,), "chain")[0])
    (to_second,) = [key for key, to in found.items() if ("second", "term") in to]
    assert to_second[0] == "rest"
    assert {part for part, _port in found["first", "total"]} == {"rest"}
    assert {part for part, _port in found["", "term"]} == {"first", "rest"}


class Twice(wiring.Component):
    """Two inputs of one part, each for an adder of its own, follow the same port."""

    term: In(8)
    total: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.submodules.chain = chain = Chain()
        direct = Signal()
        m.d.comb += [chain.term.eq(self.term), direct.eq(self.term[0]), self.total.eq(chain.total)]
        m.submodules.adder = adder = Adder()
        m.d.comb += adder.term.eq(self.term)
        m.d.sync += chain.direct.eq(adder.total[0] ^ direct)
        return m


def test_a_wire_goes_to_a_part_once():
    found = wires(cut(Twice(), (Chain,), "twice")[0])
    assert sorted(part for part, _port in found["", "term"]) == ["chain", "rest"]


def test_what_nobody_drives_is_a_constant_of_the_rest():
    whole, modules = cut(Chain(), (Adder,), "chain")
    assert wires(whole)["rest", "always_three"] == {("", "always_three")}
    assert "2'h3" in modules[0].text


def test_clocks_and_resets_of_the_surroundings():
    whole, modules = cut(Slow(), (Adder,), "slow")
    found = wires(whole)
    gated = {part.name: part.gated for part in whole.parts}
    assert gated == {"rest": False, "fast": False, "adder": True}
    assert [part.name for part in whole.parts][-1] == "adder", "a gated clock comes last"
    assert found["", "reset"] >= {("fast", "rst"), ("adder", "rst")}
    (clock,) = [key for key, to in found.items() if ("adder", "clk") in to]
    assert clock[0] == "rest"
    text = next(module.text for module in modules if module.name == whole.parts[-1].module)
    assert "posedge rst" in text, "the reset of a clock that stands still is asynchronous"


def test_a_cut_is_kept_in_a_file(tmp_path):
    whole, _modules = cut(Chain(), (Adder,), "chain")
    whole.save(tmp_path / "cut.json")
    assert Cut.load(tmp_path / "cut.json") == whole


class Half(wiring.Component):
    """Nobody drives what joins `inner`, and the two ends begin with different values."""

    total: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.submodules.adder = adder = Adder()
        undriven = Signal(8, init=5)
        m.d.comb += [adder.term.eq(undriven), self.total.eq(adder.total)]
        return m


def test_an_input_that_is_never_driven():
    with pytest.raises(CutError, match="nobody drives undriven, and adder expects term"):
        cut(Half(), (Adder,), "half")
