"""Records where the time goes while a benchmark measures."""

from collections.abc import Sequence

from flashtrain.host import Device

from .array_work import ArrayWork
from .die_time import DeviceTracer, array_shares
from .time_use import TimeUse
from .usage import Snapshot


class UseRecorder:
    """An `ArrayRecorder` that takes counters and buses down, too.

    After :meth:`stop`, `use` is the use of the time since :meth:`start`. Reading the counters takes cycles,
    in which the device works as before.
    """

    def __init__(self, device: Device, tracer: DeviceTracer) -> None:
        self.use: TimeUse | None = None
        self._device = device
        self._tracer = tracer
        self._begin = 0
        self._before: Snapshot | None = None

    def start(self) -> None:
        self._tracer.start()
        self._begin = self._device.cycles
        self._before = Snapshot.of(self._device)

    def stop(self) -> Sequence[ArrayWork]:
        """The operations of arrays that ended since :meth:`start`."""
        if self._before is None:
            raise RuntimeError("stop without start")
        usage = Snapshot.of(self._device).since(self._before)
        trace = self._tracer.stop()
        arrays = array_shares(trace, self._begin, self._device.config.geometry.dies)
        self.use = TimeUse(usage.bus_shares(), arrays, usage.stall_shares())
        return trace.arrays
