"""Codes that the units are tested with, and pages as beats."""

import random
from dataclasses import asdict

import numpy as np
from amaranth.lib import data

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import pack
from flashtrain.spec import PRESETS
from flashtrain.spec.ecc import PageCode

CODES = {
    # Two code words of 128 bits in GF(256), two errors each.
    "little": PageCode(data_bytes=16, strength=2, word_bytes=8),
    # Three unequal words whose parity takes no whole number of beats of 32 bits without its ones.
    "uneven": PageCode(data_bytes=104, strength=5, word_bytes=32),
    "tiny": PRESETS["tiny_ecc"].code,
    "small": PRESETS["small_ecc"].code,
}


def parameters_of(code: PageCode, **others: object) -> dict:
    """What a bench is told."""
    return {"code": asdict(code), **others}


def code_of_bench() -> PageCode:
    return PageCode(**bench_parameters()["code"])


def random_data(code: PageCode) -> np.ndarray:
    return np.frombuffer(random.randbytes(code.data_bytes), np.uint8)


def random_page(codec: PageCodec) -> np.ndarray:
    return codec.encode(random_data(codec.code))


def beats(page: np.ndarray, width: int) -> list[int]:
    return page.view(f"<u{width // 8}").tolist()


def places(code: PageCode, word: int) -> np.ndarray:
    """Where in the page each byte of a code word lies."""
    return np.r_[code.data(word), code.parity(word)]


def flip(page: np.ndarray, code: PageCode, word: int, bits: list[int]) -> None:
    """Change these bits of a code word, counted from its first."""
    where = places(code, word)
    for bit in bits:
        page[where[bit // 8]] ^= np.uint8(1 << bit % 8)


def damage(page: np.ndarray, code: PageCode, word: int, count: int) -> None:
    """Change so many random bits of a code word."""
    flip(page, code, word, random.sample(range(code.word_bits(word)), count))


def syndromes_item(layout: data.Layout, codec: PageCodec, page: np.ndarray, word: int) -> int:
    """The syndromes of a code word as an item of a stream."""
    bits = codec.code.field.bits
    values = sum(int(value) << bits * index for index, value in enumerate(codec.syndromes(page, word)))
    return pack(layout, word=word, values=values)
