"""Bytes between commands and the tensor buffer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import FmsConfig, Status

from .state import Page

Memory = NDArray[np.uint8]


@dataclass(frozen=True)
class Written:
    """Bytes that a command puts into the tensor buffer; None: it may put anything there."""

    address: int
    length: int
    content: bytes | None


@dataclass(frozen=True)
class Effect:
    """The visible effect of a command that passed all checks.

    - `status`, `rule`: the rule of the media that its data break.
    - `or_status`: another status that is right, too.
    """

    result: int = 0
    writes: tuple[Written, ...] = ()
    status: Status = Status.SUCCESS
    rule: str = "all checks pass"
    or_status: Status | None = None


def block_of(memory: Memory, address: int, number: int, config: FmsConfig) -> bytes:
    """Block `number` of the data at `address`."""
    page = config.geometry.page_bytes
    return memory[address + number * page : address + (number + 1) * page].tobytes()


def written(address: int, pages: list[Page], config: FmsConfig) -> tuple[Written, ...]:
    """These pages, one after the other."""
    size = config.geometry.page_bytes
    if None not in pages:
        content = b"".join(page for page in pages if page is not None)
        return (Written(address, len(content), content),)
    return tuple(Written(address + i * size, size, page) for i, page in enumerate(pages))
