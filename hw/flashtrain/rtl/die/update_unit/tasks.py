"""The micro-programs of the contract as tasks of hardware units."""

from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache

from flashtrain.spec.optimizer import PROGRAMS, Input, Op, Operand, Operation, OptimizerCode


class Kind(Enum):
    """Kinds of units."""

    WIDEN = auto()  # the gradient, as it arrives, to binary32
    MULTIPLY_ADD = auto()  # a * b + c
    MULTIPLY = auto()  # a * b
    ADD = auto()  # a + b or a - b
    DIVIDE = auto()  # a / b
    ROOT = auto()  # square root of a
    SIGN = auto()  # 1 with the sign of a, or 0
    NARROW = auto()  # the new weight to its copy
    OUTPUT = auto()  # the registers of the results: new w, m, v, and the copy


class Fixed(Enum):
    """Operands that no task computes and no parameter brings."""

    ONE = auto()
    MINUS_ZERO = auto()
    SUM = auto()  # the partial sum of squares that this gradient belongs to


ABLE = {kind: (kind,) for kind in Kind} | {
    Kind.MULTIPLY: (Kind.MULTIPLY, Kind.MULTIPLY_ADD),
    Kind.ADD: (Kind.ADD, Kind.MULTIPLY_ADD),
}
"""Kinds of units that can do a kind of task, its own first."""


@dataclass(frozen=True)
class ConstantWord:
    """A word of the broadcast."""

    index: int


@dataclass(frozen=True, eq=False)
class Task:
    """One operation of one kind of unit; as an operand it stands for its result.

    `None` in place of an operand means that it does not matter.
    """

    name: str
    kind: Kind
    operands: "tuple[TaskOperand | None, ...]"
    subtract: bool = field(default=False)

    def operands_on(self, kind: Kind) -> "tuple[TaskOperand | None, ...]":
        """The operands of a unit of this kind that does it."""
        if kind is self.kind:
            return self.operands
        a, b = self.operands
        return (a, b, Fixed.MINUS_ZERO) if self.kind is Kind.MULTIPLY else (a, Fixed.ONE, b)


TaskOperand = Input | Fixed | ConstantWord | Task

CODES = tuple(OptimizerCode)

SQUARES = "squares"
"""Name of the task whose result is the new partial sum of squares."""


@cache
def tasks_of(code: OptimizerCode) -> tuple[Task, ...]:
    """All that happens to one parameter, every task behind those that it needs.

    The gradient is widened first; a fused multiply-add counts its square; the operations of the program
    follow; the new weight is narrowed; all results leave together.
    """
    program = PROGRAMS[code]
    gradient = Task("gradient", Kind.WIDEN, (Input.G,))
    tasks = [gradient, Task(SQUARES, Kind.MULTIPLY_ADD, (gradient, gradient, Fixed.SUM))]
    results: dict[str, Task] = {}

    def source(operand: Operand) -> TaskOperand:
        if operand is Input.G:
            return gradient
        if isinstance(operand, Operation):
            return results[operand.name]
        return operand if isinstance(operand, Input) else ConstantWord(operand)

    for operation in program.operations:
        task = _lowered(operation, [source(operand) for operand in operation.operands])
        results[operation.name] = task
        tasks.append(task)
    w, m, v = (output and results[output.name] for output in (program.w, program.m, program.v))
    copy = Task("copy", Kind.NARROW, (w,))
    return (*tasks, copy, Task("output", Kind.OUTPUT, (w, m, v, copy)))


def count_tasks(code: OptimizerCode, kind: Kind) -> int:
    """How many tasks of a program are of this kind."""
    return sum(task.kind is kind for task in tasks_of(code))


def most_tasks(kind: Kind) -> int:
    """The same, of the program that has the most."""
    return max(count_tasks(code, kind) for code in CODES)


def _lowered(operation: Operation, operands: list[TaskOperand]) -> Task:
    kind = _KINDS[operation.op]
    # What is the same for all parameters comes second, which keeps the choice of operands small.
    if kind in (Kind.MULTIPLY, Kind.MULTIPLY_ADD) and isinstance(operands[0], ConstantWord):
        operands[0], operands[1] = operands[1], operands[0]
    return Task(operation.name, kind, tuple(operands), subtract=operation.op is Op.SUB)


_KINDS = {
    Op.MUL: Kind.MULTIPLY,
    Op.ADD: Kind.ADD,
    Op.SUB: Kind.ADD,
    Op.FMA: Kind.MULTIPLY_ADD,
    Op.DIV: Kind.DIVIDE,
    Op.SQRT: Kind.ROOT,
    Op.SIGN: Kind.SIGN,
}
