"""Ports of a component that are those of a component inside it, or follow those of another."""

from collections.abc import Iterable
from typing import Any

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped


def forward(m: Module, inside: wiring.Component, outside: Any, names: Iterable[str]) -> None:
    """Join these members of a submodule to those of the same names of `outside`: the component around it, or
    one of its interfaces.
    """
    for name in names:
        member = inside.signature.members[name]
        inner, outer = getattr(inside, name), getattr(outside, name)
        pairs = zip(inner, outer, strict=True) if member.dimensions else [(inner, outer)]
        for ours, theirs in pairs:
            if member.is_signature:
                connect(m, ours, flipped(theirs))
            elif member.flow == In:
                m.d.comb += ours.eq(theirs)
            else:
                m.d.comb += theirs.eq(ours)


def follow(m: Module, target: wiring.Component, source: Any, names: Iterable[str]) -> None:
    """These ports of `target` follow those of the same names of `source`: a component, or an interface."""
    m.d.comb += [getattr(target, name).eq(getattr(source, name)) for name in names]
