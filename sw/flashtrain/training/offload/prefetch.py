"""The operations before which reads are issued."""

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.offload.event_model import EventModel, Timeline
from flashtrain.training.offload.profile import Profile


class Prefetch:
    """Finds `prefetch_before` of offloaded tensors. Indices that do not count are those of `first_use`."""

    def __init__(self, model: EventModel) -> None:
        profile = model.profile
        self._read_seconds = model.read_seconds
        self._latency = model.storage.read_seconds
        self._forward = profile.forward_operations
        ends = np.cumsum([operation.seconds for operation in profile.operations])
        self._begins = np.concatenate([[0.0], ends[:-1]])
        made = np.array([tensor.made for tensor in profile.tensors], np.int64)
        released = np.array([tensor.last_forward for tensor in profile.tensors], np.int64)
        written = ends[made] + model.write_seconds + model.storage.write_seconds
        self._in_forward = np.maximum(released + 1, np.searchsorted(self._begins, written))
        self._in_backward = np.maximum(self._in_forward, self._forward)
        self.first_use = np.array([tensor.uses[0] for tensor in profile.tensors], np.int32)
        self._latest_first = np.argsort(-self.first_use, kind="stable")

    def just_in_time(self, chosen: NDArray[np.bool_], slack: float, in_forward: bool) -> NDArray[np.int32]:
        """As late as each read can begin to end in time, each but the last before the next one begins.

        - `slack`: the factor of the time that reads are taken to last; infinite: as early as it makes sense.
        - `in_forward`: whether a read may be issued in the forward pass, if the tensor is written by then.

        Operations are at their earliest times, so with the waits of a run there is more time, not less.
        """
        order = self._latest_first[chosen[self._latest_first]]
        before = self.first_use.copy()
        earliest = (self._in_forward if in_forward else self._in_backward)[order]
        found = earliest if slack == inf else np.maximum(self._found(order, slack), earliest)
        before[order] = np.minimum(found, self.first_use[order])
        return before

    def _found(self, order: NDArray[np.int64], slack: float) -> NDArray[np.int64]:
        """The operation with which each read of `order`, the last one first, is issued."""
        seconds = slack * self._read_seconds[order]
        latest = self._begins[self.first_use[order]] - slack * self._latency
        # The begin b[k] is the smaller of latest[k] and b[k - 1], less seconds[k].
        behind = np.cumsum(seconds)
        begins = np.minimum.accumulate(latest + behind - seconds) - behind
        return np.searchsorted(self._begins, begins, side="right") - 1

    def when_written(self, before: NDArray[np.int32], timeline: Timeline) -> NDArray[np.int32]:
        """The same, but not before each tensor was written in a run, for those that were not read in it."""
        ends = timeline.writes["end"]
        unread = ~np.isnan(ends) & np.isnan(timeline.reads["begin"])
        found = np.searchsorted(timeline.operations["begin"], ends[unread], side="left")
        later = before.copy()
        later[unread] = np.minimum(np.maximum(found, before[unread]), self.first_use[unread])
        return later

    def at_once(self) -> NDArray[np.int32]:
        """All when the backward pass begins."""
        return np.full(len(self.first_use), self._forward, np.int32)


def prefetch_with(profile: Profile, index: int, before: int) -> str | None:
    """The tensor that is first needed latest, of those needed up to operation `before`, but not `index`."""
    needed: Sequence[tuple[int, str]] = [
        (tensor.uses[0], tensor.name)
        for number, tensor in enumerate(profile.tensors)
        if number != index and tensor.uses[0] <= before
    ]
    return max(needed, key=lambda each: each[0])[1] if needed else None
