"""Sizes of tensors in the window code and its alternatives: by hand, by exhaustive search, on activations."""

import numpy as np
import pytest

from flashtrain.numerics.codec import encode
from flashtrain.numerics.codec.elements import elements_of, exponents_of
from flashtrain.numerics.codec.lengths import SliceLengths
from flashtrain.perf.codec.activations import saved_activations
from flashtrain.perf.codec.alternatives import bfloat16_bytes, bound_bytes, huffman_bytes, zero_removal_bytes
from flashtrain.perf.codec.best_choice import best_pages
from flashtrain.perf.codec.ratios import tensor_ratios, together, with_raw
from flashtrain.perf.codec.scaled import FORMATS, dense_ratio, scaled_sizes
from flashtrain.spec.codec import Choice, Mode, slice_elements
from flashtrain.spec.streams import Codec
from flashtrain.training.data import digits
from flashtrain.training.recipes import RECIPES

CODES = ("BF16", "zeros out, 16 bits", "Huffman", "zeros out, FP32")


def test_alternatives_by_hand():
    """Exponents: 1 twice, 2 once, and that of 0.0; -0.0 is no zero to be left out."""
    array = np.array([1.0, -1.5, 2.0, 0.0, -0.0, 0.0, 0.0, 0.0, 1.0], np.float32)
    assert bfloat16_bytes(array) == 18
    assert zero_removal_bytes(array, 2) == 2 + 5 * 2
    assert zero_removal_bytes(array, 4) == 2 + 5 * 4
    # Five zeros, three of 1.x, one of 2.0: 1, 2 and 2 bits.
    assert huffman_bytes(array) == 9 + 2
    assert huffman_bytes(np.zeros(80, np.float32)) == 80 + 10
    # Symbols: +0.0 and 1.x each 4, 8 in all: a bit each, and a byte for each that is not +0.0.
    assert bound_bytes(np.array([0.0, 1.0, 0.0, -1.5, 0.0, 1.25, 0.0, 1.0], np.float32)) == 1 + 4


def test_huffman_is_between_entropy_and_a_bit_more(seed):
    array = np.random.default_rng(seed).standard_normal(10_000).astype(np.float32)
    counts = np.unique(array.view(np.uint32) + 0x8000 >> 23 & 0xFF, return_counts=True)[1]
    entropy = -(counts * np.log2(counts / counts.sum())).sum() / 8
    assert entropy <= (huffman_bytes(array) - array.size) * 1.001 < entropy + array.size / 8


@pytest.mark.parametrize("codec", [Codec.WINDOW16, Codec.WINDOW32])
def test_no_choice_beats_the_best(codec, seed):
    """Page by page, with each mode and base there is."""
    random = np.random.default_rng(seed)
    parts = [random.standard_normal(1200) * 2.0**scale for scale in (0, -9, 40, 3)]
    values = np.concatenate(parts).astype("<f4")
    values[random.random(values.size) < 0.2] = 0
    words = values.view("<u4") if codec is Codec.WINDOW32 else (values.view("<u4") >> 16).astype("<u2")
    data = words.tobytes()
    elements = elements_of(data, codec).reshape(-1, slice_elements(codec))
    lengths = SliceLengths(exponents_of(elements), elements == 0, codec, 512)
    pages = first = 0
    while first < len(elements):
        choices = (Choice(mode, base) for mode in Mode for base in range(256))
        first, pages = first + max(lengths.page(first, choice) for choice in choices), pages + 1
    assert best_pages(data, codec, 512) == pages <= len(encode(data, codec, 512))


def test_sums(seed):
    random = np.random.default_rng(seed)
    arrays = {name: random.standard_normal((3, 1000)).astype(np.float32) for name in "ab"}
    arrays["b"][0] = 0
    a, b = (tensor_ratios(name, array, 512, CODES) for name, array in arrays.items())
    both = together("all", [a, b])
    assert both.bytes == 24_000 and both.zeros == 1000 and both.elements == 6000
    for code in (*CODES, "ROUND16", "WINDOW32"):
        assert both.ratio(code) == pytest.approx(24_000 / (12_000 / a.ratio(code) + 12_000 / b.ratio(code)))
    assert (
        both.ratio("BF16") == 2 and sum(both.coded["ROUND16"].modes.values()) == both.coded["ROUND16"].pages
    )
    raw = with_raw("raw", both, [700, 512])
    assert raw.bytes == 25_212 and raw.ratio("BF16") == 25_212 / (12_000 + 1212)
    assert raw.coded["WINDOW32"].pages == both.coded["WINDOW32"].pages + 3


