"""`Firmware`: the C firmware of a drive, compiled for this machine."""

import ctypes as c
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import cache

from flashtrain.native.library import c_library
from flashtrain.spec import FlashtrainError

from .sources import firmware_sources

OPTIONS = ("-std=c99", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
Access = Callable[[int, int | None], int]
"""An access to a register at an offset: a write of a value, or a read without one."""

_READ = c.CFUNCTYPE(c.c_uint32, c.c_void_p, c.c_uint32)
_WRITE = c.CFUNCTYPE(None, c.c_void_p, c.c_uint32, c.c_uint32)
_CALL = c.CFUNCTYPE(None, c.c_void_p)


class FirmwareFault(IntEnum):
    """Reasons for which the firmware does not start."""

    TABLES = 1
    DEVICE = 2
    TIMEOUT = 3


_TEXTS = {
    FirmwareFault.TABLES: "the block of tables is none of this firmware",
    FirmwareFault.DEVICE: "the controller has another ID or VERSION, or a fatal fault",
    FirmwareFault.TIMEOUT: "the controller is not ready",
}


class FirmwareError(FlashtrainError):
    """The firmware of a drive could not start."""


class Hooks(c.Structure):
    """`struct ft_firmware_hooks`."""

    _fields_ = [
        ("context", c.c_void_p), ("read", _READ), ("write", _WRITE), ("read_register", _READ),
        ("write_register", _WRITE), ("pause", _CALL),
    ]  # fmt: skip


class Firmware:
    """The firmware of one drive.

    - mailbox: accesses of firmware's port, with mailbox and table of namespaces.
    - registers: accesses of the controller's registers.
    - tables: see `firmware_tables`.
    - pause: called between two polls of a register.
    - library: see `compiled`; by default that of the sources.

    An exception of one of these ends the call of :meth:`start` or :meth:`poll`, and is raised there.
    """

    def __init__(
        self, mailbox: Access, registers: Access, tables: bytes, pause: Callable[[], object] | None = None,
        library: c.CDLL | None = None,
    ) -> None:  # fmt: skip
        self._library = library or _library()
        self._raised: BaseException | None = None
        self._tables = c.create_string_buffer(tables, len(tables))
        self._state = c.create_string_buffer(self._library.ft_firmware_bytes())
        waits = _CALL() if pause is None else _CALL(lambda _: self._pause(pause))
        self._hooks = Hooks(None, *self._pair(mailbox), *self._pair(registers), waits)

    def start(self) -> None:
        """Configure and enable the controller. Raises :class:`FirmwareError`."""
        error = self._library.ft_firmware_start(
            self._state, c.byref(self._hooks), self._tables, len(self._tables)
        )
        self._raise()
        if error:
            raise FirmwareError(f"the firmware does not start: {_TEXTS[FirmwareFault(error)]}")

    def poll(self) -> bool:
        """One step of work. True if there was any, or if more is to be waited for."""
        worked = self._library.ft_firmware_poll(self._state)
        self._raise()
        return worked

    def _raise(self) -> None:
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised

    def _guarded(self, function: Callable[..., object], *arguments: object) -> int:
        """The result of a hook. Behind an exception all are without effect, so that the C code ends."""
        if self._raised is not None:
            return 0
        try:
            return int(function(*arguments) or 0)  # type: ignore[call-overload]
        except BaseException as error:
            self._raised = error
            return 0

    def _pair(self, access: Access) -> tuple[object, object]:
        def read(_: int, offset: int) -> int:
            return self._guarded(access, offset, None)

        def write(_: int, offset: int, value: int) -> None:
            self._guarded(access, offset, value)

        return _READ(read), _WRITE(write)

    def _pause(self, pause: Callable[[], object]) -> None:
        self._guarded(pause)


_SIZE = """\
#include "flashtrain_firmware.h"
uint32_t ft_firmware_bytes(void);
uint32_t ft_firmware_bytes(void) { return sizeof(struct ft_firmware); }
"""


def compiled(sources: Mapping[str, str], options: Sequence[str] = OPTIONS) -> c.CDLL:
    """The library of these files, compiled unless the user's cache has it. `ToolError` without a compiler."""
    pointer = c.c_void_p
    return c_library(
        "flashtrain_firmware",
        {**sources, "size.c": _SIZE},
        {
            "ft_firmware_bytes": (c.c_uint32, []),
            "ft_firmware_start": (c.c_int, [pointer, pointer, pointer, c.c_uint32]),
            "ft_firmware_poll": (c.c_bool, [pointer]),
        },
        options,
    )


@cache
def _library() -> c.CDLL:
    return compiled(firmware_sources())
