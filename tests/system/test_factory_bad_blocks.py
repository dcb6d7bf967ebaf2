"""Blocks that are bad from the factory: found by their marks, and never programmed or erased.

The arrays see to it: each of these is a violation, though the block would do what it is told.
"""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from flashtrain.host import BadBlock, Device, FunctionalLink, open_device
from flashtrain.host.functional.flash import MarkedBlockTouched
from flashtrain.host.queues.command_errors import CommandError
from flashtrain.host.recovery.marks import MarkReader
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import ProtocolViolation, RtlLink
from flashtrain.sim.nand.errors import FactoryMark, even, factory_marks
from flashtrain.spec import Opcode, Port, Status, preset
from flashtrain.spec.bad_blocks import FACTORY_SHARE, mark_content, marked_pages
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import Control, Register
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE

CONFIG = TINY_FULL
G = CONFIG.geometry
PLACES = [(c, d, p) for d in range(G.dies) for p in range(G.planes) for c in range(G.channels)]
"""Channel, die, plane, in the order of blocks."""

AnyLink = FunctionalLink | RtlLink


@pytest.fixture(params=[FunctionalLink, RtlLink], ids=["functional", "rtl"])
def link(request) -> Iterator[AnyLink]:
    with request.param(CONFIG, 8 << 20) as opened:
        yield opened


@pytest.fixture
def rtl() -> Iterator[RtlLink]:
    with RtlLink(CONFIG, 8 << 20) as opened:
        yield opened


def mark(link: AnyLink, *marks: FactoryMark) -> None:
    for one in marks:
        link.mark_block(*one)


def some_marks(random: Random) -> list[FactoryMark]:
    """In each place a zone's block and a spare, in one of them two zones' blocks, and in one none at all."""
    zones, others = random.sample(range(G.zones), len(PLACES)), random.sample(range(G.zones), 1)
    blocks = [(place, zone) for place, zone in zip(PLACES, zones, strict=True)][1:]
    blocks += [(place, random.choice(G.spares)) for place in PLACES[2:]]
    blocks += [(PLACES[1], zone) for zone in others if (PLACES[1], zone) not in blocks]
    return [
        FactoryMark(*place, block, random.choice(marked_pages(G.pages)), random.random() < 0.5)
        for place, block in blocks
    ]


def content(random: np.random.Generator, blocks: int) -> np.ndarray:
    return random.integers(0, 256, blocks * G.page_bytes, np.uint8)


def fill(device: Device, random: np.random.Generator) -> list[tuple]:
    """All zones of all streams; what was appended, and where."""
    kept = []
    for table in device.node.streams:
        if table is device.node.journal:
            continue
        able = Port.HOST if table.name in ("inputs", "samples") else Port.CORE
        stream = device.stream(table.name, able)
        stream.reset()
        array = content(random, stream.zones * G.zone_capacity)
        kept.append((table, device.stream(table.name), stream.append(array), array))
    return kept


def check_untouched(link: AnyLink, marks: list[FactoryMark]) -> None:
    """Marks are as their maker has made them, in blocks that were never erased."""
    if isinstance(link, RtlLink):
        erases = link.erase_counts()
        for one in marks:
            assert link.raw_page(*one[:4], one.page) == mark_content(G, one.whole)
            assert erases[one[:4]] == 0
            assert all(link.raw_page(*one[:4], page) is None for page in range(G.pages) if page != one.page)


def test_all_zones_are_used_and_no_mark_is_lost(link, seed):
    """Filled, read and erased twice, with the power failing in the middle, and once more after a format."""
    marks = some_marks(Random(seed))
    mark(link, *marks)
    random = np.random.default_rng(seed)
    with open_device(link=link, node=UPDATE_NODE) as device:
        for turn in range(2):
            assert {one[:4] for one in device.bad_blocks} == {one[:4] for one in marks}
            spares = {one: one.replacement for one in device.bad_blocks if one.replacement is not None}
            assert all(one.block < G.zones and spare in G.spares for one, spare in spares.items())
            assert len(spares) == sum(one.block < G.zones for one in marks)
            kept = fill(device, random)
            for table, reader, stored, array in kept:
                assert np.array_equal(reader.read(stored), array), (turn, table.name)
            device.stream("trained").reset()
            device.stream("trained").append_async(content(random, 7))
            link.run(int(random.integers(1, 30 * CONFIG.timing.cycles("tprog"))))
            link.power_cycle()
            report = device.recover()
            assert report.bad == device.bad_blocks
            for table, reader, stored, array in kept:
                if table.persistency and table.name != "trained":
                    assert np.array_equal(reader.read(stored), array), (turn, table.name)
            device.format()
        check_untouched(link, marks)


