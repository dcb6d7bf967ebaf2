"""Float32 arithmetic that NumPy lacks, against Berkeley SoftFloat, bit for bit."""

import numpy as np
import pytest

from flashtrain.numerics.errors import OperandError
from flashtrain.numerics.float32 import (
    canonical,
    fma,
    from_bfloat16,
    from_float16,
    to_bfloat16,
    to_float16,
)
from flashtrain.sim.bench import float_vectors
from flashtrain.sim.bench.softfloat import Operation

RANDOM_VECTORS = 200_000


def check(name, got, expected, *operands):
    wrong = np.flatnonzero(got != expected)
    if len(wrong):
        first = wrong[0]
        inputs = ", ".join(f"{int(column[first]):08x}" for column in operands)
        pytest.fail(
            f"{name}: {len(wrong)} of {len(got)} differ, first {name}({inputs}): "
            f"{int(got[first]):08x}, SoftFloat has {int(expected[first]):08x}"
        )


def check_fma(a, b, c):
    got = fma(*(column.view(np.float32) for column in (a, b, c))).view(np.uint32)
    check("fma", got, Operation.MULTIPLY_ADD(a, b, c).results, a, b, c)


def test_fma_of_every_directed_triple():
    check_fma(*float_vectors.directed(3))


def test_fma_of_random_operands(seed, request):
    count = max(RANDOM_VECTORS, request.config.getoption("--long"))
    check_fma(*float_vectors.triples(np.random.default_rng(seed), count))


def test_fma_rounds_once():
    one, ulp = np.float32(1), np.float32(2.0**-23)
    a = np.array([one + ulp], np.float32)
    # (1 + u)² = 1 + 2u + u²: u² is lost when the product is rounded first, and is all that is left here.
    assert fma(a, a, -(a * a)) == np.array([2.0**-46], np.float32)


def test_fma_broadcasts():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = fma(a, np.float32(2), np.ones(3, np.float32))
    assert result.dtype == np.float32
    assert np.array_equal(result, 2 * a + 1)


def test_canonical_nan():
    values = np.array([0x7F80_0001, 0xFFC1_2345, 0x3F80_0000, 0xFF80_0000], np.uint32).view(np.float32)
    assert canonical(values).view(np.uint32).tolist() == [0x7FC0_0000, 0x7FC0_0000, 0x3F80_0000, 0xFF80_0000]


@pytest.mark.parametrize(
    ("operation", "convert"), [(Operation.TO_FLOAT16, to_float16), (Operation.TO_BFLOAT16, to_bfloat16)]
)
def test_narrowing(operation, convert, seed):
    random = float_vectors.values(np.random.default_rng(seed), RANDOM_VECTORS)
    bits = np.concatenate([float_vectors.DIRECTED, float_vectors.NARROWING, random])
    check(operation.name, convert(bits.view(np.float32)).view(np.uint16), operation(bits).results, bits)


@pytest.mark.parametrize(
    ("operation", "convert"),
    [
        (Operation.FROM_FLOAT16, lambda bits: from_float16(bits.view(np.float16))),
        (Operation.FROM_BFLOAT16, from_bfloat16),
    ],
)
def test_widening_of_everything(operation, convert):
    bits = np.arange(1 << 16, dtype=np.uint16)
    check(operation.name, convert(bits).view(np.uint32), operation(bits).results, bits)


def test_other_types_are_refused():
    single, double = np.ones(2, np.float32), np.ones(2)
    with pytest.raises(OperandError, match="fma: c is float64, expected float32"):
        fma(single, single, double)  # pyright: ignore[reportArgumentType]
    with pytest.raises(OperandError, match="from_bfloat16: bits is float32, expected uint16"):
        from_bfloat16(single)  # pyright: ignore[reportArgumentType]
