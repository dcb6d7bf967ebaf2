"""Records where the time goes while a benchmark measures."""

from collections.abc import Sequence

from flashtrain.host import Device

from .array_work import ArrayWork
from .die_time import BusWork, DeviceTracer, array_shares
from .time_use import TimeUse
from .usage import Snapshot


class UseRecorder:
    """An `ArrayRecorder` that takes counters and buses down, too.

    After :meth:`stop`, `use` is the use of the time since :meth:`start`, at cycle `begin`. `buses` has the
    operations on buses that ended since then. Reading the counters takes cycles, in which the device works as
    before.
    """

    def __init__(self, device: Device, tracer: DeviceTracer) -> None:
        self.use: TimeUse | None = None
        self.begin = 0
        self.buses: Sequence[BusWork] = ()
        self._device = device
        self._tracer = tracer
        self._before: Snapshot | None = None

    def start(self) -> None:
        self._tracer.start()
        self.begin = self._device.cycles
        self._before = Snapshot.of(self._device)

    def stop(self) -> Sequence[ArrayWork]:
        """The operations of arrays that ended since :meth:`start`."""
        if self._before is None:
            raise RuntimeError("stop without start")
        usage = Snapshot.of(self._device).since(self._before)
        trace = self._tracer.stop()
        arrays = array_shares(trace, self.begin, self._device.config.geometry.dies)
        self.buses = trace.buses
        self.use = TimeUse(usage.bus_shares(), arrays, usage.stall_shares())
        return trace.arrays
