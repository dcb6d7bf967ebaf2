"""`PageSets` against its model: one random event, then both come to rest and must agree."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.write_buffer.page_sets import PagePlace
from flashtrain.rtl.layouts import PageKind, PageSet, TileSource, WritePage
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import pack, start, unpack
from tests.rtl.channel.channel_helpers import SET_CONFIGS
from tests.rtl.channel.write_buffer.page_set_model import ModelSet, Page, PageSetModel, SetPlace, State, Told

CONFIG = SET_CONFIGS[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
REST = 6 * (CONFIG.write_sets + 7)  # cycles in which everything that can happen has happened
ZONES, STREAMS = 3, 2


class Bench:
    """The component's pins, the model, and what writers would do next."""

    def __init__(self, dut):
        self.dut = dut
        self.model = PageSetModel(CONFIG.write_sets, GEOMETRY.planes)
        self.flushes = 0
        self.next_page = [0] * ZONES  # next page of each zone's writer, counted in planes
        self.placed: ModelSet | None = None
        self.tile: list[Page] = []  # its pages to come

    async def reset(self):
        names = ("pages", "lookup", "flush", "discard")
        inputs = {f"{name}__{pin}": 0 for name in names for pin in ("valid", "payload")}
        inputs |= {f"sets__{die}__ready": 0 for die in range(GEOMETRY.dies)}
        pulses = ("arrived", "arrived_slot", "arrived_plane", "unpin", "ended", "ended_slot")
        await start(self.dut, **inputs, **dict.fromkeys(pulses, 0))

    async def rest(self, cycles: int = REST) -> dict[str, int]:
        """Let time pass, end what is accepted, and tell in which clock that was."""
        dut, accepted = self.dut, {}
        for clock in range(cycles):
            await RisingEdge(dut.clk)
            for name in ("pages", "lookup", "flush", "discard"):
                valid, ready = getattr(dut, f"{name}__valid"), getattr(dut, f"{name}__ready")
                if valid.value == 1 and ready.value == 1:
                    accepted[name] = clock
                    if name == "pages":
                        self.slot = int(dut.slot.value)
                    if name == "lookup":
                        self.answer = dut.hit.value == 1, int(dut.hit_slot.value)
                    valid.value = 0
            self.flushes += dut.flushed.value == 1
        return accepted

    async def pulse(self, **values: int):
        for name, value in values.items():
            getattr(self.dut, name).value = value
        await RisingEdge(self.dut.clk)
        for name in values:
            getattr(self.dut, name).value = 0

    async def compare(self) -> dict[str, int]:
        """Come to rest and check that the model has done the same."""
        model = self.model
        page, lookup = model.page, model.lookup
        was_flushing, zone = model.flush, model.zone
        model.answer = None
        model.settle()
        accepted = await self.rest()
        assert ("pages" in accepted) == (page is not None and model.page is None), (page, model)
        assert ("flush" in accepted) == (was_flushing is not None and model.flush is None)
        assert ("discard" in accepted) == (zone is not None and model.zone is None), (zone, model)
        assert ("lookup" in accepted) == (lookup is not None and model.lookup is None), (lookup, model)
        if "pages" in accepted:
            self._check_slot(model.on_the_way[-1])
        if "lookup" in accepted:
            hit, slot = model.answer
            assert self.answer[0] == hit, (lookup, model)
            assert not hit or self.answer[1] == slot
        assert self.flushes == model.flushes, repr(model)
        for die in range(GEOMETRY.dies):
            one = model.offered(die)
            offers = getattr(self.dut, f"sets__{die}__valid").value == 1
            assert offers == (one is not None), (die, model)
            if one is not None:
                got = unpack(PageSet(CONFIG), int(getattr(self.dut, f"sets__{die}__payload").value))
                place = {"zone": one.place.zone, "page": one.place.page, "kind": one.place.kind.value}
                planes = {"first": one.first, "last": one.last}
                assert got == {"slot": one.slot, **place, **planes, **one.told._asdict()}, (got, one)
        assert (self.dut.busy.value == 1) == any(one.state is not State.OPEN for one in model.sets)
        return accepted

    def _check_slot(self, own: ModelSet):
        """A page joins the slot of its set, or opens one that nobody has."""
        if own.slot is None:
            others = {one.slot for one in self.model.sets if one is not own}
            if self.model.pinned is not None:
                others.add(self.model.pinned.slot)
            assert self.slot not in others, (self.slot, self.model)
            own.slot = self.slot
        assert own.slot == self.slot

    # Events.
    async def offer_page(self, page: Page):
        self.model.page = page
        place = {**page.place._asdict(), "kind": page.place.kind.value}
        fields = {"plane": page.plane, "stream": page.stream, "close": page.close}
        told = page.told._asdict()
        identity = pack(TileSource(), page=told.pop("source_page"))
        bits = pack(WritePage(CONFIG), **place, **fields, **told, source_identity=identity)
        self.dut.pages__payload.value = bits
        self.dut.pages__valid.value = 1

    async def ask(self, place: SetPlace, plane: int):
        """A read finds data only."""
        self.model.lookup = place, plane
        fields = {"zone": place.zone, "page": place.page, "die": place.die, "plane": plane}
        self.dut.lookup__payload.value = pack(PagePlace(CONFIG), **fields)
        self.dut.lookup__valid.value = 1

    async def flush(self, stream: int):
        self.model.flush = stream
        self.dut.flush__payload.value = stream
        self.dut.flush__valid.value = 1

    async def discard(self, zone: int):
        self.model.zone = zone
        self.dut.discard__payload.value = zone
        self.dut.discard__valid.value = 1

    async def arrive(self):
        own = self.model.on_the_way[0]
        plane = own.first + own.arrived
        self.model.arrive()
        await self.pulse(arrived=1, arrived_slot=own.slot, arrived_plane=plane)

    async def accept(self, one: ModelSet):
        self.model.accept(one)
        await self.pulse(**{f"sets__{one.place.die}__ready": 1})

    async def end(self, one: ModelSet):
        self.dut.ended_slot.value = one.slot
        await RisingEdge(self.dut.clk)
        assert int(self.dut.ended_first.value) == one.first
        assert int(self.dut.ended_last.value) == one.last
        self.model.end(one)
        await self.pulse(ended=1, ended_slot=one.slot)

    async def unpin(self):
        self.model.unpin()
        await self.pulse(unpin=1)

    def write_on(self, zone: int, close: bool) -> Page:
        """The next page of a zone's writer; streams take zones in turn."""
        number = self.next_page[zone]
        self.next_page[zone] += 1
        rest, plane = divmod(number, GEOMETRY.planes)
        rest, die = divmod(rest, GEOMETRY.dies)
        return Page(SetPlace(zone, rest % GEOMETRY.pages, die), plane, zone % STREAMS, close)

    def update_on(self) -> Page:
        """The next page of a tile, or a page of constants; both where data may be, too."""
        if not self.tile:
            place = random.randrange(ZONES), random.randrange(GEOMETRY.pages), random.randrange(GEOMETRY.dies)
            kind = random.choice((PageKind.GRADIENTS, PageKind.CONSTANTS))
            pages = random.randint(1, GEOMETRY.planes) if kind is PageKind.GRADIENTS else 1
            source = random.randrange(GEOMETRY.zones), GEOMETRY.pages - 1 - place[1]
            told = Told(*source, random.randint(0, pages), random.randrange(8))
            place, stream = SetPlace(*place, kind), random.randrange(STREAMS)
            self.tile = [Page(place, plane, stream, plane == pages - 1, told) for plane in range(pages)]
        return self.tile.pop(0)

    def random_event(self):
        """A coroutine that makes something happen that may happen now."""
        model, choices = self.model, []
        discarding = model.zone is not None
        # Pages and flushes come one after the other: their order says what a flush is of.
        if model.page is None and model.flush is None:
            zone = random.choice([zone for zone in range(ZONES) if zone != model.zone])
            choices += 2 * [lambda: self.offer_page(self.write_on(zone, random.random() < 0.2))]
            choices += [lambda: self.offer_page(self.update_on())]
        # Of a zone that is discarded all data is there: its commands are complete.
        if model.on_the_way and not (discarding and model.on_the_way[0].is_data):
            choices += 4 * [self.arrive]
        for one in model.sets:
            if one.state is State.OFFERED:
                choices += [lambda one=one: self.accept(one)]
            if one.state is State.WITH_AGENT:
                choices += [lambda one=one: self.end(one)]
        if model.lookup is None:
            one = random.choice(model.sets) if model.sets and random.random() < 0.8 else None
            place = (
                one.place if one else SetPlace(random.randrange(ZONES), random.randrange(GEOMETRY.pages), 0)
            )
            place = place._replace(kind=PageKind.DATA)
            choices += 2 * [lambda: self.ask(place, random.randrange(GEOMETRY.planes))]
        if model.pinned is not None:
            choices += 2 * [self.unpin]
        if model.page is None and model.flush is None and random.random() < 0.3:
            choices += [lambda: self.flush(random.randrange(STREAMS))]
        arriving = {one.place.zone for one in model.on_the_way if one.is_data}
        idle = [zone for zone in range(ZONES) if zone not in arriving]
        waits = model.page.place.zone if model.page and model.page.place.kind is PageKind.DATA else None
        if not discarding and random.random() < 0.2 and set(idle) - {waits}:
            choices += [lambda: self.discard(random.choice([zone for zone in idle if zone != waits]))]
        return random.choice(choices)()


