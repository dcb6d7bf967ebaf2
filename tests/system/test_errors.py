"""The error model under a whole device: what its arrays do is what the model's twin says, place by place."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from flashtrain.host import Device, StreamFull, TensorGroup, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.nand.errors import (
    Ageing,
    ErrorModel,
    PagePlace,
    Wear,
    erase_fails,
    even,
    program_fails,
    wrong_bits,
)
from flashtrain.spec import NodeTable, Port, ZoneState, preset
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.registers import ChannelCounter, StreamRegister, stream_register
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE
from flashtrain.training.optimizers import Adam

CONFIG = preset("tiny")
G = CONFIG.geometry
PAGE = G.page_bytes
BLOCKS = 16
PLACES = [
    PagePlace(*place)
    for place in product(range(G.channels), range(G.dies), range(G.planes), range(G.blocks), range(G.pages))
]


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG) as opened:
        yield opened


def content(blocks: int, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (blocks, PAGE), np.uint8)


def held(link: RtlLink) -> dict[bytes, PagePlace]:
    """Where each page's data lie, with the erases of the block."""
    return {page[:PAGE]: place for place, page in link.raw_pages().items()}


class Sense(NamedTuple):
    place: PagePlace
    number: int


def taken(link: RtlLink) -> dict[Sense, list[int]]:
    """The wrong bits of each sense since the last call."""
    erases = link.erase_counts()
    bits = defaultdict(list)
    for flip in link.take_flips():
        channel, die, plane, block, page, sense, bit = flip.item()
        place = PagePlace(channel, die, plane, block, page, int(erases[channel, die, plane, block]))
        bits[Sense(place, sense)].append(bit)
    return bits


def expected_block(right: np.ndarray, bits: list[int]) -> np.ndarray | None:
    """What a read returns if these bits of its page are wrong; None for an error."""
    if CONFIG.code:  # no test has more wrong bits than it corrects
        return right
    identity = range(8 * PAGE, 8 * G.identified_page_bytes)
    if any(bit in identity for bit in bits):
        return None
    wrong = np.unpackbits(right, bitorder="little")
    wrong[[bit for bit in bits if bit < identity.start]] ^= 1
    return np.packbits(wrong, bitorder="little")


def read(stream, lba: int) -> np.ndarray | None:
    try:
        return stream.read_blocks(lba, 1)
    except MediaError:
        return None


def same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other is None or (one is not None and other is not None and np.array_equal(one, other))


def test_a_model_without_errors_changes_nothing():
    def run(model: ErrorModel | None) -> tuple[bytes, int]:
        node = SINGLE_NODE.refusing_nothing
        with RtlLink(CONFIG) as link, open_device(link=link, node=node) as device:
            link.set_errors(model, keep=True)
            stream = device.stream("activations", Port.CORE)
            stored = stream.append(content(BLOCKS))
            stream.flush()
            link.pass_time(1e9)
            back = stream.read(stored)
            assert not link.flipped_bits().any() and link.take_flips().size == 0
            return back.tobytes(), link.cycles

    assert run(None) == run(ErrorModel()) == run(even(0.0, seed=9))


def test_reads_differ_where_the_twin_says(link, device, seed):
    """Each sense of each page; data that are wrong in those bits, and in no other. The cells stay right."""
    model, rate = even(2e-4, seed), 2e-4
    stream = device.stream("activations", Port.CORE)
    written = content(BLOCKS)
    first = stream.append(written).extents[0].lba
    stream.flush()
    cells = held(link)
    link.set_errors(model, keep=True)
    flipped = 0
    for _ in range(4):
        for number, right in enumerate(written):
            place = cells[right.tobytes()]
            back = read(stream, first + number)
            senses = taken(link)
            assert all(sense.place == place for sense in senses)
            bits = [bit for found in senses.values() for bit in found]
            assert same(back, expected_block(right, bits)), (place, bits)
            flipped += len(bits)
            for sense, found in senses.items():
                predicted = wrong_bits(model, place, 8 * G.raw_page_bytes, sense.number, rate)
                assert found == predicted.tolist()
    assert int(link.flipped_bits().sum()) == flipped
    assert 0 < flipped < 200  # 56 are expected
    assert held(link) == cells
    link.set_errors(None)
    assert all(same(read(stream, first + i), right) for i, right in enumerate(written))


