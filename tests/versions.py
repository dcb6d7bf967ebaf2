"""Tests with the newest and the oldest dependencies that pyproject.toml allows: `make versions`.

Once per release. Each extra has a virtual environment for each edge of the range and two lines of the output:
how its tests ended, and the versions that it got.

    .venv/bin/python tests/versions.py --python python3.13 --extra torch --hold torch==2.13.0 oldest
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "versions"
EDGES = ("newest", "oldest")

TESTS = {
    "": ["tests/cli/test_main.py", "tests/host/test_driver.py", "tests/io", "tests/figures", "tests/native"],
    "objects": ["tests/objects/test_fsspec.py", "tests/objects/test_files.py"],
    "sweep": ["tests/sweep"],
    "docs": ["tests/prose/test_site.py"],
    "synthesis": ["tests/sim/synthesis"],
    "torch": ["tests/torch/optimizers", "tests/torch/activations", "tests/torch/data"],
    "networks": ["tests/torch/networks"],
}
"""What is run with each extra; the empty name is for the package alone."""

LOWER_BOUND = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*(?:>=|~=|==)\s*([0-9][\w.]*)")


@dataclass(frozen=True)
class Outcome:
    """The result of the tests of an extra.

    said: the last line of pytest, or of what failed before it.
    """

    edge: str
    extra: str
    good: bool
    versions: Sequence[str]
    said: str


def requirements(extra: str) -> list[str]:
    """The dependencies of the package and of an extra, as pyproject.toml has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return project["dependencies"] + (project["optional-dependencies"][extra] if extra else [])


def lower_bounds(requirements: Sequence[str]) -> dict[str, str]:
    """The oldest version that each requirement allows, by name."""
    return {match[1]: match[2] for text in requirements if (match := LOWER_BOUND.match(text))}


def examine(edge: str, extra: str, python: str, held: Sequence[str]) -> Outcome:
    """Make a virtual environment, install an edge of the range into it, and run the tests."""
    name = f"{edge}-{extra or 'package'}-{Path(python).name}"
    folder, bounds = FOLDER / name, lower_bounds(requirements(extra))
    FOLDER.mkdir(parents=True, exist_ok=True)
    constraints = FOLDER / f"{name}.txt"
    free = bounds.keys() - {LOWER_BOUND.match(text)[1] for text in held}
    exact = [f"{name}=={bounds[name]}" for name in sorted(free)] if edge == "oldest" else []
    constraints.write_text("".join(f"{line}\n" for line in [*held, *exact]), encoding="utf-8")
    run = FOLDER / f"{name}.log"
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    pip = [*_pip(folder), "install", "--disable-pip-version-check", "--progress-bar=off"]
    pytest = [folder / "bin" / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS[extra]]
    tools = ["pytest", "pytest-xdist", "cocotb~=2.1.0", "hatchling"]
    steps = (
        [python, "-m", "venv", "--clear", "--without-pip", folder],
        [*pip, "--constraint", constraints, "--editable", target, *tools],
        pytest,
    )
    versions: list[str] = []
    with run.open("w") as log:
        for step in steps:
            done = subprocess.run(step, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
            if done.returncode:
                break
            if step is steps[1]:
                versions = list(_installed(folder, bounds))
    lines = [line for line in run.read_text("utf-8", "replace").splitlines() if line.strip()]
    return Outcome(edge, extra or "(none)", not done.returncode, versions, lines[-1] if lines else "")


def _pip(folder: Path) -> list[str | Path]:
    """This environment's pip, for another one."""
    return [sys.executable, "-m", "pip", "--python", folder / "bin" / "python"]


def _installed(folder: Path, names: dict[str, str]) -> Iterator[str]:
    said = subprocess.run([*_pip(folder), "freeze"], text=True, capture_output=True, check=True).stdout
    for line in said.splitlines():
        if line.partition("==")[0].lower() in {name.lower() for name in names}:
            yield line.replace("==", " ")


def _held(text: str) -> str:
    if not LOWER_BOUND.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no requirement; expected one such as torch==2.13.0")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("edge", nargs="?", choices=EDGES, help="of the ranges of versions (default: both)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter (default: this one)")
    parser.add_argument(
        "--extra", action="append", choices=list(TESTS), metavar="NAME",
        help=f"one of {', '.join(filter(None, TESTS))}, or an empty name; repeatable (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--hold", action="append", default=[], metavar="REQUIREMENT", type=_held,
        help="hold a package, such as torch==2.13.0, where its range would download gigabytes",
    )  # fmt: skip
    options = parser.parse_args()
    outcomes = []
    for edge in (options.edge,) if options.edge else EDGES:
        for extra in options.extra or TESTS:
            outcome = examine(edge, extra, options.python, options.hold)
            outcomes.append(outcome)
            print(f"{'good' if outcome.good else 'FAILED':6}  {edge:6}  {outcome.extra:9}  {outcome.said}")
            print(f"        {', '.join(outcome.versions)}", flush=True)
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
