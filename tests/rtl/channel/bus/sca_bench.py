"""cocotb tests of the bus controller with SCA: packets and data on the pins, to the clock."""

import random
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.block_table import BlockPlace
from flashtrain.rtl.channel.bus.bus_controller import BusActivity
from flashtrain.rtl.layouts import BufferPage, BusRequest, FillTarget, PagePart, PageSource
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import HIGH, StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.nand import SEQUENCES, AddressCycles, BusOp, DataPhase
from flashtrain.spec.sca import END_OF_ADDRESS, Header
from tests.rtl.channel.bus.nand_helpers import CONFIGS, bus_kind
from tests.rtl.channel.timeout_streams import PausingSource, clock_now, until, wait

CONFIG = CONFIGS[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
DIES = range(GEOMETRY.dies)
BEATS, LOADED_BEATS, PARAMETERS = CONFIG.bus_page_bytes // 2, CONFIG.loaded_page_bytes // 2, 4
TCA, TCAS, TSCE, TADL, TWHR, TCHZ = (
    CONFIG.timing.cycles(name) for name in ("tca", "tcas", "tsce", "tadl", "twhr", "tchz")
)
GAP = max(TCHZ, TCA + TSCE)
IDENTITY_BEATS, PART_BEATS = PageIdentity.BYTES // 2, CONFIG.part_bytes // 2
FEATURE = 0x89
FAILED = 0b0111_0011  # RDY, ARDY, SUSPENDED_READ, FAILC, FAIL: ONFI 5.1, section 5.13
OPS = [
    op for op in SEQUENCES
    if op not in (BusOp.SET_TIMING_MODE, BusOp.IDENTITY_OUT)
    and (CONFIG.read_levels or op is not BusOp.SET_READ_LEVEL)
    and (GEOMETRY.spare_blocks or op not in (BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM))
]  # fmt: skip
COMMANDS = [op for op in OPS if SEQUENCES[op].data in (DataPhase.NONE, DataPhase.STATUS)]
LOADS = (BusOp.LOAD_CONSTANTS, BusOp.LOAD_GRADIENT)


@dataclass
class Burst:
    """Data of a die: the clocks of DATA_BEGIN, of the first and the last beat."""

    die: int
    begun: int
    first: int = 0
    last: int = 0
    beats: int = 0
    out: bool = False
    words: list[int] = field(default_factory=list)  # to the die


class Bench:
    """Requests of every die, the buffers' sides, dies that answer `latency` cycles late, and a monitor."""

    def __init__(self, dut, *, latency: int = 1, beats_busy: float = 1, fill_busy: float = 1):
        self.dut = dut
        self.latency = latency
        self.beats_busy, self.fill_busy = beats_busy, fill_busy
        self.expected: list[list] = [[] for _ in DIES]  # packets and bursts of each die
        self.seen: list[list] = [[] for _ in DIES]
        self.pending: list[deque[dict]] = [deque() for _ in DIES]
        self.blocks: dict[tuple[int, int, int], int] = {}
        self.data_in: list[int] = []
        self.parameters: list[list[list[int]]] = [[] for _ in DIES]  # of features, in their bursts
        self.levels: list[list[list[int]]] = [[] for _ in DIES]  # the same as asked for
        self.fetched: list[int] = []
        self.sent: list[int] = []
        self.filled: list[int] = []
        self.fills: dict[int, list[dict]] = {die: [] for die in DIES}
        self.order: list[int] = []  # dies, in the order of their fills
        self.bursts: list[Burst] = []
        self.packets: list[tuple[int, int]] = []  # last clock and die of each
        self.status: list[int] = [0 for _ in DIES]
        self.done = [0 for _ in DIES]
        self.silent: set[int] = set()
        self.offline: set[int] = set()
        self.activity = dict.fromkeys(BusActivity, 0)

    async def start(self) -> None:
        dut = self.dut
        inputs = [f"requests__{die}__{pin}" for die in DIES for pin in ("valid", "payload")]
        inputs += ["lookup__block", "origin", "offline", "nand__dqs_i", "nand__dq_i", "nand__rb_n"]
        inputs += ["nand__ca_valid", "nand__ca_i"]
        self.beats = StreamSource(dut, "beats", self.beats_busy)
        self.fetch = StreamSink(dut, "fetch", self.beats_busy)
        self.fill = StreamSink(dut, "fill", self.fill_busy)
        await start(dut, **dict.fromkeys(inputs, 0), fill_room=int(self.fill_busy > 0))
        self.requests = [PausingSource(dut, f"requests__{die}") for die in DIES]
        for work in (self._watch(), self._buffers(), *(self._done(die) for die in DIES)):
            cocotb.start_soon(work)

    def request(self, die: int, op: BusOp, **named: int) -> None:
        chosen = {
            "op": op, "zone": random.randrange(GEOMETRY.zones), "page": random.randrange(GEOMETRY.pages),
            "plane": random.randrange(GEOMETRY.planes), "slot": random.randrange(CONFIG.write_sets),
            "tag": random.randrange(CONFIG.commands), "from_array": random.getrandbits(1), "origin": 0,
            "buffer_block": random.getrandbits(CONFIG.buffer_block_bits), "kind": bus_kind(op),
        }  # fmt: skip
        if SEQUENCES[op].data is DataPhase.IN:  # the buffer of each die is its own
            chosen["plane"], chosen["slot"] = divmod(die, CONFIG.write_sets)
        if CONFIG.read_levels:
            chosen["level"] = random.randint(0, CONFIG.read_levels)
        chosen |= named
        self.pending[die].append(chosen)
        if len(self.pending[die]) == 1:
            self._send(die)
        if die not in self.offline:
            self.expected[die] += self._spelled(die, chosen)
        if op is BusOp.SET_READ_LEVEL and die not in self.offline:
            self.levels[die].append([0x0101 * chosen["level"], 0, 0, 0])
        if op is BusOp.DATA_OUT:
            target = {name: chosen[name] for name in ("tag", "buffer_block", "from_array")}
            source = 0
            if CONFIG.read_levels:
                named = {name: chosen[name] for name in ("zone", "page", "plane", "level")}
                source = pack(PageSource(CONFIG), die=die, **named)
            part = {name: named.get(name, 0) for name in ("part", "moves_part") if CONFIG.part_bytes}
            self.fills[die].append({**target, "source": source, **part})

    def _send(self, die: int) -> None:
        """The next request of a die, after the end of the one before, as its agent has it."""
        self.requests[die].send(pack(BusRequest(CONFIG), **self.pending[die][0]))

    def _spelled(self, die: int, chosen: dict) -> list:
        """The packets and the burst of an operation; commands are those of `SEQUENCES`, tested elsewhere."""
        op, sequence = chosen["op"], SEQUENCES[chosen["op"]]
        place = chosen["zone"], die, chosen["plane"]
        block = self.blocks.setdefault(place, random.randrange(GEOMETRY.blocks))
        row = GEOMETRY.row_address(block, chosen["plane"], chosen["page"]).to_bytes(3, "little")
        address = {
            AddressCycles.NONE: b"", AddressCycles.ROW: row, AddressCycles.FULL: b"\0\0" + row,
            AddressCycles.FEATURE: bytes([FEATURE]),
        }[sequence.address]  # fmt: skip
        if op in (BusOp.SELECT, BusOp.READ_LAST) and CONFIG.part_bytes:
            part = unpack(PagePart(CONFIG), chosen.get("part", 0))
            column = GEOMETRY.page_bytes if chosen.get("of_identity") else part["before"] * CONFIG.part_bytes
            address = column.to_bytes(2, "little") + row
            if chosen.get("sensed"):  # 00h returns to the page of the sense
                return [(Header.COMMAND, 0x00)]
            if chosen.get("of_identity"):  # ONFI's CHANGE READ COLUMN
                return [(Header.COMMAND, 0x05), *((Header.ADDRESS, byte) for byte in address[:2]),
                        (Header.COMMAND, 0xE0)]  # fmt: skip
        second = END_OF_ADDRESS if op is BusOp.PROGRAM_PAGE else sequence.second
        packets: list = [] if sequence.first is None else [(Header.COMMAND, int(sequence.first))]
        packets += [(Header.ADDRESS, byte) for byte in address]
        packets += [] if second is None else [(Header.COMMAND, int(second))]
        if sequence.data is DataPhase.STATUS:
            packets.append((Header.STATUS, None))
        elif sequence.data is not DataPhase.NONE:
            beats = {DataPhase.FEATURE: PARAMETERS}.get(sequence.data, LOADED_BEATS if op in LOADS else BEATS)
            if op is BusOp.IDENTITY_OUT:
                beats = IDENTITY_BEATS
            elif chosen.get("moves_part"):
                part = unpack(PagePart(CONFIG), chosen["part"])
                beats = PART_BEATS * (CONFIG.page_parts - part["before"] - part["behind"])
            packets.append(("data", beats, sequence.data is DataPhase.OUT))
        return packets + ([] if sequence.third is None else [(Header.COMMAND, int(sequence.third))])

    async def perform(self, die: int, op: BusOp, **named: int) -> tuple[int, int]:
        """Cycles from the request to the end of an operation, and the status then."""
        started, done = clock_now(), self.done[die]
        self.request(die, op, **named)
        while self.done[die] == done:
            await RisingEdge(self.dut.clk)
            assert clock_now() - started < 4 * BEATS + 2_000, op
        return clock_now() - started, self.status[die]

    async def finish(self, cycles: int = 400_000) -> None:
        limit = clock_now() + cycles
        while any(self.pending):
            assert clock_now() < limit, f"still to come: {self.pending}"
            await wait(self.dut, 50)
        await wait(self.dut, TCA + 10)
        assert self.seen == self.expected and self.parameters == self.levels
        assert self.data_in == self.fetched and self.filled == self.sent
        fills = [unpack(FillTarget(CONFIG), item) for item in self.fill.items]
        assert fills == [self.fills[die].pop(0) for die in self.order[: len(fills)]]
        del self.order[: len(fills)]
        self.fill.items.clear()
        assert self.activity[BusActivity.DATA_OUT] == len(self.sent)

    async def _done(self, die: int) -> None:
        while True:
            await until(self.dut, getattr(self.dut, f"done__{die}"))
            op = self.pending[die].popleft()["op"]
            if SEQUENCES[op].data is DataPhase.STATUS:
                value = int(self.dut.status.value)
                assert die in self.offline | self.silent or value == self.status[die]
                self.status[die] = value
            self.done[die] += 1
            if self.pending[die]:
                self._send(die)

    async def _buffers(self) -> None:
        """Block table, write buffer and read buffer."""
        dut, last, fetched = self.dut, None, 0
        while True:
            await RisingEdge(dut.clk)
            bits = int(dut.lookup__place.value)
            if bits != last:
                last, place = bits, unpack(BlockPlace(CONFIG), bits)
                key = place["zone"], place["die"], place["plane"]
                dut.lookup__block.value = self.blocks.setdefault(key, random.randrange(GEOMETRY.blocks))
            if dut.fill_valid.value == HIGH:
                self.filled.append(int(dut.fill_data.value))
            if len(self.fetch.items) > fetched:
                place = unpack(BufferPage(CONFIG), self.fetch.items[fetched])
                fetched += 1
                op = self.pending[place["plane"] * CONFIG.write_sets + place["slot"]][0]["op"]
                page = [random.getrandbits(16) for _ in range(LOADED_BEATS if op in LOADS else BEATS)]
                self.fetched += page
                self.beats.send(*page)
            self.activity[BusActivity(int(dut.activity.value))] += 1

    async def _watch(self) -> None:
        """Packets and data on the pins, and the dies' answers, in every clock."""
        dut = self.dut
        names = ("ca_ce_n", "ca_clk", "ca_o", "ca_oe", "dqs_o", "re", "dq_o")
        pins = {name: getattr(dut, f"nand__{name}") for name in names}
        answers: deque = deque([(None, None)] * (self.latency - 1))
        nibbles: list[int] = []
        burst: Burst | None = None
        last_clk = last_packet = -(10**6)
        last_of = [-(10**6) for _ in DIES]
        while True:
            await RisingEdge(dut.clk)
            clock = clock_now()
            now = {name: int(pin.value) for name, pin in pins.items()}
            beat = bits = None
            low = [die for die in DIES if not now["ca_ce_n"] >> die & 1]
            assert len(low) <= 1
            if not low:
                assert not nibbles or (nibbles[0] == Header.STATUS and len(nibbles) == 6), nibbles
                nibbles = []
            if now["ca_clk"]:
                (die,) = low
                assert clock - last_clk >= TCA // 3
                last_clk = clock
                nibbles.append(now["ca_o"])
                of_status = nibbles[0] == Header.STATUS
                assert now["ca_oe"] == (not of_status or len(nibbles) == 1)
                if of_status:
                    if len(nibbles) == 1:
                        assert clock - last_of[die] >= TWHR
                        self.seen[die].append((Header.STATUS, None))
                        if die not in self.silent:
                            self.status[die] = random.getrandbits(8)
                    elif len(nibbles) > 2 and die not in self.silent:
                        bits = self.status[die] >> 2 * (len(nibbles) - 3) & 3
                elif len(nibbles) == 3:
                    assert clock - last_packet >= TCA
                    last_packet = last_of[die] = clock
                    self.packets.append((clock, die))
                    header, value = Header(nibbles[0]), nibbles[1] | nibbles[2] << 4
                    nibbles = []
                    if header is Header.DATA_BEGIN:
                        assert burst is None
                        burst = Burst(die, clock)
                    elif header is Header.DATA_END:
                        assert burst is not None and burst.die == die and burst.last < clock
                        self.bursts.append(burst)
                        self.seen[die].append(("data", burst.beats, burst.out))
                        if burst.beats != PARAMETERS:
                            self.data_in += burst.words
                        else:
                            self.parameters[die].append(burst.words)
                        burst = None
                    else:
                        self.seen[die].append((header, value))
            if now["re"] or now["dqs_o"]:
                assert burst is not None and not (now["re"] and now["dqs_o"])
                assert clock - burst.begun >= TSCE
                if not burst.beats:
                    burst.first, burst.out = clock, bool(now["re"])
                    if burst.out and self.pending[burst.die][0]["op"] is not BusOp.IDENTITY_OUT:
                        self.order.append(burst.die)
                    if self.bursts and self.bursts[-1].out and self.bursts[-1].die != burst.die:
                        assert clock - self.bursts[-1].last > TCHZ
                burst.beats += 1
                burst.last = clock
                if now["dqs_o"]:
                    burst.words.append(now["dq_o"])
                if now["re"] and burst.die not in self.silent:
                    beat = random.getrandbits(16)
                    self.sent.append(beat)
            answers.append((beat, bits))
            beat, bits = answers.popleft()
            dut.nand__dqs_i.value = beat is not None
            dut.nand__dq_i.value = random.getrandbits(16) if beat is None else beat
            dut.nand__ca_valid.value = bits is not None
            dut.nand__ca_i.value = random.getrandbits(2) if bits is None else bits


@cocotb.test()
@cocotb.parametrize(latency=[1, 4])
async def spells_every_operation(dut, latency):
    bench = Bench(dut, latency=latency)
    await bench.start()
    for die in DIES:
        for op in random.sample(OPS, len(OPS)):
            bench.request(die, op)
    await bench.finish()


@cocotb.test()
async def packets_follow_each_other(dut):
    """To the clock: packets of an operation, and the status behind its command."""
    bench = Bench(dut)
    await bench.start()
    for op in COMMANDS:
        first = len(bench.packets)
        cycles, _ = await bench.perform(0, op)
        await wait(dut, 3)  # from the end of an operation to the last packet on the pins
        clocks = [clock for clock, _die in bench.packets[first:]]
        assert {after - before for before, after in pairwise(clocks)} <= {TCA}
        status = TWHR + TCAS if SEQUENCES[op].data is DataPhase.STATUS else 0
        assert len(clocks) * TCA + status < cycles <= len(clocks) * TCA + status + 12
    await bench.finish()


@cocotb.test(skip=GEOMETRY.dies == 1)
async def pages_follow_each_other_beside_commands(dut):
    """To the clock: between the pages of dies is the gap, whatever the other dies are told meanwhile."""
    bench = Bench(dut)
    await bench.start()
    for _ in range(12):
        for die in DIES[:2]:
            bench.request(die, BusOp.DATA_OUT)
        for die in DIES[2:]:
            bench.request(die, random.choice(COMMANDS))
            bench.request(die, random.choice(COMMANDS))
    await bench.finish()
    bursts = [burst for burst in bench.bursts if burst.out]
    gaps = [after.first - before.last - 1 for before, after in pairwise(bursts)]
    assert len(gaps) == 23 and set(gaps) == {GAP}
    assert [burst.last - burst.first + 1 for burst in bursts] == [BEATS] * 24


@cocotb.test(skip=GEOMETRY.dies == 1)
async def pages_to_dies_follow_each_other(dut):
    """To the clock, as pages of dies: their DATA_END passes beside their last beats."""
    bench = Bench(dut)
    await bench.start()
    for _ in range(6):
        for die in DIES[:2]:
            bench.request(die, random.choice((BusOp.PROGRAM_MORE, BusOp.DATA_OUT)))
    bench.request(0, BusOp.PROGRAM_MORE)
    await bench.finish()
    bursts = bench.bursts
    assert len(bursts) == 13
    assert {after.first - before.last - 1 for before, after in pairwise(bursts)} == {GAP}
    assert [burst.last - burst.first + 1 for burst in bursts] == [BEATS] * 13


@cocotb.test(skip=GEOMETRY.dies == 1)
async def a_page_is_chosen_while_another_is_filled(dut):
    """To the clock, beside a read buffer that takes a fill when the one before it has ended."""
    bench = Bench(dut, latency=4)
    await bench.start()

    async def one_fill_at_a_time():
        while True:
            await RisingEdge(dut.clk)
            bench.fill.busy = int(len(bench.filled) == len(bench.fill.items) * BEATS)

    cocotb.start_soon(one_fill_at_a_time())
    for _ in range(4):
        for die in DIES[:2]:
            bench.request(die, BusOp.DATA_OUT)
    await bench.finish()
    assert {after.first - before.last - 1 for before, after in pairwise(bench.bursts)} == {GAP}


@cocotb.test(skip=GEOMETRY.dies == 1)
async def no_command_waits_for_the_end_of_a_lone_page(dut):
    """To the clock: a DATA_END behind which no page waits comes between two packets of commands."""
    bench = Bench(dut)
    await bench.start()
    for late in random.sample(range(2 * TCA, 3 * TCA), 6):  # their packets end at any time
        bench.request(0, random.choice((BusOp.PROGRAM_MORE, BusOp.DATA_OUT)))
        await wait(dut, late)
        for _ in range(2 * BEATS // (7 * TCA)):
            bench.request(1, BusOp.READ_LAST)
        await bench.finish()
        burst = bench.bursts[-1]
        clocks = [clock for clock, _die in bench.packets if burst.begun < clock < burst.last + 4 * TCA]
        assert max(after - before for before, after in pairwise(clocks)) <= TCA + 8  # of a next operation


@cocotb.test()
async def loads_wait_for_their_address(dut):
    bench = Bench(dut)
    await bench.start()
    for op in LOADS:
        first = len(bench.packets)
        await bench.perform(0, op)
        address = len(bench._spelled(0, {"op": op, "zone": 0, "plane": 0, "page": 0})) - 2
        await wait(dut, 2 * TCA)
        assert bench.bursts[-1].first - bench.packets[first + address - 1][0] >= TADL
    await bench.finish()


@cocotb.test()
async def waits_for_room_without_holding_the_buses(dut):
    bench = Bench(dut, fill_busy=0)
    await bench.start()
    bench.request(0, BusOp.DATA_OUT)
    for die in DIES[1:]:
        bench.request(die, BusOp.STATUS)
        bench.request(die, BusOp.PROGRAM_MORE)
    await wait(dut, GEOMETRY.dies * (BEATS + TADL + 12 * TCA))
    assert [len(bench.pending[die]) for die in DIES] == [1] + [0] * (GEOMETRY.dies - 1)
    bench.fill.busy = dut.fill_room.value = 1
    await bench.finish()


@cocotb.test()
@cocotb.parametrize((("beats_busy", "fill_busy"), [(1, 1), (0.3, 0.2), (0.9, 0.02)]))
async def random_operations(dut, beats_busy, fill_busy):
    bench = Bench(dut, latency=random.randint(1, 4), beats_busy=beats_busy, fill_busy=fill_busy)
    await bench.start()
    choice = [*OPS, *[BusOp.DATA_OUT, BusOp.PROGRAM_MORE, BusOp.STATUS] * 3]
    for _ in range(12):
        for die in DIES:
            for _ in range(random.randint(0, 3)):
                bench.request(die, random.choice(choice))
        await wait(dut, random.choice((0, 20, 1000)))
    await bench.finish()


@cocotb.test()
async def leaves_a_die_that_is_offline_alone(dut):
    """Its operations end at once, a status says that they have failed, and a page is zeros."""
    bench = Bench(dut)
    await bench.start()
    bench.offline.add(0)
    dut.offline.value = 1
    for op in [*random.sample(OPS, len(OPS)), BusOp.DATA_OUT]:
        filled = len(bench.filled)
        cycles, status = await bench.perform(0, op)
        await wait(dut, 4)
        assert bench.filled[filled:] == ([0] * BEATS if op is BusOp.DATA_OUT else [])
        assert op is BusOp.DATA_OUT or cycles <= 8
        assert SEQUENCES[op].data is not DataPhase.STATUS or status == FAILED
    assert not bench.packets and not bench.fetch.items
    if len(DIES) > 1:
        await bench.perform(1, BusOp.STATUS)


@cocotb.test()
async def a_die_that_does_not_answer(dut):
    """Its status says busy, its page is zeros, and both buses are free again."""
    bench = Bench(dut)
    await bench.start()
    bench.silent.add(0)
    for op in (BusOp.STATUS, BusOp.DATA_OUT) * 2:
        filled = len(bench.filled)
        cycles, status = await bench.perform(0, op)
        if op is BusOp.STATUS:
            assert status == 0 and cycles <= TCA + TWHR + TCAS + 80
        else:
            assert bench.filled[filled:] == [0] * BEATS and cycles <= 2 * BEATS + 100
    if len(DIES) > 1:
        await bench.perform(1, BusOp.STATUS)


def some_part() -> tuple[dict[str, int], int]:
    """The fields of a page of which a part is moved, and its beats."""
    count = CONFIG.page_parts
    before = random.randrange(count)
    behind = random.randrange(1 if before == 0 else 0, count - before)
    part = pack(PagePart(CONFIG), before=before, behind=behind, target=random.randrange(count))
    return {"part": part, "moves_part": 1}, PART_BEATS * (count - before - behind)


@cocotb.test(skip=not CONFIG.part_bytes)
@cocotb.parametrize(latency=[random.randint(1, 4), 50])
async def parts_and_their_identities(dut, latency):
    """Of all dies side by side, with commands, whole pages and pages to dies between.

    No other page from a die comes between the two, and no beat is lost or invented.
    """
    bench = Bench(dut, latency=latency)
    await bench.start()
    for _ in range(3):
        for die in DIES:
            fields, _ = some_part()
            sensed = random.getrandbits(1)
            if sensed:
                bench.request(die, BusOp.READ_LAST, **fields)
            bench.request(die, BusOp.SELECT, **fields, sensed=sensed)
            bench.request(die, BusOp.DATA_OUT, **fields)
            bench.request(die, BusOp.SELECT, **fields, of_identity=1)
            bench.request(die, BusOp.IDENTITY_OUT, **fields)
            for op in random.sample((BusOp.STATUS, BusOp.DATA_OUT, BusOp.PROGRAM_MORE), random.randint(0, 2)):
                bench.request(die, op)
        await wait(dut, random.choice((0, 1000)))
    await bench.finish()
    outs = [burst for burst in bench.bursts if burst.out]
    for burst, following in pairwise(outs):
        if burst.beats not in (BEATS, IDENTITY_BEATS):
            assert (following.die, following.beats) == (burst.die, IDENTITY_BEATS)
    assert sum(burst.beats == IDENTITY_BEATS for burst in outs) == 3 * len(DIES)


@cocotb.test(skip=not CONFIG.part_bytes)
async def a_page_follows_the_identity_of_a_part(dut):
    """To the clock: behind eight beats DATA_END takes longer than they do."""
    bench = Bench(dut)
    await bench.start()
    fields, _ = some_part()
    bench.request(0, BusOp.DATA_OUT, **fields)
    bench.request(0, BusOp.IDENTITY_OUT, **fields)
    await wait(dut, 20)
    bench.request(1, BusOp.DATA_OUT)
    await bench.finish()
    _part, identity, page = bench.bursts
    assert identity.beats == IDENTITY_BEATS and page.die == 1
    ends = max(TCA - IDENTITY_BEATS + 1, 0)  # with the first beat DATA_END begins
    assert GAP <= page.first - identity.last - 1 <= GAP + ends + 4


@cocotb.test(skip=not CONFIG.part_bytes)
@cocotb.parametrize(lost=["silent", "offline"])
@cocotb.parametrize(from_start=[True, False])
async def a_die_is_lost_with_its_part(dut, lost, from_start):
    """Zeros take the place of all that is missing, once; they are not those of another die's page."""
    bench = Bench(dut)
    await bench.start()
    fields, beats = some_part()

    def lose() -> None:
        if lost == "silent":
            bench.silent.add(0)
        else:
            bench.offline.add(0)
            dut.offline.value = 1

    if from_start:
        lose()
    await bench.perform(0, BusOp.DATA_OUT, **fields)
    lose()
    other = 0
    if from_start and lost == "offline":  # its page is complete: that of another die may begin
        assert bench.filled == [0] * (beats + IDENTITY_BEATS)
        await bench.perform(1, BusOp.DATA_OUT, **fields)
        other = beats
    await bench.perform(0, BusOp.IDENTITY_OUT, **fields)
    await wait(dut, 10)
    came = len(bench.sent) - other
    assert came == (0 if from_start else beats)
    assert len(bench.filled) == beats + IDENTITY_BEATS + other
    assert bench.filled[came : beats + IDENTITY_BEATS] == [0] * (beats + IDENTITY_BEATS - came)
    if other:
        await bench.perform(1, BusOp.IDENTITY_OUT, **fields)
        await wait(dut, 10)
        assert bench.filled[beats + IDENTITY_BEATS :] == bench.sent
    await bench.perform(1, BusOp.STATUS)
