"""What the decoder must make of a submission entry, written from the text of `flashtrain.spec.nvme`.

Positions of fields are NVMe's own numbers, not taken from `spec.nvme.Submission`: a wrong one shows.
"""

import math
import random
from typing import NamedTuple

from flashtrain.spec import FmsConfig, Status

READ_RIGHT, APPEND_RIGHT = 1, 2
FLUSH, WRITE, READ, SEND, RECEIVE, APPEND, RESET, RETIRE = 0x00, 0x01, 0x02, 0x79, 0x7A, 0x7D, 0x80, 0x84
CONSTANTS, STATISTICS, UPDATE, GENERATION = 0x81, 0x82, 0x83, 0x88
INSPECT, RESTORE = 0x86, 0x8C
OPCODES = (
    FLUSH, WRITE, READ, SEND, RECEIVE, APPEND, RESET, RETIRE, CONSTANTS, STATISTICS, UPDATE, GENERATION,
    INSPECT, RESTORE,
)  # fmt: skip
MOVES_BLOCKS = (WRITE, READ, APPEND, CONSTANTS, STATISTICS, UPDATE, INSPECT)
SERVES_DIES = (CONSTANTS, STATISTICS)
COMMIT = 1
RESTORE_STREAM, RESTORE_ZONE, RESTORE_PHYSICAL, RESTORE_END, RESTORE_BLOCK = 1, 2, 3, 4, 5
HOST = 0
RAW, WINDOW16, WINDOW32, ROUND16 = range(4)  # codecs
NEEDED_RIGHTS = {
    READ: READ_RIGHT, RECEIVE: READ_RIGHT | APPEND_RIGHT, STATISTICS: READ_RIGHT | APPEND_RIGHT,
}  # fmt: skip


class StreamSettings(NamedTuple):
    """One stream as the registers give it to the decoder; rights are those of (host, core)."""

    valid: int
    rights: tuple[int, int]
    first: int
    zones: int
    codec: int = 0


class Entry:
    """The 16 dwords of a submission entry, with its fields by name."""

    def __init__(self):
        self.dwords = [0] * 16

    def put(self, dword: int, low: int, width: int, value: int) -> None:
        mask = (1 << width) - 1
        self.dwords[dword] = self.dwords[dword] & ~(mask << low) | (value & mask) << low

    def get(self, dword: int, low: int = 0, width: int = 32) -> int:
        return self.dwords[dword] >> low & (1 << width) - 1

    def put_wide(self, dword: int, value: int) -> None:
        self.dwords[dword], self.dwords[dword + 1] = value & 0xFFFF_FFFF, value >> 32 & 0xFFFF_FFFF

    @property
    def opcode(self) -> int:
        return self.get(0, 0, 8)

    @property
    def cid(self) -> int:
        return self.get(0, 16, 16)

    @property
    def address(self) -> int:
        return self.dwords[6] | self.dwords[7] << 32

    @property
    def slba(self) -> int:
        return self.dwords[10] | self.dwords[11] << 32

    @property
    def commits(self) -> bool:
        return self.opcode == GENERATION and self.get(13, 0, 8) == COMMIT

    @property
    def restores_zone(self) -> bool:
        return self.opcode == RESTORE and self.get(13, 0, 8) == RESTORE_ZONE

    @property
    def block(self) -> int:
        """The block whose zone counts: of a restored zone the last one that was written."""
        return self.slba - 1 if self.restores_zone else self.slba

    @property
    def source(self) -> int | None:
        """The namespace of the current generation, of commands that name one."""
        return self.get(15, 0, 8) if self.opcode == UPDATE or self.commits else None

    @property
    def bits(self) -> int:
        return sum(dword << 32 * number for number, dword in enumerate(self.dwords))


