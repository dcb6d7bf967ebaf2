"""What several tests of training need."""

import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.data import digits


@pytest.fixture(scope="session")
def data():
    return digits()


@pytest.fixture
def tiny():
    with open_device("tiny", link=FunctionalLink) as device:
        yield device


@pytest.fixture
def small():
    """With all streams that any training takes."""
    with open_device("small", link=FunctionalLink, node=UPDATE_NODE) as device:
        yield device
