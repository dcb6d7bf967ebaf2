"""What the arrays of a channel's dies hold, and random operations that are legal on them."""

import random

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus
from tests.rtl.die.die_configs import BAD_BLOCK, BAD_PLANES
from tests.rtl.die.nand_driver import NandDriver

Place = tuple[int, int]  # plane, block


def fails(place: Place) -> bool:
    plane, block = place
    return block == BAD_BLOCK and BAD_PLANES >> plane & 1 == 1


class DieTwin:
    """One die: pages by (plane, block), in order, and what its status will say."""

    def __init__(self, config: FmsConfig):
        self.geometry = config.geometry
        self.word = config.die_word_bytes
        # Few, so that they fill up.
        self.blocks = (0, BAD_BLOCK, self.geometry.blocks - 1)
        self.pages: dict[Place, list[bytes]] = {}
        # Planes on which the last operation failed, and the cache program before it.
        self.failed: set[int] = set()
        self.failed_before: set[int] = set()
        self.cache_programmed = False

    def begin(
        self, places: list[Place], *, modifies: bool, cache_program: bool = False, program: bool = False
    ) -> None:
        """An operation of the array begins; call it in the order in which the die gets the commands."""
        self.failed_before = self.failed if program and self.cache_programmed else set()
        self.failed = {place[0] for place in places if modifies and fails(place)}
        self.cache_programmed = cache_program

    def any_places(self) -> list[Place]:
        """Blocks of a random, not empty set of planes."""
        planes = random.sample(range(self.geometry.planes), random.randint(1, self.geometry.planes))
        return [(plane, random.choice(self.blocks)) for plane in planes]

    def places_to_program(self) -> tuple[list[Place], int] | None:
        """Places whose next page is the same, and that page."""
        free = [place for place in self.any_places() if len(self.pages.get(place, ())) < self.geometry.pages]
        if not free:
            return None
        page = len(self.pages.get(free[0], ()))
        return [place for place in free if len(self.pages.get(place, ())) == page], page

    def places_to_read(self, run: int = 1) -> tuple[list[Place], int] | None:
        """Places with the same `run` programmed pages in a row, and the first of them."""
        by_plane: dict[int, list[Place]] = {}
        for place, pages in self.pages.items():
            if len(pages) >= run:
                by_plane.setdefault(place[0], []).append(place)
        if not by_plane:
            return None
        planes = random.sample(list(by_plane), random.randint(1, len(by_plane)))
        places = [random.choice(by_plane[plane]) for plane in planes]
        return places, random.randint(0, min(len(self.pages[place]) for place in places) - run)


