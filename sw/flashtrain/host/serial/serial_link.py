"""`SerialLink`: a board behind a serial line."""

import struct
import time
from collections.abc import Callable
from os import PathLike
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.arguments import whole
from flashtrain.host.errors import DeviceClosed, DeviceHang, DeviceMismatch, HostError, RegisterError
from flashtrain.host.link import Link
from flashtrain.spec import FmsConfig
from flashtrain.spec.boards import ULX3S
from flashtrain.spec.errors import require
from flashtrain.spec.registers import Control, Register, State
from flashtrain.spec.serial import (
    CHANGES_BYTES,
    CYCLE_BITS,
    MAGIC,
    MOST_DATA,
    VERSION,
    WORD_BYTES,
    Flags,
    Operation,
    Status,
)

from .errors import WireDropped
from .frames import Answer, Deframer, Request
from .mirror import Mirror
from .wire import HasDescriptor, Wire

_OPEN = struct.Struct("<IIII")
MOST_CYCLES_TO_WAIT = 1 << 32
"""Cycles without an interrupt after which `wait` gives up."""
_LONGEST_SLEEP = 0.05
"""Seconds between two questions for the time."""
_MOST_CHANGES = MOST_DATA * 8 * 64
"""Bytes of the tensor buffer whose grains one answer names."""
_MOST_ROUNDS = 1000
"""Of reading what the board has changed, before it counts as never ending."""


