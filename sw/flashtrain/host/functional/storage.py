"""What is stored: sparse by page, so that a large device costs only what was written to it."""

import numpy as np
from numpy.typing import NDArray


class Storage:
    """The pages of one stream, zone by zone, in the order in which they were appended."""

    def __init__(self, page_bytes: int) -> None:
        self._page_bytes = page_bytes
        self._zones: dict[int, list[bytes]] = {}

    def append(self, zone: int, data: NDArray[np.uint8]) -> None:
        """Store whole pages behind those that `zone` has."""
        pages = self._zones.setdefault(zone, [])
        pages.extend(page.tobytes() for page in data.reshape(-1, self._page_bytes))

    def read(self, zone: int, offset: int, count: int) -> NDArray[np.uint8]:
        """`count` pages of `zone` from its page `offset` on, all of which were written."""
        return np.frombuffer(b"".join(self._zones[zone][offset : offset + count]), np.uint8)

    def drop(self, zone: int) -> None:
        """Forget the pages of `zone`."""
        self._zones.pop(zone, None)
