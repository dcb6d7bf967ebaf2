"""The block of tables of the firmware, from what the software target answers with.

Words in little endian: the head, sections of rows, and the content of pages without zeros at their end.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum, IntFlag
from typing import NamedTuple

from flashtrain.nvme.subsystem.features import (
    OF_NAMESPACES,
    STORED,
    WARNING_KELVIN,
    Feature,
    Features,
)
from flashtrain.nvme.subsystem.health import Traffic, Wear, health_page
from flashtrain.nvme.subsystem.identify import Identify, Structure
from flashtrain.nvme.subsystem.log_format import (
    CHANGED_ZONES_BYTES,
    ERROR_ENTRIES,
    ERROR_ENTRY_BYTES,
    NVM,
    ZONED,
    LogPage,
    constant_pages,
)
from flashtrain.nvme.subsystem.namespaces import Namespace, namespaces_of, transfer_exponent
from flashtrain.nvme.subsystem.profile import PCIE
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.nvme.wire.stream_note import packed_note
from flashtrain.spec import Access, FmsConfig, NodeTable, Port
from flashtrain.spec.host_commands import EVERY_NAMESPACE, HostCommands
from flashtrain.spec.pcie import NamespaceWord
from flashtrain.spec.registers import (
    MAX_STREAMS,
    Control,
    PortRegister,
    Register,
    StreamRegister,
    port_register,
    stream_attributes,
    stream_register,
)

MAGIC = 0x3157_4C46
CONTROLLER = 1
"""The number of the drive's one controller."""


class TableWord(IntEnum):
    """Words of the head. A section has two: the offset of its rows, and their number."""

    MAGIC = 0
    BYTES = 1
    QUEUES = 2
    ENTRIES = 3
    CONTROLLER = 4
    HIGHEST = 5
    """The highest NSID."""
    ACTIVE = 6
    """A bit for each namespace, by NSID - 1."""
    ENDURANCE = 7
    ZONES = 8
    """Physical ones."""
    SPARES = 9
    """Spare blocks."""
    CHANNELS = 10
    PAGE_BYTES = 11
    REGISTERS = 12
    """Section: writes of the controller's registers, as pairs of offset and value."""
    FEATURES = 14
    PAGES = 16
    OPCODES = 18
    """A bit for each admin command."""
    NAMESPACES = OPCODES + 8
    WORDS = NAMESPACES + MAX_STREAMS


class FeatureFlag(IntFlag):
    """Byte 1 of a feature's row."""

    SUPPORTED = 1
    CHANGEABLE = 2
    OF_NAMESPACES = 4
    FIXED = 8


class FeatureRow(NamedTuple):
    """A feature: code and flags, and its fields of `Fixed`, or the bits that are kept in `mask`."""

    head: int
    mask: int
    value: int
    refusal: int
    result: int


class PageKind(IntEnum):
    """The command that a page answers."""

    IDENTIFY = 0
    LOG = 1


class PageFlag(IntFlag):
    """Byte 3 of a page's row."""

    ANY_SET = 1
    ANY_NSID = 2
    LIST = 4
    """NSIDs, of which those above the command's are the answer."""


class PageRow(NamedTuple):
    """A page: kind, code, command set and flags, the NSID, the status of a refusal, and the content."""

    head: int
    nsid: int
    status: int
    offset: int
    stored: int
    length: int


class _Page(NamedTuple):
    kind: PageKind
    code: int
    command_set: int | None
    nsid: int | None
    content: bytes | TargetStatus
    is_list: bool = False


def firmware_tables(
    config: FmsConfig,
    node: NodeTable,
    slots: int,
    most_bytes: int,
    settings: SubsystemSettings,
    serial: str,
    start: Control = Control.ENABLE | Control.FACTORY,
    notes: Mapping[int, bytes] | None = None,
) -> bytes:
    """The block of a drive.

    - slots, most_bytes: commands at once, and the data of each, as `rtl.pcie.PcieController` has them.
    - settings, serial: names and limits, as a target has them.
    - start: what is written to CONTROL. notes: of streams, by NSID.
    """
    namespaces = namespaces_of(config, node, serial)
    cached = any(one.volatile for one in namespaces.values())
    identify = Identify(
        settings, serial, namespaces, transfer_exponent(config, most_bytes),
        (config.max_open, config.max_active), lambda: (CONTROLLER,),
    )  # fmt: skip
    features = Features(PCIE.features, settings.queues, cached, bytes(16), 0, PCIE.weighted)
    pages = [*_identify_pages(identify, namespaces), *_log_pages(features, namespaces, notes or {})]
    registers = list(_registers(config, node, slots, most_bytes))
    registers.append((Register.CONTROL, start))
    return _packed(
        {
            **_limits(config, node, settings),
            TableWord.ACTIVE: sum(1 << nsid - 1 for nsid in namespaces),
            TableWord.HIGHEST: max(namespaces),
        },
        _opcode_words(),
        _namespace_words(config, node, most_bytes),
        registers,
        list(_feature_rows(features)),
        pages,
    )


