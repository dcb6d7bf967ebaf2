"""Captured networks as JSON files.

A file is one JSON object
(UTF-8)::

    {
      "format": "flashtrain-network", "version": 1,
      "model": "bert-large",
      "source": "transformers 5.24.0, torch 2.13.0",
      "parameters": 335174458,
      "resident": [...],            bytes beside the state of the optimizer: buffers and workspace
      "ratios": {"window32": 1.16}, of the codecs on tensors of FP32; none if none is known
      "operations": [{"name": "...", "phase": "forward", "work": [[...], [...]]}, ...],
      "tensors": [{"name": "saved/0", "bytes": [...], "made": 0, "released": 0, "uses": [7],
                   "element_bytes": 4, "relu": false}, ...]
    }

A pair ``[a, b]`` stands for a + b times the batch. ``work`` has for each kernel FLOPs and bytes, as one list
of two pairs. The other keys are as in a profile. All are required, and no others are allowed.
"""

from pathlib import Path
from typing import Any

from flashtrain.reading import Node, begins_with, read_document
from flashtrain.training.errors import OffloadError
from flashtrain.training.json_file import write_json
from flashtrain.training.offload.network import Kernel, Linear, Network, NetworkOperation, NetworkTensor
from flashtrain.training.offload.profile import Phase

FORMAT = "flashtrain-network"
VERSION = 1

FOLDER = Path(__file__).with_name("networks")
"""The networks that come with the package, a file each."""


def network_names() -> list[str]:
    """The networks that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def network_named(name: str) -> Network:
    """The network of that name; `OffloadError` names the known ones."""
    if name not in network_names():
        raise OffloadError(f"no network {name!r}; expected one of {', '.join(network_names())}")
    return load_network(FOLDER / f"{name}.json")


def save_network(network: Network, path: Path) -> None:
    """Write `network`; equal networks give equal bytes. Raises `OutputError` if that fails."""
    write_json(path, _document(network), indent=None)


def load_network(path: Path) -> Network:
    """Read a network. Raises `InputError` that names the file, the key and what was expected."""
    return read_document(path, _network)


def is_network(path: Path) -> bool:
    """Whether the file says that it is one; errors are for whoever reads it."""
    return begins_with(path, FORMAT.encode())


def _document(network: Network) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": network.model,
        "source": network.source,
        "parameters": network.parameters,
        "resident": _pair(network.resident),
        "ratios": dict(network.ratios),
        "operations": [
            {
                "name": each.name,
                "phase": each.phase.value,
                "work": [[_pair(kernel.flops), _pair(kernel.bytes)] for kernel in each.kernels],
            }
            for each in network.operations
        ],
        "tensors": [
            {
                "name": each.name,
                "bytes": _pair(each.bytes),
                "made": each.made,
                "released": each.released,
                "uses": list(each.uses),
                "element_bytes": each.element_bytes,
                "relu": each.relu,
            }
            for each in network.tensors
        ],
    }


def _pair(linear: Linear) -> list[int]:
    return [linear.fixed, linear.each]


def _network(document: Node) -> Network:
    document.member("format").exactly(FORMAT)
    document.member("version").exactly(VERSION)
    _, _, model, source, parameters, resident, ratios, operations, tensors = document.keys(
        "format", "version", "model", "source", "parameters", "resident", "ratios", "operations", "tensors"
    )
    return Network(
        model.name(),
        source.text(),
        parameters.positive(),
        linear(resident),
        operations.items(_operation),
        tensors.items(_tensor),
        ratios.members(Node.positive_number),
    )


def _operation(node: Node) -> NetworkOperation:
    name, phase, work = node.keys("name", "phase", "work")
    return NetworkOperation(name.name(), phase.member_of(Phase), work.items(_kernel))


def _kernel(node: Node) -> Kernel:
    pair = node.items(linear)
    if len(pair) != 2:
        raise node.fail("the FLOPs and the bytes of a kernel")
    return Kernel(*pair)


def _tensor(node: Node) -> NetworkTensor:
    name, size, made, released, uses, element, relu = node.keys(
        "name", "bytes", "made", "released", "uses", "element_bytes", "relu"
    )
    return NetworkTensor(
        name.name(), linear(size), made.count(), released.count(), uses.items(Node.count),
        element.positive(), relu.switch(),
    )  # fmt: skip


def linear(node: Node) -> Linear:
    """The numbers a and b of a + b times the batch."""
    numbers = node.items(Node.integer)
    if len(numbers) != 2:
        raise node.fail("two integers, a and b of a + b times the batch")
    return Linear(*numbers)
