"""Cuts a component into parts that are simulated as models of their own, and finds the wires between them.

Simulators evaluate a whole model at every edge. Cut at the right places, most of a design is still at most
edges, and a part is left alone while nothing comes (`parts.h`). The parts are submodules of chosen classes
and every `SharedModule`; what is left of the component, the logic around them, is one more part, the *rest*.
Wires that only join two ports lead from part to part.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from amaranth.hdl import ClockDomain, ClockSignal, Fragment, Instance, ResetSignal, Signal, Value
from amaranth.hdl._ast import Assign, SignalDict, SignalSet
from amaranth.hdl._ir import PortDirection
from amaranth.hdl._mem import MemoryInstance
from amaranth.hdl._xfrm import DomainLowerer
from amaranth.lib import wiring

from flashtrain.reading import read_json
from flashtrain.rtl.export.systemverilog import ExportedModule, export_fragment
from flashtrain.rtl.lib.shared import SharedModule, leaf_ports
from flashtrain.sim.partition.edge_enable import EDGE_ENABLE, add_edge_enable
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
    """A port of a part and the ports that it drives; `part` is empty for ports of the whole.

    An output that only the simulation reads drives none.
    """

    part: str
    port: str
    to: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cut:
    """The parts of a component, the rest first, and the wires between them and its ports."""

    parts: tuple[Part, ...]
    wires: tuple[Wire, ...]

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Cut":
        content = read_json(path)
        wires = (Wire(w["part"], w["port"], tuple((p, q) for p, q in w["to"])) for w in content["wires"])
        return cls(tuple(Part(**part) for part in content["parts"]), tuple(wires))


def kind_of(part: type) -> str:
    """The name of a kind of parts, which the names of their modules end with."""
    return part.__name__.lower()


def kind_of_module(name: str) -> str:
    """`kind_of` the parts that have this module."""
    return name.split("_")[1]


def bare_name(port: str) -> str:
    """The name of the signal of a port that a part has only because of the cut."""
    return re.sub(r"\Aport\d+__", "", port)


@dataclass
class _Piece:
    """A part in the making: its logic, names of signals as ports, and what its surroundings gave it."""

    name: str
    module: str
    fragment: Fragment
    names: SignalDict
    clock: ClockDomain | None = None
    reset: Signal | None = None

    def __post_init__(self) -> None:
        self.ports: dict[str, tuple[Value, PortDirection]] = {}

    def port(self, signal: Signal, direction: PortDirection) -> str:
        """The name of the port of this signal, which now there is."""
        if signal not in self.names:
            self.names[signal] = f"port{len(self.ports)}__" + re.sub(r"\W", "", signal.name)
        name = self.names[signal]
        self.ports[name] = signal, direction
        return name


class _Surgeon:
    """Takes the parts out of an elaborated design, and keeps what joins ports."""

    def __init__(self, classes: tuple[type, ...], enabled: tuple[type, ...]) -> None:
        self._classes, self._enabled = classes, enabled
        self.parts: list[_Piece] = []
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
            path_of_child = (*path, name or "")
            shared = next((o for o in child.origins or () if isinstance(o, SharedModule)), None)
            part = next((o for o in child.origins or () if isinstance(o, self._classes)), None)
            if part is not None:
                self.operate(child, path_of_child, reset)
                self._take(path_of_child, part, child, _own_domain(child, fragment), reset)
            elif shared is not None:
                inner = Fragment.get(shared.component, None)
                for (_, flow, outside), (_, _, inside) in zip(
                    leaf_ports(shared), leaf_ports(shared.component), strict=True
                ):
                    follower, followed = (inside, outside) if flow == wiring.In else (outside, inside)
                    self.joins[follower] = followed
                own_reset = reset if shared.reset is None else shared.reset
                self.operate(inner, path_of_child, own_reset)
                self._take(path_of_child, shared.component, inner, None, own_reset)
            else:
                self.operate(child, path_of_child, reset)
                kept.append((child, name, where))
        fragment.subfragments[:] = kept

    def _take(
        self,
        path: tuple[str, ...],
        component: wiring.Component,
        fragment: Fragment,
        clock: ClockDomain | None,
        reset: Signal | None,
    ) -> None:
        name, kind = "_".join(path), type(component)
        names = _port_names(component)
        if kind in self._enabled:
            names[add_edge_enable(fragment, name)] = EDGE_ENABLE
        self.parts.append(_Piece(name, kind_of(kind), fragment, names, clock, reset))

    def source(self, signal: Value) -> Signal:
        """The signal that this one follows in the end."""
        while signal in self.joins:
            signal = self.joins[signal]
        assert isinstance(signal, Signal)
        return signal


def cut(
    top: wiring.Component,
    classes: tuple[type, ...],
    name: str,
    kept: Iterable[tuple[str, str]] = (),
    enabled: tuple[type, ...] = (),
) -> tuple[Cut, list[ExportedModule]]:
    """Cut `top` at its submodules of these classes; returns the cut and the module of each part.

    Modules of equal text are one, with the name of the first. Outputs in `kept`, by part and name, are there
    even if they lead nowhere. Parts of the classes in `enabled` get the output `EDGE_ENABLE`. Raises
    `CutError`.
    """
    surgeon = _Surgeon(classes, enabled)
    whole = Fragment.get(top, None)
    surgeon.operate(whole, (), None)
    # A gated clock comes last: its part samples what all others have come to.
    parts = sorted(surgeon.parts, key=lambda part: part.clock is not None)
    pieces = [_Piece(REST, REST, whole, _port_names(top)), *parts]

    owners = SignalDict()  # of each signal that is driven; None for the ports of the whole
    for _port, flow, value in leaf_ports(top):
        if flow == wiring.In:
            owners[value] = None
    needs: list[tuple[_Piece, Signal]] = []
    for piece in pieces:
        uses, drives = _signals(piece)
        for signal in uses:
            source = surgeon.source(signal)
            if signal not in drives and source in drives:
                # Both ends are here: joined here again.
                piece.fragment.add_statements("comb", signal.eq(source))
            elif signal not in drives:
                needs.append((piece, signal))
        owners.update((signal, piece) for signal in drives)

    wires: dict[tuple[str, str], list[tuple[str, str]]] = {
        ("", port): [] for port, flow, _value in leaf_ports(top) if flow == wiring.In
    }

    def join(source: Signal, part: str, port: str) -> None:
        owner = owners.get(source, pieces[0])  # what nobody drives is constant in the rest
        driver = pieces[0].names[source] if owner is None else owner.port(source, PortDirection.Output)
        wires.setdefault((owner.name if owner else "", driver), []).append((part, port))

    heard: dict[str, SignalDict] = {piece.name: SignalDict() for piece in pieces}
    for piece, signal in needs:
        source = surgeon.source(signal)
        first = heard[piece.name].setdefault(source, signal)
        if source in owners and first is signal:
            join(source, piece.name, piece.port(signal, PortDirection.Input))
        elif source in owners:
            # It comes once, and branches in here.
            piece.fragment.add_statements("comb", signal.eq(first))
        elif source.init != signal.init:
            raise CutError(
                f"nobody drives {source.name}, and {piece.name} expects {signal.name} of another value"
            )
    for piece in parts:
        if piece.clock is not None:
            join(surgeon.source(piece.clock.clk), piece.name, "clk")
            join(surgeon.source(piece.clock.rst), piece.name, "rst")
        elif piece.reset is not None:
            join(surgeon.source(piece.reset), piece.name, "rst")
    for piece in parts:
        for signal, port in list(piece.names.items()):
            if (port == EDGE_ENABLE or (piece.name, port) in kept) and owners.get(signal) is piece:
                piece.port(signal, PortDirection.Output)
                wires.setdefault((piece.name, port), [])
    for port, flow, value in leaf_ports(top):
        if flow == wiring.Out:
            join(surgeon.source(value), "", port)

    found, modules = [], {}
    for piece in pieces:
        exported = _export(piece, f"{name}_{piece.module}")
        text = exported.text
        if text not in modules:
            numbered = re.compile(rf"{exported.name}(_\d+)?")
            taken = sum(numbered.fullmatch(other.name) is not None for other in modules.values())
            modules[text] = _renamed(exported, f"{exported.name}_{taken}") if taken else exported
        found.append(Part(piece.name, modules[text].name, gated=piece.clock is not None))
    wired = tuple(Wire(part, port, tuple(to)) for (part, port), to in wires.items())
    return Cut(tuple(found), wired), list(modules.values())


def _export(piece: _Piece, name: str) -> ExportedModule:
    clock = piece.clock and ClockDomain(piece.clock.name, async_reset=piece.clock.async_reset)
    return export_fragment(piece.fragment, piece.ports, name, clock)


def _renamed(module: ExportedModule, name: str) -> ExportedModule:
    return replace(module, name=name, text=re.sub(rf"\b{module.name}\b", name, module.text))


def _port_names(component: wiring.Component) -> SignalDict:
    return SignalDict([(value, port) for port, _flow, value in leaf_ports(component)])


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


def _signals(piece: _Piece) -> tuple[list[Signal], SignalSet]:
    """The signals that a piece uses, in a fixed order, and those that it drives."""
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

    clocks = [ClockDomain("sync"), *([piece.clock] if piece.clock else [])]
    walk(piece.fragment, {clock.name: clock for clock in clocks})
    return sorted(uses, key=lambda signal: signal.name), drives
