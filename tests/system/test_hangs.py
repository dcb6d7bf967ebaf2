"""A die whose array hangs is given up: what it holds cannot be read nor written, and all others serve on."""

from collections.abc import Iterator

import numpy as np
import pytest

from flashtrain.host import Device, StreamFull, TensorGroup, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.nand.errors import (
    CUT_RECORD,
    ErrorModel,
    PagePlace,
    Wear,
    erase_hangs,
    program_hangs,
    sense_hangs,
)
from flashtrain.spec import NodeTable, Port, Status, ZoneState, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.registers import ChannelCounter
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE
from flashtrain.training.optimizers import SGD

CONFIG = preset("tiny")
G = CONFIG.geometry
PAGE = G.page_bytes
LOST = 1
"""Number of the channel whose only die hangs; pages of consecutive blocks are in channels by turns."""
ERASED = 20 * CONFIG.timing.cycles("tbers")
"""Cycles after which zones that were released are erased."""
NO_JOURNAL = NodeTable("no journal", tuple(s for s in SINGLE_NODE.streams if s is not SINGLE_NODE.journal))


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG) as opened:
        yield opened


def content(blocks: int, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (blocks, PAGE), np.uint8)


def offline(device: Device) -> list[int]:
    return [channel[ChannelCounter.DIES_OFFLINE.name] for channel in device.channel_counters()]


def test_what_other_dies_hold_can_be_read(link, device):
    stream = device.stream("activations", Port.CORE)
    written = content(8)
    first = stream.append(written).extents[0].lba
    stream.flush()
    link.hang_die(LOST, 0)
    for block, expected in enumerate(written):
        if block % 2 == LOST:
            with pytest.raises(MediaError, match="UNRECOVERED_READ_ERROR"):
                stream.read_blocks(first + block, 1)
        else:
            assert np.array_equal(stream.read_blocks(first + block, 1), expected)
    assert offline(device) == [0, 1]


