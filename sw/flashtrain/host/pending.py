"""What an asynchronous operation gives: wait for it, and take its result."""

from collections.abc import Callable, Container, Sequence
from typing import Generic, TypeVar

from flashtrain.spec import Status

from .command_errors import CommandError, command_error
from .engine import Engine, Flight
from .errors import DeviceClosed

T = TypeVar("T")


class Pending(Generic[T]):
    """One operation under way, of one command or more.

    expected: statuses that are no errors of it; on_error: called before an error is raised.
    """

    def __init__(
        self,
        engine: Engine,
        flights: Sequence[Flight],
        stream: str,
        make: Callable[[Sequence[Flight]], T],
        expected: Container[int] = (Status.SUCCESS,),
        on_error: Callable[[CommandError], None] = lambda error: None,
    ) -> None:
        self._engine = engine
        self._flights = flights
        self._stream = stream
        self._make = make
        self._expected = expected
        self._on_error = on_error

    @property
    def answered(self) -> bool:
        """Whether the answers to all its commands were collected, by whatever waited last."""
        return all(flight.done for flight in self._flights)

    @property
    def done(self) -> bool:
        """Whether all its commands are answered; takes the completions that are there, without waiting."""
        if not self.answered:
            self._engine.poll()
        return self.answered

    def result(self) -> T:
        """Wait until it is done; its result.

        :class:`CommandError` for the first of its commands that failed; :class:`DeviceClosed` when the
        controller was disabled first; :class:`DeviceHang` when the device does not answer.
        """
        self._engine.wait(lambda: self.answered)
        for flight in self._flights:
            if flight.completion is None:
                raise DeviceClosed(
                    f"{flight.command.opcode.name} of stream {self._stream!r}: "
                    "the device was disabled before it answered"
                )
            if flight.completion.status not in self._expected:
                error = command_error(flight.completion.status, flight.command, flight.port, self._stream)
                self._on_error(error)
                raise error
        return self._make(self._flights)
