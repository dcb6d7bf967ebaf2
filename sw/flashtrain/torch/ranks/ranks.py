"""`Ranks`: the processes of a training that take their steps together, each on a device of its own.

A step has two agreements. After the dies have computed it, one all-reduce gives every rank the statistics of
all gradients, and the errors: so all commit, or none. After its commit each rank says whether it succeeded,
in a second all-reduce, which is the barrier at the end of the step.

A commit keeps the generation before, pinned, until the next commit. So a rank that ends between the
agreements leaves ranks that are a step apart, and each has the generation that all have (`Ranks.common`).
"""

from collections.abc import Callable, Sequence
from secrets import randbits
from types import TracebackType
from typing import NamedTuple

import numpy as np
import torch.distributed as dist
from torch import Tensor

from flashtrain.checkpoint.pins.pin_note import PinNote
from flashtrain.host import Generation, OptimizerState, StateMissing
from flashtrain.numerics import Totals
from flashtrain.training.commits import PLAIN, Commits
from flashtrain.training.errors import ParameterError

from .errors import RankError
from .rank_group import RankGroup
from .shards import is_distributed, is_first_replica


class RankPlace(NamedTuple):
    """The place of a generation among those of all ranks, in its note.

    run: a number that all ranks of a training share; serial: the number of the generation in it, equal on all
    ranks; rank, ranks: the rank to which the device belongs, and the number of ranks.
    """

    run: int
    serial: int
    rank: int
    ranks: int


class OwnStep:
    """The agreements of a step of one process, which has nobody to agree with."""

    def __enter__(self) -> "OwnStep":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def ready(self, updates: int, error: Exception | None) -> bool:
        """Whether all ranks go on with the step, so that they may have collectives of their own; False if one
        has found an overflow. `error`: why this rank cannot; :class:`RankError` on all then."""
        if error is not None:
            raise error
        return True

    def joined(self, totals: Totals, updates: int) -> Totals:
        """The statistics of the gradients of all ranks. updates: steps that were committed before."""
        return totals

    def committed(self) -> None:
        """Return when every rank has committed; :class:`RankError` if one has not."""


class OneProcess(RankGroup):
    """A training of one process; the base of :class:`Ranks`.

    Members
    -------
    commits: how steps end.
    """

    def __init__(self, commits: Commits, group: "dist.ProcessGroup | None" = None) -> None:
        super().__init__(group)
        self.commits = commits

    def place(self, ahead: int) -> RankPlace | None:
        """The place of a generation, `ahead` of the newest one."""
        return None

    def advance(self, ahead: int) -> None:
        """Note that the generation `ahead` is the newest one."""

    def step(self) -> OwnStep:
        return OwnStep()

    def counts(self, parameter: Tensor) -> bool:
        """Whether the gradients of the parameter count on this rank, in the statistics of all."""
        return True

    def prepare(self, state: OptimizerState) -> None:
        """Make room for the next generation, and keep the current one beside it."""

    def undo(self, state: OptimizerState) -> bool:
        """Drop the generation of the last commit, which other ranks do not have; whether there are others."""
        return False

    def pins(self, state: OptimizerState) -> list[Generation]:
        """The generations that the user has pinned."""
        return list(state.pinned)

    def begin(self, state: OptimizerState) -> None:
        """Make room for a first generation, in the place of those that an earlier state has kept."""

    def common(self, offered: Sequence[RankPlace | None], streams: Sequence[str]) -> int:
        """The number of the generation to go on with, of those that the device holds in `streams`, newest
        first; :class:`StateMissing` if there is none."""
        if not offered:
            raise StateMissing(f"streams {', '.join(streams)} hold no committed state")
        if offered[0] is not None:
            place = offered[0]
            raise StateMissing(
                f"the dies hold the state of rank {place.rank} of {place.ranks}; expected as many"
                " processes of torch.distributed"
            )
        return 0


