"""A channel engine with its dies: a centre that appends, reads, flushes and erases at random."""

import random
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import PageEvent, ReadHead, ReadPage, WritePage, ZoneIdentity
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.identity import PageIdentity, identity_record
from flashtrain.spec.registers import ChannelCounter
from tests.rtl.channel.channel_helpers import EVERY_CONFIG, a_part, some_part
from tests.rtl.channel.spare_configs import SPARE_CONFIGS
from tests.rtl.channel.timeout_streams import PausingSink, clock_now, wait

CONFIG = {**EVERY_CONFIG, **SPARE_CONFIGS}[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
WORD_BITS = 8 * CONFIG.data_bytes
BEATS = CONFIG.bus_page_bytes // 2
BEAT_CYCLES = 1 if CONFIG.chips.ddr else 2 * CONFIG.engine_modes[CONFIG.chips.sdr_mode].write
CAPACITY = GEOMETRY.dies * GEOMETRY.planes * GEOMETRY.pages
VOLATILE, NON_VOLATILE = STREAMS = range(2)
# The arrays keep their contents from test to test: each has zones of its own.
RANDOM_ZONES, APPENDED_ZONE, READ_ZONE, BUFFERED_ZONE = range(4), 4, 5, 6
BAD_ZONE = bench_parameters()["bad_zone"]
CHANNEL = 5
WHOLE = 0, 0  # parts of a page that are left out


@dataclass(eq=False)
class Zone:
    """A physical zone: the words of the pages written to it, in their order."""

    number: int
    pages: list[list[int]] = field(default_factory=list)
    readable: int = 0  # pages that the channel has accepted
    arrived: int = 0
    reads: int = 0  # under way
    identity: int = field(default_factory=lambda: random.getrandbits(ZoneIdentity().size))
    wear: int = field(default_factory=lambda: random.getrandbits(21))

    @property
    def fails(self) -> bool:
        return self.number == BAD_ZONE and not GEOMETRY.spare_blocks

    @property
    def stream(self) -> int:
        return STREAMS[self.number % 2]

    def place(self, index: int) -> dict[str, int]:
        rest, plane = divmod(index, GEOMETRY.planes)
        row, die = divmod(rest, GEOMETRY.dies)
        return {"zone": self.number, "page": row, "die": die, "plane": plane}


class Centre:
    """The other side of the engine: announces pages, sends their data, and checks what it reads."""

    SINKS = ("programmed", "read_head", "erased")

    def __init__(self, dut, busy: float = 1):
        self.dut, self.busy = dut, busy
        self.pages = StreamSource(dut, "pages", busy)
        self.reads = StreamSource(dut, "reads", busy)
        self.flush = StreamSource(dut, "flush")
        self.erase = StreamSource(dut, "erase")
        self.data = StreamSink(dut, "read_data", busy)
        self.announced: deque[tuple[Zone, list[int]]] = deque()
        self.owed: deque[tuple[Zone, list[int]]] = deque()
        self.asked: dict[int, tuple[Zone, list[int], dict, dict]] = {}  # by where they go
        self.notices: Counter = Counter()  # (tag, failed) of what is to be told
        self.checked = 0
        self.words_checked = 0
        self.given_up = 0  # pages that were wrong at each level
        self.flushed = 0
        self.accepted: list[int] = []  # cycles

    async def start(self):
        inputs = (
            "data_valid",
            "data",
            "counter_select",
            "counter_sample",
            "wrong",
            "raw",
            *(f"{name}__ready" for name in self.SINKS),
            *(f"spare_use__{part}" for part in ("valid", "payload") if GEOMETRY.spare_blocks),
        )
        await start(self.dut, within=3_000_000, **dict.fromkeys(inputs, 0))
        pause = 0 if self.busy == 1 else 3
        self.programmed, self.heads, self.erased = (PausingSink(self.dut, name, pause) for name in self.SINKS)
        for run in (self._watch, self._send, self._check):
            cocotb.start_soon(run())
        await self.until(lambda: self.dut.ready.value == 1)

    async def disturb(self, least: int):
        """From now on bits change on their way from the dies, `least` cycles apart."""
        while True:
            await wait(self.dut, random.randint(least, 4 * least))
            self.dut.wrong.value = 1 << random.randrange(16)
            await RisingEdge(self.dut.clk)
            self.dut.wrong.value = 0

    async def spoil(self, least: int):
        """From now on single pages come with more wrong bits than can be corrected."""
        while True:
            await wait(self.dut, random.randint(least, 4 * least))
            self.dut.wrong.value = 0xFFFF
            await wait(self.dut, 4)
            self.dut.wrong.value = 0

    async def until(self, condition, cycles: int = 400_000, step: int = 8):
        """Look every few cycles, because looking is slow."""
        for _ in range(0, cycles, step):
            if condition():
                return
            await wait(self.dut, step)
        raise AssertionError("it takes too long")

    def append(self, zone: Zone, close: int = 0) -> None:
        words = [random.getrandbits(WORD_BITS) for _ in range(CONFIG.page_beats)]
        place = zone.place(len(zone.pages))
        tag = random.randrange(CONFIG.commands)
        zone.pages.append(words)
        self.announced.append((zone, words))
        notify = int(zone.stream == NON_VOLATILE)
        self.notices[tag, int(zone.fails)] += notify
        fields = {"tag": tag, "stream": zone.stream, "notify": notify, "close": close,
                  "identity": zone.identity, "wear": zone.wear, "channel": CHANNEL}  # fmt: skip
        self.pages.send(pack(WritePage(CONFIG), **place, **fields))

    def read(self, zone: Zone, index: int, part: tuple[int, int] | None = None) -> None:
        """Ask for a page that the channel has accepted, without so many parts before and behind.

        A random part, if none is given.
        """
        page = next(number for number in range(1 << 16) if number not in self.asked)
        fields, words = some_part(CONFIG) if part is None else a_part(CONFIG, *part)
        self.asked[page] = zone, zone.pages[index][words], zone.place(index), fields
        zone.reads += 1
        fields = {"tag": page % CONFIG.commands, "buffer_block": page, **fields}
        self.reads.send(pack(ReadPage(CONFIG), **zone.place(index), **fields))

    async def flush_all(self):
        await self.until(lambda: not self.announced and not self.owed)
        for stream in STREAMS:
            await self.flush_stream(stream)

    async def flush_stream(self, stream: int):
        before = self.flushed
        self.flush.send(stream)
        await self.until(lambda: self.flushed > before)

    async def reset(self, zone: Zone):
        """Erase a zone whose commands are complete; of a volatile one pages may be in the buffer."""
        await self.until(lambda: zone.arrived == len(zone.pages) and not zone.reads)
        if zone.stream == NON_VOLATILE:
            await self.flush_stream(NON_VOLATILE)
        before = len(self.erased.items)
        self.erase.send(zone.number)
        await self.until(lambda: len(self.erased.items) > before)
        assert self.erased.items[-1] == 0, "the erase failed"
        zone.pages.clear()
        zone.readable = zone.arrived = 0

    async def counters(self) -> dict[str, int]:
        values = {}
        self.dut.counter_sample.value = 1
        for counter in ChannelCounter:
            self.dut.counter_select.value = counter.value
            for _ in range(4):
                await RisingEdge(self.dut.clk)
            values[counter.name] = int(self.dut.counter_value.value)
        return values

    async def finish(self):
        """Everything that was asked for has happened, and the checkers are silent."""
        await self.until(lambda: self.checked == len(self.heads.items) and not self.asked)
        await self.flush_all()
        await self.until(lambda: len(self.programmed.items) == self.notices.total())
        events = [unpack(PageEvent(CONFIG), bits) for bits in self.programmed.items]
        assert Counter((event["tag"], event["failed"]) for event in events) == +self.notices
        await self.until(lambda: self.dut.idle.value == 1)
        assert int(self.dut.violations.value) == 0, "the NAND refuses something"

    async def _watch(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            self.flushed += dut.flushed.value == 1
            if dut.pages__valid.value == 1 and dut.pages__ready.value == 1:
                zone, _ = page = self.announced.popleft()
                zone.readable += 1
                self.owed.append(page)
                self.accepted.append(clock_now())

    async def _send(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            if not self.owed:
                continue
            zone, words = self.owed[0]
            for word in words:
                while random.random() >= self.busy:
                    await RisingEdge(dut.clk)
                dut.data_valid.value = 1
                dut.data.value = word
                await RisingEdge(dut.clk)
                dut.data_valid.value = 0
            zone.arrived += 1
            self.owed.popleft()

    async def _check(self):
        while True:
            await wait(self.dut, 8)
            if self.checked == len(self.heads.items):
                continue
            head = unpack(ReadHead(CONFIG), self.heads.items[self.checked])
            zone, words, place, part = self.asked[head["buffer_block"]]
            begin, end = self.words_checked, self.words_checked + len(words)
            if len(self.data.items) < end:
                continue
            del self.asked[head["buffer_block"]]
            self.words_checked = end
            assert part.items() <= head.items()
            if head["failed"]:
                assert CONFIG.read_levels and head["from_array"] and head["identity"] == 0
                self.given_up += 1
                zone.reads -= 1
                self.checked += 1
                continue
            if head["from_array"]:
                record = identity_record(
                    **unpack(ZoneIdentity(), zone.identity), wear=zone.wear, channel=CHANNEL,
                    **{name: place[name] for name in ("page", "die", "plane")},
                )  # fmt: skip
                assert head["identity"] == int.from_bytes(record, "little")
            assert head["tag"] == head["buffer_block"] % CONFIG.commands
            assert self.data.items[begin:end] == words, f"page {head['buffer_block']} of zone {zone.number}"
            zone.reads -= 1
            self.checked += 1


@cocotb.test()
async def contents_are_exact(dut):
    """Appends, reads of pages old and new, flushes and zone resets; every page read is as it was written.

    With a code this goes on with wrong bits, never more of them than can be corrected, but for pages that
    may be read again.
    """
    centre = Centre(dut, busy=0.8)
    await centre.start()
    if CONFIG.read_levels:
        cocotb.start_soon(centre.spoil(BEATS))
    elif code := CONFIG.code:
        longest = code.last_bytes // 2
        cocotb.start_soon(centre.disturb(-(-longest // (code.strength - 2))))
    zones = [Zone(number) for number in RANDOM_ZONES]
    for _ in range(bench_parameters()["steps"]):
        zone = random.choice(zones)
        for _ in range(random.choice((1, 2, GEOMETRY.planes, 3 * GEOMETRY.planes))):
            if len(zone.pages) < CAPACITY:
                centre.append(zone, close=int(random.random() < 0.2))
        await centre.until(lambda: len(centre.announced) < 4)
        for zone in random.sample(zones, 2):
            begin = random.randrange(max(zone.readable, 1))
            for index in range(begin, min(begin + random.choice((1, 2, 8)), zone.readable)):
                centre.read(zone, index)
        await centre.until(lambda: len(centre.asked) < 8)
        zone = random.choice(zones)
        if random.random() < 0.1:
            await centre.flush_stream(zone.stream)
        if random.random() < 0.15 or len(zone.pages) == CAPACITY:
            await centre.reset(zone)

    # However the dice fell: an erase that discards, a page from the buffer, and one from the NAND.
    zone = zones[VOLATILE]
    await centre.reset(zone)
    centre.append(zone)
    await centre.reset(zone)
    centre.append(zone)
    await centre.until(lambda: zone.readable)
    centre.read(zone, 0)
    await centre.until(lambda: not centre.asked)
    await centre.flush_all()
    centre.read(zone, 0)
    await centre.finish()

    counters = await centre.counters()
    dut._log.info(str(counters))
    retries = counters["PAGES_RETRIED"]
    assert counters["BUFFER_HITS"] + counters["PAGES_SENSED"] == centre.checked + retries
    assert counters["WORDS_UNCORRECTABLE"] == (retries + centre.given_up) * bool(CONFIG.code)
    assert bool(retries) == bool(counters["PAGES_RESCUED"]) == bool(CONFIG.read_levels)
    assert counters["PAGES_RESCUED"] <= retries and centre.given_up < counters["PAGES_RESCUED"] + 1
    assert counters["BUFFER_HITS"] and counters["PAGES_SENSED"] and counters["ERASES"]
    assert counters["FAILURES"] == 0
    if not CONFIG.read_levels:
        assert counters["BITS_CORRECTED"] == int(dut.flipped.value)
        assert bool(counters["BITS_CORRECTED"]) == (CONFIG.code is not None)
    assert counters["BUS_DATA_IN"] == counters["PAGES_PROGRAMMED"] * BEATS * BEAT_CYCLES
    bus = [value for name, value in counters.items() if name.startswith("BUS_")]
    assert clock_now() - sum(bus) < 5 * len(counters), "the bus counters do not add up to all cycles"


@cocotb.test()
async def programs_follow_each_other(dut):
    """A long append keeps the arrays of all dies programming."""
    centre = Centre(dut)
    await centre.start()
    zone = Zone(APPENDED_ZONE)
    sets = GEOMETRY.dies * GEOMETRY.pages
    begin = clock_now()
    for _ in range(sets * GEOMETRY.planes):
        centre.append(zone)
    await centre.flush_all()
    cycles = clock_now() - begin
    bound = GEOMETRY.pages * CONFIG.timing.cycles("tprog")
    bus = sets * GEOMETRY.planes * BEATS
    dut._log.info(f"{sets} page sets: {cycles} cycles, programs {bound}, data {bus}")
    # The first set's data-in and the last one's status come on top, and a little for each set.
    load = GEOMETRY.planes * (BEATS + 400)
    most = max(bound, bus * 1.5) + 3 * load + 200 * GEOMETRY.pages
    if CONFIG.chips.luns > 1:
        # The result of a page is a status of its own: 78h, a row, tWHR, the answer, tRHW.
        status = 4 * CONFIG.timing.cycles("twc") + sum(map(CONFIG.timing.cycles, ("twhr", "trhw"))) + 16
        most += sets * GEOMETRY.planes * status
    assert max(bound, bus) < cycles < most
    await centre.finish()


@cocotb.test()
async def reads_fill_the_bus(dut):
    """A long read after its pages are in the NAND, and one read alone."""
    centre = Centre(dut)
    await centre.start()
    zone = Zone(READ_ZONE)
    for _ in range(CAPACITY):
        centre.append(zone)
    await centre.flush_all()

    begin = clock_now()
    centre.read(zone, 0, part=WHOLE)
    await RisingEdge(dut.read_head__valid)
    dut._log.info(f"a page from the NAND: its head comes after {clock_now() - begin} cycles")
    await centre.until(lambda: not centre.asked)

    before = await centre.counters()
    begin = clock_now()
    for index in range(CAPACITY):
        centre.read(zone, index, part=WHOLE)
    await centre.until(lambda: not centre.asked)
    cycles = clock_now() - begin
    after = await centre.counters()
    spent = {name: after[name] - before[name] for name in after}
    dut._log.info(f"{CAPACITY} pages: {cycles} cycles, data {CAPACITY * BEATS}; {spent}")
    assert spent["PAGES_SENSED"] == CAPACITY and spent["BUS_DATA_OUT"] >= CAPACITY * BEATS
    assert cycles < 5 * CAPACITY * BEATS
    await centre.finish()


@cocotb.test()
async def hits_are_short(dut):
    centre = Centre(dut)
    await centre.start()
    zone = Zone(BUFFERED_ZONE)
    centre.append(zone)
    await centre.until(lambda: zone.arrived)
    begin = clock_now()
    centre.read(zone, 0, part=WHOLE)
    await RisingEdge(dut.read_head__valid)
    cycles = clock_now() - begin
    dut._log.info(f"a page from the write buffer: its head comes after {cycles} cycles")
    assert cycles <= CONFIG.page_beats + CONFIG.write_sets + 20
    await centre.until(lambda: not centre.asked)
    await centre.finish()


@cocotb.test()
async def a_failed_program_is_told(dut):
    """To every page of the set, and not to those before and after it on its die and on another one."""
    centre = Centre(dut)
    await centre.start()
    bad, good, behind = Zone(BAD_ZONE), Zone(READ_ZONE), Zone(RANDOM_ZONES[NON_VOLATILE])
    for zone in (good, behind):
        await centre.reset(zone)
    for zone in (good, bad, behind, good):
        for _ in range(GEOMETRY.planes):
            centre.append(zone)
    await centre.finish()
    assert (await centre.counters())["FAILURES"] == 1


@cocotb.test(skip=not CONFIG.part_bytes)
async def a_part_takes_its_own_beats(dut):
    """Of pages in the NAND, parts alone cross the bus, each with its identity behind another selection."""
    centre = Centre(dut, busy=random.choice((0.5, 1)))
    await centre.start()
    zone = Zone(READ_ZONE)
    await centre.reset(zone)
    for _ in range(CAPACITY):
        centre.append(zone)
    await centre.flush_all()
    before = await centre.counters()
    for index in range(CAPACITY):
        centre.read(zone, index)
    words = sum(len(words) for _, words, *_ in centre.asked.values())
    await centre.until(lambda: not centre.asked)
    after = await centre.counters()
    beats = words * CONFIG.data_bytes // 2 + CAPACITY * PageIdentity.BYTES // 2
    assert words < CAPACITY * CONFIG.page_beats
    assert after["BUS_DATA_OUT"] - before["BUS_DATA_OUT"] == beats
    await centre.finish()


@cocotb.test(skip=not CONFIG.part_bytes)
async def a_part_takes_its_time(dut):
    """The head of a part of a page comes so many cycles after that of another length as it has more beats.

    The whole page has no second selection: the bus is faster by that, and tCCS, and both turnarounds. SCA has
    no turnarounds.
    """
    centre = Centre(dut)
    await centre.start()
    zone = Zone(READ_ZONE)
    await centre.reset(zone)
    centre.append(zone, close=1)
    await centre.flush_all()
    beats = CONFIG.part_bytes // 2
    cycles = []
    for behind in (0, *range(CONFIG.page_parts)):
        centre.read(zone, 0, part=(0, behind))
        begin = clock_now()
        await RisingEdge(dut.read_head__valid)
        cycles.append(clock_now() - begin)
        await centre.until(lambda: not centre.asked)
        await wait(dut, 200)
    whole, *parts = cycles[1:]  # the first read comes soon after a program
    dut._log.info(f"heads after {cycles} cycles")
    steps = [longer - shorter for longer, shorter in pairwise(parts)]
    assert all(step == beats for step in steps), cycles
    cycles_of = CONFIG.timing.cycles
    selection = cycles_of("trhw") + cycles_of("tccs") + 4 * cycles_of("twc")
    if CONFIG.chips.sca:  # the burst begins within tCCS
        selection = max(cycles_of("tccs"), CONFIG.timing.burst_start) + 4 * cycles_of("tca")
    added = parts[0] + beats - whole
    assert selection < added < selection + 40, (added, selection)
    await centre.finish()
