"""Windows that move over images ``[batch, height, width, channels]``."""

from dataclasses import dataclass

import numpy as np

from flashtrain.training.arrays import FloatArray, Shape
from flashtrain.training.errors import ShapeError


@dataclass(frozen=True)
class Windows:
    """Square windows of `size` pixels, `stride` pixels apart, over an image with `padding` pixels around it.

    Pixels at the end that fill no window are left out, as in PyTorch.
    """

    size: int
    stride: int
    padding: int

    def __post_init__(self) -> None:
        if self.stride < 1:
            raise ShapeError(
                f"windows of {self.size} pixels: the stride must be at least 1, got {self.stride}"
            )
        if not 0 <= self.padding < self.size:
            raise ShapeError(
                f"windows of {self.size} pixels: the padding must be 0 to {self.size - 1}, got {self.padding}"
            )

    def count(self, pixels: int) -> int:
        """Windows along an axis of so many pixels; below 1 if not even one fits."""
        return (pixels + 2 * self.padding - self.size) // self.stride + 1

    def pixels(self, windows: int) -> int:
        """Pixels along an axis of so many windows, which leave none out."""
        return (windows - 1) * self.stride + self.size - 2 * self.padding

    def left_out(self, pixels: int) -> bool:
        """Whether the last pixels of an axis fill no window."""
        return self.pixels(self.count(pixels)) != pixels

    def take(self, x: FloatArray, outside: float) -> FloatArray:
        """``[batch, rows, columns, size * size, channels]``; the pixels around the image are `outside`."""
        p = self.padding
        padded = np.pad(x, ((0, 0), (p, p), (p, p), (0, 0)), constant_values=x.dtype.type(outside))
        return np.stack([padded[tap] for tap in self._taps(x.shape)], axis=3)

    def add(self, windows: FloatArray, shape: Shape) -> FloatArray:
        """The adjoint of `take`: every pixel of a window is added to the one that it was read from."""
        batch, height, width, channels = shape
        p = self.padding
        padded = np.zeros((batch, height + 2 * p, width + 2 * p, channels), windows.dtype)
        for number, tap in enumerate(self._taps(shape)):
            padded[tap] += windows[:, :, :, number]
        return np.ascontiguousarray(padded[:, p : p + height, p : p + width])

    def _taps(self, shape: Shape) -> list[tuple[slice, slice, slice]]:
        """For each pixel of a window: where it lies in the padded image, in all windows."""
        rows, columns = (slice(0, self.stride * (self.count(n) - 1) + 1, self.stride) for n in shape[1:3])
        return [
            (slice(None), _moved(rows, row), _moved(columns, column))
            for row in range(self.size)
            for column in range(self.size)
        ]


def _moved(pixels: slice, by: int) -> slice:
    return slice(pixels.start + by, pixels.stop + by, pixels.step)
