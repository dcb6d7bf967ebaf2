"""What the arrays did, taken from the event trace."""

from flashtrain.host import Link
from flashtrain.perf.array_work import ArrayKind, ArrayWork
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.sim.trace import Kind
from flashtrain.sim.trace_milestones import NoTrace

_KINDS = {Kind.SENSE: ArrayKind.SENSE, Kind.PROGRAM: ArrayKind.PROGRAM, Kind.ERASE: ArrayKind.ERASE}


class ArrayTrace:
    """A `flashtrain.perf.array_work.ArrayRecorder` on the RTL Link."""

    def __init__(self, link: Link) -> None:
        if not isinstance(link, RtlLink):
            raise NoTrace(f"a {type(link).__name__} records no events; expected an RtlLink")
        self._link = link

    def start(self) -> None:
        self._link.take_trace()
        self._link.set_tracing(True)

    def stop(self) -> list[ArrayWork]:
        """The operations that began since :meth:`start`."""
        self._link.set_tracing(False)
        return [
            ArrayWork(_KINDS[Kind(kind)], start, channel, die, detail.bit_count())
            for start, _end, kind, channel, die, detail in self._link.take_trace().tolist()
            if kind in _KINDS
        ]
