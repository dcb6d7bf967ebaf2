"""A device whose configuration has a code: its flash holds code words, and they come back as written."""

from collections.abc import Iterator

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.numerics.page_codec import PageCodec
from flashtrain.numerics.page_randomizer import without_key
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec.identity import is_identity
from flashtrain.spec.streams import UPDATE_NODE

CONFIG = TINY_FULL
GEOMETRY = CONFIG.geometry
CORRECTIONS = ("BITS_CORRECTED", "WORDS_UNCORRECTABLE", *(f"PAGES_CORRECTED_{1 << bit}" for bit in range(5)))


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG) as opened:
        yield opened


def test_what_is_appended_is_read_back(link, device, seed):
    random = np.random.default_rng(seed)
    stream = device.stream("trained")
    arrays = [random.integers(0, 256, int(random.integers(1, 3000)), np.uint8) for _ in range(12)]
    stored = [stream.append(array) for array in arrays]
    stream.flush()
    for one, array in zip(stored, arrays, strict=True):
        assert np.array_equal(stream.read(one), array)

    assert CONFIG.code is not None
    codec = PageCodec(CONFIG.code)
    pages = link.raw_pages()
    assert len(pages) >= sum(-(-array.nbytes // GEOMETRY.page_bytes) for array in arrays)
    for place, page in pages.items():
        assert is_identity(without_key(GEOMETRY, page, place.page, place.plane)[GEOMETRY.page_bytes :])
        read = np.frombuffer(page[: CONFIG.bus_page_bytes], np.uint8).copy()
        assert all(verdict.clean for verdict in codec.decode(read))
    for counters in device.channel_counters():
        assert counters["PAGES_SENSED"] > 0
        assert not any(counters[name] for name in CORRECTIONS)


def test_it_comes_back_after_a_loss_of_power(link, seed):
    data = np.random.default_rng(seed).integers(0, 256, 3000, np.uint8)
    with open_device(link=link, node=UPDATE_NODE) as device:
        stored = device.stream("trained").append(data)
        device.stream("trained").append_async(data)
        link.run(CONFIG.timing.cycles("tprog") // 2)
        link.power_cycle()
        device.recover()
        assert np.array_equal(device.stream("trained").read(stored), data)
