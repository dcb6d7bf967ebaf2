"""The claims of clients to zones, and whether those clients are alive."""

import secrets
import time

from flashtrain.host.process import Inherited

from .state import State, ZoneKey, ZoneNote


class Leases(Inherited):
    """Claims of this client, and of others.

    A claim of another one ends when this client has seen no sign of life of its owner for the time of a
    lease.

    Hosts may differ in their time of day, as each measures a time that has passed.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._seen: dict[ZoneKey, tuple[ZoneNote, float]] = {}
        self.forked()

    def forked(self) -> None:
        """Have a name of its own."""
        self.owner = secrets.token_hex(8)

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
