"""A set of blocks as runs, beside a set of numbers."""

import random

from flashtrain.host.streams.block_runs import BlockRuns


def test_as_a_set_of_numbers():
    seed = random.randrange(1 << 32)
    print("seed", seed)
    choose = random.Random(seed)
    for _ in range(40):
        runs, blocks = BlockRuns(), set()
        for _ in range(30):
            start = choose.randrange(60)
            end = start + choose.randrange(1, 8)
            assert runs.overlaps(start, end) == bool(blocks & {*range(start, end)})
            if choose.random() < 0.7:
                runs.add(start, end)
                blocks |= {*range(start, end)}
            assert runs.count == len(blocks)


def test_neighbours_become_one_run():
    runs = BlockRuns()
    for start in (4, 0, 2, 6):
        runs.add(start, start + 2)
    assert (runs.count, runs._starts, runs._ends) == (8, [0], [8])
    assert not runs.overlaps(8, 9) and runs.overlaps(7, 9)
