"""Every option of a plan must match something in the cut."""

import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.sim.partition.options import Plan, PlanError
from flashtrain.sim.partition.split import cut


class Register(wiring.Component):
    """Takes `value` while `take` is high."""

    value: In(8)
    take: In(1)
    kept: Out(8)
    taken: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.taken.eq(self.take)
        with m.If(self.take):
            m.d.sync += self.kept.eq(self.value)
        return m


class Chain(wiring.Component):
    value: In(8)
    take: In(1)
    kept: Out(8)
    taken: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.submodules.first = first = Register()
        m.submodules.second = second = Register()
        m.d.comb += [first.value.eq(self.value), first.take.eq(self.take)]
        m.d.comb += [second.value.eq(first.kept), second.take.eq(first.taken)]
        m.d.comb += [self.kept.eq(second.kept), self.taken.eq(second.taken)]
        return m


def fit(**options):
    plan = Plan(**{"parts": (Register,), **options})
    return plan.fit(cut(Chain(), (Register,), "chain", plan.kept)[0], "chain")


def test_options_are_names_of_the_cut():
    fitted = fit(
        restless=("first",), prompt=(Register,), busy={Register: "taken"}, silent=("value",),
        polled=("tak*",), reports={"data": ("kept",)}, enables=(Register,),
        guards={("second", "value"): ("take",), ("first", "kept"): ("taken",)},
    )  # fmt: skip
    assert fitted.restless == ["first"]
    assert fitted.prompt == ["first", "second"]
    assert fitted.busy == {"first": "taken", "second": "taken"}
    assert fitted.silent == ["value"]
    assert fitted.reports == {"taken": "", "kept": "data"}
    assert fitted.enables == ["first", "second"]
    assert fitted.guards == {("second", "value"): ("take",), ("first", "kept"): ("taken",)}


@pytest.mark.parametrize(
    "option, value, missing",
    [
        ("parts", (Register, Chain), "Chain"),
        ("restless", ("third",), "third"),
        ("prompt", (Chain,), "chain"),
        ("busy", {Chain: "taken"}, "chain"),
        ("busy", {Register: "told"}, "first.told"),
        ("silent", ("kept",), "kept"),
        ("polled", ("tak*", "told*"), r"told\*"),
        ("reports", {"data": ("value",)}, "value"),
        ("enables", (Chain,), "chain"),
        ("guards", {("first", "told"): ("take",)}, "first.told"),
        ("guards", {("first", "value"): ("take", "told")}, "first.told"),
    ],
)
def test_what_matches_nothing_is_named(option, value, missing):
    with pytest.raises(PlanError, match=f"the plan of chain: {option}.*: nothing matches '{missing}'"):
        fit(**{option: value})


def test_a_guard_must_have_the_source_of_an_input_of_the_whole():
    class Crossed(Chain):
        def elaborate(self, platform):
            m = Module()
            m.submodules.first = first = Register()
            m.submodules.second = second = Register()
            m.d.comb += [first.value.eq(self.value), first.take.eq(self.take)]
            m.d.comb += [second.value.eq(self.value), second.take.eq(first.taken)]
            m.d.comb += [self.kept.eq(second.kept), self.taken.eq(second.taken)]
            return m

    plan = Plan((Register,), guards={("second", "value"): ("take",)})
    with pytest.raises(PlanError, match=r"drives second\.value, and first its guard take"):
        plan.fit(cut(Crossed(), plan.parts, "chain", plan.kept)[0], "chain")
