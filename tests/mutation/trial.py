"""Plants a fault in a copy of the tree, and runs the ordinary tests there until one of them fails."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from tests.mutation.fault import ROOT, Fault

ROW = "mutation"
"""Property of a test whose value is a row of the table of faults."""

NO_BEHAVIOUR = (
    "ToolError", "DriverConflict", "AttributeError", "ImportError", "NameError", "SyntaxError", "TypeError",
)  # fmt: skip
"""Errors of a design that cannot be built."""

NO_TESTS_WERE_RUN = 5
"""Exit code of pytest."""


class Outcome(Enum):
    CAUGHT = "caught"  # a test has failed, and says why
    SURVIVED = "survived"  # all have passed
    HANGS = "hangs"  # no test has said anything within the limit: nobody has noticed
    BROKEN = "broken"  # the design cannot even be built: no fault worth planting


@dataclass(frozen=True)
class Stage:
    """Some of the ordinary tests: paths below `tests/`, what their names must match, and how many seconds
    they may take."""

    paths: str
    only: str
    limit: float


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    by: str
    seconds: float


def stages(fault: Fault) -> list[Stage]:
    """The tests of the unit on the simulator that needs no compiler, all of them, those of the part, those of
    the controller, those of the system."""
    part = Path("rtl", *Path(fault.file).parent.parts)
    while not (ROOT / "tests" / part).is_dir():
        part = part.parent
    own = [Stage(fault.tests, "icarus", 900), Stage(fault.tests, "", 1800)]
    wider = [Stage(paths, "", 3600) for paths in (str(part), "rtl/controller", "system")]
    return own + [stage for stage in wider if stage.paths not in ("rtl", fault.tests)]


def try_fault(fault: Fault, seed: int) -> Verdict:
    """Whether the ordinary tests find it. What they compile goes into the user's cache as ever."""
    begun = time.monotonic()
    with _tree(fault) as tree:
        for stage in stages(fault):
            outcome, by = _run(tree, stage, seed)
            if outcome is not Outcome.SURVIVED:
                break
    return Verdict(outcome, by, time.monotonic() - begun)


def try_nothing(tests: str, seed: int) -> Verdict:
    """The same without a fault: what fails here fails for another reason."""
    begun = time.monotonic()
    with _tree(None) as tree:
        outcome, by = _run(tree, Stage(tests, "", 1800), seed)
    return Verdict(outcome, by, time.monotonic() - begun)


@contextmanager
def _tree(fault: Fault | None) -> Iterator[Path]:
    """A copy of this tree with a build folder of its own; only what is changed is copied, the rest linked."""
    with TemporaryDirectory(prefix="flashtrain-fault-") as folder:
        tree = Path(folder)
        shutil.copytree(ROOT / "hw", tree / "hw", ignore=shutil.ignore_patterns("__pycache__"))
        for path in ROOT.iterdir():
            if path.name not in ("hw", "build") and not path.name.startswith("."):
                (tree / path.name).symlink_to(path)
        (tree / "build").mkdir()
        if fault is not None:
            (tree / fault.path).write_text(fault.planted(), encoding="utf-8")
        yield tree


def _run(tree: Path, stage: Stage, seed: int) -> tuple[Outcome, str]:
    report = tree / "report.xml"
    report.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join(str(tree / portion) for portion in ("hw", "sim", "sw"))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # the tests are linked
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}"]
    command += [f"--seed={seed}", f"tests/{stage.paths}", *(["-k", stage.only] if stage.only else [])]
    process = subprocess.Popen(
        command, cwd=tree, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        code = process.wait(timeout=stage.limit)
    except subprocess.TimeoutExpired:
        return Outcome.HANGS, f"{stage.paths}: nothing within {stage.limit:.0f} s"
    finally:
        _end(process)
    if code in (0, NO_TESTS_WERE_RUN):
        return Outcome.SURVIVED, ""
    return _what_failed(report, tree)


def _end(process: subprocess.Popen) -> None:
    """Also of the simulator that it may have started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _what_failed(report: Path, tree: Path) -> tuple[Outcome, str]:
    """A test must have failed with something to say about the design's behaviour."""
    if not report.is_file():
        return Outcome.BROKEN, "pytest has written no report"
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        failure = case.find("failure")
        if failure is None:
            continue
        message = failure.get("message", "").partition("\n")[0]
        kind = message.partition(":")[0].rpartition(".")[2]
        where = f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"
        if kind in NO_BEHAVIOUR or "without results" in message:
            return Outcome.BROKEN, f"{where}: {message}"
        return Outcome.CAUGHT, f"{where}: {'; '.join(_bench_failures(tree)) or message}"
    return Outcome.BROKEN, "no test has failed, but pytest has"


def _bench_failures(tree: Path) -> Iterator[str]:
    """What failed inside the simulator: the bench's test, and its error."""
    for results in tree.glob("build/sim/*/*/results.xml"):
        for case in ElementTree.parse(results).getroot().iter("testcase"):
            for failure in case.iter("failure"):
                yield f"{case.get('name')} ({failure.get('error_type') or failure.get('type', '?')})"
