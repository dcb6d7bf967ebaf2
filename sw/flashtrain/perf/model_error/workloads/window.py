"""A window of commands in flight: a queue depth."""

from collections.abc import Callable
from typing import Any

from flashtrain.host import Device, Pending


class Window:
    """At most `depth` operations in flight; the next one follows as soon as any of them is done.

    latencies: cycles of each operation that is done, from before its submission to the sight of its
    completion, in the order of completion.
    """

    def __init__(self, device: Device, depth: int) -> None:
        self._device = device
        self._depth = depth
        self._flight: list[tuple[int, Pending[Any]]] = []
        self.latencies: list[int] = []

    def submit(self, operation: Callable[[], Pending[Any]]) -> None:
        """Start `operation` as soon as the window has room for it."""
        while len(self._flight) >= self._depth:
            self._await_one()
        begin = self._device.cycles
        self._flight.append((begin, operation()))

    def drain(self) -> None:
        """Wait for all operations."""
        while self._flight:
            self._await_one()

    def _await_one(self) -> None:
        self._device.wait_any([pending for _begin, pending in self._flight])
        now = self._device.cycles
        for begin, pending in self._flight:
            if pending.answered:
                pending.result()
                self.latencies.append(now - begin)
        self._flight = [(begin, pending) for begin, pending in self._flight if not pending.answered]
