"""A design, alone with every input free, and what is claimed of it."""

from enum import Enum
from typing import Any

from amaranth.asserts import AnyConst, AnySeq
from amaranth.back import rtlil
from amaranth.hdl import (
    Assert,
    Assume,
    ClockDomain,
    Const,
    Cover,
    Elaboratable,
    Fragment,
    Module,
    Shape,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from .inside import Inside

TOP = "theorem"


class Goal(Enum):
    """The question to a solver."""

    PROOF = "prove"  # do claims and lemmas hold at every cycle?
    BOUNDED = "bmc"  # do claims hold in the first cycles after reset?
    WITNESS = "cover"  # can what the theorem is about happen?


class Theorem(Elaboratable):
    """Claims about `design`; a subclass adds them in `state`.

    Inputs of the design may do anything at every cycle unless `state` assumes otherwise. Registers and
    memories begin with their values after reset, and there is no reset later.
    """

    def __init__(self, design: wiring.Component):
        self.design = design

    def state(self, m: Module, inside: Inside) -> None:
        """Adds the assumptions, claims, lemmas and witnesses to `m`."""
        raise NotImplementedError

    def rtlil(self, goal: Goal) -> str:
        """The design with the properties that `goal` is about."""
        self._goal = goal
        self._clock = ClockDomain("sync", reset_less=True)
        return rtlil.convert(Fragment.get(self, None), name=TOP, ports=[self._clock.clk])

    def elaborate(self, platform):
        m = Module()
        m.domains.sync = self._clock
        inside = Inside.elaborate(self.design)
        for path, member, value in self.design.signature.flatten(self.design):
            # A stream that is always ready has a constant there.
            if member.flow is In and not isinstance(value, Const):
                name = "_".join(str(step) for step in path)
                m.d.comb += Value.cast(value).eq(
                    Value.cast(self.anything(m, Value.cast(value).shape(), name))
                )
        self.state(m, inside)
        m.submodules.design = inside.fragment
        return m

    def anything(self, m: Module, shape, name: str) -> Any:
        """A signal that has any value at every cycle."""
        signal = Signal(shape, name=f"any_{name}")
        m.d.comb += Value.cast(signal).eq(AnySeq(Shape.cast(shape)))
        return signal

    def some(self, m: Module, shape, name: str) -> Any:
        """A signal that has one value forever, any."""
        signal = Signal(shape, name=f"some_{name}")
        m.d.comb += Value.cast(signal).eq(AnyConst(Shape.cast(shape)))
        return signal

    def assume(self, m: Module, condition) -> None:
        """A guarantee of the design's environment."""
        m.d.comb += Assume(condition, None, src_loc_at=1)

    def keeps_offers(self, m: Module, stream) -> None:
        """The surroundings promise that what they offer on `stream` stays until it is taken."""
        payload = Value.cast(stream.payload)
        waited, item = Signal(), Signal.like(payload)
        m.d.sync += [waited.eq(stream.valid & ~stream.ready), item.eq(payload)]
        self.assume(m, ~waited | (stream.valid & (item == payload)))

    def claim(self, m: Module, condition) -> None:
        """Part of what the theorem says."""
        if self._goal is not Goal.WITNESS:
            m.d.comb += Assert(condition, None, src_loc_at=1)

    def lemma(self, m: Module, condition) -> None:
        """An invariant that the induction needs; proved with the claims, and no part of them."""
        if self._goal is Goal.PROOF:
            m.d.comb += Assert(condition, None, src_loc_at=1)

    def witness(self, m: Module, condition) -> None:
        """Something that must be able to happen, lest the claims say nothing."""
        if self._goal is Goal.WITNESS:
            m.d.comb += Cover(condition, None, src_loc_at=1)
