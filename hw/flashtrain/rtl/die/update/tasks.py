"""The micro-programs of the contract as tasks of hardware units."""

from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache

from flashtrain.spec.optimizer import PROGRAMS, Input, Op, Operand, Operation, OptimizerCode


class Kind(Enum):
    """Kinds of units."""

    WIDEN = auto()  # the gradient, as it arrives, to binary32
    MULTIPLY_ADD = auto()  # a * b + c or a * b - c
    DIVIDE = auto()  # a / b
    ROOT = auto()  # square root of a
    NARROW = auto()  # the new weight to its copy
    OUTPUT = auto()  # the registers of the results: new w, m, v, and the copy


class Fixed(Enum):
    """Operands that no task computes and no parameter brings."""

    ONE = auto()
    MINUS_ZERO = auto()
    SUM = auto()  # the partial sum of squares that this gradient belongs to


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
    negate_addend: bool = field(default=False)


TaskOperand = Input | Fixed | ConstantWord | Task

SQUARES = "squares"
"""Name of the task whose result is the new partial sum of squares."""


@cache
def tasks_of(code: OptimizerCode) -> tuple[Task, ...]:
    """All that happens to one parameter, every task behind those that it needs.

    The gradient is widened first; a fused multiply-add counts its square; the operations of the program
    follow, of which the fused unit computes all but two; the new weight is narrowed; all results leave
    together.
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


def _lowered(operation: Operation, operands: list[TaskOperand]) -> Task:
    match operation.op:
        case Op.DIV:
            return Task(operation.name, Kind.DIVIDE, tuple(operands))
        case Op.SQRT:
            return Task(operation.name, Kind.ROOT, tuple(operands))
        case Op.FMA:
            a, b, c = operands
        case Op.MUL:
            (a, b), c = operands, Fixed.MINUS_ZERO
        case Op.ADD | Op.SUB:
            (a, c), b = operands, Fixed.ONE
    # What is the same for all parameters comes second, which keeps the choice of operands small.
    if isinstance(a, ConstantWord):
        a, b = b, a
    return Task(operation.name, Kind.MULTIPLY_ADD, (a, b, c), negate_addend=operation.op is Op.SUB)