def test_stored_pages_are_counted_whole():
    """An odd number of elements, and far less than a page."""
    tensor = tensor_ratios("x", np.ones(5, np.float32), 4096, CODES)
    assert tensor.coded["ROUND16"].pages == 1 and tensor.ratio("ROUND16") == 20 / 4096


@pytest.fixture(scope="module")
def activations():
    """Of the attention network, after a little training."""
    saved = saved_activations(RECIPES["attention"], digits(), iterations=10, batch=1024, seed=0)
    return {name: array for name, array in saved.items() if array.dtype == np.float32}


def test_the_rule_is_within_a_percent_of_the_best_choice(activations):
    """In all, on the pages of activations; each tensor within a page or so."""
    tensors = [tensor_ratios(name, array, 4096, CODES) for name, array in activations.items()]
    both = together("all", tensors)
    for codec in ("ROUND16", "WINDOW32"):
        assert 0 <= both.loss(codec) < 0.01
        for tensor in tensors:
            coded = tensor.coded[codec]
            assert coded.best_pages <= coded.pages <= 1.01 * coded.best_pages + 2
    assert both.ratio("ROUND16") > 1.4 * both.ratio("BF16")
    assert both.ratio("WINDOW32") > 1.1 * both.ratio("zeros out, FP32")


def test_activations_depend_on_training():
    recipe, data = RECIPES["mlp"], digits()
    fresh, again, trained = (saved_activations(recipe, data, n, 128, 0) for n in (0, 0, 2))
    assert set(fresh) == {"hidden.x", "relu.positive", "output.x"}
    assert all((fresh[name] == again[name]).all() for name in fresh)
    assert (fresh["hidden.x"] == trained["hidden.x"]).all() and (
        fresh["output.x"] != trained["output.x"]
    ).any()


def test_no_code_of_exponents_beats_the_bound(seed):
    array = np.random.default_rng(seed).standard_normal(20_000).astype(np.float32)
    for values in (array, np.maximum(array, 0)):
        tensor = tensor_ratios("x", values, 4096, ("Huffman", "bound"))
        assert tensor.ratio("ROUND16", 2) == tensor.ratio("ROUND16") / 2
        assert max(tensor.ratio("Huffman"), tensor.ratio("ROUND16")) < tensor.ratio("bound")


def test_bf16_has_the_pages_of_rounded_fp32(seed):
    """So a ratio of WINDOW16 against BF16 is half of that of ROUND16 against FP32."""
    words = np.random.default_rng(seed).standard_normal(50_000).astype(np.float32).view("<u4") & 0xFFFF_0000
    rounded_pages = encode(words.tobytes(), Codec.ROUND16, 4096)
    assert len(rounded_pages) == len(encode((words >> 16).astype("<u2").tobytes(), Codec.WINDOW16, 4096))


def test_scaled_sizes_by_hand():
    """Thousand groups of ones: 3 and 4 bits a number of E4M3, 3 and 3 of E5M2, and 8 a group."""
    ones = np.ones((1000, 32), np.float32)
    for name, bits, groups in (("E4M3", 232, 16), ("E5M2", 200, 19)):
        sizes = scaled_sizes(ones, FORMATS[name], 512)  # 3,936 bits of groups in a page
        assert sizes.bytes == 33_000 and sizes.window_bytes == 512 * -(-1000 // groups)
        assert sizes.bound_bytes == 32_000 * (bits - 104) / 32 / 8
        assert dense_ratio(FORMATS[name]) == 264 / bits
    zeros = scaled_sizes(np.zeros(65, np.float32), FORMATS["E4M3"], 512)
    assert (zeros.elements, zeros.zeros, zeros.window_bytes, zeros.bound) == (96, 96, 512, 99)
    both = scaled_sizes(ones, FORMATS["E5M2"], 512) + zeros
    assert both.bytes == 33_099 and both.ratio == 33_099 / both.window_bytes


def test_random_bits_do_not_compress(seed):
    """Eight pages of RAW, of 123 groups each; fifteen exponents have an entropy of 3.9 bits."""
    random, count = np.random.default_rng(seed), 8 * 123 * 32
    magnitudes = np.ldexp(1 + random.random(count), random.integers(-6, 9, count))
    values = (magnitudes * random.choice([-1, 1], count)).astype(np.float32)
    sizes = scaled_sizes(values, FORMATS["E4M3"], 4096)
    assert sizes.window_bytes == 8 * 4096 and 1 < sizes.bound < 1.04
