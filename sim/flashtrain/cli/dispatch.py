"""Parses the command line, runs the sub-command, and turns each error into one line."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from types import FrameType
from typing import NoReturn

from flashtrain.native.user_cache import using_cache
from flashtrain.spec import FlashtrainError

from . import (
    area,
    bench,
    build,
    calibrate,
    checkpoint,
    codec,
    faults,
    figure,
    fuzz,
    info,
    inspect_device,
    io,
    kill,
    offload,
    platform,
    powercut,
    sequence,
    serve,
    ssd,
    sweep,
    trace,
    train,
    verilog,
)
from .command import Command, add_cache_dir
from .console import Console, Output, one_line
from .exit_codes import INTERRUPTED, TERMINATED, USER_ERROR

COMMANDS = (
    train.COMMAND,
    sequence.COMMAND,
    platform.COMMAND,
    offload.COMMAND,
    checkpoint.COMMAND,
    figure.COMMAND,
    io.COMMAND,
    serve.COMMAND,
    inspect_device.COMMAND,
    trace.COMMAND,
    ssd.COMMAND,
    codec.COMMAND,
    verilog.COMMAND,
    area.COMMAND,
    bench.COMMAND,
    calibrate.COMMAND,
    sweep.COMMAND,
    fuzz.COMMAND,
    faults.COMMAND,
    powercut.COMMAND,
    kill.COMMAND,
    build.COMMAND,
    info.COMMAND,
)

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


def run_command(arguments: Sequence[str] | None) -> int:
    """The sub-command that `arguments` ask for; its exit code."""
    options = _parse(arguments)
    command: Command = options.command
    name = f"flashtrain {command.name}"
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


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    try:
        return parser().parse_args(arguments)
    except SystemExit:
        output = Output(sys.stdout)
        output.write("")  # a help text may wait in the buffer
        if output.failure is not None:
            Output(sys.stderr).write(f"flashtrain: standard output: {_in_words(output.failure)}\n")
            sys.exit(USER_ERROR)
        raise


def parser() -> argparse.ArgumentParser:
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
        if command.builds:
            add_cache_dir(own)
        own.set_defaults(command=command)
    return parser


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
