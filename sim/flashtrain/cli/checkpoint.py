"""`flashtrain checkpoint`: models as checkpoints see them."""

import argparse

from . import checkpoint_models
from .command import Command
from .console import Console

ACTIONS = {
    "models": ("print the sizes of the poster's nine models, or capture them anew", checkpoint_models),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, (summary, module) in ACTIONS.items():
        action = actions.add_parser(name, help=summary)
        module.add_arguments(action)
        action.set_defaults(action=module.run)


def run(options: argparse.Namespace, console: Console) -> int:
    return options.action(options, console)


COMMAND = Command(
    name="checkpoint",
    summary="show what checkpoints of models hold",
    examples="""\
  flashtrain checkpoint models
  flashtrain checkpoint models --capture models.json
""",
    add_arguments=add_arguments,
    run=run,
    builds=False,
)
