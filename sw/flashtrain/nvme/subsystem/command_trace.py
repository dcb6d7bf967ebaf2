"""A trace of I/O commands: a line for each, as it ends."""

from collections.abc import Callable
from typing import TextIO

from flashtrain.nvme.wire.commands import Entry
from flashtrain.spec import Opcode
from flashtrain.spec.host_commands import BLOCK_OPCODES

HEADER = "drive,time,queue,opcode,nsid,slba,blocks,status\n"
_NAMES = {opcode: opcode.name.lower() for opcode in Opcode}


class CommandTrace:
    """Writes the commands of one drive to a file of comma-separated values, which begins with `HEADER`.

    now: the time of a command that has no other.
    """

    def __init__(self, file: TextIO, drive: int, now: Callable[[], int] = lambda: 0) -> None:
        self._file, self._drive, self._now = file, drive, now

    def note(self, queue: int, entry: Entry, status: int, time: int | None = None) -> None:
        """A command has ended."""
        blocks = entry.blocks if entry.opcode in BLOCK_OPCODES else 0
        name = _NAMES.get(entry.opcode) or f"{entry.opcode:#04x}"
        when = self._now() if time is None else time
        self._file.write(
            f"{self._drive},{when},{queue},{name},{entry.nsid},{entry.slba},{blocks},{status:#05x}\n"
        )
