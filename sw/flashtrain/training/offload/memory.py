"""Memory over time of a timeline."""

from collections.abc import Iterator
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.offload.event_model import Timeline
from flashtrain.training.offload.profile import Profile


def memory_levels(profile: Profile, timeline: Timeline) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Times, ascending, and the bytes in memory from each of them on, with the resident ones."""
    changes = sorted(_changes(profile, timeline))
    moments = [(time, sum(size for _, size in group)) for time, group in groupby(changes, lambda c: c[0])]
    times, sizes = zip(*moments, strict=True)
    return np.array(times), np.cumsum(sizes, dtype=np.int64)


def _changes(profile: Profile, timeline: Timeline) -> Iterator[tuple[float, int]]:
    yield 0.0, profile.resident_bytes
    ends = timeline.operations["end"]
    for tensor, write, read in zip(profile.tensors, timeline.writes, timeline.reads, strict=True):
        yield float(timeline.operations["begin"][tensor.made]), tensor.bytes
        if not np.isnan(read["begin"]):
            yield max(float(write["end"]), float(ends[tensor.last_forward])), -tensor.bytes
            yield float(read["begin"]), tensor.bytes
            yield float(ends[tensor.uses[-1]]), -tensor.bytes
        else:
            yield float(np.fmax(write["end"], ends[tensor.uses[-1]])), -tensor.bytes
