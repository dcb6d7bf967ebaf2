"""The qtest protocol: accesses to an emulated machine's ports and memory, a line each over a socket."""

import socket
import time
from pathlib import Path

from flashtrain.spec.errors import ToolError

_CONFIG_ADDRESS, _CONFIG_DATA = 0xCF8, 0xCFC


class Qtest:
    """A connection to the socket of QEMU's option `-qtest`."""

    def __init__(self, path: Path, seconds: float = 20.0) -> None:
        self._socket = _connect(path, seconds)
        self._lines = self._socket.makefile("r")

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def write32(self, address: int, value: int) -> None:
        self._command(f"writel {address:#x} {value:#x}")

    def write64(self, address: int, value: int) -> None:
        self._command(f"writeq {address:#x} {value:#x}")

    def read32(self, address: int) -> int:
        return int(self._command(f"readl {address:#x}"), 16)

    def read_config(self, slot: int, offset: int) -> int:
        """A configuration register of a device of PCI bus 0."""
        self._select(slot, offset)
        return int(self._command(f"inl {_CONFIG_DATA:#x}"), 16)

    def write_config(self, slot: int, offset: int, value: int) -> None:
        self._select(slot, offset)
        self._command(f"outl {_CONFIG_DATA:#x} {value:#x}")

    def _select(self, slot: int, offset: int) -> None:
        self._command(f"outl {_CONFIG_ADDRESS:#x} {1 << 31 | slot << 11 | offset:#x}")

    def _command(self, line: str) -> str:
        """Send a command; the value of its answer."""
        self._socket.sendall(line.encode() + b"\n")
        answer = self._lines.readline().split()
        if not answer or answer[0] != "OK":
            raise ToolError(f"qtest: {line!r} is answered by {' '.join(answer) or 'the end of QEMU'!r}")
        return answer[1] if len(answer) > 1 else ""


def _connect(path: Path, seconds: float) -> socket.socket:
    end = time.monotonic() + seconds
    while True:
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(seconds)
        try:
            sock.connect(str(path))
            return sock
        except OSError as error:
            sock.close()
            if time.monotonic() > end:
                raise ToolError(f"QEMU does not listen at {path}: {error.strerror}") from error
            time.sleep(0.01)
