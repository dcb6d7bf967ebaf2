"""Programs that fail on a device with spares: who appends and reads sees nothing of it but time."""

from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np
import pytest

from flashtrain.host import Device, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.numerics.page_randomizer import without_key
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.nand.errors import ErrorModel, Wear
from flashtrain.spec import Opcode, Status, ZoneState
from flashtrain.spec.streams import SINGLE_NODE

CONFIG = TINY_FULL
G = CONFIG.geometry
PLACES = [(c, d, p) for c in range(G.channels) for d in range(G.dies) for p in range(G.planes)]
VOLATILE, NON_VOLATILE = "activations", "trained"


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG, 8 << 20) as opened:
        yield opened


@pytest.fixture
def device(link: RtlLink) -> Iterator[Device]:
    with open_device(link=link, node=SINGLE_NODE) as opened:
        link.run(60 * CONFIG.timing.cycles("tbers"))  # zones are erased ahead
        yield opened


def total(device: Device, counter: str) -> int:
    return sum(channel[counter] for channel in device.channel_counters())


def content(random: np.random.Generator, blocks: int) -> np.ndarray:
    return random.integers(0, 256, blocks * G.page_bytes, np.uint8)


class Tensors:
    """Of both streams: what was stored, and what it must be."""

    def __init__(self, device: Device, seed: int):
        self.device, self.numbers = device, np.random.default_rng(seed)
        self.kept = {VOLATILE: [], NON_VOLATILE: []}

    def append(self, name: str, blocks: int) -> None:
        stream, array = self.device.stream(name), content(self.numbers, blocks)
        if blocks > sum(zone.room for zone in stream.report()):
            self.check(name)
            stream.reset()
            self.kept[name].clear()
        self.kept[name].append((stream.append(array), array))

    def check(self, *names: str) -> None:
        for name in names:
            for stored, array in self.kept[name]:
                assert np.array_equal(self.device.stream(name).read(stored), array), name


def test_blocks_that_fail_one_after_the_other(link, device, seed):
    """As many as there are spares: at each place, of zones or spares, sometimes during an append."""
    random, tensors = Random(seed), Tensors(device, seed)
    bad = [(*place, block) for place in PLACES for block in random.sample(range(G.blocks), G.spare_blocks)]
    random.shuffle(bad)
    while bad:
        for _ in range(random.randint(1, 2)):
            if bad:
                link.break_block(*bad.pop())
        for name in random.choices(list(tensors.kept), k=6):
            tensors.append(name, random.randint(1, G.superpage * 4))
        tensors.check(random.choice(list(tensors.kept)))
    for name in tensors.kept:
        for _ in range(12):
            tensors.append(name, G.superpage * 3)
        device.stream(name).flush()
    tensors.check(*tensors.kept)
    assert total(device, "SETS_REPEATED") > 0 < total(device, "BLOCKS_REPLACED")

    link.power_cycle()
    device.recover()
    tensors.check(NON_VOLATILE)
    tensors.append(NON_VOLATILE, G.superpage)
    tensors.check(NON_VOLATILE)


def test_programs_that_fail_now_and_then(link, device):
    """Pages are torn as the model says, on blocks that are good otherwise. Copies fail as well."""
    tensors = Tensors(device, 1)
    link.set_errors(ErrorModel(seed=3, program_failure=Wear(0.006, exponent=0.0)))
    while total(device, "SETS_REPEATED") < 3:
        for name in tensors.kept:
            tensors.append(name, G.superpage * 5)
    tensors.check(*tensors.kept)
    assert total(device, "WORDS_UNCORRECTABLE") == 0
    link.power_cycle()
    device.recover()
    tensors.check(NON_VOLATILE)


