"""Arguments of `flashtrain offload`: profiles, and bytes of memory."""

import argparse
import re
from pathlib import Path

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import Profile, load_profile
from flashtrain.training.offload.accumulation import Batches
from flashtrain.training.offload.flashneuron import LEAST_BYTES
from flashtrain.training.offload.network_file import is_network, load_network, network_named, network_names
from flashtrain.training.offload.profile import MOST_BYTES
from flashtrain.training.offload.samples import SAMPLES

from .command import at_least_one

_NAMES = (*SAMPLES, *network_names())

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}i": 1 << 10 * power for power, unit in enumerate("KMGT", start=1)}


def add_profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "profile",
        help=f"a file of `offload profile` or `offload network` (.json), or a network: {', '.join(_NAMES)}",
    )
    parser.add_argument("--batch", type=at_least_one, metavar="N", help="examples of a network (default: 1)")


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
    batches = batches_of(options)
    if batches is not None:
        return batches(options.batch or 1)
    if options.batch is not None:
        raise OffloadError(f"{options.profile}: a profile has its batch; expected no --batch, or a network")
    return load_profile(Path(options.profile))


def batches_of(options: argparse.Namespace) -> Batches | None:
    """The profiles of the network that the options name, at each batch; None for the file of a profile."""
    name, path = options.profile, Path(options.profile)
    if name in _NAMES:
        return SAMPLES[name].profile if name in SAMPLES else network_named(name).profile
    if not name.endswith(".json"):
        raise OffloadError(f"{name!r}: expected a file (.json), or one of {', '.join(_NAMES)}")
    return load_network(path).profile if is_network(path) else None


def byte_size(text: str) -> int:
    """Bytes, with a unit if there is one, for `argparse`."""
    match = re.fullmatch(r"([0-9.]{1,30}) ?([kMGT]?|[KMGT]i)B?", text)
    try:
        size = int(float(match[1]) * UNITS[match[2]]) if match else 0
    except ValueError:
        size = 0
    if not 0 < size <= MOST_BYTES:
        raise argparse.ArgumentTypeError(f"expected bytes such as 16GB or 512KiB, got {text!r}")
    return size
