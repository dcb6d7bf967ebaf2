"""Stores of checkpoints for the tests of `flashtrain.torch.checkpoint`."""

import pytest

from flashtrain.checkpoint import AppendedCheckpoints
from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from tests.torch.checkpoint.training import STEPS, Training


@pytest.fixture
def device(request):
    """On a functional Link, unless a test has others as parameters."""
    kind = getattr(request, "param", FunctionalLink)
    with kind(preset("small"), 1 << 20) as link, open_device(link=link, node=UPDATE_NODE) as opened:
        yield opened


@pytest.fixture(scope="session")
def undisturbed():
    """Losses and results of the :class:`Training` without a cut."""
    return without_a_cut(scaled=False)


@pytest.fixture(scope="session")
def undisturbed_scaled():
    return without_a_cut(scaled=True)


def without_a_cut(scaled):
    with open_device("tiny", node=UPDATE_NODE) as device:
        training = Training(device, scaled)
        training.run()
        assert training.resumed == 0 and sorted(training.losses) == list(range(STEPS))
        assert len(set(training.losses.values())) == STEPS
        assert 3 < training.skipped < STEPS - 4 if scaled else training.skipped == 0
        return training.losses, training.result


@pytest.fixture
def store(device):
    return AppendedCheckpoints(device)


@pytest.fixture
def read(store, monkeypatch):
    """The bytes of all reads of the store's stream so far."""
    stream, sizes = store._stream, []
    original = stream.read

    def reading(stored, out=None):
        sizes.append(stored.blocks * stream.block_bytes)
        return original(stored, out)

    monkeypatch.setattr(stream, "read", reading)
    return sizes
