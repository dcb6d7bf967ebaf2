"""cocotb tests of the bus controller: every operation on the pins, with its timing to the clock."""

import random
from collections import deque
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge, ValueChange

from flashtrain.rtl.channel.block_table import BlockPlace
from flashtrain.rtl.channel.bus.bus_controller import BusActivity
from flashtrain.rtl.layouts import BufferPage, BusRequest, FillTarget, PagePart, PageSource, PageTarget
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import HIGH, StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import BusOp
from tests.rtl.channel.bus.nand_helpers import CONFIGS, bus_kind
from tests.rtl.channel.bus.pin_monitor import (
    GIVES_STATUS,
    LOADS,
    NAMED_BEFORE,
    PARAMETERS,
    SELECTS,
    TAKES_DATA,
    Operation,
    PinMonitor,
)
from tests.rtl.channel.timeout_streams import PausingSource, clock_now, until, wait

CONFIG = CONFIGS[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
DIES = range(GEOMETRY.dies)
BUS_REQUEST, BLOCK_PLACE = BusRequest(CONFIG), BlockPlace(CONFIG)
BEATS, LOADED_BEATS = CONFIG.bus_page_bytes // 2, CONFIG.loaded_page_bytes // 2
TWC, TADL, TWHR, TRHW, TCHZ = (CONFIG.timing.cycles(name) for name in ("twc", "tadl", "twhr", "trhw", "tchz"))
CYCLES = {
    BusOp.RESET: 1, BusOp.STATUS: 1, BusOp.STATUS_PLANE: 4, BusOp.READ_MORE: 7, BusOp.READ_LAST: 7,
    BusOp.CACHE_READ_LAST: 7, BusOp.CACHE_READ_NEXT: 1, BusOp.CACHE_READ_END: 1, BusOp.SELECT: 7,
    BusOp.PROGRAM_PAGE: 6, BusOp.PROGRAM_MORE: 1, BusOp.PROGRAM_LAST: 1,
    BusOp.ERASE_MORE: 5, BusOp.ERASE_LAST: 5,
    BusOp.LOAD_CONSTANTS: 2, BusOp.LOAD_GRADIENT: 5, BusOp.UPDATE_SOURCE: 4, BusOp.UPDATE_MORE: 5,
    BusOp.UPDATE_LAST: 5, BusOp.UPDATE_END: 1, BusOp.SELECT_COPY: 5, BusOp.SELECT_STATISTICS: 2,
    BusOp.SUSPENDED_READ_MORE: 4, BusOp.SUSPENDED_READ_LAST: 5, BusOp.SUSPENDED_READ_NEXT: 1,
    BusOp.SUSPENDED_READ_SELECT: 4, BusOp.SUSPENDED_READ_END: 1, BusOp.SUSPENDED_READ_RENEW: 2,
}  # fmt: skip
if CONFIG.read_levels:
    CYCLES[BusOp.SET_READ_LEVEL] = 2
if CONFIG.geometry.spare_blocks:
    CYCLES |= {BusOp.COPYBACK_READ: 7, BusOp.COPYBACK_PROGRAM: 7}
NO_DATA = [op for op in CYCLES if op not in TAKES_DATA | GIVES_STATUS | {BusOp.SET_READ_LEVEL}]
OF_PARTS = {BusOp.SELECT, BusOp.DATA_OUT, BusOp.IDENTITY_OUT} if CONFIG.part_bytes else set()
IDENTITY_BEATS = 8
FETCH_CYCLES = 2  # until the bench gives the beats that the bus has asked for
ADDRESSED = {op for op, cycles in CYCLES.items() if cycles > 2}


class Bench:
    """Requests of every die, the write and read buffers' sides, and dies that answer `latency` after RE."""

    def __init__(self, dut, *, latency: int = 1, beats_busy: float = 1, fill_busy: float = 1):
        self.dut = dut
        self.latency = latency
        self.beats_busy = beats_busy
        self.fill_busy = fill_busy
        self.expected: list[deque[dict]] = [deque() for _ in DIES]
        self.operations: list[Operation] = []
        self.blocks: dict[tuple[int, int, int], int] = {}
        self.data_in: list[int] = []  # on the pins
        self.parameters: list[int] = []  # of features, on the pins
        self.fetched: list[int] = []  # beats that the write buffer has given
        self.sent: list[int] = []  # by dies, of pages
        self.filled: list[int] = []
        self.status = 0  # the latest that a die has sent
        self.fills: list[dict] = []  # what DATA_OUT asked for, in the order of the bus
        self.fetches: list[dict] = []
        self.origins = {
            (slot, plane): {
                "tag": random.randrange(CONFIG.commands),
                "buffer_block": random.getrandbits(CONFIG.buffer_block_bits),
                "from_array": 0,
            }
            for slot in range(1 << bits_for(CONFIG.write_sets))
            for plane in range(GEOMETRY.planes)
        }
        self.done = [0 for _ in DIES]
        self.silent: set[int] = set()  # dies that do not answer
        self.offline: set[int] = set()
        self.unseen = 0  # operations that the pins need not show
        self.activity = dict.fromkeys(BusActivity, 0)

    async def start(self) -> None:
        dut = self.dut
        inputs = [f"requests__{die}__{pin}" for die in DIES for pin in ("valid", "payload")]
        inputs += ["lookup__block", "origin", "offline", "nand__dqs_i", "nand__dq_i", "nand__rb_n"]
        self.beats = StreamSource(dut, "beats", self.beats_busy)
        self.fetch = StreamSink(dut, "fetch", self.beats_busy)
        self.fill = StreamSink(dut, "fill", self.fill_busy)
        await start(dut, **dict.fromkeys(inputs, 0))
        self.requests = [PausingSource(dut, f"requests__{die}") for die in DIES]
        self.monitor = PinMonitor(dut, CONFIG, self._operation)
        cocotb.start_soon(self._cycles())
        cocotb.start_soon(self._look_up())
        cocotb.start_soon(self._answer_origins())
        for die in DIES:
            cocotb.start_soon(self._done(die))

    def request(self, die: int, op: BusOp, **fields: int) -> None:
        chosen = {
            "op": op, "zone": random.randrange(GEOMETRY.zones), "page": random.randrange(GEOMETRY.pages),
            "plane": random.randrange(GEOMETRY.planes), "slot": random.randrange(CONFIG.write_sets),
            "tag": random.randrange(CONFIG.commands),
            "buffer_block": random.getrandbits(CONFIG.buffer_block_bits),
            "origin": random.getrandbits(1), "kind": bus_kind(op), **fields,
        }  # fmt: skip
        if CONFIG.read_levels:
            chosen["level"] = random.randint(0, CONFIG.read_levels)
        chosen["from_array"] = 0 if chosen["origin"] else random.getrandbits(1)
        if op in OF_PARTS:
            chosen |= {"origin": 0, "from_array": 1}
        self.expected[die].append(chosen)
        names = BUS_REQUEST.members
        self.requests[die].send(pack(BUS_REQUEST, **{name: chosen[name] for name in chosen if name in names}))

    def take_offline(self, die: int) -> None:
        self.offline.add(die)
        self.dut.offline.value = sum(1 << number for number in self.offline)

    async def perform(self, die: int, op: BusOp, **fields: int) -> tuple[int, int]:
        """One operation that nobody expects on the pins: cycles from its start to its end, and the status."""
        self.unseen += 1
        started = clock_now()
        self.requests[die].send(pack(BUS_REQUEST, op=op, kind=bus_kind(op), **fields))
        await until(self.dut, getattr(self.dut, f"done__{die}"))
        return clock_now() - started, int(self.dut.status.value)

    async def finish(self, cycles: int = 500_000) -> None:
        limit = clock_now() + cycles
        while any(self.expected):
            assert clock_now() < limit, f"still to come: {self.expected}"
            await wait(self.dut, 50)
        await wait(self.dut, 10)
        assert self.data_in == self.fetched
        assert self.filled == self.sent
        assert [unpack(FillTarget(CONFIG), item) for item in self.fill.items] == self.fills
        assert [unpack(BufferPage(CONFIG), item) for item in self.fetch.items] == self.fetches
        assert sum(self.done) == len(self.operations)
        assert self.activity[BusActivity.DATA_IN] == len(self.data_in)
        assert self.activity[BusActivity.DATA_OUT] == len(self.sent)
        # And one clock of each, in which the request is taken.
        cycles = sum(len(op.commands) + len(op.address) for op in self.operations)
        commands = cycles * TWC + len(self.parameters)
        assert self.activity[BusActivity.COMMAND] == commands + len(self.operations) + self.unseen

    def _operation(self, operation: Operation) -> None:
        """An operation has left the pins: it is the next one of its die."""
        if operation.die in self.silent:
            return
        self.operations.append(operation)
        expected = self.expected[operation.die].popleft()
        is_identity = expected["op"] is BusOp.IDENTITY_OUT
        assert operation.op is (BusOp.DATA_OUT if is_identity else expected["op"])
        if CONFIG.part_bytes and len(operation.address) in (2, 5):
            assert int.from_bytes(bytes(operation.address[:2]), "little") == expected.get("column", 0)
        if operation.op is BusOp.SELECT:
            first = 0x00 if expected.get("sensed") else 0x05 if expected.get("of_identity") else 0x06
            assert operation.commands[0] == first
        if "beats" in expected:
            assert operation.data_out == expected["beats"]
        if operation.op in ADDRESSED and len(operation.address) > 2:
            place = expected["zone"], operation.die, expected["plane"]
            row = GEOMETRY.row_address(self.blocks[place], expected["plane"], expected["page"])
            assert operation.row == row
        if operation.op is BusOp.DATA_OUT and not is_identity:
            place = expected["slot"], expected["plane"]
            target = {name: expected[name] for name in ("tag", "buffer_block", "from_array")}
            source = 0
            if CONFIG.read_levels:
                named = {name: expected[name] for name in ("zone", "page", "plane", "level")}
                source = pack(PageSource(CONFIG), die=operation.die, **named)
            names = ("part", "moves_part") if CONFIG.part_bytes else ()
            part = {name: expected.get(name, 0) for name in names}
            origin = self.origins[place] if expected["origin"] else target
            self.fills.append({**origin, "source": source, **part})
        if operation.op is BusOp.SET_READ_LEVEL:
            assert self.parameters[-PARAMETERS:] == [expected["level"] * 0x0101, 0, 0, 0]
        if operation.op in TAKES_DATA:
            self.fetches.append({name: expected[name] for name in ("slot", "plane")})
        if "beats" not in expected:
            self._check_length(operation)

    def _check_length(self, operation: Operation) -> None:
        cycles = operation.end - operation.begin + 1
        command_cycles = TWC * (len(operation.commands) + len(operation.address))
        if operation.op in NAMED_BEFORE:
            least = command_cycles + BEATS + FETCH_CYCLES
            assert cycles == least or (self.beats_busy < 1 and cycles > least)
        elif operation.op in TAKES_DATA:
            least = command_cycles + TADL - 1 + LOADED_BEATS
            assert cycles == least or (self.beats_busy < 1 and cycles > least)
        elif operation.op is BusOp.SET_READ_LEVEL:
            assert cycles == command_cycles + TADL - 1 + PARAMETERS
        elif operation.op in GIVES_STATUS:
            assert cycles == command_cycles + TWHR + self.latency + 3
        elif operation.op is BusOp.DATA_OUT:
            least = 1 + BEATS + self.latency + 3
            assert cycles == least or (self.fill_busy < 1 and cycles > least)
        else:
            assert cycles == command_cycles

    async def _done(self, die: int) -> None:
        while True:
            await until(self.dut, getattr(self.dut, f"done__{die}"))
            if die in self.offline | self.silent:
                continue
            self.done[die] += 1
            # The operation is still on the pins.
            if self.expected[die][0]["op"] in GIVES_STATUS:
                assert self.dut.status.value == self.status

    async def _look_up(self) -> None:
        """The block table: a random block for each place, one clock after it is named."""
        clk, named, block = self.dut.clk, self.dut.lookup__place, self.dut.lookup__block
        last = None
        while True:
            await RisingEdge(clk)
            bits = int(named.value)
            if bits != last:
                last, place = bits, unpack(BLOCK_PLACE, bits)
                key = place["zone"], place["die"], place["plane"]
                block.value = self.blocks.setdefault(key, random.randrange(GEOMETRY.blocks))

    async def _answer_origins(self) -> None:
        """The write buffer: in every clock, where the page that is named came from."""
        while True:
            self.dut.origin.value = pack(PageTarget(CONFIG), **self.origins[self._named()])
            await ValueChange(self.dut.origin_of)

    def _named(self) -> tuple[int, int]:
        place = unpack(BufferPage(CONFIG), int(self.dut.origin_of.value))
        return place["slot"], place["plane"]

    async def _cycles(self) -> None:
        """Both ends of all data, and the dies' answers, in every clock."""
        dut = self.dut
        answers: deque[int | None] = deque([None] * (self.latency - 1))
        fetched, granted = 0, None
        clk, activity, fill_valid, re = dut.clk, dut.activity, dut.fill_valid, dut.nand__re
        dqs_o, dqs_i, dq_i = dut.nand__dqs_o, dut.nand__dqs_i, dut.nand__dq_i
        requests = [
            tuple(getattr(dut, f"requests__{die}__{pin}") for pin in ("ready", "payload")) for die in DIES
        ]
        while True:
            await RisingEdge(clk)
            self.activity[BusActivity(int(activity.value))] += 1
            if dqs_o.value == HIGH:
                assert self.monitor.operation is not None
                of_feature = self.monitor.operation.commands == [0xEF]
                (self.parameters if of_feature else self.data_in).append(int(dut.nand__dq_o.value))
            if fill_valid.value == HIGH:
                self.filled.append(int(dut.fill_data.value))
            for ready, payload in requests:
                if ready.value == HIGH:
                    taken = unpack(BUS_REQUEST, int(payload.value))
                    granted = BusOp(taken["op"])
            if len(self.fetch.items) > fetched:
                fetched += 1
                beats = LOADED_BEATS if granted in LOADS else BEATS
                page = [random.getrandbits(16) for _ in range(beats)]
                self.fetched += page
                self.beats.send(*page)
            answer = None
            if re.value == HIGH:
                answer = random.getrandbits(16)
                operation = self.monitor.operation
                assert operation is not None
                if operation.die in self.silent:
                    answer = None
                elif operation.commands:
                    self.status = answer & 0xFF
                else:
                    self.sent.append(answer)
            answers.append(answer)
            answer = answers.popleft()
            dqs_i.value = answer is not None
            dq_i.value = random.getrandbits(16) if answer is None else answer


@cocotb.test()
@cocotb.parametrize(latency=[1, 3])
async def spells_every_operation(dut, latency):
    bench = Bench(dut, latency=latency)
    await bench.start()
    for die in DIES:
        # Data in come at once when they follow a name: not to a bus that does not know of waits.
        others = [op for op in CYCLES if op is not BusOp.PROGRAM_PAGE]
        for op in [*random.sample(others, len(others)), BusOp.PROGRAM_PAGE]:
            bench.request(die, op)
    await bench.finish()


@cocotb.test()
async def wastes_two_cycles_between_operations(dut):
    bench = Bench(dut)
    await bench.start()
    for die in DIES:
        for _ in range(20):
            bench.request(die, random.choice(NO_DATA))
    await bench.finish()
    gaps = {after.begin - before.end - 1 for before, after in pairwise(bench.operations)}
    assert gaps == {2}


@cocotb.test()
@cocotb.parametrize(latency=[1, 4])
async def rests_after_data(dut, latency):
    """To the clock: tRHW for the die that has sent data, tCHZ for another."""
    bench = Bench(dut, latency=latency)
    await bench.start()
    for op in (BusOp.DATA_OUT, BusOp.STATUS) * 3:
        bench.request(0, op)
        await wait(dut, TWC)
        bench.request(0, BusOp.CACHE_READ_NEXT)
        if GEOMETRY.dies > 1:
            bench.request(1, BusOp.CACHE_READ_NEXT)
        await bench.finish()
        out, *others, same = bench.operations[-1 - min(GEOMETRY.dies, 2) :]
        assert same.die == 0 and same.begin - out.last_data == TRHW
        assert all(other.die == 1 and other.begin - out.last_data == TCHZ for other in others)


@cocotb.test()
async def serves_pages_in_turn(dut):
    bench = Bench(dut)
    await bench.start()
    for _ in range(4):
        for die in DIES:
            bench.request(die, random.choice((BusOp.DATA_OUT, BusOp.PROGRAM_MORE)))
    await bench.finish()
    order = [operation.die for operation in bench.operations]
    assert order == [(order[0] + index) % GEOMETRY.dies for index in range(len(order))]


@cocotb.test(skip=GEOMETRY.dies < 3)
async def serves_short_operations_first(dut):
    bench = Bench(dut)
    await bench.start()
    for die in (0, 1):
        for _ in range(6):
            bench.request(die, random.choice((BusOp.DATA_OUT, BusOp.PROGRAM_LAST)))
    for _ in range(5):
        await wait(dut, random.randint(1, BEATS))
        ended = len(bench.operations)
        bench.request(2, random.choice((BusOp.STATUS, BusOp.SELECT, BusOp.ERASE_MORE)))
        while bench.expected[2]:
            await wait(dut, 10)
        order = [operation.die for operation in bench.operations[ended:]]
        # What the bus was at, and what it had just chosen.
        assert order.index(2) <= 1
    await bench.finish()


@cocotb.test()
async def waits_for_room_without_holding_the_bus(dut):
    bench = Bench(dut, fill_busy=0)
    await bench.start()
    bench.request(0, BusOp.DATA_OUT)
    for die in DIES[1:]:
        bench.request(die, BusOp.STATUS)
        bench.request(die, BusOp.PROGRAM_MORE)
    await wait(dut, GEOMETRY.dies * (BEATS + TADL + 12 * TWC))
    assert len(bench.operations) == 2 * (GEOMETRY.dies - 1)
    bench.fill.busy = 1
    await bench.finish()


@cocotb.test()
@cocotb.parametrize((("beats_busy", "fill_busy"), [(1, 1), (0.3, 0.2), (0.9, 0.02)]))
async def random_operations(dut, beats_busy, fill_busy):
    bench = Bench(dut, latency=random.randint(1, 4), beats_busy=beats_busy, fill_busy=fill_busy)
    await bench.start()
    choice = [*CYCLES, BusOp.DATA_OUT, BusOp.DATA_OUT]
    # After these an agent waits, which is checked on the pins.
    choice = [op for op in choice if op not in (*SELECTS, BusOp.PROGRAM_PAGE)]
    for _ in range(10):
        for die in DIES:
            for _ in range(random.randint(0, 3)):
                bench.request(die, random.choice(choice))
        await wait(dut, random.choice((0, 20, 1000)))
    await bench.finish()


def some_part() -> tuple[dict[str, int], int, int]:
    """The fields of a page of which a part is moved, the column of its first byte, and its beats."""
    count = CONFIG.page_parts
    before = random.randrange(count)
    behind = random.randrange(int(before == 0), count - before)
    part = pack(PagePart(CONFIG), before=before, behind=behind, target=random.randrange(count))
    beats = CONFIG.part_bytes // 2
    return {"part": part, "moves_part": 1}, 2 * beats * before, beats * (count - before - behind)


@cocotb.test(skip=not CONFIG.part_bytes)
async def a_part_and_its_identity(dut):
    """Each has a column of its own. Other dies say their status between, and no beat is lost or invented.

    That of the part is named by a SELECT, or by the sense.
    """
    bench = Bench(dut, latency=random.randint(1, 4))
    await bench.start()

    async def done() -> None:
        while any(bench.expected):
            await wait(dut, 10)

    for die in (*DIES, *DIES):
        fields, first_byte, beats = some_part()
        if sensed := random.getrandbits(1):
            bench.request(die, BusOp.READ_LAST, **fields, column=first_byte)
            await done()
        for column, following in ((first_byte, BusOp.DATA_OUT), (GEOMETRY.page_bytes, BusOp.IDENTITY_OUT)):
            of_identity = int(following is BusOp.IDENTITY_OUT)
            kind = {"of_identity": of_identity, "sensed": sensed & ~of_identity & 1}
            bench.request(die, BusOp.SELECT, **fields, column=column, **kind)
            await done()
            for other in random.sample(DIES, 2):
                bench.request(other, BusOp.STATUS)
            await wait(dut, CONFIG.timing.cycles("tccs"))
            bench.request(die, following, **fields, beats=IDENTITY_BEATS if of_identity else beats)
            await done()
        filled = len(bench.filled)
        bench.request((die + 1) % len(DIES), BusOp.STATUS)
        await done()
        await wait(dut, 20)
        assert len(bench.filled) == filled
    await bench.finish()


@cocotb.test(skip=not CONFIG.part_bytes)
@cocotb.parametrize(lost=["silent", "offline"])
@cocotb.parametrize(from_start=[True, False])
async def a_die_is_lost_with_its_part(dut, lost, from_start):
    """Zeros take the place of all that is missing, once."""
    bench = Bench(dut)
    await bench.start()

    def lose() -> None:
        bench.silent.add(0)
        if lost == "offline":
            bench.take_offline(0)

    fields, column, beats = some_part()
    if from_start:
        lose()
    else:
        bench.request(0, BusOp.SELECT, **fields, column=column)
        await wait(dut, 10 * TWC + CONFIG.timing.cycles("tccs"))
    if from_start:
        await bench.perform(0, BusOp.SELECT, **fields)
        await wait(dut, CONFIG.timing.cycles("tccs"))
        await bench.perform(0, BusOp.DATA_OUT, **fields)
    else:
        bench.request(0, BusOp.DATA_OUT, **fields, beats=beats)
        while any(bench.expected):
            await wait(dut, 10)
        lose()
    await bench.perform(0, BusOp.SELECT, **fields, of_identity=1)
    await wait(dut, CONFIG.timing.cycles("tccs"))
    await bench.perform(0, BusOp.IDENTITY_OUT, **fields)
    await wait(dut, 20)
    came = [] if from_start else bench.sent
    assert bench.filled == came + [0] * (beats + IDENTITY_BEATS - len(came))
    bench.request(1, BusOp.STATUS)
    while bench.expected[1]:
        await wait(dut, 10)
    assert bench.done[1] == 1 and len(bench.filled) == beats + IDENTITY_BEATS


FAILED = 0b0111_0011  # RDY, ARDY, SUSPENDED_READ, FAILC, FAIL: ONFI 5.1, section 5.13


@cocotb.test()
async def leaves_a_die_that_is_offline_alone(dut):
    """Its operations end at once, a status says that they have failed, and a page is zeros."""
    bench = Bench(dut)
    await bench.start()
    bench.take_offline(0)
    for op in [*random.sample(list(CYCLES), len(CYCLES)), BusOp.DATA_OUT]:
        fetched, filled = len(bench.fetch.items), len(bench.filled)
        cycles, status = await bench.perform(0, op)
        await wait(dut, 4)
        assert len(bench.fetch.items) == fetched
        if op is BusOp.DATA_OUT:
            assert bench.filled[filled:] == [0] * BEATS
        else:
            assert cycles <= 6 and len(bench.filled) == filled
        if op is BusOp.STATUS:
            assert status == FAILED
    assert not bench.operations and dut.nand__ce_n.value == (1 << len(DIES)) - 1


@cocotb.test(skip=GEOMETRY.dies == 1)
async def other_dies_go_on(dut):
    bench = Bench(dut)
    await bench.start()
    bench.take_offline(1)
    for _ in range(3):
        for die in DIES:
            if die != 1:
                bench.request(die, random.choice((BusOp.DATA_OUT, BusOp.PROGRAM_MORE, BusOp.STATUS)))
    for op in (BusOp.STATUS, BusOp.PROGRAM_LAST, BusOp.ERASE_LAST) * 4:
        await bench.perform(1, op)
    await bench.finish()
    assert {operation.die for operation in bench.operations} == set(DIES) - {1}


@cocotb.test()
async def a_die_that_does_not_answer(dut):
    """Its status says busy, its page is zeros from where it stops, and the bus is free again."""
    bench = Bench(dut)
    await bench.start()
    bench.silent.add(0)
    for op in (BusOp.STATUS, BusOp.DATA_OUT) * 2:
        filled = len(bench.filled)
        cycles, status = await bench.perform(0, op)
        if op is BusOp.STATUS:
            assert status == 0 and cycles <= TWC + TWHR + 80
        else:
            assert bench.filled[filled:] == [0] * BEATS and cycles <= 2 * BEATS + 100
    if len(DIES) > 1:
        bench.request(1, BusOp.STATUS)
        while bench.expected[1]:
            await wait(dut, 10)
        assert bench.done[1] == 1
