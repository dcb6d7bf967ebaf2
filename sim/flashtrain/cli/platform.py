"""`flashtrain platform`: the time of a training iteration on nodes with some storage, and on ranks."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.fms import FmsModel, Window
from flashtrain.platform.models import FmsRates, IdealModel, SsdModel
from flashtrain.platform.nodes import sharing_platform
from flashtrain.platform.report import run_iteration
from flashtrain.platform.storage import StorageModel
from flashtrain.platform.workloads import workload_sequence
from flashtrain.spec import FmsConfig
from flashtrain.ssd import SsdConfig
from flashtrain.training.errors import SequenceError
from flashtrain.training.sequence import TrainingSequence, load_sequence

from .behemoth import chosen_workload
from .command import Command, add_configuration, add_json, at_least_one, configuration
from .console import Console
from .iteration import add_iteration, say_iteration
from .platform_ranks import add_compare, add_ranks

STORAGES: dict[str, Callable[[FmsConfig], StorageModel]] = {
    "fms": lambda config: FmsModel(config),
    "fms-rates": lambda config: FmsRates(config),
    "ssd": lambda config: SsdModel(SsdConfig.of(config)),
    "ideal": lambda config: IdealModel(),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    play = actions.add_parser("run", help="play an iteration of a workload, or of a saved sequence")
    play.add_argument(
        "workload", nargs="+", help="family and row of a workload of Behemoth (gpt 2x4), or a sequence file"
    )
    play.add_argument("--storage", choices=list(STORAGES), default="fms", help="of all nodes (default: fms)")
    play.add_argument(
        "--nodes", type=at_least_one, default=1, metavar="N",
        help="activation nodes that share the FLOP rate (default: 1)",
    )  # fmt: skip
    play.add_argument("--weight-nodes", type=at_least_one, default=1, metavar="N", help="(default: 1)")
    add_iteration(play, "activation nodes", "node")
    play.add_argument(
        "--window", type=_window, metavar="BEGIN:END",
        help="seconds in which timeline and trace show a channel's bus and dies (--storage fms)",
    )  # fmt: skip
    add_configuration(play, default="behemoth")
    play.set_defaults(action=_run)
    add_json(play)
    add_ranks(actions)
    add_compare(actions)


def run(options: argparse.Namespace, console: Console) -> int:
    return options.action(options, console)


def _run(options: argparse.Namespace, console: Console) -> int:
    sequence = _sequence(options)
    storage = STORAGES[options.storage](configuration(options))
    if options.window is not None:
        if not isinstance(storage, FmsModel):
            raise PlatformError(f"--window with --storage {storage.name}; expected --storage fms")
        storage = replace(storage, window=options.window)
    platform = sharing_platform(storage, options.nodes, options.tflops * 1e12, options.weight_nodes)
    report = run_iteration(sequence, platform.with_buffers(options.buffer * 1e9))
    say_iteration(report, f"{sequence.network}, {storage.name}", options, console)
    return 0


def _sequence(options: argparse.Namespace) -> TrainingSequence:
    first, *others = options.workload
    if first.endswith(".json"):
        if others or options.phi is not None:
            raise SequenceError(f"{first}: expected nothing beside a sequence file, and no --phi")
        return load_sequence(Path(first))
    if len(others) > 1:
        raise SequenceError(f"{' '.join(options.workload)!r}: expected a workload such as gpt 2x4")
    return workload_sequence(chosen_workload(first, others[0] if others else None, options.phi))


def _window(text: str) -> Window:
    try:
        begin, end = (float(each) for each in text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected BEGIN:END in seconds, got {text!r}") from None
    try:
        return Window(begin, end)
    except PlatformError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


COMMAND = Command(
    examples="""\
  flashtrain platform run gpt 2x4
  flashtrain platform run gpt 2x4 --storage ssd --phi 0.1 --timeline ssd.png
  flashtrain platform run t5 1x1 --nodes 4 --trace trace.json
  flashtrain platform run gpt.json --storage ideal --json
  flashtrain platform ranks gpt 1x1 --ranks 8 --link-gbs 50
  flashtrain platform compare --ranks 2
""",
    add_arguments=add_arguments,
    run=run,
)
