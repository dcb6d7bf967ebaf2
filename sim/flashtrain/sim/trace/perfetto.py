"""Timelines as Chrome trace JSON, which https://ui.perfetto.dev and chrome://tracing open."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flashtrain.sim.trace.timeline import Timeline
from flashtrain.sim.trace.trace import Track
from flashtrain.writing import replacing

MOST_EVENTS = 1_000_000
"""Slices, points of flows and samples in a file, about 150 MB; the earliest are kept."""

_GROUPS = ("training", "commands", "counters", "ports", "AXI to the tensor buffer")
"""The first processes, in this order; channels follow."""


def write_perfetto(timeline: Timeline, path: Path, clock_mhz: int, most: int = MOST_EVENTS) -> bool:
    """Write `timeline` as a trace in which groups are processes and tracks are threads.

    Whether all of it is in the file, which has at most `most` events. Raises `OutputError`.
    """
    kept, complete = _limited(timeline, most)
    with replacing(path) as file:
        facts = {"clock_mhz": clock_mhz, **timeline.facts, "truncated": not complete}
        head = json.dumps({"displayTimeUnit": "ns", "otherData": facts}, separators=(",", ":"))
        file.write(head[:-1] + ',"traceEvents":[\n')
        for number, event in enumerate(trace_events(kept, clock_mhz)):
            file.write((",\n" if number else "") + json.dumps(event, separators=(",", ":")))
        file.write("\n]}\n")
    return complete


def trace_events(timeline: Timeline, clock_mhz: int) -> Iterator[dict[str, Any]]:
    """The events of the Trace Event Format, with times in µs that are whole nanoseconds."""

    def microseconds(cycle: int) -> float:
        return cycle * 1000 // clock_mhz / 1000

    slices = sorted(timeline.slices, key=lambda each: (each.start, -each.end))
    tracks = sorted({each.track for each in slices}, key=_order)
    groups = list(dict.fromkeys(track.group for track in tracks))
    counters = sorted({sample.counter for sample in timeline.samples}, key=_order)
    groups += [group for group in dict.fromkeys(counter.group for counter in counters) if group not in groups]
    groups.sort(key=lambda group: _order(Track(group, "")))
    pids = {group: number for number, group in enumerate(groups, start=1)}
    tids = {track: number for number, track in enumerate(tracks, start=1)}
    for group, pid in pids.items():
        yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": group}}
        yield {"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}}
    for track, tid in tids.items():
        thread = {"ph": "M", "pid": pids[track.group], "tid": tid}
        yield {**thread, "name": "thread_name", "args": {"name": track.name}}
        yield {**thread, "name": "thread_sort_index", "args": {"sort_index": tid}}
    for each in slices:
        place = {"name": each.name, "pid": pids[each.track.group], "tid": tids[each.track]}
        start, end = microseconds(each.start), microseconds(each.end)
        arguments = {"cycle": each.start, "cycles": each.end - each.start, **each.arguments}
        event = {**place, "cat": each.track.group, "ts": start, "args": arguments}
        if each.end > each.start:
            yield {**event, "ph": "X", "dur": round(end - start, 3)}
        else:
            yield {**event, "ph": "i", "s": "t"}
    for number, flow in enumerate(timeline.flows, start=1):
        for index, (track, cycle) in enumerate(flow.points):
            phase = "s" if index == 0 else "f" if index == len(flow.points) - 1 else "t"
            event = {"ph": phase, "id": number, "name": "serves", "cat": "flow", "ts": microseconds(cycle)}
            event |= {"pid": pids[track.group], "tid": tids[track]}
            yield {**event, "bp": "e"} if phase == "f" else event
    for sample in sorted(timeline.samples, key=lambda each: each.cycle):
        yield {
            "ph": "C",
            "pid": pids[sample.counter.group],
            "name": sample.counter.name,
            "ts": microseconds(sample.cycle),
            "args": {"value": sample.value},
        }


def _limited(timeline: Timeline, most: int) -> tuple[Timeline, bool]:
    """The part of the timeline up to the cycle at which there are too many events."""
    begins = [each.start for each in timeline.slices]
    begins += [sample.cycle for sample in timeline.samples]
    begins += [cycle for flow in timeline.flows for _track, cycle in flow.points]
    if len(begins) <= most:
        return timeline, True
    end = sorted(begins)[most]
    return (
        Timeline(
            [each for each in timeline.slices if each.start < end],
            [flow for flow in timeline.flows if all(cycle < end for _track, cycle in flow.points)],
            [sample for sample in timeline.samples if sample.cycle < end],
            timeline.facts,
        ),
        False,
    )


def _order(track: Track) -> tuple[int, list[str | int]]:
    """Groups in their order, the others by number; tracks of a group by name, and numbers in it by value."""
    position = _GROUPS.index(track.group) if track.group in _GROUPS else len(_GROUPS)
    # Texts and numbers alternate, so that like is compared with like.
    words = re.split(r"(\d+)", f"{track.group} {track.name}")
    return position, [int(word) if index % 2 else word for index, word in enumerate(words)]
