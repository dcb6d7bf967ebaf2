"""Asynchronous events of a controller: requests that wait, and events that wait for requests.

NVM Express Base 2.0, section 5.2.
"""

from collections import deque
from collections.abc import Callable
from enum import IntEnum

MOST_REQUESTS = 4
"""Requests that a controller holds; AERL is one less."""


class Event(IntEnum):
    """Type in bits 2:0, information in bits 15:8, log page in bits 23:16: the result of a completion."""

    WRONG_DOORBELL = 0x01_00_00
    WRONG_DOORBELL_VALUE = 0x01_01_00
    RELIABILITY = 0x02_00_01
    ZONES_CHANGED = 0xBF_EF_02


class Events:
    """Answers asynchronous event requests. After an event its kind is masked until its log page was read."""

    def __init__(self) -> None:
        self._requests: deque[Callable[[int], None]] = deque()
        self._waiting: list[Event] = []
        self._masked: set[Event] = set()

    @property
    def full(self) -> bool:
        return len(self._requests) >= MOST_REQUESTS

    def request(self, answer: Callable[[int], None]) -> None:
        """Hold a request; `answer` is called with the result."""
        self._requests.append(answer)
        self._send()

    def raise_event(self, event: Event) -> None:
        if event not in self._waiting and event not in self._masked:
            self._waiting.append(event)
            self._send()

    def clear(self, log_page: int) -> None:
        """The host has read a log page."""
        self._masked = {event for event in self._masked if event >> 16 != log_page}

    def drop(self) -> None:
        """Forget all requests: the controller is reset."""
        self._requests.clear()
        self._waiting.clear()
        self._masked.clear()

    def _send(self) -> None:
        while self._requests and self._waiting:
            event = self._waiting.pop(0)
            self._masked.add(event)
            self._requests.popleft()(event)
