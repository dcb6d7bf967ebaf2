"""The work of the arrays and the buses, from the event trace."""

from collections.abc import Iterable

from flashtrain.perf.array_work import ArrayKind, ArrayWork
from flashtrain.perf.die_time import BusKind, BusWork, DeviceTrace
from flashtrain.sim.trace.trace import Kind
from flashtrain.sim.trace.window import TraceWindow

_ARRAY = {Kind.SENSE: ArrayKind.SENSE, Kind.PROGRAM: ArrayKind.PROGRAM, Kind.ERASE: ArrayKind.ERASE}
_BUS = {
    Kind.COMMAND: BusKind.COMMAND,
    Kind.DATA_IN: BusKind.DATA_IN,
    Kind.DATA_OUT: BusKind.DATA_OUT,
    Kind.STATUS: BusKind.STATUS,
}


class ArrayTrace(TraceWindow):
    """A `flashtrain.perf.array_work.ArrayRecorder` on the RTL Link."""

    def stop(self) -> list[ArrayWork]:
        """The operations that ended since :meth:`start`."""
        return _array_work(self.records().tolist())


class DeviceTraceWindow(TraceWindow):
    """A `flashtrain.perf.die_time.DeviceTracer` on the RTL Link."""

    def stop(self) -> DeviceTrace:
        records = self.records().tolist()
        buses = [
            BusWork(_BUS[Kind(kind)], start, end, channel, die)
            for start, end, kind, channel, die, _detail in records
            if kind in _BUS
        ]
        return DeviceTrace(_array_work(records), buses)


def _array_work(records: Iterable[tuple[int, int, int, int, int, int]]) -> list[ArrayWork]:
    return [
        ArrayWork(_ARRAY[Kind(kind)], start, end, channel, die, detail.bit_count())
        for start, end, kind, channel, die, detail in records
        if kind in _ARRAY
    ]
