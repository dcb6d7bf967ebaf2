"""A tile of pages with parity, and cache registers that hold one for a unit's bench."""

import random

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.spec import FmsConfig
from flashtrain.spec.ecc import PageCode

LANE_BYTES = 8


def with_parity(codec: PageCodec, tile: np.ndarray) -> np.ndarray:
    """The page set, uint8[planes, raw page], with the parity that it must have."""
    tile = tile.copy()
    for row in tile:
        row[: codec.code.page_bytes] = codec.encode(row[: codec.code.data_bytes].copy())
    return tile


def corrected(codec: PageCodec, tile: np.ndarray) -> tuple[np.ndarray, set[int]]:
    """The page set as a decoder leaves it, whose parity is not corrected; and planes of words that it cannot
    correct.
    """
    tile, damaged = tile.copy(), set()
    for plane, row in enumerate(tile):
        page = row[: codec.code.page_bytes].copy()
        if any(verdict.corrected is None for verdict in codec.decode(page)):
            damaged.add(plane)
        row[: codec.code.data_bytes] = page[: codec.code.data_bytes]
    return tile, damaged


def damage(tile: np.ndarray, code: PageCode, plane: int, word: int, count: int) -> None:
    """Change so many random bits of a code word."""
    places = np.r_[code.data(word), code.parity(word)]
    for bit in random.sample(range(code.word_bits(word)), count):
        tile[plane, places[bit // 8]] ^= np.uint8(1 << bit % 8)


def damage_all(tile: np.ndarray, code: PageCode, counts: list[int]) -> None:
    """So many bits of each code word as one of `counts` says."""
    for plane in range(len(tile)):
        for word in range(code.words):
            damage(tile, code, plane, word, random.choice(counts))


def random_tile(config: FmsConfig, codec: PageCodec) -> np.ndarray:
    g = config.geometry
    content = np.frombuffer(random.randbytes(g.planes * g.raw_page_bytes), np.uint8)
    return with_parity(codec, content.reshape(g.planes, g.raw_page_bytes))


class Registers:
    """The cache registers on a unit's `lanes`: ready with chance `busy`, what was read in the next clock."""

    def __init__(self, dut, tile: np.ndarray, busy: float = 1):
        self.dut = dut
        self.tile = tile
        self.busy = busy
        self.written: set[tuple[int, int]] = set()
        for name in ("read_ready", "write_ready", "found"):
            getattr(dut, f"lanes__{name}").value = 0
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        dut = self.dut
        while True:
            dut.lanes__read_ready.value = dut.lanes__write_ready.value = random.random() < self.busy
            await RisingEdge(dut.clk)
            ready = dut.lanes__read_ready.value == 1
            found = 0
            plane, lane = int(dut.lanes__plane.value), int(dut.lanes__lane.value)
            place = slice(LANE_BYTES * lane, LANE_BYTES * (lane + 1))
            if ready and dut.lanes__read.value == 1:
                assert dut.lanes__write.value == 0
                found = int.from_bytes(self.tile[plane, place].tobytes(), "little")
            if ready and dut.lanes__write.value == 1:
                content = int(dut.lanes__content.value).to_bytes(LANE_BYTES, "little")
                self.tile[plane, place] = np.frombuffer(content, np.uint8)
                self.written.add((plane, lane))
            dut.lanes__found.value = found
