"""Whose command is next: round robin, or weighted by classes (NVM Express Base 2.0, section 3.4.4)."""

from collections import deque
from collections.abc import Mapping

from flashtrain.spec.pcie import Priority

from .queues import SubmissionQueue


class Turns:
    """I/O queues with commands. Queues of a class take turns, and without `weighted` there is one class.

    Urgent queues come first. Each other class has as many turns in a round as its weight says. A round ends
    when no class that has commands has a turn left.
    """

    def __init__(self) -> None:
        self.weighted = False
        self._queues: dict[Priority, deque[SubmissionQueue]] = {one: deque() for one in Priority}
        self._left = dict.fromkeys(Priority, 0)

    def __contains__(self, queue: SubmissionQueue) -> bool:
        return queue in self._queues[self._class_of(queue)]

    def __bool__(self) -> bool:
        return any(self._queues.values()) if self.weighted else bool(self._queues[Priority.URGENT])

    def _class_of(self, queue: SubmissionQueue) -> Priority:
        return queue.priority if self.weighted else Priority.URGENT

    def add(self, queue: SubmissionQueue) -> None:
        """A queue has its next turn behind the others of its class."""
        self._queues[self._class_of(queue)].append(queue)

    def take(self, weights: Mapping[Priority, int]) -> SubmissionQueue:
        """Take off the queue whose turn it is. `weights`: turns in a round, of all classes but the urgent."""
        if not self.weighted:
            return self._queues[Priority.URGENT].popleft()
        asking = [one for one in Priority if self._queues[one]]
        chosen = asking[0]
        if chosen != Priority.URGENT:
            if not any(self._left[one] for one in asking):
                self._left.update(weights)
            chosen = next(one for one in asking if self._left[one])
            self._left[chosen] -= 1
        return self._queues[chosen].popleft()

    def clear(self) -> None:
        for queues in self._queues.values():
            queues.clear()
        self._left = dict.fromkeys(Priority, 0)
