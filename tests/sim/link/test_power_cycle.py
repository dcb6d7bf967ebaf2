"""What the RTL Link's arrays hold when the power failed in the middle of programs and erases."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.host.errors import RegisterError, StreamFull
from flashtrain.host.link import AFTER_POWER_CYCLE
from flashtrain.host.queues.pending import Pending
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.trace import Kind
from flashtrain.spec import Port, preset
from flashtrain.spec.identity import PageIdentity, is_identity
from flashtrain.spec.registers import Register, sq_tail_doorbell
from tests.host.test_processes import in_fork

CONFIG = preset("tiny")
GEOMETRY, TIMING = CONFIG.geometry, CONFIG.timing
MEMORY_BYTES = 1 << 20
CUT_EACH = 6  # so many programs and so many erases
MOST_CUTS = 150


class Place(NamedTuple):
    channel: int
    die: int
    plane: int
    block: int
    page: int


PLACES = [
    Place(*numbers)
    for numbers in product(
        *map(range, (GEOMETRY.channels, GEOMETRY.dies, GEOMETRY.planes, GEOMETRY.blocks, GEOMETRY.pages))
    )
]


def held(link: RtlLink) -> dict[Place, bytes]:
    """All pages that were programmed."""
    pages = {place: link.raw_page(*place) for place in PLACES}
    return {place: page for place, page in pages.items() if page is not None}


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG, MEMORY_BYTES) as link:
        yield link


def test_a_forked_process_has_no_device_unless_it_adopts_the_copy(link: RtlLink) -> None:
    before = link.cycles
    accesses = (link.power_cycle, lambda: link.read_register(0), link.wait, lambda: link.run(1))
    assert {in_fork(access)[0] for access in accesses} == {"ForeignProcess"}
    assert in_fork(link.close) == ("NoneType", "None")
    assert in_fork(lambda: (link.adopt(), link.run(100)))[0] == "tuple"
    assert link.cycles == before


def test_the_controller_is_as_new_and_the_flash_is_not(link: RtlLink, seed: int) -> None:
    tensor = np.random.default_rng(seed).standard_normal(GEOMETRY.superpage * 128, np.float32)
    device = open_device(link=link, factory=True)
    device.stream("trained").append(tensor)
    before, cycles = held(link), link.cycles
    assert len(before) == GEOMETRY.superpage
    device.stream("trained").append_async(tensor)
    while not link.wait():
        pass

    link.power_cycle()
    assert link.cycles > cycles
    assert (link.memory == AFTER_POWER_CYCLE).all()
    assert link.read_register(Register.CONTROL) == link.read_register(Register.INTERRUPT) == 0
    with pytest.raises(RegisterError):
        link.write_register(sq_tail_doorbell(Port.CORE), 1)
    assert before.items() <= held(link).items()

    device = open_device(link=link, factory=False)
    stored = device.stream("trained").append(tensor)
    assert np.array_equal(device.stream("trained").read(stored), tensor)
    device.close()


class Appends:
    """Appends of one round: what each page of them holds, and which have been answered."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self.pages: dict[bytes, int] = {}  # data of a page -> number of its append
        self._durable: dict[int, Pending] = {}

    def fill(self, stream, most: int, durable: bool) -> None:
        for _ in range(most):
            number = len(self.pages)
            data = self._rng.integers(0, 256, (self._rng.integers(1, 6), GEOMETRY.page_bytes), np.uint8)
            try:
                pending = stream.append_async(data)
            except StreamFull:
                return
            if durable:
                self._durable[number] = pending
            self.pages |= {page.tobytes(): number for page in data}

    @property
    def acknowledged(self) -> set[int]:
        return {number for number, pending in self._durable.items() if pending.done}


def identity_of(page: bytes) -> bytes:
    return page[GEOMETRY.page_bytes : GEOMETRY.identified_page_bytes]


