"""The compiled kernel: C++ in `kernel/`, built once per content."""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import DeviceHang
from flashtrain.native.library import native_library
from flashtrain.spec import FmsConfig

from .coded import NO_PAGES, PAGE
from .command import COMMAND, coded_pages
from .parameters import operation_cycles, parameters, predicted_cycles
from .standing import STANDING, described

MEMORY_LATENCY = 60
"""Cycles of the tensor buffer: those that the RTL Link assumes."""

NEVER = (1 << 64) - 1
"""A time that does not come: a run until then ends when no event is left."""

COMPLETED = np.dtype([("time", np.uint64), ("id", np.uint32), ("port", np.uint16), ("sq_head", np.uint16)])
"""A completion, as the kernel reports it."""

TRACE_RECORD = np.dtype([
    ("start", np.uint64), ("end", np.uint64),
    ("kind", np.uint16), ("channel", np.uint16), ("die", np.uint16), ("detail", np.uint16),
])  # fmt: skip
"""One record of the event trace: that of the RTL Link."""

_SOURCES = sorted(Path(__file__).with_name("kernel").glob("*.[ch]*"))
_POINTER, _U64, _INT = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
_FUNCTIONS = {
    "flashtrain_model_parameters": (ctypes.c_char_p, []),
    "flashtrain_model_create": (_POINTER, [_POINTER, _POINTER, _POINTER]),
    "flashtrain_model_destroy": (None, [_POINTER]),
    "flashtrain_model_now": (_U64, [_POINTER]),
    "flashtrain_model_enable": (_U64, [_POINTER, _INT, _INT]),
    "flashtrain_model_queue_size": (None, [_POINTER, _INT, ctypes.c_uint32]),
    "flashtrain_model_submit": (None, [_POINTER, _INT, _POINTER, _U64, _POINTER]),
    "flashtrain_model_consume": (None, [_POINTER, _INT, _U64]),
    "flashtrain_model_run": (_INT, [_POINTER, _U64, ctypes.c_uint32]),
    "flashtrain_model_play": (_U64, [_POINTER, _POINTER, _U64, _U64]),
    "flashtrain_model_idle": (_INT, [_POINTER]),
    "flashtrain_model_standings": (_U64, [_POINTER, _POINTER, _U64]),
    "flashtrain_model_completed": (_U64, [_POINTER]),
    "flashtrain_model_take_completed": (None, [_POINTER, _POINTER]),
    "flashtrain_model_count": (_U64, [_POINTER, _INT]),
    "flashtrain_model_channel_count": (_U64, [_POINTER, _INT, _INT]),
    "flashtrain_model_events": (_U64, [_POINTER]),
    "flashtrain_model_set_tracing": (None, [_POINTER, _INT]),
    "flashtrain_model_trace_records": (_U64, [_POINTER]),
    "flashtrain_model_take_trace": (None, [_POINTER, _POINTER]),
}


@cache
def load_kernel() -> ctypes.CDLL:
    """The library of this model, compiled unless the user's cache has it."""
    return native_library("flashtrain_model", _SOURCES, _FUNCTIONS)


