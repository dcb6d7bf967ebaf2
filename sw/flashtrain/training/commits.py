"""How the commits of a training run are made: with the state of the host, so that a cut run goes on."""

from typing import Protocol

from flashtrain.host import OptimizerState


class Commits(Protocol):
    """Ends a step of a run.

    A commit makes the updated state current; `host` is the state of the host that belongs to it.
    """

    def commit(self, state: OptimizerState, host: bytes) -> None: ...

    def host(self, state: OptimizerState) -> bytes:
        """The state of the host of the current generation."""
        ...


class PlainCommits:
    """The current generation alone is kept. Without a journal the state of the host is not."""

    def commit(self, state: OptimizerState, host: bytes) -> None:
        state.commit(host if state.takes_notes else b"")

    def host(self, state: OptimizerState) -> bytes:
        return state.note()


PLAIN = PlainCommits()
