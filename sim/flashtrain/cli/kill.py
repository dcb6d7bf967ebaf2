"""`flashtrain kill`: processes with an image, killed at random times."""

import argparse
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from .command import Command, add_configuration, add_json, add_link, add_seed, at_least_one, configuration
from .console import Console
from .image import add_image, require_new_image
from .links import LINKS

if TYPE_CHECKING:
    from flashtrain.stress.kills import KillTally

LOST = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser, default="tiny")
    add_link(parser, default="functional")
    parser.add_argument(
        "--other-link", choices=list(LINKS), metavar="NAME",
        help="each process has this Link or that of --link, by chance (default: none)",
    )  # fmt: skip
    parser.add_argument("--kills", type=at_least_one, default=20, metavar="N", help="how many (default: 20)")
    parser.add_argument(
        "--catalog", action="store_true", help="change a catalogue and a stream, instead of streams and state"
    )
    add_seed(parser)
    add_image(parser)
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the optimizer's reference takes a moment to import.
    from flashtrain.host import open_device
    from flashtrain.spec.streams import STORE_NODE
    from flashtrain.stress.kills import CatalogLedger, KillCampaign, StreamLedger
    from flashtrain.stress.powercut.lost import Lost

    config = configuration(options)
    require_new_image(options.image)
    links = [LINKS[name].factory for name in (options.link, options.other_link) if name is not None]
    for link in links:
        open_device(config, link).close()  # whatever has to be compiled is, before anybody waits for it
    with ExitStack() as stack:
        folder = options.image or Path(stack.enter_context(TemporaryDirectory())) / "flash.img"
        campaign = KillCampaign(config, links, folder, options.seed)
        if options.catalog:
            ledgers = (CatalogLedger, StreamLedger)
            campaign = KillCampaign(config, links, folder, options.seed, STORE_NODE, ledgers)
        try:
            tally = campaign.run(
                options.kills, lambda tally: console.progress(f"{tally.kills} of {options.kills} kills")
            )
        except Lost as lost:
            console.say(f"LOST after {campaign.tally.kills} kills: {lost}")
            console.document({"seed": options.seed, "lost": str(lost), **vars(campaign.tally)})
            return LOST
    console.say(_text(tally))
    console.document({"seed": options.seed, "lost": None, **vars(tally)})
    return 0


def _text(tally: "KillTally") -> str:
    return (
        f"{tally.kills} kills, {tally.under_way} within an action and {tally.opening} before the device was"
        f" recovered, and {tally.shutdowns} orderly ends ({tally.seconds:.0f} s)\n"
        f"nothing acknowledged was lost or wrong, every reopening worked\n"
        f"{tally.acknowledged} actions were acknowledged; later processes compared {tally.compared} arrays"
        " and states"
    )


COMMAND = Command(
    examples="""\
  flashtrain kill                                           20 kills on the functional model
  flashtrain kill --kills 300 --link rtl                    of a simulation of the RTL
  flashtrain kill --link functional --other-link rtl        processes with one Link or the other
  flashtrain kill --kills 300 --catalog                     of processes that change arrays by name
  flashtrain kill --image kept.img --preset tiny_ecc        the image stays for an inspection

Each process opens the image, compares all that was acknowledged, and appends, resets and commits steps until
it is killed (kill -9). The times of the kills are random: a seed repeats the work, and not the kills.
Exit code 1 if acknowledged data are lost or wrong, or if an image cannot be opened again.
""",
    add_arguments=add_arguments,
    run=run,
)
