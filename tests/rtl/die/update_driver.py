"""Plays the controller of an update on the pins of one die, and knows what has to come of it."""

from dataclasses import dataclass

import numpy as np

from flashtrain.numerics import Constants, gradient_values, statistics, update
from flashtrain.numerics.page_codec import PageCodec
from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.numerics.state_format import stored_bits
from flashtrain.numerics.statistics import add_squares
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity, identity_record
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.optimizer import PARTIAL_SUMS, PROGRAMS, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import PLAIN, Rounding, StateFormat, random_bits, tile_place
from flashtrain.spec.update import SourceIdentity, Tile, UpdateHeader, UpdateStatistics
from tests.rounded_state import copied, put_tile_arrays, tile_arrays
from tests.rtl.die.coded_tile import with_parity
from tests.rtl.die.nand_driver import NandDriver

DTYPES = {GradientFormat.FP32: np.float32, GradientFormat.FP16: np.float16, GradientFormat.BF16: np.uint16}


def difficult(random: np.random.Generator, count: int) -> np.ndarray:
    """float32: numbers of usual size, and among them any bits."""
    numbers = random.normal(size=count).astype(np.float32)
    bits = random.integers(0, 1 << 32, size=count, dtype=np.uint32).view(np.float32)
    return np.where(random.random(count) < 0.8, numbers, bits)


class UpdateDriver(NandDriver):
    """Update operations. What is meant for a page set takes one page of each plane, in order."""

    async def load_constants(self, header: bytes) -> None:
        await self.command(C.LOAD_CONSTANTS)
        await self.data_in(header)
        await self.command(C.LOAD_CONSTANTS_CONFIRM)

    async def load_gradients(self, pages: list[bytes]) -> None:
        for number, page in enumerate(pages):
            await self.command(C.LOAD_GRADIENT)
            await self.address(self.row(number, 0, 0), 3)
            await self.data_in(page)
            await self.command(C.LOAD_GRADIENT_CONFIRM)

    async def begin_update(self, source: tuple[int, int], target: tuple[int, int]) -> None:
        """From and to (block, page) of all planes; returns when gradients may follow."""
        planes = self.geometry.planes
        for plane in range(planes):
            await self.command(C.UPDATE_SOURCE)
            await self.address(self.row(plane, *source), 3)
            await self.command(C.UPDATE_TARGET)
            await self.address(self.row(plane, *target), 3)
            if plane < planes - 1:
                await self.confirm(C.UPDATE_MULTI_PLANE)
        await self.command(C.UPDATE)
        await self.until(self.last_we + self.cycles("twb"))

    async def read_copy(self, page: int, count: int) -> bytes:
        await self.command(C.READ_COPY)
        await self.address(self.row(page, 0, 0), 3)
        await self.command(C.READ_COPY_CONFIRM)
        self.data_from = self.last_we + self.cycles("tccs")
        return await self.data_out(count)

    async def read_statistics(self, count: int) -> bytes:
        await self.command(C.READ_STATISTICS)
        await self.command(C.READ_STATISTICS_CONFIRM)
        self.data_from = self.last_we + self.cycles("tccs")
        return await self.data_out(count)

    async def program_tile(self, block: int, page: int, content: np.ndarray) -> DieStatus:
        places = [(plane, block) for plane in range(self.geometry.planes)]
        await self.program(places, page, [row.tobytes() for row in content], last=C.PROGRAM_CONFIRM)
        return await self.status()

    async def read_tile(self, block: int, page: int) -> np.ndarray:
        """uint8[planes, raw page]."""
        places = [(plane, block) for plane in range(self.geometry.planes)]
        await self.read(places, page)
        content = []
        for place in places:
            await self.choose(*place, page)
            content.append(await self.data_out(self.geometry.raw_page_bytes))
        return np.array([list(row) for row in content], np.uint8)


