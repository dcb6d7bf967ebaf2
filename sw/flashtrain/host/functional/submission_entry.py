"""The fields of a submission entry."""

from typing import NamedTuple

from flashtrain.spec import Opcode, Submission
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.streams import Codec

_MOVE_DATA_OF_ZONE = frozenset({Opcode.READ, Opcode.WRITE, Opcode.ZONE_APPEND, Opcode.UPDATE})
_MOVE_PAGES_OF_DIES = frozenset({Opcode.SET_CONSTANTS, Opcode.GET_STATISTICS})


class SubmissionEntry(NamedTuple):
    """The fields of a 64-byte entry, unchecked. Numbers of blocks and bytes are true ones, not less one."""

    opcode: int
    fuse: int
    psdt: int
    cid: int
    nsid: int
    address: int
    length: int
    sgl_type: int
    slba: int
    blocks: int
    report_bytes: int
    action: int
    select_all: bool
    report_options: int
    partial: bool
    pages: int
    copies: int
    rows: int
    source: int
    physical: int
    wear: int
    restored_state: int
    sequence: int
    generation: int
    time: int
    channel: int
    die: int
    plane: int
    spare: int
    expanded: int
    exact: bool

    def codec(self, of_stream: Codec) -> Codec:
        """The codec of the command's data on a stream with this one."""
        return Codec.WINDOW16 if self.exact and of_stream is not Codec.RAW else of_stream

    @property
    def moves_blocks(self) -> bool:
        """The command transfers `blocks` logical blocks."""
        return self.opcode in _MOVE_DATA_OF_ZONE or self.opcode == Opcode.INSPECT or self.serves_dies

    @property
    def serves_dies(self) -> bool:
        """The command transfers one block for each die."""
        return self.opcode in _MOVE_PAGES_OF_DIES

    @property
    def has_data(self) -> bool:
        return self.moves_blocks or self.opcode == Opcode.ZONE_MANAGEMENT_RECEIVE

    @property
    def names_zone(self) -> bool:
        """SLBA must lie in a zone of the namespace."""
        return self.opcode in _MOVE_DATA_OF_ZONE or self.manages_zone

    @property
    def recovers(self) -> bool:
        """The command is one of recovery, which needs no right to the stream."""
        return self.opcode in (Opcode.INSPECT, Opcode.RESTORE)

    @property
    def restores_zone(self) -> bool:
        return self.opcode == Opcode.RESTORE and self.action == RestoreAction.ZONE

    @property
    def commits(self) -> bool:
        return self.opcode == Opcode.GENERATION and self.action == GenerationAction.COMMIT

    @property
    def has_source(self) -> bool:
        return self.opcode == Opcode.UPDATE or self.commits

    @property
    def manages_zone(self) -> bool:
        """The command is zone management of one zone, or a report from one on."""
        if self.opcode == Opcode.ZONE_MANAGEMENT_SEND:
            return not self.select_all
        return self.opcode in (Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.ZONE_RETIRE)


_SOURCES = {"blocks": "nlb", "report_bytes": "dwords"}
_FIELDS = tuple(
    (field.low, (1 << field.width) - 1)
    for field in (getattr(Submission, _SOURCES.get(name, name)) for name in SubmissionEntry._fields)
)


def parse(raw: bytes) -> SubmissionEntry:
    """The fields of a 64-byte entry."""
    value = int.from_bytes(raw, "little")
    read = SubmissionEntry._make([value >> low & mask for low, mask in _FIELDS])
    return read._replace(
        blocks=read.blocks + 1,
        report_bytes=4 * (read.report_bytes + 1),
        select_all=bool(read.select_all),
        partial=bool(read.partial),
        expanded=read.expanded + 1,
        exact=bool(read.exact),
    )
