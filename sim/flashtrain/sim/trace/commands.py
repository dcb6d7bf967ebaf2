"""The commands of a capture: their stages, and their pages."""

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from flashtrain.host import LoggedCommand
from flashtrain.sim.link.recording import SeamKind
from flashtrain.sim.trace.capture import Capture
from flashtrain.sim.trace.page_links import PageLinks, PageUse
from flashtrain.spec import Opcode, Port


class StageName(StrEnum):
    """A part of a command's time; each ends where the next one begins."""

    HELD = "held by the driver"  # for another command, or for room in the queue
    QUEUED = "in the queue"  # until the controller has fetched the entry
    CHECKED = "checked"  # until it has a tag and its job is sent
    WAITS = "waits for its pipeline"  # until the first page is requested of a channel
    WRITES = "data to the channels"  # until the last page is in a write buffer
    READS = "pages from the channels"  # until the last page is in the tensor buffer
    PROGRAMS = "programs"  # until the answer, if that waits for programs
    ANSWERS = "answer"  # until the answer leaves for the completion queue
    POSTS = "completion entry"  # until that is in the tensor buffer
    COLLECTED = "until the driver looks"


class Stage(NamedTuple):
    name: StageName
    start: int
    end: int


@dataclass
class CommandSpan:
    """A command, and what is known of its way. Cycles; None where no record has it."""

    logged: LoggedCommand
    fetched: int | None = None
    opened: int | None = None
    tag: int | None = None
    arrived: list[int] = field(default_factory=list)
    delivered: list[int] = field(default_factory=list)
    programmed: list[int] = field(default_factory=list)
    answered: int | None = None
    posted: int | None = None
    pages: list[PageUse] = field(default_factory=list)

    @property
    def start(self) -> int:
        return min(self.logged.submitted, self.logged.queued)

    def stages(self) -> list[Stage]:
        """In the order of time, without gaps, and without those that take no time or are not known."""
        logged = self.logged
        first_page = min((page.clock for page in self.pages), default=None)
        moves, name = self._moves()
        awaited = StageName.PROGRAMS if self.programmed else StageName.ANSWERS
        ends = (
            (StageName.HELD, logged.queued),
            (StageName.QUEUED, self.fetched),
            (StageName.CHECKED, self.opened),
            (StageName.WAITS, first_page),
            (name, moves),
            (awaited, self.answered),
            (StageName.POSTS, self.posted),
            (StageName.COLLECTED, logged.completed),
        )
        stages, start = [], self.start
        for stage, end in ends:
            if end is not None and end > start:
                stages.append(Stage(stage, start, end))
                start = end
        return stages

    def _moves(self) -> tuple[int | None, StageName]:
        if self.logged.command.opcode is Opcode.FLUSH:
            return (self.arrived[-1] if self.arrived else None), StageName.PROGRAMS
        if self.delivered:
            return self.delivered[-1], StageName.READS
        return (self.arrived[-1] if self.arrived else None), StageName.WRITES


def command_spans(capture: Capture) -> list[CommandSpan]:
    """The commands in the order of queueing, with their stages and pages as far as the capture has them."""
    spans = [CommandSpan(logged) for logged in capture.commands]
    if len(capture.seams):
        _Join(capture, spans).run()
    return spans


class _Join:
    """Takes the seams in the order of time: ports and identifiers name commands, then tags do."""

    def __init__(self, capture: Capture, spans: list[CommandSpan]) -> None:
        self._seams = capture.seams
        self._links = PageLinks(capture.config.geometry, capture.seams, capture.pages, capture.events)
        self._waiting: dict[tuple[int, int], deque[CommandSpan]] = defaultdict(deque)
        for span in spans:
            self._waiting[span.logged.port, span.logged.cid].append(span)
        self._by_tag: dict[int, CommandSpan] = {}
        self._answered: dict[Port, deque[CommandSpan | None]] = {port: deque() for port in Port}
        self._requested: dict[tuple[int, int, int], deque[tuple[CommandSpan | None, np.void]]]
        self._requested = defaultdict(deque)

    def run(self) -> None:
        for seam in self._seams:
            kind, clock = SeamKind(int(seam["kind"])), int(seam["clock"])
            if kind in (SeamKind.FETCHED, SeamKind.OPENED, SeamKind.ANSWERED):
                self._follow(kind, clock, seam)
            elif kind is SeamKind.POSTED:
                answered = self._answered[Port(int(seam["port"]))]
                span = answered.popleft() if answered else None
                if span is not None:
                    span.posted = clock
            else:
                self._page(kind, clock, seam)
        for requests in self._requested.values():
            for span, request in requests:
                if span is not None:
                    span.pages.append(self._links.read(request, None))

    def _follow(self, kind: SeamKind, clock: int, seam: np.void) -> None:
        port = Port(int(seam["port"]))
        span = self._named(port, int(seam["cid"]), clock)
        if kind is SeamKind.ANSWERED:
            self._answered[port].append(span)
        if span is None:
            return
        if kind is SeamKind.FETCHED:
            span.fetched = clock
        elif kind is SeamKind.OPENED:
            span.opened, span.tag = clock, int(seam["tag"])
            self._by_tag[span.tag] = span
        else:
            span.answered = clock
            if span.tag is not None:
                self._by_tag.pop(span.tag, None)

    def _named(self, port: Port, cid: int, clock: int) -> CommandSpan | None:
        """The command that had this identifier at this time."""
        waiting = self._waiting[port, cid]
        while waiting and waiting[0].logged.completed is not None and waiting[0].logged.completed < clock:
            waiting.popleft()
        return waiting[0] if waiting and waiting[0].logged.queued <= clock else None

    def _page(self, kind: SeamKind, clock: int, seam: np.void) -> None:
        tag = int(seam["tag"])
        span = self._by_tag.get(tag)
        match kind:
            case SeamKind.ARRIVED:
                _add(span, "arrived", clock)
            case SeamKind.DELIVERED:
                _add(span, "delivered", clock)
            case SeamKind.PAGE_PROGRAMMED:
                _add(span, "programmed", clock)
            case SeamKind.PAGE_WRITTEN:
                use = self._links.write(seam)
                if span is not None:
                    span.pages.append(use)
            case SeamKind.PAGE_READ:
                self._requested[_request(seam)].append((span, seam))
            case SeamKind.PAGE_OFFERED:
                requests = self._requested[_request(seam)]
                if requests:
                    asked, request = requests.popleft()
                    use = self._links.read(request, seam)
                    if asked is not None:
                        asked.pages.append(use)
            case _:
                pass


def _add(span: CommandSpan | None, name: str, clock: int) -> None:
    if span is not None:
        getattr(span, name).append(clock)


def _request(seam: np.void) -> tuple[int, int, int]:
    """The common key of a page's request and its offer."""
    return int(seam["channel"]), int(seam["tag"]), int(seam["buffer_block"])


def lanes(spans: list[CommandSpan], end: int) -> Iterator[tuple[CommandSpan, int]]:
    """Each command with the number of a lane of its port, in which no other one is at the same time."""
    free: dict[Port, list[int]] = {port: [] for port in Port}
    for span in sorted(spans, key=lambda each: each.start):
        ends = free[span.logged.port]
        stop = end if span.logged.completed is None else span.logged.completed
        lane = next((number for number, before in enumerate(ends) if before <= span.start), len(ends))
        if lane == len(ends):
            ends.append(stop)
        else:
            ends[lane] = stop
        yield span, lane
