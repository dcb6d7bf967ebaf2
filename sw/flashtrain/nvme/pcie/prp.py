"""Data pointers of Physical Region Pages (NVM Express Base 2.0, section 4.1.1)."""

import struct

from flashtrain.nvme.subsystem.io_commands import Refusal
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec.pcie import PRP_BYTES

from .memory import Memory, Span, Unreachable, read


def spans(memory: Memory, first: int, second: int, length: int, page_bytes: int) -> list[Span]:
    """The data of a command by its two PRPs, in pieces that are as long as they can be.

    The whole list is read before a byte moves. :class:`Refusal` of an entry with an offset that it may not
    have, or of a list that cannot be read.
    """
    if not length:
        return []
    if first & 3:
        raise Refusal(TargetStatus.INVALID_PRP_OFFSET)
    head = min(length, page_bytes - first % page_bytes)
    left = length - head
    if not left:
        return [Span(first, head)]
    if left <= page_bytes:
        entries = [second]
    else:
        entries = _listed(memory, second, -(-left // page_bytes), page_bytes)
    found, address, size = [], first, head
    for entry in entries:
        if entry & page_bytes - 1:
            raise Refusal(TargetStatus.INVALID_PRP_OFFSET)
        part = min(left, page_bytes)
        left -= part
        if entry == address + size:
            size += part
        else:
            found.append(Span(address, size))
            address, size = entry, part
    found.append(Span(address, size))
    return found


def _listed(memory: Memory, pointer: int, count: int, page_bytes: int) -> list[int]:
    """The entries of a list, whose last one in a page points to the next page while more are needed.

    A list that points back to itself ends with the data: every page but the first has entries for them.
    """
    if pointer & PRP_BYTES - 1:
        raise Refusal(TargetStatus.INVALID_PRP_OFFSET)
    entries: list[int] = []
    while True:
        room = (page_bytes - pointer % page_bytes) // PRP_BYTES
        missing = count - len(entries)
        taken = min(room, missing)
        try:
            raw = read(memory, pointer, taken * PRP_BYTES)
        except Unreachable:
            raise Refusal(TargetStatus.DATA_TRANSFER_ERROR) from None
        entries += struct.unpack(f"<{taken}Q", raw)
        if missing <= room:
            return entries
        pointer = entries.pop()
        if pointer & page_bytes - 1:
            raise Refusal(TargetStatus.INVALID_PRP_OFFSET)
