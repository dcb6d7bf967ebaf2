"""The optimizer step that a die holds: its last header, and its counts since then."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics import Constants, copy_of, gradient_values, update
from flashtrain.numerics.statistics import add_squares
from flashtrain.spec import Geometry
from flashtrain.spec.optimizer import PARTIAL_SUMS, CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.update import Tile, UpdateHeader, UpdateStatistics

_GRADIENTS = {
    GradientFormat.FP32: np.float32,
    GradientFormat.FP16: np.float16,
    GradientFormat.BF16: np.uint16,
}


WEIGHTS_ALONE = (OptimizerCode.SGD, OptimizerCode.SGDW)
"""Optimizers whose tiles are all w."""


@dataclass(frozen=True)
class Step:
    """An optimizer step that leaves nothing undefined: one of `WEIGHTS_ALONE`, with state in FP32."""

    tile: Tile
    constants: Constants

    @classmethod
    def of(cls, page: bytes, geometry: Geometry) -> "Step | None":
        """The step of a page of constants; `None` if the header is of another one, or invalid."""
        h, header = UpdateHeader, int.from_bytes(page[: UpdateHeader.BYTES], "little")
        gradient, copy = h.gradient_format.get(header), h.copy_format.get(header)
        code = h.code.get(header)
        if code not in WEIGHTS_ALONE or gradient not in list(GradientFormat):
            return None
        if copy not in list(CopyFormat) or h.weight_format.get(header) or h.moment_format.get(header):
            return None
        tile = Tile.of(geometry, OptimizerCode(code), GradientFormat(gradient), CopyFormat(copy))
        if h.parameters.get(header) != tile.parameters:
            return None
        words = tuple(constant.get(header) for constant in h.constants)
        return cls(tile, Constants.from_words(OptimizerCode(code), words))

    def fits(self, pages: int, copies: int) -> bool:
        return pages == self.tile.gradient_pages and copies <= self.tile.copy_pages

    def gradients(self, pages: bytes) -> NDArray[np.generic]:
        form = self.tile.gradient_format
        return np.frombuffer(pages[: self.tile.parameters * form.bytes], _GRADIENTS[form])

    def run(self, tile: bytes, pages: bytes) -> tuple[bytes, bytes]:
        """The new tile, and its 16-bit copies; `pages` are its gradients."""
        w = np.frombuffer(tile, np.float32)
        new = update(self.constants, self.gradients(pages), w).w
        copies = copy_of(new, self.tile.copy_format)
        return new.tobytes(), b"" if copies is None else copies.tobytes()


@dataclass
class DieStep:
    """step: None when no constants were set, or such as leave contents undefined.

    defined: whether all that it has counted is.
    """

    step: Step | None = None
    defined: bool = False
    nans: int = 0
    infinities: int = 0
    largest: np.float32 = np.float32(0)
    tiles: int = 0
    squares: NDArray[np.float32] = field(default_factory=lambda: np.zeros(PARTIAL_SUMS, np.float32))

    def copy(self) -> "DieStep":
        return DieStep(
            self.step, self.defined, self.nans, self.infinities, self.largest, self.tiles, self.squares
        )

    def count(self, gradients: NDArray[np.generic]) -> None:
        """The gradients of one more tile."""
        values = gradient_values(gradients)
        nan = np.isnan(values)
        self.nans += int(np.count_nonzero(nan))
        self.infinities += int(np.count_nonzero(np.isinf(values)))
        self.largest = max(self.largest, np.abs(values[~nan]).max(initial=np.float32(0)))
        self.squares = add_squares(self.squares, values)
        self.tiles += 1

    def statistics(self, page_bytes: int) -> bytes | None:
        """The page of READ_STATISTICS."""
        if not self.defined:
            return None
        s = UpdateStatistics
        value = (
            s.nans.put(self.nans) | s.infinities.put(self.infinities) | s.tiles.put(self.tiles)
            | s.largest.put(int(np.float32(self.largest).view(np.uint32)))
        )  # fmt: skip
        for place, square in zip(s.squares, self.squares, strict=True):
            value |= place.put(int(square.view(np.uint32)))
        return value.to_bytes(s.BYTES, "little").ljust(page_bytes, b"\0")
