"""`flashtrain powercut`: power failures at random clocks of training runs, and what is there afterwards."""

import argparse

from flashtrain.attack.powercut import Campaign, Lost, Tally
from flashtrain.attack.powercut.campaign import SLIGHTLY
from flashtrain.attack.powercut.judgement import Survival
from flashtrain.spec import preset

from .command import Command, add_iterations, add_json, add_preset, add_seed, at_least_one, at_least_zero
from .console import Console
from .links import LINKS, announced

LOST = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_preset(parser, default="tiny")
    parser.add_argument("--cuts", type=at_least_one, default=100, metavar="N", help="how many (default: 100)")
    add_seed(parser)
    add_iterations(parser, default=12)
    parser.add_argument(
        "--gap", type=at_least_one, default=1000, metavar="CLOCKS",
        help="from one cut to the next, on average (default: 1000)",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=at_least_one, default=2, metavar="N", help="devices judged at a time (default: 2)"
    )
    parser.add_argument(
        "--again", type=at_least_zero, nargs=2, metavar=("RUN", "CLOCK"),
        help="only this cut of this run of the seed",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    config = preset(options.preset)
    said: set[str] = set()

    def announce(text: str) -> None:
        if text not in said:
            said.add(text)
            console.step(text)

    link = announced(LINKS["rtl"], announce)
    campaign = Campaign(config, link, options.seed, options.iterations, options.gap, options.jobs)

    def progress(tally: Tally) -> None:
        console.progress(f"{tally.cuts} of {options.cuts} cuts, run {tally.runs + 1}")

    console.step(f"seed {options.seed}, {options.preset}")
    try:
        if options.again:
            survival = campaign.cut_once(*options.again)
            console.say(f"all is there: {_survival(survival)}")
            console.document({"seed": options.seed, "lost": None, "survival": vars(survival)})
            return 0
        tally = campaign.run(options.cuts, progress)
    except Lost as lost:
        console.say(f"LOST: {lost}")
        console.say(f"see it again: {_again(options, lost)}")
        console.document({"seed": options.seed, "lost": str(lost)})
        return LOST
    console.say(_text(tally))
    console.document({
        "seed": options.seed, "lost": None, "cuts": tally.cuts, "runs": tally.runs, "clocks": tally.clocks,
        "seconds": tally.seconds, "survival": vars(tally.survival),
    })  # fmt: skip
    return 0


def _again(options: argparse.Namespace, lost: Lost) -> str:
    run, clock = (lost.cut.run, lost.cut.clock) if lost.cut else options.again
    return (
        f"flashtrain powercut --preset {options.preset} --seed {options.seed} "
        f"--iterations {options.iterations} --again {run} {clock}"
    )


def _text(tally: Tally) -> str:
    return (
        f"{tally.cuts} power failures in {tally.runs} training runs of {tally.clocks:,} clocks,"
        f" {tally.survival.again} more in recoveries ({tally.seconds:.0f} s)\n"
        f"nothing acknowledged was lost or wrong, every device works on\n"
        f"{_survival(tally.survival)}"
    )


def _survival(survival: Survival) -> str:
    return (
        f"compared: {survival.tensors} tensors of {survival.bytes:,} bytes;"
        f" state: {survival.before} times that before the step under way, {survival.after} that after it,"
        f" {survival.none} times none yet; {survival.recovery_clocks:,} clocks of recovery\n"
        f"cut short: programs of {survival.torn} pages, of which {survival.slightly} lack {SLIGHTLY} zeros"
        f" at most, and erases of {survival.half_erased} blocks that keep some\n"
        f"below the write pointers: {survival.blocks} blocks, of which {survival.refused} are refused and"
        f" {survival.spoilt} spoilt"
    )


COMMAND = Command(
    name="powercut",
    summary="cut the power at random clocks of training runs, and look for what is lost",
    examples="""\
  flashtrain powercut --cuts 10000                  the RTL of tiny, cut ten thousand times
  flashtrain powercut --gap 50 --iterations 2       one step, cut every 50 clocks
  flashtrain powercut --seed 7 --again 3 81234      one cut of that seed: run 3, clock 81234

Each cut is judged in a copy of the process, so the training run goes on as if nothing had happened.
Exit code 1 if anything that was acknowledged is lost or wrong, or a device does not work on; or if an
append that was under way left what was never appended. Without a code such a page may be spoilt (it has
ones for zeros): those are counted.
""",
    add_arguments=add_arguments,
    run=run,
)
