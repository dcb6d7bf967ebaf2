"""Data of many kinds, and what the reference model makes of them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.codec import encode
from flashtrain.spec import PRESETS, FmsConfig
from flashtrain.spec.codec import PageHeader
from flashtrain.spec.streams import Codec

Octets = NDArray[np.uint8]


_SMALL = PRESETS["small"]
CONFIGS: dict[str, FmsConfig] = {
    "tiny": PRESETS["tiny"],
    "small": _SMALL,
    "slice": replace(_SMALL, geometry=replace(_SMALL.geometry, channels=16)),
    "behemoth": PRESETS["behemoth"],
}
"""The port of `slice` brings a slice per cycle."""


def _bf16(values: NDArray[np.float32]) -> Octets:
    return (values.view("<u4") >> 16).astype("<u2").view(np.uint8)


def _normal(rng: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Numbers of one scale, which depends on the tensor."""
    return (rng.standard_normal(count) * 2.0 ** rng.integers(-20, 20)).astype(np.float32)


def _shares(rng: np.random.Generator, count: int, zeros: float) -> NDArray[np.float32]:
    values = _normal(rng, count)
    values[rng.random(count) < zeros] = 0
    return values


def _scales(rng: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Scales that change: slowly, and in jumps."""
    at = np.cumsum(rng.normal(0, 0.05, count)) + 8 * np.cumsum(rng.random(count) < 2e-4)
    return (rng.standard_normal(count) * 2.0 ** np.clip(at, -60, 60)).astype(np.float32)


KINDS: dict[str, Callable[[np.random.Generator, int], NDArray[np.float32]]] = {
    "normal": _normal,
    "some zeros": lambda rng, count: _shares(rng, count, 0.3),
    "zeros": lambda rng, count: _shares(rng, count, 0.9),
    "nothing": lambda rng, count: np.zeros(count, np.float32),
    "scales": _scales,
    "bits": lambda rng, count: rng.integers(0, 1 << 32, count, np.uint32).view(np.float32),
}


def user_data(rng: np.random.Generator, codec: Codec, kind: str, size: int) -> Octets:
    """So many bytes of data for a stream of this codec."""
    make = KINDS[kind]
    if codec is Codec.WINDOW16:
        return _bf16(make(rng, size // 2)) if kind != "bits" else rng.integers(0, 256, size, np.uint8)
    return make(rng, size // 4).view(np.uint8)


def mixed_data(rng: np.random.Generator, codec: Codec, size: int) -> Octets:
    """Data whose kind changes on the way."""
    cuts = np.sort(rng.integers(0, size // 64 + 1, 3)) * 64
    sizes = np.diff(np.concatenate(([0], cuts, [size])))
    kinds = rng.choice(list(KINDS), len(sizes))
    parts = [user_data(rng, codec, str(kind), int(part)) for kind, part in zip(kinds, sizes, strict=True)]
    return np.concatenate(parts)


def pages_of(data: Octets, codec: Codec, page_bytes: int) -> NDArray[np.uint8]:
    """The pages of an append."""
    return np.asarray(encode(data.tobytes(), codec, page_bytes))


def header_of(page: Octets) -> dict[str, int]:
    """The fields of a page's header."""
    value = int.from_bytes(page[: PageHeader.BYTES].tobytes(), "little")
    names = ("magic", "codec", "mode", "last", "base", "first", "total", "slices")
    return {name: getattr(PageHeader, name).get(value) for name in names}


def beats_of(data: Octets, port_bytes: int) -> list[int]:
    """Data as beats of a port."""
    return [
        int.from_bytes(data[at : at + port_bytes].tobytes(), "little")
        for at in range(0, len(data), port_bytes)
    ]


def octets_of(beats: list[int], port_bytes: int) -> Octets:
    """Beats as data."""
    return np.frombuffer(b"".join(beat.to_bytes(port_bytes, "little") for beat in beats), np.uint8)
