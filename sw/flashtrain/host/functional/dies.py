"""The update units of all dies: constants, statistics, and the step of a tile (`flashtrain.spec.update`)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics import Constants, gradient_values, update
from flashtrain.numerics.float32 import Float32
from flashtrain.numerics.statistics import add_squares
from flashtrain.spec import Geometry
from flashtrain.spec.optimizer import PARTIAL_SUMS, PROGRAMS, CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.update import Tile, UpdateHeader, UpdateStatistics

Bytes = NDArray[np.uint8]

_GRADIENT_DTYPES = {GradientFormat.FP32: "<f4", GradientFormat.FP16: "<f2", GradientFormat.BF16: "<u2"}
_WORD = (1 << 32) - 1


class Tiles(NamedTuple):
    """Tiles: state uint8[rows, channels, page set], copies uint8[rows, channels, bytes]."""

    state: Bytes
    copies: Bytes


@dataclass(frozen=True)
class _Step:
    """The step that a valid header describes."""

    constants: Constants
    tile: Tile
    parameters: int

    @classmethod
    def parse(cls, raw: bytes, geometry: Geometry) -> "_Step | None":
        h, entry = UpdateHeader, int.from_bytes(raw, "little")
        try:
            code = OptimizerCode(h.code.get(entry))
            gradient = GradientFormat(h.gradient_format.get(entry))
            copy = CopyFormat(h.copy_format.get(entry))
        except ValueError:
            return None
        tile, parameters = Tile.of(geometry, code, gradient, copy), h.parameters.get(entry)
        if not 1 <= parameters <= tile.parameters:
            return None
        words = tuple(field.get(entry) for field in h.constants)
        return cls(Constants.from_words(code, words), tile, parameters)


class Dies:
    """All dies of a device, numbered as in SET_CONSTANTS: die * channels + channel.

    An update leaves a tile unchanged if its die has no valid header of a fitting size; the contract leaves
    that case undefined.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self._count = geometry.channels * geometry.dies
        self.set_constants(np.zeros((self._count, geometry.page_bytes), np.uint8))

    def set_constants(self, pages: Bytes) -> None:
        """Set each die's header from its page, uint8[dies, page], and reset the statistics."""
        self._headers = [page[: UpdateHeader.BYTES].tobytes() for page in pages]
        self._steps = {raw: _Step.parse(raw, self._geometry) for raw in set(self._headers)}
        self._nans = np.zeros(self._count, np.int64)
        self._infinities = np.zeros(self._count, np.int64)
        self._tiles = np.zeros(self._count, np.int64)
        self._largest = np.zeros(self._count, np.float32)
        self._squares = np.zeros((self._count, PARTIAL_SUMS), np.float32)

    @property
    def work(self) -> tuple[int, int]:
        """Parameters of a tile and words of state of each, by the first die's header; 0, 0 without one."""
        step = self._steps[self._headers[0]]
        return (0, 0) if step is None else (step.parameters, step.tile.arrays)

    def statistics(self) -> Bytes:
        """A page of statistics from each die, uint8[dies, page]."""
        pages = np.zeros((self._count, self._geometry.page_bytes), np.uint8)
        for die in range(self._count):
            s = UpdateStatistics
            value = (
                s.nans.put(int(self._nans[die]) & _WORD)
                | s.infinities.put(int(self._infinities[die]) & _WORD)
                | s.largest.put(int(self._largest[die].view(np.uint32)))
                | s.tiles.put(int(self._tiles[die]) & _WORD)
            )
            for field, square in zip(s.squares, self._squares[die], strict=True):
                value |= field.put(int(square.view(np.uint32)))
            pages[die, : s.BYTES] = np.frombuffer(value.to_bytes(s.BYTES, "little"), np.uint8)
        return pages

    def update(self, first: int, state: Bytes, gradients: Bytes) -> Tiles:
        """Compute the step of rows of tiles on all channels; row `first` of the zone is the first one.

        state: uint8[rows, channels, page set]; gradients: uint8[rows, channels, bytes]. The copies have the
        shape of the gradients.
        """
        channels = self._geometry.channels
        new, copies = state.copy(), np.zeros_like(gradients)
        for row in range(len(state)):
            begin = (first + row) % self._geometry.dies * channels
            headers = self._headers[begin : begin + channels]
            for header in set(headers):
                step = self._steps[header]
                if (
                    step is not None
                    and step.tile.gradient_pages * self._geometry.page_bytes <= gradients.shape[2]
                ):
                    these = np.array([channel for channel in range(channels) if headers[channel] == header])
                    new[row, these], copies[row, these] = self._step(
                        step, begin + these, state[row, these], gradients[row, these]
                    )
        return Tiles(new, copies)

    def _step(
        self, step: _Step, dies: NDArray[np.int64], state: Bytes, gradients: Bytes
    ) -> tuple[Bytes, Bytes]:
        """Compute one tile on each of `dies`, which all have the same header."""
        n, tile = step.parameters, step.tile
        words = state.view("<f4").astype(np.float32)
        g = gradients.view(_GRADIENT_DTYPES[tile.gradient_format])[:, :n]
        self._count_gradients(dies, gradient_values(g))
        arrays = [words[:, i * n : (i + 1) * n] for i in range(tile.arrays)]
        program = PROGRAMS[step.constants.code]
        named = dict(zip((output.name for output in program.outputs), arrays, strict=True))
        after = update(step.constants, g, **named, copy=tile.copy_format)
        results = [array for array in (after.w, after.m, after.v) if array is not None]
        for i, array in enumerate(results):
            words[:, i * n : (i + 1) * n] = array
        copies = np.zeros_like(gradients)
        if after.copy is not None:
            raw = np.ascontiguousarray(after.copy).view(np.uint8)
            copies[:, : raw.shape[1]] = raw
        return words.view(np.uint8), copies

    def _count_gradients(self, dies: NDArray[np.int64], g: Float32) -> None:
        nan = np.isnan(g)
        self._nans[dies] += np.count_nonzero(nan, axis=1)
        self._infinities[dies] += np.count_nonzero(np.isinf(g), axis=1)
        largest = np.where(nan, np.float32(0), np.abs(g)).max(axis=1)
        self._largest[dies] = np.maximum(self._largest[dies], largest)
        self._squares[dies] = add_squares(self._squares[dies], g)
        self._tiles[dies] += 1
