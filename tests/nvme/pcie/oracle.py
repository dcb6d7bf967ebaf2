"""What a host may expect, from the text of the standards alone: NVM Express Base 2.0, NVM 1.0, ZNS 1.1.

An answer is a set of statuses, because a command may have several errors. Nothing is imported from the code.
"""

from dataclasses import dataclass, field

SUCCESS = 0x000
INVALID_OPCODE, INVALID_FIELD, DATA_TRANSFER_ERROR = 0x001, 0x002, 0x004
INVALID_NAMESPACE, INVALID_PRP_OFFSET, LBA_OUT_OF_RANGE = 0x00B, 0x013, 0x080
COMPLETION_QUEUE_INVALID, INVALID_QUEUE, INVALID_QUEUE_SIZE = 0x100, 0x101, 0x102
INVALID_VECTOR, INVALID_QUEUE_DELETION = 0x108, 0x10C
SGL_SEGMENT, SGL_COUNT, SGL_LENGTH, SGL_TYPE, SGL_GRANULARITY = 0x00D, 0x00E, 0x00F, 0x011, 0x01E
ZONE_BOUNDARY, ZONE_FULL, INVALID_ZONE_WRITE = 0x1B8, 0x1B9, 0x1BC
WRITE, READ, APPEND = 0x01, 0x02, 0x7D

Bytes = bytes | bytearray


class Fault(Exception):
    """A data pointer that does not lead to the data."""

    def __init__(self, status: int) -> None:
        super().__init__(hex(status))
        self.status = status


def data_addresses(
    memory: Bytes, prp1: int, prp2: int, length: int, page: int, posted: bool = False
) -> list[tuple[int, int]]:
    """The pieces of a command's data, a page at a time (Base 2.0, section 4.1.1).

    posted: they are written there, and have no answer (PCI Express Base, section 2.4).
    """
    if prp1 % 4:
        raise Fault(INVALID_PRP_OFFSET)
    pieces = [(prp1, min(length, page - prp1 % page))]
    rest = length - pieces[0][1]
    if 0 < rest <= page:
        pieces.append((prp2, rest))
    elif rest:
        place = prp2
        if place % 8:
            raise Fault(INVALID_PRP_OFFSET)
        while rest:
            entry = _entry(memory, place)
            if place % page == page - 8 and rest > page:
                if entry % page:
                    raise Fault(INVALID_PRP_OFFSET)
                place = entry
                continue
            pieces.append((entry, min(rest, page)))
            rest -= pieces[-1][1]
            place += 8
    if any(address % page for address, _ in pieces[1:]):
        raise Fault(INVALID_PRP_OFFSET)
    if not posted and any(address + size > len(memory) for address, size in pieces):
        raise Fault(DATA_TRANSFER_ERROR)
    return pieces


def sgl_addresses(
    memory: Bytes, descriptor: bytes, length: int, blocks: int, descriptors: int, posted: bool = False
) -> list[tuple[int, int]]:
    """The pieces of a command's data by an SGL (Base 2.0, section 4.1.2), in dwords, longer ones allowed.

    What is behind the data is not looked at. Of a list there are so many blocks with data, and descriptors.
    """
    pieces: list[tuple[int, int]] = []
    segment, in_last = [descriptor], False
    while True:
        following = None
        for number, one in enumerate(segment):
            if sum(size for _, size in pieces) >= length:
                break
            if one is None:
                raise Fault(DATA_TRANSFER_ERROR)
            address, size = int.from_bytes(one[:8], "little"), int.from_bytes(one[8:12], "little")
            if one[15] not in (0x00, 0x20, 0x30):
                raise Fault(SGL_TYPE)
            if one[15]:
                if in_last:
                    raise Fault(SGL_SEGMENT)
                if number != len(segment) - 1:
                    raise Fault(SGL_COUNT)
                if not size or size % 16 or address % 8:
                    raise Fault(SGL_SEGMENT)
                if address + size > 1 << 64:
                    raise Fault(SGL_LENGTH)
                descriptors -= size // 16
                if descriptors < 0:
                    raise Fault(SGL_COUNT)
                following = range(address, address + size, 16), one[15] == 0x30
                continue
            if address % 4 or size % 4:
                raise Fault(SGL_GRANULARITY)
            if address + size > 1 << 64:
                raise Fault(SGL_LENGTH)
            if size and len(pieces) == blocks:
                raise Fault(SGL_COUNT)
            if size:
                pieces.append((address, min(size, length - sum(before for _, before in pieces))))
        if sum(size for _, size in pieces) >= length:
            break
        if following is None:
            raise Fault(SGL_LENGTH)
        places, in_last = following
        segment = [memory[at : at + 16] if at + 16 <= len(memory) else None for at in places]
    if not posted and any(address + size > len(memory) for address, size in pieces):
        raise Fault(DATA_TRANSFER_ERROR)
    return pieces


