"""`ProcessOwned`: the base of devices, files and connections that belong to the process that opened them.

A forked process inherits such objects in memory only. The device, the file and the connection stay with the
process that opened them. A second user would acknowledge changes that the first one does not know.
"""

import os
from typing import Any, Never, Self
from weakref import WeakSet

from .errors import ForeignProcess

_inherited: "WeakSet[Inherited]" = WeakSet()


class Inherited:
    """Base of objects that take notice of a fork."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        self = super().__new__(cls)
        _inherited.add(self)
        return self

    def forked(self) -> None:
        """Become the object of a forked process. The fork calls this, before the code of that process."""


class ProcessOwned(Inherited):
    """Base of objects that only the process which opened them may use; they cannot be pickled.

    In a forked process :meth:`require_own` raises, and `close` does nothing.

    Members
    -------
    own: this process opened the object. A plain attribute, because each access to a device tests it.
    subject: the noun by which messages name the object.
    """

    own = True
    subject = "the device"

    def forked(self) -> None:
        self.own = False

    def require_own(self) -> None:
        """Raise :class:`ForeignProcess` in a forked process."""
        if not self.own:
            raise self.foreign()

    def foreign(self) -> ForeignProcess:
        """The error of a use by another process, or of a copy for one."""
        return ForeignProcess(
            f"{self.subject} belongs to the process that opened it; expected its use in that process alone:"
            " a process of its own opens its own, and DataLoader(num_workers=0) has none"
        )

    def __reduce_ex__(self, protocol: Any) -> Never:
        raise self.foreign()


def _after_fork() -> None:
    for one in list(_inherited):
        one.forked()


os.register_at_fork(after_in_child=_after_fork)
