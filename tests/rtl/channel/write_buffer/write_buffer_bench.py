"""The write buffer between a writer, a bus with its dies, and a reader, all at random times."""

import random
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from functools import cached_property

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.write_buffer.page_sets import PagePlace
from flashtrain.rtl.layouts import (
    BufferPage,
    PageEvent,
    PageKind,
    PageSet,
    PageTarget,
    SetResult,
    TileSource,
    WritePage,
    ZoneIdentity,
)
from flashtrain.rtl.lib.gearbox import READ_CYCLES
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.identity import identity_record
from flashtrain.spec.update import SourceIdentity
from tests.rtl.channel.channel_helpers import CONFIGS, with_key, with_parity

CONFIG = CONFIGS[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
WORD_BITS = 8 * CONFIG.data_bytes
BEATS = CONFIG.bus_page_bytes // 2
ZONES = 3


@dataclass(eq=False)
class Page:
    zone: int
    page: int
    die: int
    plane: int
    tag: int = 0
    stream: int = 0
    notify: int = 0
    close: int = 0
    kind: int = PageKind.DATA.value
    source: int = 0
    copies: int = 0
    buffer_block: int = 0
    identity: int = 0  # ZoneIdentity
    source_identity: int = 0
    wear: int = 0
    channel: int = 0
    words: list[int] = field(
        default_factory=lambda: [random.getrandbits(WORD_BITS) for _ in range(CONFIG.page_beats)]
    )

    @property
    def place(self):
        return self.zone, self.page, self.die, self.plane

    @property
    def source_page(self) -> int:
        """The page of the old tile, in as many bits as a block has pages."""
        return unpack(TileSource(), self.source_identity)["page"] % (1 << GEOMETRY.page_bits)

    @property
    def bits(self) -> int:
        fields = {name: getattr(self, name) for name in WritePage(CONFIG).members}
        return pack(WritePage(CONFIG), **fields)

    @property
    def record(self) -> bytes:
        """Reference model of the identity that follows the data."""
        return identity_record(
            **unpack(ZoneIdentity(), self.identity), page=self.page, die=self.die, plane=self.plane,
            channel=self.channel, wear=self.wear, updated=int(self.kind == PageKind.GRADIENTS.value),
        )  # fmt: skip

    @cached_property
    def beats(self) -> list[int]:
        every = sum(word << WORD_BITS * number for number, word in enumerate(self.words))
        data = every.to_bytes(GEOMETRY.page_bytes, "little") + self.record
        if self.kind == PageKind.DATA.value:
            data = with_parity(CONFIG, with_key(CONFIG, data, self.page, self.plane))
        else:
            data += self.source_identity.to_bytes(SourceIdentity.BYTES, "little")
        return [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]


class Writer:
    """Announces pages zone by zone as their page sets fill, and sends the data of accepted ones."""

    def __init__(self, dut, busy: float):
        self.dut, self.busy = dut, busy
        self.source = StreamSource(dut, "pages", busy)
        self.next_page = [0] * ZONES
        self.identities: dict[int, dict[str, int]] = {}
        self.sources: dict[tuple[int, int, int], int] = {}
        self.pages: dict[tuple, Page] = {}  # announced and not discarded
        # Pages of gradients and constants, by kind and place, in order.
        self.tiles: defaultdict[tuple, deque[Page]] = defaultdict(deque)
        self.announced: deque[Page] = deque()
        self.owed: list[Page] = []  # accepted, data not sent
        self.moved = 0
        dut.data_valid.value = 0
        dut.data.value = 0
        cocotb.start_soon(self._watch())
        cocotb.start_soon(self._send())

    def write(self, zone: int, **fields: int) -> Page:
        rest, plane = divmod(self.next_page[zone], GEOMETRY.planes)
        rest, die = divmod(rest, GEOMETRY.dies)
        self.next_page[zone] += 1
        page = Page(zone, rest, die, plane, stream=zone, **self._identity(zone), **fields)
        self.pages[page.place] = page
        self._announce(page)
        return page

    def update(self, place: tuple[int, int, int], pages: int, **fields: int) -> None:
        """Announce the gradients of the tile at zone, page and die."""
        for plane in range(pages):
            self._tell(PageKind.GRADIENTS, place, plane, close=int(plane == pages - 1), **fields)

    def constants(self, die: int, **fields: int) -> None:
        self._tell(PageKind.CONSTANTS, (0, 0, die), 0, close=1, **fields)

    def _tell(self, kind: PageKind, place: tuple[int, int, int], plane: int, **fields: int) -> None:
        origin = random.getrandbits(CONFIG.buffer_block_bits)
        # All pages of a tile have the same.
        source = self.sources.setdefault(place, random.getrandbits(TileSource().size))
        page = Page(
            *place,
            plane,
            kind=kind.value,
            buffer_block=origin,
            notify=1,
            source_identity=source,
            **self._identity(place[0]),
            **fields,
        )
        self.tiles[kind.value, *page.place].append(page)
        self._announce(page)

    def _identity(self, zone: int) -> dict[str, int]:
        """All pages of a zone have the same."""
        return self.identities.setdefault(zone, {
            "identity": random.getrandbits(ZoneIdentity().size), "wear": random.getrandbits(21),
            "channel": random.getrandbits(6),
        })  # fmt: skip

    def _announce(self, page: Page) -> None:
        self.announced.append(page)
        self.source.send(page.bits)

    @property
    def idle(self) -> bool:
        return self.source.empty and not self.owed

    async def _watch(self):
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.pages__valid.value == 1 and self.dut.pages__ready.value == 1:
                self.owed.append(self.announced.popleft())

    async def _send(self):
        while True:
            if not self.owed:
                await RisingEdge(self.dut.clk)
                continue
            page = self.owed[0]
            for word in page.words:
                while random.random() >= self.busy:
                    await RisingEdge(self.dut.clk)
                self.dut.data_valid.value = 1
                self.dut.data.value = word
                await RisingEdge(self.dut.clk)
                self.dut.data_valid.value = 0
            self.owed.pop(0)


class Bus:
    """Takes sets from every die, fetches their pages one at a time, and answers after a while."""

    def __init__(self, dut, writer: Writer, busy: float, failures: float):
        self.dut, self.writer, self.failures = dut, writer, failures
        self.fetch = StreamSource(dut, "fetch")
        self.beats = StreamSink(dut, "beats", busy)
        self.results = [StreamSource(dut, f"results__{die}", busy) for die in range(GEOMETRY.dies)]
        self.updated = [StreamSource(dut, f"updated__{die}", busy) for die in range(GEOMETRY.dies)]
        dut.origin_of.value = 0
        self.programmed: list[tuple] = []
        self.events: Counter = Counter()  # (tag, failed) that must be told
        self.order: dict[tuple, list] = {}
        self.slots: set[int] = set()
        self.updates: list[Page] = []  # the last page of each tile, and constants
        self.sets = []
        self._free = True
        for die in range(GEOMETRY.dies):
            getattr(dut, f"sets__{die}__ready").value = 0
            cocotb.start_soon(self._serve(die))

    async def _serve(self, die: int):
        dut = self.dut
        valid, ready = getattr(dut, f"sets__{die}__valid"), getattr(dut, f"sets__{die}__ready")
        payload = getattr(dut, f"sets__{die}__payload")
        while True:
            await RisingEdge(dut.clk)
            if valid.value != 1 or dut.rst.value == 1 or random.random() < 0.8:
                continue
            one = unpack(PageSet(CONFIG), int(payload.value))
            ready.value = 1
            await RisingEdge(dut.clk)
            ready.value = 0
            cocotb.start_soon(self._program(die, one))

    async def _program(self, die: int, one: dict):
        dut = self.dut
        assert one["slot"] not in self.slots, "a slot is given out twice"
        self.slots.add(one["slot"])
        self.sets.append((die, one))
        while not self._free:
            await RisingEdge(dut.clk)
        self._free = False
        pages = []
        for plane in range(one["first"], one["last"] + 1):
            place = one["zone"], one["page"], die, plane
            if one["kind"] == PageKind.DATA.value:
                page = self.writer.pages[place]
            else:
                page = self.writer.tiles[one["kind"], *place].popleft()
                told = ("source", "source_page", "copies", "tag")
                assert {name: one[name] for name in told} == {name: getattr(page, name) for name in told}
                await self._check_origin(one["slot"], page)
            pages.append(page)
            self.order.setdefault((one["kind"], page.zone, die, page.plane), []).append(page.page)
            seen, beats = len(self.beats.items), len(page.beats)
            self.fetch.send(pack(BufferPage(CONFIG), slot=one["slot"], plane=plane))
            got = await self.beats.wait_for(seen + beats)
            wrong = [at for at in range(beats) if got[seen + at] != page.beats[at]]
            assert not wrong, f"{len(wrong)} beats from {wrong[0]} on are wrong in {page.place} of {one}"
        self._free = True
        for _ in range(random.randrange(3 * BEATS)):
            await RisingEdge(dut.clk)
        if one["kind"] != PageKind.DATA.value:
            await self._end_update(die, one, pages)
            return
        failed = int(random.random() < self.failures)
        for page in pages:
            if page.notify:
                self.events[page.tag, failed] += 1
            self.programmed.append(page.place)
        self.slots.discard(one["slot"])
        self.results[die].send(pack(SetResult(CONFIG), slot=one["slot"], failed=failed))

    async def _check_origin(self, slot: int, page: Page):
        """The buffer knows where the page came from."""
        self.dut.origin_of.value = pack(BufferPage(CONFIG), slot=slot, plane=page.plane)
        await RisingEdge(self.dut.clk)
        await RisingEdge(self.dut.clk)
        expected = {"tag": page.tag, "buffer_block": page.buffer_block, "from_array": 0}
        assert unpack(PageTarget(CONFIG), int(self.dut.origin.value)) == expected

    async def _end_update(self, die: int, one: dict, pages: list[Page]):
        """Free the slot, and tell a tile's status some time later."""
        self.slots.discard(one["slot"])
        self.results[die].send(pack(SetResult(CONFIG), slot=one["slot"], failed=0))
        self.updates.append(pages[-1])
        if one["kind"] == PageKind.CONSTANTS.value:
            self.events[one["tag"], 0] += 1
            return
        for _ in range(random.randrange(3 * BEATS)):
            await RisingEdge(self.dut.clk)
        failed = int(random.random() < self.failures)
        self.events[one["tag"], failed] += 1
        self.updated[die].send(pack(PageEvent(CONFIG), tag=one["tag"], failed=failed))


class Reader:
    """Asks for pages, and copies those that are there."""

    def __init__(self, dut, writer: Writer, bus: Bus, room: float):
        self.dut, self.writer, self.bus = dut, writer, bus
        self.lookup = StreamSource(dut, "lookup")
        self.copy = StreamSource(dut, "copy")
        self.words: list[int] = []
        self.cycles: list[int] = []
        self.hits = self.misses = 0
        dut.copy_room.value = 0
        cocotb.start_soon(self._watch(room))

    async def _watch(self, chance: float):
        clock, room = 0, deque([0] * READ_CYCLES)
        while True:
            room.append(int(random.random() < chance))
            self.dut.copy_room.value = room[-1]
            await RisingEdge(self.dut.clk)
            clock += 1
            if self.dut.copy_valid.value == 1:
                assert room[0], "a word without room"
                self.words.append(int(self.dut.copy_data.value))
                self.cycles.append(clock)
            room.popleft()

    async def read(self, place: tuple) -> bool:
        """Ask for a page; check its words if it is there."""
        dut = self.dut
        zone, row, die, plane = place
        certain = (
            place in self.writer.pages and not self.writer.source.items and place not in self.bus.programmed
        )
        self.lookup.send(pack(PagePlace(CONFIG), zone=zone, page=row, die=die, plane=plane))
        await RisingEdge(dut.clk)
        while not (dut.lookup__valid.value == 1 and dut.lookup__ready.value == 1):
            await RisingEdge(dut.clk)
        if dut.hit.value != 1:
            assert not certain or place in self.bus.programmed, f"{place} is in the buffer"
            self.misses += 1
            return False
        slot, seen = int(dut.hit_slot.value), len(self.words)
        self.hits += 1
        self.copy.send(pack(BufferPage(CONFIG), slot=slot, plane=plane))
        while len(self.words) < seen + CONFIG.page_beats:
            await RisingEdge(dut.clk)
        assert self.words[seen:] == self.writer.pages[place].words, place
        return True


class Bench:
    def __init__(self, dut, busy: float = 1, room: float = 1, failures: float = 0):
        self.dut = dut
        self.writer = Writer(dut, busy)
        self.bus = Bus(dut, self.writer, busy, failures)
        self.reader = Reader(dut, self.writer, self.bus, room)
        self.flush = StreamSource(dut, "flush")
        self.discard = StreamSource(dut, "discard")
        self.programmed = StreamSink(dut, "programmed", busy)
        self.flushed = 0

    async def start(self):
        await start(self.dut)
        cocotb.start_soon(self._watch())

    async def _watch(self):
        while True:
            await RisingEdge(self.dut.clk)
            self.flushed += self.dut.flushed.value == 1

    async def until(self, condition, cycles: int = 50_000):
        for _ in range(cycles):
            if condition():
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError("it takes too long")

    async def flush_all(self):
        await self.until(lambda: self.writer.idle)
        for zone in range(ZONES):
            before = self.flushed
            self.flush.send(zone)
            await self.until(lambda before=before: self.flushed > before)


@cocotb.test()
async def programs_every_page_once(dut):
    """Everything at once, at random; at the end all pages are programmed, told, and in order."""
    bench = Bench(dut, busy=0.6, room=0.7, failures=0.2)
    await bench.start()
    for number in range(rounds(60)):
        zone = random.randrange(ZONES)
        page = None
        for _ in range(random.choice((1, 1, GEOMETRY.planes, 2 * GEOMETRY.planes))):
            if bench.writer.next_page[zone] < GEOMETRY.planes * GEOMETRY.dies * GEOMETRY.pages:
                page = bench.writer.write(
                    zone,
                    tag=number % CONFIG.commands,
                    notify=random.getrandbits(1),
                    close=int(random.random() < 0.2),
                )
        await bench.until(lambda: bench.writer.source.empty)
        if page and random.random() < 0.7:
            await bench.reader.read(page.place)
        if bench.writer.pages:
            await bench.reader.read(random.choice(list(bench.writer.pages)))
    await bench.flush_all()
    assert sorted(bench.bus.programmed) == sorted(bench.writer.pages)
    await bench.programmed.wait_for(bench.bus.events.total())
    told = Counter((event["tag"], event["failed"]) for event in map(_event, bench.programmed.items))
    assert told == bench.bus.events
    assert all(rows == sorted(rows) for rows in bench.bus.order.values())
    assert bench.reader.hits > rounds(10) and bench.reader.misses > 3
    assert dut.busy.value == 0


@cocotb.test()
async def updates_pass_through(dut):
    """Tiles and constants among data: each is told once, and no read finds them."""
    bench = Bench(dut, busy=0.6, room=0.7, failures=0.3)
    await bench.start()
    writer, tiles = bench.writer, 0
    for number in range(rounds(30)):
        tag = number % CONFIG.commands
        die = random.randrange(GEOMETRY.dies)
        row, rest = divmod(number, GEOMETRY.dies)
        if random.random() < 0.3:
            # In the zone and page of data that may be open.
            writer.constants(die, tag=tag)
            tiles += 1
        elif row < GEOMETRY.pages:
            pages = random.randint(1, GEOMETRY.planes)
            told = {"source": random.randrange(GEOMETRY.zones), "copies": random.randint(0, pages)}
            writer.update((ZONES, row, rest), pages, tag=tag, **told)
            tiles += 1
            await bench.until(lambda: writer.source.empty)
            assert not await bench.reader.read((ZONES, row, rest, 0))
        if writer.next_page[0] < GEOMETRY.planes * GEOMETRY.dies * GEOMETRY.pages:
            page = writer.write(0, tag=tag, notify=random.getrandbits(1))
            await bench.until(lambda: writer.source.empty)
            await bench.reader.read(page.place)
    await bench.flush_all()
    await bench.until(lambda: len(bench.bus.updates) == tiles)
    await bench.until(lambda: all(source.empty for source in bench.bus.updated))
    await bench.programmed.wait_for(bench.bus.events.total())
    told = Counter((event["tag"], event["failed"]) for event in map(_event, bench.programmed.items))
    assert told == bench.bus.events
    assert sorted(bench.bus.programmed) == sorted(writer.pages)
    assert bench.reader.hits > 3
    await bench.until(lambda: dut.busy.value == 0)


def _event(bits: int) -> dict[str, int]:
    return unpack(PageEvent(CONFIG), bits)


@cocotb.test()
async def flush_makes_no_padding(dut):
    """A flushed set has the planes that were written, and the rest of the page set makes another."""
    bench = Bench(dut)
    await bench.start()
    bench.writer.write(0)
    await bench.flush_all()
    assert [(one["first"], one["last"]) for _, one in bench.bus.sets] == [(0, 0)]
    for _ in range(GEOMETRY.planes - 1):
        bench.writer.write(0)
    await bench.until(lambda: len(bench.bus.programmed) == GEOMETRY.planes)
    assert [(one["first"], one["last"]) for _, one in bench.bus.sets] == [(0, 0), (1, GEOMETRY.planes - 1)]


@cocotb.test()
async def discards_a_zone(dut):
    """What is left of a discarded zone is neither programmed nor found."""
    bench = Bench(dut)
    await bench.start()
    pages = [bench.writer.write(zone) for zone in (0, 1)]
    await bench.until(lambda: bench.writer.idle)
    bench.discard.send(0)
    await bench.until(lambda: bench.discard.empty)
    del bench.writer.pages[pages[0].place]
    assert not await bench.reader.read(pages[0].place)
    assert await bench.reader.read(pages[1].place)
    await bench.flush_all()
    assert bench.bus.programmed == [pages[1].place]


@cocotb.test()
async def beats_come_without_bubbles(dut):
    """Also while a copy uses the memory; and the copy gets what the bus leaves."""
    bench = Bench(dut)
    await bench.start()
    reads = [bench.writer.write(1)]
    for _ in range(GEOMETRY.planes):
        bench.writer.write(0)
    await bench.until(lambda: bench.writer.idle)
    await bench.until(lambda: len(bench.bus.beats.items) > 4)
    first = len(bench.reader.cycles)
    assert await bench.reader.read(reads[0].place)
    beside_the_bus = bench.reader.cycles[first + CONFIG.page_beats - 1] - bench.reader.cycles[first] + 1
    await bench.until(lambda: len(bench.bus.programmed) == GEOMETRY.planes)
    cycles = bench.bus.beats.cycles
    for page in range(GEOMETRY.planes):
        span = cycles[(page + 1) * BEATS - 1] - cycles[page * BEATS] + 1
        assert span == BEATS, f"{BEATS} beats took {span} cycles"
    chunk = min(64, WORD_BITS) // 16
    assert beside_the_bus <= CONFIG.page_beats * chunk / (chunk - 1) + 3
    first = len(bench.reader.cycles)
    assert await bench.reader.read(reads[0].place)
    alone = bench.reader.cycles[first + CONFIG.page_beats - 1] - bench.reader.cycles[first] + 1
    assert alone == CONFIG.page_beats
    dut._log.info(f"a copy of {CONFIG.page_beats} words: {alone} cycles, {beside_the_bus} beside the bus")


@cocotb.test()
async def first_beat_comes_in_time(dut):
    bench = Bench(dut)
    await bench.start()
    bench.writer.write(0, close=1)
    asked = None
    for clock in range(5 * CONFIG.page_beats + 100):
        await RisingEdge(dut.clk)
        if dut.fetch__valid.value == 1 and dut.fetch__ready.value == 1:
            asked = clock
        if dut.beats__valid.value == 1:
            break
    assert clock - asked == 5, f"first beat after {clock - asked} cycles"