@cocotb.test()
async def agrees_with_twin(dut):
    bench = Bench(dut)
    await bench.reset()
    for _ in range(rounds(600)):
        await bench.random_event()
        await bench.compare()
    assert bench.model.evictions and bench.model.flushes


@cocotb.test()
async def accepts_in_time(dut):
    """Latency of an open, a join and both answers, with nothing else to do."""
    bench = Bench(dut)
    await bench.reset()
    pages = [bench.write_on(0, False) for _ in range(2)]
    for page, limit in zip(pages, (CONFIG.write_sets + 6, 5), strict=True):
        await bench.offer_page(page)
        clock = (await bench.compare())["pages"]
        assert clock == limit, f"page accepted after {clock} cycles"
        await bench.arrive()
        await bench.compare()
    for plane, place in ((0, pages[0].place), (0, SetPlace(1, 0, 0))):
        await bench.ask(place, plane)
        clock = (await bench.compare())["lookup"]
        assert clock <= CONFIG.write_sets + 3, f"lookup answered after {clock} cycles"


@cocotb.test()
async def evicts_the_oldest_open_set(dut):
    """One for each page that needs room; the page comes in when the set is programmed."""
    bench = Bench(dut)
    await bench.reset()
    for zone in range(CONFIG.write_sets):
        await bench.offer_page(Page(SetPlace(zone, 0, 0), 0))
        await bench.compare()
        await bench.arrive()
    await bench.offer_page(Page(SetPlace(CONFIG.write_sets, 0, 0), 0))
    assert "pages" not in await bench.compare()
    assert bench.model.evictions == 1
    oldest = bench.model.offered(0)
    assert oldest.place.zone == 0
    await bench.accept(oldest)
    await bench.compare()
    await bench.end(oldest)
    assert "pages" in await bench.compare()


