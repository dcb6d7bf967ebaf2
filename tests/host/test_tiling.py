"""Layout of tensors in tiles: round trips, places, tails."""

import numpy as np
import pytest

from flashtrain.host import ArrayError, TensorMismatch
from flashtrain.host.state.tensor_group import TensorGroup, place
from flashtrain.host.state.tiling import GRADIENT_DTYPES, TileLayout, join_tensors, split_tensors
from flashtrain.spec import PRESETS
from flashtrain.spec.geometry import Place
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import StateFormat, StateFormats
from flashtrain.spec.update import Tile

CODES = (OptimizerCode.SGD, OptimizerCode.MOMENTUM, OptimizerCode.ADAM)
SIZES = (-1, 0, 1)


def layout_of(name, code, parameters, gradient=GradientFormat.FP32, copy=CopyFormat.BF16):
    return TileLayout(Tile.of(PRESETS[name].geometry, code, gradient, copy), parameters)


def full_row(name, code):
    tile = layout_of(name, code, 1).tile
    return tile.parameters * tile.geometry.channels


@pytest.mark.parametrize("name", ["tiny", "small"])
@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
@pytest.mark.parametrize("more", SIZES)
def test_state_comes_back(name, code, more, seed):
    random = np.random.default_rng(seed)
    parameters = 2 * full_row(name, code) + more
    layout = layout_of(name, code, parameters)
    g = layout.tile.geometry
    arrays = [random.standard_normal(parameters).astype(np.float32) for _ in range(layout.tile.arrays)]
    pages = layout.state_pages(arrays)
    assert layout.rows == (3 if more > 0 else 2)
    assert pages.shape == (layout.rows, g.planes, g.channels, g.page_bytes)
    for number, array in enumerate(arrays):
        planes = layout.planes_of(number)
        assert np.array_equal(layout.state_array(number, pages[:, planes.start : planes.stop]), array)


FULL, HALF, EIGHT, SPLIT = StateFormat


@pytest.mark.parametrize("name", ["tiny", "small"])
@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
@pytest.mark.parametrize("formats", [(FULL, HALF), (HALF, FULL), (HALF, HALF)])
def test_narrow_state_comes_back(name, code, formats, seed):
    """Numbers of BF16, from pages of each array alone; w, then m, then v, in 2 or 4 bytes each."""
    random = np.random.default_rng(seed)
    g = PRESETS[name].geometry
    tile = Tile.of(g, code, GradientFormat.BF16, CopyFormat.BF16, StateFormats(*formats))
    layout = TileLayout(tile, 2 * tile.parameters * g.channels + 3)
    bits = [random.integers(0, 0x7F80, layout.parameters, np.uint32) << 16 for _ in range(tile.arrays)]
    arrays = [one.view(np.float32) for one in bits]
    pages = layout.state_pages(arrays)
    for number, array in enumerate(arrays):
        planes = layout.planes_of(number)
        assert np.array_equal(layout.state_array(number, pages[:, planes.start : planes.stop]), array)
    data, at = pages[0, :, 0].tobytes(), 0
    for number, array in enumerate(arrays):
        own = array[: tile.parameters].view(np.uint32)
        stored = own if formats[min(number, 1)] is FULL else (own >> 16).astype(np.uint16)
        assert data[at : at + stored.nbytes] == stored.tobytes()
        at += stored.nbytes


