"""`flashtrain offload run`: a plan played on a device."""

import argparse
from pathlib import Path

from flashtrain.spec.streams import SINGLE_NODE
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import Plan, load_plan
from flashtrain.training.offload.play import Played, play_plan

from .command import add_configuration, add_json, add_link, add_seed
from .console import Console
from .device import device_for
from .links import LINKS
from .offload_arguments import add_profile, profile_of
from .offload_text import gigabytes, seconds_text
from .outputs import figure_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", type=Path, metavar="PLAN", help="a plan file")
    add_profile(parser)
    add_configuration(parser)
    add_link(parser, default="model")
    add_seed(parser, what="of the data")
    parser.add_argument("--figure", type=figure_file, metavar="FILE", help="draw the iteration as it ran")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    profile, plan = profile_of(options), load_plan(options.plan)
    plan.check(profile)
    if options.figure is not None and not LINKS[options.link].timed:
        raise OffloadError(f"--figure with --link {options.link}, which has no time; expected model or rtl")
    with device_for(options, SINGLE_NODE, console) as device:
        played = play_plan(plan, profile, device, options.seed)
    console.say(_text(plan, played))
    if options.figure is not None:
        from flashtrain.training.offload.figure import draw_plan  # takes a second to import

        title = f"{plan.model}, link {options.link}"
        draw_plan(profile, played.timeline, plan.storage.memory_bytes, options.figure, title)
        console.say(f"{options.figure}")
    console.document(_document(plan, played))
    return 0


def _text(plan: Plan, played: Played) -> str:
    timeline = played.timeline
    lines = [
        f"{plan.model}: {len(plan.tensors)} tensors written, {gigabytes(played.written_bytes)}; those read,"
        f" {gigabytes(played.read_bytes)}, came back unchanged",
        f"memory     {gigabytes(timeline.peak_bytes)} at most; predicted {gigabytes(plan.peak_bytes)}",
    ]
    if not timeline.seconds:
        return "\n".join([*lines, "iteration  no time on this link (--link model, --link rtl)"])
    lines.append(
        f"iteration  {seconds_text(timeline.seconds)}; predicted {seconds_text(plan.seconds)},"
        f" {plan.seconds / timeline.seconds - 1:+.2%}"
    )
    return "\n".join(lines)


def _document(plan: Plan, played: Played) -> dict[str, object]:
    timeline = played.timeline
    return {
        "model": plan.model,
        "predicted_seconds": plan.seconds,
        "seconds": timeline.seconds or None,
        "predicted_peak_bytes": plan.peak_bytes,
        "peak_bytes": timeline.peak_bytes,
        "written_bytes": played.written_bytes,
        "read_bytes": played.read_bytes,
    }
