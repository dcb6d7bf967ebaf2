"""The claims of clients to zones, and whether those clients are alive."""

import os
import secrets
import time

from .state import State, ZoneKey, ZoneNote


class Leases:
    """A claim ends when this client has seen no sign of life of its owner for the time of a lease.

    Hosts may differ in their time of day, as each measures a time that has passed.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._seen: dict[ZoneKey, tuple[ZoneNote, float]] = {}
        self._process, self._owner = 0, ""

    @property
    def owner(self) -> str:
        """The name of this client in the notes of zones; a forked process has another one."""
        if self._process != os.getpid():
            self._process, self._owner = os.getpid(), secrets.token_hex(8)
        return self._owner

    def observe(self, state: State) -> None:
        """Look at the claims of a state that has just been read."""
        now = time.monotonic()
        claimed = {key: note for key, note in state.zones.items() if note.owner}
        self._seen = {
            key: known if (known := self._seen.get(key)) and known[0] == note else (note, now)
            for key, note in claimed.items()
        }

    def free(self, state: State, key: ZoneKey) -> bool:
        """Whether a zone has no owner that lives."""
        note = state.note(key)
        if not note.owner:
            return True
        if note.owner == self.owner:
            return False
        known = self._seen.get(key)
        return known is not None and known[0] == note and time.monotonic() - known[1] >= self.seconds
