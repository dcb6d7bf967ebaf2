# amaranth: UnusedElaboratable=no
"""Every float unit against Berkeley SoftFloat: results and flags, bit for bit."""

from pathlib import Path

import numpy as np
import pytest

from flashtrain.rtl.float.divide_root import DivideRoot
from flashtrain.rtl.float.multiply_add import MultiplyAdd
from flashtrain.sim.bench import float_vectors
from flashtrain.sim.bench.runner import run_bench
from flashtrain.sim.bench.softfloat import Operation
from tests.rtl.float.float_units import FloatUnits, all_units, run

RANDOM_VECTORS = 20_000
DIVIDERS = ("DivideRoot", "DivideRoot2", "DivideRoot3")
SIGN = np.uint32(1 << 31)


@pytest.fixture
def count(request):
    """Random vectors of each operation."""
    return max(RANDOM_VECTORS, request.config.getoption("--long"))


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def units(kind):
    return [name for name in all_units() if name.startswith(f"{kind}_")]


def check(name, got, expected, *operands):
    """Compare results and flags, and name the first vector that differs."""
    wrong = np.flatnonzero((got.results != expected.results) | (got.flags != expected.flags))
    if len(wrong):
        first = wrong[0]
        inputs = ", ".join(f"{int(column[first]):08x}" for column in operands)
        pytest.fail(
            f"{name}: {len(wrong)} of {len(got.results)} differ, first ({inputs}): "
            f"{int(got.results[first]):08x} flags {int(got.flags[first]):05b}, "
            f"SoftFloat has {int(expected.results[first]):08x} flags {int(expected.flags[first]):05b}"
        )


def joined(*groups):
    """Columns of operands, one group after the other."""
    return [np.concatenate(columns) for columns in zip(*groups, strict=True)]


def directed_triples(random, request):
    """All of them in long runs, otherwise some."""
    a, b, c = float_vectors.directed(3)
    if not request.config.getoption("--long"):
        some = random.integers(0, len(a), RANDOM_VECTORS)
        a, b, c = a[some], b[some], c[some]
    return a, b, c


def test_multiply_add(random, count, request):
    a, b, c = joined(directed_triples(random, request), float_vectors.triples(random, count))
    expected = Operation.MULTIPLY_ADD(a, b, c)
    for name in units("MultiplyAdd"):
        check(name, run(name, a, b, c), expected, a, b, c)
        # Both signs changed here and by the unit: the same once more.
        check(name, run(name, a ^ SIGN, b, c ^ SIGN, option=3), expected, a, b, c)


def test_multiply(random, count):
    a, b = joined(float_vectors.directed(2), float_vectors.pairs(random, count))
    expected = Operation.MULTIPLY(a, b)
    for name in units("Multiply"):
        check(name, run(name, a, b), expected, a, b)
        check(name, run(name, a ^ SIGN, b, option=1), expected, a, b)


def test_add(random, count):
    a, b = joined(float_vectors.directed(2), float_vectors.pairs(random, count))
    total, difference = Operation.ADD(a, b), Operation.SUBTRACT(a, b)
    for name in units("Add"):
        check(name, run(name, a, b), total, a, b)
        check(name, run(name, a, b, option=1), difference, a, b)


def test_multiply_add_multiplies_and_adds(random, count):
    """With c = -0 it is the product, with b = 1 the sum, signs and flags included."""
    a, b = joined(float_vectors.directed(2), float_vectors.pairs(random, count))
    [name, *_] = units("MultiplyAdd")
    check(name, run(name, a, b, _all(a, 0x8000_0000)), Operation.MULTIPLY(a, b), a, b)
    check(name, run(name, a, _all(a, 0x3F80_0000), b), Operation.ADD(a, b), a, b)


@pytest.mark.parametrize(
    ("kind", "operation"), [("ToFloat16", Operation.TO_FLOAT16), ("ToBFloat16", Operation.TO_BFLOAT16)]
)
def test_narrowing(kind, operation, random, count):
    values = float_vectors.values(random, count)
    a = np.concatenate([float_vectors.DIRECTED, float_vectors.NARROWING, values])
    expected = operation(a)
    for name in units(kind):
        check(name, run(name, a), expected, a)


@pytest.mark.parametrize(
    ("kind", "operation"),
    [("FromFloat16", Operation.FROM_FLOAT16), ("FromBFloat16", Operation.FROM_BFLOAT16)],
)
def test_widening_of_everything(kind, operation):
    a = np.arange(1 << 16, dtype=np.uint16)
    expected = operation(a)
    for name in units(kind):
        check(name, run(name, a), expected, a)


@pytest.mark.parametrize("kind", DIVIDERS)
def test_divide(kind, random, count):
    a, b = joined(float_vectors.directed(2), float_vectors.pairs(random, count))
    expected = Operation.DIVIDE(a, b)
    for name in units(kind):
        check(name, run(name, a, b), expected, a, b)


@pytest.mark.parametrize("kind", DIVIDERS)
def test_square_root(kind, random, count):
    a = np.concatenate([float_vectors.DIRECTED, float_vectors.values(random, count)])
    expected = Operation.SQUARE_ROOT(a)
    for name in units(kind):
        check(name, run(name, a, ~a, option=1), expected, a)


def test_sign(random, count):
    a = np.concatenate([float_vectors.DIRECTED, float_vectors.values(random, count)])
    expected = Operation.SIGN(a)
    for name in units("Sign"):
        check(name, run(name, a), expected, a)


OPERATIONS = {
    "MultiplyAdd": ["MULTIPLY_ADD"],
    "Multiply": ["MULTIPLY"],
    "Add": ["ADD", "SUBTRACT"],
    "ToFloat16": ["TO_FLOAT16"],
    "ToBFloat16": ["TO_BFLOAT16"],
    "FromFloat16": ["FROM_FLOAT16"],
    "FromBFloat16": ["FROM_BFLOAT16"],
    **{kind: ["DIVIDE", "SQUARE_ROOT"] for kind in DIVIDERS},
    "Sign": ["SIGN"],
}
"""Of each kind of unit, by option."""


@pytest.mark.usual("icarus")
def test_latency(simulator, seed):
    described = [
        {
            "number": number,
            "operation": operation,
            "option": option,
            "latency": unit.latency,
            "interval": getattr(unit, "interval", 1),
            "width": 16 if name.startswith("From") else 32,
        }
        for number, (name, unit) in enumerate(all_units().items())
        for option, operation in enumerate(OPERATIONS[name.rsplit("_", 1)[0]])
    ]
    bench = Path(__file__).with_name("float_bench.py")
    parameters = {"units": described}
    run_bench(FloatUnits(), "float_units", bench, simulator=simulator, seed=seed, parameters=parameters)


def test_stages_out_of_range():
    with pytest.raises(ValueError, match=r"MultiplyAdd: 17 stages, expected 1 to 16 \(unpacked, "):
        MultiplyAdd(stages=17)
    with pytest.raises(ValueError, match="DivideRoot: 0 stages, expected 1 to 8"):
        DivideRoot(stages=0)


def _all(like, bits):
    return np.full(len(like), bits, np.uint32)
