"""Records of the journal in blocks: each block says by itself which record it belongs to, and where in it.

A record has as many blocks as it needs. So recovery, which finds the last written block first, finds from it
the first block of its record. The head of a block has a CRC of its own. It is mostly whole in a block whose
program was interrupted, and says how many blocks that record has.
"""

from binascii import crc32, crc_hqx
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.journal import RecordHead, packing

_HEAD = packing(RecordHead)
_SEED = 0xFFFF  # of CRC-16: a head of zeros is none

Block = NDArray[np.uint8]


class Place(NamedTuple):
    """The place of a block: the number of its record, its position in the record, and the record's blocks."""

    record: int
    position: int
    blocks: int


class RecordBlocks:
    """The blocks of records on pages of `page_bytes`: a head, little endian, and a part of the record.

    The last bytes of each block are unused, because INSPECT returns the page's identity there.
    """

    def __init__(self, page_bytes: int) -> None:
        self._page_bytes = page_bytes
        self.payload = page_bytes - PageIdentity.BYTES - _HEAD.size
        """Bytes of a record in a block."""

    def count(self, nbytes: int) -> int:
        """Blocks of a record of so many bytes."""
        return -(-nbytes // self.payload)

    def split(self, record: int, data: bytes) -> Block:
        """The blocks of a record, uint8[blocks, block]."""
        blocks = self.count(len(data))
        made = np.zeros((blocks, self._page_bytes), np.uint8)
        padded = data.ljust(blocks * self.payload, b"\0")
        for index in range(blocks):
            part = padded[index * self.payload : (index + 1) * self.payload]
            head = RecordHead.MAGIC, record, index, blocks
            crc = crc_hqx(_HEAD.pack(*head, 0, 0)[: RecordHead.CHECKED_BYTES], _SEED)
            block = _HEAD.pack(*head, crc, crc32(part)) + part
            made[index, : len(block)] = np.frombuffer(block, np.uint8)
        return made

    def place(self, block: Block) -> Place | None:
        """The place of a block, uint8[block], whose content may be damaged; None if the head is."""
        head = block[: _HEAD.size].tobytes()
        magic, *numbers, crc, _ = _HEAD.unpack(head)
        whole = magic == RecordHead.MAGIC and crc == crc_hqx(head[: RecordHead.CHECKED_BYTES], _SEED)
        return Place(*numbers) if whole else None

    def join(self, blocks: Block) -> tuple[int, bytes] | None:
        """The number and the bytes of the record that `split` has put into these blocks, with padding; None
        if one of them is damaged, or they are not one whole record."""
        parts = [block[_HEAD.size : _HEAD.size + self.payload].tobytes() for block in blocks]
        sums = [_HEAD.unpack_from(block.tobytes())[-1] for block in blocks]
        first = self.place(blocks[0])
        if first is None or sums != [crc32(part) for part in parts]:
            return None
        expected = [Place(first.record, index, len(blocks)) for index in range(len(blocks))]
        if [self.place(block) for block in blocks] != expected:
            return None
        return first.record, b"".join(parts)
