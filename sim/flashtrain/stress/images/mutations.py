"""Mutations of images: bits, runs of bytes, fields of records and texts, with right checksums or without.

The checksum of a page's cells stays as it is: with it the content would be another one.
"""

from collections.abc import Callable
from random import Random
from struct import Struct, error
from typing import Any, NamedTuple
from zlib import crc32

from flashtrain.spec import FmsConfig
from flashtrain.spec.image import (
    BLOCK,
    BLOCKS_AT,
    CLOCK,
    CLOCK_AT,
    DIE,
    DIES_AT,
    HEADER,
    HEADER_AT,
    NODE,
    NODE_AT,
    PAGE,
    STREAM,
    TEXT_AT,
    TEXT_ROOM,
    UNIT,
    ZONE,
    ImageHeader,
    ImageLayout,
    sealed,
)
from flashtrain.spec.registers import MAX_STREAMS


class Mutation(NamedTuple):
    """The places that were changed and how, in words; resealed: the checksums of their records are right."""

    places: str
    resealed: bool


class Table(NamedTuple):
    """Records of one kind in an image; cells have none."""

    name: str
    at: int
    size: int
    record: Struct | None = None


ODD_NUMBERS = (0, 1, 2, 3, 7, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 64) - 1)
ODD_TIMES = (float("inf"), float("-inf"), float("nan"), -1.0, 1e300, 1e-300, 4e9, 1e15, 0.5)
ODD_TEXTS = (
    b"\xff\xfe", b"[" * 3000, b"a." * 3000 + b"b = 1\n", b'{"a":' * 500, b"9" * 5000, b"1e999", b"NaN",
    b"null", b"{}", b"[]", b'{"name": 1, "streams": [{}]}', b'{"name": "x", "streams": []}',
    b"name = \x1b[31m\n", b"\0", b"[geometry]\nblocks = 1_000_000_000_000\n",
    b'"streams":[1]', b"-1", b'"NONE"', b"true",
)  # fmt: skip
"""Parts of a configuration or a table of streams that no program has written."""


class Mutator:
    """Mutations of images of one configuration."""

    def __init__(self, config: FmsConfig) -> None:
        layout, g = ImageLayout(config.geometry), config.geometry
        self._layout = layout
        self.tables = (
            Table("header", HEADER_AT, HEADER.size, HEADER),
            Table("configuration", TEXT_AT, TEXT_ROOM),
            Table("clock", CLOCK_AT, CLOCK.size, CLOCK),
            Table("dies", DIES_AT, g.channels * g.dies * DIE.size, DIE),
            Table("node", NODE_AT, NODE.size, NODE),
            Table("blocks", BLOCKS_AT, layout.block_count * BLOCK.size, BLOCK),
            Table("streams", layout.streams_at, MAX_STREAMS * STREAM.size, STREAM),
            Table("zones", layout.zones_at, MAX_STREAMS * g.zones * ZONE.size, ZONE),
            Table("pages", layout.pages_at, layout.block_count * g.pages * PAGE.size, PAGE),
            Table("cells", layout.cells_at, layout.size - layout.cells_at),
        )
        self._kinds: tuple[Callable[[bytearray, Random, Table], None], ...] = (
            self._flip, self._fill, self._move, self._field, self._field, self._text,
        )  # fmt: skip

    def mutate(self, image: bytearray, random: Random) -> Mutation:
        """Change an image in one to three places."""
        names = []
        right = random.random() < 0.5
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            table = random.choice(self.tables)
            kind = random.choice(self._kinds)
            before = bytes(image[table.at : table.at + table.size])
            kind(image, random, table)
            if right:
                self._seal(image, table, before)
            names.append(f"{table.name}:{kind.__name__.strip('_')}")
        if random.random() < 0.02:
            del image[random.randrange(len(image)) :]
            names.append("truncated")
        return Mutation(", ".join(names), right)

    def _flip(self, image: bytearray, random: Random, table: Table) -> None:
        for _ in range(random.choice((1, 1, 2, 8, 60))):
            image[self._place(image, random, table)] ^= 1 << random.randrange(8)

    def _fill(self, image: bytearray, random: Random, table: Table) -> None:
        size = min(random.choice((4, 16, 32, 512, UNIT)), table.size)
        at = table.at + random.randrange(0, table.size - size + 1, 4)
        image[at : at + size] = random.choice((bytes(size), b"\xff" * size, random.randbytes(size)))

    def _move(self, image: bytearray, random: Random, table: Table) -> None:
        step = table.record.size if table.record else 512
        size = min(random.choice((step, 4 * step, UNIT)), table.size)
        source, target = (table.at + random.randrange(0, table.size - size + 1, step) for _ in range(2))
        image[target : target + size] = image[source : source + size]

    def _field(self, image: bytearray, random: Random, table: Table) -> None:
        if table.record is None:
            return self._text(image, random, table)
        at = self._place(image, random, table)
        at = table.at + (at - table.at) // table.record.size * table.record.size
        fields = list(table.record.unpack_from(image, at))
        which = random.randrange(len(fields) - 1)
        fields[which] = self._odd(random, fields[which])
        try:
            table.record.pack_into(image, at, *fields)
        except error:  # too large for this field
            self._flip(image, random, table)
        return None

    def _odd(self, random: Random, value: Any) -> Any:
        if isinstance(value, bytes):
            return random.randbytes(len(value))
        if isinstance(value, float):
            return random.choice(ODD_TIMES)
        return random.choice((*ODD_NUMBERS, value + 1, max(0, value - 1), value ^ 1 << random.randrange(8)))

    def _text(self, image: bytearray, random: Random, table: Table) -> None:
        """Insert, replace or delete a part of the configuration or the table of streams."""
        at, room = (TEXT_AT, TEXT_ROOM) if random.random() < 0.5 else (NODE_AT, NODE.size - 4)
        text = bytes(image[at : at + room]).rstrip(b"\0")
        begin = random.randrange(len(text) + 1)
        end = min(len(text), begin + random.choice((0, 1, 5, 40, len(text))))
        text = (text[:begin] + random.choice(ODD_TEXTS) + text[end:])[:room]
        image[at : at + room] = text.ljust(room, b"\0")
        if random.random() < 0.8:
            self._seal_text(image, text if at == TEXT_AT else None)

    def _place(self, image: bytearray, random: Random, table: Table) -> int:
        """A byte of a table, that of something written more often than not."""
        places = [table.at + random.randrange(table.size) for _ in range(20)]
        return next((at for at in places if image[at]), places[0])

    def _seal(self, image: bytearray, table: Table, before: bytes) -> None:
        """Right checksums of all records of a table that have changed."""
        if table.record is None:
            return
        size = table.record.size
        for offset in range(0, table.size, size):
            raw = bytes(image[table.at + offset : table.at + offset + size])
            if raw != before[offset : offset + size]:
                fields = table.record.unpack(raw)[:-1]
                image[table.at + offset : table.at + offset + size] = sealed(
                    table.record, table.at + offset, *fields
                )

    def _seal_text(self, image: bytearray, configuration: bytes | None) -> None:
        if configuration is None:
            text = bytes(image[NODE_AT : NODE_AT + NODE.size - 4])
            image[NODE_AT : NODE_AT + NODE.size] = sealed(NODE, NODE_AT, text)
            return
        header = ImageHeader._make(HEADER.unpack_from(image, HEADER_AT)[:-1])
        header = header._replace(text_bytes=len(configuration), text_crc=crc32(configuration))
        image[HEADER_AT : HEADER_AT + HEADER.size] = sealed(HEADER, HEADER_AT, *header)
