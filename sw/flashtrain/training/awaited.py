"""Results of storage operations that are under way."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

ValueT = TypeVar("ValueT")
DoneT = TypeVar("DoneT")
ResultT = TypeVar("ResultT", covariant=True)


class UnderWay(Protocol[ResultT]):
    """An operation of the driver that was begun."""

    @property
    def done(self) -> bool: ...

    def result(self) -> ResultT: ...


class Awaited(Generic[DoneT, ValueT]):
    """An operation of the driver, and what is to be done, once, with its result."""

    def __init__(self, pending: UnderWay[DoneT], finish: Callable[[DoneT], ValueT]) -> None:
        self._pending = pending
        self._finish = finish

    @property
    def done(self) -> bool:
        """Whether the device has finished."""
        return self._pending.done

    def result(self) -> ValueT:
        """Wait for the device; raises its errors."""
        return self._finish(self._pending.result())


class Finished:
    """An operation that has ended when its call returns."""

    done = True

    def result(self) -> None:
        """Nothing: it has ended well."""