@dataclass
class Step:
    """A step on tiles of a die: random constants, state and gradients, and what has to come of them.

    parameters: of a tile; the die is told of `surplus` more. With a codec pages have parity, with a
    randomizer the key of their row. All tiles to be sensed are of one zone, each to be programmed of its own.
    """

    tile: Tile
    code: OptimizerCode
    random: np.random.Generator
    parameters: int
    codec: PageCodec | None = None
    randomizer: bool = False
    surplus: int = 0
    rounding: Rounding = Rounding.NEAREST

    def __post_init__(self) -> None:
        values = difficult(self.random, len(PROGRAMS[self.code].constants))
        self.constants = Constants(self.code, tuple(np.where(np.isfinite(values), values, np.float32(0.5))))
        self.gradients: list[np.ndarray] = []
        self.identities: list[dict[str, int]] = []
        self.place = self._any_fields("channel", "die")
        self.source = self._any_fields("stream", "zone", "sequence", "page")  # the page of its first tile
        self.key = int(self.random.integers(1 << UpdateHeader.rounding_key.width))
        self.first_zone, self.first_page = (
            int(self.random.integers(1 << field.width))
            for field in (UpdateHeader.first_zone, UpdateHeader.first_page)
        )

    @property
    def header(self) -> bytes:
        h = UpdateHeader
        fields = {
            h.code: self.code,
            h.gradient_format: self.tile.gradient_format,
            h.copy_format: self.tile.copy_format,
            h.weight_format: self.tile.formats.weight,
            h.moment_format: self.tile.formats.moments,
            h.rounding: self.rounding,
            h.rounding_key: self.key,
            h.first_zone: self.first_zone,
            h.first_page: self.first_page,
            h.parameters: self.parameters + self.surplus,
            **dict(zip(h.constants, self.constants.words, strict=True)),
        }
        return sum(field.put(value) for field, value in fields.items()).to_bytes(h.BYTES, "little")

    def new_tile(self, row: int, number: int | None = None) -> np.ndarray:
        """A page set with spare bytes as it is stored, uint8[planes, raw page]; its words are difficult
        numbers. It is the source for gradients of that number, else of that of its row.
        """
        number = row if number is None else number
        g = self.tile.geometry
        content = self.random.integers(0, 256, (g.planes, g.raw_page_bytes), dtype=np.uint8)
        words = difficult(self.random, self.tile.words)
        content[:, : g.page_bytes] = words.view(np.uint8).reshape(g.planes, g.page_bytes)
        for plane in range(g.planes):
            content[plane, g.page_bytes : g.identified_page_bytes] = self.source_record(number, plane)
        return self.with_parity(self.with_key(content, row))

    def source_record(self, number: int, plane: int, /, **wrong: int) -> np.ndarray:
        """The identity of a page to be sensed for gradients `number`; `wrong`: bits of fields."""
        fields = {"plane": plane, "version": 0, **self.place, **self._source_of(number)}
        fields |= self._any_fields("wear", "updated", "generation")
        for name, bits in wrong.items():
            fields[name] ^= bits
        return np.frombuffer(identity_record(**fields), np.uint8)

    def with_key(self, content: np.ndarray, row: int) -> np.ndarray:
        """The page set with the keys of its pages put on, or taken off."""
        content = content.copy()
        if self.randomizer:
            geometry = self.tile.geometry
            keys = page_keys(geometry, row, np.arange(geometry.planes))
            content[:, : geometry.identified_page_bytes] ^= keys
        return content

    def with_parity(self, content: np.ndarray) -> np.ndarray:
        """The page set as it is stored, with a codec."""
        return with_parity(self.codec, content) if self.codec else content

    @property
    def constants_page(self) -> bytes:
        """As it crosses the bus."""
        return self.header + self.random.bytes(self.tile.geometry.identified_page_bytes - len(self.header))

    def new_gradients(self) -> list[bytes]:
        """Pages of gradients as they cross the bus, the first with the identity of the tile; all is kept."""
        dtype = DTYPES[self.tile.gradient_format]
        if dtype == np.float32:
            values = difficult(self.random, self.parameters)
        else:
            values = self.random.integers(0, 1 << 16, self.parameters, dtype=np.uint16).view(dtype)
        self.gradients.append(values)
        size = self.tile.geometry.page_bytes
        content = values.tobytes().ljust(size * self.tile.gradient_pages, b"\xa5")
        pages = [content[at : at + size] for at in range(0, len(content), size)]
        self.identities.append({
            **self._any_fields("stream", "zone", "generation", "sequence", "wear"),
            **self.place, "page": len(self.identities), "updated": 1,
        })  # fmt: skip
        s = SourceIdentity
        of_tile = self._source_of(len(self.identities) - 1)
        source = sum(getattr(s, name).put(value) for name, value in of_tile.items())
        behind = [identity_record(**self.identities[-1]) + source.to_bytes(s.BYTES, "little")]
        behind += [self.random.bytes(PageIdentity.BYTES + s.BYTES) for _ in pages[1:]]
        return [page + records for page, records in zip(pages, behind, strict=True)]

    def _source_of(self, number: int) -> dict[str, int]:
        """The fields of the `SourceIdentity` of gradients `number`."""
        return {**self.source, "page": (self.source["page"] + number) % (1 << SourceIdentity.page.width)}

    def _any_fields(self, *names: str) -> dict[str, int]:
        return {name: int(self.random.integers(1 << getattr(PageIdentity, name).width)) for name in names}

    def after(
        self, content: np.ndarray, number: int, rows: tuple[int, int] | None = None
    ) -> tuple[np.ndarray, bytes]:
        """The page set after the update with gradients `number`, and the copies.

        rows: of source and target, else the same as the gradients' number. What is of no parameter stays in
        the cells as it is.
        """
        g, n = self.tile.geometry, self.parameters
        source, target = rows or (number, number)
        gradients = self.gradients[number]
        data = np.ascontiguousarray(self.with_key(content, source)[:, : g.page_bytes]).reshape(-1)
        names = [output.name for output in PROGRAMS[self.code].outputs]
        arrays = tile_arrays(self.tile, data, n)
        result = update(
            self.constants, gradients, **dict(zip(names, arrays, strict=True)), copy=self.tile.copy_format
        )
        copies = result.copy
        after = self.with_key(content, target)
        used = np.ascontiguousarray(after[:, : g.page_bytes]).reshape(-1)
        results = [getattr(result, name) for name in names]
        halves = [self._random_halves(number, k) for k in range(len(names))]
        stored = put_tile_arrays(self.tile, used, results, halves)
        form = self.tile.formats.weight
        if form is not StateFormat.FP32 and copies is not None:
            copies = stored_bits(StateFormat.BF16, copied(form, stored[0]))
        after[:, : g.page_bytes] = used.reshape(g.planes, g.page_bytes)
        for plane in range(g.planes):
            record = identity_record(plane=plane, **self.identities[number])
            after[plane, g.page_bytes : g.identified_page_bytes] = np.frombuffer(record, np.uint8)
        after = self.with_parity(self.with_key(after, target))
        return after, b"" if copies is None else copies.tobytes()

    def _random_halves(self, number: int, array: int) -> np.ndarray | None:
        """Random bits of an array of the tile with gradients `number`."""
        if self.rounding is Rounding.NEAREST:
            return None
        place = dict(self.identities[number])
        zone = (place["zone"] - self.first_zone) % (1 << UpdateHeader.first_zone.width)
        page = (place["page"] - self.first_page) % (1 << UpdateHeader.first_page.width)
        at = tile_place(zone, page, place["channel"], place["die"])
        bits = [random_bits(self.key, at, index) for index in range(self.parameters)]
        return np.array([each >> 16 * array & 0xFFFF for each in bits], np.uint32)

    def statistics(self) -> bytes:
        """Of all gradients so far, as the die gives them."""
        parts = [statistics(gradients) for gradients in self.gradients]
        sums = np.zeros(PARTIAL_SUMS, np.float32)
        for gradients in self.gradients:
            sums = add_squares(sums, gradient_values(gradients))
        s = UpdateStatistics
        fields = {
            s.nans: sum(part.nans for part in parts),
            s.infinities: sum(part.infinities for part in parts),
            s.largest: _bits(max(part.largest for part in parts)),
            s.tiles: len(parts),
            **{field: _bits(value) for field, value in zip(s.squares, sums, strict=True)},
        }
        return sum(field.put(value) for field, value in fields.items()).to_bytes(s.BYTES, "little")


def _bits(value: np.float32) -> int:
    return int(np.float32(value).view(np.uint32))


def make_step(
    config: FmsConfig, code, gradient, copy, random, formats=PLAIN, rounding=Rounding.NEAREST
) -> Step:
    tile = Tile.of(config.geometry, code, gradient, copy, formats)
    codec = PageCodec(config.code) if config.code else None
    return Step(tile, code, random, tile.parameters, codec, config.randomizer, rounding=rounding)
