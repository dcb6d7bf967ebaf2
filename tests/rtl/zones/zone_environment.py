"""What surrounds the zones in the controller, and a scoreboard that compares them with the model."""

import random
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import (
    Answer,
    Command,
    Opening,
    Operation,
    PageKind,
    ReadJob,
    Retired,
    StreamTable,
    WriteJob,
)
from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.spec import FmsConfig, Status
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import RETIRED, GenerationAction
from flashtrain.spec.registers import MAX_STREAMS
from flashtrain.spec.streams import Codec, Retention
from tests.rtl.zones.zone_helpers import AxiMemory, Sink, Source, clock_number, cycles, pack, reset
from tests.rtl.zones.zone_model import AgeRule, Outcome, Request, ZoneModel

CLASSES = tuple(Retention)
MOST_WEAR = (1 << 21) - 1
STEP_OPERATIONS = (Operation.UPDATE, Operation.CONSTANTS, Operation.STATISTICS)
DATA_OPERATIONS = (
    Operation.APPEND, Operation.WRITE, Operation.READ, Operation.FLUSH, Operation.INSPECT, *STEP_OPERATIONS,
)  # fmt: skip
PLACED = (
    Operation.APPEND, Operation.WRITE, Operation.READ, Operation.UPDATE, Operation.SEND, Operation.RECEIVE,
    Operation.RETIRE,
)  # fmt: skip
APPENDS = (Operation.APPEND, Operation.WRITE)
# Operations in flight that others wait for.
AWAITED = {
    Operation.CONSTANTS: (Operation.UPDATE, Operation.STATISTICS),
    Operation.STATISTICS: (Operation.UPDATE, Operation.CONSTANTS),
    Operation.UPDATE: (Operation.STATISTICS,),
}


