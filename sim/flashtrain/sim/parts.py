"""Cuts a component into parts that are simulated as models of their own, and finds the wires between them.

Simulators evaluate a whole model at every edge. Cut at the right places, most of a design is still at most
edges, and a part is left alone while nothing comes (`parts.h`). The parts are submodules of chosen classes;
what is left of the component, the logic around them, is one more part, the *rest*. Wires that only join two
ports lead from part to part; all other logic between parts is in the rest.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from amaranth.hdl import ClockDomain, ClockSignal, Fragment, Instance, ResetSignal, Signal, Value
from amaranth.hdl._ast import Assign, SignalDict, SignalSet
from amaranth.hdl._ir import PortDirection
from amaranth.hdl._mem import MemoryInstance
from amaranth.hdl._xfrm import DomainLowerer
from amaranth.lib import wiring

from flashtrain.rtl.export import ExportedModule, export_fragment
from flashtrain.rtl.shared import SharedModule, leaf_ports
from flashtrain.spec.errors import FlashtrainError

REST = "rest"


class CutError(FlashtrainError, ValueError):
    """A component cannot be cut in this way; the message names the signal."""


@dataclass(frozen=True)
class Part:
    """`module` holds its logic; its clock is the system's, or if it is `gated` comes from another part."""

    name: str
    module: str
    gated: bool


@dataclass(frozen=True)
class Wire:
    """A port of a part and the ports that it drives; `part` is empty for ports of the whole."""

    part: str
    port: str
    to: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cut:
    """The parts of a component, the rest first, and the wires between them and its ports."""

    parts: tuple[Part, ...]
    wires: tuple[Wire, ...]

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> "Cut":
        content = json.loads(path.read_text())
        wires = (Wire(w["part"], w["port"], tuple((p, q) for p, q in w["to"])) for w in content["wires"])
        return cls(tuple(Part(**part) for part in content["parts"]), tuple(wires))


@dataclass
class _Found:
    """A part that was taken out, with the clock and the reset of its surroundings."""

    name: str
    component: wiring.Component
    fragment: Fragment
    domain: ClockDomain | None
    reset: Signal | None


class _Surgeon:
    """Takes the parts out of an elaborated design, and keeps what joins ports."""

    def __init__(self, classes: tuple[type, ...]) -> None:
        self._classes = classes
        self.parts: list[_Found] = []
        self.joins = SignalDict()  # signal: the signal that it follows

    def operate(self, fragment: Fragment, path: tuple[str, ...], reset: Signal | None) -> None:
        """Remove the parts below `fragment`, and the statements that only join signals."""
        statements = fragment.statements.get("comb", [])
        driven = Counter(id(signal) for item in statements for signal in item._lhs_signals())
        for statement in [item for item in statements if _joins(item) and driven[id(item.lhs)] == 1]:
            statements.remove(statement)
            self.joins[statement.lhs] = statement.rhs
        fragment.statements = {domain: kept for domain, kept in fragment.statements.items() if kept}
        kept = []
        for child, name, where in fragment.subfragments:
            here = (*path, name or "")
            shared = next((o for o in child.origins or () if isinstance(o, SharedModule)), None)
            part = next((o for o in child.origins or () if isinstance(o, self._classes)), None)
            if part is not None:
                self.parts.append(_Found("_".join(here), part, child, _own_domain(child, fragment), reset))
            elif shared is not None:
                inner = Fragment.get(shared.component, None)
                for (_, flow, outside), (_, _, inside) in zip(
                    leaf_ports(shared), leaf_ports(shared.component), strict=True
                ):
                    follower, followed = (inside, outside) if flow == wiring.In else (outside, inside)
                    self.joins[follower] = followed
                self.operate(inner, here, reset if shared.reset is None else shared.reset)
                kept.append((inner, name, where))
            else:
                self.operate(child, here, reset)
                kept.append((child, name, where))
        fragment.subfragments[:] = kept

    def source(self, signal: Value) -> Signal:
        """The signal that this one follows in the end."""
        while signal in self.joins:
            signal = self.joins[signal]
        assert isinstance(signal, Signal)
        return signal