class Ranks(OneProcess):
    """Several ranks, whose devices commit the same steps.

    own_parameters: plain tensors of a rank are parameters of its own, not replicas.
    """

    def __init__(self, commits: Commits, group: "dist.ProcessGroup | None", own_parameters: bool) -> None:
        if commits is not PLAIN:
            raise ParameterError(
                f"commits is a {type(commits).__name__}; expected none with several ranks, which keep"
                " the step before by pins of their own"
            )
        super().__init__(KeptCommits(), group)
        self._own_parameters = own_parameters
        self._serial = 0
        self._run = self.agreed(lambda: randbits(48))[0]

    def place(self, ahead: int) -> RankPlace:
        return RankPlace(self._run, self._serial + ahead, self.rank, self.count)

    def advance(self, ahead: int) -> None:
        self._serial += ahead

    def step(self) -> "RankStep":
        return RankStep(self)

    def counts(self, parameter: Tensor) -> bool:
        own = self._own_parameters and not is_distributed(parameter)
        return own or is_first_replica(parameter, self.rank)

    def prepare(self, state: OptimizerState) -> None:
        if state.current not in state.pinned:
            state.pin()
        if len({state.current, *state.pinned}) == state.places:
            self._release(state)

    def undo(self, state: OptimizerState) -> bool:
        assert isinstance(self.commits, KeptCommits) and self.commits.before is not None
        state.fall_back(self.commits.before)
        return True

    def pins(self, state: OptimizerState) -> list[Generation]:
        return [one for one in state.pinned if not _is_unnamed(state.note(one))]

    def begin(self, state: OptimizerState) -> None:
        state.drop_pinned(_is_unnamed)

    def common(self, offered: Sequence[RankPlace | None], streams: Sequence[str]) -> int:
        def own() -> list[RankPlace]:
            for place in offered:
                if place is None or (place.rank, place.ranks) != (self.rank, self.count):
                    held = "one process" if place is None else f"rank {place.rank} of {place.ranks}"
                    raise StateMissing(
                        f"the dies hold the state of {held}; expected rank {self.rank} of {self.count}"
                    )
            places = [place for place in offered if place is not None]
            # An older one is a pin of the user.
            return [place for place in places[:2] if place.serial >= places[0].serial - 1]

        found = self.agreed(own)
        serials = set[tuple[int, int]].intersection(*(set(place[:2] for place in places) for places in found))
        if not serials:
            held = "; ".join(f"rank {rank}: {_listed(places)}" for rank, places in enumerate(found))
            raise StateMissing(f"the ranks hold no common generation ({held}); expected one of the same run")
        self._run, self._serial = max(serials)
        return next(
            number for number, place in enumerate(offered) if place and place[:2] == (self._run, self._serial)
        )

    # The agreements of a step.

    def join(self, totals: Totals, updates: int, error: Exception | None = None) -> Totals:
        """The statistics of all ranks; a row of the table comes from each."""
        t = totals
        row = (
            t.squares,
            t.largest,
            t.nans,
            t.infinities,
            t.overflow,
            updates,
            self._serial,
            error is not None,
        )
        squares, largest, nans, infinities, overflows, steps, serials, errors = self.reduced(row).T
        if errors.any():
            self.explain(error)
        if len(set(steps)) > 1:
            held = ", ".join(f"rank {rank} {int(own)}" for rank, own in enumerate(steps))
            raise RankError(f"the ranks have taken different numbers of steps: {held}; expected the same")
        self._serial = int(serials.max())
        total = float(squares.sum())
        overflow = bool(overflows.any()) or not np.isfinite(total)
        return Totals(total, float(largest.max()), int(nans.sum()), int(infinities.sum()), overflow)

    def confirm(self, error: Exception | None) -> None:
        """Return when all ranks have come here without an error."""
        if self.reduced([error is not None]).any():
            self.explain(error)

    def _release(self, state: OptimizerState) -> None:
        for one in _unnamed(state):
            if one != state.current:
                state.release(one)


class RankStep(OwnStep):
    """The agreements of a step of several ranks.

    An exception within its `with` statement becomes a :class:`RankError` of all ranks, which take part in the
    agreement that it leaves open.
    """

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._left: list[Callable[[Exception], object]] = [
            lambda error: ranks.join(Totals(), 0, error),
            ranks.confirm,
        ]
        self._overflow: Totals | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and self._left:
            self._left.pop(0)(error)

    def ready(self, updates: int, error: Exception | None) -> bool:
        if self._overflow is not None:
            return False
        # Another rank may be at the end of its step already: this is the agreement that comes next there.
        left, self._left = self._left, []
        if len(left) > 1:
            joint = self._ranks.join(Totals(), updates, error)
            if joint.overflow:
                self._overflow = joint
                return False
        else:
            self._ranks.confirm(error)
        self._left = left
        return True

    def joined(self, totals: Totals, updates: int) -> Totals:
        if self._overflow is not None:
            return self._overflow
        later, self._left = self._left[1:], []
        joint = self._ranks.join(totals, updates)
        if not joint.overflow:
            self._left = later
        return joint

    def committed(self) -> None:
        self._left = []
        self._ranks.confirm(None)


class KeptCommits:
    """The `flashtrain.training.commits.Commits` of ranks: they keep the generation before, pinned.

    Members
    -------
    before: the generation before the last commit.
    """

    def __init__(self) -> None:
        self.before: Generation | None = None

    def commit(self, state: OptimizerState, host: bytes) -> None:
        self.before = state.current
        older = [one for one in _unnamed(state) if one != state.current]
        state.commit(host, pin=True, release=older[0] if older else None)

    def host(self, state: OptimizerState) -> bytes:
        return state.note()


def ranks_of(group: "dist.ProcessGroup | None", commits: Commits, own_parameters: bool = False) -> OneProcess:
    """The ranks of a group, by default all of `torch.distributed`; one process without it."""
    alone = RankGroup(group).count == 1
    return OneProcess(commits, group) if alone else Ranks(commits, group, own_parameters)


def _unnamed(state: OptimizerState) -> list[Generation]:
    """The pinned generations that are no checkpoints of the user's."""
    return [one for one in state.pinned if _is_unnamed(state.note(one))]


def _is_unnamed(note: bytes) -> bool:
    return PinNote.unpack(note) is None


def _listed(places: Sequence[RankPlace]) -> str:
    return ", ".join(f"generation {one.serial} of run {one.run:012x}" for one in places) or "none"
