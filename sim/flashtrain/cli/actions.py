"""Actions of a command, each in a module of its own."""

import argparse
from collections.abc import Mapping
from types import ModuleType

from .console import Console


def add_actions(parser: argparse.ArgumentParser, known: Mapping[str, tuple[str, ModuleType]]) -> None:
    """Add actions by name, each with its help and a module that has `add_arguments` and `run`.

    :func:`run_action` carries out the one that is given.
    """
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, (summary, module) in known.items():
        action = actions.add_parser(name, help=summary)
        module.add_arguments(action)
        action.set_defaults(action=module.run)


def run_action(options: argparse.Namespace, console: Console) -> int:
    return options.action(options, console)
