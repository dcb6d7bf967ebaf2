# amaranth: UnusedElaboratable=no
"""The update unit against the reference optimizers, bit for bit, and against its own data sheet."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from flashtrain.rtl.die.update_unit import UpdateUnit
from flashtrain.rtl.export.systemverilog import lint
from flashtrain.sim.bench import float_vectors
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec.optimizer import CONSTANT_WORDS, CopyFormat, GradientFormat, OptimizerCode
from flashtrain.training.optimizers import (
    SGD,
    SGDW,
    Adam,
    AdamW,
    AdamWScheduleFree,
    Linear,
    Lion,
    Momentum,
    Nesterov,
)
from tests.rtl.die.update_unit.update_model import Settings, VerilatedUnit, reference
from tests.rtl.elaborated import elaborated

PARAMETERS = 500
"""Of each sequence, in short runs."""

TYPICAL = {
    OptimizerCode.SGD: SGD(weight_decay=1e-4),
    OptimizerCode.MOMENTUM: Momentum(weight_decay=1e-4),
    OptimizerCode.NESTEROV: Nesterov(weight_decay=1e-4),
    OptimizerCode.LINEAR: Linear(0.9, 0.1, 1.0, -0.01, 1e-3),
    OptimizerCode.ADAM: Adam(weight_decay=0.01),
    OptimizerCode.ADAMW: AdamW(),
    OptimizerCode.ADAM_FAST: Adam(beta1=0.4),
    OptimizerCode.ADAMW_FAST: AdamW(beta1=0.25),
    OptimizerCode.SGDW: SGDW(),
    OptimizerCode.LION: Lion(weight_decay=0.1),
    OptimizerCode.ADAMW_SCHEDULE_FREE: AdamWScheduleFree(weight_decay=0.1),
}


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


@pytest.fixture
def count(request):
    return max(PARAMETERS, request.config.getoption("--long") // 100)


@pytest.fixture
def open_unit(seed):
    """Units by their parameters; closed at the end."""
    opened = []

    def open_one(**parameters):
        unit = UpdateUnit(**parameters)
        opened.append(VerilatedUnit(unit, repr(parameters), seed))
        return unit, opened[-1]

    yield open_one
    for verilated in opened:
        verilated.close()


def difficult(random, count):
    """Operands and constants of any bits, many of them special."""
    operands = {name: float_vectors.values(random, count) for name in ("w", "m", "v", "gradient")}
    return operands, tuple(int(word) for word in float_vectors.values(random, CONSTANT_WORDS))


def typical(random, count, code, gradient_format):
    """Operands as in training."""
    w, m, gradient = (random.normal(0, scale, count).astype(np.float32) for scale in (0.1, 0.01, 0.02))
    v = random.random(count, np.float32) * np.float32(1e-3)
    operands = {"w": w, "m": m, "v": v, "gradient": gradient}
    operands = {name: array.view(np.uint32) for name, array in operands.items()}
    if gradient_format is GradientFormat.FP16:
        operands["gradient"] = gradient.astype(np.float16).view(np.uint16).astype(np.uint32)
    if gradient_format is GradientFormat.BF16:
        operands["gradient"] = operands["gradient"] >> 16
    return operands, TYPICAL[code].constants(t=3, unscale=0.5).words


def compare(settings, operands, got, expected=None):
    expected = expected or reference(settings, operands)
    assert got.arrays.keys() == expected.arrays.keys()
    for name, array in expected.arrays.items():
        wrong = np.flatnonzero(got.arrays[name] != array)
        if len(wrong):
            first = wrong[0]
            inputs = {name: f"{int(column[first]):08x}" for name, column in operands.items()}
            pytest.fail(
                f"{settings}: {len(wrong)} of {len(array)} {name} differ, first number {first} of {inputs}: "
                f"{int(got.arrays[name][first]):08x}, reference {int(array[first]):08x}"
            )
    assert got.statistics == expected.statistics, settings


def all_settings(random, constants_of):
    for code, gradient_format, copy_format in itertools.product(OptimizerCode, GradientFormat, CopyFormat):
        operands, constants = constants_of(code, gradient_format)
        yield Settings(code, gradient_format, copy_format, constants), operands


def test_every_code_and_format(open_unit, random, count):
    unit, verilated = open_unit()
    for kind in (lambda *_: difficult(random, count), lambda *which: typical(random, count, *which)):
        for settings, operands in all_settings(random, kind):
            got, times = verilated.run(settings, operands)
            compare(settings, operands, got)
            assert times.shortest == times.longest == unit.latency[settings.code]
            assert times.total == (count - 1) * unit.interval + unit.latency[settings.code]


def test_stalls_and_gaps(open_unit, random, count):
    unit, verilated = open_unit()
    for settings, operands in all_settings(random, lambda *_: difficult(random, count // 10)):
        stall, gap = random.choice([0, 20, 75]), random.choice([0, 10, 60, 95])
        got, times = verilated.run(settings, operands, stall, gap)
        compare(settings, operands, got)
        assert times.shortest == times.longest == unit.latency[settings.code]


INTERVALS = {
    1: {"multiply_add_stages": 5, "divide_stages": 2, "widen_stages": 1},
    2: {"multiply_add_stages": 5, "digits_per_cycle": 3, "narrow_stages": 2},
    3: {"multiply_add_stages": 3, "digits_per_cycle": 2, "narrow_stages": 1},
    4: {},
    8: {"multiply_add_stages": 1, "digits_per_cycle": 4, "divide_stages": 1, "widen_stages": 2},
    10: {"multiply_add_stages": 9},
}
"""With other depths for each."""


@pytest.mark.long  # models of their own
@pytest.mark.parametrize("interval", INTERVALS)
def test_intervals(open_unit, random, count, interval):
    unit, verilated = open_unit(interval=interval, **INTERVALS[interval])
    for settings, operands in all_settings(random, lambda *_: difficult(random, count // 4)):
        stall, gap = random.choice([0, 30]), random.choice([0, 30])
        got, times = verilated.run(settings, operands, stall, gap)
        compare(settings, operands, got)
        assert times.shortest == times.longest == unit.latency[settings.code]


def test_statistics_go_on_until_cleared(open_unit, random):
    """Sequences of 13 do not end at the last partial sum."""
    _unit, verilated = open_unit()
    settings = Settings(OptimizerCode.MOMENTUM)
    operands, _constants = typical(random, 39, settings.code, settings.gradient_format)
    parts = [{name: array[start : start + 13] for name, array in operands.items()} for start in (0, 13, 26)]
    verilated.run(settings, parts[0])
    verilated.run(settings, parts[1], clear=False)
    got, _times = verilated.run(settings, parts[2], clear=False)
    assert got.statistics == reference(settings, operands).statistics
    few = {name: array[:3] for name, array in operands.items()}
    got, _times = verilated.run(settings, few)
    compare(settings, few, got)


def test_a_restart_begins_with_the_first_sum(open_unit, random):
    """As if gradients of 0 had filled up the sequence before."""
    _unit, verilated = open_unit()
    settings = Settings(OptimizerCode.MOMENTUM)
    parts, filled_up = [], []
    for _ in range(3):
        operands, _constants = typical(random, 13, settings.code, settings.gradient_format)
        parts.append(operands)
        filled_up.append({name: np.pad(array, (0, 3)) for name, array in operands.items()})
    for number, operands in enumerate(parts):
        got, _times = verilated.run(settings, operands, clear=number == 0, restart=True)
    together = {name: np.concatenate([part[name] for part in filled_up]) for name in filled_up[0]}
    assert got.statistics == reference(settings, together).statistics


def test_what_is_on_its_way_is_forgotten(open_unit, random):
    """After `clear`, another program begins at once: nothing of the one before is seen or counted."""
    _unit, verilated = open_unit()
    operands, constants = difficult(random, 60)
    for code, after in itertools.product(OptimizerCode, (1, 20, 50)):
        verilated.leave(Settings(OptimizerCode.ADAM, constants=constants), operands, after)
        settings = Settings(code, constants=constants)
        got, _times = verilated.run(settings, operands)
        compare(settings, operands, got)


def test_unknown_operands_between_parameters(seed):
    """On Icarus, which tells what is unknown from zero."""
    if not Simulator.ICARUS.available:
        pytest.skip("icarus is not installed: 'apt-get install iverilog' brings it")
    latency = {code.name: cycles for code, cycles in UpdateUnit().latency.items()}
    run_bench(
        elaborated(UpdateUnit, "update_unit"),
        "update_unit",
        Path(__file__).with_name("update_bench.py"),
        simulator=Simulator.ICARUS,
        seed=seed,
        parameters={"latency": latency},
    )


def test_lint():
    lint(elaborated(UpdateUnit, "update_unit"), "update_unit")
