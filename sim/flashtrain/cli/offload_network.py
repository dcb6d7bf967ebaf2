"""`flashtrain offload network`: a model of PyTorch at any batch, from captures of two."""

import argparse

from flashtrain.training.offload.network_file import save_network

from .capture_options import TARGET, capture_text
from .command import add_json, at_least_one
from .console import Console
from .outputs import output_file

BATCHES = (8, 16)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "--batches", type=at_least_one, nargs=2, default=BATCHES, metavar="N",
        help=f"two different batches, captured on the meta device (default: {BATCHES[0]} {BATCHES[1]})",
    )  # fmt: skip
    parser.add_argument("--out", type=output_file, metavar="FILE", required=True, help="file to write")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.torch.capturing.network import captured_network  # takes seconds to import
    from flashtrain.torch.capturing.target import capture_target

    captures = []
    for batch in options.batches:
        console.step(f"one iteration of {options.target}, batch {batch}")
        captures.append(capture_target(options.target, batch, meta=True))
        console.say(capture_text(captures[-1]))
    network = captured_network(*(capture.recording for capture in captures))
    save_network(network, options.out)
    console.say(f"{options.out}: {options.out.stat().st_size:,} bytes")
    console.document(
        {
            "model": network.model,
            "batches": list(options.batches),
            "parameters": network.parameters,
            "operations": len(network.operations),
            "tensors": len(network.tensors),
            "file": str(options.out),
        }
    )
    return 0
