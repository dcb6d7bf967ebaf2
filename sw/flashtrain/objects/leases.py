"""The claims of clients to zones, and whether those clients are alive."""

import secrets
import time

from flashtrain.host.process import Inherited

from .session import Session
from .state import UNKNOWN_CONTROLLER, State, ZoneKey, ZoneNote

_GRACE = 1 / 60
"""Of a lease: a client whose connection broke renews its claims within so much."""


class Leases(Inherited):
    """Claims of this client, and of others.

    A claim of another client ends when this one has seen no sign of life of its owner:

    - for the time of a lease, or
    - for a sixtieth of it, while the target does not list the controller of the owner's connection. A target
      ends the connection of a process that is gone or silent, so no command of it comes later.

    Hosts may differ in their time of day, as each measures a time that has passed.
    """

    def __init__(self, session: Session, seconds: float) -> None:
        self._session = session
        self.seconds = seconds
        self._seen: dict[ZoneKey, tuple[ZoneNote, float]] = {}
        self._missed: dict[ZoneKey, tuple[ZoneNote, float]] = {}
        self._listed: set[int] | None = None
        self._listed_at = 0.0
        self.forked()

    def forked(self) -> None:
        """Have a name of its own."""
        self.owner = secrets.token_hex(8)

    @property
    def grace(self) -> float:
        """Seconds for which a claim stays while its owner's controller is not listed."""
        return self.seconds * _GRACE

    @property
    def controller(self) -> int:
        """The number of the controller of this client's connection."""
        return self._session.controller

    def claimed(self, note: ZoneNote) -> ZoneNote:
        """The note of a zone with a claim of this client, or with a sign of life of it."""
        return note.claimed(self.owner, self.controller)

    def observe(self, state: State) -> None:
        """Look at the claims of a state that has just been read."""
        claimed = {key: note for key, note in state.zones.items() if note.owner}
        self._seen = _since(self._seen, claimed)
        others = {key: note for key, note in claimed.items() if note.owner != self.owner}
        self._missed = _since(self._missed, {key: n for key, n in others.items() if self._is_missed(n)})

    def free(self, state: State, key: ZoneKey) -> bool:
        """Whether a zone has no owner that lives."""
        note = state.note(key)
        if not note.owner:
            return True
        if note.owner == self.owner:
            return False
        return _lasts(self._seen, key, note, self.seconds) or _lasts(self._missed, key, note, self.grace)

    def missed(self, state: State, nsid: int) -> bool:
        """Whether claims to zones of a stream end soon, because their owners are gone."""
        return any(key.nsid == nsid and not self.free(state, key) for key in self._missed)

    def _is_missed(self, note: ZoneNote) -> bool:
        """Whether it is known that the target has ended the connection of the owner."""
        if note.controller == UNKNOWN_CONTROLLER:
            return False
        now = time.monotonic()
        if now - self._listed_at > self.grace / 4:
            self._listed, self._listed_at = self._session.controllers(), now
        listed = self._listed
        # The number of this client's own controller was that of another one before.
        return listed is not None and (note.controller not in listed or note.controller == self.controller)


_Times = dict[ZoneKey, tuple[ZoneNote, float]]


def _since(before: _Times, notes: dict[ZoneKey, ZoneNote]) -> _Times:
    """Since when there are these notes."""
    now = time.monotonic()
    return {
        key: known if (known := before.get(key)) and known[0] == note else (note, now)
        for key, note in notes.items()
    }


def _lasts(times: _Times, key: ZoneKey, note: ZoneNote, seconds: float) -> bool:
    known = times.get(key)
    return known is not None and known[0] == note and time.monotonic() - known[1] >= seconds
