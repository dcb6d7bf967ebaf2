"""Optimizer steps of tiles (`flashtrain.spec.update`) in C++: `numerics.update` and `numerics.statistics`."""

import ctypes

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.constants import Constants
from flashtrain.spec.optimizer import (
    CONSTANT_WORDS,
    PARTIAL_SUMS,
    PROGRAMS,
    CopyFormat,
    GradientFormat,
    Input,
    Operand,
    Operation,
)

from .library import load_kernels

Bytes = NDArray[np.uint8]

STATISTICS = np.dtype([
    ("nans", "<i8"), ("infinities", "<i8"), ("tiles", "<i8"), ("largest", "<f4"),
    ("squares", "<f4", PARTIAL_SUMS),
], align=True)  # fmt: skip
"""Statistics of a die's gradients (`Statistics` in tiles.cpp)."""

_MOST_VALUES = 64
_FIRST_CONSTANT = len(Input)
_FIRST_RESULT = _FIRST_CONSTANT + CONSTANT_WORDS


class _Operation(ctypes.Structure):
    _fields_ = [("op", ctypes.c_int32), ("operands", ctypes.c_int32 * 3)]


class _Step(ctypes.Structure):
    """`Step` in tiles.cpp."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in (
            "operations", "arrays", "parameters", "gradient_format", "copy_format", "first_constant",
            "constants", "first_result",
        )),
        ("outputs", ctypes.c_int32 * 3),
        ("constant", ctypes.c_float * CONSTANT_WORDS),
        ("operation", _Operation * _MOST_VALUES),
    ]  # fmt: skip


class TileStep:
    """The step of tiles of so many parameters, by the micro-program that `constants` are for."""

    def __init__(
        self, constants: Constants, gradient: GradientFormat, copy: CopyFormat, parameters: int
    ) -> None:
        program = PROGRAMS[constants.code]
        results = {operation: _FIRST_RESULT + n for n, operation in enumerate(program.operations)}

        def number(operand: Operand) -> int:
            if isinstance(operand, Operation):
                return results[operand]
            return operand.value if isinstance(operand, Input) else _FIRST_CONSTANT + operand

        step = _Step(len(program.operations), len(program.outputs), parameters, gradient, copy)
        step.first_constant, step.constants, step.first_result = (
            _FIRST_CONSTANT,
            len(constants.values),
            _FIRST_RESULT,
        )
        step.outputs[: len(program.outputs)] = [results[output] for output in program.outputs]
        step.constant[: len(constants.values)] = [float(value) for value in constants.values]
        for entry, operation in zip(step.operation, program.operations, strict=False):
            operands = [number(operand) for operand in operation.operands]
            entry.op = operation.op.value
            entry.operands[: len(operands)] = operands
        self._step = step

    def run(
        self,
        tiles: NDArray[np.int64],
        dies: NDArray[np.int64],
        state: Bytes,
        gradients: Bytes,
        copies: Bytes,
        statistics: NDArray[np.void],
    ) -> None:
        """Step tiles in their order, in place.

        tiles: their numbers; dies: the place in `statistics`, dtype `STATISTICS`, of each; state: uint8[all
        tiles, page set]; gradients, copies: uint8[all tiles, bytes].
        """
        load_kernels().flashtrain_tiles(
            ctypes.byref(self._step), len(tiles), tiles.ctypes.data, dies.ctypes.data, state.ctypes.data,
            state.shape[1] // 4, gradients.ctypes.data, copies.ctypes.data, gradients.shape[1],
            statistics.ctypes.data,
        )  # fmt: skip