def test_age_and_seed(link, device):
    """Old data have more wrong bits, also after a loss of power; the same seed has the same ones again."""
    model = ErrorModel(retention=Ageing(2e-3, wear_exponent=0.0, exponent=0.5), transient=0.0)
    stream = device.stream("trained", Port.CORE)
    written = content(BLOCKS)
    first = stream.append(written).extents[0].lba

    def wrong(model: ErrorModel) -> set[tuple]:
        link.set_errors(model, keep=True)
        for number in range(BLOCKS):
            read(stream, first + number)
        return {(sense.place, bit) for sense, bits in taken(link).items() for bit in bits}

    assert not wrong(model)
    link.pass_time(86_400)
    young = wrong(model)
    link.pass_time(3 * 86_400)
    old = wrong(model)
    assert wrong(model) == old and young < old
    other = wrong(replace(model, seed=2))
    assert other and len(other & old) < len(old) / 2

    link.set_errors(None)
    link.power_cycle()
    with open_device(link=link, node=SINGLE_NODE, recover=True) as recovered:
        stream = recovered.stream("trained", Port.CORE)
        assert wrong(model) == old


@pytest.fixture
def unrecorded(link) -> Iterator[Device]:
    """Nothing is programmed but what is appended."""
    streams = tuple(stream for stream in SINGLE_NODE.streams if stream is not SINGLE_NODE.journal)
    with open_device(link=link, node=NodeTable("no journal", streams)) as opened:
        yield opened


def test_programs_fail_where_the_twin_says(link, unrecorded, seed):
    """The append ends with an error and the page is torn; no other is. Its zone takes no more."""
    model, device = ErrorModel(seed=seed, program_failure=Wear(0.1, exponent=0.0)), unrecorded
    link.set_errors(model)
    stream = device.stream("trained", Port.CORE)
    written = content(2 * G.zone_capacity, seed)
    errors = 0
    for page in written:
        try:
            stream.append(page)
        except MediaError as error:
            assert "WRITE_FAULT" in str(error)
            errors += 1
        except StreamFull:
            break
    assert errors == sum(zone.state is ZoneState.READ_ONLY for zone in stream.report())
    sound = {page.tobytes() for page in written}
    cells = held(link)
    torn = {place for page, place in cells.items() if page not in sound}
    assert torn == {place for place in cells.values() if program_fails(model, place)}
    failures = sum(channel[ChannelCounter.FAILURES.name] for channel in device.channel_counters())
    assert len(torn) == failures == errors > 0


def test_updates_whose_programs_fail_are_repeated(link):
    """The weights are those of a device without errors, to the last bit."""
    steps, shape = 6, (PAGE // 4,)
    random = np.random.default_rng(3)
    gradients = random.standard_normal((steps, *shape)).astype(np.float32)
    weights = random.standard_normal(shape).astype(np.float32)
    adam = Adam(0.01)
    with open_device(link=link, node=UPDATE_NODE) as device:
        state = device.optimizer_state([TensorGroup(OptimizerCode.ADAM, (shape,))])
        state.initialise([[weights]])
        expected, moments = weights, adam.initial_state(weights)
        for step, gradient in enumerate(gradients, 1):
            link.set_errors(ErrorModel(seed=step, program_failure=Wear(0.1, exponent=0.0)))
            state.update([[gradient]], [adam.constants(step)])
            link.set_errors(None)
            state.commit()
            expected, moments = adam.step(expected, gradient, moments, step)
            assert state.read(Input.W)[0][0].tobytes() == expected.tobytes()
        failures = sum(channel[ChannelCounter.FAILURES.name] for channel in device.channel_counters())
        resets = sum(
            link.read_register(stream_register(device.stream(name).nsid, StreamRegister.GENERATION))
            for name in ("state_a", "state_b")
        )
        # An attempt that failed leads to a reset of its destination; steps go on in their zones.
        assert failures > 0 and resets > 0


def test_erases_fail_where_the_twin_says(link, device):
    """A zone of which an erase failed is not used again; all others are."""
    model = ErrorModel(seed=1, erase_failure=Wear(0.02, exponent=0.0))
    before = link.erase_counts()
    link.set_errors(model)
    stream = device.stream("activations", Port.CORE)
    for fill in range(40):
        written = content(G.zone_capacity, fill)
        stored = stream.append(written)
        assert np.array_equal(stream.read(stored), written)
        stream.reset()
    erases = link.erase_counts()
    failed = {
        (place.channel, place.die, place.block, erase)
        for place in PLACES
        for erase in range(before[place[:4]], erases[place[:4]])
        if erase_fails(model, place._replace(page=0, erases=erase))
    }
    assert all(erase == erases[channel, die, 0, block] - 1 for channel, die, block, erase in failed)
    failures = sum(channel[ChannelCounter.FAILURES.name] for channel in device.channel_counters())
    assert len(failed) == failures > 0


def test_the_examples_of_the_page_run():
    """That of a preset with a code on one that other tests have compiled."""
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    coded = 'config = preset("tiny_ecc")'
    assert coded in examples[1]
    exec(examples[0], {})
    exec(examples[1].replace(coded, "config = compiled"), {"compiled": TINY_FULL})
