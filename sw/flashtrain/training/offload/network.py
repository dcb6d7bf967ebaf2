"""A network captured at any batch: its work and its tensors, of which a profile of each batch is made.

Sizes and work of a network are linear in the batch, so two captures determine all. A file is one JSON object
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

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flashtrain.training.errors import OffloadError
from flashtrain.training.json_file import read_json, write_json
from flashtrain.training.json_node import Node
from flashtrain.training.offload.processor import V100, Processor, Work
from flashtrain.training.offload.profile import Phase, Profile, ProfiledOperation, SavedTensor

FORMAT = "flashtrain-network"
VERSION = 1

FLOAT_BYTES = 4

STATE_BYTES = 16
"""Resident for a parameter: weight, gradient and two moments of Adam, all FP32."""

UPDATE_BYTES = 28
"""Moved for a parameter by a step of Adam: weight and moments both ways, and the gradient."""

UPDATE = "optimizer"
"""The name of the operation that updates all parameters, the last one of an iteration."""

FOLDER = Path(__file__).with_name("networks")
"""The networks that come with the package, a file each."""


@dataclass(frozen=True)
class Linear:
    """`fixed` + `each` times the batch."""

    fixed: int
    each: int

    @classmethod
    def through(cls, batches: tuple[int, int], values: tuple[int, int], what: str) -> "Linear":
        """The line through two values; `OffloadError` if its slope is no integer."""
        each, rest = divmod(values[1] - values[0], batches[1] - batches[0])
        if rest:
            raise OffloadError(f"{what}: {values} at batches {batches}; expected values linear in the batch")
        return cls(values[0] - each * batches[0], each)

    def at(self, batch: int) -> int:
        return self.fixed + self.each * batch


@dataclass(frozen=True)
class Kernel:
    """The work of a kernel."""

    flops: Linear
    bytes: Linear

    def at(self, batch: int) -> Work:
        return Work(self.flops.at(batch), self.bytes.at(batch))


@dataclass(frozen=True)
class NetworkOperation:
    """An operation: the kernels of one module that no other module interrupts, in one direction."""

    name: str
    phase: Phase
    kernels: tuple[Kernel, ...]


@dataclass(frozen=True)
class NetworkTensor:
    """A saved storage, as `SavedTensor`."""

    name: str
    bytes: Linear
    made: int
    released: int
    uses: tuple[int, ...]
    element_bytes: int
    relu: bool

    def at(self, batch: int, ratios: Mapping[str, float]) -> SavedTensor:
        return SavedTensor(
            self.name, self.bytes.at(batch), self.made, self.uses, self.released, self.element_bytes,
            self.relu, ratios,
        )  # fmt: skip


@dataclass(frozen=True)
class Network:
    """A captured network.

    - `source`: the packages that define it.
    - `resident`: bytes that always stay in memory, beside `STATE_BYTES` for each of the `parameters`.
    - `ratios`: bytes per byte stored of the codecs, for tensors of FP32; others are raw.
    """

    model: str
    source: str
    parameters: int
    resident: Linear
    operations: tuple[NetworkOperation, ...]
    tensors: tuple[NetworkTensor, ...]
    ratios: Mapping[str, float] = field(default_factory=dict, hash=False)

    def profile(self, batch: int, processor: Processor = V100) -> Profile:
        """An iteration of `batch` examples with Adam. Raises `OffloadError` for a batch below 1."""
        if batch < 1:
            raise OffloadError(f"batch: expected at least 1, got {batch}")
        operations = [
            ProfiledOperation(
                each.name, processor.seconds(kernel.at(batch) for kernel in each.kernels), each.phase
            )
            for each in self.operations
        ]
        update = processor.seconds([Work(0, UPDATE_BYTES * self.parameters)])
        operations.append(ProfiledOperation(UPDATE, update, Phase.BACKWARD))
        tensors = tuple(
            tensor.at(batch, self.ratios if tensor.element_bytes == FLOAT_BYTES else {})
            for tensor in self.tensors
        )
        resident = STATE_BYTES * self.parameters + self.resident.at(batch)
        return Profile(self.model, batch, tuple(operations), tensors, resident)


def network_names() -> list[str]:
    """The networks that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def network_named(name: str) -> Network:
    """The network of that name; `OffloadError` names the known ones."""
    if name not in network_names():
        raise OffloadError(f"no network {name!r}; expected one of {', '.join(network_names())}")
    return load_network(FOLDER / f"{name}.json")


def save_network(network: Network, path: Path) -> None:
    """Write `network`; equal networks give equal bytes. Raises `OffloadError` if that fails."""
    write_json(path, _document(network), OffloadError, indent=None)


def load_network(path: Path) -> Network:
    """Read a network. Raises `OffloadError` that names the file, the key and what was expected."""
    return read_json(path, _network, OffloadError)


def is_network(path: Path) -> bool:
    """Whether the file says that it is one; errors are for whoever reads it."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return FORMAT in file.read(80)
    except OSError:
        return False


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
        _linear(resident),
        operations.items(_operation),
        tensors.items(_tensor),
        ratios.members(Node.positive_number),
    )


def _operation(node: Node) -> NetworkOperation:
    name, phase, work = node.keys("name", "phase", "work")
    return NetworkOperation(name.name(), phase.member_of(Phase), work.items(_kernel))


def _kernel(node: Node) -> Kernel:
    pair = node.items(_linear)
    if len(pair) != 2:
        raise node.fail("the FLOPs and the bytes of a kernel")
    return Kernel(*pair)


def _tensor(node: Node) -> NetworkTensor:
    name, size, made, released, uses, element, relu = node.keys(
        "name", "bytes", "made", "released", "uses", "element_bytes", "relu"
    )
    return NetworkTensor(
        name.name(), _linear(size), made.count(), released.count(), uses.items(Node.count),
        element.positive(), relu.switch(),
    )  # fmt: skip


def _linear(node: Node) -> Linear:
    numbers = node.items(Node.integer)
    if len(numbers) != 2:
        raise node.fail("two integers, a and b of a + b times the batch")
    return Linear(*numbers)
