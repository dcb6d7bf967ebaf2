"""Compute steps that take time on a device which goes on beside them."""

from collections.abc import Sequence

from flashtrain.host import Device
from flashtrain.training.awaited import Progress
from flashtrain.training.sequence import Compute


class Computing:
    """The time of a compute step, from now on; see `flashtrain.training.player.play`."""

    def __init__(self, device: Device, step: Compute) -> None:
        self._device = device
        self.end = device.cycles + round(step.seconds * device.config.timing.clock_hz)

    @property
    def done(self) -> bool:
        return self._device.cycles >= self.end

    def wait_beside(self, others: Sequence[Progress]) -> None:
        """Wait until the step ends, or one of `others` is done."""
        self._device.wait_until(lambda: any(other.done for other in others), self.end)

    def result(self) -> None:
        """Wait until the step ends."""
        self._device.wait_until(lambda: False, self.end)
