"""Commits of a training run that are checkpoints, each of them."""

from flashtrain.host import OptimizerState

from .pin_note import PinNote
from .pinned import PinnedCheckpoints


class PinEveryCommit:
    """The `flashtrain.training.commits.Commits` that pin each generation, as `step 1` and so on."""

    def commit(self, state: OptimizerState, host: bytes) -> None:
        PinnedCheckpoints(state).commit(f"step {state.current.updates + 1}", host)

    def host(self, state: OptimizerState) -> bytes:
        note = state.note()
        found = PinNote.unpack(note)
        return note if found is None else found.host
