"""A capture: the commands of a device in a window of time, and what the Link has recorded of its parts."""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import CommandLog, Device, LoggedCommand
from flashtrain.sim.link.recording import ARRAY_PAGE, SEAM_RECORD, TRACE_RECORD, RtlRecording
from flashtrain.sim.trace.window import NoTrace, Tracing
from flashtrain.spec import FmsConfig


@runtime_checkable
class Recording(Protocol):
    """A Link that records a window by itself: the RTL Link."""

    def start_recording(self, begin: int = 0, end: int | None = None) -> None: ...

    def stop_recording(self) -> RtlRecording: ...


class Mark(NamedTuple):
    """A named part of the run, such as an iteration."""

    name: str
    start: int
    end: int


@dataclass
class Capture:
    """All that is known of a window of cycles.

    - commands: in the order of queueing; streams: their names by NSID.
    - events: what buses, arrays and ports did. seams, pages: of the RTL alone.
    - window: its first cycle, and the first one behind it.
    - full: it has ended early, because there were too many events.
    """

    config: FmsConfig
    streams: dict[int, str]
    commands: list[LoggedCommand]
    events: NDArray[np.void]
    seams: NDArray[np.void]
    pages: NDArray[np.void]
    window: tuple[int, int]
    full: bool
    marks: list[Mark] = field(default_factory=list)


class CaptureEmpty(NoTrace):
    """The window has not begun before the device was idle for good."""


class DeviceCapture:
    """Captures one window of a device; `NoTrace` for a Link without time."""

    def __init__(self, device: Device) -> None:
        link = device.link
        if not isinstance(link, (Recording, Tracing)):
            raise NoTrace(f"a {type(link).__name__} has no time to trace; expected --link rtl or model")
        self._device = device
        self._link = link
        self._log = CommandLog()
        self._window: tuple[int, int | None] | None = None
        self._ended: Capture | None = None
        device.log_commands(self._log)

    def begin(self, begin: int | None = None, end: int | None = None) -> None:
        """Capture from cycle `begin` (None: now) to before cycle `end` (None: :meth:`finish`)."""
        begin = self._device.cycles if begin is None else max(begin, self._device.cycles)
        self._window = begin, end
        self._log.open(begin, end)
        if isinstance(self._link, Recording):
            self._link.start_recording(begin, end)
        else:
            self._link.take_trace()
            self._link.set_tracing(True)

    def stop(self) -> None:
        """The window ends now, unless it has ended before. Its commands may still be completed."""
        if self._window is None or self._ended is not None:
            return
        self._log.close(self._device.cycles)
        self._ended = self._captured()

    def finish(self) -> Capture:
        """Everything of the window, with the completions of its commands so far. `CaptureEmpty`."""
        self.stop()
        self._device.log_commands(None)
        if self._ended is None:
            raise CaptureEmpty("nothing was traced: the window has not begun")
        begin, end = self._ended.window
        self._ended.commands = [
            command
            for command in self._log.finish()
            if command.queued < end and (command.completed is None or command.completed >= begin)
        ]
        self._ended.full |= self._log.full
        return self._ended

    def _captured(self) -> Capture:
        assert self._window is not None
        begin, end = self._window
        now = self._device.cycles
        full = False
        if isinstance(self._link, Recording):
            recording = self._link.stop_recording()
            events, seams, pages = recording.events, recording.seams, recording.pages
            window, full = recording.window, recording.full
        else:
            self._link.set_tracing(False)
            events = self._link.take_trace().astype(TRACE_RECORD, copy=False)
            window = None if now <= begin else (begin, now if end is None else min(end, now))
            if window is not None:
                events = events[(events["end"] >= window[0]) & (events["start"] < window[1])]
            seams, pages = np.empty(0, SEAM_RECORD), np.empty(0, ARRAY_PAGE)
        if window is None:
            now_us = now / self._device.config.timing.clock_mhz
            raise CaptureEmpty(
                f"nothing was traced: the window begins at cycle {begin:,}, and the run has ended at cycle"
                f" {now:,} ({now_us:,.3f} us)"
            )
        streams = {stream.nsid: stream.name for stream in self._device.node.streams}
        return Capture(self._device.config, streams, [], events, seams, pages, window, full)
