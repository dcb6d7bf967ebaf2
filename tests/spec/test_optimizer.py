"""Micro-programs of the optimizers: golden numbers, what hardware has to provide, mistakes in a program."""

import pytest

from flashtrain.spec import ConfigError
from flashtrain.spec.optimizer import (
    CONSTANT_WORDS,
    PARTIAL_SUMS,
    PROGRAMS,
    AdamConstant,
    CopyFormat,
    GradientFormat,
    Input,
    LinearConstant,
    LionConstant,
    Op,
    Operation,
    OptimizerCode,
    Program,
    ScheduleFreeConstant,
    SgdConstant,
)


def numbers(kind) -> dict[str, int]:
    return {member.name: member.value for member in kind}


def test_numbers():
    assert numbers(OptimizerCode) == {
        "SGD": 0, "MOMENTUM": 1, "NESTEROV": 2, "LINEAR": 3,
        "ADAM": 4, "ADAMW": 5, "ADAM_FAST": 6, "ADAMW_FAST": 7, "SGDW": 8,
        "LION": 9, "ADAMW_SCHEDULE_FREE": 10,
    }  # fmt: skip
    assert numbers(GradientFormat) == {"FP32": 0, "FP16": 1, "BF16": 2}
    assert numbers(CopyFormat) == {"NONE": 0, "FP16": 1, "BF16": 2}
    assert numbers(SgdConstant) == {"SCALE": 0, "DECAY": 1, "STEP": 2, "MOMENTUM": 3}
    assert numbers(LinearConstant) == {"SCALE": 0, "M_M": 1, "M_G": 2, "W_W": 3, "W_M": 4, "W_G": 5}
    assert numbers(AdamConstant) == {
        "SCALE": 0, "DECAY": 1, "MEAN_GAIN": 2, "SQUARE_KEEP": 3,
        "SQUARE_GAIN": 4, "BIAS": 5, "EPSILON": 6, "STEP": 7,
    }  # fmt: skip
    assert numbers(LionConstant) == {
        "SCALE": 0, "DECAY": 1, "OLD": 2, "NEW": 3, "KEEP": 4, "GAIN": 5, "STEP": 6,
    }  # fmt: skip
    assert numbers(ScheduleFreeConstant) == {
        "SCALE": 0, "DECAY": 1, "SQUARE_KEEP": 2, "SQUARE_GAIN": 3, "EPSILON": 4, "STEP": 5, "MIX": 6,
        "LEAD": 7,
    }  # fmt: skip
    assert numbers(Input) == {"W": 0, "M": 1, "V": 2, "G": 3}
    assert numbers(Op) == {"MUL": 0, "ADD": 1, "SUB": 2, "FMA": 3, "DIV": 4, "SQRT": 5, "SIGN": 6}
    assert (CONSTANT_WORDS, PARTIAL_SUMS) == (8, 8)


def test_every_code_has_its_program():
    assert list(PROGRAMS) == list(OptimizerCode)
    for code, program in PROGRAMS.items():
        assert program.code is code
        assert len(program.constants) <= CONSTANT_WORDS
        assert len({operation.name for operation in program.operations}) == len(program.operations)


@pytest.mark.parametrize(
    ("code", "fused", "states"),
    [
        (OptimizerCode.SGD, 3, 0),
        (OptimizerCode.MOMENTUM, 5, 1),
        (OptimizerCode.NESTEROV, 6, 1),
        (OptimizerCode.LINEAR, 6, 1),
        (OptimizerCode.ADAM, 10, 2),
        (OptimizerCode.ADAMW, 10, 2),
        (OptimizerCode.ADAM_FAST, 10, 2),
        (OptimizerCode.ADAMW_FAST, 10, 2),
        (OptimizerCode.SGDW, 3, 0),
        (OptimizerCode.LION, 8, 1),
        (OptimizerCode.ADAMW_SCHEDULE_FREE, 11, 2),
    ],
)
def test_operations_fit_the_update_unit(code, fused, states):
    """A square for the sum of squares comes beside them."""
    program = PROGRAMS[code]
    assert program.count(Op.MUL, Op.ADD, Op.SUB, Op.FMA) == fused
    assert program.count(Op.SQRT) == (states == 2)
    # The bias of the second moments is in constants where there is none of the first ones.
    divisions = 1 if code is OptimizerCode.ADAMW_SCHEDULE_FREE else 2
    assert program.count(Op.DIV) == divisions * (states == 2)
    assert program.count(Op.SIGN) == (code is OptimizerCode.LION)
    assert len(program.outputs) == 1 + states


@pytest.mark.parametrize("code", OptimizerCode)
def test_every_operation_and_every_constant_is_used(code):
    program = PROGRAMS[code]
    read = {operand for operation in program.operations for operand in operation.operands}
    assert set(program.operations) <= read | set(program.outputs)
    assert {Input.W, Input.G} <= read
    assert (Input.M in read, Input.V in read) == (program.m is not None, program.v is not None)
    unused = {SgdConstant.MOMENTUM} if code in (OptimizerCode.SGD, OptimizerCode.SGDW) else set()
    assert set(program.constants) - read == unused


def test_a_listing():
    assert str(PROGRAMS[OptimizerCode.MOMENTUM]).splitlines() == [
        "g = SCALE * G",
        "decayed = fma(DECAY, W, g)",
        "kept = MOMENTUM * M",
        "m = kept + decayed",
        "w = fma(STEP, m, W)",
    ]


def test_bad_programs():
    with pytest.raises(ConfigError, match=r"operation\.w is .*; expected 3 operands of FMA"):
        Operation("w", Op.FMA, (Input.W, Input.G))
    g = Operation("g", Op.MUL, (SgdConstant.SCALE, Input.G))
    w = Operation("w", Op.ADD, (Input.W, g))
    with pytest.raises(ConfigError, match=r"program\.SGD\.w is 'g'; expected the result of an earlier"):
        Program(OptimizerCode.SGD, SgdConstant, (w, g), w)
    with pytest.raises(ConfigError, match=r"program\.SGD is 'w'; expected the result of an operation"):
        Program(OptimizerCode.SGD, SgdConstant, (g,), w)
