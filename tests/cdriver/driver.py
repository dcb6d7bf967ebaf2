"""The C driver on a Link: its functions as methods, with callbacks into the Link."""

import ctypes as c
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Link
from flashtrain.spec import NodeTable, Port
from flashtrain.spec.streams import UPDATE_NODE

from .library import (
    BadBlock,
    Commit,
    Config,
    Entry,
    Info,
    Platform,
    Recovered,
    Request,
    Requirements,
    Stream,
    Zone,
    driver_library,
)


class Error(IntEnum):
    """`enum ft_error`."""

    OK = 0
    ARGUMENT = 1
    MISMATCH = 2
    MEMORY = 3
    DISABLED = 4
    ENABLED = 5
    BUSY = 6
    TIMEOUT = 7
    FATAL = 8
    PROTOCOL = 9
    STATUS = 10
    NO_JOURNAL = 11
    NOTE_TOO_LONG = 12
    FOREIGN_CONTENT = 13
    JOURNAL_DAMAGED = 14
    JOURNAL_TOO_LONG = 15
    SPARES = 16


class DriverError(Exception):
    """The driver returned an error; `status` is that of the command."""

    def __init__(self, name: str, error: Error, status: int) -> None:
        super().__init__(f"{name}: {error.name}, status {status:#x}")
        self.error = error
        self.status = status


def streams_of(node: NodeTable) -> c.Array[Stream]:
    return (Stream * len(node.streams))(
        *(
            Stream(s.nsid, s.persistency, s.retention, s.host, s.core, s.codec, s.share, bool(s.expired),
                   s is node.journal)
            for s in node.streams
        )
    )  # fmt: skip


class CDriver:
    """The driver, initialised but not enabled.

    - pause_cycles: simulated cycles between two polls.
    - options: members of `struct ft_config`.
    """

    def __init__(
        self, link: Link, node: NodeTable = UPDATE_NODE, pause_cycles: int = 500, **options: int
    ) -> None:
        self.link = link
        self.node = node
        self.library = driver_library()
        self._raised: BaseException | None = None
        size = self.library.shim_size(0)
        self._device = c.create_string_buffer(bytes([0xDB] * size), size)
        self._streams = streams_of(node)
        self.platform = Platform(
            Platform.Read(lambda _, offset: self._guard(lambda: int(link.read_register(offset)))),
            Platform.Write(lambda _, offset, value: self._guard(lambda: link.write_register(offset, value))),
            Platform.Call(lambda _: None),
            Platform.Call(lambda _: self._guard(lambda: link.run(pause_cycles))),
            Platform.Seconds(lambda _: self._guard(lambda: link.seconds)),
            None,
            link.memory.ctypes.data,
            len(link.memory),
        )
        values = {
            "queue_entries": 16, "note_bytes": 256, "command_polls": 100_000, "state_polls": 100_000,
            "corrects_errors": int(link.config.code is not None),
            "randomizes": int(link.config.randomizer),
            "keeps_fp8": int(link.config.fp8_state),
        } | options  # fmt: skip
        self.config = Config(self._streams, len(self._streams), **values)
        self.info = Info()
        self.call("ft_probe", self.platform, self.info)
        needed = Requirements()
        self.call("ft_requirements", self.info, self.config, needed)
        self.needed = needed
        self._work = c.create_string_buffer(bytes([0xDB] * needed.work_bytes), needed.work_bytes)
        self.call("ft_init", self._device, self.platform, self.config, self._work, needed.work_bytes)
        self.data: int = self.library.ft_data_address(self._device)

    def _guard(self, access: Callable[[], Any]) -> int:
        """An exception cannot pass through C: it is raised when the driver has returned."""
        try:
            return access() or 0
        except BaseException as error:
            self._raised = self._raised or error
            return 0

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function; :class:`DriverError` for an error."""
        error = Error(getattr(self.library, name)(*map(_pointer, arguments)))
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        if error:
            status = self.library.ft_last_status(self._device) if error in (Error.STATUS, Error.SPARES) else 0
            raise DriverError(name, error, status)

    def do(self, name: str, *arguments: Any) -> None:
        """Call a function of the device."""
        self.call(name, self._device, *arguments)

    def get(self, name: str, *arguments: Any) -> Any:
        """Call a function of the device that returns a value."""
        return getattr(self.library, name)(self._device, *map(_pointer, arguments))

    def recover(self) -> Recovered:
        report = Recovered()
        self.do("ft_recover", report)
        return report

    def append(self, port: Port, nsid: int, zone: int, data: NDArray[np.uint8]) -> int:
        """Append whole blocks; returns their address."""
        lba = c.c_uint64()
        self.do("ft_append", port, nsid, zone, self.put(data), self._blocks(data), lba)
        return lba.value

    def read(self, port: Port, nsid: int, lba: int, blocks: int) -> NDArray[np.uint8]:
        self.do("ft_read", port, nsid, lba, self.data, blocks)
        return self.view(blocks).copy()

    def report(self, port: Port, nsid: int) -> list[Zone]:
        zones = (Zone * self.get("ft_zones", nsid))()
        self.do("ft_report", port, nsid, 0, zones, len(zones))
        return list(zones)

    def bad_blocks(self) -> list[tuple[int, int, int, int, int | None]]:
        """As `flashtrain.host.recovery.marks.BadBlock`."""
        blocks = (BadBlock * self.get("ft_bad_blocks", None, 0))()
        assert self.get("ft_bad_blocks", blocks, len(blocks)) == len(blocks)
        return [
            (
                one.channel,
                one.die,
                one.plane,
                one.block,
                None if one.replacement == 0xFFFF else one.replacement,
            )
            for one in blocks
        ]

    def entry(self, nsid: int) -> tuple[Entry, bytes]:
        """A stream's entry in the journal, and its note."""
        entry, note = Entry(), c.create_string_buffer(4096)
        self.do("ft_entry_of", nsid, entry, note, len(note))
        return entry, note.raw[: entry.note_bytes]

    def commit(self, port: Port, destination: int, source: int, note: bytes = b"", **fields: int) -> None:
        commit = Commit(note=note or None, note_bytes=len(note), **fields)
        self.do("ft_commit", port, destination, source, commit)

    def put(self, data: NDArray[np.uint8], at: int = 0) -> int:
        """Copy data to the tensor buffer, `at` blocks behind the driver's memory; returns their address."""
        self.view(self._blocks(data), at)[:] = data.reshape(-1)
        return self.data + at * self.info.page_bytes

    def view(self, blocks: int, at: int = 0) -> NDArray[np.uint8]:
        start = self.data + at * self.info.page_bytes
        return self.link.memory[start : start + blocks * self.info.page_bytes]

    def _blocks(self, data: NDArray[np.uint8]) -> int:
        return data.nbytes // self.info.page_bytes


def _pointer(argument: Any) -> Any:
    """Structures and numbers of ctypes go by reference."""
    by_reference = isinstance(argument, c.Structure | c.c_uint64 | c.c_uint)
    return c.byref(argument) if by_reference else argument


__all__ = ["CDriver", "DriverError", "Error", "Request"]
