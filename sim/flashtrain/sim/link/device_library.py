"""The C functions of `link/device/device.cpp`, in a copy of the shared library of its own."""

import ctypes
import shutil
import tempfile
from _ctypes import dlclose
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any

from flashtrain.host.errors import DeviceClosed
from flashtrain.host.process import ProcessOwned
from flashtrain.reading.ownership import require_own

_U32, _U64, _I32, _POINTER = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32, ctypes.c_void_p

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "open": (None, [_POINTER, _U64, _U32, _U64]),
    "close": (None, []),
    "power_cycle": (None, []),
    "array_add_fault": (None, [_I32, _I32, _I32, _I32]),
    "array_mark": (None, [_I32, _I32, _I32, _I32, _I32, ctypes.c_char_p, _U32]),
    "array_hang": (None, [_I32, _I32]),
    "array_erases": (None, [_I32, _I32, _I32, _POINTER]),
    "array_clear_faults": (None, []),
    "array_set_errors": (None, [_POINTER, _I32]),
    "array_pass_time": (None, [ctypes.c_double]),
    "array_set_level": (None, [_I32, _I32, _I32]),
    "array_flipped": (_U64, [_I32, _I32]),
    "array_flips": (_U64, []),
    "array_take_flips": (None, [_POINTER]),
    "array_cuts": (_U64, []),
    "array_take_cuts": (None, [_POINTER]),
    "array_page": (_I32, [_I32, _I32, _I32, _I32, _I32, _POINTER]),
    "array_put_page": (_I32, [_I32, _I32, _I32, _I32, _I32, _POINTER]),
    "array_use_image": (None, [_POINTER]),
    "array_end_image": (None, []),
    "array_image_error": (ctypes.c_char_p, []),
    "cycles": (_U64, []),
    "run": (_I32, [_U64]),
    "clock": (None, [_U64]),
    "write_register": (_I32, [_U32, _U32]),
    "read_register": (_I32, [_U32, _POINTER]),
    "first_violation": (ctypes.c_char_p, []),
    "set_tracing": (None, [_I32]),
    "trace_records": (_U64, []),
    "take_trace": (None, [_POINTER]),
    "record": (None, [_U64, _U64, _U64]),
    "stop_recording": (None, []),
    "recorded": (None, [_POINTER]),
    "take_recording": (None, [_POINTER, _POINTER]),
    "array_logged": (_U64, []),
    "array_take_log": (None, [_POINTER]),
    "log_pins": (None, [_I32]),
    "pin_changes": (_U64, []),
    "take_pin_changes": (None, [_POINTER]),
}


class DeviceLibrary(ProcessOwned):
    """The functions `flashtrain_...` of the library at `path`, as attributes without that prefix.

    A library holds one device in its static data, so each instance loads a copy. The file of the copy is
    deleted as soon as it is loaded: nothing is left behind however the process ends. Calls from several
    threads run one after the other. :class:`DeviceClosed` for every call after :meth:`unload`, and
    :class:`ForeignProcess` in a forked process. Raises `ForeignFile` if another user can replace what is in
    the folder for temporary files.
    """

    def __init__(self, path: Path) -> None:
        self._lock = RLock()
        with tempfile.NamedTemporaryFile(prefix="flashtrain-", suffix=".so") as copy:
            with path.open("rb") as library:
                shutil.copyfileobj(library, copy)
            copy.flush()
            require_own(Path(copy.name).resolve())
            self._library: ctypes.CDLL | None = ctypes.CDLL(copy.name)
        for name, (result, arguments) in _SIGNATURES.items():
            self.declare(name, result, arguments)

    def declare(self, name: str, result: Any, arguments: list[Any]) -> None:
        """The library has one more function."""
        function = getattr(self._library, f"flashtrain_{name}")
        function.restype, function.argtypes = result, arguments
        setattr(self, name, self._serialised(function))

    def unload(self) -> None:
        """Close the device and unmap the library; once is enough."""
        with self._lock:
            if self._library is not None:
                library, self._library = self._library, None
                library.flashtrain_close()
                # ctypes never unmaps a library: its code and its device's memory would stay for good.
                dlclose(library._handle)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(f"the simulated device has no function {name!r}")

    def _serialised(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if not self.own:  # before the lock, which a thread of the other process may hold
                raise self.foreign()
            with self._lock:
                if self._library is None:
                    raise DeviceClosed("the Link to the simulated device is closed")
                return function(*arguments)

        return call
