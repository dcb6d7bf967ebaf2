"""Checks 1 to 7 of the contract: what an entry says, whatever the state of streams and zones."""

from collections.abc import Mapping
from dataclasses import dataclass

from flashtrain.spec import Access, FmsConfig, Opcode, Port, Status, Submission, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction, ReportHeader
from flashtrain.spec.registers import MAX_STREAMS

from .state import RETIRED, StreamRights
from .verdict import demand

BLOCKS = frozenset({
    Opcode.WRITE, Opcode.READ, Opcode.ZONE_APPEND, Opcode.SET_CONSTANTS, Opcode.GET_STATISTICS, Opcode.UPDATE,
    Opcode.INSPECT,
})  # fmt: skip
"""Commands whose data are blocks."""
DATA = BLOCKS | {Opcode.ZONE_MANAGEMENT_RECEIVE}
_REPORTS = frozenset({Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.GET_STATISTICS})
_RECOVERY = frozenset({Opcode.INSPECT, Opcode.RESTORE})
_OPCODES = frozenset(Opcode)
_LAST_ADDRESSES = 1 << 64


@dataclass(frozen=True)
class Surroundings:
    """The inputs of checks 1 to 7 beside the entry. They are constant while the device is enabled."""

    config: FmsConfig
    rights: Mapping[int, StreamRights]
    memory_bytes: int


def is_commit(entry: int) -> bool:
    s = Submission
    return s.opcode.get(entry) == Opcode.GENERATION and s.action.get(entry) == GenerationAction.COMMIT


def data_bytes(entry: int, around: Surroundings) -> int:
    """The bytes of a command with data, to a stream that exists, by its number of blocks or dwords."""
    s = Submission
    if s.opcode.get(entry) == Opcode.ZONE_MANAGEMENT_RECEIVE:
        return 4 * (s.dwords.get(entry) + 1)
    reads = s.opcode.get(entry) == Opcode.READ
    expands = reads and around.rights[s.nsid.get(entry)].encodes
    if reads and around.config.part_bytes and (parts := s.parts.get(entry)):
        return parts * around.config.part_bytes
    blocks = (s.expanded if expands else s.nlb).get(entry) + 1
    return blocks * around.config.geometry.page_bytes


def reserved_blocks(entry: int, config: FmsConfig, rights: StreamRights) -> int:
    """Blocks of the zone that an append or write may take."""
    return config.coded_bound(Submission.nlb.get(entry) + 1, rights.codec_of(entry))


def zone_of(entry: int, config: FmsConfig) -> int:
    """The number of the zone of the first block; of a restored zone, of the block before its pointer."""
    s = Submission
    first = s.slba.get(entry) - (s.opcode.get(entry) == Opcode.RESTORE)
    return first // config.geometry.zone_size  # -1 before the first block of all


def check_entry(entry: int, port: Port, around: Surroundings) -> None:
    """Refuse an entry by the first of checks 1 to 7 that it fails."""
    s, opcode = Submission, Submission.opcode.get(entry)
    demand(opcode in _OPCODES, Status.INVALID_OPCODE, "1: opcode known")
    opcode = Opcode(opcode)
    demand(s.fuse.get(entry) == 0, Status.INVALID_FIELD, "2: FUSE is 0")
    demand(opcode not in DATA or s.psdt.get(entry) == s.PSDT_SGL, Status.INVALID_FIELD, "2: PSDT is 01b")
    _check_namespace(opcode, entry, around)
    _check_permission(opcode, entry, port, around)
    _check_fields(opcode, entry, around)
    if opcode in DATA:
        _check_data_pointer(opcode, entry, around)
    _check_zone(opcode, entry, around)


