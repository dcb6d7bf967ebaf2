"""Log pages whose content is fixed, and the lengths of all.

NVM Express Base 2.0, section 5.16; ZNS 1.1, section 5.1.
"""

import struct
from collections.abc import Container, Iterable, Mapping
from enum import IntEnum

from flashtrain.nvme.wire import stream_note
from flashtrain.nvme.wire.commands import Entry
from flashtrain.spec import Opcode

HEALTH_BYTES = 512
ERROR_ENTRIES = 64
LEAST_ADMIN_ENTRIES = 32
"""Of the admin queue of a controller over fabrics (NVM Express Base 2.0, Figure 265, ASQSZ)."""
ERROR_ENTRY_BYTES = 64
EFFECTS_BYTES = 4096
CHANGED_ZONES_BYTES = 4096
MANAGEMENT_BYTES = 4096
MOST_CHANGED_ZONES = 511

NVM, ZONED = 0, 2
"""Command sets (CSI)."""

_SUPPORTED, _CHANGES_BLOCKS = 1, 2
_OF_NAMESPACE, _OF_CONTROLLER = 1 << 20, 1 << 21
NOWHERE = 0xFFFF
"""Of an error that no parameter of its command has caused."""


class LogPage(IntEnum):
    """LID."""

    SUPPORTED = 0x00
    ERRORS = 0x01
    HEALTH = 0x02
    FIRMWARE = 0x03
    CHANGED_NAMESPACES = 0x04
    EFFECTS = 0x05
    FEATURES = 0x12
    MANAGEMENT = 0x13
    DISCOVERY = 0x70
    CHANGED_ZONES = 0xBF
    NOTE = stream_note.PAGE


def page_bytes(entry: Entry) -> int:
    """The length that a host asks for."""
    return ((entry.dword_10 >> 16 | (entry.dword_11 & 0xFFFF) << 16) + 1) * 4


def page_offset(entry: Entry) -> int:
    return entry.dword_12 | entry.dword_13 << 32


NVM_EFFECTS: Mapping[int, int] = {
    Opcode.FLUSH: _SUPPORTED,
    Opcode.READ: _SUPPORTED,
    Opcode.WRITE: _SUPPORTED | _CHANGES_BLOCKS,
}
"""The I/O commands of the NVM command set, and the effects of each."""

ZONED_EFFECTS: Mapping[int, int] = {
    **NVM_EFFECTS,
    Opcode.ZONE_APPEND: _SUPPORTED | _CHANGES_BLOCKS,
    Opcode.ZONE_MANAGEMENT_SEND: _SUPPORTED | _CHANGES_BLOCKS,
    Opcode.ZONE_MANAGEMENT_RECEIVE: _SUPPORTED,
}
"""Those of the zoned namespace command set."""


def effects_page(admin: Iterable[int], io: Mapping[int, int]) -> bytes:
    """Commands supported, and their effects. No admin command changes data or capabilities."""
    words = [0] * (EFFECTS_BYTES // 4)
    for opcode in admin:
        words[opcode] = _SUPPORTED
    for opcode, effects in io.items():
        words[256 + opcode] = effects
    return struct.pack(f"<{len(words)}I", *words)


def firmware_page() -> bytes:
    page = bytearray(512)
    page[0] = 1
    page[8:16] = b"1".ljust(8)
    return bytes(page)


def features_page(features: Iterable[int], of_namespaces: Container[int]) -> bytes:
    """Features supported, with the scope of each: a namespace or the controller. None changes data."""
    words = [0] * 256
    for feature in features:
        words[feature] = _SUPPORTED | (_OF_NAMESPACE if feature in of_namespaces else _OF_CONTROLLER)
    return struct.pack("<256I", *words)


def supported_page(pages: Iterable[LogPage]) -> bytes:
    words = [0] * 256
    for page in pages:
        words[page] = 1
    return struct.pack("<256I", *words)


def changed_zones_page(starts: list[int]) -> bytes:
    """The zones whose descriptors changed, by their first block; all ones if they are too many."""
    if len(starts) > MOST_CHANGED_ZONES:
        return struct.pack("<H", 0xFFFF).ljust(CHANGED_ZONES_BYTES, b"\0")
    page = struct.pack("<H6x", len(starts)) + struct.pack(f"<{len(starts)}Q", *starts)
    return page.ljust(CHANGED_ZONES_BYTES, b"\0")


def discovery_page(nqn: str, address: str, port: int) -> bytes:
    """The discovery log page with one subsystem (NVM Express Base 2.0, Figure 263)."""
    header = struct.pack("<QQH", 1, 1, 0).ljust(1024, b"\0")
    family = 2 if ":" in address else 1
    record = bytearray(1024)
    # TCP; an NVM subsystem; flow control of submission queues can be disabled.
    struct.pack_into("<BBBBHHH", record, 0, 3, family, 2, 0b100, 1, 0xFFFF, LEAST_ADMIN_ENTRIES)
    record[32:64] = str(port).encode().ljust(32)
    record[256:512] = nqn.encode().ljust(256, b"\0")
    record[512:768] = address.encode().ljust(256)
    return header + bytes(record)


def error_page(errors: Iterable[tuple[int, int, int, int, int, int]]) -> bytes:
    """Entries of (number, queue, CID, status field, LBA, NSID), the newest first, and zeros behind them."""
    page = b"".join(
        struct.pack("<QHHHHQI", number, queue, cid, status, NOWHERE, lba, nsid).ljust(
            ERROR_ENTRY_BYTES, b"\0"
        )
        for number, queue, cid, status, lba, nsid in errors
    )
    return page.ljust(ERROR_ENTRIES * ERROR_ENTRY_BYTES, b"\0")


def constant_pages(
    pages: Container[LogPage], opcodes: Iterable[int], features: Iterable[int], of_namespaces: Container[int]
) -> dict[tuple[LogPage, int | None], bytes]:
    """The pages of a controller whose content never changes, by page and command set.

    None: whatever the command set. Arguments: what the controller has.
    """
    listed = list(opcodes)
    found: dict[tuple[LogPage, int | None], bytes] = {
        (LogPage.SUPPORTED, None): supported_page(page for page in LogPage if page in pages),
        (LogPage.FIRMWARE, None): firmware_page(),
        (LogPage.CHANGED_NAMESPACES, None): bytes(4096),
        (LogPage.FEATURES, None): features_page(features, of_namespaces),
        (LogPage.MANAGEMENT, None): bytes(MANAGEMENT_BYTES),  # no command of a management interface
    }
    for command_set, io in ((NVM, NVM_EFFECTS), (ZONED, ZONED_EFFECTS)):
        found[LogPage.EFFECTS, command_set] = effects_page(listed, io)
    return {key: content for key, content in found.items() if key[0] in pages}
