"""The timeline of an iteration as Chrome trace JSON, which https://ui.perfetto.dev opens."""

import json
from pathlib import Path
from typing import Any

from flashtrain.platform.timeline import Interval, Timeline
from flashtrain.writing import write_text


def write_trace(timeline: Timeline, path: Path) -> None:
    """Write the trace; :class:`OutputError` if the file cannot be written."""
    write_text(path, json.dumps(trace_document(timeline), separators=(",", ":")) + "\n")


def trace_document(timeline: Timeline) -> dict[str, Any]:
    """The document in the Trace Event Format, in µs: a thread for each track, a counter for each buffer.

    Requests to a storage overlap, so they are asynchronous events. Buses and arrays are a process of
    their own.
    """
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "iteration"}}
    ]
    for tid, track in enumerate(timeline.tracks, start=1):
        thread = {"pid": 1, "tid": tid}
        events.append({**thread, "ph": "M", "name": "thread_name", "args": {"name": track}})
        for number, interval in enumerate(timeline.on(track)):
            events += _events(interval, thread, f"{tid}.{number}")
    events += [
        {
            "ph": "C",
            "pid": 1,
            "name": f"tensor buffer, {level.side}",
            "ts": level.time * 1e6,
            "args": {"bytes": level.bytes},
        }
        for level in timeline.levels
    ]
    events += _channel_events(timeline)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _channel_events(timeline: Timeline) -> list[dict[str, Any]]:
    """A thread for the bus and for each die of the channel that stands for all."""
    if not timeline.operations:
        return []
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "a channel of each storage"}}
    ]
    for tid, track in enumerate(sorted({each.track for each in timeline.operations}), start=1):
        thread = {"pid": 2, "tid": tid}
        events.append({**thread, "ph": "M", "name": "thread_name", "args": {"name": track}})
        for each in timeline.operations:
            if each.track == track:
                events += _events(each, thread, "")
    return events


def _events(interval: Interval, thread: dict[str, int], name: str) -> list[dict[str, Any]]:
    begin, end = interval.start * 1e6, interval.end * 1e6
    if not interval.bytes:
        return [{**thread, "ph": "X", "name": interval.name, "ts": begin, "dur": end - begin}]
    shared = {**thread, "cat": interval.track, "id": name, "name": interval.name}
    return [
        {**shared, "ph": "b", "ts": begin, "args": {"bytes": interval.bytes}},
        {**shared, "ph": "e", "ts": end},
    ]
