"""A capture as a timeline: commands with stages, dies and buses, flows between them, counters."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from flashtrain.sim.trace.capture import Capture
from flashtrain.sim.trace.commands import CommandSpan, Stage, command_spans, lanes
from flashtrain.sim.trace.counters import counter_samples
from flashtrain.sim.trace.page_links import ArrayPage, PageUse, array_pages
from flashtrain.sim.trace.timeline import Flow, Slice, Timeline
from flashtrain.sim.trace.trace import Activity, Kind, Track, bus_track, die_track, intervals
from flashtrain.spec import Status

COMMANDS = "commands"
RUN = "training"
_ACTIVITIES = {Kind.SENSE: Activity.SENSE, Kind.PROGRAM: Activity.PROGRAM, Kind.ERASE: Activity.ERASE}


def explain(capture: Capture) -> Timeline:
    """The timeline of all that the capture has."""
    spans = command_spans(capture)
    names = {id(span): _title(span, capture.streams) for span in spans}
    served = _served(spans, names)
    timeline = Timeline(facts=_facts(capture, spans))
    for interval in intervals(capture.events):
        if not len(capture.pages) or interval.activity not in _ACTIVITIES.values():
            timeline.slices.append(Slice.of(interval))
    timeline.slices += _array_slices(capture, served)
    for mark in capture.marks:
        timeline.slices.append(Slice(Track(RUN, "iterations"), mark.name, mark.start, mark.end, {}))
    for span, lane in lanes(spans, capture.window[1]):
        track = Track(COMMANDS, f"{span.logged.port.name.lower()} {lane}")
        stages = span.stages()
        timeline.slices += _command_slices(span, track, names[id(span)], stages, capture)
        timeline.flows += _flows(span, track, stages)
    timeline.samples += counter_samples(capture, spans)
    return timeline


def _title(span: CommandSpan, streams: dict[int, str]) -> str:
    """The name of a command: its operation, and its tensor or else its stream."""
    command = span.logged.command
    name = span.logged.label or streams.get(command.nsid, f"namespace {command.nsid}")
    return f"{command.opcode.name.lower()} {name}"


def _command_slices(
    span: CommandSpan, track: Track, name: str, stages: list[Stage], capture: Capture
) -> Iterator[Slice]:
    logged = span.logged
    command, completion = logged.command, logged.completion
    end = capture.window[1] if logged.completed is None else logged.completed
    arguments: dict[str, Any] = {
        "stream": capture.streams.get(command.nsid, str(command.nsid)),
        "label": logged.label,
        "cid": logged.cid,
        "tag": span.tag,
        "lba": command.slba,
        "blocks": command.blocks,
        "rows": command.rows,
        "pages": len(span.pages),
        "status": "in flight",
    }
    if completion is not None:
        arguments["status"] = getattr(completion.status, "name", hex(completion.status))
        if completion.status == Status.SUCCESS and completion.result:
            arguments["result"] = completion.result
    arguments = {key: value for key, value in arguments.items() if value not in (None, "", 0) or key == "cid"}
    yield Slice(track, name, span.start, max(end, span.start), arguments)
    for stage in stages:
        yield Slice(track, str(stage.name), stage.start, stage.end, {})


_Served = dict[tuple[int, int, int], dict[str, int]]
"""Operations of arrays, and the commands that each of them serves: their titles and numbers of pages."""


def _served(spans: list[CommandSpan], names: dict[int, str]) -> _Served:
    found: _Served = defaultdict(dict)
    for span in spans:
        title = f"{names[id(span)]}, cid {span.logged.cid}"
        for page in span.pages:
            for operation in page.operations:
                titles = found[operation.operation]
                titles[title] = titles.get(title, 0) + 1
    return found


def _array_slices(capture: Capture, served: _Served) -> Iterator[Slice]:
    """Operations of the dies, with their pages and the commands that they serve."""
    operations: dict[tuple[Kind, int, int, int], list[ArrayPage]] = defaultdict(list)
    for page in array_pages(capture.pages):
        operations[page.kind, *page.operation].append(page)
    for (kind, channel, die, start), pages in operations.items():
        arguments: dict[str, Any] = {"planes": _numbers(page.plane for page in pages)}
        arguments["blocks"] = _numbers(page.block for page in pages)
        if kind is not Kind.ERASE:
            arguments["page"] = pages[0].page
        if kind is not Kind.ERASE and (serves := served.get((channel, die, start))):
            arguments["serves"] = "; ".join(f"{title}: {number} pages" for title, number in serves.items())
        end = max(page.end for page in pages)
        yield Slice(die_track(channel, die), str(_ACTIVITIES[kind]), start, end, arguments)


def _numbers(values: Iterator[int]) -> str:
    return ", ".join(str(value) for value in sorted(set(values)))


def _flows(span: CommandSpan, track: Track, stages: list[Stage]) -> Iterator[Flow]:
    """An arrow for each operation that serves the command: over the bus to a program, and from a sense."""
    if not stages:
        return
    first: dict[tuple[int, int, int], tuple[ArrayPage, PageUse]] = {}
    for page in span.pages:
        for operation in page.operations:
            first.setdefault(operation.operation, (operation, page))
    last = stages[-1].end - 1
    for operation, page in first.values():
        points = [(track, min(max(page.clock, stages[0].start), last))]
        die = die_track(operation.channel, operation.die), operation.start
        moves = [(bus_track(move.channel), move.start) for move in page.transfers[:1]]
        points += [*moves, die] if operation.kind is Kind.PROGRAM else [die, *moves]
        yield Flow(tuple(points))


def _facts(capture: Capture, spans: list[CommandSpan]) -> dict[str, Any]:
    begin, end = capture.window
    return {
        "configuration": capture.config.name,
        "window_cycles": [begin, end],
        "commands": len(spans),
        "recording_full": capture.full,
        "array_operations": int(np.isin(capture.events["kind"], list(_ACTIVITIES)).sum()),
    }
