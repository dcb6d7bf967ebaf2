"""`flashtrain`: parses the command line, runs the sub-command, and turns errors into one line."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from flashtrain.spec import FlashtrainError

from . import area, bench, faults, fuzz, info, powercut, sequence, train, verilog
from .command import Command
from .console import Console

COMMANDS = (
    train.COMMAND,
    sequence.COMMAND,
    verilog.COMMAND,
    area.COMMAND,
    bench.COMMAND,
    fuzz.COMMAND,
    faults.COMMAND,
    powercut.COMMAND,
    info.COMMAND,
)

USER_ERROR = 2
INTERRUPTED = 128 + signal.SIGINT

EXAMPLES = """\
examples:
  flashtrain train                        train a network whose tensors live in the simulated flash
  flashtrain train --link functional      the same in seconds, without time
  flashtrain info --preset behemoth       what the preset is made of
  flashtrain train --help                 each command has its own examples

exit codes: 0 good; 1 a result is not as it must be; 2 a mistake in the input or a device that fails
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command with `arguments`, by default those of the process; its exit code."""
    options = _parser().parse_args(arguments)
    command: Command = options.command
    console = Console(as_json=getattr(options, "json", False))
    try:
        return command.run(options, console)
    except FlashtrainError as error:
        console.error(f"flashtrain {command.name}: {error}")
        return USER_ERROR
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            return _reader_has_gone()
        if error.filename is None:
            raise
        console.error(f"flashtrain {command.name}: {error.filename}: {error.strerror}")
        return USER_ERROR
    except KeyboardInterrupt:
        console.error(f"flashtrain {command.name}: interrupted")
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="flashtrain",
        description="A flash memory system for training neural networks, from the script to the pins.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"flashtrain {version('flashtrain')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        own = commands.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=f"examples:\n{command.examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(own)
        own.set_defaults(command=command)
    return parser


def _reader_has_gone() -> int:
    """Whoever read our output (`head`) has enough: say nothing, also not when Python flushes at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
