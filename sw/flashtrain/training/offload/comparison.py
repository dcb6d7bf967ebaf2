"""Schedules beside each other: FlashNeuron's, GreedySnake's, ours, and ours with a part switched off."""

from dataclasses import dataclass, replace
from math import inf

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.accumulation import Accumulation, Batches, horizontal, vertical
from flashtrain.training.offload.drafts import timeline_of
from flashtrain.training.offload.flashneuron import LEAST_BYTES
from flashtrain.training.offload.plan import Plan
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.published import flashneuron_plan
from flashtrain.training.offload.schedule import offload_plan
from flashtrain.training.offload.storage import Storage


@dataclass(frozen=True)
class Compared:
    """An iteration of a schedule beside a storage, as it is played.

    - `seconds`: infinite where the iteration does not fit the memory.
    - `offloaded_bytes`, `stored_bytes`: written to the storage, before and behind a codec.
    """

    schedule: str
    storage: Storage
    seconds: float = inf
    offloaded_bytes: float = 0
    stored_bytes: float = 0
    peak_bytes: int = 0

    @property
    def fits(self) -> bool:
        return self.seconds < inf


def compare(
    profile: Profile, storage: Storage, least_bytes: int = LEAST_BYTES, batches: Batches | None = None
) -> list[Compared]:
    """The iteration of each schedule beside `storage`.

    - *flashneuron*: its schedule as published, and *without codec* if the storage has codecs.
    - *ours*, and *without codec*.
    - *ours, reads unplanned*: made as if reads took no time, and played with them.
    - *ours, instant reads*: made and played without their time, as FlashNeuron's choice is made.
    - *greedysnake*: its vertical schedule, and the same micro-batches in the *horizontal* one. They need
      `batches`, the profiles of the same network at other batches.
    """
    raw = replace(storage, codecs=())
    rows = [_flashneuron("flashneuron", profile, storage, least_bytes)]
    if storage.codecs:
        rows.append(_flashneuron("flashneuron, without codec", profile, raw, least_bytes))
    rows.append(_ours("ours", profile, storage, least_bytes)[0])
    if storage.codecs:
        rows.append(_ours("ours, without codec", profile, raw, least_bytes)[0])
    instant, plan = _ours("ours, instant reads", profile, storage, least_bytes, instant_reads=True)
    rows += [_unplanned_reads(profile, storage, plan), instant]
    if batches is not None:
        rows += [
            _accumulated("greedysnake", storage, vertical(batches, profile.batch, storage)),
            _accumulated("greedysnake, horizontal", storage, horizontal(batches, profile.batch, storage)),
        ]
    return rows


def _flashneuron(name: str, profile: Profile, storage: Storage, least_bytes: int) -> Compared:
    try:
        plan = flashneuron_plan(profile, storage, least_bytes)
    except OffloadError:
        return Compared(name, storage)
    return _planned(name, plan, plan.seconds, plan.peak_bytes)


def _ours(
    name: str, profile: Profile, storage: Storage, least_bytes: int, instant_reads: bool = False
) -> tuple[Compared, Plan | None]:
    try:
        plan = offload_plan(profile, storage, least_bytes=least_bytes, instant_reads=instant_reads)
    except OffloadError:
        return Compared(name, storage), None
    return _planned(name, plan, plan.seconds, plan.peak_bytes), plan


def _unplanned_reads(profile: Profile, storage: Storage, instant: Plan | None) -> Compared:
    name = "ours, reads unplanned"
    if instant is None:
        return Compared(name, storage)
    timeline = timeline_of(instant, profile)
    if timeline.stuck is not None:
        return Compared(name, storage)
    return _planned(name, instant, timeline.seconds, timeline.peak_bytes)


def _planned(name: str, plan: Plan, seconds: float, peak_bytes: int) -> Compared:
    return Compared(name, plan.storage, seconds, plan.offloaded_bytes, plan.stored_bytes, peak_bytes)


def _accumulated(name: str, storage: Storage, found: Accumulation | None) -> Compared:
    if found is None:
        return Compared(name, storage)
    written = found.written_bytes
    return Compared(name, storage, found.seconds, written, written, found.peak_bytes)
