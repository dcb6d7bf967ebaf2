"""A Link whose power may fail at a chosen cycle."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Link
from flashtrain.host.errors import DeviceHang
from flashtrain.host.image import FlashImage
from flashtrain.spec import FmsConfig


class PowerFailed(Exception):
    """The device does not answer any more."""


@runtime_checkable
class _Counting(Protocol):
    def take_cuts(self) -> NDArray[np.void]: ...


class FailingLink(Link):
    """`inner`, which calls `on_time` at cycle `time`, in the middle of any operation.

    time: a cycle, or None: never. on_time: chooses the next `time`, and raises :class:`PowerFailed` or lets
    things go on.
    """

    def __init__(self, inner: Link) -> None:
        self._inner = inner
        self.time: int | None = None
        self.on_time: Callable[[], None] = self.fail

    def fail(self) -> None:
        self.time = None
        raise PowerFailed

    @property
    def config(self) -> FmsConfig:
        return self._inner.config

    @property
    def memory(self) -> NDArray[np.uint8]:
        return self._inner.memory

    @property
    def cycles(self) -> int:
        return self._inner.cycles

    @property
    def seconds(self) -> int:
        return self._inner.seconds

    @property
    def fine_seconds(self) -> float:
        return self._inner.fine_seconds

    @property
    def timeless(self) -> bool:
        return self._inner.timeless

    def adopt(self) -> None:
        super().adopt()
        self._inner.adopt()

    def read_register(self, address: int) -> int:
        value = self._inner.read_register(address)
        self._look()
        return value

    def write_register(self, address: int, value: int) -> None:
        self._inner.write_register(address, value)
        self._look()

    def run(self, cycles: int) -> None:
        end = self.cycles + cycles
        while self.cycles < end:
            stop = end if self.time is None else min(end, self.time)
            self._inner.run(stop - self.cycles)
            self._look()

    def wait(self, max_cycles: int | None = None) -> bool:
        while self.time is not None:
            left = self.time - self.cycles
            if max_cycles is not None and max_cycles <= left:
                break
            before = self.cycles
            try:
                interrupted = self._inner.wait(max(1, left))
            except DeviceHang:
                if self.cycles < self.time:
                    raise
                max_cycles = None if max_cycles is None else max(1, max_cycles - (self.cycles - before))
                self._look()
            else:
                self._look()
                return interrupted
        return self._inner.wait(max_cycles)

    def power_cycle(self) -> None:
        self._inner.power_cycle()

    def take_cuts(self) -> NDArray[np.void]:
        """Programs and erases that were cut short since the last call; dtype
        :data:`flashtrain.sim.nand.errors.CUT_RECORD`."""
        assert isinstance(self._inner, _Counting), "only simulated arrays say what they were at"
        return self._inner.take_cuts()

    @property
    def image(self) -> FlashImage | None:
        return self._inner.image

    def use_image(self, image: FlashImage) -> None:
        self._inner.use_image(image)

    def close(self) -> None:
        self._inner.close()

    def _look(self) -> None:
        while self.time is not None and self.cycles >= self.time:
            self.on_time()
