"""Data pointers of Scatter Gather Lists (NVM Express Base 2.0, section 4.1.2)."""

from flashtrain.nvme.subsystem.io_commands import Refusal
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec.pcie import (
    SGL_ALIGNMENT,
    SglDescriptor,
    SglStatus,
    SglType,
    most_blocks,
    most_descriptors,
)

from .memory import Memory, Span, Unreachable, read

_ADDRESSES = 1 << 64
_TYPES = frozenset(SglType)
_SEGMENTS = SglType.SEGMENT, SglType.LAST_SEGMENT


def sgl_spans(memory: Memory, first: int, second: int, length: int, most_bytes: int) -> list[Span]:
    """The data of a command by its SGL descriptor, a block of the list at a time.

    `most_bytes` is the limit of a transfer, which bounds the list. All descriptors up to the end of the data
    are read before a byte moves, and judged in their order. :class:`Refusal` of the first one with a fault.
    """
    d, left, found = SglDescriptor, length, []
    blocks, spare = most_blocks(most_bytes), most_descriptors(most_bytes)
    is_last, segment = False, [first | second << 64]
    place = ends = 0
    while left:
        if segment:
            word = segment.pop()
        elif place < ends:
            word = _descriptor(memory, place)
            place += d.BYTES
        else:
            raise Refusal(SglStatus.INVALID_LENGTH)
        address, size, kind = d.address.get(word), d.length.get(word), d.type.get(word)
        if kind not in _TYPES or d.subtype.get(word):
            raise Refusal(SglStatus.INVALID_TYPE)
        if kind in _SEGMENTS:
            if is_last:
                raise Refusal(SglStatus.INVALID_SEGMENT)
            if place < ends:
                raise Refusal(SglStatus.INVALID_COUNT)
            if address % SGL_ALIGNMENT or size % d.BYTES or not size:
                raise Refusal(SglStatus.INVALID_SEGMENT)
        elif (address | size) & 3:
            raise Refusal(SglStatus.INVALID_GRANULARITY)
        if address + size > _ADDRESSES:
            raise Refusal(SglStatus.INVALID_LENGTH)
        if kind in _SEGMENTS:
            if size // d.BYTES > spare:
                raise Refusal(SglStatus.INVALID_COUNT)
            is_last, spare = kind == SglType.LAST_SEGMENT, spare - size // d.BYTES
            place, ends = address, address + size
        elif size:
            if not blocks:
                raise Refusal(SglStatus.INVALID_COUNT)
            blocks -= 1
            found.append(Span(address, min(size, left)))
            left -= found[-1].length
    return found


def _descriptor(memory: Memory, place: int) -> int:
    try:
        return int.from_bytes(read(memory, place, SglDescriptor.BYTES), "little")
    except Unreachable:
        raise Refusal(TargetStatus.DATA_TRANSFER_ERROR) from None
