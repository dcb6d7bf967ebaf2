"""Devices and arrays for the tests of checkpoints."""

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


@pytest.fixture
def link():
    with FunctionalLink(preset("tiny"), 1 << 17) as opened:
        yield opened


@pytest.fixture
def device(link):
    with open_device(link=link, node=UPDATE_NODE) as opened:
        yield opened


@pytest.fixture
def arrays(random):
    return {
        "w/0": random.standard_normal((7, 90)).astype(np.float32),
        "w/1": random.standard_normal(()).astype(np.float32),
        "order": random.permutation(37),
        "empty": np.empty((0, 3), np.float16),
        "flags": random.integers(0, 2, (3, 5)).astype(bool),
        "transposed": random.integers(0, 99, (8, 4)).T,
    }
