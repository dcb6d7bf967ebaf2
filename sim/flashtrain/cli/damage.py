"""`flashtrain damage`: images of a flash, damaged at random, inspected and opened."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from .command import (
    Command,
    add_configuration,
    add_json,
    add_link,
    add_seed,
    at_least_one,
    at_least_zero,
    configuration,
)
from .console import Console
from .links import LINKS

if TYPE_CHECKING:
    from flashtrain.stress.images import DamageTally

WRONG = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser, default="tiny")
    add_link(parser, default="functional")
    parser.add_argument(
        "--other-link", choices=list(LINKS), metavar="NAME",
        help="every other image is opened by this Link (default: none)",
    )  # fmt: skip
    parser.add_argument(
        "--images", type=at_least_one, default=200, metavar="N", help="how many (default: 200)"
    )
    parser.add_argument(
        "--first", type=at_least_zero, default=0, metavar="N",
        help="number of the first image: with --images 1 one is made again (default: 0)",
    )  # fmt: skip
    add_seed(parser)
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the inspection takes a moment to import.
    from flashtrain.stress.images import DamageCampaign

    names = [name for name in (options.link, options.other_link) if name is not None]
    links = [LINKS[name].factory for name in names]
    with TemporaryDirectory() as folder:
        campaign = DamageCampaign(configuration(options), links, Path(folder), options.seed)
        tally = campaign.run(
            options.images, options.first, lambda tally: console.progress(f"{tally.images} images")
        )
    for fault in tally.faults:
        console.say(f"{fault}\n")
    console.say(_text(tally))
    console.document({"seed": options.seed, **vars(tally)})
    return WRONG if tally.faults else 0


def _text(tally: "DamageTally") -> str:
    return (
        f"{tally.images:,} damaged images, {tally.resealed:,} with right checksums ({tally.seconds:.0f} s):"
        f" {tally.inspected:,} were inspected,\n"
        f"{tally.whole:,} with all sections; {tally.opened:,} were opened\n"
        f"{tally.right:,} arrays came back as they were, {tally.refused:,} with an error\n"
        f"{tally.wrong} were wrong, and {len(tally.faults) - tally.wrong} errors were no message"
    )


COMMAND = Command(
    examples="""\
  flashtrain damage                                            200 images, the functional Link
  flashtrain damage --images 10000 --other-link model --preset tiny_ecc
  flashtrain damage --seed 7 --first 1234 --images 1           one image again

Exit code 1 if bytes were wrong, or an error was no message.
""",
    add_arguments=add_arguments,
    run=run,
)
