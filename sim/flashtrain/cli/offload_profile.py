"""`flashtrain offload profile`: operations and saved tensors of a model of PyTorch."""

import argparse

from flashtrain.training.offload import save_profile
from flashtrain.training.offload.processor import V100
from flashtrain.training.optimizers import OPTIMIZERS

from .capture_options import add_capture, capture_document, capture_text, captured, processor
from .command import add_json
from .console import Console
from .outputs import output_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_capture(parser)
    parser.add_argument(
        "--state", choices=("dies", "memory"), default="memory",
        help="where the state of the optimizer is: resident in memory, or on the dies (default: memory)",
    )  # fmt: skip
    parser.add_argument(
        "--ratios", action="store_true", help="measure how far the codecs compress saved tensors"
    )
    parser.add_argument("--out", type=output_file, metavar="FILE", required=True, help="file to write")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    rates = processor(options)
    if rates is None and not options.measure:
        rates = V100
    capture = captured(options, console, options.ratios)
    optimizer = OPTIMIZERS[options.optimizer] if options.state == "memory" else None
    profile = capture.profile(rates, optimizer)
    save_profile(profile, options.out)
    console.say(capture_text(capture))
    source = (
        f"medians of {options.measure} iterations"
        if rates is None
        else f"{rates.flops_per_second:.4g} FLOP/s and {rates.bytes_per_second:.4g} bytes/s"
    )
    console.say(f"{profile.seconds:.4g} s by {source}; {profile.resident_bytes:,} bytes resident")
    console.say(f"{options.out}: {options.out.stat().st_size:,} bytes")
    console.document(
        {
            **capture_document(capture),
            "seconds": profile.seconds,
            "resident_bytes": profile.resident_bytes,
            "fingerprint": profile.fingerprint,
            "file": str(options.out),
        }
    )
    return 0