@pytest.mark.usual("functional-False", "functional-True", "rtl-True")
@pytest.mark.parametrize("orderly", [False, True])
def test_zones_that_are_not_full_survive(link, seed, orderly):
    """A zone with a bad block takes more after an orderly end only if each of its blocks has a page."""
    marks = [FactoryMark(*PLACES[-1], zone) for zone in range(G.spare_blocks)]
    mark(link, *marks)
    random = np.random.default_rng(seed)
    with open_device(link=link, node=UPDATE_NODE) as device:
        trained, kept = device.stream("trained"), []
        for turn in range(6):
            for blocks in random.integers(1, G.superpage + 2, 2).tolist():
                array = content(random, blocks)
                kept.append((trained.append(array), array))
            if orderly:
                device.shutdown()
            link.power_cycle()
            assert device.recover().clean == orderly
            for stored, array in kept:
                assert np.array_equal(trained.read(stored), array), turn
            if all(zone.room == 0 for zone in trained.report()):
                trained.reset()
                kept = []
        check_untouched(link, marks)


def test_a_zone_without_a_spare_is_not_used(link, seed):
    """Marked in more zones than there are spares that are good: one is left alone, and all others work.

    So there is one less than the streams may want.
    """
    marks = [FactoryMark(*PLACES[1], block) for block in (2, 5, G.blocks - 1)]
    mark(link, *marks)
    with open_device(link=link, node=SINGLE_NODE) as device:
        for _ in range(2):
            assert device.bad_blocks == (
                BadBlock(*PLACES[1], 2, G.zones),
                BadBlock(*PLACES[1], 5, None),
                BadBlock(*PLACES[1], G.blocks - 1, None),
            )
            stream = device.stream("activations", Port.CORE)
            for turn in range(4):
                array = content(np.random.default_rng(seed + turn), stream.zones * G.zone_capacity)
                assert np.array_equal(stream.read(stream.append(array)), array)
                stream.reset()
            link.power_cycle()
            device.recover()
        with pytest.raises(CommandError, match="INTERNAL_ERROR"):
            fill(device, np.random.default_rng(seed))
            device.stream("trained", Port.CORE).append(np.zeros(G.page_bytes, np.uint8))
        if isinstance(link, RtlLink):
            erases = link.erase_counts()[:, :, :, 5]
            assert not erases.any(), "none of the zone's blocks is erased"
        check_untouched(link, marks)


def test_the_arrays_notice_a_driver_that_ignores_marks(link, monkeypatch):
    mark(link, FactoryMark(*PLACES[2], 4))
    monkeypatch.setattr(MarkReader, "marked", lambda reader, silent: [])
    with pytest.raises((ProtocolViolation, MarkedBlockTouched), match=r"marked as bad|block 4"):
        open_device(link=link, node=UPDATE_NODE)


def test_with_factory_nobody_looks(rtl):
    """The first program is where a mark is: FACTORY is for arrays that have none."""
    mark(rtl, FactoryMark(*PLACES[0], 0))
    device = open_device(link=rtl, node=UPDATE_NODE, factory=True)
    assert device.bad_blocks == ()
    with pytest.raises(ProtocolViolation, match="program of plane 0 block 0, which its maker has marked"):
        device.stream("trained").append(np.zeros(4 * G.page_bytes, np.uint8))


def test_wrong_bits_hide_no_mark(rtl, seed):
    """Nor does a page with wrong bits look like one."""
    marks = [FactoryMark(*place, 3 * i + 1, whole=bool(i % 2)) for i, place in enumerate(PLACES)]
    mark(rtl, *marks)
    rtl.set_errors(even(1e-4, seed))
    with open_device(link=rtl, node=UPDATE_NODE) as device:
        for _ in range(3):
            assert {one[:4] for one in device.bad_blocks} == {one[:4] for one in marks}
            device.stream("trained").reset()
            device.stream("trained").append(content(np.random.default_rng(seed), 9))
            rtl.power_cycle()
            device.recover()
    check_untouched(rtl, marks)