class Kernel:
    """A device's time since its controller was enabled. Times are cycles from the creation on.

    whole_rows: all commands move whole rows of a page on every channel, and one channel stands for all. The
    offsets and blocks of commands then count rows.
    """

    def __init__(self, config: FmsConfig, whole_rows: bool = False) -> None:
        self._library = library = load_kernel()
        names = library.flashtrain_model_parameters().decode().split()
        lanes = config.geometry.channels if whole_rows else 1
        known = parameters(config, MEMORY_LATENCY, lanes)
        values = np.array([known[name] for name in names], np.int32)
        cycles, predicted = operation_cycles(config), predicted_cycles(config)
        self._simulation = ctypes.c_void_p(
            library.flashtrain_model_create(values.ctypes.data, cycles.ctypes.data, predicted.ctypes.data)
        )

    def close(self) -> None:
        """Once; nothing else afterwards."""
        self._library.flashtrain_model_destroy(self._simulation)

    @property
    def now(self) -> int:
        return self._library.flashtrain_model_now(self._simulation)

    def enable(self, erased: bool, recovers: bool) -> int:
        """Enable the controller; the time when it is ready."""
        return self._library.flashtrain_model_enable(self._simulation, erased, recovers)

    def set_queue_size(self, port: int, entries: int) -> None:
        """Entries of the port's completion queue."""
        self._library.flashtrain_model_queue_size(self._simulation, port, entries)

    def submit(self, port: int, commands: NDArray[np.void], pages: NDArray[np.void] = NO_PAGES) -> None:
        """A doorbell: these entries, dtype `COMMAND`, may be fetched.

        pages: of the coded commands among them, dtype `PAGE`, one command's after the other's.
        """
        assert commands.dtype == COMMAND and commands.flags.c_contiguous
        assert pages.dtype == PAGE and pages.flags.c_contiguous and len(pages) == coded_pages(commands)
        self._library.flashtrain_model_submit(
            self._simulation, port, commands.ctypes.data, len(commands), pages.ctypes.data
        )

    def consume(self, port: int, completions: int) -> None:
        """A doorbell: the host has taken so many completions."""
        self._library.flashtrain_model_consume(self._simulation, port, completions)

    def run(self, until: int, ports: int = 0) -> bool:
        """Run until a time, or until a completion for a port of the mask is written; True if one was."""
        return bool(self._library.flashtrain_model_run(self._simulation, until, ports))

    def play(self, commands: NDArray[np.void], depth: int) -> int:
        """Keep `depth` commands, dtype `COMMAND`, in flight until all are answered; the time of the end.

        No doorbell takes time, and no completion waits to be taken. The commands have no codec.
        :class:`DeviceHang` if some are never answered.
        """
        assert commands.dtype == COMMAND and commands.flags.c_contiguous and not coded_pages(commands)
        end = self._library.flashtrain_model_play(
            self._simulation, commands.ctypes.data, len(commands), depth
        )
        if end == NEVER:
            raise self.hang()
        return end

    def hang(self) -> DeviceHang:
        """The error that no event will come, and commands are not answered."""
        standings = self.standings(lambda number: f"command {number}")
        return DeviceHang(f"no event comes after cycle {self.now}: {standings}")

    def standings(self, name: Callable[[int], str]) -> str:
        """The commands that are not answered and what each waits for; name(id): a command in words."""
        count = self._library.flashtrain_model_standings(self._simulation, None, 0)
        found = np.empty(count, STANDING)
        self._library.flashtrain_model_standings(self._simulation, found.ctypes.data, count)
        return described(found, name)

    @property
    def idle(self) -> bool:
        return bool(self._library.flashtrain_model_idle(self._simulation))

    def take_completed(self) -> NDArray[np.void]:
        """The completions since the last call, dtype `COMPLETED`."""
        records = np.empty(self._library.flashtrain_model_completed(self._simulation), COMPLETED)
        if len(records):
            self._library.flashtrain_model_take_completed(self._simulation, records.ctypes.data)
        return records

    def count(self, counter: int) -> int:
        return self._library.flashtrain_model_count(self._simulation, counter)

    def channel_count(self, channel: int, counter: int) -> int:
        return self._library.flashtrain_model_channel_count(self._simulation, channel, counter)

    @property
    def events(self) -> int:
        """Events since the creation: the work of the kernel, whatever processor does it."""
        return self._library.flashtrain_model_events(self._simulation)

    def set_tracing(self, on: bool) -> None:
        self._library.flashtrain_model_set_tracing(self._simulation, on)

    def take_trace(self) -> NDArray[np.void]:
        """The records since the last call, dtype `TRACE_RECORD`."""
        records = np.empty(self._library.flashtrain_model_trace_records(self._simulation), TRACE_RECORD)
        self._library.flashtrain_model_take_trace(self._simulation, records.ctypes.data)
        return records
