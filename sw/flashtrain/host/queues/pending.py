"""`Pending`: an asynchronous operation, with a wait for its result."""

from collections.abc import Callable, Container, Sequence
from typing import Generic, TypeVar

from flashtrain.host.errors import DeviceClosed
from flashtrain.spec import Status

from .command_errors import CommandError, command_error
from .dispatcher import Dispatcher, Request, serialised

T = TypeVar("T")


class Pending(Generic[T]):
    """One operation in flight, of one command or more.

    - expected: statuses that are not errors.
    - on_error: called before an error is raised.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        requests: Sequence[Request],
        stream: str,
        make: Callable[[Sequence[Request]], T],
        expected: Container[int] = (Status.SUCCESS,),
        on_error: Callable[[CommandError], None] = lambda error: None,
    ) -> None:
        self._dispatcher = dispatcher
        self._requests = requests
        self._stream = stream
        self._make = make
        self._expected = expected
        self._on_error = on_error

    def belongs_to(self, dispatcher: Dispatcher) -> bool:
        """Whether the operation belongs to the device behind `dispatcher`."""
        return self._dispatcher is dispatcher

    @property
    def answered(self) -> bool:
        """Whether the dispatcher has collected the completions of all its commands."""
        return all(request.done for request in self._requests)

    @property
    def completed(self) -> int:
        """The cycle at which the dispatcher has collected the last completion of an answered operation."""
        return max(request.completed for request in self._requests)

    @property
    @serialised
    def done(self) -> bool:
        """Whether all its commands are complete; collects posted completions, and does not wait."""
        if not self.answered:
            self._dispatcher.poll()
        return self.answered

    @serialised
    def result(self) -> T:
        """Wait until the operation is done; returns its result.

        :class:`CommandError` for the first command that failed; :class:`DeviceClosed` when the controller
        was disabled before; :class:`DeviceHang` when the device does not answer.
        """
        self._dispatcher.wait(lambda: self.answered)
        for request in self._requests:
            if request.completion is None:
                raise DeviceClosed(
                    f"{request.command.opcode.name} of stream {self._stream!r}: "
                    "the device was disabled before it answered"
                )
            if request.completion.status not in self._expected:
                error = command_error(request.completion.status, request.command, request.port, self._stream)
                self._on_error(error)
                raise error
        return self._make(self._requests)
