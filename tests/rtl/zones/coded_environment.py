"""The surroundings of the zones where streams have a codec: the length of an append comes with its end."""

import copy
import random
from bisect import bisect_right
from collections import Counter, deque
from dataclasses import dataclass, replace
from types import SimpleNamespace

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Answer, Operation, Retired, Settled, WriteJob
from flashtrain.spec import FmsConfig, Status
from flashtrain.spec.streams import Codec
from tests.rtl.zones.zone_environment import APPENDS, Environment
from tests.rtl.zones.zone_helpers import clock_number, cycles, pack
from tests.rtl.zones.zone_model import Outcome, Request, ZoneModel

COVERED = 3
"""Cycles from an event to the answer of the first command that follows it: 1, and 2 of the command."""

UNDECIDED = Outcome(Status.INTERNAL_ERROR)
"""Of a command that the zones have not come to."""


@dataclass(frozen=True)
class ZoneEvent:
    """An event of a zone between commands: slack, or the failure of a program if there is none."""

    taken_at: int
    stream: int
    zone: int
    slack: int | None = None

    def apply(self, model: ZoneModel) -> None:
        if self.slack is None:
            model.program_fails(self.stream, self.zone)
        else:
            model.settle(self.stream, self.zone, self.slack)


class CodedEnvironment(Environment):
    """An `Environment` whose write pipeline encodes: appends to coded streams end at random sizes.

    Slack and failed programs come to the zones between commands. So the model carries out a command when its
    opening or its answer is offered, after the events that had come by then. Where some may or may not have
    come, one such choice must explain what is seen.

    Checked as well: pages of a zone follow each other without a gap, whatever was known of the slack when
    their job was made; an append to a zone starts when those of its stream to other zones have ended.
    """

    def __init__(self, dut, config: FmsConfig, streams: dict[int, range], non_volatile=(), **options):
        super().__init__(dut, config, streams, non_volatile, **options)
        self.hold_settled = False
        self.stores = lambda bound: random.choice((1, bound, random.randint(1, bound)))
        self.bounds: Counter[str] = Counter()  # how much of their bounds appends have taken
        self.late = 0  # jobs made before slack of which they had to know
        self.settled_at: list[int] = []
        self._slack_modulus = 1 << config.geometry.zone_size_bits + 1
        self._forget()
        dut.settled__valid.value = 0
        dut.settled__payload.value = 0

    def _forget(self) -> None:
        self.events: list[ZoneEvent] = []  # that came to the zones
        self._applied = 0  # of them, in the model
        self.slack: Counter[int] = Counter()  # by stream
        self.stored: Counter[int] = Counter()  # blocks, by logical zone
        self._jobs: deque[tuple[SimpleNamespace, Request]] = deque()
        self._ended: set[int] = set()  # tags
        self._answer_taken_at = -1

    async def restart(self) -> None:
        self._forget()
        await super().restart()

    def send(self, request: Request, program_fails: bool = False) -> None:
        """Send a command. The model carries it out when the zones do."""
        fields = self._fields(request, program_fails)
        self._expected.append((request, UNDECIDED, fields))

        def offered() -> None:
            fields["offered_at"] = clock_number()

        self._send(fields, offered)

    async def settle(self) -> None:
        """Until all commands have left the tracker and the model has all events."""
        await self.done()
        while not self.retired.empty:
            await RisingEdge(self.dut.clk)
        await cycles(self.dut, 2 * COVERED)
        self._apply(len(self.events))

    def known(self, stream: int, number: int | None = None) -> int:
        """Slack of a stream in so many events."""
        return sum(event.slack or 0 for event in self.events[:number] if event.stream == stream)

    # The model, command by command.

    async def _watch(self) -> None:
        watched = cocotb.start_soon(super()._watch())
        try:
            while True:
                await RisingEdge(self.dut.clk)
                self._watch_failures()
                answers = self.dut.answers__valid.value == 1 and self._answer_taken_at != clock_number()
                if self._expected and (answers or self.dut.open__valid.value == 1):
                    self._resolve()
        finally:
            watched.cancel()

    def _watch_failures(self) -> None:
        if self.dut.retired__valid.value == 1 and self.dut.retired__ready.value == 1:
            retired = Retired(self.config).from_bits(int(self.dut.retired__payload.value))
            if retired.program_failed and Operation(retired.operation) in APPENDS:
                zone = retired.zone - self.model.streams[retired.stream].start
                self.events.append(ZoneEvent(clock_number(), retired.stream, zone))

    def _resolve(self) -> None:
        """Carry the command out whose opening or answer is offered, unless that was done before."""
        request, outcome, fields = self._expected[0]
        if outcome is not UNDECIDED:
            return
        answered = self.dut.open__valid.value != 1
        times = [event.taken_at for event in self.events]
        least = bisect_right(times, fields["offered_at"])
        most = bisect_right(times, clock_number() - COVERED)
        self._apply(least)
        seen = []
        for number in range(most, least - 1, -1):
            model = self.model if most == least else _copy(self.model)
            for event in self.events[least:number]:
                event.apply(model)
            outcome = model.execute(request)
            seen.append(outcome)
            if self._explains(outcome, request, answered):
                break
        else:
            raise AssertionError(
                f"{request} is {'answered' if answered else 'opened'}, expected one of {seen}"
            )
        self.model, self._applied = model, number
        self._expected[0] = request, outcome, fields
        fields["now"] = self.model.resets[request.stream]
        fields["known"] = self.known(request.stream, number)
        self.statuses[outcome.status] += 1
        for zone in outcome.emptied:
            self.mapping.pop(zone, None)
            self.stored.pop(zone, None)

    def _apply(self, number: int) -> None:
        for event in self.events[self._applied : number]:
            event.apply(self.model)
        self._applied = max(self._applied, number)

    def _explains(self, outcome: Outcome, request: Request, answered: bool) -> bool:
        if not answered:
            return outcome.status == 0
        answer = Answer(self.config).from_bits(int(self.dut.answers__payload.value))
        if outcome.report and answer.status == 0:
            words = sorted(self.memory.words.items())
            return b"".join(word.to_bytes(8, "little") for _, word in words) == outcome.report
        return answer.status == outcome.status

    # Tracker and pipelines.

    def _open(self, opening) -> None:
        self._resolve()
        request, _, _ = self._expected[0]
        if request.encodes:
            others = [
                other.zone for _, other in self._jobs if other.encodes and other.stream == request.stream
            ]
            assert set(others) <= {request.zone}, f"{request} has not waited for {others}"
        super()._open(opening)

    def _answer(self, answer) -> None:
        self._resolve()
        self._answer_taken_at = clock_number()
        super()._answer(answer)

    def _write(self, job) -> None:
        request, _, fields = self._expected[0]
        seen = SimpleNamespace(**{name: getattr(job, name) for name in WriteJob(self.config).members})
        if request.encodes:
            # It may have been made before, or after, the pointer returned by some of the slack.
            later = (job.slack - fields["known"]) % self._slack_modulus
            seen.offset = (job.offset + later) % self._slack_modulus
        super()._write(seen)
        self._jobs.append((SimpleNamespace(**vars(seen) | {"offset": job.offset}), request))

    async def _issue(self) -> None:
        """The write pipeline: job after job is encoded, or issued at once."""
        while True:
            await cycles(self.dut, random.randint(0, self.delay // 2) + 1)
            job, request = self._jobs[0]
            if request.encodes:
                await self._encode(job, request)
            self._jobs.popleft()
            self.issued += 1
            self.dut.issued.value = self.issued
            self._to_issue -= 1
            if self._to_issue == 0:
                return

    async def _encode(self, job: SimpleNamespace, request: Request) -> None:
        while self.hold_settled:
            await cycles(self.dut, 1)
        size = self.config.geometry.zone_size
        zone = self.model.streams[request.stream].start + request.zone
        offset = (job.offset - (self.slack[request.stream] - job.slack)) % size
        assert offset == self.stored[zone], f"{request} begins at {offset}, not {self.stored[zone]}"
        self.late += job.slack != self.slack[request.stream]
        stored = self.stores(request.bound)
        slack = request.bound - stored
        self.bounds["all" if not slack else "one block" if stored == 1 else "some"] += 1
        taken_at = await self._offer_settled(pack(
            Settled(self.config), tag=job.tag, failed=random.getrandbits(1), stream=request.stream, zone=zone,
            offset=offset, stored=stored, slack=slack, non_volatile=job.non_volatile,
        ))  # fmt: skip
        self.slack[request.stream] = (self.slack[request.stream] + slack) % self._slack_modulus
        self.stored[zone] += stored
        self.events.append(ZoneEvent(taken_at, request.stream, request.zone, slack))
        self.settled_at.append(taken_at)
        self._ended.add(job.tag)

    async def _offer_settled(self, bits: int) -> int:
        """The cycle in which it was taken."""
        dut = self.dut
        dut.settled__payload.value = bits
        dut.settled__valid.value = 1
        await RisingEdge(dut.clk)
        while dut.settled__ready.value != 1:
            await RisingEdge(dut.clk)
        dut.settled__valid.value = 0
        return clock_number()

    async def _finish(self, tag: int, request: Request, places: list[int], fields: dict[str, int]) -> None:
        if request.encodes:
            while tag not in self._ended:
                await RisingEdge(self.dut.clk)
            self._ended.remove(tag)
        await super()._finish(tag, request, places, fields)


def _copy(model: ZoneModel) -> ZoneModel:
    """With zones and streams of its own."""
    other = copy.copy(model)
    other.zones = [replace(zone) for zone in model.zones]
    other.resets = dict(model.resets)
    for name in ("uncommitted", "pinned", "restored"):
        setattr(other, name, set(getattr(model, name)))
    return other


def coded_append(config: FmsConfig, stream: int, zone: int, codec: Codec, blocks: int) -> Request:
    bound = config.coded_bound(blocks, codec)
    return Request(Operation.APPEND, stream, zone, blocks=blocks, codec=codec, bound=bound)
