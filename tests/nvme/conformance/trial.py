"""A command for both devices, and the answer of one."""

from enum import Enum
from typing import NamedTuple

from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.spec import Opcode


class Queue(Enum):
    ADMIN = 0
    IO = 1


class Trial(NamedTuple):
    """A command.

    - kind: how it was made.
    - data: for the controller; length: bytes that the controller may send.
    """

    kind: str
    queue: Queue
    entry: Entry
    data: bytes = b""
    length: int = 0

    def __str__(self) -> str:
        """The fields that are not 0, without the data."""
        opcodes = AdminOpcode if self.queue is Queue.ADMIN else Opcode
        opcode = self.entry.opcode
        name = opcodes(opcode).name if opcode in list(opcodes) else f"opcode {opcode:#04x}"
        fields = ", ".join(
            f"{field} {value:#x}"
            for field, value in self.entry._asdict().items()
            if (value and field in _SHOWN) or field == "nsid"
        )
        return f"{name} ({self.kind}): {fields}"


_SHOWN = ("flags", "dword_10", "dword_11", "dword_12", "dword_13", "dword_14", "dword_15")


class Outcome(NamedTuple):
    """`data`: of a command that has succeeded."""

    status: int
    do_not_retry: bool
    result: int
    data: bytes

    def __str__(self) -> str:
        again = ", DNR" if self.do_not_retry else ""
        return f"status {self.status:03X}h{again}, result {self.result:#x}, {len(self.data)} bytes"
