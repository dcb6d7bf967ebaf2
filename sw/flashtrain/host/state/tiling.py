"""Layout of tensors in tiles: pure functions from vectors to the pages of an update, and back.

The parameters of a list of tensors, one after the other, fill tile after tile: channel by channel, then row
by row. A *row* of tiles has one on each channel; rows follow each other as blocks do, on all dies in turn,
zone after zone. The last row is padded with parameters whose state and gradients are zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import TensorMismatch
from flashtrain.numerics.state_format import from_scaled, loaded, scaled_bits, stored_bits
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.state_format import SCALED, StateFormat
from flashtrain.spec.update import Tile

Pages = NDArray[np.uint8]
"""uint8[rows, pages of a tile, channels, bytes of a page]: the order of blocks."""

Shape = tuple[int, ...]

_BITS = {StateFormat.FP32: "uint32", StateFormat.BF16: "uint16", StateFormat.SPLIT: "uint16"}

GRADIENT_DTYPES = {
    GradientFormat.FP32: "float32",
    GradientFormat.FP16: "float16",
    GradientFormat.BF16: "uint16",
}
COPY_DTYPES = {CopyFormat.FP16: "float16", CopyFormat.BF16: "uint16"}
"""NumPy has no BF16, so uint16 holds its bits."""


@dataclass(frozen=True)
class TileLayout:
    """The layout of `parameters` parameters in tiles, with `padding` rows of zeros behind them."""

    tile: Tile
    parameters: int
    padding: int = 0

    @property
    def rows(self) -> int:
        return -(-self.parameters // (self.tile.parameters * self._channels)) + self.padding

    @property
    def row_parameters(self) -> int:
        """Parameters of a row."""
        return self.tile.parameters * self._channels

    @property
    def _channels(self) -> int:
        return self.tile.geometry.channels

    def state_pages(self, arrays: Sequence[NDArray[np.float32]]) -> Pages:
        """Pages of state from the vectors of w, m and v, as many as the tile has.

        Numbers are rounded to nearest even into the formats of the tile.
        """
        content = np.zeros((self.rows, self._channels, self.tile.geometry.page_set_bytes), np.uint8)
        for number, array in enumerate(arrays):
            place, form, tiles = (
                self.tile.array_bytes(number),
                self.tile.formats.of(number),
                self._tiles(array),
            )
            if form is StateFormat.FP8:
                shared = self.tile.scale_bytes(number)
                stored, content[..., shared.start : shared.stop] = scaled_bits(SCALED[number], tiles)
            else:
                stored = stored_bits(form, tiles).view(np.uint8)
            content[..., place.start : place.stop] = stored
        return self._pages(content, self.tile.geometry.planes)

    def planes_of(self, number: int) -> range:
        """The planes on which array `number` of the state lies with its scales: 0 for w, 1 for m, 2 for v."""
        place, scaled = self.tile.array_bytes(number), self.tile.formats.of(number) is StateFormat.FP8
        return self._planes(range(place.start, self.tile.scale_bytes(number).stop) if scaled else place)

    @property
    def upper_planes(self) -> range:
        """The planes on which the weights in BF16 lie, as of :attr:`Tile.upper_bytes`."""
        return self._planes(self.tile.upper_bytes)

    def state_array(self, number: int, pages: Pages) -> NDArray[np.float32]:
        """The vector of array `number`, from the pages of its planes."""
        form, place = self.tile.formats.of(number), self.tile.array_bytes(number)
        skipped = self.planes_of(number).start * self.tile.geometry.page_bytes
        content = self._contents(pages)
        numbers = content[..., place.start - skipped : place.stop - skipped]
        if form is StateFormat.FP8:
            shared = self.tile.scale_bytes(number)
            scales = content[..., shared.start - skipped : shared.stop - skipped]
            tiles = from_scaled(SCALED[number], numbers, scales)
        else:
            tiles = loaded(form, np.ascontiguousarray(numbers).view(_BITS[form]))
        return tiles.reshape(-1)[: self.parameters]

    def upper_array(self, pages: Pages) -> NDArray[np.uint16]:
        """The vector of the weights in BF16, from the pages of `upper_planes`."""
        content = self._contents(pages)[..., : self.tile.upper_bytes.stop]
        return np.ascontiguousarray(content).view(np.uint16).reshape(-1)[: self.parameters]

    def gradient_pages(self, gradients: NDArray[Any]) -> Pages:
        """Pages of gradients, from a vector in the format of the tile."""
        return self._pages(self._tiles(gradients), self.tile.gradient_pages)

    def gradient_rows(self, padded: NDArray[Any], rows: range) -> Pages:
        """Pages of gradients of some rows, from a vector with the padding of the last row."""
        tiles = padded.reshape(self.rows, self._channels, self.tile.parameters)
        return self._pages(tiles[rows.start : rows.stop], self.tile.gradient_pages)

    def copies(self, pages: Pages) -> NDArray[Any]:
        """The vector of 16-bit copies, from the pages that an update returns."""
        kind = np.dtype(COPY_DTYPES[self.tile.copy_format])
        return self._contents(pages).view(kind)[..., : self.tile.parameters].reshape(-1)[: self.parameters]

    def _planes(self, place: range) -> range:
        page_bytes = self.tile.geometry.page_bytes
        return range(place.start // page_bytes, (place.stop - 1) // page_bytes + 1)

    def _tiles(self, vector: NDArray[Any]) -> NDArray[Any]:
        """The vector as [rows, channels, parameters of a tile], with zeros at the end."""
        tiles = np.empty((self.rows, self._channels, self.tile.parameters), vector.dtype)
        flat = tiles.reshape(-1)
        flat[: self.parameters] = vector
        flat[self.parameters :] = 0
        return tiles

    def _contents(self, pages: Pages) -> NDArray[np.uint8]:
        """The bytes of the pages of each tile, [rows, channels, bytes]."""
        return np.ascontiguousarray(pages.swapaxes(1, 2)).reshape(self.rows, self._channels, -1)

    def _pages(self, tiles: NDArray[Any], count: int) -> Pages:
        """`count` pages of each tile, padded with zeros."""
        page_bytes = self.tile.geometry.page_bytes
        raw = np.ascontiguousarray(tiles).view(np.uint8)
        whole, rest = divmod(raw.shape[-1], page_bytes)
        pages = np.empty((len(raw), count, self._channels, page_bytes), np.uint8)
        by_tile = pages.swapaxes(1, 2)
        by_tile[:, :, :whole] = raw[..., : whole * page_bytes].reshape(*raw.shape[:2], whole, page_bytes)
        by_tile[:, :, whole:] = 0
        if rest:
            by_tile[:, :, whole, :rest] = raw[..., whole * page_bytes :]
        return pages


def join_tensors(
    name: str, tensors: Sequence[NDArray[Any]], shapes: Sequence[Shape], dtype: str
) -> NDArray[Any]:
    """One vector of all tensors; :class:`TensorMismatch` unless they have these shapes and this dtype."""
    if len(tensors) != len(shapes):
        raise TensorMismatch(f"{len(tensors)} tensors of {name}; expected {len(shapes)}")
    for number, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
        require_tensor(f"tensor {number} of {name}", tensor, shape, dtype)
    return np.concatenate([tensor.reshape(-1) for tensor in tensors])


def require_tensor(name: str, tensor: NDArray[Any], shape: Shape, dtype: str) -> None:
    """:class:`TensorMismatch` unless the tensor has this shape and this dtype."""
    is_array = isinstance(tensor, np.ndarray | np.generic)
    if not is_array or tensor.shape != shape or tensor.dtype != np.dtype(dtype):
        got = f"{tensor.dtype}{list(tensor.shape)}" if is_array else repr(tensor)
        convertible = is_array and tensor.dtype.kind == "f" and tensor.dtype != np.dtype(dtype)
        convert = f": .astype(np.{dtype}) converts it" if convertible and dtype != "uint16" else ""
        raise TensorMismatch(f"{name} is {got}; expected {dtype}{list(shape)}{convert}")


def split_tensors(vector: NDArray[Any], shapes: Sequence[Shape]) -> list[NDArray[Any]]:
    """The inverse of :func:`join_tensors`: views into `vector`."""
    ends = np.cumsum([prod(shape) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(vector, ends[:-1]), shapes, strict=True)]