@pytest.mark.usual("0")
@pytest.mark.parametrize("run", range(4))
def test_devices_of_any_seed(rtl, seed, run):
    """More bad blocks than a maker sells: work, losses of power at any time, and all zones that are left."""
    marks = factory_marks(G, seed + run, 4 * FACTORY_SHARE)
    mark(rtl, *marks)
    random = np.random.default_rng(seed + run)
    with open_device(link=rtl, node=UPDATE_NODE) as device:
        trained, kept = device.stream("trained"), []
        for turn in range(5):
            array = content(random, int(random.integers(1, 12)))
            kept.append((trained.append(array), array))
            trained.append_async(content(random, 5))
            rtl.run(int(random.integers(1, 4 * CONFIG.timing.cycles("tbers"))))
            rtl.power_cycle()
            device.recover()
            assert {one[:4] for one in device.bad_blocks} == {one[:4] for one in marks}
            for stored, expected in kept:
                assert np.array_equal(trained.read(stored), expected), turn
            if all(zone.room == 0 for zone in trained.report()):
                trained.reset()
                kept = []
    check_untouched(rtl, marks)


def test_a_block_with_data_is_not_taken_for_a_bad_one():
    """Its first page has come to look like a mark: what is behind it is still there."""
    with FunctionalLink(CONFIG, 8 << 20) as link, open_device(link=link, node=UPDATE_NODE) as device:
        trained = device.stream("trained")
        array = content(np.random.default_rng(1), 3 * G.superpage)
        trained.append(array)
        (zone,) = {
            zone
            for zone, physical in enumerate(link._flash.zones)
            for page in physical
            if page and page.owner and page.owner.nsid == UPDATE_NODE.named("trained").nsid
        }
        mark(link, FactoryMark(*PLACES[0], zone))
        link.power_cycle()
        device.recover()
        assert device.bad_blocks == ()
        read = trained.read_blocks(G.superpage, 2 * G.superpage)
        assert read.tobytes() == array[G.superpage * G.page_bytes :].tobytes()


def inspected(raw, zone: int, offset: int) -> bytes:
    fields = {"psdt": 1, "address": raw.address, "length": G.page_bytes, "slba": zone * G.zone_size + offset}
    assert raw.status(Opcode.INSPECT, "trained", Port.HOST, **fields) == Status.SUCCESS
    return bytes(raw.data[: G.page_bytes])


def test_what_both_links_show_of_a_page(raw_of):
    """As it is read, and as its cells hold it: one that is marked, one with data, and an erased one."""
    seen = []
    for kind in (FunctionalLink, RtlLink):
        with kind(CONFIG, 8 << 20) as link:
            mark(link, FactoryMark(*PLACES[1], 2), FactoryMark(*PLACES[2], 7, whole=False))
            with open_device(link=link, node=UPDATE_NODE) as device:
                device.stream("trained").append(content(np.random.default_rng(3), 5))
                device.disable()
                device.begin_recovery()
                raw = raw_of(device)
                pages = {}
                for how in (Control(0), Control.RAW):
                    link.write_register(Register.CONTROL, Control.ENABLE | Control.RECOVER | how)
                    for zone in range(G.zones):
                        for offset in range(G.superpage + 1):
                            pages[how, zone, offset] = inspected(raw, zone, offset)
                seen.append(pages)
                size = PageIdentity.BYTES
                marked = [place[1:] for place, page in pages.items() if place[0] and not page[-size]]
                assert marked == [(2, 1), (7, 2)]
    assert seen[0] == seen[1]


def test_which_blocks_are_bad():
    g = preset("small_ecc").geometry
    marks = factory_marks(g, 7)
    assert marks == factory_marks(g, 7) != factory_marks(g, 8)
    assert {one.page for one in marks} == {0, g.pages - 1} and {one.whole for one in marks} == {False, True}
    counts = [len(factory_marks(g, number)) for number in range(60)]
    expected = FACTORY_SHARE * g.channels * g.dies * g.planes * g.blocks
    assert abs(np.mean(counts) - expected) < 6 * np.sqrt(expected / len(counts))
