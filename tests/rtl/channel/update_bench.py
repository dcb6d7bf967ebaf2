"""A channel engine at updates: a front end that announces tiles, and models of the dies on the pins."""

import random
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import PageEvent, PageKind, ReadHead, ReadPage, TileSource, WritePage
from flashtrain.sim.bench.parameters import bench_parameters, is_long
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.identity import PageIdentity, is_identity
from flashtrain.spec.nand import BusOp
from flashtrain.spec.update_time import compute_cycles
from tests.rtl.channel.bus.pin_monitor import TAKES_DATA, Operation, PinMonitor
from tests.rtl.channel.channel_helpers import EVERY_CONFIG
from tests.rtl.channel.die_model import COPY, DieModel, Page
from tests.rtl.channel.timeout_streams import PausingSink, wait

CONFIG = EVERY_CONFIG[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
TPROG = CONFIG.timing.cycles("tprog")
DIES = range(GEOMETRY.dies)
WORD_BITS = 8 * CONFIG.data_bytes
BEATS = GEOMETRY.page_bytes // 2  # of data; an identity follows
PAGES = 2  # of gradients of a tile
UNIT = compute_cycles(CONFIG)[PAGES - 1] + 40
OLD, NEW, APPENDED = 1, 2, 3  # zones
VOLATILE = 0


@dataclass(eq=False)
class Tile:
    page: int
    die: int
    tag: int
    origins: list[int]  # of its pages of gradients
    copies: int
    source: int  # SourceIdentity
    source_page: int
    gradients: list[list[int]] = field(default_factory=list)  # beats


def page_of_beats() -> list[int]:
    return [random.getrandbits(16) for _ in range(BEATS)]


def as_words(beats: list[int]) -> list[int]:
    """As the front end has them."""
    each = WORD_BITS // 16
    groups = (beats[at : at + each] for at in range(0, BEATS, each))
    return [sum(beat << 16 * index for index, beat in enumerate(group)) for group in groups]


class Bench:
    """Tiles go to the dies in turn, as the front end sends them; `busy`: chance that it acts in a cycle."""

    def __init__(self, dut, *, busy: float = 1, **die_options):
        self.dut, self.busy = dut, busy
        self.dies = [DieModel(CONFIG, f"die {number}", unit=UNIT, **die_options) for number in DIES]
        self.pages, self.reads = (StreamSource(dut, name, busy) for name in ("pages", "reads"))
        self.data = StreamSink(dut, "read_data", busy)
        self.announced: deque[list[int]] = deque()  # words of pages
        self.owed: deque[list[int]] = deque()
        self.sends = False
        self.to_load: list[deque[Tile]] = [deque() for _ in DIES]
        self.to_update: list[deque[Tile]] = [deque() for _ in DIES]
        self.updated: list[list[Tile]] = [[] for _ in DIES]
        self.constants: list[deque[list[int]]] = [deque() for _ in DIES]
        self.loaded = 0  # pages of gradients of the tile that is loading
        self.expected: dict[int, tuple[int, Page]] = {}  # by origin: what comes back, from which die
        self.events: Counter = Counter()  # tags of single events, whether failed or not
        self.contents: dict[tuple[int, Page], list[int]] = {}
        self.beats_in: list[int] = []
        self.status = 0
        self.count = 0

    async def start(self) -> None:
        dut = self.dut
        inputs = [
            "data_valid",
            "data",
            "counter_select",
            "counter_sample",
            "raw",
            "nand__dqs_i",
            "nand__dq_i",
        ]
        inputs += ["nand__rb_n", "erased__ready", "programmed__ready", "read_head__ready"]
        inputs += [f"{name}__{pin}" for name in ("flush", "erase") for pin in ("valid", "payload")]
        await start(dut, within=1_000_000, **dict.fromkeys(inputs, 0))
        self.monitor = PinMonitor(dut, CONFIG, self._operation, self._status)
        pause = 0 if self.busy == 1 else round(5 / self.busy)
        self.programmed, self.heads = (PausingSink(dut, name, pause) for name in ("programmed", "read_head"))
        cocotb.start_soon(self._clock())
        await self.until(lambda: dut.ready.value == 1)

    async def until(self, condition, cycles: int = 2_000_000) -> None:
        for _ in range(0, cycles, 20):
            if condition():
                return
            await wait(self.dut, 20)
        raise AssertionError(f"it takes too long: {[die.history[-4:] for die in self.dies]}")

    # The front end.
    def update(self, copies: int) -> None:
        """Announce the next tile."""
        row, die = divmod(self.count, GEOMETRY.dies)
        self.count += 1
        origins = [self._origin() for _ in range(PAGES)]
        source_page = random.randrange(GEOMETRY.pages)
        fields = {name: random.getrandbits(part.width) for name, part in TileSource()}
        source = pack(TileSource(), **fields | {"page": source_page})
        tag = self.count % CONFIG.commands
        tile = Tile(row % GEOMETRY.pages, die, tag, origins, copies, source, source_page)
        index = len(self.updated[die]) + len(self.to_update[die])
        for number, origin in enumerate(origins):
            tile.gradients.append(page_of_beats())
            self._announce(
                tile.gradients[-1], kind=PageKind.GRADIENTS.value, zone=NEW, source=OLD, page=tile.page,
                die=die, plane=number, tag=tile.tag, buffer_block=origin, copies=copies,
                source_identity=source, close=int(number == PAGES - 1), notify=random.getrandbits(1),
            )  # fmt: skip
            if number < copies:
                self.expected[origin] = die, (COPY, index, number)
        self.to_load[die].append(tile)
        self.to_update[die].append(tile)
        self.events[tile.tag] += 1

    def set_constants(self, die: int) -> None:
        page, tag = page_of_beats(), random.randrange(CONFIG.commands)
        self.constants[die].append(page)
        self.events[tag] += 1
        self._announce(page, kind=PageKind.CONSTANTS.value, die=die, tag=tag, notify=1, close=1)

    def append(self, row: int, die: int) -> None:
        for plane in range(GEOMETRY.planes):
            self._announce(page_of_beats(), zone=APPENDED, page=row, die=die, plane=plane, stream=VOLATILE)

    def read(self, what: Page, die: int, **fields: int) -> None:
        origin = self._origin()
        self.expected[origin] = die, what
        self.reads.send(
            pack(ReadPage(CONFIG), die=die, buffer_block=origin, tag=origin % CONFIG.commands, **fields)
        )

    def _origin(self) -> int:
        while (origin := random.getrandbits(CONFIG.buffer_block_bits)) in self.expected:
            pass
        return origin

    def _announce(self, beats: list[int], **fields: int) -> None:
        self.announced.append(as_words(beats))
        self.pages.send(pack(WritePage(CONFIG), **fields))

    async def finish(self) -> None:
        count = len(self.expected)
        await self.until(lambda: len(self.programmed.items) == self.events.total())
        await self.until(lambda: len(self.data.items) == count * CONFIG.page_beats)
        await self.until(lambda: self.dut.idle.value == 1)
        events = [unpack(PageEvent(CONFIG), item) for item in self.programmed.items]
        assert Counter(event["tag"] for event in events) == self.events
        failures = sum(work.failed for die in self.dies for work in die.works if work.kind == "update")
        assert sum(event["failed"] for event in events) == failures
        for number, bits in enumerate(self.heads.items):
            head = unpack(ReadHead(CONFIG), bits)
            die, what = self.expected.pop(head["buffer_block"])
            words = self.data.items[number * CONFIG.page_beats :][: CONFIG.page_beats]
            assert words == as_words(self.contents[die, what]), f"{what} of die {die}"
        assert not self.expected and not any(self.to_update) and not any(self.constants)

    # The dies.
    def _operation(self, operation: Operation) -> None:
        row, op = operation.row, operation.op
        page = row & (1 << GEOMETRY.page_bits) - 1
        plane = row >> GEOMETRY.page_bits & GEOMETRY.planes - 1
        block = row >> GEOMETRY.page_bits + GEOMETRY.plane_bits
        number, die = operation.die, self.dies[operation.die]
        if op is BusOp.LOAD_GRADIENT:
            tile = self.to_load[number][0]
            assert self.beats_in[:BEATS] == tile.gradients[plane]
            behind = b"".join(beat.to_bytes(2, "little") for beat in self.beats_in[BEATS:])
            assert is_identity(behind[: PageIdentity.BYTES])
            assert int.from_bytes(behind[PageIdentity.BYTES :], "little") == tile.source
            if plane == PAGES - 1:
                self.to_load[number].popleft()
        elif op is BusOp.LOAD_CONSTANTS:
            assert self.beats_in[:BEATS] == self.constants[number].popleft()
        elif op in (BusOp.UPDATE_SOURCE, BusOp.UPDATE_MORE, BusOp.UPDATE_LAST):
            tile = self.to_update[number][0]
            assert len(die.gradients) == PAGES
            of_source = op is BusOp.UPDATE_SOURCE
            assert (block, page) == ((OLD, tile.source_page) if of_source else (NEW, tile.page))
            if op is BusOp.UPDATE_LAST:
                self.updated[number].append(self.to_update[number].popleft())
        if op in TAKES_DATA:
            self.beats_in = []
        die.operation(op, block, page, plane, operation.end)

    def _status(self, die: int, clock: int) -> None:
        self.status = self.dies[die].status(clock)

    async def _clock(self) -> None:
        """In every cycle: the front end's data, a beat to a die, what it answers to `re`."""
        clk, dqs_o, dq_o, re, dqs_i, dq_i = (
            getattr(self.dut, name)
            for name in ("clk", "nand__dqs_o", "nand__dq_o", "nand__re", "nand__dqs_i", "nand__dq_i")
        )
        sent = 0
        while True:
            await RisingEdge(clk)
            self._send_data()
            if dqs_o.value == 1:
                self.beats_in.append(int(dq_o.value))
            asks = re.value == 1
            if asks != (sent > 0):  # the simulator is called for nothing if it stays
                dqs_i.value = int(asks)
            if asks:
                dq_i.value = self._answer(sent)
            sent = sent + 1 if asks else 0

    def _send_data(self) -> None:
        dut = self.dut
        if dut.pages__valid.value == 1 and dut.pages__ready.value == 1:
            self.owed.append(self.announced.popleft())
        sends = bool(self.owed) and random.random() < self.busy
        if sends != self.sends:
            dut.data_valid.value = int(sends)
            self.sends = sends
        if sends:
            dut.data.value = self.owed[0].pop(0)
            if not self.owed[0]:
                self.owed.popleft()

    def _answer(self, beat: int) -> int:
        operation = self.monitor.operation
        if operation.commands:
            return self.status
        what, _ = self.dies[operation.die].selected
        page = self.contents.setdefault((operation.die, what), page_of_beats())
        return page[beat] if beat < BEATS else random.getrandbits(16)  # an identity


@cocotb.test()
@cocotb.parametrize(copies=[0, 1])
async def arrays_have_no_gap(dut, copies):
    """With tiles at hand each die gets its next update before its program under way ends."""
    bench = Bench(dut)
    await bench.start()
    for die in DIES:
        bench.set_constants(die)
    for _ in range(6 * GEOMETRY.dies):
        bench.update(copies)
    await bench.finish()
    for die in bench.dies:
        works = [work for work in die.works if work.kind in ("sense", "update")]
        assert len(works) == 2 * 6
        # The first two tiles find their place beside those of the other die.
        gaps = [after.begin - before.end for before, after in pairwise(works[4:-1])]
        assert not any(gaps), gaps
        dut._log.info(f"{die.name}: {die.polls} polls, {works[-1].end - works[0].begin} cycles")


@cocotb.test()
async def statuses_reach_their_tiles(dut):
    """A failure is told once, with the tag of its tile."""
    bench = Bench(dut, fails=lambda kind, pages: kind == "update" and pages[0][1] % 2 == 1)
    await bench.start()
    for _ in range(4 * GEOMETRY.dies):
        bench.update(1)
    await bench.finish()
    events = [unpack(PageEvent(CONFIG), item) for item in bench.programmed.items]
    tiles = {tile.tag: tile for tiles in bench.updated for tile in tiles}
    assert all(event["failed"] == tiles[event["tag"]].page % 2 for event in events)


@cocotb.test()
@cocotb.parametrize(busy=[0.7, 0.1])
async def among_other_work(dut, busy):
    """Data, reads, constants, statistics: the tiles' origins get their copies, and every event comes once."""
    late = random.choices((0.7, 1, 1.5), k=50)
    bench = Bench(
        dut, busy=busy, late=lambda kind, cycles: round(cycles * random.choice(late)),
        fails=lambda kind, pages: kind == "update" and random.random() < 0.3,
    )  # fmt: skip
    await bench.start()
    for row in range(GEOMETRY.pages if is_long() else 3):
        for _ in range(random.choice((1, 1, 2, 5)) * GEOMETRY.dies):
            bench.update(random.choice((0, 1, 2)))
        die = random.choice(DIES)
        match random.choice(("append", "constants", "statistics", "read")):
            case "append":
                bench.append(row, die)
            case "constants":
                bench.set_constants(die)
            case "statistics":
                bench.read((-2, 0, 0), die, statistics=1)
            case "read":
                # In the place of a tile whose gradients may be in the write buffer: it comes from the die.
                bench.read((NEW, row, 0), die, zone=NEW, page=row)
        await wait(dut, random.choice((0, TPROG)))
    await bench.finish()
