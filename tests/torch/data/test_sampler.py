"""`ResumableSampler`: each epoch has all samples, in an order that the state brings back."""

from collections.abc import Iterable, Iterator

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from flashtrain.torch import ResumableSampler
from flashtrain.training.errors import DataError, SeedError


def sampler(count=11, **options):
    return ResumableSampler(range(count), **options)


def _indices(samples: list[tuple[torch.Tensor]]) -> list[int]:
    return [int(index) for (index,) in samples]


def loader(own: ResumableSampler, batch_size: int = 1, **options) -> DataLoader:
    data = TensorDataset(torch.arange(len(own)))
    return DataLoader(data, batch_size, sampler=own, collate_fn=_indices, **options)


def indices(own: ResumableSampler, ahead: Iterable[list[int]] | None = None) -> list[int]:
    """What a training takes of the rest of the epoch."""
    return [index for batch in own.batches(ahead or loader(own), 1) for index in batch]


class FetchesAhead:
    """As the loader of accelerate: it gives a batch when it has fetched the next one, if there is one."""

    def __init__(self, batches: DataLoader, ahead: int = 1) -> None:
        self._batches, self._ahead = batches, ahead
        self.batch_size = batches.batch_size

    def __iter__(self) -> Iterator[list[int]]:
        waiting = []
        for batch in self._batches:
            waiting.append(batch)
            if len(waiting) > self._ahead:
                yield waiting.pop(0)
        yield from waiting


