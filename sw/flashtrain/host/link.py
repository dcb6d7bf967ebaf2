"""`Link`: what a device looks like from the host: registers, shared memory, and a way to let it work."""

import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import ConfigError, FmsConfig

from .errors import HostError

AFTER_POWER_CYCLE = 0xDB
"""What simulated devices fill the tensor buffer with when the power has failed, lest anybody relies on it."""


class Link(ABC):
    """A way to a device: the functional model, the simulated RTL, later hardware.

    The register map is `flashtrain.spec.registers`; doorbells are registers. What AXI answers with SLVERR is
    a :class:`RegisterError` here: an address without a register, and a write without effect (of a read-only
    register, of a setting while the controller is enabled, of a doorbell while it is not, of a value that the
    register has no room for).
    """

    @property
    @abstractmethod
    def config(self) -> FmsConfig:
        """What the device is built from."""

    @property
    @abstractmethod
    def memory(self) -> NDArray[np.uint8]:
        """The tensor buffer, uint8[bytes], shared with the device, whose address 0 is its first byte.

        Queues, reports and data all lie in it. The host writes before it rings a doorbell; the device reads
        and writes at any time until it has answered.
        """

    @abstractmethod
    def read_register(self, address: int) -> int:
        """The 32-bit register at byte `address`."""

    @abstractmethod
    def write_register(self, address: int, value: int) -> None:
        """Write 32 bits to the register at byte `address`."""

    @abstractmethod
    def wait(self, max_cycles: int | None = None) -> bool:
        """Let the device work until it raises its interrupt, or until nothing more can happen.

        True: the interrupt is raised (at once, when it was raised already). False: the device has nothing
        left to do. :class:`DeviceHang` when after `max_cycles` (None: the Link's own limit) neither is so.
        """

    @abstractmethod
    def run(self, cycles: int) -> None:
        """Let the device work for `cycles`, whatever happens; nothing to do for a Link without time."""

    @property
    @abstractmethod
    def cycles(self) -> int:
        """Clocks since the Link was opened; always 0 for a Link without time."""

    @property
    def seconds(self) -> int:
        """What time it is, in seconds since whenever, whether or not there is power: the host's clock."""
        return int(time.time())

    def power_cycle(self) -> None:
        """The power fails at once and comes back.

        What the flash holds stays, all else is lost: the controller is disabled, its settings are gone, and
        the tensor buffer's content is undefined. :class:`HostError` for a Link that cannot do that.
        """
        raise HostError(f"{type(self).__name__} cannot switch the power of its device")

    @abstractmethod
    def close(self) -> None:
        """Let go of the device. Further accesses are an error; closing twice is not."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class LinkFactory(Protocol):
    """A maker of Links: a Link's class, or a function with these arguments."""

    def __call__(self, config: FmsConfig, memory_bytes: int) -> Link:
        """A new device with a tensor buffer of `memory_bytes`."""
        ...


LINKS: dict[str, LinkFactory] = {}
"""Links by name. The module of a Link registers it: `functional` is there with `flashtrain.host`, and `rtl`
when `flashtrain.sim.link.rtl_link` was imported."""


def link_of(link: object) -> Link | LinkFactory:
    """A Link, or the maker of one, from itself or from its name; :class:`ConfigError` for anything else."""
    if isinstance(link, str):
        if link in LINKS:
            return LINKS[link]
        hint = "; import flashtrain.sim.link.rtl_link to have it" if link == "rtl" else ""
        raise ConfigError(f"no Link is called {link!r}; there are {', '.join(sorted(LINKS))}{hint}")
    if isinstance(link, Link):
        return link
    if callable(link):
        return cast(LinkFactory, link)
    raise ConfigError(f"link is {link!r}; expected an open Link, a Link's class or its name")