@cocotb.test()
async def discards_when_data_is_there(dut):
    """A set whose data is on the way stays until it has come."""
    bench = Bench(dut)
    await bench.reset()
    await bench.offer_page(Page(SetPlace(1, 0, 0), 0))
    await bench.compare()
    await bench.discard(1)
    assert "discard" not in await bench.compare()
    await bench.arrive()
    assert "discard" in await bench.compare()


@cocotb.test()
async def a_flush_of_nothing_is_short(dut):
    bench = Bench(dut)
    await bench.reset()
    await bench.flush(1)
    accepted = await bench.rest(CONFIG.write_sets + 9)
    assert "flush" in accepted and bench.flushes == 1


@cocotb.test()
async def a_flush_closes_every_open_set(dut):
    """All slots at once, in the order in which they were opened."""
    bench = Bench(dut)
    await bench.reset()
    for zone in range(CONFIG.write_sets):
        await bench.offer_page(Page(SetPlace(zone, 0, 0), 0, stream=1))
        await bench.compare()
        await bench.arrive()
    await bench.flush(1)
    await bench.compare()
    for zone in range(CONFIG.write_sets):
        assert bench.flushes == 0
        one = bench.model.offered(0)
        assert one.place.zone == zone
        await bench.accept(one)
        await bench.compare()
        await bench.end(one)
        await bench.compare()
    assert bench.flushes == 1