def _entry(memory: Bytes, place: int) -> int:
    if place + 8 > len(memory):
        raise Fault(DATA_TRANSFER_ERROR)
    return int.from_bytes(memory[place : place + 8], "little")


@dataclass
class Queues:
    """The I/O queues that a host has made. limit: of their numbers; entries: of a queue, at most."""

    limit: int
    entries: int
    page: int
    completions: set[int] = field(default_factory=set)
    submissions: dict[int, int] = field(default_factory=dict)

    def create_completions(
        self, number: int, entries: int, address: int, flags: int, vector: int
    ) -> set[int]:
        """Base 2.0, section 5.4."""
        wrong = self._wrong(number, self.completions, entries, address, flags)
        if vector > self.limit:
            wrong.add(INVALID_VECTOR)
        if not wrong:
            self.completions.add(number)
        return wrong or {SUCCESS}

    def create_submissions(
        self, number: int, entries: int, address: int, flags: int, chosen: int
    ) -> set[int]:
        """Base 2.0, section 5.5."""
        wrong = self._wrong(number, set(self.submissions), entries, address, flags)
        if not 0 < chosen <= self.limit:
            wrong.add(INVALID_QUEUE)
        elif chosen not in self.completions:
            wrong.add(COMPLETION_QUEUE_INVALID)
        if not wrong:
            self.submissions[number] = chosen
        return wrong or {SUCCESS}

    def delete_completions(self, number: int) -> set[int]:
        """Base 2.0, section 5.6."""
        if number not in self.completions:
            return {INVALID_QUEUE}
        if number in self.submissions.values():
            return {INVALID_QUEUE_DELETION}
        self.completions.discard(number)
        return {SUCCESS}

    def delete_submissions(self, number: int) -> set[int]:
        """Base 2.0, section 5.7."""
        if self.submissions.pop(number, None) is None:
            return {INVALID_QUEUE}
        return {SUCCESS}

    def _wrong(self, number: int, others: set[int], entries: int, address: int, flags: int) -> set[int]:
        wrong = set()
        if not 0 < number <= self.limit or number in others:
            wrong.add(INVALID_QUEUE)
        if not 2 <= entries <= self.entries:
            wrong.add(INVALID_QUEUE_SIZE)
        if address % self.page:
            wrong.add(INVALID_PRP_OFFSET)
        if not flags & 1:  # CAP.CQR
            wrong.add(INVALID_FIELD)
        return wrong


@dataclass
class Zones:
    """The zones of a namespace, of `size` blocks, the first `capacity` of which can be written."""

    size: int
    count: int
    block: int
    capacity: int
    data: dict[int, bytes] = field(default_factory=dict)
    pointers: dict[int, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        """The address behind the last block."""
        return self.size * self.count

    def refusals(self, lba: int, blocks: int, opcode: int) -> set[int]:
        """The errors of a write, an append or a read (ZNS 1.1, sections 2.1.1.2 and 3.4.1)."""
        if lba + blocks > self.end:
            return {LBA_OUT_OF_RANGE}
        zone, offset = divmod(lba, self.size)
        if opcode == READ:
            return {ZONE_BOUNDARY} if offset + blocks > self.size else set()
        if opcode == APPEND and offset:
            return {INVALID_FIELD}
        pointer = self.pointers.get(zone, 0)
        wrong = set()
        if pointer == self.capacity:
            wrong.add(ZONE_FULL)
        if (pointer if opcode == APPEND else offset) + blocks > self.capacity:
            wrong.add(ZONE_BOUNDARY)
        if opcode == WRITE and offset != pointer:
            wrong.add(INVALID_ZONE_WRITE)
        return wrong

    def write(self, lba: int, data: bytes, opcode: int) -> tuple[set[int], int]:
        """The statuses of a write or an append, and where an append has put its data."""
        blocks = len(data) // self.block
        if wrong := self.refusals(lba, blocks, opcode):
            return wrong, 0
        zone = lba // self.size
        pointer = self.pointers.get(zone, 0)
        start = zone * self.size + pointer
        for number in range(blocks):
            self.data[start + number] = data[number * self.block : (number + 1) * self.block]
        self.pointers[zone] = pointer + blocks
        return {SUCCESS}, start if opcode == APPEND else 0

    def read(self, lba: int, blocks: int) -> tuple[set[int], bytes]:
        """Blocks that were never written are zeros (ZNS 1.1, section 2.1.1.2.1); OZCS.RAZB is 0."""
        if wrong := self.refusals(lba, blocks, READ):
            return wrong, b""
        empty = bytes(self.block)
        return {SUCCESS}, b"".join(self.data.get(lba + number, empty) for number in range(blocks))

    def reset(self, zone: int) -> None:
        self.pointers[zone] = 0
        for lba in range(zone * self.size, (zone + 1) * self.size):
            self.data.pop(lba, None)
