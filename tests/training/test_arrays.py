"""Descriptions of arrays, and packing."""

import numpy as np
import pytest

from flashtrain.training.arrays import ArraySpec, pack, unpack
from flashtrain.training.errors import ShapeError


def test_spec_knows_its_size():
    assert ArraySpec((3, 5)).bytes == 60
    assert ArraySpec((3, 5), "uint8").bytes == 15
    assert str(ArraySpec((3, 5))) == "float32[3, 5]"


def test_spec_refuses_what_it_is_not():
    ArraySpec((2,)).check("w", np.zeros(2, np.float32))
    with pytest.raises(ShapeError, match=r"w: expected float32\[2\], got float64\[2\]"):
        ArraySpec((2,)).check("w", np.zeros(2))
    with pytest.raises(ShapeError, match=r"w: expected float32\[2\], got float32\[2, 1\]"):
        ArraySpec((2,)).check("w", np.zeros((2, 1), np.float32))
    with pytest.raises(ShapeError, match="dtype 'complex64' is not one of"):
        ArraySpec((2,), "complex64")
    with pytest.raises(ShapeError, match="dimension below 1"):
        ArraySpec((2, 0))


def test_pack_and_unpack_are_inverse_and_keep_the_order():
    shapes = {"b": (2,), "a": (2, 3)}
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([7, 8], np.float32)}
    vector = pack(arrays, shapes)
    assert vector.tolist() == [7, 8, 0, 1, 2, 3, 4, 5]
    back = unpack(vector, shapes)
    assert {name: a.tolist() for name, a in back.items()} == {name: arrays[name].tolist() for name in shapes}
    with pytest.raises(ShapeError, match=r"expected shape \(8,\), got \(7,\)"):
        unpack(vector[:7], shapes)
