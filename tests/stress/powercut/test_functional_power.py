"""Power failures at random commands of a random workload: nothing that was acknowledged is lost.

The Link here is the functional model with a flash that behaves as a real one when the power fails: what was
programmed since the host looked last is there in part, what was to be erased as well. Without a code a page
that is not whole may have an identity and spoilt data; with one it has none, because it cannot be corrected.
"""

from random import Random

import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.host.functional.flash import Flash
from flashtrain.host.functional.pages import Page
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.geometry import Place
from flashtrain.stress.powercut.failing_link import PowerFailed
from flashtrain.stress.workload import node_of
from tests.stress.powercut.workload import ACTIONS, Workload

CYCLES = {"tiny": 60, "tiny_ecc": 60, "tiny_codec": 40}


class LazyFlash(Flash):
    """Remembers what could be undone by a loss of power: late programs, and what was to be erased.

    erased: blocks, by number and column, since the host looked last; coded: pages have a code; torn: pages
    with an identity and spoilt data that were made.
    """

    def __init__(self, config: FmsConfig):
        super().__init__(config.geometry, config.randomizer)
        self.coded = config.code is not None
        self.torn = 0
        self.ghosts: dict[int, list[Page | None]] = {}
        self.before: dict[int, int] = {}
        self.erased: set[tuple[int, int]] = set()

    def erase(self, zone, but):
        if pages := self.zones[zone]:
            self.ghosts[zone] = list(pages)
        self.before.pop(zone, None)
        return super().erase(zone, but)

    def erase_block(self, block, column):
        self.erased.add((block, column))
        return super().erase_block(block, column)

    def settle(self):
        """The host has seen that all was programmed."""
        self.before = {zone: len(physical) for zone, physical in enumerate(self.zones)}
        self.ghosts = {zone: pages for zone, pages in self.ghosts.items() if not self.zones[zone]}
        self.erased.clear()

    def tear(self, random: Random, page: Page) -> Page:
        """Some zeros are ones."""
        data = bytearray(page.data)
        for _ in range(random.choice([1, 1000])):
            data[random.randrange(len(data))] |= 1 << random.randrange(8)
        whole = not self.coded and random.random() < 0.5
        self.torn += whole
        return Page(bytes(data), page.owner if whole else None, page.updated)

    def fail(self, random: Random):
        columns = self.geometry.superpage  # each is a block, whose pages are programmed in order
        for zone, physical in enumerate(self.zones):
            if not physical and zone in self.ghosts and random.random() < 0.8:
                keep = random.choice([0.0, 0.5, 1.0])
                for offset, page in enumerate(self.ghosts[zone]):
                    physical[offset] = (
                        page if random.random() < keep or page is None else self.tear(random, page)
                    )
                continue
            first = self.before.get(zone, 0)
            for column in range(columns):
                begin = 0 if (zone, column) in self.erased else first
                offsets = [i for i in range(begin, len(physical)) if i % columns == column]
                if offsets and random.random() < 0.7:
                    cut = random.randrange(len(offsets))
                    last = physical[offsets[cut]]
                    for offset in offsets[cut:]:
                        physical[offset] = None
                    if last is not None and random.random() < 0.5:
                        physical[offsets[cut]] = self.tear(random, last)
        self.erased.clear()
        self.ghosts.clear()
        self.before.clear()


class FailingLink(FunctionalLink):
    """Its power fails in the middle of a command, when so many more were carried out."""

    def __init__(self, random: Random, config: FmsConfig) -> None:
        super().__init__(config, 1 << 18)
        self._flash: LazyFlash = LazyFlash(config)
        self._random = random
        self.left = -1  # never

    def power_cycle(self) -> None:
        self._flash.fail(self._random)
        super().power_cycle()

    def _enable(self) -> None:
        super()._enable()
        answer = self._executor.answer

        def maybe(port, raw):
            done = answer(port, raw)
            if self.left == 0:
                raise PowerFailed
            self.left -= 1
            return done

        self._executor.answer = maybe

    def _write_doorbell(self, address, value):
        self._flash.settle()
        super()._write_doorbell(address, value)


def break_a_block(random: Random, link: FailingLink) -> None:
    """One more in a place that has no bad one yet: the spares suffice."""
    g = link.config.geometry
    places = {(c, d, p) for c in range(g.channels) for d in range(g.dies) for p in range(g.planes)}
    channel, die, plane = random.choice(sorted(places))
    column = g.lba(Place(0, 0, die, plane, channel))
    if sum(column == other for _, other in link._flash.bad) < g.spare_blocks:
        link.break_block(channel, die, plane, random.randrange(g.blocks))


@pytest.mark.parametrize("name", CYCLES)
def test_power_failures_at_random_commands(name, seed, request):
    cycles = request.config.getoption("--long") or CYCLES[name]
    random = Random(seed)
    link = FailingLink(random, preset(name))
    spares = link.config.geometry.spare_blocks
    work = Workload(random)
    in_use = 0
    with open_device(link=link, node=node_of(link.config)) as device:
        work.begin(device)
        failed_in_recovery = 0
        for _ in range(cycles):
            if spares:
                break_a_block(random, link)
            link.left = random.randrange(60)
            with pytest.raises(PowerFailed):
                while True:
                    work.step()
            while True:
                link.power_cycle()
                link.left = random.randrange(80) if random.random() < 0.3 else -1
                try:
                    device.recover()
                    break
                except PowerFailed:
                    failed_in_recovery += 1
            link.left = -1
            assert device.recovered is not None
            in_use += device.recovered.spares
            work.check(device)
            work.append()
        print(work.done, "failures while recovering:", failed_in_recovery)
        assert set(work.done) >= ACTIONS
        assert failed_in_recovery and bool(in_use) == bool(spares)
        assert bool(link._flash.torn) == (link.config.code is None)
