"""Our schedule: the fewest seconds that a local search in the event model finds.

1. First choices: none, `greedy_choice`, all tensors, the first ones in order, and FlashNeuron's.
2. From the best of them: add or drop a tensor, or exchange two, while an iteration gets faster.
3. Then drop what is not needed for that time, the most stored bytes first.

Each choice is played by the event model: memory over time is the constraint, and reads and writes take their
time. There is no barrier. Reads are issued just in time, with more or less slack, or when the write has
ended, whatever is faster. The result is compared with FlashNeuron's own plan, barrier included, and the
faster one is returned. So a plan is never slower than FlashNeuron's.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import inf

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.offload.drafts import Draft, best_codecs, draft, plan_of
from flashtrain.training.offload.event_model import EventModel
from flashtrain.training.offload.flashneuron import LEAST_BYTES
from flashtrain.training.offload.greedy import greedy_choice
from flashtrain.training.offload.plan import Plan
from flashtrain.training.offload.prefetch import Prefetch
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.published import flashneuron_draft
from flashtrain.training.offload.storage import Storage

OURS = "ours"

RUNS = 4000
"""Runs of the event model after which a local search ends."""

SLACKS = (1.0, 0.0, 2.0, inf)
"""Factors of the time of reads for `Prefetch.just_in_time`."""

TOLERANCE = 1e-9
"""Shares of the time that count as none."""

_ALL_EXCHANGES = 4096
"""Pairs of tensors up to which all exchanges are tried; of more, those of neighbours in order."""


def offload_plan(
    profile: Profile,
    storage: Storage,
    runs: int = RUNS,
    least_bytes: int = LEAST_BYTES,
    instant_reads: bool = False,
) -> Plan:
    """The plan of our schedule.

    - `runs`: of the event model, after which the local search ends.
    - `least_bytes`: that FlashNeuron offloads, whose plan is one of those compared.
    - `instant_reads`: plan as if reads took no time.

    Raises `OffloadError` if no choice fits the memory.
    """
    codecs = best_codecs(profile, storage)
    model = EventModel(profile, storage, codecs, instant_reads)
    published = flashneuron_draft(model, least_bytes)
    found = _Search(model, runs).best([np.zeros_like(published.chosen), published.chosen])
    faster = published if _seconds(published) < _seconds(found) * (1 - TOLERANCE) else found
    return plan_of(model, codecs, OURS, faster)


def _seconds(made: Draft) -> float:
    return inf if made.timeline.stuck is not None else made.timeline.seconds


@dataclass(frozen=True)
class _Variant:
    """How the chosen tensors are written and read.

    - `latest_use_first`: the order of writes, where two can begin; else that of the forward pass.
    - `slack`, `in_forward`: as in `Prefetch.just_in_time`.
    """

    latest_use_first: bool = False
    slack: float = SLACKS[0]
    in_forward: bool = False


VARIANTS = [_Variant(*each) for each in product((False, True), SLACKS, (False, True))]


class _Search:
    def __init__(self, model: EventModel, runs: int) -> None:
        self._model = model
        self._left = runs
        self._prefetch = Prefetch(model)
        self._latest_use_first = np.argsort(-self._prefetch.first_use, kind="stable").tolist()
        self._sizes = np.array([tensor.bytes for tensor in model.profile.tensors], np.int64)
        self._largest_first: list[int] = np.argsort(-self._sizes, kind="stable").tolist()
        self._variant = VARIANTS[0]

    def best(self, choices: list[NDArray[np.bool_]]) -> Draft:
        """The best draft found from these choices and our own first ones."""
        first = [*choices, greedy_choice(self._model), *self._prefixes()]
        best = min((self._other_variants(self._run(chosen)) for chosen in first), key=self._key)
        while True:
            improved = self._other_variants(self._local(best))
            if not self._better(improved, best):
                return self._trimmed(improved)
            best = improved

    def _prefixes(self) -> Iterator[NDArray[np.bool_]]:
        """The first tensors in order, in sixteen steps up to all of them."""
        count = len(self._sizes)
        for end in sorted({-(-count * step // 16) for step in range(1, 17)}):
            yield np.arange(count) < end

    def _local(self, best: Draft) -> Draft:
        """Toggle one tensor or exchange two while that makes the iteration faster."""
        while self._left > 0 and _seconds(best) > self._model.profile.seconds * (1 + TOLERANCE):
            better = self._swept(best, [(index,) for index in self._largest_first])
            if better is best:
                better = self._swept(best, self._exchanges(best.chosen))
            if better is best:
                return best
            best = better
        return best

    def _swept(self, best: Draft, changes: Iterable[tuple[int, ...]]) -> Draft:
        """Each change once, kept if it makes the iteration faster."""
        for change in changes:
            if self._left <= 0:
                break
            changed = self._run(_toggled(best.chosen, *change))
            if self._better(changed, best):
                best = changed
        return best

    def _exchanges(self, chosen: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        inside: list[int] = np.flatnonzero(chosen).tolist()
        outside: list[int] = np.flatnonzero(~chosen).tolist()
        everything = len(inside) * len(outside) <= _ALL_EXCHANGES
        for leaving in inside:
            near = outside if everything else sorted(outside, key=lambda index: abs(index - leaving))[:4]
            yield from ((leaving, entering) for entering in near)

    def _other_variants(self, best: Draft) -> Draft:
        """The same tensors in all variants; the best of these is kept from now on."""
        kept = self._variant
        for self._variant in VARIANTS:
            other = self._run(best.chosen)
            if self._better(other, best):
                best, kept = other, self._variant
        self._variant = kept
        return best

    def _trimmed(self, best: Draft) -> Draft:
        """Without the tensors that the time does not need."""
        for index in self._largest_first:
            if best.chosen[index]:
                without = self._run(_toggled(best.chosen, index))
                if _seconds(without) <= _seconds(best) * (1 + TOLERANCE) < inf:
                    best = without
        return best

    def _run(self, chosen: NDArray[np.bool_]) -> Draft:
        self._left -= 1
        order = self._latest_use_first if self._variant.latest_use_first else None
        before = self._prefetch.just_in_time(chosen, self._variant.slack, self._variant.in_forward)
        made = draft(self._model, chosen, before, order=order)
        later = self._prefetch.when_written(before, made.timeline)
        if (later == before).all():
            return made
        # A read that was due before the end of its write has kept the tensor in memory.
        return min(made, draft(self._model, chosen, later, order=order), key=self._key)

    def _key(self, made: Draft) -> tuple[float, int]:
        """Of two equally long iterations that with fewer bytes offloaded is better."""
        return _seconds(made), int(self._sizes[made.chosen].sum())

    def _better(self, made: Draft, than: Draft) -> bool:
        return _seconds(made) < _seconds(than) * (1 - TOLERANCE)


def _toggled(chosen: NDArray[np.bool_], *indices: int) -> NDArray[np.bool_]:
    other = chosen.copy()
    for index in indices:
        other[index] = not other[index]
    return other
