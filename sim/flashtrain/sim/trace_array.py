"""What the arrays did, taken from the event trace."""

from flashtrain.perf.array_work import ArrayKind, ArrayWork
from flashtrain.sim.trace import Kind
from flashtrain.sim.trace_window import TraceWindow

_KINDS = {Kind.SENSE: ArrayKind.SENSE, Kind.PROGRAM: ArrayKind.PROGRAM, Kind.ERASE: ArrayKind.ERASE}


class ArrayTrace(TraceWindow):
    """A `flashtrain.perf.array_work.ArrayRecorder` on the RTL Link."""

    def stop(self) -> list[ArrayWork]:
        """The operations that began since :meth:`start`."""
        return [
            ArrayWork(_KINDS[Kind(kind)], start, channel, die, detail.bit_count())
            for start, _end, kind, channel, die, detail in self.records().tolist()
            if kind in _KINDS
        ]
