"""The state of a host in bytes: every plain value and every random state comes back exactly."""

import math
import random
import struct
import tracemalloc
import zlib
from collections import Counter, OrderedDict

import numpy as np
import pytest

from flashtrain.checkpoint import CheckpointDamaged, CheckpointError, HostState, NumpyRandom, PythonRandom
from flashtrain.checkpoint.host_state import plain_values
from flashtrain.checkpoint.host_state.plain_values import packed, unpacked


class Kept:
    """A part that keeps what it is given."""

    def __init__(self, value):
        self.value = value

    def state_dict(self):
        return self.value

    def load_state_dict(self, state_dict):
        self.value = state_dict


VALUES = [
    None, True, 0, -(1 << 200), 0.1, -0.0, math.inf, 5e-324, "", "\u00fc $ \n", b"", bytes(range(256)),
    [], [1, [2.5]], (), (1, (2,), [3]), {}, {"a": {"b": (1,)}}, {1: "a", 1.5: 2, None: 3, (1, 2): 4},
    {"$a": 1, "b": 2}, {"a": 1, "$b": 2}, {"$bytes": 3}, Counter({3: 2, 8: 1}), Counter(),
    np.float32(0.1), np.int64(-3), np.float64(0.1), np.bool_(True),
    np.arange(6, dtype=np.uint16).reshape(2, 3), np.array(2.5), np.empty((0, 3)), np.arange(9)[::-2],
    np.array([1, 2], ">i4"),
]  # fmt: skip


def exactly(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return list(one) == list(other) and all(exactly(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(exactly, one, other))
    return struct.pack("d", one) == struct.pack("d", other) if isinstance(one, float) else one == other


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back(value):
    assert exactly(unpacked(packed(value)), value)
    part = Kept({"value": value, "again": [value, value]})
    raw = HostState(part=part).pack()
    restored = Kept(None)
    HostState(part=restored).restore(raw)
    assert exactly(restored.value, part.value)


def test_a_value_that_is_not_a_number():
    assert math.isnan(unpacked(packed(math.nan)))


@pytest.mark.parametrize("value", [object(), {1}, OrderedDict(a=1), np.array([None]), lambda: 1, 1j])
def test_what_is_refused(value):
    kind = type(value).__name__
    with pytest.raises(CheckpointError, match=f"/schedule/rates/1 is a {kind}; expected a number, text"):
        HostState(schedule=Kept({"rates": [1, value]})).pack()


def test_bytes_that_are_damaged():
    part = Kept({"a": np.arange(9), "b": (1, b"2")})
    state = HostState(part=part)
    raw = state.pack()
    for damaged in (b"", b"FTV1", raw[:-9], raw[:9] + b"?" + raw[10:], b"pick" + raw[4:]):
        with pytest.raises(CheckpointDamaged, match="the values "):
            state.restore(damaged)
    with pytest.raises(CheckpointDamaged, match="the values are malformed: 99 bytes of an array"):
        text = b'{"$array":["<i8",[9],99]}'
        unpacked(b"FTV1" + zlib.compress(struct.pack("<I", len(text)) + text))
    with pytest.raises(CheckpointDamaged, match="state is of part; expected part, other"):
        HostState(part=part, other=Kept({})).restore(raw)
    with pytest.raises(CheckpointDamaged, match="state is of int; expected part"):
        state.restore(packed(3))


def generators():
    made = [np.random.Generator(kind(7)) for kind in (
        np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64,
    )]  # fmt: skip
    return [*made, np.random.RandomState(7)]


def draw(generator):
    """Numbers of some kinds, of which one may keep another for the next call."""
    return generator.normal(size=3).tolist(), generator.integers(0, 9, 5).tolist()


@pytest.mark.parametrize("number", range(5))
def test_generators_of_numpy(number):
    generator, other = generators()[number], np.random.Generator(type(generators()[number].bit_generator)(8))
    draw(generator)
    raw = HostState(random=NumpyRandom(generator)).pack()
    expected = draw(generator)
    HostState(random=NumpyRandom(other)).restore(raw)
    assert draw(other) == expected


def test_random_states_of_modules():
    states = {
        "numpy": NumpyRandom(), "legacy": NumpyRandom(legacy := np.random.RandomState(3)),
        "python": PythonRandom(), "own": PythonRandom(own := random.Random(4)),
    }  # fmt: skip

    def drawn():
        return (
            np.random.rand(), np.random.randn(), legacy.randn(), random.random(), random.gauss(),
            own.gauss(), own.randrange(10**30),
        )  # fmt: skip

    before = random.getstate(), np.random.get_state()
    try:
        for _ in range(3):
            drawn()
            raw = HostState(**states).pack()
            expected = drawn()
            drawn()
            HostState(**states).restore(raw)
            assert drawn() == expected
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


def compressed(text: bytes, rest: bytes = b"") -> bytes:
    return b"FTV1" + zlib.compress(struct.pack("<I", len(text)) + text + rest, 9)


def test_few_bytes_that_stand_for_many(monkeypatch):
    """They are refused before there is memory for them."""
    monkeypatch.setattr(plain_values, "MOST_UNPACKED_BYTES", 1 << 20)
    many = compressed(b'{"$bytes":0}', bytes(1 << 26))
    tracemalloc.start()
    with pytest.raises(CheckpointDamaged, match="more than 1,048,576 bytes when decompressed"):
        unpacked(many)
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"$array":["<i8",null,0]}', b'{"$bytes":-1}'])
def test_values_that_no_packer_has_made(text):
    with pytest.raises(CheckpointDamaged, match="the values are malformed"):
        unpacked(compressed(text, b"abc"))


def test_values_that_could_not_be_read_again(monkeypatch):
    monkeypatch.setattr(plain_values, "MOST_JSON_BYTES", 1000)
    with pytest.raises(CheckpointError, match=r"bytes as text.*; expected at most 1,000"):
        packed(list(range(1000)))