class SerialLink(Link):
    """A board behind a serial line, with its tensor buffer in the host's memory as well.

    Changes by the host are sent before a register is written. Changes by the controller come before
    :meth:`wait` returns.

    Parameters
    ----------
    port
        The path of a terminal, such as ``/dev/ttyUSB0``, or an open stream of bytes with a file descriptor: a
        socket, or a port of pyserial.
    config
        The configuration of the board's controller.
    baud
        Bits per second, if `port` is a path.
    timeout
        Seconds to wait for an answer before the request is sent again.
    tries
        Of a request, before the line counts as dropped.
    power
        Cuts the power of the board and restores it; without it :meth:`power_cycle` is an error.

    An access raises :class:`WireDropped` within `timeout` times `tries` seconds if the board does not answer.
    """

    def __init__(
        self,
        port: str | PathLike[str] | HasDescriptor,
        config: FmsConfig = ULX3S.config,
        baud: int = ULX3S.baud,
        timeout: float = 0.5,
        tries: int = 6,
        power: Callable[[], None] | None = None,
    ) -> None:
        require(isinstance(config, FmsConfig), "config", config, "an FmsConfig")
        require(timeout > 0, "timeout", timeout, "a positive number of seconds")
        require(isinstance(tries, int) and tries > 0, "tries", tries, "a positive integer")
        self._config = config
        self._timeout, self._tries, self._power = timeout, tries, power
        self._lock = RLock()
        self._sequence = 0
        self._cycles = self._first_cycle = self._counter = 0
        self._flags = Flags(0)
        self._frames = Deframer()
        self._closed = False
        self._wire = Wire(port, baud)
        try:
            self._mirror = Mirror(self._open())
            self._begin()
            self._first_cycle = self._cycles
        except BaseException:
            self._wire.close()
            raise

    @property
    def config(self) -> FmsConfig:
        return self._config

    @property
    def memory(self) -> NDArray[np.uint8]:
        return self._mirror.memory

    @property
    def cycles(self) -> int:
        """Cycles of the board's clock since the Link was opened, as of the last answer."""
        return self._cycles - self._first_cycle

    def read_register(self, address: int) -> int:
        with self._lock:
            data = self._register(Operation.READ, address)
            return int.from_bytes(data, "little")

    def write_register(self, address: int, value: int) -> None:
        with self._lock:
            self._send_changes()
            self._register(Operation.WRITE, address, value)
            # A completion before this write raises no interrupt after it.
            if address == Register.INTERRUPT:
                self._take_changes()

    def wait(self, max_cycles: int | None = None) -> bool:
        most = MOST_CYCLES_TO_WAIT if max_cycles is None else whole("max_cycles", max_cycles)
        with self._lock:
            begun = None
            while True:
                state = self.read_register(Register.STATE)
                interrupted = Flags.INTERRUPT in self._flags
                if interrupted or state & State.IDLE:
                    self._take_changes()
                    return interrupted
                begun = self._cycles if begun is None else begun
                if self._cycles - begun >= most:
                    raise DeviceHang(f"no completion within {most} cycles (now at cycle {self.cycles})")

    def run(self, cycles: int) -> None:
        """Wait until the board's clock has counted `cycles`."""
        left = whole("cycles", cycles)
        with self._lock:
            end = self._cycles + left
            while left > 0:
                time.sleep(min(left / self._config.timing.clock_hz, _LONGEST_SLEEP))
                self.read_register(Register.STATE)
                left = end - self._cycles

    def power_cycle(self) -> None:
        if self._power is None:
            raise HostError("SerialLink cannot switch the power of its board; expected its argument `power`")
        with self._lock:
            self._power()
            self._counter = 0
            self._open()
            self._begin()

    def close(self) -> None:
        if not self.own or self._closed:
            return
        self._closed = True
        self._wire.close()

    def _open(self) -> int:
        """Begin a dialogue; the bytes of the tensor buffer."""
        answer = self._ask(Operation.OPEN)
        magic, version, size, clock_hz = _OPEN.unpack(answer.data.ljust(_OPEN.size, b"\0")[: _OPEN.size])
        if (magic, version) != (MAGIC, VERSION):
            raise DeviceMismatch(
                f"{self._wire.name}: a bridge of version {version} ({magic:#x}); expected version {VERSION}"
                f" ({MAGIC:#x})"
            )
        expected = round(self._config.timing.clock_hz)
        if clock_hz != expected:
            raise DeviceMismatch(
                f"{self._wire.name}: a board of {clock_hz} Hz; {self._config.name!r} has {expected} Hz"
            )
        return size

    def _begin(self) -> None:
        """Disable the controller, and let both copies of the tensor buffer be zeros."""
        if self.read_register(Register.CONTROL) & Control.ENABLE:
            self._register(Operation.WRITE, Register.CONTROL, 0)
            end = time.monotonic() + self._timeout * self._tries
            while self.read_register(Register.STATE) & State.READY:
                if time.monotonic() > end:
                    raise DeviceHang(f"{self._wire.name}: the controller is not disabled")
        size = len(self._mirror.memory)
        for address in range(0, size, _MOST_CHANGES):
            self._buffer(Operation.FILL, address, min(_MOST_CHANGES, size - address), bytes(WORD_BYTES))
        self._changes()
        self._mirror.clear()

    def _send_changes(self) -> None:
        """Send what the host has written to the tensor buffer."""
        for address, words, data in self._mirror.unsent():
            operation = Operation.STORE if len(data) == WORD_BYTES * words else Operation.FILL
            self._buffer(operation, address, WORD_BYTES * words, data)

    def _take_changes(self) -> None:
        """Fetch what the controller has written, until nothing has come since it was last looked at.

        So a completion never comes before its data.
        """
        for _ in range(_MOST_ROUNDS):
            if Flags.CHANGED not in self._flags:
                return
            for address, size in self._mirror.grain_runs(self._changes()):
                self._mirror.take(address, self._buffer(Operation.LOAD, address, size))
        raise DeviceHang(f"{self._wire.name}: the controller writes to the tensor buffer without an end")

    def _changes(self) -> bytes:
        """A bit for each grain that the controller has written since the last call."""
        size = len(self._mirror.memory)
        pieces = range(0, size, _MOST_CHANGES)
        return b"".join(
            self._buffer(Operation.CHANGES, address, min(_MOST_CHANGES, size - address)) for address in pieces
        )

    def _buffer(self, operation: Operation, address: int, size: int, data: bytes = b"") -> bytes:
        """An access to `size` bytes of the tensor buffer."""
        answer = self._ask(operation, size // WORD_BYTES, address, data)
        expected = {Operation.LOAD: size, Operation.CHANGES: size // CHANGES_BYTES * WORD_BYTES}
        if answer.status is not Status.DONE or len(answer.data) != expected.get(operation, 0):
            raise DeviceMismatch(
                f"{self._wire.name}: {operation.name} of {size} bytes at {address:#x} ends with"
                f" {answer.status.name} and {len(answer.data)} bytes"
            )
        return answer.data

    def _register(self, operation: Operation, address: int, value: int | None = None) -> bytes:
        data = b"" if value is None else value.to_bytes(4, "little")
        answer = self._ask(operation, 0, address, data)
        if answer.status is not Status.DONE:
            what = operation.name.lower()
            raise RegisterError(f"{what} of register {address:#06x} was refused ({answer.status.name})")
        return answer.data

    def _ask(self, operation: Operation, words: int = 0, address: int = 0, data: bytes = b"") -> Answer:
        """The answer to a request, which is sent again until one comes."""
        if self._closed:
            raise DeviceClosed("the Link is closed")
        self.require_own()
        with self._lock:
            self._sequence = self._sequence + 1 & 0xFF
            request = Request(operation, self._sequence, words, address, data)
            damaged = self._frames.damaged
            for _ in range(self._tries):
                self._wire.send(request.frame(), self._timeout)
                answer = self._await(request)
                if answer is not None:
                    self._note(answer)
                    return answer
            damaged = self._frames.damaged - damaged
            came = f"{damaged} damaged answers" if damaged else "no answer"
            raise WireDropped(
                f"{self._wire.name}: {came} to {operation.name} at {address:#x} in {self._tries} tries of"
                f" {self._timeout:g} s; expected a board behind it"
            )

    def _await(self, request: Request) -> Answer | None:
        """Its answer, or None if a damaged one comes, or none in time."""
        end = time.monotonic() + self._timeout
        damaged = self._frames.damaged
        while (left := end - time.monotonic()) > 0:
            for content in self._frames.feed(self._wire.receive(left)):
                answer = Answer.of(content)
                if answer and (answer.operation, answer.sequence) == (request.operation, request.sequence):
                    return answer
            if self._frames.damaged != damaged:
                return None
        return None

    def _note(self, answer: Answer) -> None:
        self._flags = answer.flags
        # The counter wraps after 65 days of 50 MHz.
        self._cycles += answer.cycles - self._counter & (1 << CYCLE_BITS) - 1
        self._counter = answer.cycles
