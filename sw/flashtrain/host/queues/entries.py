"""The driver's commands, their 64-byte submission entries, and completions from their 16-byte entries."""

from typing import NamedTuple

from flashtrain.spec import Completion, FmsConfig, Opcode, Status, Submission

_STATUSES = {int(status): status for status in Status}


class Command(NamedTuple):
    """One command before it has a slot in a queue.

    - slba: block address within the stream.
    - blocks: logical blocks of data.
    - address, length: the data's place in the tensor buffer, in bytes; 0 without data.
    - action: the zone send action (ZSA), the new state of a retired zone, or a generation command's action.
    - report_options, partial: of a report.
    - pages, copies, rows: of an update, pages of gradients per tile, pages of copies per tile, rows of tiles.
    - source: namespace of the current generation, of an update or a commit.
    - source_page: the page of its zone that the first tile of an update is on.
    - physical, wear, restored_state, sequence, generation, time: of a restore.
    - unsure: of the restore or the finish of a zone, blocks behind its write pointer may be lost.
    - channel, die, plane, spare: of the restore of a block, which has no sequence and generation.
    - first_part, parts: of a read of parts of its only block; 0 for whole blocks.
    - expanded, exact: of a stream with a codec; blocks of data of a read, and whether the data are no floats.
    """

    opcode: Opcode
    nsid: int
    slba: int = 0
    blocks: int = 0
    address: int = 0
    length: int = 0
    action: int = 0
    select_all: bool = False
    report_options: int = 0
    partial: bool = False
    pages: int = 0
    copies: int = 0
    rows: int = 0
    source: int = 0
    source_page: int = 0
    physical: int = 0
    wear: int = 0
    restored_state: int = 0
    unsure: bool = False
    sequence: int = 0
    generation: int = 0
    time: int = 0
    channel: int = 0
    die: int = 0
    plane: int = 0
    spare: int = 0
    expanded: int = 0
    exact: bool = False
    first_part: int = 0
    parts: int = 0

    def entry(self, cid: int) -> bytes:
        """The submission entry, with command identifier `cid`."""
        s = Submission
        value = s.cid.put(cid)
        # The fields behind those of a read or a write are rare.
        for place, field in _PLAIN if self[_RARE:] != _RARE_VALUES else _COMMON:
            if number := self[place]:
                value |= field.put(number)
        if self.length:
            value |= _SGL | s.address.put(self.address) | s.length.put(self.length)
        if self.opcode is Opcode.ZONE_MANAGEMENT_RECEIVE:
            value |= s.dwords.put(self.length // 4 - 1)
        elif self.blocks:
            value |= s.nlb.put(self.blocks - 1)
        if self.expanded:
            value |= s.expanded.put(self.expanded - 1)
        return value.to_bytes(s.BYTES, "little")


_ENCODED = ("blocks", "address", "length", "expanded")
_PLAIN = tuple(
    (place, getattr(Submission, name)) for place, name in enumerate(Command._fields) if name not in _ENCODED
)
"""The fields of a command that stand in its entry as they are, with their places in the command."""
_RARE = Command._fields.index("action")
_RARE_VALUES = tuple(Command._field_defaults[name] for name in Command._fields[_RARE:])
_COMMON = tuple((place, field) for place, field in _PLAIN if place < _RARE)
_SGL = Submission.psdt.put(Submission.PSDT_SGL)


def raw_entry(**fields: int) -> bytes:
    """A 64-byte submission entry with these fields of `Submission`, sensible or not; the others are 0."""
    value = 0
    for name, number in fields.items():
        value |= getattr(Submission, name).put(number)
    return value.to_bytes(Submission.BYTES, "little")


class CompletionEntry(NamedTuple):
    """The device's answer; `status` is a `Status`, or a number that the contract does not define.

    - do_not_retry: the same command would be refused again.
    """

    cid: int
    status: int
    result: int
    sq_head: int
    port: int
    do_not_retry: bool = False

    @property
    def ok(self) -> bool:
        return self.status == Status.SUCCESS


_COMPLETION = tuple(
    (field.low, (1 << field.width) - 1)
    for field in (
        Completion.cid, Completion.status, Completion.result, Completion.sq_head, Completion.sq_id,
        Completion.do_not_retry,
    )
)  # fmt: skip


def parse_completion(raw: bytes | memoryview) -> CompletionEntry:
    """The fields of a 16-byte completion entry."""
    entry = int.from_bytes(raw, "little")
    cid, status, result, sq_head, port, final = [entry >> low & mask for low, mask in _COMPLETION]
    return CompletionEntry(cid, _STATUSES.get(status, status), result, sq_head, port, bool(final))


def defined_result(opcode: int, answer: CompletionEntry, config: FmsConfig) -> int:
    """The part of a result that the commands determine, without the corrections of a READ."""
    if opcode != Opcode.READ or not answer.ok or config.code is None:
        return answer.result
    fields = Completion.corrected, Completion.retries
    return answer.result & ~sum(field.put((1 << field.width) - 1) for field in fields)
