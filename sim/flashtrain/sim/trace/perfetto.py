"""Traces as Chrome trace JSON, which https://ui.perfetto.dev and chrome://tracing open."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flashtrain.sim.trace.trace import AXI, PORTS, Interval, Track


def write_perfetto(intervals: Iterable[Interval], path: Path, clock_mhz: int) -> None:
    """Write `intervals` as a trace in which groups are processes and tracks are threads; times in µs."""
    path.write_text(json.dumps(perfetto_document(intervals, clock_mhz), separators=(",", ":")) + "\n")


def perfetto_document(intervals: Iterable[Interval], clock_mhz: int) -> dict[str, Any]:
    """The document as JSON objects: `{"traceEvents": [...], ...}` of the Trace Event Format."""
    intervals = sorted(
        intervals, key=lambda interval: (_order(interval.track), interval.start, -interval.end)
    )
    tracks = list(dict.fromkeys(interval.track for interval in intervals))
    groups = list(dict.fromkeys(track.group for track in tracks))
    pids = {group: number for number, group in enumerate(groups, start=1)}
    tids = {track: number for number, track in enumerate(tracks, start=1)}
    events: list[dict[str, Any]] = []
    for group, pid in pids.items():
        events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": group}})
        events.append({"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}})
    for track, tid in tids.items():
        thread = {"ph": "M", "pid": pids[track.group], "tid": tid}
        events.append({**thread, "name": "thread_name", "args": {"name": track.name}})
        events.append({**thread, "name": "thread_sort_index", "args": {"sort_index": tid}})
    events.extend(_event(i, pids[i.track.group], tids[i.track], clock_mhz) for i in intervals)
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"clock_mhz": clock_mhz}}


def _event(interval: Interval, pid: int, tid: int, clock_mhz: int) -> dict[str, Any]:
    event: dict[str, Any] = {
        "name": str(interval.activity),
        "pid": pid,
        "tid": tid,
        "ts": interval.start / clock_mhz,
        "args": {"clock": interval.start},
    }
    if interval.note:
        event["args"]["note"] = interval.note
    if interval.end > interval.start:
        return {**event, "ph": "X", "dur": (interval.end - interval.start) / clock_mhz}
    return {**event, "ph": "i", "s": "t"}


def _order(track: Track) -> tuple[int, int, str]:
    """Ports first, then AXI, then the channels by number; the bus of a channel before its dies."""
    fixed = {PORTS: 0, AXI: 1}
    if track.group in fixed:
        return fixed[track.group], 0, track.name
    return 2, int(track.group.removeprefix("channel ")), track.name
