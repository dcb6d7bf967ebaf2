"""First-fit allocation of blocks."""

from random import Random

from flashtrain.host.memory.tensor_buffer import BlockAllocator


def test_first_fit_and_joining():
    allocator = BlockAllocator(10, 8)
    assert [allocator.take(n) for n in (2, 3, 3)] == [10, 12, 15]
    assert allocator.take(1) is None and allocator.free == 0 and allocator.largest == 0
    allocator.give_back(10, 2)
    allocator.give_back(15, 3)
    assert (allocator.free, allocator.largest) == (5, 3)
    assert allocator.take(4) is None
    allocator.give_back(12, 3)
    assert (allocator.free, allocator.largest) == (8, 8)
    assert allocator.take(8) == 10


def test_nothing_to_hand_out():
    allocator = BlockAllocator(3, 0)
    assert (allocator.free, allocator.largest, allocator.take(1)) == (0, 0, None)


def test_random_use_never_overlaps(seed):
    random, total = Random(seed), 50
    allocator = BlockAllocator(5, total)
    held: dict[int, int] = {}
    for _ in range(2000):
        if held and random.random() < 0.5:
            start = random.choice(list(held))
            allocator.give_back(start, held.pop(start))
        else:
            count = random.randint(1, 12)
            start = allocator.take(count)
            if start is None:
                assert allocator.largest < count
                continue
            assert 5 <= start and start + count <= 5 + total
            taken = set(range(start, start + count))
            assert all(taken.isdisjoint(range(other, other + n)) for other, n in held.items())
            held[start] = count
        assert allocator.free == total - sum(held.values())
    for start, count in held.items():
        allocator.give_back(start, count)
    assert allocator.largest == total