def _check_namespace(opcode: Opcode, entry: int, around: Surroundings) -> None:
    nsid, source = Submission.nsid.get(entry), Submission.source.get(entry)
    demand(1 <= nsid <= MAX_STREAMS, Status.INVALID_NAMESPACE, "3: NSID is one")
    demand(nsid in around.rights, Status.INVALID_FIELD, "3: a stream has NSID")
    if opcode is Opcode.UPDATE or is_commit(entry):
        demand(1 <= source <= MAX_STREAMS, Status.INVALID_NAMESPACE, "3: SOURCE is an NSID")
        demand(source != nsid, Status.INVALID_NAMESPACE, "3: SOURCE is another namespace")
        demand(source in around.rights, Status.INVALID_FIELD, "3: a stream has SOURCE")


def _check_permission(opcode: Opcode, entry: int, port: Port, around: Surroundings) -> None:
    denied = Status.ACCESS_DENIED
    mine = around.rights[Submission.nsid.get(entry)].of(port)
    if opcode in _RECOVERY:
        demand(port is Port.HOST, denied, "4: inspect and restore are the host's")
    elif opcode in _REPORTS:
        demand(bool(mine), denied, "4: the port may read or append")
    elif opcode is Opcode.READ:
        demand(Access.READ in mine, denied, "4: the port may read")
    else:
        demand(Access.APPEND in mine, denied, "4: the port may append")
    if opcode is Opcode.UPDATE or is_commit(entry):
        needed = Access.READ if opcode is Opcode.UPDATE else Access.APPEND
        of_source = around.rights[Submission.source.get(entry)].of(port)
        demand(needed in of_source, denied, f"4: the port may {needed.name} the source")
    if opcode in (Opcode.WRITE, Opcode.UPDATE):
        raw = not around.rights[Submission.nsid.get(entry)].encodes
        demand(raw, Status.STREAM_IS_CODED, "4: a write or update is of no stream with a codec")
    if opcode is Opcode.UPDATE:
        raw = not around.rights[Submission.source.get(entry)].encodes
        demand(raw, Status.STREAM_IS_CODED, "4: the source of an update has no codec")


def _check_fields(opcode: Opcode, entry: int, around: Surroundings) -> None:
    s, g, invalid = Submission, around.config.geometry, Status.INVALID_FIELD
    slba, action, blocks = s.slba.get(entry), s.action.get(entry), s.nlb.get(entry) + 1
    if opcode in BLOCKS:
        most, rights = around.config.max_blocks, around.rights[s.nsid.get(entry)]
        demand(blocks <= most, invalid, "5: blocks within the transfer limit")
        if opcode is Opcode.ZONE_APPEND:
            bound = reserved_blocks(entry, around.config, rights)
            demand(bound <= most, invalid, "5: the bound of an append within the transfer limit")
        if opcode is Opcode.READ and rights.encodes:
            expanded = s.expanded.get(entry) + 1
            demand(expanded <= most, invalid, "5: the expanded blocks of a read within the transfer limit")
        if opcode is Opcode.READ and around.config.part_bytes:
            first, parts = s.first_part.get(entry), s.parts.get(entry)
            demand(parts or not first, invalid, "5: without PARTS, FIRST_PART is 0")
            demand(not parts or blocks == 1, invalid, "5: PARTS are of one block")
            demand(first + parts <= around.config.page_parts, invalid, "5: the last part is within it")
    send_one = opcode is Opcode.ZONE_MANAGEMENT_SEND and not s.select_all.get(entry)
    of_zone = (Opcode.ZONE_APPEND, Opcode.UPDATE, Opcode.ZONE_RETIRE)
    if opcode in of_zone or send_one:
        demand(slba % g.zone_size == 0, invalid, "5: (Z)SLBA is the start of a zone")
    match opcode:
        case Opcode.ZONE_MANAGEMENT_SEND:
            demand(action in list(ZoneAction), invalid, "5: ZSA known")
        case Opcode.ZONE_RETIRE:
            demand(action in (ZoneState.READ_ONLY, ZoneState.OFFLINE), invalid, "5: ZSA known")
        case Opcode.GENERATION:
            demand(action in list(GenerationAction), invalid, "5: generation action known")
        case Opcode.ZONE_MANAGEMENT_RECEIVE:
            demand(action == 0, invalid, "5: ZRA known")
            demand(s.report_options.get(entry) <= 7, invalid, "5: reporting options known")
            demand(data_bytes(entry, around) >= ReportHeader.BYTES, invalid, "5: 64 bytes of report")
        case Opcode.SET_CONSTANTS | Opcode.GET_STATISTICS:
            demand(blocks == g.channels * g.dies, invalid, "5: as many blocks as dies")
        case Opcode.UPDATE:
            pages, rows = s.pages.get(entry), s.rows.get(entry)
            demand(1 <= pages <= g.planes, invalid, "5: PAGES is 1 to the planes of a die")
            demand(s.copies.get(entry) <= pages, invalid, "5: COPIES is at most PAGES")
            demand(rows >= 1, invalid, "5: ROWS is at least 1")
            demand(blocks == rows * g.channels * pages, invalid, "5: blocks are ROWS x channels x PAGES")
            in_block = s.source_page.get(entry) < g.pages
            demand(in_block, invalid, "5: SOURCE_PAGE is below the pages of a block")
        case Opcode.RESTORE:
            demand(action in list(RestoreAction), invalid, "5: restore action known")
            if action == RestoreAction.ZONE:
                known = s.restored_state.get(entry) in (ZoneState.CLOSED, ZoneState.FULL, *RETIRED)
                demand(known, invalid, "5: restored_state is CLOSED, READ_ONLY, FULL or OFFLINE")
            if action == RestoreAction.ZONE:
                demand(s.physical.get(entry) < g.zones, invalid, "5: physical is a zone of the device")
            if action in (RestoreAction.PHYSICAL, RestoreAction.BLOCK):
                demand(s.physical.get(entry) < g.blocks, invalid, "5: physical is a zone, or spares")
            if action == RestoreAction.BLOCK:
                place = (s.channel.get(entry), s.die.get(entry), s.plane.get(entry), s.spare.get(entry))
                limits = (g.channels, g.dies, g.planes, g.spare_blocks)
                exists = all(one < limit for one, limit in zip(place, limits, strict=True))
                demand(exists, invalid, "5: there is such a spare block")
    if opcode is Opcode.UPDATE or is_commit(entry):
        own, other = around.rights[s.nsid.get(entry)], around.rights[s.source.get(entry)]
        demand(own.zones == other.zones, invalid, "5: the source has as many zones")


