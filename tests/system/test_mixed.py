"""Reads beside appends and erases: every block read is what was written."""

import numpy as np

from flashtrain.host import open_device
from flashtrain.spec import Port
from flashtrain.spec.streams import SINGLE_NODE


def pages(config, random, count: int) -> np.ndarray:
    return random.integers(0, 256, count * config.geometry.page_bytes, np.uint8)


def test_reads_beside_appends(device, config, seed):
    """Of pages that are in the NAND, are being programmed, or still are in the write buffer."""
    random = np.random.default_rng(seed)
    stream, other = device.stream("activations"), device.stream("weights")
    kept = [(other, a, other.append(a)) for a in (pages(config, random, n) for n in (1, 3, 8))]
    other.flush()
    room = min(40, 2 * config.geometry.zone_capacity)
    while room > 0:
        count = min(room, int(random.integers(1, 8)))
        room -= count
        new = pages(config, random, count)
        append = stream.append_async(new)
        asked = [kept[i] for i in random.integers(len(kept), size=3)]
        reads = [(array, source.read_async(stored)) for source, array, stored in asked]
        for array, read in reads:
            assert np.array_equal(read.result(), array)
        kept.append((stream, new, append.result()))
        if random.random() < 0.5:
            assert np.array_equal(stream.read(append.result()), new)
    for source, array, stored in kept:
        assert np.array_equal(source.read(stored), array)


def test_reads_beside_erases(device, config, seed):
    """One stream is reset and written again, which erases behind the traffic, while another is read."""
    random = np.random.default_rng(seed)
    stream, other = device.stream("activations"), device.stream("weights")
    array = pages(config, random, 2 * config.geometry.superpage)
    stored = other.append(array)
    other.flush()
    for _ in range(6):
        new = pages(config, random, 3)
        append = stream.append_async(new)
        reads = [other.read_async(stored) for _ in range(2)]
        reset = stream.reset_async()
        reads += [other.read_async(stored) for _ in range(2)]
        assert append.result().blocks == 3
        reset.result()
        for read in reads:
            assert np.array_equal(read.result(), array)


def test_a_reset_of_the_controller_among_reads_beside_appends(link, config, seed):
    """Whatever dies and commands were at: after it everything works from the beginning."""
    random = np.random.default_rng(seed)
    for cycles in (1500, 4000, 9000):
        with open_device(link=link, node=SINGLE_NODE) as device:
            stream = device.stream("activations")
            array = pages(config, random, 2 * config.geometry.superpage)
            stored = stream.append(array)
            stream.flush()
            for _ in range(3):
                stream.append_async(array)
                stream.read_async(stored)
            link.run(cycles)
    with open_device(link=link, node=SINGLE_NODE) as device:
        stream = device.stream("activations", Port.CORE)
        array = pages(config, random, config.geometry.superpage + 1)
        assert np.array_equal(stream.read(stream.append(array)), array)
