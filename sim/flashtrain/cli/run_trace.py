"""The trace or the waves of a run, as its options ask for them."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from flashtrain.host import Device, Link, LinkFactory
from flashtrain.sim.trace.window import NoTrace
from flashtrain.spec import FlashtrainError, FmsConfig

from .console import Console
from .trace_options import TraceRequest

if TYPE_CHECKING:
    from flashtrain.sim.trace.capture import Capture, DeviceCapture, Mark


class Waving(Protocol):
    """A Link that writes waves: `flashtrain.sim.waves.wave_link.WaveLink`."""

    @property
    def most_cycles(self) -> int: ...

    def wave(self, path: Path, begin: int, end: int | None) -> None: ...

    def end_waves(self) -> int: ...


class RunTrace:
    """Traces a run on one device: :meth:`start`, iterations if there are any, :meth:`stop`, :meth:`write`.

    Times count from :meth:`start`. Without a request nothing happens.
    """

    def __init__(self, request: TraceRequest) -> None:
        self._request = request
        self._device: Device | None = None
        self._capture: DeviceCapture | None = None
        self._captured: Capture | None = None
        self._marks: list[Mark] = []
        self._begun = 0
        self._lines: list[str] = []
        self._failure: FlashtrainError | None = None

    def around(self, factory: LinkFactory) -> LinkFactory:
        """The factory of the Link: of one that writes waves, if these are asked for."""
        path = self._request.waves
        if path is None:
            return factory

        def make(config: FmsConfig, memory_bytes: int) -> Link:
            # Late: it compiles another simulator.
            from flashtrain.sim.verilator.cxx import WaveFormat
            from flashtrain.sim.waves.wave_link import WaveLink

            return WaveLink(config, memory_bytes, WaveFormat(path.suffix[1:]))

        return make

    def start(self, device: Device) -> None:
        """The run begins now."""
        self._device = device
        first, last = self._request.window.cycles(device.config.timing.clock_mhz)
        begin, end = device.cycles + first, None if last is None else device.cycles + last
        if self._request.waves is not None:
            link: Waving = device.link  # type: ignore[assignment]
            link.wave(self._request.waves, begin, end)
        if self._request.trace is not None:
            from flashtrain.sim.trace.capture import DeviceCapture

            self._capture = DeviceCapture(device)
            if self._request.iterations is None:
                self._capture.begin(begin, end)

    def before_iteration(self, number: int) -> None:
        if self._device is None:
            return
        self._begun = self._device.cycles
        if self._capture is not None and self._request.iterations is not None:
            if number == self._request.iterations[0]:
                self._capture.begin()

    def after_iteration(self, number: int) -> None:
        if self._device is None or self._capture is None:
            return
        from flashtrain.sim.trace.capture import Mark

        self._marks.append(Mark(f"iteration {number}", self._begun, self._device.cycles))
        if self._request.iterations is not None and number == self._request.iterations[1]:
            self._capture.stop()

    def stop(self) -> None:
        """The run has ended; the device is open yet."""
        if self._device is None:
            return
        try:
            self._end(self._device)
        except NoTrace as error:
            # A run that goes on may have the default iteration behind it: it has no trace then.
            self._failure = None if self._request.is_default else error

    def _end(self, device: Device) -> None:
        if self._request.waves is not None:
            link: Waving = device.link  # type: ignore[assignment]
            cycles = link.end_waves()
            text = f"{self._request.waves}: {cycles:,} cycles of waves"
            self._lines.append(text if cycles < link.most_cycles else f"{text}, the most that a file holds")
        if self._capture is not None:
            captured = self._captured = self._capture.finish()
            begin, end = captured.window
            captured.marks = [mark for mark in self._marks if mark.end > begin and mark.start < end]

    @property
    def captured(self) -> "Capture | None":
        """The capture, once the run has ended."""
        return self._captured

    def write(self) -> list[Path]:
        """Write the trace; the files of the run. A default trace of an earlier run is removed."""
        files = []
        if self._captured is not None and self._request.trace is not None:
            text, complete = _write_trace(self._captured, self._request.trace)
            if not (self._request.is_default and complete):
                self._lines.append(text)
            files.append(self._request.trace)
        elif self._request.is_default and self._request.trace is not None:
            self._request.trace.unlink(missing_ok=True)
        if self._request.waves is not None and self._failure is None:
            files.append(self._request.waves)
        return files

    def report(self, console: Console) -> None:
        """A line about each file, at the end of the output; raises what has prevented it."""
        if self._lines:
            console.say("\n".join(self._lines))
        if self._failure is not None:
            raise self._failure


def _write_trace(captured: "Capture", path: Path) -> tuple[str, bool]:
    """A line about the file, and whether all is in it."""
    # Late: only a run with a trace needs them.
    from flashtrain.sim.trace.explain import explain
    from flashtrain.sim.trace.perfetto import write_perfetto

    timeline, mhz = explain(captured), captured.config.timing.clock_mhz
    complete = write_perfetto(timeline, path, mhz) and not captured.full
    begin, end = captured.window
    text = (
        f"{path}: {len(captured.commands):,} commands, {len(timeline.flows):,} flows,"
        f" {(end - begin) / mhz:,.3f} us from cycle {begin:,}"
    )
    return text if complete else f"{text}; truncated: too many events, choose a shorter window", complete
