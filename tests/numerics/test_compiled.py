"""The kernels in C++ give what the NumPy of `flashtrain.numerics` gives, bit for bit."""

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from flashtrain.numerics import Constants, codec, copy_of, gradient_values, update
from flashtrain.numerics.codec.elements import stored_slices
from flashtrain.numerics.compiled import codec as compiled
from flashtrain.numerics.compiled.tiles import STATISTICS, TILE, TilePages, TileStep
from flashtrain.numerics.state_format import StepRounding, random_bits, random_halves
from flashtrain.numerics.statistics import add_squares
from flashtrain.spec import PRESETS
from flashtrain.spec.codec import CODED, PageHeader, Refusal, slice_user_bytes
from flashtrain.spec.optimizer import PROGRAMS, CopyFormat, GradientFormat, Input, OptimizerCode
from flashtrain.spec.state_format import PLAIN, WEIGHTS, Rounding, StateFormat, StateFormats
from flashtrain.spec.update import Tile
from tests.rounded_state import NARROW, copied, has, put_tile_arrays, tile_arrays

from .codec_helpers import like_activations, with_check

PAGE_BYTES = 512
DTYPES = {GradientFormat.FP32: np.uint32, GradientFormat.FP16: np.float16, GradientFormat.BF16: np.uint16}


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def appended(random, coded, page_bytes, most=20_000):
    """The data of an append: whole pages, like activations."""
    data = like_activations(random, int(random.integers(1, most)), coded)
    return np.frombuffer(data + bytes(-len(data) % page_bytes), np.uint8)


@pytest.mark.parametrize("coded", CODED)
@pytest.mark.parametrize("page_bytes", [512, 4096])
def test_appends(coded, page_bytes, random):
    for _ in range(10):
        data = appended(random, coded, page_bytes)
        pages = codec.encode(data.tobytes(), coded, page_bytes)
        assert np.array_equal(compiled.encode(data, coded, page_bytes), pages)
        out = np.zeros_like(data)
        assert compiled.decode(pages, coded, out)
        assert out.tobytes() == codec.decode(pages, coded, data.nbytes)


def decoded_by_pages(pages, coded, out):
    """As a read does it: up to the first page that is refused, or does not stand at its place."""
    end = stored_slices(out.nbytes, coded)
    for number, page in enumerate(pages):
        decoded = codec.decode_page(page, coded, end)
        if isinstance(decoded, Refusal) or not decoded[0].stands_at(number, len(pages)):
            return False
        header, part = decoded
        out[slice_user_bytes(coded) * header.first :][: len(part)] = np.frombuffer(part, np.uint8)
    return True


@pytest.mark.parametrize("coded", CODED)
def test_damaged_pages(coded, random):
    """Any bit of a header or of the rest; the check is wrong, or made right again."""
    refused = 0
    for _ in range(200):
        data = appended(random, coded, 512, 1000)
        pages = codec.encode(data.tobytes(), coded, 512)
        page = pages[random.integers(len(pages))]
        page[random.integers(random.choice([PageHeader.BYTES, 512]))] ^= 1 << random.integers(8)
        if random.random() < 0.8:
            with_check(page)
        out, expected = np.zeros_like(data), np.zeros_like(data)
        whole = decoded_by_pages(pages, coded, expected)
        assert compiled.decode(pages, coded, out) == whole
        assert np.array_equal(out, expected)
        refused += not whole
    assert 0 < refused < 200


def any_floats(random, shape):
    """Numbers of any bits, and some that steps meet."""
    plausible = (random.standard_normal(shape) * 2.0 ** random.integers(-140, 100, shape)).astype(np.float32)
    any_bits = random.integers(0, 1 << 32, shape, np.uint32).view(np.float32)
    return np.where(random.random(shape) < 0.3, any_bits, plausible)


