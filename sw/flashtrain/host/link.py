"""`Link`: a device as the host accesses it: registers, shared memory, and a way to run it."""

import time
from abc import ABC, abstractmethod
from functools import cached_property
from secrets import token_hex
from types import TracebackType
from typing import Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import ConfigError, FmsConfig

from .errors import HostError
from .image import FlashImage
from .process import ProcessOwned

AFTER_POWER_CYCLE = 0xDB
"""Simulated devices fill the tensor buffer with this byte after a loss of power: its content is undefined."""


class Link(ProcessOwned, ABC):
    """A way to a device: the functional model, the simulated RTL, later hardware.

    It belongs to the process that opened it. In a forked process any access is :class:`ForeignProcess`, and
    :meth:`close` does nothing.

    The register map is `flashtrain.spec.registers`; doorbells are registers. An access that AXI answers with
    SLVERR raises :class:`RegisterError`:

    - an access to an address without a register
    - a write to a read-only register
    - a write to a setting while the controller is enabled, or to a doorbell while it is disabled
    - a write of a value that is out of the register's range
    """

    @property
    @abstractmethod
    def config(self) -> FmsConfig:
        """The configuration that the device is built from."""

    @property
    @abstractmethod
    def memory(self) -> NDArray[np.uint8]:
        """The tensor buffer, uint8[bytes], shared with the device; its first byte has device address 0.

        Queues, reports and data all lie in it. The host writes before it rings a doorbell; the device may
        read and write until it has posted the completion.
        """

    @abstractmethod
    def read_register(self, address: int) -> int:
        """The 32-bit register at byte `address`."""

    @abstractmethod
    def write_register(self, address: int, value: int) -> None:
        """Write 32 bits to the register at byte `address`."""

    @abstractmethod
    def wait(self, max_cycles: int | None = None) -> bool:
        """Run the device until it raises its interrupt or is idle.

        True: the interrupt is raised; the call returns at once if it was raised before. False: the device is
        idle. :class:`DeviceHang` if neither holds after `max_cycles` (None: the Link's own limit).
        """

    @abstractmethod
    def run(self, cycles: int) -> None:
        """Run the device for `cycles`, whatever it does; a Link without time does nothing."""

    @property
    @abstractmethod
    def cycles(self) -> int:
        """Cycles since the Link was opened; always 0 for a Link without time."""

    @property
    def seconds(self) -> int:
        """The time in seconds since an arbitrary start; by default the host's clock, which needs no power."""
        return int(time.time())

    @property
    def fine_seconds(self) -> float:
        """As :attr:`seconds`, with the fraction of a second if the Link has it."""
        return float(self.seconds)

    @property
    def timeless(self) -> bool:
        """Whether no work on the device takes any of :attr:`seconds`."""
        return False

    def power_cycle(self) -> None:
        """Cut the power at once, and restore it.

        The flash keeps its content; everything else is lost: the controller is disabled, its settings are
        reset, and the tensor buffer's content is undefined. :class:`HostError` for a Link without this
        function.
        """
        raise HostError(f"{type(self).__name__} cannot switch the power of its device")

    @property
    def image(self) -> FlashImage | None:
        """The file that keeps the flash, if there is one."""
        return None

    @property
    def serial(self) -> str:
        """The device's serial number: that of its image, or a random one as long as the Link is open.

        It has 16 hexadecimal digits, which no two devices have in common.
        """
        return self._own_serial if self.image is None else self.image.serial.hex()

    @cached_property
    def _own_serial(self) -> str:
        return token_hex(8)

    def use_image(self, image: FlashImage) -> None:
        """Keep the flash in this file, before anything else is done; :meth:`close` closes the file.

        The time continues from the file's clock. :class:`HostError` for a Link without this function.
        """
        raise HostError(f"{type(self).__name__} cannot keep its flash in an image")

    def adopt(self) -> None:
        """Use, in a forked process, the copy of a simulated device that the fork has made.

        The two devices have nothing in common. The process ends by `os._exit`, without a :meth:`close`:
        threads of the simulator were not forked. :class:`HostError` for a device with an image, which is not
        copied.
        """
        if self.image is not None:
            raise HostError("a forked process has no copy of the image of a device; expected one without")
        self.own = True

    @abstractmethod
    def close(self) -> None:
        """Release the device. Further accesses are an error; closing twice is not."""

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
    """A factory of Links: a Link's class, or a function with these arguments."""

    def __call__(self, config: FmsConfig, memory_bytes: int) -> Link:
        """A new device with a tensor buffer of `memory_bytes`."""
        ...


LINKS: dict[str, LinkFactory] = {}
"""Links by name. The module of a Link registers it: `flashtrain.host` has `functional`, and the import of
`flashtrain.sim.link.rtl_link` adds `rtl`."""


def link_of(link: object) -> Link | LinkFactory:
    """The Link or factory that `link` is or names; :class:`ConfigError` for anything else."""
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