def _limits(config: FmsConfig, node: NodeTable, settings: SubsystemSettings) -> dict[TableWord, int]:
    g = config.geometry
    return {
        TableWord.MAGIC: MAGIC,
        TableWord.QUEUES: settings.queues,
        TableWord.ENTRIES: settings.entries,
        TableWord.CONTROLLER: CONTROLLER,
        TableWord.ENDURANCE: min(stream.retention.endurance for stream in node.streams),
        TableWord.ZONES: g.zones,
        TableWord.SPARES: g.spare_blocks * g.channels * g.dies * g.planes,
        TableWord.CHANNELS: g.channels,
        TableWord.PAGE_BYTES: g.page_bytes,
    }


def _opcode_words() -> list[int]:
    bits = sum(1 << opcode for opcode in PCIE.opcodes)
    return [bits >> 32 * word & 0xFFFF_FFFF for word in range(8)]


def _namespace_words(config: FmsConfig, node: NodeTable, most_bytes: int) -> list[int]:
    """The words of `spec.pcie.NAMESPACES`."""
    words, field = [0] * MAX_STREAMS, NamespaceWord
    for nsid, one in HostCommands.of(config, node, most_bytes).namespaces.items():
        words[nsid - 1] = (
            field.zones.put(one.zones) | field.appends.put(one.appends) | field.volatile.put(one.volatile)
        )
    return words


def _registers(config: FmsConfig, node: NodeTable, slots: int, most_bytes: int) -> Iterator[tuple[int, int]]:
    """Registers before the enable: the places of `DataMover`, the queues of `DeviceQueue`, and streams."""
    places = slots * most_bytes
    yield from _long(Register.MEMORY_LOW, places)
    for low, base, size in (
        (PortRegister.SQ_BASE_LOW, 0, PortRegister.SQ_SIZE),
        (PortRegister.CQ_BASE_LOW, places, PortRegister.CQ_SIZE),
    ):
        yield from _long(port_register(Port.HOST, low), base)
        yield port_register(Port.HOST, size), 2 * slots - 1
    zones = node.zones(config.geometry.zones)
    for stream in node.streams:
        own = zones[stream.nsid]
        yield stream_register(stream.nsid, StreamRegister.ZONES), own.start | len(own) << 16
        yield stream_register(stream.nsid, StreamRegister.ATTRIBUTES), stream_attributes(stream)


def _long(low: int, value: int) -> Iterator[tuple[int, int]]:
    yield low, value & 0xFFFF_FFFF
    yield low + 4, value >> 32


def _feature_rows(features: Features) -> Iterator[FeatureRow]:
    for feature in PCIE.features:
        fixed = features.fixed.get(feature)
        flags = FeatureFlag(0)
        for flag, has in (
            (FeatureFlag.SUPPORTED, feature in features.supported),
            (FeatureFlag.CHANGEABLE, feature in features.changeable),
            (FeatureFlag.OF_NAMESPACES, feature in OF_NAMESPACES),
            (FeatureFlag.FIXED, fixed is not None),
        ):
            flags |= flag if has else FeatureFlag(0)
        result = WARNING_KELVIN if feature == Feature.TEMPERATURE_THRESHOLD else 0
        row = fixed or (STORED.get(feature, 0), 0, 0, result)
        yield FeatureRow(feature | flags << 8, *row)


