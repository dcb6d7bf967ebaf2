"""The stream of the activations: appends and reads of saved storages, and the simulated time in waits."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import (
    Device,
    DeviceClosed,
    Pending,
    StoredArray,
    StreamFull,
    WearBudgetExceeded,
)
from flashtrain.spec import FlashtrainError, Port

from .codec_choice import Encoding
from .errors import ActivationLost, ActivationRefused
from .report import ModuleTraffic


class FlashCopy:
    """A saved storage on the flash, from the begin of its append.

    Members
    -------
    label: the tensor and its module, for messages.
    traffic: counts the stored bytes.
    append: the append in flight; None before and after.
    stored: the handle; None before the append has ended.
    """

    def __init__(self, label: str, traffic: ModuleTraffic) -> None:
        self.label = label
        self.traffic = traffic
        self.append: Pending[StoredArray] | None = None
        self.stored: StoredArray | None = None


class ActivationStore:
    """The stream `name` of `device`, used by the core.

    Members
    -------
    write_cycles, read_cycles: simulated cycles that passed in calls of writes, and of reads.
    """

    def __init__(self, device: Device, name: str) -> None:
        self._device = device
        self.stream = device.stream(name, Port.CORE)
        self._released: deque[FlashCopy] = deque()
        self.write_cycles = 0
        self.read_cycles = 0
        self._now = 0

    @property
    def clock_hz(self) -> float:
        return self._device.config.timing.clock_hz

    @property
    def block_bytes(self) -> int:
        return self.stream.block_bytes

    def append(self, copy: FlashCopy, data: NDArray[np.uint8], encoding: Encoding) -> None:
        """Begin to append the bytes of a storage, which are copied."""
        array = data.view(encoding.elements)
        with self._refusal(copy):
            self.drop_released()
            try:
                copy.append = self.stream.append_async(array)
            except StreamFull:
                self._settle_released()
                self.drop_released()
                copy.append = self.stream.append_async(array)

    def is_written(self, copy: FlashCopy) -> bool:
        """Whether the append has ended; takes no simulated time."""
        if copy.stored is None and copy.append is not None and copy.append.done:
            self.wait_written(copy)
        return copy.stored is not None

    def wait_written(self, copy: FlashCopy) -> None:
        """Wait for the end of the append."""
        if copy.stored is None:
            with self._refusal(copy):
                self._finish(copy)

    def read(self, copy: FlashCopy, out: NDArray[np.uint8]) -> Pending[NDArray]:
        """Begin to read the bytes of a storage into `out`."""
        self.wait_written(copy)
        assert copy.stored is not None
        with self._loss(copy):
            return self.stream.read_async(copy.stored, out.view(copy.stored.dtype))

    def wait_read(self, copy: FlashCopy, read: Pending[NDArray]) -> None:
        """Wait for the end of a read."""
        with self._loss(copy):
            read.result()

    def release(self, copy: FlashCopy) -> None:
        """Note that nothing needs the copy any more.

        The end of a graph calls this, perhaps by the garbage collector in the middle of a call to the device.
        So the copy is only dropped with the next append or :meth:`drop_released`.
        """
        if copy.append is not None or copy.stored is not None:
            self._released.append(copy)

    def drop_released(self) -> None:
        """Drop released copies; the ones whose append has not ended stay for the next call."""
        for _ in range(len(self._released)):
            copy = self._released.popleft()
            # A copy whose append has failed, or whose stream was reset, is not there to be dropped.
            with suppress(FlashtrainError):
                if copy.append is not None and not copy.append.done:
                    self._released.append(copy)
                else:
                    self.stream.drop(self._finish(copy))

    def _settle_released(self) -> None:
        for copy in tuple(self._released):
            with suppress(FlashtrainError):
                self._finish(copy)

    def _finish(self, copy: FlashCopy) -> StoredArray:
        if copy.stored is None:
            assert copy.append is not None
            copy.stored = copy.append.result()
            copy.append = None
            copy.traffic.written_bytes += copy.stored.nbytes
            copy.traffic.stored_bytes += copy.stored.blocks * self.block_bytes
        return copy.stored

    def _cycles(self) -> int:
        """Simulated cycles; of a closed device the ones when it was asked last."""
        with suppress(DeviceClosed):
            self._now = self._device.cycles
        return self._now

    @contextmanager
    def _refusal(self, copy: FlashCopy) -> Iterator[None]:
        """Count cycles of writing, and name the tensor that the device does not take."""
        before = self._cycles()
        try:
            yield
        except WearBudgetExceeded:
            raise
        except FlashtrainError as error:
            raise ActivationRefused(
                f"{copy.label} could not be stored; expected {self.stream!r} of {self._device!r} to take it:"
                f" {error}"
            ) from error
        finally:
            self.write_cycles += self._cycles() - before

    @contextmanager
    def _loss(self, copy: FlashCopy) -> Iterator[None]:
        """Count cycles of reading, and name the tensor that the device does not have any more."""
        before = self._cycles()
        try:
            yield
        except FlashtrainError as error:
            raise ActivationLost(
                f"{copy.label} is not on the flash any more; expected {self.stream!r} of {self._device!r}"
                f" to keep it until the backward pass: {error}"
            ) from error
        finally:
            self.read_cycles += self._cycles() - before
