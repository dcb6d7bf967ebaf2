"""The answers of a target to the rows of the standard, asked over its protocol."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from flashtrain.nvme.client.fabrics import fabrics
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.errors import CommandFailed
from flashtrain.nvme.subsystem.settings import DISCOVERY_NQN
from flashtrain.nvme.wire.commands import Entry, FabricsType
from tests.nvme.helpers import Served

from .standard import TABLES, Kind, Part, Row, Table

INVALID_OPCODE, INVALID_FIELD, INVALID_LOG_PAGE = 0x001, 0x002, 0x109
PADDING = " \0"
_ZONED = 2
_BYTES = {0x02: 4096, 0x06: 4096}
"""Of the admin commands whose data are for the host."""

_DWORDS = 1023
_EVENT_REQUEST = 0x0C
_SUPPORTED = 1


class Answer(NamedTuple):
    """What a target has answered to a row; None: the part does not exist."""

    table: Table
    row: Row
    data: bytes | None

    @property
    def good(self) -> bool:
        """Whether it is what the standard demands."""
        if self.table.prohibited:
            return self.data is None
        return self.data is not None and self.row.rule.holds(self.data)

    @property
    def words(self) -> str:
        """The answer as the page shows it."""
        if self.data is None:
            return "refused"
        if self.row.rule.text:
            return f"`{self.data.decode().rstrip(PADDING)}`"
        if self.table.part in VALUES:
            return f"{int.from_bytes(self.data, 'little'):#x}"
        return f"{len(self.data):,} bytes" if self.data else "served"


def answers(target: Served) -> Iterator[Answer]:
    """The answers to all rows, in the order of the tables."""
    with target.host(keep_alive=60_000) as host, target.host(subsystem=DISCOVERY_NQN, queues=0) as discovery:
        hosts = {Kind.IO: host, Kind.DISCOVERY: discovery}
        for table in TABLES:
            for row in table.rows:
                yield Answer(table, row, _data(hosts[table.kind], table, row))


def _data(host: Host, table: Table, row: Row) -> bytes | None:
    if table.part in _FIELDS:
        whole = _FIELDS[table.part](host)
        assert len(whole) > row.last
        return whole[row.code : row.last + 1]
    try:
        return _ASKED[table.part](host, row)
    except CommandFailed as refused:
        assert refused.status in (INVALID_OPCODE, INVALID_FIELD, INVALID_LOG_PAGE), (table, row, refused)
        return None


def _property(host: Host, row: Row) -> bytes:
    return host.get_property(row.code, eight=row.last == 7).to_bytes(row.last + 1, "little")


def _admin(host: Host, row: Row) -> bytes | None:
    """Listed, and answered by something else than *invalid opcode*; or neither."""
    listed = _listed(host, 0, row.code)
    if row.code == _EVENT_REQUEST:
        host.admin.submit(Entry(row.code))  # it has no answer before an event
        return b"" if listed else None
    entry = Entry(row.code, sgl_length=_BYTES.get(row.code, 0), dword_10=0x01 | _DWORDS << 16)
    status = host.admin.execute(entry).answer.status
    assert listed == (status != INVALID_OPCODE), row
    return b"" if listed else None


def _fabrics(host: Host, row: Row) -> bytes | None:
    """A second Connect on the queue is refused as one that comes at a wrong time."""
    data = bytes(1024) if row.code == FabricsType.CONNECT else b""
    status = host.admin.execute(fabrics(FabricsType(row.code), bytes(24)), data).answer.status
    return None if status == INVALID_OPCODE else b""


def _command(host: Host, row: Row) -> bytes | None:
    listed = _listed(host, 1024, row.code)
    status = host.io[0].execute(Entry(row.code)).answer.status
    assert listed == (status != INVALID_OPCODE), row
    return b"" if listed else None


def _listed(host: Host, offset: int, opcode: int) -> bool:
    """Whether the log of commands and effects has an opcode."""
    return bool(host.log_page(0x05, 4, command_set=_ZONED, offset=offset + 4 * opcode)[0] & _SUPPORTED)


def _structure(host: Host, row: Row) -> bytes:
    nsid = 1 if row.code in (0x00, 0x03, 0x05, 0x08) else 0
    return host.identify(row.code, nsid, _ZONED if row.code in (0x05, 0x06, 0x07) else 0)


def _log_page(host: Host, row: Row) -> bytes:
    """All of the page, which the list of pages has, too."""
    listed = host.log_page(0x00, 4, offset=4 * row.code)[0] & _SUPPORTED
    try:
        page = host.log_page(row.code, row.last + 1)
    except CommandFailed:
        assert not listed, row
        raise
    assert listed, row
    return page


def _feature(host: Host, row: Row) -> bytes:
    listed = host.log_page(0x12, 4, offset=4 * row.code)[0] & _SUPPORTED
    entry = Entry(0x0A, nsid=int(row.code == 0x05), sgl_length=16 * (row.code == 0x81), dword_10=row.code)
    answer = host.admin.execute(entry).answer
    assert bool(listed) == (answer.status == 0), row
    if answer.status:
        raise CommandFailed("get features", answer.status, answer.do_not_retry, answer.result)
    return answer.result.to_bytes(8, "little")


_NOT_ASSIGNED = "no number is assigned to this project"
EXCEPTIONS = {
    (Kind.IO, Part.CONTROLLER, "VID"): _NOT_ASSIGNED,
    (Kind.IO, Part.CONTROLLER, "SSVID"): _NOT_ASSIGNED,
    (Kind.IO, Part.CONTROLLER, "IEEE"): _NOT_ASSIGNED,
    (Kind.IO, Part.HEALTH, "composite temperature"): "not reported: the device has no sensor",
}
"""Rows of the standard that the target does not keep, with their reasons."""

_ASKED: dict[Part, Callable[[Host, Row], bytes | None]] = {
    Part.PROPERTY: _property,
    Part.ADMIN: _admin,
    Part.FABRICS: _fabrics,
    Part.COMMAND: _command,
    Part.STRUCTURE: _structure,
    Part.LOG_PAGE: _log_page,
    Part.FEATURE: _feature,
}
_FIELDS: dict[Part, Callable[[Host], bytes]] = {
    Part.CONTROLLER: lambda host: host.identify(0x01),
    Part.NAMESPACE: lambda host: host.identify(0x00, 1),
    Part.INDEPENDENT: lambda host: host.identify(0x08, 1),
    Part.ZONED: lambda host: host.identify(0x05, 1, _ZONED),
    Part.HEALTH: lambda host: host.log_page(0x02, 512),
    Part.FIRMWARE: lambda host: host.log_page(0x03, 512),
    Part.DISCOVERED: lambda host: host.log_page(0x70, 2048),
}
VALUES = (*_FIELDS, Part.PROPERTY, Part.FEATURE)
"""The parts whose answer is a value."""