def in_pages(tiles):
    """Tiles as a command has them: 5 rows of one channel, beside another channel of ones."""
    pages = np.full((len(tiles), tiles.shape[1] // PAGE_BYTES, 2, PAGE_BYTES), 0xFF, np.uint8)
    pages[:, :, 0] = tiles.reshape(len(tiles), -1, PAGE_BYTES)
    return pages


def in_rows(pages):
    """Undo `in_pages`; the other channel is as it was."""
    assert (pages[:, :, 1] == 0xFF).all()
    return pages[:, :, 0].reshape(len(pages), -1)


TILES = [
    *((g, c, PLAIN, Rounding.NEAREST) for g in GradientFormat for c in CopyFormat),
    *(
        (GradientFormat.BF16, CopyFormat.BF16, formats, rounding)
        for formats in NARROW
        for rounding in Rounding
    ),
    (GradientFormat.FP32, CopyFormat.FP16, StateFormats(moments=StateFormat.BF16), Rounding.STOCHASTIC),
]


@pytest.mark.parametrize("code", OptimizerCode)
@pytest.mark.parametrize(("gradient", "copy", "formats", "rounding"), TILES)
def test_tiles(code, copy, gradient, formats, rounding, random):
    """Several tiles on two dies, in an order; words behind the parameters' stay as they are."""
    if not has(code, formats):
        pytest.skip("its M is weights, which are not stored in FP8")
    program = PROGRAMS[code]
    geometry = replace(PRESETS["tiny"].geometry, planes=16)
    of_state = Tile.of(geometry, code, gradient, copy, formats)
    n = of_state.multiple * int(random.integers(1, 700 // of_state.multiple))
    words = 17 * PAGE_BYTES // 4
    constants = Constants(code, tuple(any_floats(random, len(program.constants))))
    state = any_floats(random, (5, words))
    gradients = np.zeros((5, 4 * words), np.uint8)
    sent = any_floats(random, (5, n)).view(np.uint32)
    sent = (sent >> 16).astype(np.uint16) if gradient is not GradientFormat.FP32 else sent
    gradients[:, : sent.nbytes // 5] = sent.view(np.uint8)
    tiles, dies = np.array([3, 0, 4]), np.array([1, 0, 1])
    statistics = np.zeros(2, STATISTICS)
    statistics["squares"] = np.abs(any_floats(random, (2, 8)))
    before = statistics.copy()
    new_pages, sent_pages = in_pages(state.view(np.uint8)), in_pages(gradients)
    pages = TilePages(new_pages), TilePages(sent_pages)
    entries = np.empty(3, TILE)
    entries["die"] = dies
    entries["state"], entries["gradient"] = (each.offsets[tiles, 0] for each in pages)
    first_zone, zones, places = 7, np.array([7, 9, 3]), random.integers(0, 1 << 21, 3) << 12
    first_page = int(random.integers(1 << 12))
    entries["zone"], entries["place"] = zones, places
    how = StepRounding(rounding, int(random.integers(1 << 48)))
    copy_pages = int(random.integers(1, 4)) if copy is not CopyFormat.NONE else 0
    step = TileStep(constants, of_state, n, how, first_zone, first_page)
    step.run(entries, *pages, copy_pages, statistics)
    new, copies = in_rows(new_pages), in_rows(sent_pages)
    state = state.view(np.uint8)
    copied_bytes = copy_pages * PAGE_BYTES
    assert np.array_equal(copies[:, copied_bytes:], gradients[:, copied_bytes:])
    for tile, die, zone, place in zip(tiles, dies, zones, places, strict=True):
        dtype = np.float32 if gradient is GradientFormat.FP32 else DTYPES[gradient]
        g = gradient_values(sent[tile].view(dtype))
        old = tile_arrays(of_state, state[tile], n)
        parts = {Input(k).name.lower(): array for k, array in enumerate(old)}
        after = update(constants, g, **parts, copy=CopyFormat.NONE)
        arrays_after = [array for array in (after.w, after.m, after.v) if array is not None]
        of_page = ((place >> 12) - first_page) % 4096 << 12
        bits = random_bits(how.key, place >> 24 << 24 | of_page | (zone - first_zone) % 4096, n)
        is_random = rounding is Rounding.STOCHASTIC
        halves = [random_halves(bits, k) if is_random else None for k in range(len(arrays_after))]
        expected = state[tile].copy()
        stored = put_tile_arrays(of_state, expected, arrays_after, halves)
        assert np.array_equal(new[tile], expected)  # words of no parameter are as they were
        copied_weight = after.w if formats.weight is StateFormat.FP32 else copied(formats.weight, stored[0])
        rounded = copy_of(copied_weight, copy)
        expected_copy = b"" if rounded is None else rounded.tobytes()
        in_pages_of_copies = expected_copy[:copied_bytes].ljust(copied_bytes, b"\0")
        assert copies[tile, :copied_bytes].tobytes() == in_pages_of_copies
        nan = np.isnan(g)
        before[die]["nans"] += np.count_nonzero(nan)
        before[die]["infinities"] += np.count_nonzero(np.isinf(g))
        before[die]["largest"] = max(before[die]["largest"], np.abs(g[~nan]).max(initial=np.float32(0)))
        before[die]["squares"] = add_squares(before[die]["squares"], g)
        before[die]["tiles"] += 1
    for name in STATISTICS.names or ():
        assert statistics[name].tobytes() == before[name].tobytes(), name
    untouched = np.setdiff1d(np.arange(5), tiles)
    assert np.array_equal(new[untouched], state[untouched])


def random_state(random, tile):
    """The bytes of a tile's page set: numbers of training runs among any bits, with scales of every size."""
    words = any_floats(random, tile.words).view(np.uint8).copy()
    for number in range(1, tile.arrays):
        scales = tile.scale_bytes(number)
        words[scales.start : scales.stop] = random.integers(0, 256, len(scales))
    return words


@pytest.mark.parametrize("rounding", Rounding, ids=lambda one: one.name)
@pytest.mark.parametrize("weight", WEIGHTS, ids=["w32", "w16", "w16x16"])
def test_millions_of_parameters_with_moments_in_fp8(weight, rounding, random, request):
    """Tiles of AdamW and momentum in turn; with `--long N` so many parameters."""
    left = max(4_000, request.config.getoption("--long"))
    geometry, formats = replace(PRESETS["tiny"].geometry, planes=16), StateFormats(weight, StateFormat.FP8)
    for code in cycle((OptimizerCode.ADAMW, OptimizerCode.MOMENTUM)):
        tile = Tile.of(geometry, code, GradientFormat.BF16, CopyFormat.NONE, formats)
        n = tile.parameters
        constants = Constants(code, tuple(any_floats(random, len(PROGRAMS[code].constants))))
        state = random_state(random, tile)
        g = random.integers(0, 1 << 16, n).astype(np.uint16)
        new, sent = state.copy(), np.zeros(16 * PAGE_BYTES, np.uint8)
        sent[: g.nbytes] = g.view(np.uint8)
        pages = [TilePages(each.reshape(1, 16, 1, PAGE_BYTES)) for each in (new, sent)]
        how = StepRounding(rounding, int(random.integers(1 << 48)))
        place = int(random.integers(1 << 21)) << 12
        entries = np.zeros(1, TILE)
        entries["place"] = place
        TileStep(constants, tile, n, how).run(entries, *pages, 0, np.zeros(1, STATISTICS))
        old = tile_arrays(tile, state, n)
        after = update(constants, gradient_values(g), *old, copy=CopyFormat.NONE)
        results = [array for array in (after.w, after.m, after.v) if array is not None]
        bits = random_bits(how.key, np.uint64(place), n)
        is_random = rounding is Rounding.STOCHASTIC
        put_tile_arrays(
            tile, state, results, [random_halves(bits, k) if is_random else None for k in range(len(results))]
        )
        assert np.array_equal(new, state)
        left -= n
        if left <= 0:
            return
