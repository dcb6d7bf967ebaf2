"""Parses the command line, runs the sub-command, and turns each error into one line."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from flashtrain.reading.errors import FlashtrainError

from .commands import COMMANDS, Summary
from .console import Console, Output, one_line, print_in_any_encoding
from .exit_codes import INTERRUPTED, TERMINATED, USER_ERROR

if TYPE_CHECKING:
    from .command import Command

EXAMPLES = """\
examples:
  flashtrain train                        train a network whose tensors live in the simulated flash
  flashtrain train --link functional      the same in seconds, without time
  flashtrain info --preset behemoth       what the preset is made of
  flashtrain train --help                 each command has its own examples

exit codes: 0 good; 1 a result is not as it must be; 2 a mistake in the input or a device that fails
"""


class Terminated(BaseException):
    """The process was asked to end (SIGTERM)."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, one_line(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


class ShowVersion(argparse.Action):
    """The option for the version, which is looked up when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"flashtrain {version('flashtrain')}")
        parser.exit()


def run_command(arguments: Sequence[str]) -> int:
    """The sub-command that `arguments` ask for; its exit code."""
    print_in_any_encoding()
    options = _parse(arguments)
    from flashtrain.native.user_cache import using_cache

    command: Command = options.command
    name = f"flashtrain {options.command_name}"
    console = Console(as_json=getattr(options, "json", False))
    try:
        with _ended_by_sigterm(), using_cache(getattr(options, "cache_dir", None)):
            code = command.run(options, console)
    except FlashtrainError as error:
        console.error(f"{name}: {error}")
        return USER_ERROR
    except OSError as error:
        console.error(f"{name}: {_in_words(error)}")
        return USER_ERROR
    except MemoryError:
        console.error(f"{name}: takes more memory than there is")
        return USER_ERROR
    except KeyboardInterrupt:
        console.error(f"{name}: interrupted")
        return INTERRUPTED
    except Terminated:
        console.error(f"{name}: terminated")
        return TERMINATED
    if console.failure is not None:
        console.error(f"{name}: standard output: {_in_words(console.failure)}")
        return USER_ERROR
    return code


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    # No option before the command has a value.
    asked = next((word for word in arguments if not word.startswith("-")), "")
    try:
        return parser(asked).parse_args(arguments)
    except SystemExit:
        output = Output(sys.stdout)
        output.write("")  # a help text may wait in the buffer
        if output.failure is not None:
            Output(sys.stderr).write(f"flashtrain: standard output: {_in_words(output.failure)}\n")
            sys.exit(USER_ERROR)
        raise


def parser(*complete: str) -> argparse.ArgumentParser:
    """The parser of the command line. Of the commands, those that are named in `complete` have arguments."""
    parser = Parser(
        prog="flashtrain",
        description="A flash memory system for training neural networks, from the script to the pins.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        own = commands.add_parser(
            name,
            help=summary.text,
            description=f"{summary.text[0].upper()}{summary.text[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in complete:
            _complete(own, name, summary)
    return parser


def _complete(parser: argparse.ArgumentParser, name: str, summary: Summary) -> None:
    """Add the arguments of a command to its parser."""
    from .command import add_cache_dir

    command = summary.load()
    parser.epilog = f"examples:\n{command.examples}"
    command.add_arguments(parser)
    if command.builds:
        add_cache_dir(parser)
    parser.set_defaults(command=command, command_name=name)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """SIGTERM raises :class:`Terminated` in this block, so that temporary folders are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(number: int, frame: FrameType | None) -> NoReturn:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _in_words(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"
