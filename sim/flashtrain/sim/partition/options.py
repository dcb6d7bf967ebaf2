"""The plan of a cut: where a component is cut, and what its designer claims about the parts.

Every option must match something in the component, so that a rename in the hardware stops the build.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from flashtrain.sim.partition.split import Cut, bare_name, kind_of, kind_of_module
from flashtrain.spec.errors import FlashtrainError


class PlanError(FlashtrainError, ValueError):
    """A plan does not fit its component; the message names the option and its pattern."""


@dataclass(frozen=True)
class Plan:
    """Names of parts are paths of submodules joined by `_`.

    Options
    -------
    parts : classes of submodules that become parts of their own
    restless : names of parts that never sleep
    prompt : kinds of parts whose state is compared after each edge, unless they have large memories
    busy : kind: output. While the output is low after an edge, only an input can change the state
    silent : inputs of the whole that wake no part
    polled : patterns of outputs of the whole whose changes are not reported
    reports : name: outputs of the whole whose changes have a report of their own
    enables : kinds of parts whose edges are skipped while nothing enables a register (`edge_enable.py`)
    guards : (part, port): ports. The port matters only while one of these ports of the part is high.
        Names may lack the cut's prefix
    observed : (part, port) that the simulation reads, by functions `observed_PART_PORT` of the class

    Guards of an output are outputs. A port of the whole may have guards from two sources. They are ports of
    the whole, or outputs of the part that rise before the guarded value arrives.
    """

    parts: tuple[type, ...]
    restless: tuple[str, ...] = ()
    prompt: tuple[type, ...] = ()
    busy: Mapping[type, str] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    polled: tuple[str, ...] = ()
    reports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    enables: tuple[type, ...] = ()
    guards: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    observed: tuple[tuple[str, str], ...] = ()

    @property
    def kept(self) -> tuple[tuple[str, str], ...]:
        """Ports, by part and name, that the simulation reads even if no other part does."""
        guards = ((part, name) for (part, _), names in self.guards.items() for name in names)
        return tuple(dict.fromkeys((*guards, *self.observed)))

    def fit(self, cut: Cut, name: str) -> "FittedPlan":
        """The plan in the names of this cut. Raises `PlanError`."""
        return FittedPlan(self, cut, name)


class FittedPlan:
    """A plan whose options are names of one cut.

    restless, prompt, enables : names of parts
    busy : part: port
    silent : inputs of the whole
    reports : output of the whole: its report; empty for polled ones
    guards : (part, port): ports of the same part
    observed : (part, port): its name in the plan
    """

    def __init__(self, plan: Plan, cut: Cut, name: str) -> None:
        self._name = name
        self._kinds: dict[str, list[str]] = {}
        for part in cut.parts:
            self._kinds.setdefault(kind_of_module(part.module), []).append(part.name)
        self._sources = {(part, port): wire.part for wire in cut.wires for part, port in wire.to}
        self._sources |= {(wire.part, wire.port): wire.part for wire in cut.wires}
        self._ports: dict[tuple[str, str], list[str]] = {}
        for part, port in sorted(self._sources):
            for called in {port, bare_name(port)}:
                self._ports.setdefault((part, called), []).append(port)
        parts = {part.name for part in cut.parts}
        inputs = {wire.port for wire in cut.wires if not wire.part}
        outputs = {port for wire in cut.wires for part, port in wire.to if not part}

        self._match("parts", ((kind.__name__, self._of_kind(kind)) for kind in plan.parts))
        self.restless = self._match("restless", ((name, parts & {name}) for name in plan.restless))
        self.prompt = self._match("prompt", ((kind_of(kind), self._of_kind(kind)) for kind in plan.prompt))
        self.busy = {
            part: port
            for kind, output in plan.busy.items()
            for part in self._match("busy", [(kind_of(kind), self._of_kind(kind))])
            for port in self._named("busy", part, output)
        }
        self.enables = self._match("enables", ((kind_of(kind), self._of_kind(kind)) for kind in plan.enables))
        self.silent = self._match("silent", ((name, inputs & {name}) for name in plan.silent))
        reported = {
            port: report
            for report, ports in plan.reports.items()
            for port in self._match(f"reports {report!r}", ((name, outputs & {name}) for name in ports))
        }
        polled = self._match(
            "polled",
            ((pattern, [p for p in outputs if fnmatchcase(p, pattern)]) for pattern in plan.polled),
        )
        self.reports = reported | dict.fromkeys(polled, "")
        self.guards = dict(self._guards(plan))
        self.observed = {
            (part, port): name for part, name in plan.observed for port in self._named("observed", part, name)
        }

    def _of_kind(self, kind: type) -> list[str]:
        return self._kinds.get(kind_of(kind), [])

    def _match(self, option: str, found: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
        """All names that were found; each pattern must have found one."""
        names: list[str] = []
        for pattern, matching in found:
            matches = sorted(matching)
            if not matches:
                raise PlanError(f"the plan of {self._name}: {option}: nothing matches {pattern!r}")
            names += matches
        return names

    def _named(self, option: str, part: str, name: str) -> list[str]:
        return self._match(option, [(f"{part}.{name}", self._ports.get((part, name), []))])

    def _guards(self, plan: Plan) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
        for (part, name), guards in plan.guards.items():
            ports = self._named("guards", part, name)
            others = tuple(port for guard in guards for port in self._named("guards", part, guard))
            for port in ports:
                source = self._sources[part, port]
                for other in others:
                    # What a port of the whole drives is kept nowhere else, and could not be carried later.
                    if not source and self._sources[part, other] not in ("", part):
                        raise PlanError(
                            f"the plan of {self._name}: guards: a port of the whole drives {part}.{port}, "
                            f"and {self._sources[part, other]} its guard {other}"
                        )
                yield (part, port), others
