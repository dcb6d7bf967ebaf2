"""The randomizer's effect on a training's pages: `python -m flashtrain.numerics.randomizer_figure`."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import Geometry
from flashtrain.spec.presets import SMALL_ECC

from .page_randomizer import page_keys

PLANE = 0
SEED = 1


def contents(geometry: Geometry) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """Names, and data of a block, uint8[pages, bytes]. All numbers are FP32."""
    random = np.random.default_rng(SEED)
    shape = geometry.pages, geometry.page_bytes // 4
    normal = random.standard_normal(shape, np.float32)
    zero = np.float32(0)
    for name, array in (
        ("zeros", np.zeros(shape, np.float32)),
        ("equal weights, 1.0", np.ones(shape, np.float32)),
        ("weights, normal, 0.02", np.float32(0.02) * normal),
        ("activations, half of them zeros", np.maximum(normal, zero)),
        ("activations, 95 % zeros", np.where(random.random(shape) < 0.95, zero, abs(normal))),
        ("any bytes", random.integers(0, 256, (geometry.pages, geometry.page_bytes), np.uint8)),
    ):
        yield name, np.ascontiguousarray(array).view(np.uint8)


def figures(pages: NDArray[np.uint8]) -> list[str]:
    """Least and most of: ones of a page, ones of a bit line, and bits of a page as in the next page."""
    bits = np.unpackbits(pages, axis=1)
    same = bits[1:] == bits[:-1]
    return [f"{100 * s.min():.1f} to {100 * s.max():.1f}" for s in (bits.mean(1), bits.mean(0), same.mean(1))]


def table(geometry: Geometry) -> str:
    keys = page_keys(geometry, np.arange(geometry.pages), PLANE)[:, : geometry.page_bytes]
    columns = ("ones of a page", "of a bit line", "same in the next page")
    lines = [
        f"| % | {' | '.join(columns)} | {' | '.join(f'with: {name}' for name in columns)} |",
        "|---" * (1 + 2 * len(columns)) + "|",
    ]
    for name, pages in contents(geometry):
        lines.append(f"| {' | '.join([name, *figures(pages), *figures(pages ^ keys)])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(SMALL_ECC.geometry))
