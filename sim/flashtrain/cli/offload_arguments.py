"""Arguments of `flashtrain offload`: profiles, and bytes of memory."""

import argparse
import re
from pathlib import Path

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import Profile, load_profile
from flashtrain.training.offload.flashneuron import LEAST_BYTES
from flashtrain.training.offload.samples import SAMPLES

from .command import at_least_one

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}i": 1 << 10 * power for power, unit in enumerate("KMGT", start=1)}


def add_profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "profile",
        help=f"a profile file (.json), or a network by formula: {', '.join(SAMPLES)}",
    )
    parser.add_argument(
        "--batch", type=at_least_one, metavar="N", help="examples, of a network by formula (default: 1)"
    )


def add_memory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--memory", type=byte_size, default=byte_size("16GB"), metavar="BYTES",
        help="of the machine that trains, such as 16GB or 512KiB (default: 16GB)",
    )  # fmt: skip


def add_least_bytes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--least-bytes", type=byte_size, default=LEAST_BYTES, metavar="BYTES",
        help="FlashNeuron keeps smaller tensors in memory (default: 1MiB)",
    )  # fmt: skip


def profile_of(options: argparse.Namespace) -> Profile:
    """The profile that the options ask for."""
    if options.profile in SAMPLES:
        return SAMPLES[options.profile].profile(options.batch or 1)
    if not options.profile.endswith(".json"):
        known = ", ".join(SAMPLES)
        raise OffloadError(f"{options.profile!r}: expected a profile file (.json), or one of {known}")
    if options.batch is not None:
        raise OffloadError(f"{options.profile}: a file has its batch; expected no --batch")
    return load_profile(Path(options.profile))


def byte_size(text: str) -> int:
    """Bytes, with a unit if there is one, for `argparse`."""
    match = re.fullmatch(r"([0-9.]+) ?([kMGT]?|[KMGT]i)B?", text)
    try:
        size = int(float(match[1]) * UNITS[match[2]]) if match else 0
    except ValueError:
        size = 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"expected bytes such as 16GB or 512KiB, got {text!r}")
    return size