class RandomOperations:
    """Performs legal operations on one die at a time, and compares data and status with the twins."""

    def __init__(self, nand: NandDriver):
        self.nand = nand
        self.geometry = nand.geometry
        self.twins = [DieTwin(nand.config) for _ in range(nand.geometry.dies)]
        self.done: dict[str, int] = {}

    @property
    def twin(self) -> DieTwin:
        return self.twins[self.nand.selected]

    async def perform(self, name: str) -> None:
        if await getattr(self, name)() is not False:
            self.done[name] = self.done.get(name, 0) + 1

    async def erase(self):
        places = self.twin.any_places()
        await self._idle()
        self.twin.begin(places, modifies=True)
        await self.nand.erase(places)
        for place in places:
            self.twin.pages[place] = []
        await self.check_status()

    async def program(self):
        """One to three page sets; the last with 10h or 15h."""
        await self._idle()
        to_read = self.twin.places_to_read()  # before there are pages that may be in the array's work
        for _ in range(random.randint(1, 3)):
            chosen = self.twin.places_to_program()
            if chosen is None:
                return False
            places, page = chosen
            if any(place not in self.twin.pages for place in places):
                return False  # of a block that was never erased nothing is known
            for index, place in enumerate(places):
                self.twin.pages[place].append(await self._load(place, page))
                if index + 1 < len(places):
                    await self.nand.confirm(C.PROGRAM_MULTI_PLANE)
                    if to_read and random.random() < 0.2:
                        await self._suspended_read(*to_read)
            cached = random.random() < 0.7
            self.twin.begin(places, modifies=True, cache_program=cached, program=True)
            confirm = C.PROGRAM_CACHE if cached else C.PROGRAM_CONFIRM
            if to_read and random.random() < 0.5:
                await self.nand.command(confirm)
                await self.nand.wait(self.nand.cycles("twb"))
                await self._suspended_read(*to_read)
                await self.nand.ready()
            else:
                await self.nand.confirm(confirm)
            await self.check_status(settled=not cached)
        return True

    async def read(self):
        chosen = self.twin.places_to_read()
        if chosen is None:
            return False
        await self._idle()
        places, page = chosen
        self.twin.begin(places, modifies=False)
        await self.nand.read(places, page)
        await self.check_status()
        await self._output(places, page)
        return True

    async def suspended_read(self):
        """Beside nothing; others are within `program`."""
        chosen = self.twin.places_to_read()
        if chosen is None:
            return False
        await self._idle()
        await self._suspended_read(*chosen)
        await self.check_status()
        return True

    async def _suspended_read(self, places: list[Place], page: int):
        await self.nand.begin_suspended_read(places, page)
        await self.nand.suspended_read_done()
        contents = await self.nand.take_suspended_read(places, page)
        assert contents == [self.twin.pages[place][page] for place in places]

    async def cache_read(self):
        """A row of pages with 31h."""
        run = random.randint(2, 4)
        chosen = self.twin.places_to_read(run)
        if chosen is None:
            return False
        await self._idle()
        places, page = chosen
        self.twin.begin(places, modifies=False)
        await self.nand.read(places, page)
        for offset in range(run):
            await self.nand.confirm(C.READ_CACHE if offset + 1 < run else C.READ_CACHE_END)
            await self._output(places, page + offset)
        await self.check_status()
        return True

    async def random_cache_read(self):
        """Pages anywhere with 00h..31h."""
        sets = [self.twin.places_to_read() for _ in range(3)]
        if None in sets:
            return False
        await self._idle()
        self.twin.begin([], modifies=False)
        await self.nand.read(*sets[0])
        for index, (places, page) in enumerate(sets):
            if index + 1 < len(sets):
                await self.nand.read(*sets[index + 1], last=C.READ_CACHE)
            else:
                await self.nand.confirm(C.READ_CACHE_END)
            await self._output(places, page)
        await self.check_status()
        return True

    async def copyback(self):
        """A page to another block, with looks at the status between."""
        await self._idle()
        chosen = self.twin.places_to_read()
        if chosen is None:
            return False
        (plane, block), page = chosen[0][0], chosen[1]
        target = plane, random.choice([other for other in self.twin.blocks if other != block])
        if target not in self.twin.pages or len(self.twin.pages[target]) == self.geometry.pages:
            return False
        self.twin.begin([], modifies=False)
        await self.nand.copy_from(plane, block, page)
        if random.random() < 0.5:
            await self.check_status()
        self.twin.begin([target], modifies=True, program=True)
        await self.nand.copy_to(*target, len(self.twin.pages[target]))
        self.twin.pages[target].append(self.twin.pages[plane, block][page])
        await self.check_status()
        return True

    async def reset(self):
        await self._idle()
        await self.nand.reset_die()
        self.twin.begin([], modifies=False)
        await self.check_status()

    async def identify(self):
        await self._idle()
        await self.nand.command(C.READ_ID)
        await self.nand.address(0x20, 1)
        self.nand.data_from = self.nand.last_we + self.nand.cycles("twhr")
        assert (await self.nand.data_out(8))[::2] == b"ONFI"

    async def check_status(self, settled: bool = True):
        """The composite status and that of a plane; while the array works only FAILC counts."""
        nand, twin = self.nand, self.twin
        plane = random.randrange(self.geometry.planes)
        for status, planes in [
            (await nand.status(), set(range(self.geometry.planes))),
            (await nand.status(plane), {plane}),
        ]:
            assert status & DieStatus.RDY and status & DieStatus.WP_N
            assert bool(status & DieStatus.FAILC) == bool(twin.failed_before & planes), (
                status,
                twin.failed_before,
            )
            if settled:
                assert status & DieStatus.ARDY
            if status & DieStatus.ARDY:
                assert bool(status & DieStatus.FAIL) == bool(twin.failed & planes), (status, twin.failed)
            else:
                assert not status & DieStatus.FAIL

    async def _idle(self):
        await self.nand.idle()

    async def _load(self, place: Place, page: int) -> bytes:
        """Load a page, whole or parts of it; returns what the register holds then."""
        size, word = self.geometry.raw_page_bytes, self.twin.word
        if random.random() < 0.5:
            content = random.randbytes(size)
            await self.nand.load(*place, page, content)
            return content
        content = bytearray(b"\xff" * size)
        for part in range(random.randint(1, 3)):
            column = random.randrange(size // word) * word
            data = random.randbytes(8 * random.randint(1, (size - column) // 8))
            content[column : column + len(data)] = data
            if part == 0:
                await self.nand.load(*place, page, data, column=column)
            else:
                await self.nand.command(C.CHANGE_WRITE_COLUMN)
                await self.nand.address(column, 2)
                await self.nand.data_in(data, after=self.nand.cycles("tccs"))
        return bytes(content)

    async def _output(self, places: list[Place], page: int):
        """Some of the planes, whole or in part."""
        size, word = self.geometry.raw_page_bytes, self.twin.word
        for place in random.sample(places, random.randint(1, len(places))):
            content = self.twin.pages[place][page]
            column = random.choice([0, random.randrange(size // word) * word])
            await self.nand.choose(*place, page, column)
            count = random.choice([size - column, 2 * random.randint(1, (size - column) // 2)])
            assert await self.nand.data_out(count) == content[column : column + count]
            if random.random() < 0.3:
                column = random.randrange(size // word) * word
                await self.nand.change_read_column(column)
                assert await self.nand.data_out(word) == content[column : column + word]
