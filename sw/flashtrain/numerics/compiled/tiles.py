"""Optimizer steps of tiles (`flashtrain.spec.update`) in C++: `numerics.update` and `numerics.statistics`."""

import ctypes

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.constants import Constants
from flashtrain.numerics.state_format import NEAREST, StepRounding
from flashtrain.spec.optimizer import (
    CONSTANT_WORDS,
    PARTIAL_SUMS,
    PROGRAMS,
    Input,
    Operand,
    Operation,
)
from flashtrain.spec.state_format import ROUND_CONSTANTS, ROUNDS, SCALED, Rounding
from flashtrain.spec.update import Tile

from .library import load_kernels

Bytes = NDArray[np.uint8]

STATISTICS = np.dtype([
    ("nans", "<i8"), ("infinities", "<i8"), ("tiles", "<i8"), ("largest", "<f4"),
    ("squares", "<f4", PARTIAL_SUMS),
], align=True)  # fmt: skip
"""Statistics of a die's gradients (`Statistics` in tiles.cpp)."""

TILE = np.dtype([(name, "<i8") for name in ("die", "zone", "place", "state", "gradient")])
"""A tile: the place of its die in the statistics; the zone of the device, and the place in the zone
(`flashtrain.spec.state_format.tile_place`); the bytes from the first page of a kind to its own."""

_MOST_VALUES = 64
_FIRST_CONSTANT = len(Input)
_FIRST_RESULT = _FIRST_CONSTANT + CONSTANT_WORDS


class _Operation(ctypes.Structure):
    _fields_ = [("op", ctypes.c_int32), ("operands", ctypes.c_int32 * 3)]


class _Scaled(ctypes.Structure):
    """`Scaled` in tiles.cpp."""

    _fields_ = [(name, ctypes.c_int32) for name in ("mantissa_bits", "bias", "infinity", "keeps_least")]


class _Step(ctypes.Structure):
    """`Step` in tiles.cpp."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in (
            "operations", "arrays", "parameters", "gradient_format", "copy_format", "first_constant",
            "constants", "first_result",
        )),
        *((name, ctypes.c_int32 * 3) for name in ("outputs", "first_byte", "first_scale", "formats")),
        ("scaled", _Scaled * 3),
        ("stochastic", ctypes.c_int32),
        ("first_zone", ctypes.c_int32),
        ("first_page", ctypes.c_int32),
        ("key", ctypes.c_uint64),
        ("round_constants", ctypes.c_uint32 * ROUNDS),
        ("constant", ctypes.c_float * CONSTANT_WORDS),
        ("operation", _Operation * _MOST_VALUES),
    ]  # fmt: skip


class _Pages(ctypes.Structure):
    """`Pages` in tiles.cpp."""

    _fields_ = [("first", ctypes.c_void_p), *((name, ctypes.c_int64) for name in ("page_bytes", "stride"))]


class TilePages:
    """Pages of tiles in an array, uint8[rows, pages, channels, page_bytes]: a tile has a row of a channel."""

    def __init__(self, pages: Bytes) -> None:
        rows, of_tile, channels, page_bytes = pages.shape
        stride = channels * page_bytes
        self.entry = _Pages(pages.ctypes.data, page_bytes, stride)
        self.offsets = np.arange(rows)[:, np.newaxis] * of_tile * stride + np.arange(channels) * page_bytes
        """Of each tile, int64[rows, channels]."""


class TileStep:
    """The step of tiles of so many parameters, by the micro-program that `constants` are for.

    first_zone, first_page: of the generation, from which places count.
    """

    def __init__(
        self,
        constants: Constants,
        tile: Tile,
        parameters: int,
        rounding: StepRounding = NEAREST,
        first_zone: int = 0,
        first_page: int = 0,
    ) -> None:
        program = PROGRAMS[constants.code]
        results = {operation: _FIRST_RESULT + n for n, operation in enumerate(program.operations)}

        def number(operand: Operand) -> int:
            if isinstance(operand, Operation):
                return results[operand]
            return operand.value if isinstance(operand, Input) else _FIRST_CONSTANT + operand

        step = _Step(
            len(program.operations), len(program.outputs), parameters, tile.gradient_format, tile.copy_format
        )
        step.first_constant, step.constants, step.first_result = (
            _FIRST_CONSTANT,
            len(constants.values),
            _FIRST_RESULT,
        )
        step.outputs[: len(program.outputs)] = [results[output] for output in program.outputs]
        arrays = len(program.outputs)
        first = tile.first_bytes(parameters)
        step.first_byte[:arrays], step.first_scale[:arrays] = first[:arrays], first[arrays:]
        step.formats[:arrays] = [tile.formats.of(array) for array in range(arrays)]
        for array, form in SCALED.items():
            step.scaled[array] = _Scaled(form.mantissa_bits, form.bias, form.infinity, form.keeps_least)
        step.stochastic, step.key = rounding.rounding is Rounding.STOCHASTIC, rounding.key
        step.first_zone, step.first_page = first_zone, first_page
        step.round_constants[:] = ROUND_CONSTANTS
        step.constant[: len(constants.values)] = [float(value) for value in constants.values]
        for entry, operation in zip(step.operation, program.operations, strict=False):
            operands = [number(operand) for operand in operation.operands]
            entry.op = operation.op.value
            entry.operands[: len(operands)] = operands
        self._step = step

    def run(
        self, tiles: NDArray[np.void], state: TilePages, gradients: TilePages, copy_pages: int,
        statistics: NDArray[np.void],
    ) -> None:  # fmt: skip
        """Step tiles in their order, in place.

        tiles: of dtype `TILE`; statistics: of all dies, dtype `STATISTICS`. Copies of the new weights take
        the place of the first `copy_pages` pages of gradients of each tile, with zeros behind them.
        """
        load_kernels().flashtrain_tiles(
            ctypes.byref(self._step), len(tiles), tiles.ctypes.data, ctypes.byref(state.entry),
            ctypes.byref(gradients.entry), copy_pages, statistics.ctypes.data,
        )  # fmt: skip
