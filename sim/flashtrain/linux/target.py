"""`flashtrain serve` as a process of its own, for the machine."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flashtrain.spec.errors import ToolError


class ServedDevice:
    """A running `flashtrain serve`; `log` has its lines."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.log: list[str] = []
        self._listens = threading.Event()
        self.port = 0
        threading.Thread(target=self._read, daemon=True).start()

    def wait_until_listening(self) -> None:
        """:class:`ToolError` if the target ends before."""
        self._listens.wait()
        if not self.port:
            raise ToolError(f"flashtrain serve: {' '.join(self.log[-1:])}")

    def lose_power(self) -> None:
        self._process.send_signal(signal.SIGUSR1)

    def end(self) -> int:
        """An orderly end; the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.log.append(line.rstrip())
            if found := re.search(r"listening on [^ ]*:(\d+),", line):
                self.port = int(found[1])
                self._listens.set()
        self._listens.set()


@contextmanager
def serving(*options: str) -> Iterator[ServedDevice]:
    """The command with these options, on any free port."""
    command = [sys.executable, "-m", "flashtrain.cli.main", "serve", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        served = ServedDevice(process)
        served.wait_until_listening()
        yield served
    finally:
        process.kill()
        process.wait()
