"""Random numbers that are a function of their position, and the dropout that takes them."""

from itertools import pairwise

import numpy as np
import pytest

from flashtrain.training.layers import Chain, Draw, Dropout, Residual
from flashtrain.training.layers.philox import philox

KNOWN = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)  # fmt: skip
"""Counter, key and result: the known answers of Random123."""


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter, key, expected):
    assert philox(np.array([counter], np.uint32), key)[0].tolist() == list(expected)


def test_each_coordinate_changes_the_words():
    draws = [
        Draw(), Draw(seed=1), Draw(seed=1 << 70), Draw(iteration=1), Draw(layer="a"), Draw(layer="b"),
        Draw().of("a").of("b"), Draw(example=1),
    ]  # fmt: skip
    words = [draw.words(2, 9).tobytes() for draw in draws]
    assert len(set(words)) == len(draws)
    assert Draw(layer="a").of("b") == Draw(layer="a.b")
    assert Draw(3, 4, "c").words(2, 9).tobytes() == Draw(3, 4, "c").words(2, 9).tobytes()


@pytest.mark.parametrize("elements", [1, 3, 4, 7, 64])
def test_a_batch_in_parts_draws_the_words_of_the_whole(elements, seed):
    random = np.random.default_rng(seed)
    whole = Draw(seed, 5, "layer").words(20, elements)
    cuts = [0, *sorted(random.integers(0, 20, 3).tolist()), 20]
    parts = [Draw(seed, 5, "layer", a).words(b - a, elements) for a, b in pairwise(cuts)]
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_share_and_scale(rate, seed):
    layer = Dropout(rate).at(Draw(seed))
    x = np.ones((100, 400), np.float32)
    y, saved = layer.forward({}, x)
    dx, _ = layer.backward({}, saved, x)
    assert saved == {} and dx.tobytes() == y.tobytes(), "both passes drop the same elements"
    assert set(np.unique(y)) <= {np.float32(0), np.float32(1 / (1 - rate))}
    # Six standard deviations of a binomial share.
    assert abs((y == 0).mean() - rate) <= 6 * np.sqrt(rate * (1 - rate) / x.size)
    assert layer.evaluate({}, {}, x) is x


def test_layers_inside_of_layers_draw_their_own():
    x = np.ones((4, 50), np.float32)
    one = Dropout(0.5)
    both = Residual(Chain((("first", one), ("second", one)))).at(Draw(1, 2, "outer"))
    y, _ = both.forward({}, x)
    first, _ = one.at(Draw(1, 2, "outer.first")).forward({}, x)
    second, _ = one.at(Draw(1, 2, "outer.second")).forward({}, first)
    assert np.array_equal(y, x + second) and not np.array_equal(first != 0, second != 0)
