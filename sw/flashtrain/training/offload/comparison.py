"""Schedules beside each other: FlashNeuron's, ours, and ours with a part switched off."""

from dataclasses import dataclass, replace
from math import inf

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.drafts import timeline_of
from flashtrain.training.offload.flashneuron import LEAST_BYTES
from flashtrain.training.offload.plan import Plan
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.published import flashneuron_plan
from flashtrain.training.offload.schedule import offload_plan
from flashtrain.training.offload.storage import Storage


@dataclass(frozen=True)
class Compared:
    """An iteration of a schedule beside a storage; `plan` is None where it does not fit the memory.

    `seconds` and `peak_bytes` are of the iteration as it is played; infinite and 0 where it does not fit.
    """

    schedule: str
    storage: Storage
    plan: Plan | None
    seconds: float = inf
    peak_bytes: int = 0


def compare(profile: Profile, storage: Storage, least_bytes: int = LEAST_BYTES) -> list[Compared]:
    """The iteration of each schedule beside `storage`.

    - *flashneuron*: its schedule as published, and *without codec* if the storage has codecs.
    - *ours*, and *without codec*.
    - *ours, reads unplanned*: made as if reads took no time, and played with them.
    - *ours, instant reads*: made and played without their time, as FlashNeuron's choice is made.
    """
    raw = replace(storage, codecs=())
    rows = [_flashneuron("flashneuron", profile, storage, least_bytes)]
    if storage.codecs:
        rows.append(_flashneuron("flashneuron, without codec", profile, raw, least_bytes))
    rows.append(_ours("ours", profile, storage, least_bytes))
    if storage.codecs:
        rows.append(_ours("ours, without codec", profile, raw, least_bytes))
    instant = _ours("ours, instant reads", profile, storage, least_bytes, instant_reads=True)
    rows += [_unplanned_reads(profile, instant), instant]
    return rows


def _flashneuron(name: str, profile: Profile, storage: Storage, least_bytes: int) -> Compared:
    try:
        plan = flashneuron_plan(profile, storage, least_bytes)
    except OffloadError:
        return Compared(name, storage, None)
    return Compared(name, storage, plan, plan.seconds, plan.peak_bytes)


def _ours(
    name: str, profile: Profile, storage: Storage, least_bytes: int, instant_reads: bool = False
) -> Compared:
    try:
        plan = offload_plan(profile, storage, least_bytes=least_bytes, instant_reads=instant_reads)
    except OffloadError:
        return Compared(name, storage, None)
    return Compared(name, storage, plan, plan.seconds, plan.peak_bytes)


def _unplanned_reads(profile: Profile, instant: Compared) -> Compared:
    name = "ours, reads unplanned"
    if instant.plan is None:
        return Compared(name, instant.storage, None)
    timeline = timeline_of(instant.plan, profile)
    if timeline.stuck is not None:
        return Compared(name, instant.storage, None)
    return Compared(name, instant.storage, instant.plan, timeline.seconds, timeline.peak_bytes)