def check_page(place: Place, page: bytes, appends: Appends) -> int:
    """Its data are of an append, behind them is the identity of this place; the number of the append."""
    record = identity_of(page)
    assert is_identity(record), place
    identity = int.from_bytes(record, "little")
    for name in ("channel", "die", "plane", "page"):
        assert getattr(PageIdentity, name).get(identity) == getattr(place, name), (place, name)
    data = page[: GEOMETRY.page_bytes]
    assert data in appends.pages, f"{place} holds what nobody has appended"
    return appends.pages[data]


def has_zeros_of(found: bytes, contents: Iterable[bytes]) -> bool:
    """Whether a page holds nothing but zeros of one of these contents, from the first byte on."""
    page = np.frombuffer(found, np.uint8)
    pages = (np.frombuffer(content, np.uint8) for content in contents)
    return any(np.array_equal(page[: len(content)] | content, page[: len(content)]) for content in pages)


def interrupted(link: RtlLink) -> Counter[Kind]:
    """Programs and erases that were shorter than they take."""
    least = {Kind.PROGRAM: TIMING.cycles("tprog"), Kind.ERASE: TIMING.cycles("tbers")}
    records = link.take_trace()
    return Counter(
        kind
        for kind, cycles in least.items()
        for record in records[records["kind"] == kind]
        if int(record["end"]) - int(record["start"]) + 1 < cycles
    )


def places_cut_short(link: RtlLink) -> tuple[set[Place], set[tuple[int, ...]]]:
    """Pages, and blocks, whose program or erase the power failure has met, as the arrays say."""
    torn: set[Place] = set()
    half_erased: set[tuple[int, ...]] = set()
    for erase, channel, die, plane, block, page, _ in link.take_cuts().tolist():
        if erase:
            half_erased.add((channel, die, plane, block))
        else:
            torn.add(Place(channel, die, plane, block, page))
    return torn, half_erased


def test_power_fails_at_random_cycles(link: RtlLink, seed: int) -> None:
    rng = np.random.default_rng(seed)
    link.set_tracing(True)
    cut: Counter[Kind] = Counter()
    before: dict[Place, bytes] = {}
    cuts = 0
    while min(cut[Kind.PROGRAM], cut[Kind.ERASE]) < CUT_EACH:
        assert cuts < MOST_CUTS, f"too few in the middle of something: {cut}"
        device = open_device(link=link, factory=cuts == 0)
        cuts += 1
        link.take_trace()
        appends = Appends(rng)
        appends.fill(device.stream("activations"), 6, durable=False)
        appends.fill(device.stream("trained"), 20, durable=True)
        link.run(int(rng.integers(1, 30_000)))
        device.stream("activations").reset_async()  # so that there is something to erase
        link.run(int(rng.integers(1, 30_000)))
        acknowledged = appends.acknowledged
        link.power_cycle()
        now = interrupted(link)
        cut += now
        torn, half_erased = places_cut_short(link)
        for places, kind in ((torn, Kind.PROGRAM), (half_erased, Kind.ERASE)):
            assert len({place[:2] for place in places}) >= now[kind]

        after = held(link)
        found: Counter[int] = Counter()
        for place, page in after.items():
            if page == before.get(place):
                continue
            if place[:4] in half_erased:
                old = [before[place]] if place in before else []
                assert has_zeros_of(page, [*old, *appends.pages]), place
            elif place in torn and page[: GEOMETRY.page_bytes] not in appends.pages:
                assert has_zeros_of(page, appends.pages), place
            elif place not in torn or is_identity(identity_of(page)):
                found[check_page(place, page, appends)] += 1
        pages = {die: {place.page for place in torn if place[:2] == die} for die in {p[:2] for p in torn}}
        assert all(len(of_die) == 1 for of_die in pages.values()), f"a die was at one page set: {pages}"
        wanted = Counter(appends.pages.values())
        assert all(found[append] <= wanted[append] for append in found), "a page was programmed twice"
        assert all(found[append] == wanted[append] for append in acknowledged), (
            "an acknowledged append is lost"
        )
        before = after
    print(f"{cuts} cuts: {cut[Kind.PROGRAM]} in programs, {cut[Kind.ERASE]} in erases")
