"""A storage of training tensors beside which other work of the device goes on."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from flashtrain.host import Device, StoredArray
from flashtrain.spec import Port
from flashtrain.training.arrays import Array
from flashtrain.training.awaited import Awaited, Progress
from flashtrain.training.commits import Commits
from flashtrain.training.sequence import StreamRole, TensorInfo
from flashtrain.training.tensors import DeviceStorage

DoneT = TypeVar("DoneT")
ValueT = TypeVar("ValueT")


class _Beside(Awaited[DoneT, ValueT], Generic[DoneT, ValueT]):
    """An operation during whose wait other work goes on."""

    def __init__(self, device: Device, awaited: Awaited[DoneT, ValueT], advance: Callable[[], None]) -> None:
        super().__init__(device, awaited._pending, awaited._finish)
        self._advance = advance

    def wait_beside(self, others: Sequence[Progress]) -> None:
        def reached() -> bool:
            self._advance()
            return self.done or any(other.done for other in others)

        self._device.wait_until(reached)


class BusyStorage(DeviceStorage):
    """All streams on one device; `advance` is called while the training waits, to go on with other work."""

    def __init__(self, device: Device, commits: Commits, advance: Callable[[], None]) -> None:
        super().__init__(dict.fromkeys(StreamRole, device), commits)
        self._device = device
        self._advance = advance

    def append(self, tensor: TensorInfo, array: Array, port: Port) -> Awaited[StoredArray, None]:
        return _Beside(self._device, super().append(tensor, array, port), self._advance)

    def read(self, tensor: TensorInfo, port: Port) -> Awaited[Array, Array]:
        return _Beside(self._device, super().read(tensor, port), self._advance)

    def update(
        self, tensors: Sequence[TensorInfo], gradients: Sequence[Array], constants: Array, port: Port
    ) -> Awaited[Any, bool | None]:
        return _Beside(self._device, super().update(tensors, gradients, constants, port), self._advance)