def test_programs_that_hang(link, device):
    """Appends end with an error, and so do those that follow, each in another zone, until none is left: all
    are on all dies. What other dies hold is there."""
    stream = device.stream("trained", Port.CORE)
    written = content(4)
    first = stream.append(written).extents[0].lba
    stream.flush()
    link.hang_die(LOST, 0)
    for zone in range(stream.zones):
        assert stream.report()[zone].state is not ZoneState.READ_ONLY
        with pytest.raises(MediaError, match="WRITE_FAULT"):
            stream.append(content(CONFIG.geometry.zone_capacity // 2))
            stream.flush()
        assert stream.report()[zone].state is ZoneState.READ_ONLY
    with pytest.raises(StreamFull):
        stream.append(content(1))
    assert offline(device) == [0, 1]
    assert np.array_equal(stream.read_blocks(first, 1), written[0])


def test_a_die_may_come_back_with_a_reset(link):
    with open_device(link=link, node=SINGLE_NODE) as device:
        stream = device.stream("trained", Port.CORE)
        link.hang_die(LOST, 0)
        with pytest.raises(MediaError):
            stream.append(content(8))
            stream.flush()
    link.mend_dies()
    with open_device(link=link, node=SINGLE_NODE) as device:
        stream = device.stream("trained", Port.CORE)
        written = content(8)
        stored = stream.append(written)
        stream.flush()
        assert np.array_equal(stream.read(stored), written)
        assert offline(device) == [0, 0]


def test_an_update_that_hangs(link):
    """It ends with an error instead of never."""
    group = TensorGroup(OptimizerCode.SGD, ((3 * PAGE,),), GradientFormat.FP32, CopyFormat.NONE)
    with open_device(link=link, node=UPDATE_NODE) as device:
        state = device.optimizer_state([group])
        state.initialise([[np.ones(3 * PAGE, np.float32)]])
        link.hang_die(LOST, 0)
        with pytest.raises(MediaError, match="WRITE_FAULT"):
            state.update([[np.zeros(3 * PAGE, np.float32)]], [SGD(0.3).constants(1)])
        assert offline(device) == [0, 1]


def hanging(link: RtlLink, seed: int, block: int) -> ErrorModel:
    """Operations hang: programs of a later row of the zone on this block, and none of its first two rows."""
    erases = link.erase_counts()
    for attempt in range(1000):
        model = ErrorModel(seed=1000 * seed + attempt, hang=Wear(0.06, exponent=0.0))
        rows = {
            row
            for *place, row in np.ndindex(G.channels, G.dies, G.planes, G.pages)
            if program_hangs(model, PagePlace(*place, block, row, int(erases[(*place, block)])))
        }
        if rows and min(rows) >= 2:
            return model
    raise AssertionError("no such seed")


def programmed(link: RtlLink) -> dict[bytes, PagePlace]:
    """Where each page's data lie, with the erases of the block."""
    return {page[:PAGE]: place for place, page in link.raw_pages().items()}


def cut_short(link: RtlLink) -> list[tuple[bool, PagePlace]]:
    """Programs (False) and erases (True) since the last call, with the erases before them."""
    erases = link.erase_counts()
    found = []
    for cut in link.take_cuts():
        erase, *place, page = (int(cut[name]) for name in CUT_RECORD.names[:-1])
        done = int(erases[tuple(place)]) - erase
        found.append((bool(erase), PagePlace(*place, 0 if erase else page, done)))
    return found


def test_the_model_hangs_a_die_at_the_program_that_its_twin_names(link, seed):
    """The append ends with an error, and none before. What was acknowledged is there, but on that die, also
    after a loss of power."""
    with open_device(link=link, node=NO_JOURNAL) as device:
        link.run(ERASED)
        before = link.erase_counts()
        stream = device.stream("trained", Port.CORE)
        first, *pages = content(G.zone_capacity)
        stored, hung = {first.tobytes(): stream.append(first)}, b""
        model = hanging(link, seed, programmed(link)[first.tobytes()].block)
        link.set_errors(model)
        for page in pages:
            try:
                stored[page.tobytes()] = stream.append(page)
            except MediaError as error:
                assert error.status is Status.WRITE_FAULT
                hung = page.tobytes()
                break
        cells = programmed(link)
        lost = cells.pop(hung)
        assert program_hangs(model, lost)
        assert len(stored) >= 2 * G.channels * G.planes and stored.keys() == cells.keys()
        assert not any(program_hangs(model, place) for place in cells.values())
        assert (link.erase_counts() == before).all()
        assert offline(device) == [int(channel == lost.channel) for channel in range(G.channels)]

        link.set_errors(None)
        for page, place in cells.items():
            if place.channel == lost.channel:
                with pytest.raises(MediaError, match="UNRECOVERED_READ_ERROR"):
                    stream.read(stored[page])
            else:
                assert stream.read(stored[page]).tobytes() == page
        assert not cut_short(link)
    link.power_cycle()
    assert cut_short(link) == [(False, lost)]
    with open_device(link=link, node=NO_JOURNAL, recover=True) as device:
        stream = device.stream("trained", Port.CORE)
        kept = [page for page, place in cells.items() if place.channel != lost.channel]
        assert kept and all(stream.read(stored[page]).tobytes() == page for page in kept)
        assert offline(device)[lost.channel] == 1


def test_the_model_hangs_a_die_at_the_erase_that_its_twin_names(link, seed):
    """No earlier one hangs. The model is there for erases only."""
    with open_device(link=link, node=SINGLE_NODE) as device:
        before = link.erase_counts()
        model = ErrorModel(seed=seed, hang=Wear(0.05, exponent=0.0))
        stream = device.stream("activations", Port.CORE)
        for fill in range(200):
            written = content(G.zone_capacity, fill)
            stored = stream.append(written)
            stream.flush()
            try:
                assert np.array_equal(stream.read(stored), written)
            except MediaError:
                break
            link.set_errors(model)
            stream.reset()
            link.run(ERASED)
            link.set_errors(None)
        after = link.erase_counts()
        passed = [
            PagePlace(*block, 0, count)
            for block in np.ndindex(before.shape)
            for count in range(before[block], after[block])
        ]
        assert passed and not any(erase_hangs(model, place) for place in passed)
        assert not cut_short(link)
        dead = offline(device).index(1)
    link.power_cycle()
    erases = cut_short(link)
    assert {erase for erase, _ in erases} == {True} and {place.channel for _, place in erases} == {dead}
    assert any(erase_hangs(model, place) for _, place in erases)


def test_the_model_hangs_a_die_at_the_sense_that_its_twin_names(link, seed):
    """Of each page it says which read is the last one; other dies serve on."""
    with open_device(link=link, node=SINGLE_NODE) as device:
        stream = device.stream("trained", Port.CORE)
        stored = {page.tobytes(): stream.append(page) for page in content(8)}
        cells = programmed(link)
        model = ErrorModel(seed=seed, hang=Wear(0.02, exponent=0.0))
        link.set_errors(model)
        dead: set[int] = set()
        for sense in range(100):
            for page, where in stored.items():
                place = cells[page]
                if place.channel not in dead and sense_hangs(model, place, sense):
                    dead.add(place.channel)
                if place.channel in dead:
                    with pytest.raises(MediaError, match="UNRECOVERED_READ_ERROR"):
                        stream.read(where)
                else:
                    assert stream.read(where).tobytes() == page
                assert offline(device) == [int(channel in dead) for channel in range(G.channels)]
            if len(dead) == G.channels:
                break
        assert dead
