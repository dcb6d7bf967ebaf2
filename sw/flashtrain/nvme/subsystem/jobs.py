"""Jobs: I/O commands as sequences of the device's commands, one at a time."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple, Protocol

from numpy.typing import NDArray

from flashtrain.host.memory.tensor_buffer import Region
from flashtrain.host.queues.dispatcher import Request
from flashtrain.host.queues.entries import Command, CompletionEntry

from .reply import Reply


class Space(NamedTuple):
    """Blocks of the tensor buffer for one job: their address, and their bytes."""

    address: int
    view: NDArray


class HostData(Protocol):
    """The data of a command at its host, as the device's thread moves them.

    `fill` copies those for the device into the beginning of a space. `take` copies a space to the host, or
    keeps a copy for the reply.
    """

    def fill(self, space: NDArray) -> None: ...

    def take(self, space: NDArray) -> bytes: ...


class CapsuleData:
    """The data of a command that has come with it; those for the host are part of the reply."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data

    def fill(self, space: NDArray) -> None:
        space[: len(self._data)] = memoryview(self._data)

    def take(self, space: NDArray) -> bytes:
        return space.tobytes()


Steps = Generator[Command, CompletionEntry, Reply]
"""Commands out, completions in, and the result at the end."""


class Effect(Enum):
    """Whether a job may change what is in the flash."""

    READS = auto()
    CHANGES = auto()


@dataclass(eq=False, slots=True)
class Job:
    """One I/O command on its way through the device.

    - blocks: of the tensor buffer that it takes.
    - start: makes the steps, when the blocks are there.
    - done: called with the result, in the event loop.
    """

    blocks: int
    effect: Effect
    start: Callable[[Space], Steps]
    done: Callable[[Reply], None]
    region: Region | None = None
    steps: Steps | None = None
    request: Request | None = None
