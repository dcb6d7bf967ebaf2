"""Results of storage operations that are under way."""

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from flashtrain.host import Device

ValueT = TypeVar("ValueT")
DoneT = TypeVar("DoneT")
ResultT = TypeVar("ResultT", covariant=True)


class Progress(Protocol):
    """Something that ends."""

    @property
    def done(self) -> bool: ...


class UnderWay(Progress, Protocol[ResultT]):
    """An operation of the driver that was begun."""

    def result(self) -> ResultT: ...


class Awaited(Generic[DoneT, ValueT]):
    """An operation of the driver on `device`, and what is to be done, once, with its result."""

    def __init__(self, device: Device, pending: UnderWay[DoneT], finish: Callable[[DoneT], ValueT]) -> None:
        self._device = device
        self._pending = pending
        self._finish = finish

    @property
    def done(self) -> bool:
        """Whether the device has finished."""
        return self._pending.done

    def wait_beside(self, others: Sequence[Progress]) -> None:
        """Wait until the device has finished this operation, or one of `others` is done."""
        self._device.wait_until(lambda: self.done or any(other.done for other in others))

    def result(self) -> ValueT:
        """Wait for the device; raises its errors."""
        return self._finish(self._pending.result())


class Finished:
    """An operation that has ended when its call returns."""

    done = True

    def wait_beside(self, others: Sequence[Progress]) -> None:
        """Return at once."""

    def result(self) -> None:
        """Nothing: it has ended well."""
