"""`flashtrain faults`: training runs on cells that forget bits and blocks that are bad, or break."""

import argparse
from dataclasses import asdict

from flashtrain.spec import preset

from .command import Command, add_iterations, add_json, add_preset, add_seed, at_least_one, at_least_zero
from .console import Console

SPOILT = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_preset(parser, default="tiny_ecc")
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
    from flashtrain.attack.faults import Campaign, Spoilt, Tally

    config = preset(options.preset)
    campaign = Campaign(config, options.seed, options.iterations, options.jobs, options.hangs)

    def progress(tally: Tally) -> None:
        console.progress(f"{tally.runs} of {options.runs} runs, {tally.wrong_bits} wrong bits")

    console.step(
        f"seed {options.seed}, {config.name} with a code of strength {config.code_strength}"
        " (the first time it is built)"
    )
    try:
        tally = campaign.run(options.runs, options.run, progress)
    except Spoilt as spoilt:
        console.say(f"SPOILT: {spoilt}")
        console.say(
            f"see it again: flashtrain faults --preset {options.preset} --seed {options.seed}"
            f" --iterations {options.iterations} --runs 1 --run {spoilt.number}{' --hangs' * options.hangs}"
        )
        console.document({"seed": options.seed, "spoilt": str(spoilt)})
        return SPOILT
    console.say(
        f"{tally.runs} training runs of {options.iterations} iterations, {tally.clocks:,} clocks,"
        f" all the same as plain NumPy to the last bit{', as far as they came' * bool(tally.ended)}"
        f" ({tally.seconds:.0f} s)\n"
        f"{tally.wrong_bits:,} wrong bits sensed, {tally.corrected:,} of them corrected by the channels in"
        f" {tally.pages:,} pages ({tally.worst_pages:,} with 8 or more), the others by the dies"
        f" or not fetched; {tally.rescued:,} pages read again; data aged by {tally.days:,.0f} days in all\n"
        f"{tally.marked:,} blocks were bad from the factory, {tally.broken:,} broke:"
        f" {tally.failures:,} programs and erases failed, {tally.replaced:,} blocks were replaced"
        f" and {tally.repeated:,} page sets programmed again"
        + (
            f"\n{tally.hung:,} dies hung, which ended {tally.ended:,} of the runs with an error"
            if options.hangs
            else ""
        )
    )
    console.document({"seed": options.seed, "spoilt": None, **asdict(tally)})
    return 0


COMMAND = Command(
    name="faults",
    summary="train on cells that forget bits and blocks that break, and compare with plain NumPy",
    examples="""\
  flashtrain faults --runs 1000           the RTL of tiny_ecc, a thousand devices
  flashtrain faults --seed 7 --run 12 --runs 1
  flashtrain faults --hangs               dies may hang in the middle of a run

Worn cells whose data age between iterations, or a steady rate of errors (docs/errors.md); and blocks
that are bad from the factory, which nobody may touch, or break at any time: not more than there are spares.
With --hangs dies may hang, too: such a run may end with an error of the command that failed.
Exit code 1 if the weights of a run differ from plain NumPy in a bit, or a run does not end.
""",
    add_arguments=add_arguments,
    run=run,
)