class Oracle(NamedTuple):
    """The checks that need no zone."""

    config: FmsConfig
    streams: tuple[StreamSettings, ...]
    memory_bytes: int

    def status(self, port: int, e: Entry) -> Status:
        """The status of the first check that fails."""
        opcode, has_data = e.opcode, e.opcode in (*MOVES_BLOCKS, RECEIVE)
        if opcode not in OPCODES:
            return Status.INVALID_OPCODE
        if e.get(0, 8, 2) != 0:
            return Status.INVALID_FIELD
        if has_data and e.get(0, 14, 2) != 1:
            return Status.INVALID_FIELD
        nsid = e.get(1)
        if nsid not in range(1, 9):
            return Status.INVALID_NAMESPACE
        if not self.streams[nsid - 1].valid:
            return Status.INVALID_FIELD
        source = e.source
        if source is not None:
            if source not in range(1, 9) or source == nsid:
                return Status.INVALID_NAMESPACE
            if not self.streams[source - 1].valid:
                return Status.INVALID_FIELD
        stream = self.streams[nsid - 1]
        if opcode in (INSPECT, RESTORE):
            if port != HOST:
                return Status.ACCESS_DENIED
        elif not stream.rights[port] & NEEDED_RIGHTS.get(opcode, APPEND_RIGHT):
            return Status.ACCESS_DENIED
        if source is not None:
            needed = APPEND_RIGHT if e.commits else READ_RIGHT
            if not self.streams[source - 1].rights[port] & needed:
                return Status.ACCESS_DENIED
        if opcode in (WRITE, UPDATE) and stream.codec != RAW:
            return Status.STREAM_IS_CODED
        if opcode == UPDATE and source is not None and self.streams[source - 1].codec != RAW:
            return Status.STREAM_IS_CODED
        if source is not None and self.streams[source - 1].zones != stream.zones:
            return Status.INVALID_FIELD
        zone, offset = divmod(e.block, self.config.geometry.zone_size)
        names_zone = opcode in (APPEND, RECEIVE, RETIRE, UPDATE) or (opcode == SEND and not e.get(13, 8, 1))
        if self._bad_field(opcode, e) or (names_zone and opcode != RECEIVE and offset != 0):
            return Status.INVALID_FIELD
        if opcode == APPEND and stream.codec != RAW and self.bound(e) > self.config.max_blocks:
            return Status.INVALID_FIELD
        if self.expands(e) and e.get(14, 0, 16) + 1 > self.config.max_blocks:
            return Status.INVALID_FIELD
        if has_data and (failure := self._data_pointer(opcode, e)) is not None:
            return failure
        if (names_zone or opcode in (READ, WRITE) or e.restores_zone) and zone not in range(stream.zones):
            return Status.LBA_OUT_OF_RANGE
        if opcode == INSPECT and zone >= self.config.geometry.blocks:
            return Status.LBA_OUT_OF_RANGE
        return Status.SUCCESS

    def codec(self, e: Entry) -> int:
        """Of the command's data."""
        codec = self.streams[e.get(1) - 1].codec
        return WINDOW16 if codec != RAW and e.get(14, 16, 1) else codec

    def part(self, e: Entry) -> int:
        """The bits of the part of a page: parts before it, parts behind it, and its place in the buffer."""
        unit, page_bytes = self.config.part_bytes, self.config.geometry.page_bytes
        first, parts, most = e.get(15, 0, 8), e.get(15, 8, 8), page_bytes // unit
        if e.opcode != READ or parts == 0:
            return 0
        target = e.address % page_bytes // unit
        return first | most * (most - first - parts) | most * most * target

    def expands(self, e: Entry) -> bool:
        return e.opcode == READ and self.streams[e.get(1) - 1].codec != RAW

    def bound(self, e: Entry) -> int:
        """Blocks that an append takes at most: 1 more for each half of a page's slices, and 1."""
        blocks = e.get(12, 0, 16) + 1
        if self.codec(e) == ROUND16:
            blocks = math.ceil(blocks / 2)
        return blocks + blocks // (self.config.geometry.page_bytes // 64) + 1

    def _bad_field(self, opcode: int, e: Entry) -> bool:
        action, g = e.get(13, 0, 8), self.config.geometry
        blocks = e.get(12, 0, 16) + 1
        if opcode in MOVES_BLOCKS and blocks > self.config.max_blocks:
            return True
        if opcode in SERVES_DIES:
            return blocks != g.channels * g.dies
        if opcode == READ and self.config.part_bytes:
            first, parts = e.get(15, 0, 8), e.get(15, 8, 8)
            if parts == 0:
                return first != 0
            return blocks != 1 or self.config.part_bytes * (first + parts) > g.page_bytes
        if opcode == UPDATE:
            pages, copies, rows = e.get(13, 16, 8), e.get(13, 24, 8), e.get(14, 0, 16)
            if not 1 <= pages <= g.planes or copies > pages or rows == 0:
                return True
            return blocks != rows * g.channels * pages or e.get(15, 16, 16) >= g.pages
        if opcode == GENERATION:
            return action not in (1, 2, 3, 4)
        if opcode == RESTORE:
            physical = e.get(2, 0, 16)
            if action == RESTORE_ZONE:
                return physical >= g.zones or e.get(13, 8, 4) not in (0x4, 0xD, 0xE, 0xF)
            if action == RESTORE_PHYSICAL:
                return physical >= g.blocks
            if action == RESTORE_BLOCK:
                channel, die, plane, spare = (
                    e.get(14, 0, 8),
                    e.get(14, 8, 8),
                    e.get(14, 16, 8),
                    e.get(15, 0, 16),
                )
                if channel >= g.channels or die >= g.dies or plane >= g.planes or spare >= g.spare_blocks:
                    return True
                return physical >= g.blocks
            return action not in (RESTORE_STREAM, RESTORE_END)
        if opcode == SEND:
            return action not in (1, 2, 3, 4, 5)
        if opcode == RETIRE:
            return action not in (0xD, 0xF)
        if opcode == RECEIVE:
            return action != 0 or e.get(13, 8, 8) > 7 or 4 * (e.get(12) + 1) < 64
        return False

    def _data_pointer(self, opcode: int, e: Entry) -> Status | None:
        page_bytes = self.config.geometry.page_bytes
        report = opcode == RECEIVE
        blocks = e.get(14, 0, 16) + 1 if self.expands(e) else e.get(12, 0, 16) + 1
        expected = 4 * (e.get(12) + 1) if report else page_bytes * blocks
        unit = 8 if report else page_bytes
        if opcode == READ and self.config.part_bytes and (parts := e.get(15, 8, 8)):
            unit = self.config.part_bytes
            expected = parts * unit
        if e.get(9, 24, 8) != 0:
            return Status.SGL_TYPE_INVALID
        if e.get(8) != expected:
            return Status.SGL_LENGTH_INVALID
        if e.address % unit:
            return Status.SGL_GRANULARITY_INVALID
        if e.address + expected > self.memory_bytes:
            return Status.DATA_TRANSFER_ERROR
        return None

    def fields(self, port: int, e: Entry) -> dict[str, int]:
        """The fields of a `Command` that must be right if the status is success, by opcode."""
        stream = self.streams[e.get(1) - 1]
        zone, offset = divmod(e.block, self.config.geometry.zone_size)
        place = {"zone": stream.first + zone, "first_zone": stream.first + zone, "index": zone}
        fields = {"port": port, "cid": e.cid, "stream": e.get(1) - 1}
        if e.opcode in MOVES_BLOCKS:
            page = e.address // self.config.geometry.page_bytes
            fields |= {"offset": offset, "blocks": e.get(12, 0, 16) + 1, "buffer_block": page}
            if self.config.part_bytes:
                fields |= {"part": self.part(e)}
            fields |= {} if e.opcode in (*SERVES_DIES, INSPECT) else place
        if self.config.codec and e.opcode in (APPEND, READ):
            fields |= {"codec": self.codec(e)}
            if e.opcode == APPEND and stream.codec != RAW:
                fields |= {"bound": self.bound(e)}
            if self.expands(e):
                fields |= {"expanded": e.get(14, 0, 16) + 1}
        if e.opcode == INSPECT:
            fields |= {"physical": zone}
        if e.opcode == RESTORE:
            fields |= self._restored(e)
        if e.restores_zone:
            fields |= place | {
                "offset": offset,
                "restored_state": e.get(13, 8, 4),
                "unsure": e.get(13, 12, 1),
            }
        if e.opcode == RECEIVE:
            descriptors = min((4 * (e.get(12) + 1) - 64) // 64, stream.zones)
            fields |= place | {"address": e.address, "descriptors": descriptors}
            fields |= {"report_filter": e.get(13, 8, 3), "partial": e.get(13, 16, 1)}
        if e.opcode == SEND:
            fields |= {"action": e.get(13, 0, 8), "select_all": e.get(13, 8, 1), "unsure": e.get(13, 12, 1)}
            fields |= {} if e.get(13, 8, 1) else place
        if e.opcode == RETIRE:
            fields |= place | {"action": e.get(13, 0, 8)}
        if e.opcode == GENERATION:
            fields |= {"action": e.get(13, 0, 8)}
        if e.source is not None:
            fields |= {"source": e.source - 1}
        if e.opcode == UPDATE:
            pages, copies, rows = e.get(13, 16, 8), e.get(13, 24, 8), e.get(14, 0, 16)
            tiles = rows * self.config.geometry.channels
            fields |= {
                "first_zone": self.streams[e.source - 1].first + zone, "rows": rows, "copies": copies,
                "source_page": e.get(15, 16, 16), "last_page": pages - 1,
                "events": tiles * pages + tiles + tiles * copies,
            }  # fmt: skip
        return fields

    @staticmethod
    def _restored(e: Entry) -> dict[str, int]:
        action, physical = e.get(13, 0, 8), {"physical": e.get(2, 0, 16), "wear": e.get(3, 0, 21)}
        meant = {
            RESTORE_STREAM: {"generation": e.get(15, 0, 16)},
            RESTORE_ZONE: physical | {"sequence": e.get(14), "time": e.get(12)},
            RESTORE_PHYSICAL: physical,
            RESTORE_END: {"sequence": e.get(14)},
            RESTORE_BLOCK: {
                "physical": e.get(2, 0, 16),
                "sequence": e.get(14),
                "generation": e.get(15, 0, 16),
            },
        }
        return {"action": action} | meant[action]


def random_oracle(config: FmsConfig) -> Oracle:
    """A stream table and a tensor buffer's size."""
    zones = config.geometry.zones
    streams = []
    # Streams of few sizes, so that there are pairs for updates.
    sizes = [random.randint(1, zones) for _ in range(2)]
    for _ in range(8):
        size = random.choice(sizes)
        first = random.randint(0, zones - size)
        streams.append(StreamSettings(
            valid=int(random.random() < 0.8),
            rights=tuple(random.choices(range(4), [1, 2, 2, 5], k=2)),
            first=first,
            zones=size,
            codec=random.choice((RAW, RAW, WINDOW16, WINDOW32, ROUND16)) if config.codec else RAW,
        ))  # fmt: skip
    most = 1 << config.address_bits
    return Oracle(config, tuple(streams), random.choice([most, most // 2, most - 8, random.randrange(most)]))


def random_entry(oracle: Oracle) -> Entry:
    """A command that is good but perhaps for the rights of its port, with up to three faults."""
    config, geometry = oracle.config, oracle.config.geometry
    valid = [nsid for nsid in range(1, 9) if oracle.streams[nsid - 1].valid] or [1]
    nsid = random.choice(valid)
    opcode = random.choice(OPCODES)
    raw = [number for number in valid if oracle.streams[number - 1].codec == RAW]
    if config.codec and opcode in (WRITE, UPDATE) and raw and random.random() < 0.8:
        nsid, valid = random.choice(raw), raw
    stream = oracle.streams[nsid - 1]
    e = Entry()
    for dword in (2, 3, 4, 5, 13, 14, 15):
        e.put(dword, 0, 32, random.getrandbits(32))
    e.put(0, 0, 8, opcode)
    e.put(0, 14, 2, 1)
    e.put(0, 16, 16, random.getrandbits(16))
    e.put(1, 0, 32, nsid)
    offset = random.randrange(geometry.zone_size) if opcode in (READ, WRITE, RECEIVE) else 0
    e.put_wide(10, random.randrange(stream.zones) * geometry.zone_size + offset)
    if opcode == RECEIVE:
        dwords = random.choice([16, 17, 31, 32, random.randint(16, 16 * (geometry.zones + 4))])
        length, alignment = 4 * dwords, 8
        e.put(12, 0, 32, dwords - 1)
        e.put(13, 0, 16, random.randrange(8) << 8)
    else:
        blocks = random.choice([1, config.max_blocks, random.randint(1, config.max_blocks)])
        if opcode in SERVES_DIES:
            blocks = geometry.channels * geometry.dies
        elif opcode == UPDATE:
            blocks = _put_update(oracle, e)
        length, alignment = geometry.page_bytes * blocks, geometry.page_bytes
        e.put(12, 0, 32, random.getrandbits(16) << 16 | blocks - 1)
        if opcode == APPEND and stream.codec != RAW:
            length = geometry.page_bytes * _put_coded_append(oracle, e)
        if opcode == READ and stream.codec != RAW:
            expanded = random.choice([1, config.max_blocks, random.randint(1, config.max_blocks)])
            e.put(14, 0, 16, expanded - 1)
            length = geometry.page_bytes * expanded
        if opcode == READ and config.part_bytes:
            e.put(15, 0, 16, 0)
            if random.random() < 0.7:
                length, alignment = _put_parts(oracle, e)
        known = {SEND: (1, 2, 3, 4, 5), GENERATION: (1, 2, 3), RESTORE: (1, 2, 2, 2, 3, 4, 5, 5)}
        e.put(13, 0, 8, random.choice(known.get(opcode, (0xD, 0xF))))
    if opcode == INSPECT:
        e.put_wide(10, random.randrange(geometry.blocks * geometry.zone_size))
    if opcode == RESTORE:
        e.put_wide(10, random.randrange(stream.zones * geometry.zone_size) + 1)
        e.put(2, 0, 16, random.randrange(geometry.zones))
        e.put(13, 8, 5, random.choice((0x4, 0xD, 0xE, 0xF, 0x1E, 0x1D)))
    partners = [n for n in valid if n != nsid and oracle.streams[n - 1].zones == stream.zones]
    if opcode != READ or not config.part_bytes:
        e.put(15, 0, 8, random.choice(partners or valid))
    if opcode == RESTORE and e.get(13, 0, 8) == RESTORE_BLOCK:
        for low, count in ((0, geometry.channels), (8, geometry.dies), (16, geometry.planes)):
            e.put(14, low, 8, random.randrange(count + (random.random() < 0.05)))
        e.put(15, 0, 16, random.randrange(geometry.spare_blocks + (random.random() < 0.2) or 1))
    e.put(8, 0, 32, length)
    last = max(0, oracle.memory_bytes - length) // alignment
    e.put_wide(6, alignment * random.choice([0, last, random.randint(0, last)]))
    for _ in range(random.choices([0, 1, 2, 3], [4, 5, 2, 1])[0]):
        _break(oracle, e, length, alignment)
    return e


def _put_parts(oracle: Oracle, e: Entry) -> tuple[int, int]:
    """Draw a part of a block, seldom too long or of a second block; returns its bytes and their multiple."""
    unit, page_bytes = oracle.config.part_bytes, oracle.config.geometry.page_bytes
    most = page_bytes // unit
    first = random.randrange(most)
    parts = random.randint(1, most - first + (random.random() < 0.05))
    e.put(15, 0, 16, parts << 8 | first)
    e.put(12, 0, 16, int(random.random() < 0.05))
    return parts * unit, unit


def _put_coded_append(oracle: Oracle, e: Entry) -> int:
    """Draw a number of blocks whose bound is often the greatest, and seldom one more; returns it."""
    most = oracle.config.max_blocks
    fits = [n for n in range(1, most + 1) if _with_blocks(oracle, e, n) <= most]
    blocks = random.choice((1, fits[-1], fits[-1], random.choice(fits), min(most, fits[-1] + 1)))
    e.put(12, 0, 16, blocks - 1)
    return blocks


def _with_blocks(oracle: Oracle, e: Entry, blocks: int) -> int:
    e.put(12, 0, 16, blocks - 1)
    return oracle.bound(e)


def _put_update(oracle: Oracle, e: Entry) -> int:
    """Draw the fields of an update; returns its number of blocks."""
    config, geometry = oracle.config, oracle.config.geometry
    pages = random.randint(1, geometry.planes)
    most = config.max_blocks // (geometry.channels * pages)
    rows = random.choice([1, most, random.randint(1, most)])
    e.put(13, 16, 8, pages)
    e.put(13, 24, 8, random.randint(0, pages))
    e.put(14, 0, 16, rows)
    e.put(15, 16, 16, random.randrange(geometry.pages))
    return rows * geometry.channels * pages


def _break(oracle: Oracle, e: Entry, length: int, alignment: int) -> None:
    """Change one field into something that may be wrong, often by one bit or by one step."""
    config, geometry = oracle.config, oracle.config.geometry
    kinds = range(20 if config.codec else 19)
    match random.choice((*kinds, 1, 3, 3, 6, 6, 6, 6, 6)):  # some have to hit every opcode
        case 0:
            e.put(0, 0, 8, random.getrandbits(8))
        case 1:
            e.put(0, 8, 2, random.randrange(4))
        case 2:
            e.put(0, 14, 2, random.randrange(4))
        case 3:
            e.put(1, 0, 32, random.choice([0, 9, 0xFFFF_FFFF, random.randint(1, 8), e.get(1) | 1 << 31, 256]))
        case 4:
            e.put(12, 0, 16, random.choice([config.max_blocks - 1, config.max_blocks, 0xFFFF]))
        case 5:
            e.put_wide(10, e.slba ^ 1 << random.randrange(64))
        case 6:
            zones = oracle.streams[(e.get(1) - 1) % 8].zones
            zones = geometry.blocks if e.opcode == INSPECT else zones
            first = (zones + random.choice([-1, 0, 1])) * geometry.zone_size
            if e.opcode == SEND:
                e.put(13, 8, 1, 0)  # with all zones selected it counts for nothing
            e.put_wide(10, random.choice((first, first + 1, 0)) if e.opcode == RESTORE else first)
        case 7:
            e.put(13, 0, 8, random.choice([0, 1, 4, 5, 6, 0xD, 0xE, 0xF, random.getrandbits(8)]))
        case 8:
            e.put(13, 8, 8, random.choice([0, 1, 7, 8, 0x10, 0x80, random.getrandbits(8)]))
        case 9:
            e.put(9, 24, 8, random.choice([1, 0x10, 0x80, random.getrandbits(8)]))
        case 10:
            e.put(8, 0, 32, random.choice([0, length - 1, length + 1, length ^ 1 << random.randrange(32)]))
        case 11:
            e.put_wide(6, e.address ^ 1 << random.randrange(64))
        case 12:
            end = oracle.memory_bytes + random.choice([-alignment, 0, 1, alignment])
            e.put_wide(6, end - length)
        case 13:
            e.put(12, 0, 32, random.choice([0, 14, 15, 0x3FFF_FFFF, 0x4000_000F, 0xFFFF_FFFF]))
        case 14:
            e.put(15, 0, 8, random.choice([0, 9, 0xFF, e.get(1), e.get(15, 0, 8) | 8, random.randint(1, 8)]))
        case 15:
            e.put(13, 16, 8, random.choice([0, geometry.planes, geometry.planes + 1, random.getrandbits(8)]))
        case 16:
            pages = e.get(13, 16, 8)
            e.put(13, 24, 8, random.choice([0, pages, pages + 1, random.getrandbits(8)]))
        case 17 if random.random() < 0.4:
            pages = geometry.pages
            e.put(15, 16, 16, random.choice([pages - 1, pages, pages + 1, 1 << random.randrange(16)]))
        case 17:
            e.put(14, 0, 16, random.choice([0, 1, e.get(14, 0, 16) + 1, e.get(14, 0, 16) ^ 1 << 15]))
        case 18:
            zones, blocks = geometry.zones, geometry.blocks
            e.put(
                2,
                0,
                16,
                random.choice(
                    [zones - 1, zones, blocks - 1, blocks, e.get(2, 0, 16) ^ 1 << random.randrange(16)]
                ),
            )
        case 19:
            e.put(
                14,
                0,
                17,
                random.choice([0, config.max_blocks - 1, config.max_blocks, random.getrandbits(17)]),
            )
