"""`flashtrain faults`: training runs on cells that forget bits and blocks that are bad, or break."""

import argparse
from dataclasses import asdict
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

if TYPE_CHECKING:
    from flashtrain.stress.faults import Tally

SPOILT = 1
NOTHING_TRIED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser, default="tiny_ecc", offered=lambda config: config.code is not None)
    parser.add_argument("--runs", type=at_least_one, default=20, metavar="N", help="how many (default: 20)")
    add_seed(parser)
    add_iterations(parser, default=8)
    parser.add_argument("--jobs", type=at_least_one, default=2, metavar="N", help="at a time (default: 2)")
    parser.add_argument(
        "--run", type=at_least_zero, default=0, metavar="K",
        help="begin with this run of the seed (default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--hangs", action="store_true",
        help="dies may hang, and end runs with an error that says which command of which stream failed",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.stress.faults import Campaign, Spoilt

    config = configuration(options)
    campaign = Campaign(config, options.seed, options.iterations, options.jobs, options.hangs)

    def progress(tally: "Tally") -> None:
        console.progress(f"{tally.runs} of {options.runs} runs, {tally.wrong_bits} wrong bits")

    console.step(f"seed {options.seed}, {config.name} with a code of strength {config.code_strength}")
    try:
        tally = campaign.run(options.runs, options.run, progress)
    except Spoilt as spoilt:
        console.say(f"SPOILT: {spoilt}")
        console.say(
            f"see it again: flashtrain faults {configuration_option(options)} --seed {options.seed}"
            f" --iterations {options.iterations} --runs 1 --run {spoilt.number}{' --hangs' * options.hangs}"
        )
        console.document({"seed": options.seed, "spoilt": str(spoilt)})
        return SPOILT
    if tally.judged:
        console.say(_text(tally, options))
    console.document({"seed": options.seed, "spoilt": None, "judged": tally.judged, **asdict(tally)})
    if tally.judged:
        return 0
    console.error(
        "flashtrain faults: NOTHING TRIED: no loss was compared, or no cell, block or die failed;"
        " ask for more runs or iterations"
    )
    return NOTHING_TRIED


def _text(tally: "Tally", options: argparse.Namespace) -> str:
    until = ", up to the loss of a die" * bool(tally.ended)
    lines = [
        f"{tally.runs} training runs of {options.iterations} iterations, {tally.cycles:,} cycles"
        f" ({tally.seconds:.0f} s): all the same as plain NumPy to the last bit{until}",
        f"wrong bits      {tally.wrong_bits:,} sensed; the channels corrected {tally.corrected:,} of them,"
        f" in {tally.pages:,} pages",
        f"pages           {tally.worst_pages:,} had 8 or more wrong bits; {tally.rescued:,} were read again",
        f"age of data     {tally.days:,.0f} days over all runs",
        f"bad blocks      {tally.marked:,} from the factory; {tally.broken:,} later",
        f"failures        {tally.failures:,} programs and erases; {tally.replaced:,} blocks replaced,"
        f" {tally.repeated:,} page sets programmed again",
    ]
    if options.hangs:
        lines.append(f"dies offline    {tally.hung:,}, which ended {tally.ended:,} runs with an error")
    return "\n".join(lines)


COMMAND = Command(
    examples="""\
  flashtrain faults --runs 4                      the RTL of tiny_ecc, four devices
  flashtrain faults --runs 1000 --preset small_ecc
  flashtrain faults --seed 7 --run 12 --runs 1    one run of that seed
  flashtrain faults --hangs                       dies may stop responding in the middle of a run

Cells are worn and their data age between iterations, or they err at a steady rate (docs/errors.md). Blocks
are bad from the factory, or break at any time; a plane never has more of them than spares. With --hangs a die
may stop responding: such a run may end with an error that names the command.
Exit code 1 if the weights of a run differ from plain NumPy in a bit, if a run does not end, or if nothing was
tried: no fault occurred, or no loss was compared.
""",
    add_arguments=add_arguments,
    run=run,
)
