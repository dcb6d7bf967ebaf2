"""A stretch of the event trace, from one moment to another."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Link
from flashtrain.spec import FlashtrainError


@runtime_checkable
class Tracing(Protocol):
    """A Link that can record events; records are `flashtrain.sim.link.rtl_link.TRACE_RECORD`."""

    def set_tracing(self, on: bool) -> None: ...

    def take_trace(self) -> NDArray[np.void]: ...


class NoTrace(FlashtrainError):
    """The Link records no events."""


class TraceWindow:
    """Records the events of a Link between two calls; :class:`NoTrace` for one that has no time."""

    def __init__(self, link: Link) -> None:
        if not isinstance(link, Tracing):
            raise NoTrace(f"a {type(link).__name__} records no events; expected the RTL or the model")
        self._link = link

    def start(self) -> None:
        self._link.take_trace()
        self._link.set_tracing(True)

    def records(self) -> NDArray:
        """Stop; the records since :meth:`start`, of type `rtl_link.TRACE_RECORD`."""
        self._link.set_tracing(False)
        return self._link.take_trace()
