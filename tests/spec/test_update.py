"""Tiles, and what dies are told and tell: golden numbers."""

import pytest

from flashtrain.spec import PRESETS, ConfigError
from flashtrain.spec.nvme import BitField
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import StateFormat, StateFormats
from flashtrain.spec.update import (
    GRADIENT_BUFFERS,
    WORD_BYTES,
    Tile,
    UpdateHeader,
    UpdateStatistics,
    gradient_buffer_pages,
)

FP32, FP16, BF16 = GradientFormat
FULL, HALF, EIGHT, SPLIT = StateFormat

TILES = [
    # preset, optimizer: parameters, pages of gradients in FP32 and in 16 bits, pages of copies
    ("tiny", OptimizerCode.SGD, 256, 2, 1, 1),
    ("tiny", OptimizerCode.MOMENTUM, 128, 1, 1, 1),
    ("tiny", OptimizerCode.ADAM, 85, 1, 1, 1),
    ("small", OptimizerCode.SGD, 4096, 4, 2, 2),
    ("small", OptimizerCode.NESTEROV, 2048, 2, 1, 1),
    ("small", OptimizerCode.LINEAR, 2048, 2, 1, 1),
    ("small", OptimizerCode.ADAMW, 1365, 2, 1, 1),
    ("behemoth", OptimizerCode.SGD, 8192, 8, 4, 4),
    ("behemoth", OptimizerCode.MOMENTUM, 4096, 4, 2, 2),
    ("behemoth", OptimizerCode.ADAM_FAST, 2730, 3, 2, 2),
    ("behemoth_wide", OptimizerCode.ADAMW_FAST, 2730, 3, 2, 2),
    ("optimstore", OptimizerCode.SGD, 16384, 4, 2, 2),
    ("optimstore", OptimizerCode.ADAMW, 5461, 2, 1, 1),
]


@pytest.mark.parametrize(("name", "code", "parameters", "wide", "narrow", "copies"), TILES)
def test_tiles(name, code, parameters, wide, narrow, copies):
    geometry = PRESETS[name].geometry
    for gradient, pages in ((FP32, wide), (FP16, narrow), (BF16, narrow)):
        for copy in CopyFormat:
            tile = Tile.of(geometry, code, gradient, copy)
            assert tile.parameters == parameters
            assert tile.gradient_pages == pages <= gradient_buffer_pages(geometry)
            assert tile.copy_pages == (0 if copy is CopyFormat.NONE else copies) <= pages
            assert tile.words == geometry.page_set_bytes // WORD_BYTES
            assert 0 <= tile.words - tile.arrays * tile.parameters <= 2


NARROW_TILES = [
    # preset, optimizer, w, m and v: parameters, pages of gradients in FP32 and in 16 bits, first bytes
    ("tiny", OptimizerCode.ADAM, FULL, HALF, 128, 1, 1, (0, 512, 768)),
    ("tiny", OptimizerCode.ADAM, HALF, HALF, 170, 2, 1, (0, 340, 680)),
    ("tiny", OptimizerCode.ADAM, HALF, FULL, 102, 1, 1, (0, 204, 612)),
    ("tiny", OptimizerCode.MOMENTUM, FULL, HALF, 170, 2, 1, (0, 680)),
    ("tiny", OptimizerCode.SGD, HALF, HALF, 512, None, 2, (0,)),
    ("small", OptimizerCode.ADAMW, HALF, HALF, 2730, 3, 2, (0, 5460, 10920)),
    ("behemoth", OptimizerCode.ADAMW, FULL, HALF, 4096, 4, 2, (0, 16384, 24576)),
    ("behemoth", OptimizerCode.ADAMW, HALF, HALF, 5460, 6, 3, (0, 10920, 21840)),
    ("optimstore", OptimizerCode.ADAM, HALF, HALF, 10922, 3, 2, (0, 21844, 43688)),
    ("tiny", OptimizerCode.ADAM, HALF, EIGHT, 224, 2, 1, (0, 448, 672)),
    ("tiny", OptimizerCode.MOMENTUM, HALF, EIGHT, 320, None, 2, (0, 640)),
    ("tiny", OptimizerCode.LION, FULL, EIGHT, 192, 2, 1, (0, 768)),
    ("small", OptimizerCode.ADAMW, HALF, EIGHT, 4032, 4, 2, (0, 8064, 12096)),
    ("behemoth", OptimizerCode.ADAMW, HALF, EIGHT, 8064, 8, 4, (0, 16128, 24192)),
    ("optimstore", OptimizerCode.ADAM, HALF, EIGHT, 16128, 4, 2, (0, 32256, 48384)),
    ("tiny", OptimizerCode.ADAM, SPLIT, FULL, 84, 1, 1, (0, 336, 672)),
    ("tiny", OptimizerCode.SGD, SPLIT, FULL, 256, 2, 1, (0,)),
    ("behemoth", OptimizerCode.ADAMW, SPLIT, HALF, 4096, 4, 2, (0, 16384, 24576)),
    ("tiny", OptimizerCode.LION, SPLIT, EIGHT, 192, 2, 1, (0, 768)),
]


