"""The options and the outputs of commands that play an iteration of a workload."""

import argparse
from typing import Any, Protocol

from flashtrain.platform.nodes import BEHEMOTH_FLOPS, Node
from flashtrain.platform.timeline import Timeline
from flashtrain.platform.timeline_trace import write_trace

from .command import above_zero
from .console import Console
from .outputs import figure_file, output_file


class Report(Protocol):
    """Of an iteration that was played."""

    @property
    def timeline(self) -> Timeline: ...

    def text(self) -> str: ...

    def document(self) -> dict[str, Any]: ...


def add_iteration(parser: argparse.ArgumentParser, together: str, each: str) -> None:
    """together: the parts that share the FLOP rate; each: the part that has a tensor buffer."""
    parser.add_argument("--phi", type=float, metavar="X", help="share of the activations that is stored")
    parser.add_argument(
        "--tflops", type=above_zero, default=BEHEMOTH_FLOPS / 1e12, metavar="X",
        help=f"TFLOP/s of all {together} together (default: 840)",
    )  # fmt: skip
    parser.add_argument(
        "--buffer", type=above_zero, default=Node().buffer_bytes / 1e9, metavar="GB",
        help=f"tensor buffer of each {each} (default: 16)",
    )  # fmt: skip
    parser.add_argument("--timeline", type=figure_file, metavar="FILE", help="write a figure (png, svg, pdf)")
    parser.add_argument("--trace", type=output_file, metavar="FILE", help="write a trace for ui.perfetto.dev")


def say_iteration(report: Report, title: str, options: argparse.Namespace, console: Console) -> None:
    """The report, and the files that were asked for. title: of the figure."""
    console.say(report.text())
    if options.timeline is not None:
        from flashtrain.platform.timeline_figure import draw_timeline  # takes a second to import

        draw_timeline(report.timeline, options.timeline, title)
        console.say(f"{options.timeline}")
    if options.trace is not None:
        write_trace(report.timeline, options.trace)
        console.say(f"{options.trace}")
    console.document(report.document())
