"""A first choice of tensors: those that are idle for long and large, until the peak of memory fits."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.offload.event_model import EventModel


def greedy_choice(model: EventModel) -> NDArray[np.bool_]:
    """Offload tensors, each time at the peak of memory, until that fits; all of them if it never does.

    The score of a tensor is its idle time × its bytes, by the seconds of its transfers. Each time the one of
    the highest score is taken, of those that can be out of memory at the peak. A tensor is out of memory from
    the end of its write to the begin of its read, both without waits; the event model checks the result.
    """
    profile = model.profile
    ends = np.cumsum([operation.seconds for operation in profile.operations])
    begins = np.concatenate([[0.0], ends[:-1]])
    tensors = profile.tensors
    sizes = np.array([tensor.bytes for tensor in tensors], np.float64)
    first_use = np.array([tensor.uses[0] for tensor in tensors], np.int64)
    last_forward = np.array([tensor.last_forward for tensor in tensors], np.int64)
    made = np.array([tensor.made for tensor in tensors], np.int64)
    written = np.maximum(ends[last_forward], ends[made] + model.write_seconds + model.storage.write_seconds)
    needed = begins[first_use] - model.read_seconds - model.storage.read_seconds
    leaves = np.searchsorted(begins, written, side="left")
    returns = np.searchsorted(begins, needed, side="right") - 1
    idle = np.maximum(needed - written, 0.0)
    transfers = model.write_seconds + model.read_seconds
    scores = idle * sizes / np.maximum(transfers, np.finfo(np.float64).tiny)

    live = np.array(profile.live_bytes, np.float64)
    limit = model.storage.memory_bytes - profile.resident_bytes
    chosen = np.zeros(len(tensors), np.bool_)
    while live.max() > limit:
        peak = int(live.argmax())
        candidates = np.flatnonzero(~chosen & (leaves <= peak) & (peak < returns))
        if not len(candidates):
            return np.ones(len(tensors), np.bool_)
        best = candidates[scores[candidates].argmax()]
        chosen[best] = True
        live[leaves[best] : returns[best]] -= sizes[best]
    return chosen
