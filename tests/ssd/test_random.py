"""Random commands on random drives: all end, and the tables stay consistent."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.spec import preset
from flashtrain.spec.timing import ns
from flashtrain.ssd import SsdArray, SsdConfig
from flashtrain.ssd.array import sequence
from flashtrain.ssd.kernel import COMMAND
from flashtrain.traces import Operation

BEHEMOTH = SsdConfig.of(preset("behemoth"), 1)
READ, WRITE, TRIM, FLUSH = Operation


def random_config(draw):
    geometry = replace(
        BEHEMOTH.geometry,
        channels=int(draw.choice([1, 2, 4])),
        dies=int(draw.choice([1, 2, 4])),
        planes=int(draw.choice([1, 2, 4])),
        blocks=int(draw.integers(24, 48)),
        pages=int(draw.integers(2, 10)),
    )
    return replace(
        BEHEMOTH,
        geometry=geometry,
        timing=replace(BEHEMOTH.timing, tbers=ns(200_000)),
        over_provisioning=float(draw.choice([0.4, 0.6])),
        firmware_cores=int(draw.choice([1, 3, 16])),
        suspended_reads=bool(draw.integers(2)),
        drives=int(draw.choice([1, 2, 3])),
        stripe_bytes=4096 * int(draw.integers(1, 6)),
        gc_start=4,
        gc_critical=int(draw.integers(1, 5)),
    )


def random_commands(draw, pages, count):
    commands = np.zeros(count, COMMAND)
    commands["op"] = draw.choice(list(Operation), count, p=[0.35, 0.55, 0.05, 0.05])
    commands["count"] = np.minimum(draw.geometric(0.15, count), pages)
    commands["first"] = draw.integers(0, pages - commands["count"] + 1)
    commands["count"][commands["op"] == FLUSH] = 0
    writes = commands["op"] == WRITE
    commands["partial"][writes] = draw.integers(0, 4, writes.sum())
    commands["time"] = np.cumsum(draw.integers(0, 2000, count))
    return commands


@pytest.mark.parametrize("number", range(12))
def test_all_commands_end(seed, number):
    draw = np.random.default_rng((seed, number))
    config = random_config(draw)
    pages = config.capacity_bytes // config.geometry.page_bytes
    commands = random_commands(draw, pages, 3000)
    with SsdArray(config) as array:
        if draw.integers(2):
            array.fill()
        run = array.run(commands, int(draw.choice([0, 1, 7, 64])))
        assert (run.commands["done"] >= run.commands["begun"]).all()
        assert run.commands["done"].max() > 0 and (run.commands["done"][commands["op"] != FLUSH] > 0).any()
        written = int(commands["count"][commands["op"] == WRITE].sum())
        assert run.counts.written == written
        # All pages can be written and read: nothing is left over that blocks a die.
        array.run(sequence(WRITE, 0, pages, 1), 16)
        reads = array.run(sequence(READ, 0, pages, 1), 16)
        assert reads.counts.pages_sensed + reads.counts.buffer_hits == pages
        assert (reads.commands["done"] > 0).all()
