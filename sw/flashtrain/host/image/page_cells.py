"""Pages between data with an identity, as the functional model has them, and cells, as arrays hold them."""

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.numerics.page_parity import PageParity
from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity

_ERASED = 0xFF
_MOST_KEYS = 4096


class PageContent(NamedTuple):
    """The data of a page and its identity, which is zeros if the page has none."""

    data: bytes
    identity: bytes


class PageCells:
    """The way of pages into the cells of a configuration and back: randomizer and code."""

    def __init__(self, config: FmsConfig) -> None:
        self._config = config
        self._key = lru_cache(_MOST_KEYS)(self._make_key)

    def encode(
        self, data: NDArray[np.uint8], identities: NDArray[np.uint8] | None, page: int, plane: int
    ) -> NDArray[np.uint8]:
        """The cells of pages of one block, whose numbers begin with `page`: uint8[pages, raw_page_bytes].

        data: uint8[pages, page_bytes]. identities: uint8[pages, 16]; without them these cells are erased.
        """
        g = self._config.geometry
        cells = np.empty((len(data), g.raw_page_bytes), np.uint8)
        content, behind = cells[:, : g.identified_page_bytes], cells[:, g.identified_page_bytes :]
        content[:, : g.page_bytes] = data
        content[:, g.page_bytes :] = 0 if identities is None else identities
        behind[:] = _ERASED
        if self._config.randomizer:
            content ^= [self._key(page + number, plane) for number in range(len(data))]
        if identities is None:
            content[:, g.page_bytes :] = _ERASED
        if self._parity is not None:
            for number, one in enumerate(content):
                coded = self._parity.encode(one)
                cells[number, : len(coded)] = coded
        return cells

    def decode(self, cells: bytes, page: int, plane: int, correct: bool) -> PageContent:
        """The content of cells; correct: they may have wrong bits, which the code has to correct."""
        g = self._config.geometry
        used = np.frombuffer(cells, np.uint8)[: self._config.bus_page_bytes].copy()
        lost = False
        if correct and self._codec is not None:
            lost = any(verdict.corrected is None for verdict in self._codec.decode(used))
        content = (used[: g.identified_page_bytes] ^ self._key(page, plane)).tobytes()
        identity = bytes(PageIdentity.BYTES) if lost else content[g.page_bytes :]
        return PageContent(content[: g.page_bytes], identity)

    @cached_property
    def _codec(self) -> PageCodec | None:
        return None if self._config.code is None else PageCodec(self._config.code)

    @cached_property
    def _parity(self) -> PageParity | None:
        return None if self._config.code is None else PageParity(self._config.code)

    def _make_key(self, page: int, plane: int) -> NDArray[np.uint8]:
        g = self._config.geometry
        if not self._config.randomizer:
            return np.zeros(g.identified_page_bytes, np.uint8)
        return page_keys(g, page, plane)
