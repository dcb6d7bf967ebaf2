"""Checks 1 to 7 of `flashtrain.spec.nvme`: all checks of a command that do not depend on its zone."""

from dataclasses import dataclass

from flashtrain.spec import Access, FmsConfig, Opcode, Port, Status, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction, ReportFilter, ReportHeader, Submission, ZoneReport
from flashtrain.spec.registers import MAX_STREAMS
from flashtrain.spec.streams import Codec

from .streams import StreamSettings
from .submission_entry import SubmissionEntry

_OPCODES = frozenset(Opcode)
_ACTIONS = frozenset(ZoneAction)
_GENERATION_ACTIONS = frozenset(GenerationAction)
_FILTERS = frozenset(ReportFilter)
_RESTORE_ACTIONS = frozenset(RestoreAction)
_RESTORED_STATES = (ZoneState.CLOSED, ZoneState.FULL)
_SGL_DATA_BLOCK = 0x00
_REPORT_ALIGNMENT = 8


@dataclass(frozen=True)
class Checker:
    """The checks for one configuration, stream table (by NSID) and tensor-buffer size in bytes."""

    config: FmsConfig
    streams: dict[int, StreamSettings]
    memory_bytes: int

    def status(self, port: Port, entry: SubmissionEntry) -> Status:
        """The status of the first check that fails, or success."""
        if entry.opcode not in _OPCODES:
            return Status.INVALID_OPCODE
        if entry.fuse or (entry.has_data and entry.psdt != Submission.PSDT_SGL):
            return Status.INVALID_FIELD
        if status := self._namespace(entry.nsid):
            return status
        if entry.has_source and (status := self._namespace(entry.source, entry.nsid)):
            return status
        stream = self.streams[entry.nsid]
        if not self._allowed(port, entry):
            return Status.ACCESS_DENIED
        if self._needs_raw(entry):
            return Status.STREAM_IS_CODED
        if not self._fields_valid(entry):
            return Status.INVALID_FIELD
        if entry.has_data and (status := self._data_pointer(entry)):
            return status
        if not self._inside(entry, stream):
            return Status.LBA_OUT_OF_RANGE
        return Status.SUCCESS

    def _namespace(self, nsid: int, other: int = 0) -> Status:
        """Whether this is the number of a stream, and not `other`."""
        if not 0 < nsid <= MAX_STREAMS or nsid == other:
            return Status.INVALID_NAMESPACE
        return Status.SUCCESS if nsid in self.streams else Status.INVALID_FIELD

    def _inside(self, entry: SubmissionEntry, stream: StreamSettings) -> bool:
        """Whether the zone that the command names exists."""
        g = self.config.geometry
        if entry.opcode == Opcode.INSPECT:
            return entry.slba // g.zone_size < g.blocks
        if entry.restores_zone:
            return entry.slba > 0 and (entry.slba - 1) // g.zone_size < stream.zones
        return not entry.names_zone or entry.slba // g.zone_size < stream.zones

    def _allowed(self, port: Port, entry: SubmissionEntry) -> bool:
        if entry.recovers:
            return port is Port.HOST
        if not self.streams[entry.nsid].access[port] & _needed(entry.opcode):
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

    def _fields_valid(self, entry: SubmissionEntry) -> bool:
        g = self.config.geometry
        if entry.moves_blocks and entry.blocks > self.config.max_blocks:
            return False
        if self._expands(entry) and entry.expanded > self.config.max_blocks:
            return False
        if entry.opcode == Opcode.ZONE_APPEND:
            codec = entry.codec(self.streams[entry.nsid].codec)
            if self.config.coded_bound(entry.blocks, codec) > self.config.max_blocks:
                return False
        to_start = entry.manages_zone or entry.opcode in (Opcode.ZONE_APPEND, Opcode.UPDATE)
        if to_start and entry.opcode != Opcode.ZONE_MANAGEMENT_RECEIVE and entry.slba % g.zone_size:
            return False
        if entry.serves_dies and entry.blocks != g.channels * g.dies:
            return False
        if entry.has_source and self.streams[entry.source].zones != self.streams[entry.nsid].zones:
            return False
        match entry.opcode:
            case Opcode.UPDATE:
                return (
                    1 <= entry.pages <= g.planes
                    and entry.copies <= entry.pages
                    and entry.rows >= 1
                    and entry.blocks == entry.rows * g.channels * entry.pages
                )
            case Opcode.RESTORE:
                return self._restore_valid(entry)
            case Opcode.GENERATION:
                return entry.action in _GENERATION_ACTIONS
            case Opcode.ZONE_MANAGEMENT_SEND:
                return entry.action in _ACTIONS
            case Opcode.ZONE_RETIRE:
                return entry.action in (ZoneState.READ_ONLY, ZoneState.OFFLINE)
            case Opcode.ZONE_MANAGEMENT_RECEIVE:
                return (
                    entry.action == ZoneReport.REPORT_ZONES
                    and entry.report_options in _FILTERS
                    and entry.report_bytes >= ReportHeader.BYTES
                )
        return True

    def _restore_valid(self, entry: SubmissionEntry) -> bool:
        g = self.config.geometry
        match entry.action:
            case RestoreAction.ZONE:
                return entry.physical < g.zones and entry.restored_state in _RESTORED_STATES
            case RestoreAction.PHYSICAL:
                return entry.physical < g.blocks
            case RestoreAction.BLOCK:
                return (
                    entry.physical < g.blocks
                    and entry.channel < g.channels
                    and entry.die < g.dies
                    and entry.plane < g.planes
                    and entry.spare < g.spare_blocks
                )
        return entry.action in _RESTORE_ACTIONS

    def _data_pointer(self, entry: SubmissionEntry) -> Status:
        page_bytes = self.config.geometry.page_bytes
        blocks = entry.expanded if self._expands(entry) else entry.blocks
        expected, alignment = blocks * page_bytes, page_bytes
        if not entry.moves_blocks:
            expected, alignment = entry.report_bytes, _REPORT_ALIGNMENT
        if entry.sgl_type != _SGL_DATA_BLOCK:
            return Status.SGL_TYPE_INVALID
        if entry.length != expected:
            return Status.SGL_LENGTH_INVALID
        if entry.address % alignment:
            return Status.SGL_GRANULARITY_INVALID
        if entry.address + entry.length > self.memory_bytes:
            return Status.DATA_TRANSFER_ERROR
        return Status.SUCCESS


def _needed(opcode: int) -> Access:
    """The rights for this command; a port needs one of them."""
    if opcode == Opcode.READ:
        return Access.READ
    if opcode in (Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.GET_STATISTICS):
        return Access.READ | Access.APPEND
    return Access.APPEND
