"""`flashtrain powercut`: power failures at random cycles of training runs, checkpoints or named arrays."""

import argparse
from typing import TYPE_CHECKING

from .command import (
    Command,
    add_configuration,
    add_iterations,
    add_json,
    add_seed,
    at_least_one,
    at_least_zero,
    configuration,
    configuration_option,
)
from .console import Console
from .links import LINKS, announced

if TYPE_CHECKING:
    from flashtrain.stress.powercut import Lost, Tally
    from flashtrain.stress.powercut.survival import Survival

LOST = 1
NOTHING_COMPARED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser, default="tiny")
    parser.add_argument("--cuts", type=at_least_one, default=100, metavar="N", help="how many (default: 100)")
    add_seed(parser)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--checkpoints", dest="work", action="store_const", const="checkpoints",
        help="cut runs that save, restore and delete checkpoints, instead of training runs",
    )  # fmt: skip
    kind.add_argument(
        "--catalog", dest="work", action="store_const", const="catalog",
        help="cut runs that store, rename and delete named arrays",
    )  # fmt: skip
    add_iterations(parser, default=12)
    parser.add_argument(
        "--gap", type=at_least_one, default=1000, metavar="CYCLES",
        help="least mean distance of cuts; fewer spread over the whole run, more need further runs"
        " (default: 1000)",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=at_least_one, default=2, metavar="N", help="devices judged at a time (default: 2)"
    )
    parser.add_argument(
        "--again", type=at_least_zero, nargs=2, metavar=("RUN", "CYCLE"),
        help="only this cut of this run of the seed",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.stress.powercut import (
        Campaign,
        CatalogScenario,
        CheckpointScenario,
        Lost,
        TrainingScenario,
    )

    config = configuration(options)
    said: set[str] = set()

    def announce(text: str) -> None:
        if text not in said:
            said.add(text)
            console.step(text)

    link = announced(LINKS["rtl"], announce)
    scenarios = {None: TrainingScenario, "checkpoints": CheckpointScenario, "catalog": CatalogScenario}
    scenario = scenarios[options.work]
    campaign = Campaign(config, link, options.seed, options.iterations, options.gap, options.jobs, scenario)

    def progress(tally: "Tally") -> None:
        console.progress(f"{tally.cuts} of {options.cuts} cuts, run {tally.runs + 1}")

    console.step(f"seed {options.seed}, {config.name}")
    try:
        if options.again:
            survival = campaign.cut_once(*options.again)
            if survival.compared:
                console.say(f"nothing is lost\n{_survival(survival)}")
            console.document({
                "seed": options.seed, "lost": None, "compared": survival.compared,
                "survival": vars(survival),
            })  # fmt: skip
            return _judged(survival, console)
        tally = campaign.run(options.cuts, progress)
    except Lost as lost:
        console.say(f"LOST: {lost}")
        console.say(f"see it again: {_again(options, lost)}")
        console.document({"seed": options.seed, "lost": str(lost)})
        return LOST
    if tally.survival.compared:
        console.say(_text(tally))
    console.document({
        "seed": options.seed, "lost": None, "compared": tally.survival.compared, "cuts": tally.cuts,
        "runs": tally.runs, "cycles": tally.cycles, "seconds": tally.seconds,
        "survival": vars(tally.survival),
    })  # fmt: skip
    return _judged(tally.survival, console)


def _judged(survival: "Survival", console: Console) -> int:
    """The exit code of failures in which nothing was lost: a campaign without a comparison fails, too."""
    if survival.compared:
        return 0
    console.error(
        "flashtrain powercut: NOTHING COMPARED: the power failed before anything was acknowledged; ask for"
        " more cuts or a later cycle"
    )
    return NOTHING_COMPARED


def _again(options: argparse.Namespace, lost: "Lost") -> str:
    run, cycle = (lost.cut.run, lost.cut.cycle) if lost.cut else options.again
    return (
        f"flashtrain powercut {configuration_option(options)} --seed {options.seed} "
        f"{f'--{options.work} ' if options.work else ''}--iterations {options.iterations} "
        f"--again {run} {cycle}"
    )


def _text(tally: "Tally") -> str:
    return (
        f"{tally.cuts} power failures in {tally.runs} runs of {tally.cycles:,} cycles,"
        f" {tally.survival.again} more in recoveries ({tally.seconds:.0f} s)\n"
        f"nothing acknowledged was lost or wrong, every device continued\n"
        f"{_survival(tally.survival)}"
    )


def _survival(survival: "Survival") -> str:
    from flashtrain.stress.powercut.campaign import SLIGHTLY

    return (
        f"compared: {survival.tensors} tensors of {survival.bytes:,} bytes, {survival.checkpoints}"
        f" checkpoints; state: {survival.before} times that before the interrupted step, {survival.after}"
        f" times that after it, {survival.none} times none yet; {survival.recovery_cycles:,} cycles of"
        f" recovery\n"
        f"interrupted: programs of {survival.torn} pages, of which {survival.slightly} lack {SLIGHTLY} zeros"
        f" at most, and erases of {survival.half_erased} blocks that keep some\n"
        f"below the write pointers: {survival.blocks} blocks, of which {survival.refused} are refused and"
        f" {survival.spoilt} spoilt"
    )


COMMAND = Command(
    examples="""\
  flashtrain powercut --cuts 20                             spread over one run of tiny, a minute
  flashtrain powercut --cuts 10000 --preset tiny_ecc        with error correction and spare blocks
  flashtrain powercut --cuts 200 --preset tiny_codec        with streams that have a codec
  flashtrain powercut --checkpoints --cuts 1000             of checkpoints: pinned, appended, restored
  flashtrain powercut --catalog --cuts 1000                 of a catalogue: stored, renamed, deleted arrays
  flashtrain powercut --cuts 2000 --gap 50 --iterations 1   one step, cut every 50 cycles
  flashtrain powercut --seed 7 --again 3 700000             one cut of that seed: run 3, cycle 700,000

Each cut is judged in a copy of the process, so the training run itself continues undisturbed.
Exit code 1 if acknowledged data are lost or wrong, if a device does not continue, if an interrupted append
left data that nobody appended, or if no cut had data to compare. Without a code an interrupted page may be
spoilt (ones in the place of zeros): these pages are counted.
""",
    add_arguments=add_arguments,
    run=run,
)
