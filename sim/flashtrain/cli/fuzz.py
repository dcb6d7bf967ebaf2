"""`flashtrain fuzz`: random and mutated commands, every answer judged by the rules of the contract."""

import argparse
from collections.abc import Callable

from flashtrain.stress.fuzz import Disagreement, Fuzz, Tally

from .command import (
    Command,
    add_configuration,
    add_json,
    add_link,
    add_seed,
    at_least_one,
    at_least_zero,
    configuration,
    configuration_option,
)
from .console import Console, table
from .links import LINKS, announced

_LINKS = ("functional", "model", "rtl")  # from the simplest
WRONG = 1
NOTHING_JUDGED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_link(parser, default="functional")
    add_configuration(parser, default="tiny")
    parser.add_argument(
        "--commands", type=at_least_one, default=10_000, metavar="N", help="how many (default: 10000)"
    )
    add_seed(parser)
    parser.add_argument(
        "--scene", type=at_least_zero, default=0, metavar="K",
        help="begin with this scene of the seed (default: 0)",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # The same commands on all up to the one that was asked for: what is right must also be the same.
    config = configuration(options)
    names = [name for name in reversed(_LINKS) if _LINKS.index(name) <= _LINKS.index(options.link)]
    links = {name: announced(LINKS[name], _once(console.step)) for name in names}
    console.step(f"seed {options.seed}, {config.name}, {' and '.join(names)} link")
    fuzz = Fuzz(config, links, options.seed)

    def progress(tally: Tally) -> None:
        rate = tally.commands / max(tally.seconds, 1e-3)
        console.progress(f"{tally.commands} of {options.commands} commands, {rate:.0f} per second")

    try:
        tally = fuzz.run(options.commands, progress, options.scene)
    except Disagreement as wrong:
        console.say(f"WRONG: {wrong}")
        console.say(f"see it again: {_again(options)}")
        console.document({"seed": options.seed, "right": False, "found": str(wrong)})
        return WRONG
    if tally.judged:
        console.say(_text(tally, names))
    document = {"seed": options.seed, "links": names, "right": bool(tally.judged), **tally.document()}
    console.document(document)
    if tally.judged:
        return 0
    console.error("flashtrain fuzz: NOTHING JUDGED: no answer could be compared; ask for more commands")
    return NOTHING_JUDGED


def _once(announce: Callable[[str], None]) -> Callable[[str], None]:
    """`announce` without repetitions: each scene opens its devices anew, and one message is enough."""
    said: set[str] = set()

    def say(text: str) -> None:
        if text not in said:
            said.add(text)
            announce(text)

    return say


def _again(options: argparse.Namespace) -> str:
    return (
        f"flashtrain fuzz --link {options.link} {configuration_option(options)} --seed {options.seed} "
        f"--commands {options.commands} --scene {options.scene}"
    )


def _text(tally: Tally, names: list[str]) -> str:
    lines = [
        f"{tally.commands} commands in {tally.batches} batches of {tally.scenes} scenes, all answered as they"
        f" must be ({' and '.join(names)}; {tally.seconds:.0f} s)",
        f"{tally.shared_batches} batches with both ports on the same streams, {tally.undecided} of which"
        f" could not be judged; {tally.cuts} cut off by a reset",
    ]
    if tally.longest_batch:
        lines.append(f"longest batch {tally.longest_batch} cycles; none without all its answers")
    for title, counts in (("status", tally.statuses), ("command", tally.opcodes), ("made by", tally.kinds)):
        rows = [(name, f"{count}") for name, count in counts.most_common()]
        lines += ["", table((title, "commands"), rows)]
    return "\n".join(lines)


COMMAND = Command(
    examples="""\
  flashtrain fuzz --commands 1000000                 the functional model, some ten minutes
  flashtrain fuzz --link rtl --commands 50000        the RTL, the model and the functional model side by side
  flashtrain fuzz --preset tiny_codec                streams with a codec, and pages that are none of theirs
  flashtrain fuzz --link rtl --seed 7 --scene 12     from a scene of that seed on
""",
    add_arguments=add_arguments,
    run=run,
)
