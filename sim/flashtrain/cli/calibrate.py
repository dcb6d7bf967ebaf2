"""`flashtrain calibrate`: measures the stages of the performance model on the RTL."""

import argparse
import subprocess

from flashtrain.model.parameters import STAGES, measured_on, stages

from .command import Command, add_json
from .console import Console, table

STALE = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a stage is stale")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.sim.calibration.measure import measure_stages
    from flashtrain.sim.calibration.sources import rtl_key

    console.step("measuring on small, tiny and tiny_full")
    measured = measure_stages()
    known = stages()
    rows = [
        (stage.name, f"{known.get(stage.name, '-')}", f"{stage.cycles}", stage.span) for stage in measured
    ]
    console.say(table(("stage", "in the file", "measured", "from and to"), rows))
    stale = [stage.name for stage in measured if known.get(stage.name) != stage.cycles]
    file, key = measured_on(), rtl_key()
    sources = "these" if file.rtl == key else "other"
    console.say(f"\nin the file since commit {file.commit}, measured on {sources} sources of the RTL")
    console.document({
        "stages": {stage.name: stage.cycles for stage in measured},
        "stale": stale,
        "commit": file.commit,
        "same_sources": file.rtl == key,
    })  # fmt: skip
    if options.check:
        if stale:
            console.error(f"flashtrain calibrate: stale in {STAGES.name}: {', '.join(stale)}")
        return STALE if stale else 0
    lines = [f"{stage.name} = {stage.cycles}  # {stage.span}" for stage in measured]
    STAGES.write_text(
        f'{_HEADER}\ncommit = "{_commit()}"\nrtl = "{key}"\n\n[stages]\n' + "\n".join(lines) + "\n",
        encoding="utf-8",
    )
    console.say(f"\n{STAGES}")
    return 0


_HEADER = "# Cycles of stages, measured on the RTL at this commit. `flashtrain calibrate` writes it."


def _commit() -> str:
    """The commit of the tree, and whether it has changed since; empty outside of a repository."""
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=STAGES.parent
        )
    except OSError:
        return ""
    return told.stdout.strip()


COMMAND = Command(
    examples="""\
  flashtrain calibrate               measure, and write the model's file
  flashtrain calibrate --check       compare only
""",
    add_arguments=add_arguments,
    run=run,
)
