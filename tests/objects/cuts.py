"""Cuts between two commands: a client dies, or the device loses its power."""

from collections.abc import Callable

import pytest

from flashtrain.nvme.client.queue import ClientQueue


class Killed(BaseException):
    """The end of a client's process."""


def kill() -> None:
    raise Killed


class Cut:
    """Acts in front of the n-th command from now on, or behind it. A client that was killed sends no more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.happened = False
        self._left = -1
        self._act: Callable[[], None] = kill
        self._behind = False
        original = ClientQueue.submit

        def submit(queue: ClientQueue, entry, data=b""):
            self._left -= 1
            if self.happened and self._act is kill:
                raise Killed
            if self._left != 0:
                return original(queue, entry, data)
            self.happened = True
            if not self._behind:
                self._act()
                return original(queue, entry, data)
            number = original(queue, entry, data)
            self._act()
            return number

        monkeypatch.setattr(ClientQueue, "submit", submit)

    def arm(self, commands: int, act: Callable[[], None], behind: bool) -> None:
        self._left, self._act, self._behind, self.happened = commands, act, behind, False

    def disarm(self) -> bool:
        """Whether it has acted."""
        happened, self.happened, self._left = self.happened, False, -1
        return happened