def test_epochs():
    own, again = sampler(seed=5), sampler(seed=5)
    epochs = [list(own) for _ in range(3)]
    assert all(sorted(epoch) == list(range(11)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert [indices(again) for _ in range(3)] == epochs
    assert list(sampler(seed=6)) != epochs[0]
    assert list(sampler(shuffle=False)) == list(range(11))
    assert len(again) == 11 and (again.epoch, again.position) == (3, 0)


LOADERS = {
    "plain": loader,
    "a batch ahead": lambda own, size: FetchesAhead(loader(own, size)),
    "an epoch ahead": lambda own, size: FetchesAhead(loader(own, size), ahead=100),
}


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize("size", [1, 3])
def test_the_state_is_that_of_the_batches_that_were_taken(kind: str, size: int):
    order = [index for whole in [sampler(seed=5)] for _ in range(3) for index in list(whole)]
    for taken in range(1, 2 * (11 // size)):
        own, found, count = sampler(seed=5), [], 0
        while count < taken:
            for batch in own.batches(LOADERS[kind](own, size)):
                found += batch
                count += 1
                if count == taken:
                    break
        resumed = sampler(seed=1)
        resumed.load_state_dict(own.state_dict())
        while len(found) < 33:
            found += indices(resumed)
        assert found == order


def test_workers_that_fetch_ahead():
    own, whole = sampler(seed=5), list(sampler(seed=5))
    batches = own.batches(loader(own, 2, num_workers=1, prefetch_factor=3, multiprocessing_context="fork"))
    found = next(batches) + next(batches)
    resumed = sampler()
    resumed.load_state_dict(own.state_dict())
    assert own.position == 4 and found + indices(resumed) == whole
    assert found + [index for batch in batches for index in batch] == whole


def test_a_trainer_that_iterates_itself():
    """It counts at each step."""
    own, whole = sampler(seed=5), list(sampler(seed=5))
    for number, batch in enumerate(FetchesAhead(loader(own, 3))):
        own.take(3)
        assert own.position == min(3 * (number + 1), 11)
        resumed = sampler()
        resumed.load_state_dict(own.state_dict())
        assert list(resumed) == whole[own.position :], batch
    assert sorted(own) == list(range(11)) and own.epoch == 1


def test_draws_that_nobody_counts_have_no_state():
    own = sampler(seed=5)
    before = own.state_dict()
    for _ in loader(own, 3):
        with pytest.raises(
            DataError, match=r"expected `for batch in sampler.batches\(loader\)`, or `sampler.t"
        ):
            own.state_dict()
    own.load_state_dict(before)
    assert own.state_dict() == before


def test_loaders_that_will_not_do():
    own = sampler()
    with pytest.raises(DataError, match="a batch of the loader has None samples; expected `batch_size`"):
        next(own.batches([[1]]))
    with pytest.raises(DataError, match="a batch of the loader has 0 samples"):
        next(own.batches(loader(own), batch_size=0))
    with pytest.raises(DataError, match="the loader draws from another sampler; expected this one"):
        next(own.batches(loader(sampler())))


def test_an_epoch_that_was_left_early_is_over():
    own, other = sampler(seed=5), sampler(seed=5)
    next(own.batches(loader(own)))
    list(other)
    assert indices(own) == list(other)


def test_one_iteration_at_a_time():
    for own in (sampler(), sampler()):
        first = iter(own) if own.epoch else own.batches(loader(own))
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


@pytest.mark.parametrize("after", [1, 2, 3, 4])
def test_ranks_go_on_as_another_number_of_ranks(after):
    """Each sample once, in batches that all ranks share; the order is that of one process."""
    count, batch, numbers = 50, 3, range(50)

    def samplers(ranks):
        return [ResumableSampler(numbers, seed=5, rank=rank, ranks=ranks) for rank in range(ranks)]

    def taken(samplers, steps):
        loops = [one.batches(DataLoader(numbers, batch, sampler=one)) for one in samplers]
        for _, *parts in zip(range(steps), *loops, strict=False):
            assert len({len(part) for part in parts}) == 1
            yield from torch.stack(parts, 1).flatten().tolist()

    whole = [int(index) for index in ResumableSampler(numbers, seed=5)]
    before, later = samplers(4), samplers(after)
    found = list(taken(before, 2))
    assert found == whole[:24] and len(before[0]) == 12
    states = [one.state_dict() for one in before]
    assert all(state == states[0] for state in states) and states[0]["position"] == 24
    for one in later:
        one.load_state_dict(states[0])
    found += list(taken(later, 99))
    left = (count - 24) % after
    assert found == whole[: count - left]


@pytest.mark.parametrize(("ranks", "after"), [(4, 3), (6, 4), (1, 12), (3, 1)])
@pytest.mark.parametrize("shuffle", [True, False])
def test_shards_give_each_rank_its_own_part(ranks, after, shuffle):
    """One order for all numbers of ranks that divide the shards; 50 samples in 12 shards leave two out."""
    numbers, shards, position = range(50), 12, 29  # of which no number of ranks is a divisor
    whole = list(ResumableSampler(numbers, seed=5, shuffle=shuffle, shards=shards))
    assert len(set(whole)) == 48 and [number % shards for number in whole] == [*range(shards)] * 4

    def rest(count, state):
        """What the ranks take at each step."""
        for rank in range(count):
            one = ResumableSampler(numbers, rank=rank, ranks=count, shards=shards)
            one.load_state_dict(state)
            drawn = list(one)
            assert all(number % count == rank for number in drawn)
            yield drawn

    for count in (ranks, after):
        state = ResumableSampler(numbers, seed=5, shuffle=shuffle, shards=shards).state_dict()
        assert set(zip(*rest(count, state), strict=True)) == set(zip(*[iter(whole)] * count, strict=True))
        left = list(zip(*rest(count, state | {"position": position}), strict=True))
        assert len(left) == (len(whole) - position) // count
        for step, drawn in enumerate(left):
            begin = position + step * count
            assert sorted(drawn) == sorted(whole[begin : begin + count])


def test_shards_leave_out_other_samples_in_each_epoch():
    own = sampler(count=11, shards=4)
    left_out = [set(range(11)) - set(own) for _ in range(30)]
    assert all(len(left) == 3 for left in left_out) and len(set.union(*left_out)) == 11 - 2


@pytest.mark.parametrize("shards", [0, 12, 1.0, True])
def test_shards_that_will_not_do(shards):
    with pytest.raises(DataError, match=f"shards is {shards}; expected an integer from 1 to 11"):
        sampler(shards=shards)


def test_a_state_of_other_shards():
    own, whole = sampler(shards=4), sampler()
    for one, other in ((own, whole), (whole, own)):
        with pytest.raises(DataError, match=r"the state is of [14] shards; expected [14]"):
            one.load_state_dict(other.state_dict())


@pytest.mark.parametrize(("rank", "ranks"), [(2, 2), (-1, 2), (0, 0), (True, 2), (0, 1.5)])
def test_ranks_that_do_not_exist(rank, ranks):
    with pytest.raises(DataError, match="expected an integer from 0 to ranks - 1"):
        ResumableSampler(range(5), rank=rank, ranks=ranks)