def _check_data_pointer(opcode: Opcode, entry: int, around: Surroundings) -> None:
    s, length = Submission, data_bytes(entry, around)
    address = s.address.get(entry)
    unit = 8 if opcode is Opcode.ZONE_MANAGEMENT_RECEIVE else around.config.geometry.page_bytes
    if opcode is Opcode.READ and s.parts.get(entry):
        unit = around.config.part_bytes or unit
    demand(s.sgl_type.get(entry) == 0, Status.SGL_TYPE_INVALID, "6: descriptor type")
    demand(s.length.get(entry) == length, Status.SGL_LENGTH_INVALID, "6: length")
    demand(address % unit == 0, Status.SGL_GRANULARITY_INVALID, f"6: address a multiple of {unit}")
    inside = address + length <= min(around.memory_bytes, _LAST_ADDRESSES)
    demand(inside, Status.DATA_TRANSFER_ERROR, "6: address range inside the tensor buffer")


def _check_zone(opcode: Opcode, entry: int, around: Surroundings) -> None:
    s = Submission
    zones = around.rights[s.nsid.get(entry)].zones
    match opcode:
        case Opcode.ZONE_MANAGEMENT_SEND if s.select_all.get(entry):
            return
        case Opcode.RESTORE if s.action.get(entry) != RestoreAction.ZONE:
            return
        case Opcode.INSPECT:
            zones = around.config.geometry.blocks
        case Opcode.FLUSH | Opcode.STREAM_RESET | Opcode.GENERATION:
            return
        case Opcode.SET_CONSTANTS | Opcode.GET_STATISTICS:
            return
    inside = 0 <= zone_of(entry, around.config) < zones
    demand(inside, Status.LBA_OUT_OF_RANGE, "7: the zone of the first block is inside the namespace")