@pytest.mark.parametrize("weight", [FULL, HALF])
def test_scaled_state_comes_back(weight, seed):
    """Numbers that FP8 has, from pages of each array alone; scales of both moments are on the last plane."""
    random = np.random.default_rng(seed)
    g = PRESETS["tiny"].geometry
    tile = Tile.of(g, OptimizerCode.ADAM, GradientFormat.BF16, CopyFormat.BF16, StateFormats(weight, EIGHT))
    layout = TileLayout(tile, 2 * tile.parameters * g.channels + 3)
    scales = np.repeat(2.0 ** random.integers(-60, 60, layout.parameters // 32 + 1), 32)[: layout.parameters]
    arrays = [np.float32(scales * random.integers(4, 8, layout.parameters)) for _ in range(3)]
    pages = layout.state_pages(arrays)
    for number, array in enumerate(arrays):
        planes = layout.planes_of(number)
        assert np.array_equal(layout.state_array(number, pages[:, planes.start : planes.stop]), array)


def test_names_of_what_lies_on_a_page_of_scaled_state():
    """224 parameters in a tile of `tiny`: the page with the scales has all of both moments."""
    formats = StateFormats(HALF, EIGHT)
    group = TensorGroup(OptimizerCode.ADAM, ((60,), (164,)), GradientFormat.BF16, formats=formats)
    (placed,) = place([group], PRESETS["tiny"].geometry)
    both = [f"{name} of tensor {tensor} of group 0" for name in "WMV" for tensor in (0, 1)]
    assert placed.names(0, 0, 0) == both[:4]
    assert placed.names(0, 0, 1) == both[2:]


def test_names_of_what_lies_on_a_page_of_halves():
    """128 parameters in a tile of `tiny`: both halves of w share plane 0. Of SGD alone each has a plane."""
    formats = StateFormats(SPLIT, HALF)
    adam = TensorGroup(OptimizerCode.ADAM, ((100,), (60,)), formats=formats)
    sgd = TensorGroup(OptimizerCode.SGD, ((300,), (100,)), GradientFormat.BF16, formats=StateFormats(SPLIT))
    (one,), (other,) = (place([group], PRESETS["tiny"].geometry) for group in (adam, sgd))
    w = [f"W of tensor {tensor} of group 0" for tensor in (0, 1)]
    assert one.names(0, 0, 0) == w
    assert not set(w) & set(one.names(0, 0, 1))
    assert [other.names(0, channel, plane) for channel in (0, 1) for plane in (0, 1)] == [w[:1]] * 2 + [w] * 2


def test_names_of_what_lies_on_a_page_of_narrow_state():
    """128 parameters in a tile of `tiny`: w fills plane 0, m and v share plane 1."""
    group = TensorGroup(OptimizerCode.ADAM, ((100,), (60,)), formats=StateFormats(moments=HALF))
    (placed,) = place([group], PRESETS["tiny"].geometry)
    both = [f"{name} of tensor {tensor} of group 0" for name in "WMV" for tensor in (0, 1)]
    assert placed.names(0, 0, 0) == both[:2]
    assert placed.names(0, 0, 1) == both[2:]
    assert placed.names(0, 1, 1) == [both[3], both[5]]
    assert placed.layout.tile.state_bytes == 8


@pytest.mark.parametrize("parameters", [1, 84, 85, 86, 169, 170, 171, 1000])
def test_state_lies_where_the_contract_says(parameters):
    """Every word, by the place of its block: w, m, v of a parameter on one die, in this order."""
    layout = layout_of("tiny", OptimizerCode.ADAM, parameters)
    g, n = layout.tile.geometry, layout.tile.parameters
    assert n == 85
    w = np.arange(1, parameters + 1, dtype=np.float32)
    blocks = layout.state_pages([w, w + 0.25, w + 0.5]).view(np.float32).reshape(-1, g.page_bytes // 4)
    seen = np.zeros_like(blocks)
    for parameter in range(parameters):
        tile, index = divmod(parameter, n)
        row, channel = divmod(tile, g.channels)
        for number in range(3):
            plane, word = divmod(number * n + index, g.page_bytes // 4)
            lba = g.lba(Place(0, row // g.dies, row % g.dies, plane, channel)) if row < g.pages else None
            if lba is not None:
                assert blocks[lba, word] == parameter + 1 + number / 4
            seen.reshape(layout.rows, g.planes, g.channels, -1)[row, plane, channel, word] = 1
    assert not blocks[seen == 0].any()


@pytest.mark.parametrize("name", ["tiny", "small", "behemoth"])
@pytest.mark.parametrize("gradient", GradientFormat, ids=lambda format: format.name)
@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_gradients_fill_each_tile_from_its_first_byte(name, gradient, code):
    parameters = full_row(name, code) + 5
    layout = layout_of(name, code, parameters, gradient)
    tile = layout.tile
    values = (np.arange(parameters) % 2000).astype(GRADIENT_DTYPES[gradient])
    pages = layout.gradient_pages(values)
    assert pages.shape == (2, tile.gradient_pages, tile.geometry.channels, tile.geometry.page_bytes)
    by_tile = np.ascontiguousarray(pages.swapaxes(1, 2)).reshape(2 * tile.geometry.channels, -1)
    second = by_tile[1].view(values.dtype)
    assert np.array_equal(second[: tile.parameters], values[tile.parameters : 2 * tile.parameters])
    assert not second[tile.parameters :].any()
    last = by_tile[tile.geometry.channels].view(values.dtype)
    assert np.array_equal(last[:5], values[-5:]) and not last[5:].any()


@pytest.mark.parametrize("copy", [CopyFormat.FP16, CopyFormat.BF16], ids=lambda format: format.name)
def test_copies_are_taken_from_each_tile(copy):
    layout = layout_of("small", OptimizerCode.ADAM, 10_000, GradientFormat.BF16, copy)
    values = np.arange(10_000).astype(np.uint16)
    got = layout.copies(layout.gradient_pages(values))
    assert got.dtype == (np.float16 if copy is CopyFormat.FP16 else np.uint16)
    assert np.array_equal(got.view(np.uint16), values)


def test_tensors_of_any_shape():
    tensors = [np.float32(3).reshape(()), np.ones((2, 3), np.float32), np.zeros(1, np.float32)]
    shapes = [tensor.shape for tensor in tensors]
    vector = join_tensors("w", tensors, shapes, "float32")
    assert vector.tolist() == [3, 1, 1, 1, 1, 1, 1, 0]
    for one, other in zip(split_tensors(vector, shapes), tensors, strict=True):
        assert one.shape == other.shape and np.array_equal(one, other)


F = np.zeros(3, np.float32)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([F], "1 tensors of w; expected 2"),
        ([F, F, F], "3 tensors of w; expected 2"),
        ([F, F], r"tensor 1 of w is float32\[3\]; expected float32\[4\]"),
        ([F.astype(np.float64), F], r"tensor 0 of w is float64\[3\]; expected float32\[3\]"),
        ([[0, 0, 0], F], r"tensor 0 of w is \[0, 0, 0\]; expected float32\[3\]"),
    ],
)
def test_tensors_that_do_not_match(tensors, message):
    with pytest.raises(TensorMismatch, match=message) as caught:
        join_tensors("w", tensors, [(3,), (4,)], "float32")
    assert isinstance(caught.value, ArrayError)
