"""The interface of a drive to jobs: its time, and files whose blocks are read and written."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from .content import WrongBlock
from .job import Job
from .patterns import Direction


class Operation(Protocol):
    """An operation in flight."""

    @property
    def answered(self) -> bool:
        """Whether the host has collected its completion."""
        ...

    @property
    def completed(self) -> int:
        """The cycle of the completion, of an answered operation."""
        ...


class File(Protocol):
    """The blocks of one copy of a job on a drive.

    wrong: blocks that were not as expected, the first ones; `wrong_count` has all. checked: blocks compared.
    """

    wrong: list[WrongBlock]
    wrong_count: int
    checked: int

    def lay_out(self) -> None:
        """Store all blocks that reads need, and wait for it."""
        ...

    def readable(self, first: int, count: int) -> int:
        """The blocks from `first` on, at most `count`, that can be read now."""
        ...

    def writable(self, first: int, count: int) -> bool:
        """Whether these blocks can be written now."""
        ...

    def begin(self, direction: Direction, first: int, count: int) -> Operation:
        """Begin a command on `count` blocks from `first` on."""
        ...

    def flush(self) -> Operation: ...

    def finish(self, operation: Operation) -> None:
        """Take the result of an answered operation; :class:`IoFailed` if it has failed."""
        ...

    def verify(self) -> None:
        """Read all that is stored, and check it."""
        ...


class Drive(Protocol):
    """A drive that is open.

    - block_bytes: bytes of a logical block.
    - mhz: million cycles per second. timed: whether cycles are counted.
    - in_place: whether a write goes to an address, so that its order may be random.
    """

    block_bytes: int
    mhz: int
    timed: bool
    in_place: bool

    @property
    def cycles(self) -> int:
        """Now."""
        ...

    def file(self, job: Job, copy: int, number: int, name: str) -> File:
        """The file of one copy of a job; `number` differs between all copies of all jobs."""
        ...

    def wait_any(self, operations: Iterable[Operation], until: int | None) -> None:
        """Wait until at least one of these operations is answered, until this cycle at most."""
        ...

    def begin(self, files: Sequence[Any]) -> None:
        """Make ready for the measurement of these files, which are laid out."""
        ...
