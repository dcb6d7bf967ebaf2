"""A stretch of the event trace, from one moment to another."""

from numpy.typing import NDArray

from flashtrain.host import Link
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import FlashtrainError


class NoTrace(FlashtrainError):
    """The Link records no events."""


class TraceWindow:
    """Records the events of an RTL Link between two calls; :class:`NoTrace` for another."""

    def __init__(self, link: Link) -> None:
        if not isinstance(link, RtlLink):
            raise NoTrace(f"a {type(link).__name__} records no events; expected an RtlLink")
        self._link = link

    def start(self) -> None:
        self._link.take_trace()
        self._link.set_tracing(True)

    def records(self) -> NDArray:
        """Stop; the records since :meth:`start`, of type `rtl_link.TRACE_RECORD`."""
        self._link.set_tracing(False)
        return self._link.take_trace()
