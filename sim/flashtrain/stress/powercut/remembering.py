"""A storage with copies of all tensors that a training run has appended."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    """A storage that keeps a copy of each tensor that was appended; `on_append` is called before that is."""

    def __init__(self, devices: Mapping[StreamRole, Device]) -> None:
        super().__init__(devices)
        self._remembered: dict[TensorInfo, _Versions] = {}
        self._appended: dict[StreamRole, list[Array]] = {}
        self.on_append: Callable[[StreamRole], None] = lambda role: None

    def append(self, tensor: TensorInfo, array: Array, port: Port) -> Awaited[StoredArray, None]:
        versions = _Versions(self._handle(tensor), self._held(tensor), array.copy())
        self._remembered[tensor] = versions
        if tensor.stream is not None:
            self._appended.setdefault(tensor.stream, []).append(versions.appended)
            self.on_append(tensor.stream)
        return super().append(tensor, array, port)

    def acknowledged(self, role: StreamRole) -> Iterator[tuple[StoredArray, Array]]:
        """Tensors of a stream that the device has acknowledged: where they lie, and what they hold."""
        for tensor in self._remembered:
            handle, array = self._handle(tensor), self._held(tensor)
            if tensor.stream is role and handle is not None and array is not None:
                yield handle, array

    def appended(self, role: StreamRole) -> Sequence[Array]:
        """All that ever was appended to a stream, or begun to be."""
        return self._appended.get(role, [])

    def _held(self, tensor: TensorInfo) -> Array | None:
        """The array of the current version."""
        versions = self._remembered.get(tensor)
        if versions is None:
            return None
        return versions.held if self._handle(tensor) is versions.before else versions.appended

    def _handle(self, tensor: TensorInfo) -> StoredArray | None:
        """Where the current version lies."""
        store = self._store(tensor.stream)
        return store.handle(tensor.name) if tensor.name in store.names else None
