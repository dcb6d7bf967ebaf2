"""One update of any number of parameters: the NumPy interpreter of the micro-programs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.optimizer import (
    PROGRAMS,
    CopyFormat,
    GradientFormat,
    Input,
    Op,
    Operand,
    Operation,
    Program,
)

from .constants import Constants
from .errors import OperandError
from .float32 import (
    Array,
    Float32,
    canonical,
    fma,
    from_bfloat16,
    from_float16,
    to_bfloat16,
    to_float16,
)


@dataclass(frozen=True)
class Update:
    """Result of an update; `m` and `v` are `None` where the optimizer has no such state.

    `copy` is the new w in 16 bits: float16, or uint16 that holds BF16.
    """

    w: Float32
    m: Float32 | None
    v: Float32 | None
    copy: NDArray[np.float16] | NDArray[np.uint16] | None


def update(
    constants: Constants,
    g: Array,
    w: Float32,
    m: Float32 | None = None,
    v: Float32 | None = None,
    copy: CopyFormat = CopyFormat.NONE,
) -> Update:
    """Run the program that `constants` are for.

    All arrays have one shape, any. `w` and the state that the program has (`m`, `v`) are float32; `g` is
    float32, float16, or uint16 that holds BF16. Raises `OperandError` for anything else.
    """
    program = PROGRAMS[constants.code]
    needed = {"m": (m, program.m), "v": (v, program.v)}
    for name, (array, output) in needed.items():
        if (array is None) != (output is None):
            expected = "none" if output is None else "an array"
            raise OperandError(f"{name} of {program.code.name}: expected {expected}")
    inputs = {Input.W: w, Input.M: m, Input.V: v, Input.G: gradient_values(g)}
    given = {kind: array for kind, array in inputs.items() if array is not None}
    for kind, array in given.items():
        if array.dtype != np.float32 or array.shape != w.shape:
            name = kind.name.lower()
            convert = "" if array.dtype == np.float32 else f": {name}.astype(np.float32) converts it"
            raise OperandError(
                f"{name} is {array.dtype}{list(array.shape)}; expected float32{list(w.shape)}{convert}"
            )
    results = run(program, constants, given)
    new_w, new_m, new_v = (None if o is None else results[o] for o in (program.w, program.m, program.v))
    assert new_w is not None
    return Update(new_w, new_m, new_v, copy_of(new_w, copy))


def gradient_values(g: Array) -> Float32:
    """Gradients of any `GradientFormat` in float32: from float32, float16, or uint16 that holds BF16."""
    if g.dtype == np.float32:
        return g
    if g.dtype == np.float16:
        return from_float16(g)
    if g.dtype == np.uint16:
        return from_bfloat16(g)
    raise OperandError(
        f"the gradient g is {g.dtype}; expected float32, float16, or uint16 that holds BF16: "
        "g.astype(np.float32) converts it"
    )


def gradients_in(form: GradientFormat, values: Float32) -> Array:
    """The inverse of `gradient_values`: float32 gradients in this format, rounded to nearest even."""
    if form is GradientFormat.FP32:
        return values
    return to_float16(values) if form is GradientFormat.FP16 else to_bfloat16(values)


def copy_of(w: Float32, copy: CopyFormat) -> NDArray[np.float16] | NDArray[np.uint16] | None:
    """`w` in the format of the copy, rounded to nearest even; `None` for `CopyFormat.NONE`."""
    if copy is CopyFormat.NONE:
        return None
    return to_float16(w) if copy is CopyFormat.FP16 else to_bfloat16(w)


def run(program: Program, constants: Constants, inputs: Mapping[Input, Float32]) -> dict[Operation, Float32]:
    """The result of every operation of `program`."""
    results: dict[Operation, Float32] = {}

    def value(operand: Operand) -> Any:
        if isinstance(operand, Operation):
            return results[operand]
        return inputs[operand] if isinstance(operand, Input) else constants[operand]

    for operation in program.operations:
        operands = [value(operand) for operand in operation.operands]
        with np.errstate(all="ignore"):
            results[operation] = canonical(_COMPUTE[operation.op](*operands))
    return results


_COMPUTE: dict[Op, Callable[..., Float32]] = {
    Op.MUL: np.multiply,
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.FMA: fma,
    Op.DIV: np.divide,
    Op.SQRT: np.sqrt,
    Op.SIGN: np.sign,
}
