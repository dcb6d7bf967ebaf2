"""`flashtrain offload plan`: a plan from a profile."""

import argparse
from pathlib import Path
from statistics import median

from flashtrain.platform.offload_storages import OFFLOAD_STORAGES
from flashtrain.spec.streams import SINGLE_NODE
from flashtrain.training.offload import Plan, Profile, Storage, save_plan
from flashtrain.training.offload.measure import measured_storage
from flashtrain.training.offload.plan_file import plan_document
from flashtrain.training.offload.published import FLASHNEURON, flashneuron_plan
from flashtrain.training.offload.schedule import OURS, offload_plan

from .command import add_configuration, add_json, add_link, configuration
from .console import Console
from .device import device_for
from .offload_arguments import add_least_bytes, add_memory, add_profile, profile_of
from .offload_text import plan_text
from .outputs import figure_file, output_file

MEASURED = "measured"
SCHEDULES = {OURS: offload_plan, FLASHNEURON: flashneuron_plan}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_profile(parser)
    known = "; ".join(f"{each.name}: {each.summary}" for each in OFFLOAD_STORAGES.values())
    parser.add_argument(
        "--storage", choices=[*OFFLOAD_STORAGES, MEASURED], default="fms", metavar="NAME",
        help=f"{known}; measured: the device of --link, measured first (default: fms)",
    )  # fmt: skip
    add_memory(parser)
    parser.add_argument("--schedule", choices=list(SCHEDULES), default=OURS, help="(default: ours)")
    add_least_bytes(parser)
    parser.add_argument("--out", type=output_file, metavar="FILE", help="write the plan")
    parser.add_argument(
        "--figure", type=figure_file, metavar="FILE", help="draw its timeline (png, svg, pdf)"
    )
    add_configuration(parser, default="behemoth")
    add_link(parser, default="model")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    profile = profile_of(options)
    storage = _storage(options, profile, console)
    plan = SCHEDULES[options.schedule](profile, storage, least_bytes=options.least_bytes)
    console.say(plan_text(plan, profile))
    if options.out is not None:
        save_plan(plan, options.out)
        console.say(f"{options.out}")
    if options.figure is not None:
        _draw(plan, profile, options.figure)
        console.say(f"{options.figure}")
    console.document(plan_document(plan))
    return 0


def _storage(options: argparse.Namespace, profile: Profile, console: Console) -> Storage:
    if options.storage != MEASURED:
        return OFFLOAD_STORAGES[options.storage].make(configuration(options), options.memory)
    typical = int(median(tensor.bytes for tensor in profile.tensors)) if profile.tensors else 1
    with device_for(options, SINGLE_NODE, console) as device:
        return measured_storage(device, options.memory, typical)


def _draw(plan: Plan, profile: Profile, path: Path) -> None:
    from flashtrain.training.offload.drafts import timeline_of
    from flashtrain.training.offload.figure import draw_plan  # takes a second to import

    title = f"{plan.model}, {plan.storage.name}, schedule {plan.schedule}"
    draw_plan(profile, timeline_of(plan, profile), plan.storage.memory_bytes, path, title)
