"""What a training run was told is stored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flashtrain.host import Device, StoredArray
from flashtrain.spec import Port
from flashtrain.training.arrays import Array
from flashtrain.training.awaited import Awaited
from flashtrain.training.sequence import StreamRole, TensorInfo
from flashtrain.training.tensors import DeviceStorage


@dataclass(frozen=True)
class _Versions:
    """Of a tensor: where the version before the last append lies, what it holds, and what was appended."""

    before: StoredArray | None
    held: Array | None
    appended: Array


class RememberingStorage(DeviceStorage):
    """A storage that keeps a copy of each tensor that was appended."""

    def __init__(self, devices: Mapping[StreamRole, Device]) -> None:
        super().__init__(devices)
        self._remembered: dict[TensorInfo, _Versions] = {}

    def append(self, tensor: TensorInfo, array: Array, port: Port) -> Awaited[StoredArray, None]:
        self._remembered[tensor] = _Versions(self._handle(tensor), self._held(tensor), array.copy())
        return super().append(tensor, array, port)

    def acknowledged(self, role: StreamRole) -> Iterator[tuple[StoredArray, Array]]:
        """Tensors of a stream that the device has acknowledged: where they lie, and what they hold."""
        for tensor in self._remembered:
            handle, array = self._handle(tensor), self._held(tensor)
            if tensor.stream is role and handle is not None and array is not None:
                yield handle, array

    def _held(self, tensor: TensorInfo) -> Array | None:
        """What the current version holds."""
        versions = self._remembered.get(tensor)
        if versions is None:
            return None
        return versions.held if self._handle(tensor) is versions.before else versions.appended

    def _handle(self, tensor: TensorInfo) -> StoredArray | None:
        """Where the current version lies."""
        store = self._store(tensor.stream)
        return store.handle(tensor.name) if tensor.name in store.names else None
