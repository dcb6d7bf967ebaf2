"""Several threads on one device, on every Link: their calls take turns, and each gets what it appended."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from flashtrain.host import Device

ARRAYS = 12


@pytest.fixture
def eager_switches():
    """Threads are switched as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_two_threads(device: Device, eager_switches, seed):
    def use(name: str) -> bool:
        random, stream = np.random.default_rng([seed, len(name)]), device.stream(name)
        kept = []
        for number in range(ARRAYS):
            data = random.integers(0, 256, 3 * stream.block_bytes // 2, np.uint8)
            kept.append((data, stream.append_async(data)))
            device.counters()
            if number % 3 == 2:
                for array, pending in kept:
                    if not np.array_equal(stream.read(pending.result()), array):
                        return False
                stream.reset()
                kept.clear()
        return True

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(use, ("activations", "weights"), timeout=120)) == [True, True]


def test_two_threads_on_one_stream(device: Device, eager_switches):
    stream = device.stream("weights")

    def use(value: int) -> bool:
        arrays = [np.full(10, value + number, np.int64) for number in range(ARRAYS // 3)]
        pendings = [stream.append_async(array) for array in arrays]
        return all(
            np.array_equal(stream.read(pending.result()), array)
            for pending, array in zip(pendings, arrays, strict=True)
        )

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(use, (100, 200), timeout=120)) == [True, True]


def test_a_second_thread_may_use_the_link(device: Device, eager_switches):
    stream, data = device.stream("weights"), np.arange(700)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(4):
            seen = pool.submit(lambda: [device.link.cycles for _ in range(30)])
            assert np.array_equal(stream.read(stream.append(data)), data)
            cycles = seen.result(timeout=120)
            assert cycles == sorted(cycles)
