"""A stream of bytes to and from a board: a terminal, a socket, or anything with a file descriptor."""

import os
import select
import socket
import stat
import termios
import time
import tty
from os import PathLike
from typing import Protocol

from flashtrain.spec import ConfigError
from flashtrain.spec.errors import require

from .errors import WireDropped

_AT_ONCE = 4096
"""Bytes that are read at a time."""


class HasDescriptor(Protocol):
    """An open stream of bytes: a socket, a port of pyserial, a file of a terminal."""

    def fileno(self) -> int: ...


class Wire:
    """Bytes over a file descriptor. Each call has a limit of time.

    Parameters
    ----------
    port
        The path of a terminal, which is set to raw bytes and `baud` bits per second. Or an open stream, which
        stays as it is, and open when the wire is closed.
    """

    def __init__(self, port: str | PathLike[str] | HasDescriptor, baud: int) -> None:
        self._own = isinstance(port, str | PathLike)
        if isinstance(port, str | PathLike):
            self.name = os.fspath(port)
            self._descriptor = _terminal(self.name, baud)
        else:
            require(hasattr(port, "fileno"), "port", port, "a path, or an open stream with a file descriptor")
            self.name = _name(port)
            self._descriptor = port.fileno()
            self._stream = port  # alive as long as its descriptor is used

    def send(self, content: bytes, seconds: float) -> None:
        """Write all bytes; :class:`WireDropped` if the line does not take them within `seconds`."""
        end = time.monotonic() + seconds
        while content:
            if not self._await(end, writing=True):
                raise WireDropped(
                    f"{self.name}: the line took no byte for {seconds:g} s; expected an open line"
                )
            try:
                content = content[os.write(self._descriptor, content) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._dropped(error) from error

    def receive(self, seconds: float) -> bytes:
        """Bytes that have come, or come within `seconds`; none if none do."""
        end = time.monotonic() + seconds
        while self._await(end, writing=False):
            try:
                received = os.read(self._descriptor, _AT_ONCE)
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._dropped(error) from error
            if not received:
                raise WireDropped(f"{self.name}: the line was closed; expected a board behind it")
            return received
        return b""

    def close(self) -> None:
        if self._own and self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _await(self, end: float, writing: bool) -> bool:
        """Whether the descriptor can be used before `end`."""
        if self._descriptor < 0:
            raise WireDropped(f"{self.name}: the line is closed")
        files = [self._descriptor]
        left = max(0.0, end - time.monotonic())
        try:
            ready = select.select([] if writing else files, files if writing else [], [], left)
        except (OSError, ValueError) as error:
            raise self._dropped(error) from error
        return any(ready)

    def _dropped(self, error: Exception) -> WireDropped:
        return WireDropped(f"{self.name}: the line dropped ({error}); expected a board behind it")


def _terminal(path: str, baud: int) -> int:
    """A terminal of raw bytes, without what came over it before."""
    speed = getattr(termios, f"B{baud}", None)
    require(speed is not None, "baud", baud, "a rate that terminals of this system have")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise WireDropped(f"{path}: {error.strerror}; expected the terminal of a board") from error
    try:
        if not stat.S_ISCHR(os.fstat(descriptor).st_mode) or not os.isatty(descriptor):
            raise ConfigError(f"{path} is no terminal; expected one, or an open stream")
        tty.setraw(descriptor)
        settings = termios.tcgetattr(descriptor)
        settings[2] = settings[2] & ~termios.CRTSCTS & ~termios.CSTOPB | termios.CLOCAL | termios.CREAD
        settings[4] = settings[5] = speed
        termios.tcsetattr(descriptor, termios.TCSANOW, settings)
        termios.tcflush(descriptor, termios.TCIOFLUSH)
    except termios.error as error:
        os.close(descriptor)
        raise WireDropped(f"{path}: {error}; expected a terminal of {baud} baud") from error
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _name(port: HasDescriptor) -> str:
    name = getattr(port, "name", None)
    if isinstance(port, socket.socket):
        try:
            name = f"socket to {port.getpeername() or 'its other end'}"
        except OSError:
            name = "socket"
    return str(name) if name else repr(port)
