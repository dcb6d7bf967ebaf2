"""The elaborated netlist of a design: outputs that reach no pin, and paths without a register."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from amaranth.hdl import ClockDomain, Const, Fragment, Instance, Value
from amaranth.hdl._ast import SignalSet, Statement, Switch
from amaranth.hdl._mem import MemoryInstance
from amaranth.hdl._xfrm import DomainLowerer
from amaranth.lib import wiring

from flashtrain.rtl.lib.shared import SharedModule, leaf_ports

Path = tuple[str, ...]


@dataclass(frozen=True)
class Use:
    """Logic of the fragment at `path`: the driven signals depend on the read ones, at once or at a clock."""

    path: Path
    driven: SignalSet
    read: SignalSet
    at_once: bool = True


@dataclass
class Netlist:
    """The dependences of a design, and its components by their paths. A shared module is there once."""

    uses: list[Use] = field(default_factory=list)
    components: dict[Path, wiring.Component] = field(default_factory=dict)

    @classmethod
    def of(cls, top: wiring.Component) -> "Netlist":
        netlist = cls()
        netlist._enter(Fragment.get(top, None), (), {}, {"sync": ClockDomain("sync")})
        netlist.components[()] = top
        return netlist

    def _enter(
        self, fragment: Fragment, path: Path, shared: dict[int, Path], domains: dict[str, ClockDomain]
    ) -> None:
        domains = {**domains, **fragment.domains}
        lower = DomainLowerer(domains).on_statement
        for origin in fragment.origins or ():
            if isinstance(origin, SharedModule):
                self._enter_shared(origin, path, shared)
                return
            if isinstance(origin, wiring.Component):
                self.components[path] = origin
        for domain, statements in fragment.statements.items():
            clock = () if domain == "comb" else (domains[domain].clk, domains[domain].rst)
            self.uses += (
                _use(path, *use, at_once=domain == "comb")
                for use in _dependences(map(lower, statements), clock)
            )
        if isinstance(fragment, MemoryInstance):
            written = [v for port in fragment._write_ports for v in (port._addr, port._en, port._data)]
            for port in fragment._read_ports:
                at_once = port._domain == "comb"
                self.uses.append(_use(path, [port._data], [port._addr, port._en, *written], at_once=at_once))
        elif isinstance(fragment, Instance):
            raise AssertionError(f"{path} is an instance of unknown contents")
        for number, (child, name, _where) in enumerate(fragment.subfragments):
            self._enter(child, (*path, name or str(number)), shared, domains)

    def _enter_shared(self, instance: SharedModule, path: Path, shared: dict[int, Path]) -> None:
        component = instance.component
        if id(component) not in shared:
            shared[id(component)] = (*path, instance.module_name)
            inner = {"sync": ClockDomain("sync")}
            self._enter(Fragment.get(component, None), shared[id(component)], shared, inner)
        if instance.reset is not None:
            results = [value for _, flow, value in leaf_ports(instance) if flow == wiring.Out]
            self.uses.append(_use(path, results, [instance.reset], at_once=False))
        ports = zip(leaf_ports(instance), leaf_ports(component), strict=True)
        for (_, flow, outside), (_, _, inside) in ports:
            driven, read = (inside, outside) if flow == wiring.In else (outside, inside)
            self.uses.append(_use(path, [driven], [read]))

    @property
    def top(self) -> wiring.Component:
        return self.components[()]

    def behind(self, values: Iterable[Value], *, at_once: bool = False) -> tuple[list[Use], set[int]]:
        """The logic that these values depend on, and the ids of its signals; `at_once`: within a cycle."""
        by_driven = defaultdict(list)
        for number, use in enumerate(self.uses):
            if use.at_once or not at_once:
                for signal in use.driven:
                    by_driven[id(signal)].append(number)
        pending = [signal for value in values for signal in Value.cast(value)._rhs_signals()]
        seen, found = {id(signal) for signal in pending}, set[int]()
        while pending:
            for number in by_driven[id(pending.pop())]:
                if number not in found:
                    found.add(number)
                    fresh = [signal for signal in self.uses[number].read if id(signal) not in seen]
                    seen.update(map(id, fresh))
                    pending += fresh
        return [self.uses[number] for number in found], seen

    def inputs_behind(self, output: str) -> set[str]:
        """Inputs of the top on which this output depends within a cycle."""
        ports = {name: (flow, value) for name, flow, value in leaf_ports(self.top)}
        _, signals = self.behind([ports[output][1]], at_once=True)
        return {
            name
            for name, (flow, value) in ports.items()
            if flow == wiring.In and any(id(signal) in signals for signal in Value.cast(value)._rhs_signals())
        }


def outputs(top: wiring.Component) -> dict[tuple[str, str], bool]:
    """By class and port: whether logic outside of some instance reads it, on a path to a pin of `top`."""
    netlist = Netlist.of(top)
    readers: dict[int, list[Path]] = defaultdict(list)
    pins = [value for _, flow, value in leaf_ports(top) if flow == wiring.Out]
    for use in netlist.behind(pins)[0]:
        for signal in use.read:
            readers[id(signal)].append(use.path)
    found: dict[tuple[str, str], bool] = {}
    for path, component in netlist.components.items():
        if component is top:
            continue
        for name, flow, value in leaf_ports(component):
            # The `ready` of a stream that is always ready is a constant, and no port.
            if flow != wiring.Out or isinstance(value, Const):
                continue
            # Elements of an array of interfaces are one port.
            port = "__".join("n" if part.isdigit() else part for part in name.split("__"))
            key = type(component).__name__, port
            read = any(
                reader[: len(path)] != path
                for signal in Value.cast(value)._rhs_signals()
                for reader in readers[id(signal)]
            )
            found[key] = found.get(key, False) or read
    return found


def _use(path: Path, driven: Iterable[Value], read: Iterable[Value], at_once: bool = True) -> Use:
    return Use(
        path,
        SignalSet(signal for value in driven for signal in Value.cast(value)._lhs_signals()),
        SignalSet(signal for value in read for signal in Value.cast(value)._rhs_signals()),
        at_once,
    )


def _dependences(
    statements: Iterable[Statement], tests: tuple[Value, ...]
) -> Iterator[tuple[list[Value], list[Value]]]:
    for statement in statements:
        if isinstance(statement, Switch):
            for _patterns, inner, _where in statement.cases:
                yield from _dependences(inner, (*tests, statement.test))
        else:
            yield [statement.lhs], [statement.rhs, *_indices(statement.lhs), *tests]


def _indices(target: Value) -> Iterator[Value]:
    """What chooses the bits of a target that are driven."""
    driven = target._lhs_signals()
    yield from (signal for signal in target._rhs_signals() if signal not in driven)