@pytest.mark.parametrize(
    ("name", "code", "weight", "moments", "parameters", "wide", "narrow", "first"), NARROW_TILES
)
def test_narrow_tiles(name, code, weight, moments, parameters, wide, narrow, first):
    geometry, formats = PRESETS[name].geometry, StateFormats(weight, moments)
    for gradient, pages in ((FP32, wide), (FP16, narrow), (BF16, narrow)):
        if pages is None:
            with pytest.raises(ConfigError, match="expected one of 16 bits"):
                Tile.of(geometry, code, gradient, CopyFormat.NONE, formats)
            continue
        tile = Tile.of(geometry, code, gradient, CopyFormat.BF16, formats)
        assert (tile.parameters, tile.gradient_pages) == (parameters, pages)
        assert tuple(tile.array_bytes(number).start for number in range(tile.arrays)) == first
        scales = 2 * 4 * -(-parameters // 128) if moments is EIGHT else 0
        used = tile.array_bytes(tile.arrays - 1).stop + scales
        assert geometry.page_set_bytes - tile.state_bytes * tile.multiple - 8 < used
        assert tile.first_bytes(parameters)[-1] <= used <= geometry.page_set_bytes


def test_scales_lie_behind_all_arrays():
    """Those of m, then those of v, each from a word on: 224 parameters have 7 scales in 8 bytes."""
    tile = Tile.of(PRESETS["tiny"].geometry, OptimizerCode.ADAM, BF16, BF16, StateFormats(HALF, EIGHT))
    assert (tile.scale_bytes(1), tile.scale_bytes(2)) == (range(896, 903), range(904, 911))
    assert tile.state_bytes == 4.0625
    # w fills 448 of the 512 bytes of plane 0, m lies on both.
    assert tile.numbers_on(0, 0) == (range(224), range(0))
    assert tile.numbers_on(1, 0) == (range(64), range(0))
    assert tile.numbers_on(1, 1) == (range(64, 224), range(224))
    assert tile.numbers_on(2, 1) == (range(224), range(224))


def test_halves_of_weights():
    """Of 84 parameters in a tile of `tiny`: upper halves in 168 bytes, then lower ones, on plane 0 of 512."""
    tile = Tile.of(PRESETS["tiny"].geometry, OptimizerCode.ADAM, FP32, BF16, StateFormats(SPLIT))
    assert (tile.state_bytes, tile.upper_bytes) == (12, range(168))
    # On a page of their own: of 256 parameters of SGD on two planes.
    whole = Tile.of(PRESETS["tiny"].geometry, OptimizerCode.SGD, FP32, BF16, StateFormats(SPLIT))
    assert [whole.numbers_on(0, plane) for plane in (0, 1)] == [
        (range(256), range(0)), (range(0), range(256)),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=r"formats.moments is 'SPLIT'; expected FP32, BF16 or FP8$"):
        StateFormats(SPLIT, SPLIT)


def test_fp8_is_for_moments():
    geometry = PRESETS["tiny"].geometry
    with pytest.raises(ConfigError, match=r"formats.weight is 'FP8'; expected FP32, BF16 or SPLIT$"):
        StateFormats(EIGHT)
    code = OptimizerCode.ADAMW_SCHEDULE_FREE
    with pytest.raises(
        ConfigError, match=r"'FP8'; expected FP32 or BF16 for ADAMW_SCHEDULE_FREE, whose M is"
    ):
        Tile.of(geometry, code, BF16, BF16, StateFormats(moments=EIGHT))
    PRESETS["tiny"].require_formats(StateFormats(HALF, HALF))
    with pytest.raises(
        ConfigError, match=r"'FP8'; expected FP32 or BF16 on 'tiny', or fp8_state = true in its"
    ):
        PRESETS["tiny"].require_formats(StateFormats(HALF, EIGHT))


def test_copies_of_narrow_weights():
    for form in (HALF, SPLIT):
        with pytest.raises(ConfigError) as caught:
            Tile.of(PRESETS["tiny"].geometry, OptimizerCode.ADAM, BF16, CopyFormat.FP16, StateFormats(form))
        assert str(caught.value) == (
            f"tile.copy_format is 'FP16'; expected BF16 or NONE for weights in {form.name}"
        )


@pytest.mark.parametrize("arrays", [0, 4])
def test_bad_tile(arrays):
    with pytest.raises(ConfigError) as caught:
        Tile(PRESETS["tiny"].geometry, arrays, FP32, CopyFormat.NONE)
    assert str(caught.value) == f"tile.arrays is {arrays}; expected an integer from 1 to 3"


def words(first: int) -> tuple[BitField, ...]:
    return tuple(BitField(32 * number, 32) for number in range(first, first + 8))


def test_header():
    h = UpdateHeader
    assert (h.BYTES, GRADIENT_BUFFERS) == (64, 2)
    assert (h.code, h.gradient_format, h.copy_format) == ((0, 8), (8, 8), (16, 8))
    assert (h.weight_format, h.moment_format, h.rounding) == ((24, 4), (28, 3), (31, 1))
    assert (h.parameters, h.rounding_key, h.first_zone) == ((32, 32), (64, 48), (112, 12))
    assert (h.constants, h.first_page) == (words(4), (384, 12))


def test_statistics():
    s = UpdateStatistics
    assert s.BYTES == 64
    assert (s.nans, s.infinities, s.largest, s.tiles) == ((0, 32), (32, 32), (64, 32), (96, 32))
    assert s.squares == words(4)
