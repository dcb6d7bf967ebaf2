"""Units of the read buffer side by side, as one bench top."""

from flashtrain.rtl.channel.read_buffer.page_corrector import MemoryPatch
from flashtrain.rtl.channel.read_buffer.page_sender import FreePages
from flashtrain.rtl.channel.read_buffer.read_buffer import ChunkPosition
from tests.rtl.channel.channel_helpers import WIDE, WIDE_CODE
from tests.rtl.side_by_side import SideBySide

CODED, PLAIN = WIDE_CODE, WIDE
PAGES = 8


def read_units() -> SideBySide:
    return SideBySide({
        "coded": ChunkPosition(CODED),
        "plain": ChunkPosition(PLAIN),
        "free": FreePages(PAGES),
        "patch": MemoryPatch(CODED),
    })  # fmt: skip
