"""From a choice of tensors to a plan, and from a plan to its timeline."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.event_model import IN_MEMORY, EventModel, Timeline
from flashtrain.training.offload.plan import Plan, PlannedTensor
from flashtrain.training.offload.prefetch import prefetch_with
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.storage import RAW, Storage


@dataclass(frozen=True)
class Draft:
    """The arguments of `EventModel.run`, and what came out."""

    write_order: NDArray[np.int32]
    prefetch_before: NDArray[np.int32]
    barrier: bool
    timeline: Timeline

    @property
    def chosen(self) -> NDArray[np.bool_]:
        return self.write_order != IN_MEMORY


def best_codecs(profile: Profile, storage: Storage) -> tuple[str, ...]:
    """For each tensor the codec that stores the fewest bytes."""
    return tuple(storage.codec_for(tensor) for tensor in profile.tensors)


def draft(
    model: EventModel,
    chosen: NDArray[np.bool_],
    prefetch_before: NDArray[np.int32],
    barrier: bool = False,
    order: Sequence[int] | None = None,
) -> Draft:
    """A run of the chosen tensors. `order`: of all tensors' writes; by default that of the forward pass."""
    ranks = np.arange(len(chosen), dtype=np.int32)
    if order is not None:
        ranks[list(order)] = np.arange(len(chosen), dtype=np.int32)
    write_order = np.where(chosen, ranks, IN_MEMORY).astype(np.int32)
    return Draft(write_order, prefetch_before, barrier, model.run(write_order, prefetch_before, barrier))


def plan_of(model: EventModel, codecs: Sequence[str], schedule: str, made: Draft) -> Plan:
    """The plan of a draft. Raises `OffloadError` if its iteration does not fit the memory."""
    profile, storage = model.profile, model.storage
    _require_fit(profile, storage, made.timeline, schedule)
    tensors = [
        PlannedTensor(
            profile.tensors[index].name,
            profile.tensors[index].bytes,
            codecs[index],
            storage.ratio(profile.tensors[index], codecs[index]),
            order,
            profile.tensors[index].uses[0],
            int(made.prefetch_before[index]),
            prefetch_with(profile, index, int(made.prefetch_before[index])),
        )
        for order, index in enumerate(_in_order(made))
    ]
    return Plan(
        profile.model,
        profile.fingerprint,
        schedule,
        made.barrier,
        storage,
        tuple(tensors),
        made.timeline.seconds,
        made.timeline.peak_bytes,
    )


def _in_order(made: Draft) -> list[int]:
    """The offloaded tensors in the order of their writes."""
    indices = np.flatnonzero(made.chosen)
    return indices[np.argsort(made.write_order[indices])].tolist()


def timeline_of(plan: Plan, profile: Profile) -> Timeline:
    """The iteration of a plan, with the ratios of `profile`.

    Raises `OffloadError` if the plan is for another model.
    """
    plan.check(profile)
    codecs: list[str] = [RAW] * len(profile.tensors)
    write_order = np.full(len(profile.tensors), IN_MEMORY, np.int32)
    before = np.array([tensor.uses[0] for tensor in profile.tensors], np.int32)
    for index, tensor in enumerate(profile.tensors):
        if (planned := plan.by_name.get(tensor.name)) is not None:
            codecs[index] = planned.codec
            write_order[index], before[index] = planned.write_order, planned.prefetch_before
    return EventModel(profile, plan.storage, codecs).run(write_order, before, plan.barrier)


def _require_fit(profile: Profile, storage: Storage, timeline: Timeline, schedule: str) -> None:
    """Raise `OffloadError` if the iteration got stuck."""
    if timeline.stuck is not None:
        raise OffloadError(
            f"{profile.model}: operation {profile.operations[timeline.stuck].name} finds no space in memory"
            f" ({schedule}); expected more than {storage.memory_bytes:,} bytes"
        )