def cut(top: wiring.Component, classes: tuple[type, ...], name: str) -> tuple[Cut, list[ExportedModule]]:
    """Cut `top` at its submodules of these classes; returns the cut and the module of each part.

    Modules of equal text are one, with the name of the first. Raises `CutError`.
    """
    surgeon = _Surgeon(classes)
    rest = Fragment.get(top, None)
    surgeon.operate(rest, (), None)
    uses, drives = _signals(rest)
    for signal in uses:
        # Both ends are in the rest: joined there again.
        if signal not in drives and surgeon.source(signal) in drives:
            rest.add_statements("comb", signal.eq(surgeon.source(signal)))
            drives.add(signal)

    sinks: list[tuple[str, str, Value]] = []  # part, port, signal of the port
    sources = SignalDict()  # signal: part, port
    for port, flow, value in leaf_ports(top):
        if flow == wiring.In:
            sources[value] = ("", port)
        else:
            sinks.append(("", port, value))
    for part in surgeon.parts:
        for port, flow, value in _ports_of(part):
            if flow == wiring.Out:
                sources[value] = (part.name, port)
            else:
                sinks.append((part.name, port, value))

    # Ports of the rest: what it drives for others, and what it uses of theirs.
    rest_ports: dict[str, tuple[Value, PortDirection]] = {}
    for part, port, signal in sinks:
        source = surgeon.source(signal)
        if source not in sources and source in drives:
            here = f"{part}__{port}" if part else port
            sources[source] = (REST, here)
            rest_ports[here] = (source, PortDirection.Output)
    for number, signal in enumerate(uses):
        if signal not in drives and surgeon.source(signal) in sources:
            # Only what comes from elsewhere: what nobody drives is a constant.
            here = f"in{number}__" + re.sub(r"\W", "", signal.name)
            rest_ports[here] = (signal, PortDirection.Input)
            sinks.append((REST, here, signal))

    wires: dict[tuple[str, str], list[tuple[str, str]]] = {
        ("", port): [] for port, flow, _value in leaf_ports(top) if flow == wiring.In
    }
    for part, port, signal in sinks:
        source = surgeon.source(signal)
        if source in sources:
            wires.setdefault(sources[source], []).append((part, port))
        elif source.init:
            raise CutError(f"{part}.{port} is never driven, and does not begin as 0")
    for part in surgeon.parts:
        if part.reset is not None and part.domain is None:
            wires.setdefault(sources[surgeon.source(part.reset)], []).append((part.name, "rst"))

    parts, modules = [], {}
    exported = export_fragment(rest, rest_ports, f"{name}_{REST}")
    modules[exported.text] = exported
    parts.append(Part(REST, exported.name, gated=False))
    # A gated clock comes last: its part samples what all others have come to.
    for part in sorted(surgeon.parts, key=lambda part: part.domain is not None):
        exported = _export(part, f"{name}_{type(part.component).__name__.lower()}")
        module = modules.setdefault(exported.text, exported)
        if module is not exported and module.name != exported.name:
            raise CutError(f"{part.name} has the text of {module.name}")
        parts.append(Part(part.name, module.name, gated=part.domain is not None))
    wired = tuple(Wire(part, port, tuple(to)) for (part, port), to in wires.items())
    return Cut(tuple(parts), wired), list(modules.values())


def _export(part: _Found, name: str) -> ExportedModule:
    ports = {
        port: (value, PortDirection.Input if flow == wiring.In else PortDirection.Output)
        for port, flow, value in leaf_ports(part.component)
    }
    clock = part.domain and ClockDomain(part.domain.name, async_reset=part.domain.async_reset)
    return export_fragment(part.fragment, ports, name, clock)


def _ports_of(part: _Found) -> Iterator[tuple[str, wiring.Flow, Value]]:
    yield from leaf_ports(part.component)
    if part.domain:
        yield "clk", wiring.In, part.domain.clk
        yield "rst", wiring.In, part.domain.rst


def _own_domain(part: Fragment, around: Fragment) -> ClockDomain | None:
    """The clock domain that `around` has made for the part."""
    used = _domains(part)
    return next((domain for name, domain in around.domains.items() if name in used), None)


def _domains(fragment: Fragment) -> set[str]:
    own = {name for name in fragment.statements if name != "comb"}
    return own.union(*(_domains(child) for child, _name, _where in fragment.subfragments))


def _joins(statement) -> bool:
    """Whether a statement does nothing but to join two signals."""
    return (
        isinstance(statement, Assign)
        and isinstance(statement.lhs, Signal)
        and isinstance(statement.rhs, Signal)
        and len(statement.lhs) == len(statement.rhs)
    )


def _signals(fragment: Fragment) -> tuple[list[Signal], SignalSet]:
    """What a fragment uses, in a fixed order, and what it drives, with all that is below it."""
    uses, drives = SignalDict(), SignalSet()

    def used(values: Iterable[Value]) -> None:
        for value in values:
            uses.update((signal, None) for signal in value._rhs_signals())

    def driven(value: Value) -> None:
        drives.update(value._lhs_signals())

    def walk(fragment: Fragment, domains: dict[str, ClockDomain]) -> None:
        domains = {**domains, **fragment.domains}
        lower = DomainLowerer(domains).on_statement
        for statements in fragment.statements.values():
            for statement in map(lower, statements):
                uses.update((signal, None) for signal in statement._rhs_signals())
                drives.update(statement._lhs_signals())
        if isinstance(fragment, MemoryInstance):
            for port in fragment._read_ports:
                used([port._addr, port._en])
                driven(port._data)
            for port in fragment._write_ports:
                used([port._addr, port._en, port._data])
        if isinstance(fragment, Instance):
            for value, direction in fragment.ports.values():
                if direction == "o":
                    driven(value)
                elif not isinstance(value, ClockSignal | ResetSignal):
                    used([value])
        for child, _name, _where in fragment.subfragments:
            walk(child, domains)

    walk(fragment, {"sync": ClockDomain("sync")})
    return sorted(uses, key=lambda signal: signal.name), drives
