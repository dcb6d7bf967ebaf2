"""A device with a randomizer: whatever is written, cells hold what looks random, and it comes back."""

from collections.abc import Iterator

import numpy as np
import pytest

from flashtrain.host import TensorGroup, open_device
from flashtrain.numerics import copy_of
from flashtrain.numerics.page_randomizer import without_key
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.spec.update import Tile
from flashtrain.training.optimizers import AdamW

CONFIG = TINY_FULL
G = CONFIG.geometry
PAGE = G.page_bytes


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG) as opened:
        yield opened


Place = tuple[int, int, int, int, int]


def stored(link: RtlLink) -> dict[Place, bytes]:
    """What the cells hold of each page that was programmed, by channel, die, plane, block and row."""
    return {place[:5]: page for place, page in link.raw_pages().items()}


def data_of(pages: dict[Place, bytes]) -> dict[Place, bytes]:
    """Their data, as an independent twin of the keys finds them."""
    return {place: without_key(G, page, place[4], place[2])[:PAGE] for place, page in pages.items()}


def bits_of(page: bytes) -> np.ndarray:
    """Those of data and identity."""
    return np.unpackbits(np.frombuffer(page[: G.identified_page_bytes], np.uint8))


def look_random(pages: dict[Place, bytes]) -> None:
    """Half of the bits are ones in each page, and half of them are other ones than in its neighbours."""
    count = 8 * G.identified_page_bytes
    most = 0.5 + 5 * 0.5 / np.sqrt(count)  # five standard deviations
    neighbours = 0
    for (channel, die, plane, block, row), page in pages.items():
        bits = bits_of(page)
        assert 1 - most < bits.mean() < most
        for other in ((channel, die, plane, block, row + 1), (channel, die, plane + 1, block, row)):
            if other in pages:
                assert 1 - most < (bits ^ bits_of(pages[other])).mean() < most
                neighbours += 1
    assert neighbours


@pytest.mark.parametrize("byte", [0x00, 0xFF, 0x3C])
def test_the_same_everywhere(link, device, byte):
    stream = device.stream("trained")
    tensor = np.full(G.zone_capacity * PAGE * 3 // 2, byte, np.uint8)
    kept = stream.append(tensor)
    stream.flush()
    assert np.array_equal(stream.read(kept), tensor)
    pages = stored(link)
    assert len(pages) == G.zone_capacity * 3 // 2
    look_random(pages)
    assert set(data_of(pages).values()) == {bytes([byte]) * PAGE}


def test_pages_of_one_row_and_plane_have_one_key(link, device):
    """In blocks, on dies, and on channels; so a page may be copied to another block."""
    stream = device.stream("trained")
    stream.append(np.zeros(G.zone_capacity * PAGE * 2, np.uint8))
    stream.flush()
    by_key: dict[tuple[int, int], set[bytes]] = {}
    for place, page in stored(link).items():
        by_key.setdefault((place[2], place[4]), set()).add(page[:PAGE])
    assert len(by_key) == G.planes * G.pages
    assert all(len(pages) == 1 for pages in by_key.values())
    assert len(set.union(*by_key.values())) == len(by_key)


def test_of_the_write_buffer_nothing_is_randomized(link, device):
    stream = device.stream("activations")
    kept = stream.append(np.zeros(PAGE, np.uint8))
    assert not stream.read(kept).any()
    assert not stored(link)


def test_state_on_the_dies(link):
    """Equal weights, zeros for moments and gradients: cells look random before and after steps of AdamW, and
    hold what NumPy says."""
    optimizer, shape = AdamW(0.001, weight_decay=0.01), (1500,)
    w, g = np.full(shape, 0.125, np.float32), np.zeros(shape, np.float32)
    kept = optimizer.initial_state(w)
    group = TensorGroup(optimizer.code, (shape,), GradientFormat.FP32, CopyFormat.BF16)
    with open_device(link=link, node=UPDATE_NODE) as device:
        state = device.optimizer_state([group])
        state.initialise([[w]])
        for t in (1, 2, 3):
            (copies,) = state.update([[g]], [optimizer.constants(t)])
            w, kept = optimizer.step(w, g, kept, t)
            state.commit()
            expected = copy_of(w, CopyFormat.BF16)
            assert copies is not None and expected is not None
            assert copies[0].tobytes() == expected.tobytes()
            assert np.array_equal(state.read(Input.W)[0][0], w)
            assert not state.read(Input.M)[0][0].any()
        pages = stored(link)
    look_random(pages)
    n = Tile.of(G, optimizer.code, GradientFormat.FP32, CopyFormat.BF16).parameters
    first_page = np.concatenate([w[:n], np.zeros(2 * n, np.float32)])[: PAGE // 4]
    assert list(data_of(pages).values()).count(first_page.tobytes()) >= len(w) // n


def test_after_a_loss_of_power(link):
    """An erased page is none, and what was programmed says whose it is."""
    with open_device(link=link, node=UPDATE_NODE) as device:
        kept = device.stream("trained").append(np.zeros(5 * PAGE, np.uint8))
        device.stream("trained").append_async(np.zeros(3 * PAGE, np.uint8))
        link.run(CONFIG.timing.cycles("tprog") // 2)
        link.power_cycle()
        device.recover()
        assert not device.stream("trained").read(kept).any()
