"""The Links that can be asked for by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import FunctionalLink, Link, LinkFactory
from flashtrain.spec import FmsConfig


@runtime_checkable
class Tracing(Protocol):
    """A Link that can record events; records are `flashtrain.sim.rtl_link.TRACE_RECORD`."""

    def set_tracing(self, on: bool) -> None: ...

    def take_trace(self) -> NDArray[np.void]: ...


@dataclass(frozen=True)
class LinkKind:
    """A Link by name. `summary` is for the help; `timed` whether it has a clock."""

    name: str
    summary: str
    timed: bool
    factory: LinkFactory


def _functional(config: FmsConfig, memory_bytes: int) -> Link:
    return FunctionalLink(config, memory_bytes)


def _rtl(config: FmsConfig, memory_bytes: int) -> Link:
    # Late: the hardware's language takes a moment to import, and only this Link needs it.
    from flashtrain.sim.rtl_link import RtlLink

    return RtlLink(config, memory_bytes)


LINKS = {
    kind.name: kind
    for kind in (
        LinkKind("functional", "exact data and statuses, no time", timed=False, factory=_functional),
        LinkKind("rtl", "the controller and its dies in Verilator: exact data, exact clocks", True, _rtl),
    )
}


def announced(kind: LinkKind, announce: Callable[[str], None]) -> LinkFactory:
    """The factory of `kind`, which says what it is about to do: a first build takes minutes."""

    def make(config: FmsConfig, memory_bytes: int) -> Link:
        announce(f"opening {config.name} through the {kind.name} link (the first time it is built)")
        return kind.factory(config, memory_bytes)

    return make if kind.timed else kind.factory
