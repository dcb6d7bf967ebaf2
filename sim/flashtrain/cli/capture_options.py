"""Options of commands that capture a model of PyTorch."""

import argparse
from math import inf
from typing import TYPE_CHECKING

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.processor import Processor
from flashtrain.training.optimizers import OPTIMIZERS

from .command import above_zero, at_least_one
from .console import Console

if TYPE_CHECKING:
    from flashtrain.torch.capturing.capture import Capture
TARGET = "MODULE:FUNCTION, a function that returns model, loss and inputs; or a network, such as gpt2"


def add_capture(parser: argparse.ArgumentParser) -> None:
    """The model, its batch and how its durations come about."""
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "--batch", type=at_least_one, default=0, metavar="N",
        help="examples per iteration, the argument `batch` of the function (default: its own; networks: 8)",
    )  # fmt: skip
    parser.add_argument(
        "--meta", action="store_true",
        help="no memory and no arithmetic: on the meta device, as networks are unless they are measured",
    )  # fmt: skip
    parser.add_argument(
        "--measure", type=at_least_one, default=0, metavar="N",
        help="durations are the medians of N iterations with real tensors",
    )  # fmt: skip
    parser.add_argument(
        "--flops",
        type=above_zero,
        metavar="RATE",
        help="durations by a rate of FLOPs per second, such as 14e12",
    )
    parser.add_argument(
        "--bandwidth", type=above_zero, metavar="RATE",
        help="bytes per second of the memory, which bounds operations, too; with --flops (default: no bound)",
    )  # fmt: skip
    parser.add_argument(
        "--optimizer", choices=list(OPTIMIZERS), default="adam", help="optimizer (default: adam)"
    )


def captured(options: argparse.Namespace, console: Console, with_ratios: bool = False) -> "Capture":
    """The capture of these options. Raises `MissingExtra` without PyTorch."""
    from flashtrain.torch.capturing.target import capture_target  # takes seconds to import

    console.step(f"one iteration of {options.target}")
    return capture_target(options.target, options.batch, options.meta, options.measure, with_ratios)


def processor(options: argparse.Namespace) -> Processor | None:
    """The processor of `--flops` and `--bandwidth`; None without them."""
    if options.flops is None:
        if options.bandwidth is not None:
            raise OffloadError("--bandwidth without --flops; expected both")
        return None
    if options.measure:
        raise OffloadError("--flops with --measure; expected one of them")
    return Processor(options.flops, options.bandwidth or inf)


SHOWN_SHARE = 0.01
"""The least part of the bytes with which an operator without FLOPs is named."""


def capture_text(capture: "Capture") -> str:
    """A line of what was captured, and one of the operators whose FLOPs were not counted."""
    r = capture.recording
    counted = (
        f"{r.model}, batch {r.batch}: {r.parameter_count:,} parameters, {len(r.operations):,} operations,"
        f" {r.flops:,} FLOP; {len(r.saves):,} saved storages of {r.saved_bytes:,} bytes"
    )
    shares = r.uncounted_shares
    if not shares:
        return counted
    shown = [f"{name} {share:.1%}" for name, share in shares.items() if share >= SHOWN_SHARE]
    if rest := list(shares.values())[len(shown) :]:
        shown.append(f"{len(rest)} others {sum(rest):.1%}")
    return f"{counted}\nno formula for FLOPs, with their part of all bytes: {', '.join(shown)}"


def capture_document(capture: "Capture") -> dict[str, object]:
    r = capture.recording
    return {
        "model": r.model,
        "batch": r.batch,
        "parameters": r.parameter_count,
        "operations": len(r.operations),
        "flops": r.flops,
        "saved_storages": len(r.saves),
        "saved_bytes": r.saved_bytes,
        "uncounted": r.uncounted_shares,
    }
