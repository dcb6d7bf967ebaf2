"""Factory marks: the C driver takes the same cells for a mark as the Python driver."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import FunctionalLink
from flashtrain.spec import preset
from flashtrain.spec.bad_blocks import LEAST_ZEROS, MOST_WRONG_OTHERS, marked_pages, ones_of_ours
from flashtrain.spec.identity import PageIdentity

from .both_drivers import format_twice

CONFIG = preset("tiny_ecc")
G, BYTES = CONFIG.geometry, PageIdentity.BYTES


@pytest.mark.parametrize("page", marked_pages(G.pages))
@pytest.mark.parametrize("whole", [True, False])
def test_marks_of_every_kind(page, whole):
    link = FunctionalLink(CONFIG, 1 << 18)
    link.mark_block(1, 0, 1, 5, page, whole)
    link.mark_block(0, 0, 1, G.blocks - 1, page, whole)
    driver, _ = format_twice(link)
    assert driver.bad_blocks() == [(1, 0, 1, 5, G.zones), (0, 0, 1, G.blocks - 1, None)]


def cells(random, ours):
    """The bytes of a record close to a mark: the numbers of wrong bits are just enough, or one too many."""
    bits = np.ones(8 * BYTES, np.uint8)
    kept = np.unpackbits(np.frombuffer(ours.to_bytes(BYTES, "little"), np.uint8), bitorder="little")
    bits[8:] = random.integers(2) if random.integers(2) else random.integers(0, 2, 8 * BYTES - 8) | kept[8:]
    known = 8 + np.flatnonzero(kept[8:])
    lost = min(len(known), int(random.integers(LEAST_ZEROS + 1)))
    bits[random.choice(known, lost, replace=False)] = 0
    others = 8 + random.choice(8 * BYTES - 8, int(random.integers(MOST_WRONG_OTHERS + 2)), replace=False)
    if random.integers(2):
        bits[others] ^= 1
    bits[:8] = 0
    bits[random.choice(8, int(random.integers(3)), replace=False)] = 1
    return np.packbits(bits, bitorder="little")


@pytest.mark.parametrize("randomizer", [True, False])
def test_cells_that_are_nearly_marks(randomizer, seed):
    config = replace(CONFIG, randomizer=randomizer)
    link, random = FunctionalLink(config, 1 << 18), np.random.default_rng(seed)
    inspect, records = type(link._flash).inspect, {}
    for block in range(G.blocks):
        for page in marked_pages(G.pages):
            for offset in range(page * G.superpage, (page + 1) * G.superpage):
                records[block, offset] = cells(random, ones_of_ours(G, G.place(offset), randomizer))

    class Flash(type(link._flash)):
        def inspect(self, zone, offset, raw=False):
            page = inspect(self, zone, offset, raw)
            if raw and (zone, offset) in records:
                page[-BYTES:] = records[zone, offset]
            return page

    link._flash.__class__ = Flash
    driver, _ = format_twice(link)
    assert 5 < len(driver.bad_blocks()) < G.blocks * G.superpage - 5
