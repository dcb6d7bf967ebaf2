"""FlashNeuron's schedule as a plan: its choice, its barrier, and reads as early as there is memory.

Its code waits for all writes before the backward pass (`Engine::execute`), and reads tensors back in the
order in which the backward pass needs them. How far it reads ahead depends on its pool of memory. Here all
reads are issued when the backward pass begins, which is at least as early.
"""

import numpy as np

from flashtrain.training.offload.drafts import Draft, best_codecs, draft, plan_of
from flashtrain.training.offload.event_model import EventModel
from flashtrain.training.offload.flashneuron import LEAST_BYTES, flashneuron_choice
from flashtrain.training.offload.plan import Plan
from flashtrain.training.offload.prefetch import Prefetch
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.storage import Storage

FLASHNEURON = "flashneuron"


def flashneuron_draft(model: EventModel, least_bytes: int = LEAST_BYTES) -> Draft:
    """Its iteration in the event model, which may not fit the memory."""
    chosen = np.zeros(len(model.profile.tensors), np.bool_)
    chosen[flashneuron_choice(model.profile, model.storage, least_bytes)] = True
    prefetch = Prefetch(model)
    return draft(model, chosen, prefetch.at_once(), barrier=True)


def flashneuron_plan(
    profile: Profile, storage: Storage, least_bytes: int = LEAST_BYTES, instant_reads: bool = False
) -> Plan:
    """Its plan; tensors go through the codec with the best measured ratio.

    Raises `OffloadError` if the iteration does not fit the memory.
    """
    codecs = best_codecs(profile, storage)
    model = EventModel(profile, storage, codecs, instant_reads)
    return plan_of(model, codecs, FLASHNEURON, flashneuron_draft(model, least_bytes))
