"""Checks 1 to 7 of `flashtrain.spec.nvme`: all that can be said of a command without looking at its zone."""

from dataclasses import dataclass

from flashtrain.spec import Access, FmsConfig, Opcode, Port, Status, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction, ReportHeader, Submission, ZoneReport

from .request import Request
from .streams import StreamSettings

_OPCODES = frozenset(Opcode)
_ACTIONS = frozenset(ZoneAction)
_GENERATION_ACTIONS = frozenset(GenerationAction)
_RESTORE_ACTIONS = frozenset(RestoreAction)
_RESTORED_STATES = (ZoneState.CLOSED, ZoneState.FULL)
_SGL_DATA_BLOCK = 0x00
_REPORT_ALIGNMENT = 8
_ALL_ZONES = 0x00  # reporting options


@dataclass(frozen=True)
class Checker:
    """What the checks refer to; the tensor buffer's size in bytes."""

    config: FmsConfig
    streams: dict[int, StreamSettings]
    memory_bytes: int

    def status(self, port: Port, request: Request) -> Status:
        """The status of the first check that fails, or success."""
        if request.opcode not in _OPCODES:
            return Status.INVALID_OPCODE
        if request.fuse or (request.has_data and request.psdt != Submission.PSDT_SGL):
            return Status.INVALID_FIELD
        if request.nsid not in self.streams:
            return Status.INVALID_NAMESPACE
        if request.has_source and (request.source not in self.streams or request.source == request.nsid):
            return Status.INVALID_NAMESPACE
        stream = self.streams[request.nsid]
        if not self._allowed(port, request):
            return Status.ACCESS_DENIED
        if not self._fields_valid(request):
            return Status.INVALID_FIELD
        if request.has_data and (status := self._data_pointer(request)):
            return status
        if not self._inside(request, stream):
            return Status.LBA_OUT_OF_RANGE
        return Status.SUCCESS

    def _inside(self, request: Request, stream: StreamSettings) -> bool:
        """Whether the zone that it names exists."""
        g = self.config.geometry
        if request.opcode == Opcode.INSPECT:
            return request.slba // g.zone_size < g.blocks
        if request.restores_zone:
            return request.slba > 0 and (request.slba - 1) // g.zone_size < stream.zones
        return not request.names_zone or request.slba // g.zone_size < stream.zones

    def _allowed(self, port: Port, request: Request) -> bool:
        if request.recovers:
            return port is Port.HOST
        if not self.streams[request.nsid].access[port] & _needed(request.opcode):
            return False
        if not request.has_source:
            return True
        of_source = Access.APPEND if request.commits else Access.READ
        return bool(self.streams[request.source].access[port] & of_source)

    def _fields_valid(self, request: Request) -> bool:
        g = self.config.geometry
        if request.moves_blocks and request.blocks > self.config.max_blocks:
            return False
        to_start = request.manages_zone or request.opcode in (Opcode.ZONE_APPEND, Opcode.UPDATE)
        if to_start and request.slba % g.zone_size:
            return False
        if request.serves_dies and request.blocks != g.channels * g.dies:
            return False
        if request.has_source and self.streams[request.source].zones != self.streams[request.nsid].zones:
            return False
        match request.opcode:
            case Opcode.UPDATE:
                return (
                    1 <= request.pages <= g.planes
                    and request.copies <= request.pages
                    and request.rows >= 1
                    and request.blocks == request.rows * g.channels * request.pages
                )
            case Opcode.RESTORE:
                return self._restore_valid(request)
            case Opcode.GENERATION:
                return request.action in _GENERATION_ACTIONS
            case Opcode.ZONE_MANAGEMENT_SEND:
                return request.action in _ACTIONS
            case Opcode.ZONE_RETIRE:
                return request.action in (ZoneState.READ_ONLY, ZoneState.OFFLINE)
            case Opcode.ZONE_MANAGEMENT_RECEIVE:
                return (
                    request.action == ZoneReport.REPORT_ZONES
                    and request.report_options == _ALL_ZONES
                    and request.report_bytes >= ReportHeader.BYTES
                )
        return True

    def _restore_valid(self, request: Request) -> bool:
        g = self.config.geometry
        match request.action:
            case RestoreAction.ZONE:
                return request.physical < g.zones and request.restored_state in _RESTORED_STATES
            case RestoreAction.PHYSICAL:
                return request.physical < g.blocks
            case RestoreAction.BLOCK:
                return (
                    request.physical < g.blocks
                    and request.channel < g.channels
                    and request.die < g.dies
                    and request.plane < g.planes
                    and request.spare < g.spare_blocks
                )
        return request.action in _RESTORE_ACTIONS

    def _data_pointer(self, request: Request) -> Status:
        page_bytes = self.config.geometry.page_bytes
        expected, alignment = request.blocks * page_bytes, page_bytes
        if not request.moves_blocks:
            expected, alignment = request.report_bytes, _REPORT_ALIGNMENT
        if request.sgl_type != _SGL_DATA_BLOCK:
            return Status.SGL_TYPE_INVALID
        if request.length != expected:
            return Status.SGL_LENGTH_INVALID
        if request.address % alignment:
            return Status.SGL_GRANULARITY_INVALID
        if request.address + request.length > self.memory_bytes:
            return Status.DATA_TRANSFER_ERROR
        return Status.SUCCESS


def _needed(opcode: int) -> Access:
    """The rights of which a port needs one for this command."""
    if opcode == Opcode.READ:
        return Access.READ
    if opcode in (Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.GET_STATISTICS):
        return Access.READ | Access.APPEND
    return Access.APPEND
