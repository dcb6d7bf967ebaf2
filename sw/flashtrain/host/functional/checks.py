"""Checks 1 to 7 of `flashtrain.spec.nvme`: all checks of a command that do not depend on its zone."""

from flashtrain.spec import Access, FmsConfig, Opcode, Port, Status
from flashtrain.spec.nvme import UPDATE_OPCODES, Submission
from flashtrain.spec.registers import MAX_STREAMS
from flashtrain.spec.streams import Codec

from .fields import Fields
from .streams import StreamSettings
from .submission_entry import SubmissionEntry

_SGL_DATA_BLOCK = 0x00
_REPORT_ALIGNMENT = 8
_MOST_KINDS = 1024


class Checker:
    """The checks for one configuration, stream table (by NSID) and tensor-buffer size in bytes."""

    def __init__(self, config: FmsConfig, streams: dict[int, StreamSettings], memory_bytes: int) -> None:
        self.config = config
        self.streams = streams
        self.memory_bytes = memory_bytes
        self._opcodes = frozenset(Opcode) - (frozenset() if config.chips.update else UPDATE_OPCODES)
        self._fields = Fields(config, streams)
        # By port, opcode, FUSE, PSDT, NSID, SOURCE and action.
        self._kinds: dict[tuple[int, ...], Status] = {}
        self._zone_size, self._page_bytes = config.geometry.zone_size, config.geometry.page_bytes
        self._rights = {
            (port, nsid): frozenset(opcode for opcode in Opcode if _allows(port, access, opcode))
            for nsid, stream in streams.items()
            for port, access in stream.access.items()
        }

    def status(self, port: Port, entry: SubmissionEntry) -> Status:
        """The status of the first check that fails, or success."""
        kind = port, entry.opcode, entry.fuse, entry.psdt, entry.nsid, entry.source, entry.action
        status = self._kinds.get(kind)
        if status is None:
            if len(self._kinds) == _MOST_KINDS:
                self._kinds.clear()
            status = self._kinds[kind] = self._status_of_kind(port, entry)
        if status:
            return status
        if not self._fields.valid(entry):
            return Status.INVALID_FIELD
        if entry.has_data and (status := self._data_pointer(entry)):
            return status
        if not self._inside(entry, self.streams[entry.nsid]):
            return Status.LBA_OUT_OF_RANGE
        return Status.SUCCESS

    def _status_of_kind(self, port: Port, entry: SubmissionEntry) -> Status:
        """The checks up to that of the fields, which are the same for all commands of a kind."""
        if entry.opcode not in self._opcodes:
            return Status.INVALID_OPCODE
        if entry.fuse or (entry.has_data and entry.psdt != Submission.PSDT_SGL):
            return Status.INVALID_FIELD
        if status := self._namespace(entry.nsid):
            return status
        if entry.has_source and (status := self._namespace(entry.source, entry.nsid)):
            return status
        if not self._allowed(port, entry):
            return Status.ACCESS_DENIED
        return Status.STREAM_IS_CODED if self._needs_raw(entry) else Status.SUCCESS

    def _namespace(self, nsid: int, other: int = 0) -> Status:
        """Whether this is the number of a stream, and not `other`."""
        if not 0 < nsid <= MAX_STREAMS or nsid == other:
            return Status.INVALID_NAMESPACE
        return Status.SUCCESS if nsid in self.streams else Status.INVALID_FIELD

    def _inside(self, entry: SubmissionEntry, stream: StreamSettings) -> bool:
        """Whether the zone that the command names exists."""
        if entry.names_zone:
            return entry.slba // self._zone_size < stream.zones
        if entry.opcode == Opcode.INSPECT:
            return entry.slba // self._zone_size < self.config.geometry.blocks
        return not entry.restores_zone or 0 < entry.slba <= stream.zones * self._zone_size

    def _allowed(self, port: Port, entry: SubmissionEntry) -> bool:
        if entry.opcode not in self._rights[port, entry.nsid]:
            return False
        if not entry.has_source:
            return True
        of_source = Access.APPEND if entry.commits else Access.READ
        return bool(self.streams[entry.source].access[port] & of_source)

    def _needs_raw(self, entry: SubmissionEntry) -> bool:
        """Whether the command moves blocks as they are, and a stream of it has a codec."""
        if entry.opcode == Opcode.UPDATE:
            return any(self.streams[nsid].codec is not Codec.RAW for nsid in (entry.nsid, entry.source))
        return entry.opcode == Opcode.WRITE and self.streams[entry.nsid].codec is not Codec.RAW

    def _expands(self, entry: SubmissionEntry) -> bool:
        """Whether the command reads a stream with a codec."""
        return entry.opcode == Opcode.READ and self.streams[entry.nsid].codec is not Codec.RAW

    def _data_pointer(self, entry: SubmissionEntry) -> Status:
        blocks = entry.expanded if self._expands(entry) else entry.blocks
        expected, alignment = blocks * self._page_bytes, self._page_bytes
        if not entry.moves_blocks:
            expected, alignment = entry.report_bytes, _REPORT_ALIGNMENT
        elif entry.reads_parts(self.config):
            expected, alignment = entry.parts * self.config.part_bytes, self.config.part_bytes
        if entry.sgl_type != _SGL_DATA_BLOCK:
            return Status.SGL_TYPE_INVALID
        if entry.length != expected:
            return Status.SGL_LENGTH_INVALID
        if entry.address % alignment:
            return Status.SGL_GRANULARITY_INVALID
        if entry.address + entry.length > self.memory_bytes:
            return Status.DATA_TRANSFER_ERROR
        return Status.SUCCESS


def _allows(port: Port, access: Access, opcode: Opcode) -> bool:
    """Whether a port with this access to a stream may send it this command."""
    if opcode in (Opcode.INSPECT, Opcode.RESTORE):
        return port is Port.HOST
    if opcode is Opcode.READ:
        return Access.READ in access
    if opcode in (Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.GET_STATISTICS):
        return bool(access)
    return Access.APPEND in access
