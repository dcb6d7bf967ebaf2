"""`ResumableSampler`: each epoch has all samples, in an order that the state brings back."""

import pytest

from flashtrain.torch import ResumableSampler
from flashtrain.training.errors import DataError, SeedError


def sampler(count=11, **options):
    return ResumableSampler(range(count), **options)


def test_epochs():
    own, again = sampler(seed=5), sampler(seed=5)
    epochs = [list(own) for _ in range(3)]
    assert all(sorted(epoch) == list(range(11)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert [list(again) for _ in range(3)] == epochs
    assert list(sampler(seed=6)) != epochs[0]
    assert list(sampler(shuffle=False)) == list(range(11))
    assert len(own) == 11 and (own.epoch, own.position) == (3, 0)


def test_state_between_any_two_samples():
    whole = sampler(seed=5)
    order = [index for _ in range(3) for index in whole]
    for drawn in range(22):
        own, found = sampler(seed=5), []
        while len(found) < drawn:
            for index in own:
                found.append(index)
                if len(found) == drawn:
                    break
        resumed = sampler(seed=1)
        resumed.load_state_dict(own.state_dict())
        while len(found) < 33:
            found += list(resumed)
        assert found == order


def test_an_epoch_that_was_left_early_is_over():
    own, other = sampler(seed=5), sampler(seed=5)
    next(iter(own))
    list(other)
    assert list(own) == list(other)


def test_one_iteration_at_a_time():
    own = sampler()
    first = iter(own)
    next(first)
    next(iter(own))
    with pytest.raises(DataError, match="another iteration of the sampler has begun"):
        next(first)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 12}, "the state is of 12 samples; expected 11"),
        ({"position": 12}, "position 12 in an epoch of 11 samples"),
        ({"epoch": -1}, "epoch of the sampler's state is -1; expected int, 0 or more"),
        ({"seed": None}, "seed of the sampler's state is None"),
        ({"shuffle": 1}, "shuffle of the sampler's state is 1; expected bool"),
    ],
)
def test_state_of_something_else(change, message):
    own = sampler(seed=5)
    with pytest.raises(DataError, match=message):
        own.load_state_dict(own.state_dict() | change)
    assert own.state_dict() == sampler(seed=5).state_dict()


@pytest.mark.parametrize("value", [-1, 1.5, True, None])
def test_seeds_that_will_not_do(value):
    with pytest.raises(SeedError, match="expected an integer of at least 0"):
        sampler(seed=value)
