"""The fields of a submission entry."""

from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from flashtrain.spec import FmsConfig, Opcode, Submission
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import BitField, GenerationAction
from flashtrain.spec.streams import Codec

_MOVE_DATA_OF_ZONE = frozenset({Opcode.READ, Opcode.WRITE, Opcode.ZONE_APPEND, Opcode.UPDATE})
_MOVE_BLOCKS = _MOVE_DATA_OF_ZONE | {Opcode.SET_CONSTANTS, Opcode.GET_STATISTICS, Opcode.INSPECT}
_NAME_SOURCE = frozenset({Opcode.UPDATE, Opcode.GENERATION})
_RECOVER = frozenset({Opcode.INSPECT, Opcode.RESTORE})
_HAVE_DATA = _MOVE_BLOCKS | {Opcode.ZONE_MANAGEMENT_RECEIVE}


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
    source_page: int
    physical: int
    wear: int
    restored_state: int
    unsure: bool
    sequence: int
    generation: int
    time: int
    channel: int
    die: int
    plane: int
    spare: int
    expanded: int
    exact: bool
    first_part: int
    parts: int

    def codec(self, of_stream: Codec) -> Codec:
        """The codec of the command's data on a stream with this one."""
        return Codec.WINDOW16 if self.exact and of_stream is not Codec.RAW else of_stream

    def reads_parts(self, config: FmsConfig) -> bool:
        """The command is a read of parts of its block."""
        return config.part_bytes > 0 and self.opcode == Opcode.READ and self.parts > 0

    @property
    def moves_blocks(self) -> bool:
        """The command transfers `blocks` logical blocks."""
        return self.opcode in _MOVE_BLOCKS

    @property
    def has_data(self) -> bool:
        return self.opcode in _HAVE_DATA

    @property
    def names_zone(self) -> bool:
        """SLBA must lie in a zone of the namespace."""
        return self.opcode in _MOVE_DATA_OF_ZONE or self.manages_zone

    @property
    def recovers(self) -> bool:
        """The command is one of recovery, which needs no right to the stream."""
        return self.opcode in _RECOVER

    @property
    def restores_zone(self) -> bool:
        return self.opcode == Opcode.RESTORE and self.action == RestoreAction.ZONE

    @property
    def commits(self) -> bool:
        return self.opcode == Opcode.GENERATION and self.action == GenerationAction.COMMIT

    @property
    def advances(self) -> bool:
        return self.opcode == Opcode.GENERATION and self.action == GenerationAction.ADVANCE

    @property
    def has_source(self) -> bool:
        return self.opcode in _NAME_SOURCE and (self.opcode == Opcode.UPDATE or self.commits)

    @property
    def manages_zone(self) -> bool:
        """The command is zone management of one zone, or a report from one on."""
        if self.opcode == Opcode.ZONE_MANAGEMENT_SEND:
            return not self.select_all
        return self.opcode in (Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.ZONE_RETIRE)


_SOURCES = {"blocks": "nlb", "report_bytes": "dwords"}
_WORDS, _LONG_WORDS = Struct("<16I"), Struct("<8Q")


def _place(field: BitField) -> tuple[int, int, int]:
    """The place of a field: which of the 16 words and 8 long words, its lowest bit, its mask."""
    word, low = divmod(field.low, 32)
    if low + field.width > 32:
        word, low = 16 + field.low // 64, field.low % 64
    return word, low, (1 << field.width) - 1


_PLACES = tuple(_place(getattr(Submission, _SOURCES.get(name, name))) for name in SubmissionEntry._fields)
_BLOCKS, _REPORT_BYTES, _SELECT_ALL, _PARTIAL, _UNSURE, _EXPANDED, _EXACT = (
    SubmissionEntry._fields.index(name)
    for name in ("blocks", "report_bytes", "select_all", "partial", "unsure", "expanded", "exact")
)


_ENTRY = Struct("<2sH20sQ8sQ16s")
"""An entry by its CID, address and SLBA, and what is between them."""


def parse(raw: bytes | memoryview) -> SubmissionEntry:
    """The fields of a 64-byte entry. All but CID, address and SLBA are the same in most entries."""
    first, cid, second, address, third, slba, last = _ENTRY.unpack(raw)
    shared = _shared(first, second, third, last)
    opcode, fuse, psdt, _, nsid, _, length, sgl_type, _, *rest = shared
    fields = (opcode, fuse, psdt, cid, nsid, address, length, sgl_type, slba, *rest)
    return SubmissionEntry._make(fields)


@lru_cache(maxsize=1024)
def _shared(first: bytes, second: bytes, third: bytes, last: bytes) -> SubmissionEntry:
    """The fields of an entry whose CID, address and SLBA are 0."""
    raw = _ENTRY.pack(first, 0, second, 0, third, 0, last)
    words = _WORDS.unpack(raw) + _LONG_WORDS.unpack(raw)
    fields = [words[word] >> low & mask for word, low, mask in _PLACES]
    fields[_BLOCKS] += 1
    fields[_REPORT_BYTES] = 4 * (fields[_REPORT_BYTES] + 1)
    fields[_EXPANDED] += 1
    for flag in (_SELECT_ALL, _PARTIAL, _UNSURE, _EXACT):
        fields[flag] = bool(fields[flag])
    return SubmissionEntry._make(fields)
