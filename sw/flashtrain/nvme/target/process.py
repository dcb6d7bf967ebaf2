"""A target in a process of its own: its hosts share neither an interpreter nor memory with it."""

import asyncio
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from flashtrain.host import Device
from flashtrain.nvme.errors import ServeError

from .server import Target
from .settings import Settings

AnswerT = TypeVar("AnswerT")
DeviceOpener = Callable[[], AbstractContextManager[Device]]
Answer = Callable[[Target, Sequence[str]], AnswerT]
"""A function of the target and of the lines of its log."""


@dataclass(frozen=True)
class TargetProcess(Generic[AnswerT]):
    """A target that runs in a process of its own.

    - port: on which it listens.
    - pipe: to its process.
    """

    port: int
    pipe: Connection

    def ask(self) -> AnswerT:
        """Call `answer` of :func:`target_process` in the process; :class:`ServeError` if that has ended."""
        try:
            self.pipe.send(None)
            return self.pipe.recv()
        except (EOFError, OSError):
            raise ServeError("the process of the target has ended") from None


@contextmanager
def target_process(
    opener: DeviceOpener, settings: Settings, answer: Answer[AnswerT]
) -> Iterator[TargetProcess[AnswerT]]:
    """Serve the device of `opener` in a process of its own, until the end of the block.

    opener, answer: are pickled, and called in the process. :class:`ServeError` if the target does not start.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(opener, settings, answer, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        try:
            port = ours.recv()
        except EOFError:
            raise ServeError("the target has not started") from None
        yield TargetProcess(port, ours)
    finally:
        ours.close()
        process.join()


def _serve(opener: DeviceOpener, settings: Settings, answer: Answer[AnswerT], pipe: Connection) -> None:
    """Serve, and answer whenever the other end of the pipe asks, until it is closed."""
    lines: list[str] = []

    async def serve() -> None:
        async with Target(device, settings, lines.append) as target:
            pipe.send(target.port)
            while await asyncio.to_thread(_is_asked, pipe):
                pipe.send(answer(target, lines))

    with opener() as device:
        asyncio.run(serve())


def _is_asked(pipe: Connection) -> bool:
    try:
        pipe.recv()
    except (EOFError, OSError):
        return False
    return True
