"""Functional coverage: the points that a test plan requires, and the points that occurred.

The plan is the tables of a Markdown page, with rows such as

    | `close` | full, flush, room | data | why a page set was closed |

for points `close.full`, `close.flush` and `close.room`, each of which the bench `data_bench.py` must hit in
every run; `-` instead of a bench: the points are counted, but no run must hit them. To hit a point that the
plan does not have is an error: what happened was not thought of.

    python -m flashtrain.sim.bench.coverage docs/verification.md build/coverage

prints the table of all runs whose results are in a folder.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from flashtrain.spec import FlashtrainError

_ROW = re.compile(r"^\| `([a-z_0-9.]+)` \| ([a-z_0-9, ]+) \| ([a-z_0-9, -]+) \|")
ANYBODY = "-"
_NAMED = 5
"""So many missed points of a group are named in the table."""


class PlanError(FlashtrainError, ValueError):
    """The plan has no such point, or is not a plan; or a point that must be hit was not."""


@dataclass(frozen=True)
class Plan:
    """The points of a plan, and the benches that must hit each."""

    points: dict[str, frozenset[str]]

    @classmethod
    def read(cls, page: Path) -> "Plan":
        points: dict[str, frozenset[str]] = {}
        for line in page.read_text(encoding="utf-8").splitlines():
            if row := _ROW.match(line):
                group, values, benches = row.groups()
                for value in values.split(", "):
                    name = f"{group}.{value}"
                    if name in points:
                        raise PlanError(f"{page} has point {name} twice")
                    points[name] = frozenset(benches.split(", ")) - {ANYBODY}
        if not points:
            raise PlanError(f"{page} has no rows of a test plan")
        return cls(points)

    def required(self, bench: str) -> set[str]:
        return {name for name, benches in self.points.items() if bench in benches}

    def check(self, bench: str, hits: Iterable[str]) -> None:
        """:class:`PlanError` unless `hits` has all that this bench must hit."""
        missing = sorted(self.required(bench) - set(hits))
        if missing:
            raise PlanError(f"{bench} did not hit {len(missing)} points: {', '.join(missing)}")


class Coverage:
    """Counts hits of the plan's points, in the simulator; `save` adds them to a file."""

    def __init__(self, plan: Plan, file: Path):
        self._plan = plan
        self._file = file
        self.hits: Counter[str] = Counter(load(file)) if file.exists() else Counter()

    def hit(self, group: str, value: str | Enum) -> None:
        name = f"{group}.{value.name if isinstance(value, Enum) else value}".lower()
        if name not in self._plan.points:
            raise PlanError(f"the test plan has no point {name}")
        self.hits[name] += 1

    def save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(dict(sorted(self.hits.items())), indent=1) + "\n", encoding="utf-8")


def load(file: Path) -> dict[str, int]:
    return json.loads(file.read_text(encoding="utf-8"))


def merge(files: Iterable[Path]) -> Counter[str]:
    """The hits of several runs together."""
    return sum((Counter(load(file)) for file in files), Counter())


def table(plan: Plan, hits: Counter[str]) -> list[str]:
    """Lines of text: a group of points in each, and what of it was not hit."""
    groups: dict[str, list[str]] = {}
    for name in plan.points:
        groups.setdefault(name.rpartition(".")[0], []).append(name)
    width = max(map(len, groups))
    lines = [f"{'group':{width}}   hit   of  times  not hit"]
    for group, names in sorted(groups.items()):
        missed = [name.rpartition(".")[2] for name in names if not hits[name]]
        times = sum(hits[name] for name in names)
        more = f" and {len(missed) - _NAMED} more" if len(missed) > _NAMED else ""
        line = f"{group:{width}} {len(names) - len(missed):5} {len(names):4} {times:6}"
        lines.append(f"{line}  {', '.join(missed[:_NAMED])}{more}".rstrip())
    hit = sum(bool(hits[name]) for name in plan.points)
    lines.append(f"{'all':{width}} {hit:5} {len(plan.points):4} {sum(hits.values()):6}")
    return lines


def main(arguments: list[str]) -> None:
    if len(arguments) != 2:
        sys.exit("usage: python -m flashtrain.sim.bench.coverage PLAN.md FOLDER")
    plan, files = Plan.read(Path(arguments[0])), sorted(Path(arguments[1]).glob("*.json"))
    print("\n".join(table(plan, merge(files))))


if __name__ == "__main__":
    main(sys.argv[1:])