def _identify_pages(identify: Identify, namespaces: Mapping[int, Namespace]) -> Iterator[_Page]:
    """The answers of :class:`Identify`, where they differ."""
    others = max(namespaces) + 1

    def answer(structure: int, command_set: int, nsid: int) -> bytes | TargetStatus:
        entry = Entry(AdminOpcode.IDENTIFY, nsid=nsid, dword_10=structure, dword_11=command_set << 24)
        reply = identify.reply(entry, CONTROLLER, PCIE)
        return TargetStatus(reply.status) if reply.status else bytes(reply.data)

    lists = (Structure.ACTIVE_NAMESPACES, Structure.ACTIVE_NAMESPACES_OF_SET)
    of_namespaces = (
        Structure.NAMESPACE, Structure.NAMESPACE_DESCRIPTORS, Structure.NAMESPACE_OF_SET,
        Structure.INDEPENDENT_NAMESPACE,
    )  # fmt: skip
    for structure in Structure:
        nsids: Sequence[int] = range(1, others + 1) if structure in of_namespaces else [0]
        for nsid in nsids:
            sets = {one: answer(structure, one, nsid) for one in (NVM, ZONED, 1)}
            chosen = None if nsid == others or structure not in of_namespaces else nsid
            alike = len(set(sets.values())) == 1
            for command_set, content in ({None: sets[1]} if alike else sets).items():
                key = None if command_set == 1 else command_set
                yield _Page(PageKind.IDENTIFY, structure, key, chosen, content, structure in lists)


def _log_pages(
    features: Features, namespaces: Mapping[int, Namespace], notes: Mapping[int, bytes]
) -> Iterator[_Page]:
    constant = constant_pages(PCIE.pages, PCIE.opcodes, features.supported, OF_NAMESPACES)
    for (page, command_set), content in constant.items():
        yield _Page(PageKind.LOG, page, command_set, None, content)
    yield _Page(PageKind.LOG, LogPage.ERRORS, None, None, bytes(ERROR_ENTRIES * ERROR_ENTRY_BYTES))
    health = health_page(Wear(spare=100, used=0), Traffic(), 0, 0)
    for nsid in (0, EVERY_NAMESPACE):
        yield _Page(PageKind.LOG, LogPage.HEALTH, None, nsid, health)
    yield _Page(PageKind.LOG, LogPage.HEALTH, None, None, TargetStatus.INVALID_FIELD)
    for nsid, one in namespaces.items():
        yield _Page(PageKind.LOG, LogPage.CHANGED_ZONES, None, nsid, bytes(CHANGED_ZONES_BYTES))
        if Access.READ in one.stream.access(Port.HOST):
            yield _Page(PageKind.LOG, LogPage.NOTE, None, nsid, packed_note(notes.get(nsid, b"")))


def _packed(
    head: Mapping[TableWord, int],
    opcodes: Sequence[int],
    namespaces: Sequence[int],
    registers: Sequence[tuple[int, int]],
    features: Sequence[FeatureRow],
    pages: Sequence[_Page],
) -> bytes:
    words = [0] * TableWord.WORDS
    for word, value in head.items():
        words[word] = value
    words[TableWord.OPCODES : TableWord.OPCODES + len(opcodes)] = opcodes
    words[TableWord.NAMESPACES : TableWord.NAMESPACES + len(namespaces)] = namespaces
    end = 4 * len(words)
    for section, rows, width in (
        (TableWord.REGISTERS, registers, 2),
        (TableWord.FEATURES, features, len(FeatureRow._fields)),
        (TableWord.PAGES, pages, len(PageRow._fields)),
    ):
        words[section : section + 2] = end, len(rows)
        end += 4 * width * len(rows)
    contents = b""
    page_rows = []
    for page in pages:
        refused = isinstance(page.content, TargetStatus)
        content = b"" if isinstance(page.content, TargetStatus) else page.content
        stored = content.rstrip(b"\0")
        place = contents.find(stored) if stored else 0
        if place < 0:
            place = len(contents)
            contents += stored
        flags = PageFlag.ANY_SET if page.command_set is None else PageFlag(0)
        flags |= PageFlag.ANY_NSID if page.nsid is None else PageFlag(0)
        flags |= PageFlag.LIST if page.is_list else PageFlag(0)
        head_word = page.kind | page.code << 8 | (page.command_set or 0) << 16 | flags << 24
        status = int(page.content) if isinstance(page.content, TargetStatus) else 0
        length = 0 if refused else len(content)
        page_rows.append(PageRow(head_word, page.nsid or 0, status, end + place, len(stored), length))
    words[TableWord.BYTES] = end + len(contents)
    every = [*words, *(word for rows in (registers, features, page_rows) for row in rows for word in row)]
    return struct.pack(f"<{len(every)}I", *every) + contents
