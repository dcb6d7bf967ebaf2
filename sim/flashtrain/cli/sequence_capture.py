"""`flashtrain sequence capture`: the training command sequence of a model of PyTorch."""

import argparse

from flashtrain.training.optimizers import OPTIMIZERS
from flashtrain.training.sequence import UpdatePlace, save_sequence

from .capture_options import add_capture, capture_document, capture_text, captured, processor
from .command import add_json, add_overlap, add_update
from .console import Console
from .outputs import output_file


def add_sequence_capture(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser("capture", help="make the sequence of a model of PyTorch")
    add_capture(parser)
    add_update(parser)
    add_overlap(parser)
    parser.add_argument("--out", type=output_file, metavar="FILE", required=True, help="file to write")
    parser.set_defaults(action=_capture)
    add_json(parser)


def _capture(options: argparse.Namespace, console: Console) -> int:
    rates = processor(options)
    capture = captured(options, console)
    optimizer, update = OPTIMIZERS[options.optimizer], UpdatePlace(options.update)
    sequence = capture.sequence(optimizer, update, rates, options.overlap)
    save_sequence(sequence, options.out)
    console.say(capture_text(capture))
    steps = sequence.iteration_steps
    console.say(f"{options.out}: {options.out.stat().st_size:,} bytes, {steps:,} steps per iteration")
    console.document({**capture_document(capture), "file": str(options.out), "steps": steps})
    return 0
