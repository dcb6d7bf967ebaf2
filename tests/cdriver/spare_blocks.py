"""Devices with spare blocks: their columns, and bad blocks in them."""

import numpy as np

from flashtrain.spec import preset

from .both_drivers import BLOCK
from .driver import CDriver

CONFIG = preset("tiny_ecc")
G = CONFIG.geometry
COLUMNS = [(c, d, p) for d in range(G.dies) for p in range(G.planes) for c in range(G.channels)]
"""Channel, die, plane, in the order of blocks."""


def blocks(count, first=0):
    return (np.arange(count * BLOCK) // 7 + first).astype(np.uint8)


def begin(link):
    driver = CDriver(link)
    driver.do("ft_format", True)
    return driver


def break_columns(link, block, count):
    for place in COLUMNS[:count]:
        link.break_block(*place, block)


def physical_zone(link, nsid=3):
    """The number of the block with the first page of the stream."""
    (block,) = [
        block
        for block, zone in enumerate(link._flash.zones)
        if any(page and page.owner and page.owner.nsid == nsid for page in list(zone)[: G.superpage])
    ]
    return block
