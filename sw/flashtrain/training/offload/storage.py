"""The figures of a storage that a plan is made for."""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from flashtrain.reading import Node
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.profile import MOST_BYTES, SavedTensor

RAW = "raw"
"""The name of no codec: a byte is stored as a byte."""


@dataclass(frozen=True)
class SharedPart:
    """A part of a storage that writes and reads share, and the bytes per second that it does of one alone."""

    name: str
    write_bytes_per_second: float
    read_bytes_per_second: float


@dataclass(frozen=True)
class Storage:
    """A storage, and the memory beside it that tensors are offloaded from.

    - `memory_bytes`: of the machine that trains, all of it.
    - `write_bytes_per_second`, `read_bytes_per_second`: bytes as they are stored, of one kind alone.
    - `port_bytes_per_second`: bytes of tensors, before a codec, each way; None: no bound.
    - `write_seconds`, `read_seconds`: latency of a transfer beyond its bytes; the next transfer overlaps it.
    - `buffer_bytes`: of the write buffer, in bytes as they are stored.
    - `codecs`: names of the codecs that tensors may be stored with, beside `RAW`.
    - `shared`: parts that writes and reads share.
    """

    name: str
    memory_bytes: int
    write_bytes_per_second: float
    read_bytes_per_second: float
    port_bytes_per_second: float | None = None
    write_seconds: float = 0.0
    read_seconds: float = 0.0
    buffer_bytes: int = 0
    codecs: tuple[str, ...] = ()
    shared: tuple[SharedPart, ...] = ()

    def __post_init__(self) -> None:
        for name, least in (("memory_bytes", 1), ("buffer_bytes", 0)):
            count = getattr(self, name)
            if not least <= count <= MOST_BYTES:
                raise OffloadError(
                    f"{self.name}: {name} is {count}; expected at least {least}, at most {MOST_BYTES}"
                )
        rates: dict[str, float | None] = {
            "write_bytes_per_second": self.write_bytes_per_second,
            "read_bytes_per_second": self.read_bytes_per_second,
            "port_bytes_per_second": self.port_bytes_per_second,
        }
        for part in self.shared:
            rates[f"{part.name}: write_bytes_per_second"] = part.write_bytes_per_second
            rates[f"{part.name}: read_bytes_per_second"] = part.read_bytes_per_second
        for name, rate in rates.items():
            if rate is not None and not rate > 0:
                raise OffloadError(f"{self.name}: {name} is {rate}; expected more than 0")
        for name in ("write_seconds", "read_seconds"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise OffloadError(f"{self.name}: {name} is {getattr(self, name)}; expected 0 or more")

    def codec_for(self, tensor: SavedTensor) -> str:
        """The codec that stores the fewest bytes by measured ratios; `RAW` if none saves any."""
        best = max(self.codecs, key=lambda codec: tensor.ratios.get(codec, 0.0), default=RAW)
        return best if tensor.ratios.get(best, 0.0) > 1 else RAW

    def ratio(self, tensor: SavedTensor, codec: str) -> float:
        """Bytes of the tensor per byte stored; `OffloadError` for a codec that is not offered or measured."""
        if codec == RAW:
            return 1.0
        if codec not in self.codecs:
            offered = ", ".join((RAW, *self.codecs))
            raise OffloadError(f"tensor {tensor.name}: codec {codec}; {self.name} offers {offered}")
        if codec not in tensor.ratios:
            raise OffloadError(f"tensor {tensor.name}: no ratio of codec {codec}; expected a measured one")
        return tensor.ratios[codec]

    def port_time(self, tensor: SavedTensor) -> float:
        """Seconds in which the port carries a tensor."""
        return 0.0 if self.port_bytes_per_second is None else tensor.bytes / self.port_bytes_per_second

    def write_time(self, tensor: SavedTensor, codec: str) -> float:
        """Seconds of the data of a write alone, without a buffer."""
        stored = tensor.bytes / self.ratio(tensor, codec)
        return max(stored / self.write_bytes_per_second, self.port_time(tensor))

    def read_time(self, tensor: SavedTensor, codec: str) -> float:
        """Seconds of the data of a read alone."""
        stored = tensor.bytes / self.ratio(tensor, codec)
        return max(stored / self.read_bytes_per_second, self.port_time(tensor))


def storage_document(storage: Storage) -> dict[str, Any]:
    """The storage as a JSON object, its keys those of `Storage`."""
    return {**asdict(storage), "codecs": list(storage.codecs), "shared": [asdict(p) for p in storage.shared]}


def parse_storage(node: Node) -> Storage:
    """The storage of a JSON object; each fault raises an error with its path."""
    name, memory, write, read, port, write_latency, read_latency, buffer, codecs, shared = node.keys(
        "name", "memory_bytes", "write_bytes_per_second", "read_bytes_per_second", "port_bytes_per_second",
        "write_seconds", "read_seconds", "buffer_bytes", "codecs", "shared",
    )  # fmt: skip
    return Storage(
        name.name(),
        memory.positive(),
        write.positive_number(),
        read.positive_number(),
        None if port.value is None else port.positive_number(),
        write_latency.number(),
        read_latency.number(),
        buffer.count(),
        codecs.items(Node.name),
        shared.items(_shared_part),
    )


def _shared_part(node: Node) -> SharedPart:
    name, write, read = node.keys("name", "write_bytes_per_second", "read_bytes_per_second")
    return SharedPart(name.name(), write.positive_number(), read.positive_number())
