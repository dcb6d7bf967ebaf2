"""The index of hardware units: the tests, benches and theorems of each of them.

A unit has the tests that import it. A unit that no test imports is tested through the definitions that use
it, the tops of the simulation (`flashtrain.sim`) among them.

`python -m tests.units` prints the index.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RTL = ROOT / "hw" / "flashtrain" / "rtl"
SIM = ROOT / "sim" / "flashtrain" / "sim"
TESTS = ROOT / "tests"


@dataclass(frozen=True)
class Definition:
    """A class or function at the top of a module of the RTL or of the simulation.

    path : its file
    bases : of a class
    users : other definitions that name it
    tests : files below `tests/` that import it
    """

    name: str
    path: Path
    bases: frozenset[str]
    users: frozenset[str]
    tests: frozenset[str]


def definitions() -> dict[str, Definition]:
    """Every definition, by its name, in the order of the tree."""
    nodes: dict[str, tuple[Path, ast.ClassDef | ast.FunctionDef]] = {}
    for path in (*sorted(RTL.rglob("*.py")), *sorted(SIM.rglob("*.py"))):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                nodes[node.name] = path, node
    users: dict[str, set[str]] = defaultdict(set)
    for user, (_, node) in nodes.items():
        for name in (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)):
            if name in nodes and name != user:
                users[name].add(user)
    tests: dict[str, set[str]] = defaultdict(set)
    for path in sorted(TESTS.rglob("*.py")):
        for name in _imported(path):
            tests[name].add(path.relative_to(TESTS).as_posix())
    return {
        name: Definition(
            name,
            path,
            frozenset(ast.unparse(base) for base in getattr(node, "bases", ())),
            frozenset(users[name]),
            frozenset(tests[name]),
        )
        for name, (path, node) in nodes.items()
    }


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("flashtrain."):
            yield from (alias.name for alias in node.names)


def hardware(every: Mapping[str, Definition]) -> list[Definition]:
    """The `wiring.Component`s of the RTL, in the order of the tree."""

    def is_component(name: str) -> bool:
        bases = every[name].bases if name in every else frozenset()
        return "wiring.Component" in bases or any(map(is_component, bases))

    return [unit for name, unit in every.items() if unit.path.is_relative_to(RTL) and is_component(name)]


def definitions_that_test(unit: Definition, every: Mapping[str, Definition]) -> list[str]:
    """The nearest definitions with tests: the unit itself, or some that use it; empty if it has no test."""
    seen, ring = {unit.name}, [unit.name]
    while ring:
        if found := [name for name in ring if every[name].tests]:
            return found
        ring = sorted({user for name in ring for user in every[name].users} - seen)
        seen.update(ring)
    return []


def table() -> str:
    """The index in Markdown."""
    every = definitions()
    rows = ["| Module | Unit | Tested by |", "|---|---|---|"]
    for unit in hardware(every):
        names = sorted(unit.tests) or definitions_that_test(unit, every)
        by = ("" if unit.tests else "through ") + ", ".join(f"`{name}`" for name in names)
        rows.append(f"| `{unit.path.relative_to(RTL).with_suffix('').as_posix()}` | `{unit.name}` | {by} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