class Environment:
    """Tracker, pipelines, channels and tensor buffer, as far as the zones see them.

    Every command is compared with the model: answer or opening and job, in order. Checked as well: physical
    zones are written only after an erase, and erased only when nothing lies on them and nothing moves there
    or from there; a reset, a pin and a commit are answered only when their streams have no commands in
    flight; constants, statistics and updates wait for each other; a read waits for the last write job of its
    zone; jobs have the identity of their zone's pages; recovery ends when no command is in flight.
    """

    def __init__(
        self, dut, config: FmsConfig, streams: dict[int, range], non_volatile=(), factory: bool = True,
        recover: bool = False, refusing=(), time: int = 0,
    ):  # fmt: skip
        self.dut, self.config = dut, config
        # One class of retention after the other.
        self.classes = {number: CLASSES[number % len(CLASSES)] for number in streams}
        ages = {
            number: AgeRule(which.due, which.limit if number in refusing else None)
            for number, which in self.classes.items()
        }
        self.model = ZoneModel(config, streams, recovering=recover, now=time, ages=ages)
        dut.time.value = time
        self.non_volatile = non_volatile
        self.factory = factory
        self.delay = 0  # cycles a command, an announcement or an erase takes at most
        self.delay_erase = 4
        self.hold = False  # commands stay in flight
        self.failing: set[int] = set()  # physical zones whose erase fails
        # Those of them that were erased, and those that recovery knows nothing of.
        self.bad: set[int] = set(range(config.geometry.zones)) if recover else set()
        self.mapping: dict[int, int] = {}  # logical to physical, of zones with content
        self.identities: dict[int, tuple[dict[str, int], int]] = {}  # of logical zones, with the wear
        self.erased = set(range(config.geometry.zones)) if factory and not recover else set()
        self.wear: Counter[int] = Counter()
        self.in_flight: Counter[int] = Counter()  # per stream, updates also by their source
        self.steps: Counter[Operation] = Counter()  # in flight, per operation
        self.moving: Counter[int] = Counter()  # commands in flight per physical zone
        self.last_job: dict[int, int] = {}
        self.awaited: list[int] = []  # the write jobs for which reads wait
        self.sent = self.issued = self.allocations = 0
        self.erase_pulses = self.erases = self.zone_waits = 0
        self.answered_at: list[int] = []
        self.statuses: Counter[Status] = Counter()
        self._expected: deque[tuple[Request, Outcome, dict]] = deque()
        self._opened: Opening | None = None
        self._to_issue = 0
        self._number = 0
        self._asked: Counter[int] = Counter()

        signature = {"streams": StreamTable(config)}
        for number in range(MAX_STREAMS):
            zones = streams.get(number)
            getattr(dut, f"streams__{number}").value = 0 if zones is None else pack(
                signature["streams"], valid=1, non_volatile=int(number in non_volatile),
                retention=int(self.classes[number]), refuses=int(number in refusing),
                first=zones.start, zones=len(zones),
            )  # fmt: skip
        dut.factory.value = int(factory)
        dut.recover.value = int(recover)
        dut.zone_select.value = 0
        dut.issued.value = 0
        self.commands = Source(dut, "commands")
        self.tags = Source(dut, "tags")
        self.retired = Source(dut, "retired")
        self.open = Sink(dut, "open", Opening(config), self._open)
        self.write = Sink(dut, "write", WriteJob(config), self._write, busy=None)
        self.read = Sink(dut, "read", ReadJob(config), self._read, busy=None)
        self.answers = Sink(dut, "answers", Answer(config), self._answer)
        self.memory = AxiMemory(dut, "axi", config)
        self.erase = [
            Sink(dut, f"erase__{n}", EraseRequest(config), lambda request, n=n: self._erase(n, request.zone))
            for n in range(config.geometry.channels)
        ]
        self.erased_streams = [Source(dut, f"erased__{n}") for n in range(config.geometry.channels)]
        self._pins = (
            self.commands, self.tags, self.retired, self.open, self.write, self.read, self.answers,
            *self.memory.pins, *self.erase, *self.erased_streams,
        )  # fmt: skip

    async def start(self) -> None:
        """Leave reset and wait until the zones are ready."""
        await reset(self.dut)
        self._free_tags()
        begin = clock_number()
        while self.dut.ready.value != 1:
            await RisingEdge(self.dut.clk)
        assert clock_number() - begin <= self.config.geometry.zones + 4
        self._watching = cocotb.start_soon(self._watch())

    def stop(self) -> None:
        """Leave all pins to somebody else, who may run many cycles at the simulator's full speed."""
        self._watching.cancel()
        for pins in self._pins:
            pins.stop()

    def resume(self) -> None:
        self._watching = cocotb.start_soon(self._watch())
        for pins in self._pins:
            pins.resume()

    async def restart(self) -> None:
        """Reset while idle: the device is as new."""
        self.model = ZoneModel(self.config, self.model.streams, now=self.model.now, ages=self.model.ages)
        self.mapping.clear()
        self.wear.clear()
        self.erased = set(range(self.config.geometry.zones))
        self.sent = self.issued = self.allocations = self.erase_pulses = self.erases = 0
        self.dut.issued.value = 0
        # One is held inside.
        self.tags.stop()
        self.tags.clear()
        self.dut.rst.value = 1
        await cycles(self.dut, 2)
        self.dut.rst.value = 0
        self._free_tags()
        self.tags.resume()
        await cycles(self.dut, 1)
        while self.dut.ready.value != 1:
            await RisingEdge(self.dut.clk)

    def _free_tags(self) -> None:
        for tag in range(self.config.commands):
            self.tags.send(tag)

    def pace(self, *, idle: float = 0, busy: float = 1, delay: int = 0, delay_erase: int = 4) -> None:
        """Chance of idle cycles before inputs, of ready outputs, and the longest delays."""
        for source in (self.commands, self.tags, *self.erased_streams):
            source.idle = idle
        for sink in (self.open, self.answers, *self.erase):
            sink.busy = busy
        self.memory.pace(idle, busy)
        self.delay, self.delay_erase = delay, delay_erase

    def submit(
        self, request: Request, outcome: Outcome | None = None, program_fails: bool = False
    ) -> Outcome:
        """Send a command; what must come of it is the model's opinion, unless `outcome` is given.

        `program_fails`: of an append or write. The model is to be told when that has come to the zones.
        """
        outcome = self.model.execute(request) if outcome is None else outcome
        fields = self._fields(request, program_fails)
        self.statuses[outcome.status] += 1
        self._expected.append((request, outcome, fields))
        self._send(fields, lambda: self._empty_soon(outcome.emptied))
        return outcome

    def _fields(self, request: Request, program_fails: bool) -> dict[str, Any]:
        """The fields of a `Command`, and the model's notes on it."""
        g = self.config.geometry
        zones = self.model.streams[request.stream]
        placed = request.operation in PLACED or request.restores_zone
        placed = placed and not request.select_all and not request.status
        is_update = request.operation is Operation.UPDATE and not request.status
        # Fields without a meaning hold anything.
        index = request.zone if placed else random.getrandbits(g.zone_bits)
        zone = zones.start + index if placed else random.getrandbits(g.zone_bits)
        first_zone = zone
        if is_update:
            first_zone = self.model.streams[request.source].start + index
        fields: dict[str, Any] = {
            "operation": request.operation,
            "status": request.status,
            "port": random.getrandbits(1),
            "cid": self._number & 0xFFFF,
            "stream": request.stream,
            "zone": zone,
            "index": index,
            "offset": request.offset,
            "blocks": request.blocks,
            "buffer_block": random.getrandbits(self.config.buffer_block_bits),
            "address": 8 * random.getrandbits(16),
            "descriptors": request.descriptors,
            "report_filter": request.report_filter,
            "partial": request.partial,
            "action": int(request.action),
            "select_all": request.select_all,
            "source": request.source,
            "source_page": request.source_page,
            "first_zone": first_zone,
            "rows": request.rows,
            "last_page": request.pages - 1 if is_update else random.getrandbits(g.plane_bits),
            "copies": request.copies,
            "events": self._events(request) if is_update else random.randrange(3 * self.config.max_blocks),
            "physical": request.physical,
            "restored_state": request.restored_state,
            "unsure": request.unsure,
            "wear": request.wear,
            "sequence": request.sequence,
            "generation": request.generation,
            "time": request.time if request.restores_zone else random.getrandbits(32),
        }
        if self.config.codec:
            fields |= self._codec_fields(request)
        self._number += 1
        fields["now"] = self.model.resets[request.stream]
        # Of other commands it makes no difference.
        fields["program_fails"] = program_fails if request.operation in APPENDS else random.getrandbits(1)
        return fields

    def _codec_fields(self, request: Request) -> dict[str, int]:
        bits = self.config.count_bits
        moves = request.operation in (*APPENDS, Operation.READ)
        return {
            "codec": request.codec if moves else random.choice(list(Codec)),
            "bound": request.bound if request.encodes else random.getrandbits(bits),
            "expanded": request.expanded if request.operation is Operation.READ else random.getrandbits(bits),
        }

    def _send(self, fields: dict[str, int], offered: Callable[[], None]) -> None:
        names = Command(self.config).members
        bits = pack(Command(self.config), **{name: fields[name] for name in names})
        self.commands.send(bits, offered)

    async def set_time(self, time: int) -> None:
        """When nothing is under way: what comes of a command depends on what time it is then."""
        await self.done()
        self.dut.time.value = self.model.now = time % 2**32
        await cycles(self.dut, 2)

    async def done(self, limit: int = 20000) -> None:
        """Wait until all commands have left the zones and the tracker."""
        for _ in range(limit):
            if not self._expected and not any(self.in_flight.values()):
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"{len(self._expected)} commands are stuck, the first: {self._expected[:1]}")

    async def all_sent(self, limit: int = 20000) -> None:
        """Wait until all commands have left the zones."""
        for _ in range(limit):
            if not self._expected:
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"{len(self._expected)} commands are stuck, the first: {self._expected[:1]}")

    async def idle(self, limit: int = 20000) -> None:
        """Wait until there is nothing to do, and check that then every zone without content is erased."""
        await self.done(limit)
        await cycles(self.dut, 4)
        for _ in range(limit):
            if self.dut.idle.value == 1:
                break
            await RisingEdge(self.dut.clk)
        assert self.dut.idle.value == 1, "not idle"
        everything = set(range(self.config.geometry.zones))
        assert self.erased == everything - set(self.mapping.values()) - self.bad
        assert self.erase_pulses == self.erases
        assert int(self.dut.sequence.value) == self.allocations
        for stream, resets in self.model.resets.items():
            assert int(getattr(self.dut, f"generation__{stream}").value) == resets

    async def read_wear(self) -> dict[int, int]:
        """Erases of each physical zone, from the table."""
        wear = {}
        for zone in range(self.config.geometry.zones):
            self.dut.zone_select.value = zone
            await cycles(self.dut, 3)
            wear[zone] = int(self.dut.zone_wear.value)
        return wear

    async def _watch(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            self.erase_pulses += int(self.dut.erases.value)
            self.zone_waits += int(self.dut.zone_waits.value)

    def _empty_soon(self, zones: tuple[int, ...]) -> None:
        cocotb.start_soon(self._empty(zones))

    async def _empty(self, zones: tuple[int, ...]) -> None:
        # The command is offered in the clock in which the job before it is taken: let that come first.
        await cycles(self.dut, 1)
        for zone in zones:
            self.mapping.pop(zone, None)

    # Tracker and pipelines.

    def _answer(self, answer) -> None:
        request, outcome, fields = self._expected.popleft()
        assert self._opened is None, f"{request} was opened and answered"
        assert (answer.port, answer.cid) == (fields["port"], fields["cid"]), request
        assert answer.status == outcome.status, (
            f"{request}: {Status(answer.status).name}, not {outcome.status.name}"
        )
        assert answer.result == 0, request
        assert outcome.status is not Status.SUCCESS or request.operation not in DATA_OPERATIONS, request
        is_generation = request.operation is Operation.GENERATION and not request.status
        if outcome.emptied or is_generation:
            assert self.in_flight[request.stream] == 0, f"{request} did not wait"
        if is_generation and request.action == GenerationAction.COMMIT:
            assert self.in_flight[request.source] == 0, f"{request} did not wait for the source"
        if outcome.report:
            got = b"".join(word.to_bytes(8, "little") for _, word in sorted(self.memory.words.items()))
            assert got == outcome.report, request
            assert min(self.memory.words) == fields["address"]
            assert max(self.memory.words) == fields["address"] + len(got) - 8
            self.memory.words.clear()
        if request.operation is Operation.RESTORE and outcome.status is Status.SUCCESS:
            self._restore(request, fields)
        self.answered_at.append(clock_number())

    def _restore(self, request: Request, fields: dict[str, int]) -> None:
        match RestoreAction(request.action):
            case RestoreAction.ZONE:
                generation = request.generation if request.restored_state in RETIRED else fields["now"]
                identity = self._identity(request.stream, fields["zone"], generation, request.sequence)
                self.identities[fields["zone"]] = identity, request.wear
                self.mapping[fields["zone"]] = request.physical
                self.last_job[fields["zone"]] = 0
            case RestoreAction.END:
                assert not any(self.in_flight.values()), "recovery has ended with commands in flight"
                self.allocations = request.sequence
        if request.action in (RestoreAction.ZONE, RestoreAction.PHYSICAL):
            self.wear[request.physical] = request.wear
            self.bad.discard(request.physical)

    @staticmethod
    def _identity(stream: int, zone: int, generation: int, sequence: int) -> dict[str, int]:
        return {"stream": stream, "zone": zone, "generation": generation, "sequence": sequence}

    def _check_identity(self, job, zone: int) -> None:
        identity, _ = self.identities[zone]
        assert {name: getattr(job.identity, name) for name in identity} == identity

    def _open(self, opening) -> None:
        request, outcome, fields = self._expected[0]
        assert outcome.status is Status.SUCCESS, f"{request} was opened, expected {outcome.status.name}"
        assert request.operation in DATA_OPERATIONS and self._opened is None, request
        assert (opening.port, opening.cid) == (fields["port"], fields["cid"]), request
        assert (opening.stream, opening.operation) == (request.stream, request.operation)
        assert opening.source == request.source
        assert request.operation not in PLACED or opening.zone == fields["zone"]
        awaited = AWAITED.get(request.operation, ())
        assert not any(self.steps[operation] for operation in awaited), f"{request} did not wait"
        assert opening.count == self._events(request)
        assert opening.result == outcome.result, request
        self._opened = opening
        for stream in self._streams_of(request):
            self.in_flight[stream] += 1
        self.steps[request.operation] += 1

    @staticmethod
    def _streams_of(request: Request) -> tuple[int, ...]:
        is_update = request.operation is Operation.UPDATE
        return (request.stream, request.source) if is_update else (request.stream,)

    def _events(self, request: Request) -> int:
        """Events that the tracker has to wait for: per page one, or two if it is to be programmed, too."""
        match request.operation:
            case Operation.FLUSH:
                return 1
            case Operation.UPDATE:  # of each tile its gradients, its program and its copies
                tiles = request.rows * self.config.geometry.channels
                return tiles * (request.pages + 1 + request.copies)
            case Operation.READ | Operation.STATISTICS | Operation.INSPECT:
                return request.blocks
            case Operation.CONSTANTS:
                return 2 * request.blocks
        non_volatile = request.stream in self.non_volatile
        if request.encodes:  # its end, and its programs
            return 1 + non_volatile * request.bound
        return request.blocks * (2 if non_volatile else 1)

    def _job(self, job, *operations: Operation) -> tuple[Request, dict[str, int]]:
        """The checks that all jobs have in common."""
        request, outcome, fields = self._expected.popleft()
        assert self._opened is not None, f"the job of {request} came before its opening"
        assert request.operation in operations and job.tag == self._opened.tag, request
        if request.operation is Operation.FLUSH:
            assert (job.zone, job.offset, job.blocks, job.buffer_block) == (0, 0, 0, 0), request
        else:
            assert (job.offset, job.blocks, job.buffer_block) == (
                outcome.offset,
                request.blocks,
                fields["buffer_block"],
            ), request
        places = []
        if request.operation in PLACED or request.operation is Operation.INSPECT:
            places.append(job.zone)
        if request.operation is Operation.UPDATE:
            places.append(job.source)
        self.moving.update(places)
        cocotb.start_soon(self._finish(job.tag, request, places, fields))
        self._opened = None
        return request, fields

    def _write(self, job) -> None:
        request, fields = self._job(
            job, Operation.APPEND, Operation.WRITE, Operation.FLUSH, Operation.UPDATE, Operation.CONSTANTS
        )
        assert job.flush == (request.operation is Operation.FLUSH)
        assert job.stream == request.stream
        assert job.non_volatile == (request.stream in self.non_volatile)
        self.sent += 1
        if self._to_issue == 0:
            cocotb.start_soon(self._issue())
        self._to_issue += 1
        self._check_kind(job, request)
        if request.operation not in PLACED:
            return
        zone = self.model.streams[request.stream].start + request.zone
        if zone not in self.mapping:
            assert job.zone in self.erased, f"physical zone {job.zone} is written but not erased"
            self.erased.remove(job.zone)
            self.mapping[zone] = job.zone
            identity = self._identity(request.stream, zone, fields["now"], self.allocations)
            self.identities[zone] = identity, self.wear[job.zone]
            self.allocations += 1
        assert self.mapping[zone] == job.zone
        self._check_identity(job, zone)
        assert job.wear == self.identities[zone][1]
        self.last_job[zone] = self.sent

    def _check_kind(self, job, request: Request) -> None:
        if request.operation is Operation.UPDATE:
            source = self.model.streams[request.source].start + request.zone
            expected = (PageKind.GRADIENTS, request.pages - 1, self.mapping[source], request.copies)
            identity, _ = self.identities[source]
            expected_source = {**identity, "page": request.source_page}
            del expected_source["generation"]
            assert {name: getattr(job.source_identity, name) for name in expected_source} == expected_source
        elif request.operation is Operation.CONSTANTS:
            expected = (PageKind.CONSTANTS, 0, 0, 0)
        else:
            expected = (PageKind.DATA, self.config.geometry.planes - 1, 0, 0)
        assert (job.kind, job.last_page, job.source, job.copies) == expected, request
        if request.operation is Operation.CONSTANTS:
            assert (job.zone, job.offset) == (0, 0)
        if self.config.codec:
            assert job.codec == (request.codec if request.operation is Operation.APPEND else Codec.RAW)
            assert not request.encodes or job.bound == request.bound

    def _read(self, job) -> None:
        request, _ = self._job(job, Operation.READ, Operation.STATISTICS, Operation.INSPECT)
        assert job.statistics == (request.operation is Operation.STATISTICS)
        assert job.inspect == (request.operation is Operation.INSPECT)
        if self.config.codec:
            assert job.codec == (request.codec if request.operation is Operation.READ else Codec.RAW)
            assert request.operation is not Operation.READ or job.expanded == request.expanded
        if job.inspect:
            assert job.zone == request.physical and job.after <= self.issued
            return
        if job.statistics:
            assert (job.zone, job.offset) == (0, 0) and job.after <= self.issued
            return
        zone = self.model.streams[request.stream].start + request.zone
        assert job.zone == self.mapping[zone]
        self._check_identity(job, zone)
        self.awaited.append(job.after)
        last = self.last_job[zone]
        assert job.after == last or (job.after <= self.issued and last <= self.issued), request

    async def _finish(self, tag: int, request: Request, places: list[int], fields: dict[str, int]) -> None:
        await cycles(self.dut, random.randint(0, self.delay) + 1)
        while self.hold:
            await cycles(self.dut, 1)

        def offered() -> None:
            for stream in self._streams_of(request):
                self.in_flight[stream] -= 1
            self.steps[request.operation] -= 1
            self.moving.subtract(places)
            self.tags.send(tag)

        retired = {
            "stream": request.stream,
            "source": request.source,
            "zone": fields["zone"],
            "operation": request.operation,
            "program_failed": int(fields["program_fails"]),
        }
        self.retired.send(pack(Retired(self.config), **retired), offered)

    async def _issue(self) -> None:
        """The write pipeline announces job after job."""
        while True:
            await cycles(self.dut, random.randint(0, self.delay // 2) + 1)
            self.issued += 1
            self.dut.issued.value = self.issued
            self._to_issue -= 1
            if self._to_issue == 0:
                return

    # Channels.

    def _erase(self, channel: int, zone: int) -> None:
        assert self.dut.recovering.value == 0, f"physical zone {zone} is erased while recovering"
        assert zone not in self.bad, f"physical zone {zone} is erased, which is not in service"
        assert zone not in self.mapping.values(), f"physical zone {zone} is erased with content on it"
        assert zone not in self.erased, f"physical zone {zone} is erased twice"
        assert not self.moving[zone], f"physical zone {zone} is erased while data moves there"
        cocotb.start_soon(self._erased(channel, zone))

    async def _erased(self, channel: int, zone: int) -> None:
        await cycles(self.dut, random.randint(0, self.delay_erase) + 1)
        # One channel's failure is enough.
        failed = zone in self.failing and channel == zone % self.config.geometry.channels

        def offered() -> None:
            self._asked[zone] += 1
            if self._asked[zone] == self.config.geometry.channels:
                self._asked[zone] = 0
                if zone in self.failing:
                    self.bad.add(zone)
                else:
                    self.erased.add(zone)
                    self.erases += 1
                    self.wear[zone] = min(self.wear[zone] + 1, MOST_WEAR)

        self.erased_streams[channel].send(pack(EraseResult(), failed=int(failed)), offered)