def test_without_spares_a_zone_becomes_read_only(link, device, raw_of):
    """What was there before can still be read, and the stream goes on in its other zones."""
    stream, raw, tensors = device.stream(NON_VOLATILE), raw_of(device), Tensors(device, 2)
    tensors.append(NON_VOLATILE, G.superpage)
    break_blocks_of(link, tensors.kept[NON_VOLATILE][0][1], 1)
    for place, spare in product(PLACES, G.spares):
        link.break_block(*place, spare)
    assert stream.report()[0].state is ZoneState.IMPLICITLY_OPEN
    with pytest.raises(MediaError, match="WRITE_FAULT"):
        stream.append(content(tensors.numbers, G.superpage))
    assert stream.report()[0].state is ZoneState.READ_ONLY
    assert raw.status(Opcode.ZONE_APPEND, NON_VOLATILE) is Status.ZONE_IS_READ_ONLY
    tensors.check(NON_VOLATILE)
    assert total(device, "SETS_REPEATED") == 0
    for _ in range(2):
        link.power_cycle()
        device.recover()
        assert stream.report()[0].state is ZoneState.READ_ONLY
        tensors.check(NON_VOLATILE)

    for _ in range(2):
        tensors.append(NON_VOLATILE, G.superpage)
    tensors.check(NON_VOLATILE)
    assert {stored.extents[0].lba // G.zone_size for stored, _ in tensors.kept[NON_VOLATILE][1:]} == {1}
    stream.reset()
    assert [zone.state for zone in stream.report()[:2]] == [ZoneState.READ_ONLY, ZoneState.EMPTY]


def test_appends_on_their_way_to_a_zone_that_fails(link, device, seed):
    """Those that it did not take any more are in another one; none is refused because of it."""
    stream, numbers = device.stream(NON_VOLATILE), np.random.default_rng(seed)
    first = content(numbers, G.superpage)
    stored = stream.append(first)
    break_blocks_of(link, first, 1)
    for place, spare in product(PLACES, G.spares):
        link.break_block(*place, spare)
    arrays = [content(numbers, 1) for _ in range(G.superpage * (G.pages - 1))]
    zones, lost = set(), 0
    for pending, array in [(stream.append_async(array), array) for array in arrays]:
        try:
            one = pending.result()
        except MediaError:
            lost += 1
            continue
        zones.add(one.lba // G.zone_size)
        assert np.array_equal(stream.read(one), array)
    assert 1 in zones and 0 < lost < len(arrays) // 2
    assert np.array_equal(stream.read(stored), first)


def test_moves_take_nothing_but_time(link, device, seed):
    """An append whose blocks fail at the last row takes as much longer as their pages need."""
    numbers = np.random.default_rng(seed)
    stream = device.stream(NON_VOLATILE)
    rows = G.pages - 1
    written = content(numbers, G.superpage * rows)
    stream.append(written)
    break_blocks_of(link, written, rows)
    before, array = link.cycles, content(numbers, G.superpage)
    stored = stream.append(array)
    cycles = link.cycles - before
    assert G.planes * move_cycles(rows) < cycles < 1.5 * G.planes * move_cycles(rows) + 20_000
    assert np.array_equal(stream.read(stored), array)
    assert total(device, "SETS_REPEATED") == G.channels * G.dies


@pytest.mark.parametrize("further", [1, 2])
def test_the_power_fails_during_a_move(link, device, seed, further):
    """At any time of it, with one or two page sets in the array: what was acknowledged is there."""
    random, numbers, steps = Random(seed), np.random.default_rng(seed), 12
    for step in range(steps):
        stream = device.stream(NON_VOLATILE)
        stream.reset()
        rows = random.randint(1, G.pages - further)
        written = content(numbers, G.superpage * rows)
        stored = stream.append(written)
        break_blocks_of(link, written, rows)
        stream.append_async(content(numbers, G.superpage * further))
        link.run(CONFIG.timing.cycles("tprog") * further + G.planes * move_cycles(rows) * step // (steps - 1))
        link.power_cycle()
        link.mend_dies()
        device.recover()
        assert np.array_equal(device.stream(NON_VOLATILE).read(stored), written), (step, rows)


def move_cycles(rows: int) -> int:
    """Of a block with so many rows before the one that fails, at least."""
    cycles = CONFIG.timing.cycles
    return cycles("tbers") + rows * (cycles("tr") + cycles("tprog")) + cycles("tprog")


def break_blocks_of(link: RtlLink, written: np.ndarray, rows: int) -> None:
    """The blocks in which the last ones of so many rows are."""
    pages = {page.tobytes() for page in written.reshape(-1, G.page_bytes)[-G.superpage :]}
    for place in PLACES:
        held = {block: link.raw_page(*place, block, rows - 1) for block in range(G.blocks)}
        data = {
            block: without_key(G, page, rows - 1, place[2])[: G.page_bytes]
            for block, page in held.items()
            if page
        }
        (block,) = [block for block, page in data.items() if page in pages]
        link.break_block(*place, block)
