"""Optimizer steps as data: codes, formats, broadcast constants, and the micro-program of each optimizer.

A step computes the new w, m, v of one parameter from the old ones and its gradient. A micro-program lists its
operations in an order in which every operand is known; whoever computes the step may reorder and overlap them
but not round differently. Every operation but SIGN is one IEEE-754 binary32 operation: rounded once, to
nearest even, with subnormals; every NaN result is the canonical one (7FC00000h). MUL is also FMA with c = -0;
ADD is FMA with b = 1; SUB is FMA with b = 1 and c negated. So one fused unit serves them all, bit for bit.

Around the program, and the same for all: the gradient is converted to binary32 before (exact), and the 16-bit
copy of the new w after. Statistics are of the converted gradient, before SCALE.

The order of operations is that of `torch.optim` on a CPU with fused multiply-add; docs/optimizers.md has the
derivation and the distances measured.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum

from .errors import require

CONSTANT_WORDS = 8
"""Words of a broadcast: binary32 constants by their index, +0 where a program has none."""

PARTIAL_SUMS = 8
"""Interleaved sums of squares by default: gradient i goes to sum i mod PARTIAL_SUMS, in order of i."""


class OptimizerCode(IntEnum):
    """Which micro-program runs."""

    SGD = 0
    MOMENTUM = 1
    NESTEROV = 2
    LINEAR = 3  # m and w become linear combinations of m, w and the gradient
    ADAM = 4  # weight decay is added to the gradient
    ADAMW = 5  # weight decay shrinks the weight
    ADAM_FAST = 6  # ADAM for beta1 <= 1/2
    ADAMW_FAST = 7  # ADAMW for beta1 <= 1/2
    SGDW = 8  # weight decay shrinks the weight
    LION = 9  # the step is the sign of a mean; weight decay shrinks the weight
    ADAMW_SCHEDULE_FREE = 10  # a step without momentum; the weight is drawn towards an average of steps


class GradientFormat(IntEnum):
    """Format in which gradients arrive."""

    FP32 = 0  # IEEE 754 binary32
    FP16 = 1  # IEEE 754 binary16
    BF16 = 2  # the upper half of a binary32

    @property
    def bytes(self) -> int:
        """Of a gradient."""
        return 4 if self is GradientFormat.FP32 else 2


class CopyFormat(IntEnum):
    """Format of the copy of the new weights; numbers as in GradientFormat."""

    NONE = 0
    FP16 = 1
    BF16 = 2

    @property
    def bytes(self) -> int:
        """Of a copy."""
        return 0 if self is CopyFormat.NONE else 2


class SgdConstant(IntEnum):
    """Constants of the SGD family."""

    SCALE = 0  # of the gradient: unscale * clip
    DECAY = 1  # weight decay; SGDW: 1 - lr * weight decay
    STEP = 2  # -lr
    MOMENTUM = 3  # momentum


class LinearConstant(IntEnum):
    """Constants of LINEAR: m = M_M * m + M_G * g; w = W_W * w + W_M * m + W_G * g, with the new m."""

    SCALE = 0  # of the gradient: unscale * clip
    M_M = 1
    M_G = 2
    W_W = 3
    W_M = 4
    W_G = 5


class AdamConstant(IntEnum):
    """Constants of the ADAM family."""

    SCALE = 0  # of the gradient: unscale * clip
    DECAY = 1  # ADAM: weight decay; ADAMW: 1 - lr * weight decay
    MEAN_GAIN = 2  # 1 - beta1; FAST: -beta1, as (1 - beta1) - 1
    SQUARE_KEEP = 3  # beta2
    SQUARE_GAIN = 4  # 1 - beta2
    BIAS = 5  # sqrt(1 - beta2^t)
    EPSILON = 6  # epsilon
    STEP = 7  # -lr / (1 - beta1^t)


class LionConstant(IntEnum):
    """Constants of LION."""

    SCALE = 0  # of the gradient: unscale * clip
    DECAY = 1  # 1 - lr * weight decay
    OLD = 2  # beta1
    NEW = 3  # 1 - beta1
    KEEP = 4  # beta2
    GAIN = 5  # 1 - beta2
    STEP = 6  # -lr


class ScheduleFreeConstant(IntEnum):
    """Constants of ADAMW_SCHEDULE_FREE; c is the share of the step in the average of all."""

    SCALE = 0  # of the gradient: unscale * clip
    DECAY = 1  # -lr * weight decay
    SQUARE_KEEP = 2  # beta2
    SQUARE_GAIN = 3  # 1 - beta2
    EPSILON = 4  # epsilon * sqrt(1 - beta2^t)
    STEP = 5  # -lr * sqrt(1 - beta2^t)
    MIX = 6  # c
    LEAD = 7  # 1 - beta1 * (1 - c)


Constant = SgdConstant | LinearConstant | AdamConstant | LionConstant | ScheduleFreeConstant


class Input(Enum):
    """Inputs of a program, for each parameter."""

    W = 0  # the weight
    M = 1  # momentum, first moment; ADAMW_SCHEDULE_FREE: z
    V = 2  # second moment
    G = 3  # the gradient, converted to binary32


class Op(Enum):
    """Operations on binary32 numbers a, b, c."""

    MUL = 0  # a * b
    ADD = 1  # a + b
    SUB = 2  # a - b
    FMA = 3  # a * b + c, rounded once
    DIV = 4  # a / b
    SQRT = 5  # square root of a
    SIGN = 6  # 1 with the sign of a; +0 for both zeros

    @property
    def arity(self) -> int:
        return {Op.SQRT: 1, Op.SIGN: 1, Op.FMA: 3}.get(self, 2)


_NOTATION = {
    Op.MUL: "{} * {}",
    Op.ADD: "{} + {}",
    Op.SUB: "{} - {}",
    Op.FMA: "fma({}, {}, {})",
    Op.DIV: "{} / {}",
    Op.SQRT: "sqrt({})",
    Op.SIGN: "sign({})",
}


@dataclass(frozen=True)
class Operation:
    """One operation; it stands for its result where it is an operand of a later one."""

    name: str
    op: Op
    operands: tuple["Operand", ...]

    def __post_init__(self) -> None:
        expected = f"{self.op.arity} operands of {self.op.name}"
        require(len(self.operands) == self.op.arity, f"operation.{self.name}", self.operands, expected)

    def __str__(self) -> str:
        right = _NOTATION[self.op].format(*(operand.name for operand in self.operands))
        return f"{self.name} = {right}"


Operand = Input | Constant | Operation


@dataclass(frozen=True)
class Program:
    """Operations of an optimizer, and which results are the new w, m and v (`None`: it has no such state)."""

    code: OptimizerCode
    constants: type[Constant]
    operations: tuple[Operation, ...]
    w: Operation
    m: Operation | None = None
    v: Operation | None = None

    def __post_init__(self) -> None:
        known: set[Operation] = set()
        for operation in self.operations:
            for operand in operation.operands:
                if isinstance(operand, Operation):
                    require(operand in known, f"program.{self.code.name}.{operation.name}", operand.name,
                            "the result of an earlier operation")  # fmt: skip
            known.add(operation)
        for output in self.outputs:
            require(output in known, f"program.{self.code.name}", output.name, "the result of an operation")

    @property
    def outputs(self) -> tuple[Operation, ...]:
        """New w, then new m and v as far as there are any."""
        return tuple(output for output in (self.w, self.m, self.v) if output is not None)

    def count(self, *ops: Op) -> int:
        """How many operations are one of `ops`."""
        return sum(operation.op in ops for operation in self.operations)

    def __str__(self) -> str:
        """The listing: an operation a line."""
        return "\n".join(str(operation) for operation in self.operations)


_W, _M, _V, _G = Input.W, Input.M, Input.V, Input.G


def _sgd(code: OptimizerCode) -> Program:
    c = SgdConstant
    g = Operation("g", Op.MUL, (c.SCALE, _G))
    if code is OptimizerCode.SGDW:
        shrunk = Operation("shrunk", Op.MUL, (c.DECAY, _W))
        w = Operation("w", Op.FMA, (c.STEP, g, shrunk))
        return Program(code, c, (g, shrunk, w), w)
    decayed = Operation("decayed", Op.FMA, (c.DECAY, _W, g))
    kept = Operation("kept", Op.MUL, (c.MOMENTUM, _M))
    m = Operation("m", Op.ADD, (kept, decayed))
    ahead = Operation("ahead", Op.FMA, (c.MOMENTUM, m, decayed))
    if code is OptimizerCode.SGD:
        w = Operation("w", Op.FMA, (c.STEP, decayed, _W))
        return Program(code, c, (g, decayed, w), w)
    if code is OptimizerCode.MOMENTUM:
        w = Operation("w", Op.FMA, (c.STEP, m, _W))
        return Program(code, c, (g, decayed, kept, m, w), w, m)
    w = Operation("w", Op.FMA, (c.STEP, ahead, _W))
    return Program(code, c, (g, decayed, kept, m, ahead, w), w, m)


def _linear() -> Program:
    c = LinearConstant
    g = Operation("g", Op.MUL, (c.SCALE, _G))
    m_of_g = Operation("m_of_g", Op.MUL, (c.M_G, g))
    m = Operation("m", Op.FMA, (c.M_M, _M, m_of_g))
    w_of_g = Operation("w_of_g", Op.MUL, (c.W_G, g))
    w_of_m = Operation("w_of_m", Op.FMA, (c.W_M, m, w_of_g))
    w = Operation("w", Op.FMA, (c.W_W, _W, w_of_m))
    return Program(OptimizerCode.LINEAR, c, (g, m_of_g, m, w_of_g, w_of_m, w), w, m)


def _adam(code: OptimizerCode) -> Program:
    c = AdamConstant
    decoupled = code in (OptimizerCode.ADAMW, OptimizerCode.ADAMW_FAST)
    fast = code in (OptimizerCode.ADAM_FAST, OptimizerCode.ADAMW_FAST)
    scaled = Operation("scaled" if not decoupled else "g", Op.MUL, (c.SCALE, _G))
    g = scaled if decoupled else Operation("g", Op.FMA, (c.DECAY, _W, scaled))
    change = Operation("change", Op.SUB, (g, _M))
    # The mean moves from the nearer end: from the old mean, or with a small beta1 from the gradient.
    m = Operation("m", Op.FMA, (c.MEAN_GAIN, change, g if fast else _M))
    kept = Operation("kept", Op.MUL, (c.SQUARE_KEEP, _V))
    gained = Operation("gained", Op.MUL, (c.SQUARE_GAIN, g))
    v = Operation("v", Op.FMA, (gained, g, kept))
    root = Operation("root", Op.SQRT, (v,))
    unbiased = Operation("unbiased", Op.DIV, (root, c.BIAS))
    divisor = Operation("divisor", Op.ADD, (unbiased, c.EPSILON))
    dividend = Operation("dividend", Op.MUL, (c.STEP, m))
    move = Operation("move", Op.DIV, (dividend, divisor))
    common = (change, m, kept, gained, v, root, unbiased, divisor, dividend, move)
    if decoupled:
        shrunk = Operation("shrunk", Op.MUL, (c.DECAY, _W))
        w = Operation("w", Op.ADD, (shrunk, move))
        return Program(code, c, (scaled, *common, shrunk, w), w, m, v)
    w = Operation("w", Op.ADD, (_W, move))
    return Program(code, c, (scaled, g, *common, w), w, m, v)


def _lion() -> Program:
    c = LionConstant
    g = Operation("g", Op.MUL, (c.SCALE, _G))
    old = Operation("old", Op.MUL, (c.OLD, _M))
    new = Operation("new", Op.MUL, (c.NEW, g))
    mixed = Operation("mixed", Op.ADD, (old, new))
    direction = Operation("direction", Op.SIGN, (mixed,))
    shrunk = Operation("shrunk", Op.MUL, (c.DECAY, _W))
    w = Operation("w", Op.FMA, (c.STEP, direction, shrunk))
    kept = Operation("kept", Op.MUL, (c.KEEP, _M))
    m = Operation("m", Op.FMA, (c.GAIN, g, kept))
    return Program(OptimizerCode.LION, c, (g, old, new, mixed, direction, shrunk, w, kept, m), w, m)


def _schedule_free() -> Program:
    c = ScheduleFreeConstant
    g = Operation("g", Op.MUL, (c.SCALE, _G))
    kept = Operation("kept", Op.MUL, (c.SQUARE_KEEP, _V))
    gained = Operation("gained", Op.MUL, (c.SQUARE_GAIN, g))
    v = Operation("v", Op.FMA, (gained, g, kept))
    root = Operation("root", Op.SQRT, (v,))
    divisor = Operation("divisor", Op.ADD, (root, c.EPSILON))
    dividend = Operation("dividend", Op.MUL, (c.STEP, g))
    move = Operation("move", Op.DIV, (dividend, divisor))
    step = Operation("step", Op.FMA, (c.DECAY, _W, move))
    m = Operation("m", Op.ADD, (_M, step))
    # By a difference, so that a constant which is rounded does not move a weight that equals z.
    apart = Operation("apart", Op.SUB, (_M, _W))
    mixed = Operation("mixed", Op.FMA, (c.MIX, apart, _W))
    w = Operation("w", Op.FMA, (c.LEAD, step, mixed))
    operations = (g, kept, gained, v, root, divisor, dividend, move, step, m, apart, mixed, w)
    return Program(OptimizerCode.ADAMW_SCHEDULE_FREE, c, operations, w, m, v)


PROGRAMS = {
    program.code: program
    for program in (
        *(_sgd(code) for code in (OptimizerCode.SGD, OptimizerCode.MOMENTUM, OptimizerCode.NESTEROV)),
        _linear(),
        *(_adam(code) for code in OptimizerCode if OptimizerCode.ADAM <= code <= OptimizerCode.ADAMW_FAST),
        _sgd(OptimizerCode.SGDW),
        _lion(),
        _schedule_free(),
    )
}
"""The micro-program of every code."""
