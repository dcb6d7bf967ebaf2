"""`flashtrain trace`: block traces, and their replay on the flash memory system."""

import argparse
import time
from pathlib import Path

from flashtrain.spec import ConfigError
from flashtrain.traces import (
    FORMATS,
    WRITABLE,
    BlockTrace,
    Devices,
    Operation,
    load_trace,
    pattern_format,
    save_trace,
)
from flashtrain.traces.files import TraceFormat, records_of
from flashtrain.traces.replay import TRACE_NODE, ZonedPlayer
from flashtrain.traces.zoned import zoned_commands

from .command import Command, add_configuration, add_json, add_link, at_least_one, configuration
from .console import Console
from .device import device_for
from .image import add_image, require_new_image
from .outputs import output_file

GB = 1e9


def add_trace(parser: argparse.ArgumentParser) -> None:
    """`FILE` and the options that say how it is read; see :func:`trace_of`."""
    parser.add_argument("file", type=Path, help="block trace to read; it may be compressed")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=list(FORMATS), metavar="NAME", dest="file_format",
        help=f"of the file: {', '.join(FORMATS)} (default: as its first line looks)",
    )  # fmt: skip
    form.add_argument(
        "--pattern", type=_pattern, metavar="REGEX",
        help="another format: a regular expression with named groups (docs/traces.md)",
    )  # fmt: skip
    devices = parser.add_mutually_exclusive_group()
    devices.add_argument("--device", default="", metavar="NAME", help="take the commands of this device")
    devices.add_argument(
        "--spread", action="store_true", help="take all devices, one behind the other in one address space"
    )
    parser.add_argument(
        "--most", type=at_least_one, metavar="N", help="take the first N commands (default: all)"
    )


def _pattern(text: str) -> TraceFormat:
    try:
        return pattern_format(text)
    except ConfigError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def trace_of(options: argparse.Namespace) -> BlockTrace:
    """The trace of the command line; :class:`TraceError` names the first bad line."""
    devices = Devices(options.device, options.spread, options.most)
    return load_trace(options.file, options.pattern or options.file_format, devices)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    replay = actions.add_parser("replay", help="write and read the flash as a trace says; check all data")
    add_trace(replay)
    replay.add_argument(
        "--depth", type=at_least_one, default=32, metavar="N", help="commands in flight (default: 32)"
    )
    add_configuration(replay)
    add_link(replay)
    add_image(replay)
    replay.set_defaults(action=_replay)
    add_json(replay)

    show = actions.add_parser("show", help="commands and bytes of a trace")
    add_trace(show)
    show.set_defaults(action=_show)
    add_json(show)

    convert = actions.add_parser("convert", help="write a trace in another format")
    add_trace(convert)
    convert.add_argument("output", type=output_file, help="file to write")
    convert.add_argument("--to", choices=WRITABLE, default="fio", metavar="NAME", help="default: fio")
    convert.set_defaults(action=_convert)
    add_json(convert)


def run(options: argparse.Namespace, console: Console) -> int:
    return options.action(options, console)


def _replay(options: argparse.Namespace, console: Console) -> int:
    trace, config = trace_of(options), configuration(options)
    for _ in zoned_commands(trace, config.geometry):
        pass  # a bad line is found before a device is built
    require_new_image(options.image)
    with device_for(options, TRACE_NODE, console) as device:
        started = time.monotonic()
        run_of = ZonedPlayer(trace, device, options.depth).run(
            lambda done: console.progress(f"command {done + 1} of {len(trace)}")
        )
        wall = time.monotonic() - started
    seconds = run_of.cycles / config.timing.clock_hz
    console.say(
        f"{run_of.commands:,} commands: {run_of.written_bytes:,} bytes written, {run_of.read_bytes:,} read,"
        f" all as written; {run_of.zones_reset} zones reset"
    )
    if seconds:
        rate = (run_of.written_bytes + run_of.read_bytes) / seconds
        console.say(
            f"simulated {seconds * 1e3:.3f} ms in {wall:.1f} s: {rate / GB:.3f} GB/s, both ways together"
        )
    console.document(
        {
            "file": str(options.file),
            "configuration": config.name,
            "commands": run_of.commands,
            "written_bytes": run_of.written_bytes,
            "read_bytes": run_of.read_bytes,
            "zones_reset": run_of.zones_reset,
            "cycles": run_of.cycles,
            "wall_seconds": wall,
        }
    )
    return 0


def _show(options: argparse.Namespace, console: Console) -> int:
    trace = trace_of(options)
    ops = trace.records["op"]
    counts = {op.name.lower(): int((ops == op).sum()) for op in Operation}
    sizes = {op.name.lower(): trace.bytes_of(op) for op in Operation if op is not Operation.FLUSH}
    seconds = int(trace.records["time"][-1] - trace.records["time"][0]) / 1e9
    console.say(f"{options.file}: {len(trace):,} commands in {seconds:.6f} s, sectors 0 to {trace.end:,}")
    if len(trace.devices) > 1:
        places = ", ".join(f"{name} from {begin:,}" for name, begin in trace.devices.items())
        console.say(f"devices behind each other, first sectors: {places}")
    for name, count in counts.items():
        size = f", {sizes[name]:,} bytes" if name in sizes else ""
        console.say(f"{name:6} {count:,}{size}")
    console.document(
        {
            "file": str(options.file),
            "commands": counts,
            "bytes": sizes,
            "seconds": seconds,
            "devices": trace.devices,
        }
    )
    return 0


def _convert(options: argparse.Namespace, console: Console) -> int:
    trace = trace_of(options)
    written = save_trace(options.output, records_of(trace), options.to)
    left_out = f"; {len(trace) - written:,} left out, which it cannot express" if written < len(trace) else ""
    console.say(f"{options.output}: {written:,} commands in format {options.to}{left_out}")
    console.document({"file": str(options.output), "commands": written, "format": options.to})
    return 0


COMMAND = Command(
    examples="""\
  flashtrain trace show mlp.log
  flashtrain trace show hm_0.csv.gz --most 1000000
  flashtrain trace show volumes.csv --pattern '(?P<us>\\d+) (?P<op>[RW]) (?P<lba>\\d+) (?P<sectors>\\d+)'
  flashtrain trace replay mlp.log --link functional --preset small
  flashtrain trace convert mlp.log mlp.txt --to mqsim
""",
    add_arguments=add_arguments,
    run=run,
)
