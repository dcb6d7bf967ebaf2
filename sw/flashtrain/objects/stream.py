"""`Stream`: a zoned namespace of a target, with many commands in flight."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from flashtrain.host.streams.stored import Extent
from flashtrain.host.streams.zone_info import ZoneInfo, parse_report, report_bytes
from flashtrain.nvme.client.host import Host, data_command, read_command
from flashtrain.nvme.client.queue import Completed
from flashtrain.nvme.errors import CommandFailed, ProtocolError
from flashtrain.nvme.wire.commands import Entry
from flashtrain.nvme.wire.stream_area import StreamArea
from flashtrain.spec import Opcode, Persistency, ZoneAction, ZoneState

from .errors import refusal
from .session import Session

WRITABLE = (ZoneState.EMPTY, ZoneState.IMPLICITLY_OPEN, ZoneState.EXPLICITLY_OPEN, ZoneState.CLOSED)
_DEPTH = 8
"""Commands in flight."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a namespace, in blocks but for `block_bytes`. `most` is the limit of a transfer."""

    block_bytes: int
    zones: int
    zone_size: int
    most: int


class Stream:
    """One namespace. Errors of the device are those of `errors.refusal`.

    Members
    -------
    nsid, name: the name is the target's, or the NSID for targets that give none.
    area: the rights of the host and more; None where the target does not tell.
    shape: sizes.
    """

    def __init__(self, session: Session, nsid: int, area: StreamArea | None, shape: Shape) -> None:
        self._session = session
        self.nsid = nsid
        self.name = str(nsid) if area is None else area.name
        self.area = area
        self.shape = shape
        self.block_bytes = shape.block_bytes
        self.zone_size = shape.zone_size

    @property
    def lasting(self) -> bool:
        """Whether flushed data outlast a loss of power, as they do in the streams of other targets."""
        return self.area is None or self.area.persistency is Persistency.NON_VOLATILE

    @property
    def durable(self) -> bool:
        """Whether an append that has completed survives a loss of power, without a flush."""
        return self.area is not None and self.area.persistency is Persistency.NON_VOLATILE

    def zone_of(self, extent: Extent) -> int:
        return extent.lba // self.zone_size

    def report(self) -> list[ZoneInfo]:
        """All zones."""
        found: list[ZoneInfo] = []
        most = self.shape.most * self.block_bytes // 64 - 1
        with self._commands("report") as host:
            while len(found) < self.shape.zones:
                length = report_bytes(min(most, self.shape.zones - len(found)))
                found += _zones(host.report(self.nsid, len(found) * self.zone_size, length))
        return found

    def read(self, extents: Sequence[Extent]) -> bytearray:
        """The blocks of extents, one after the other."""
        pieces = list(self._pieces(extents))
        data = bytearray(sum(piece.blocks for piece in pieces) * self.block_bytes)
        places, at = [], 0
        for piece in pieces:
            places.append(at)
            at += piece.blocks * self.block_bytes

        def take(number: int, done: Completed) -> None:
            data[places[number] : places[number] + len(done.data)] = done.data

        entries = [(read_command(self.nsid, *piece, self.block_bytes), memoryview(b"")) for piece in pieces]
        with self._commands("read") as host:
            _execute(host, "read", entries, take)
        return data

    def append(self, zone: int, data: memoryview) -> list[Extent]:
        """Append whole blocks to a zone; their places, in as few extents as possible."""
        start, most = zone * self.zone_size, self.shape.most
        entries = []
        for first in range(0, len(data), most * self.block_bytes):
            part = data[first : first + most * self.block_bytes]
            blocks = len(part) // self.block_bytes
            entries.append((data_command(Opcode.ZONE_APPEND, self.nsid, start, blocks), part))
        places = [Extent(0, 0)] * len(entries)

        def take(number: int, done: Completed) -> None:
            places[number] = Extent(done.answer.result, len(entries[number][1]) // self.block_bytes)

        with self._commands("append to") as host:
            _execute(host, "zone append", entries, take)
        return joined(places, self.zone_size)

    def flush(self) -> None:
        """Wait until all appended data survive a loss of power."""
        with self._commands("flush") as host:
            host.flush(self.nsid)

    def finish(self, zone: int) -> None:
        """Let a zone accept no more data."""
        with self._commands("finish a zone of") as host:
            host.manage(self.nsid, zone * self.zone_size, ZoneAction.FINISH)

    def reset(self, zone: int, connection: int) -> None:
        """Empty a zone that this client claimed by the connection of this number, and by no other.

        The target ends the connection of a client that is silent, so a reset never comes too late.
        """
        with self._commands("reset a zone of", connection) as host:
            host.manage(self.nsid, zone * self.zone_size, ZoneAction.RESET)

    @contextmanager
    def _commands(self, action: str, only: int | None = None) -> Iterator[Host]:
        try:
            with self._session.commands(only) as host:
                yield host
        except CommandFailed as failed:
            raise refusal(self.name, action, failed) from failed

    def _pieces(self, extents: Iterable[Extent]) -> Iterator[Extent]:
        for lba, blocks in extents:
            for first in range(0, blocks, self.shape.most):
                yield Extent(lba + first, min(self.shape.most, blocks - first))


def _zones(report: bytes) -> list[ZoneInfo]:
    """The zones of a report, at least one; :class:`ProtocolError` for one that is wrong."""
    try:
        found = parse_report(report)
    except ValueError as error:
        raise ProtocolError(f"a report of zones: {error}") from None
    if not found:
        raise ProtocolError("a report of no zones, where there are some")
    return found


def joined(extents: Iterable[Extent], zone_size: int) -> list[Extent]:
    """The same blocks in the same order, in as few extents as possible, each of one zone."""
    found: list[Extent] = []
    for extent in extents:
        if found and found[-1].lba + found[-1].blocks == extent.lba and extent.lba % zone_size:
            found[-1] = Extent(found[-1].lba, found[-1].blocks + extent.blocks)
        else:
            found.append(extent)
    return found


def _execute(
    host: Host, action: str, entries: list[tuple[Entry, memoryview]], take: Callable[[int, Completed], None]
) -> None:
    """Execute commands, many at once; `take` gets the number of each that succeeded.

    The first failure is raised when all have ended.
    """
    queue, numbers = host.io[0], dict[int, int]()
    failed: CommandFailed | None = None
    waiting = iter(enumerate(entries))
    following = next(waiting, None)
    while following is not None or numbers:
        if following is not None and len(numbers) < _DEPTH and failed is None:
            number, (entry, data) = following
            numbers[queue.submit(entry, data)] = number
            following = next(waiting, None)
            continue
        done = queue.wait_any()
        number, answer = numbers.pop(done.answer.cid), done.answer
        if not answer.status:
            take(number, done)
        elif failed is None:
            failed = CommandFailed(action, answer.status, answer.do_not_retry, answer.result)
        if failed is not None:
            following = None
    if failed is not None:
        raise failed
