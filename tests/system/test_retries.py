"""Pages that can be corrected only at a lower read level, or at none: as the twin of the errors says."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pytest

from flashtrain.host import Device, StateLost, TensorGroup, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.numerics.page_randomizer import without_key
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.nand.errors import Ageing, ErrorModel, PagePlace, PageRead, read_of, wrong_bits
from flashtrain.spec import Opcode, Status
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE
from flashtrain.training.optimizers import Adam

CONFIG = TINY_FULL
G = CONFIG.geometry
PAGE = G.page_bytes
BLOCKS = CONFIG.max_blocks
DAY = 86_400
RETENTION = ErrorModel(retention=Ageing(1.1e-2, wear_exponent=0.0, exponent=1.0), transient=0.0)
"""A page that is a day old has 48 wrong bits, 6 at the lowest level; 9 can be corrected. Never others."""


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG) as opened:
        yield opened


@pytest.fixture
def device(link: RtlLink) -> Iterator[Device]:
    """One that reads volatile data, too, after days."""
    with open_device(link=link, node=SINGLE_NODE.refusing_nothing) as opened:
        yield opened


def content(blocks: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (blocks, PAGE), np.uint8)


@dataclass(frozen=True)
class Prophecy:
    """What becomes of each page of the flash, by its data."""

    model: ErrorModel
    reads: dict[bytes, PageRead]

    def of(self, page: np.ndarray) -> PageRead:
        return self.reads[page.tobytes()]

    def retries(self, pages: np.ndarray) -> int:
        return sum(self.of(page).retries for page in pages)

    def rescued(self, pages: np.ndarray) -> int:
        return sum(not self.of(page).lost and self.of(page).retries > 0 for page in pages)


def data_of(held: bytes, place: PagePlace) -> bytes:
    return without_key(G, held, place.page, place.plane)[:PAGE]


def foretell(link: RtlLink, seed: int) -> Prophecy:
    """For pages that are a day old."""
    model = replace(RETENTION, seed=seed)
    pages = link.raw_pages().items()
    return Prophecy(model, {data_of(held, at): read_of(CONFIG, model, at, days=1.0) for at, held in pages})


def foretell_losses(link: RtlLink, seed: int, least: int, most: int) -> Prophecy:
    """With a seed at which so many pages are lost at every level."""
    for attempt in range(200):
        told = foretell(link, 1000 * seed + attempt)
        if least <= sum(read.lost for read in told.reads.values()) <= most:
            return told
    raise AssertionError("no such seed")


def count(device: Device, name: str) -> int:
    return sum(channel[name] for channel in device.channel_counters())


def test_exactly_the_pages_that_no_level_saves_are_lost(link, device, raw_of, seed):
    """One command with all of them: the others are in its buffer. Alone each ends as it must."""
    stream = device.stream("activations")
    written = content(BLOCKS, seed)
    first = stream.append(written).extents[0].lba
    stream.flush()
    told = foretell_losses(link, seed, least=2, most=6)
    link.set_errors(told.model)
    link.pass_time(DAY)

    raw = raw_of(device)
    raw.data[:] = 0xA5
    status = raw.status(Opcode.READ, slba=first, nlb=BLOCKS - 1)
    assert status == Status.UNRECOVERED_READ_ERROR
    for number, page in enumerate(written):
        found = raw.data[number * PAGE : (number + 1) * PAGE]
        assert np.array_equal(found, np.full(PAGE, 0xA5, np.uint8) if told.of(page).lost else page)
    retries, rescued = told.retries(written), told.rescued(written)
    lost = sum(told.of(page).lost for page in written)
    assert retries > 0 and rescued > 0
    assert (count(device, "PAGES_RETRIED"), count(device, "PAGES_RESCUED")) == (retries, rescued)
    assert count(device, "WORDS_UNCORRECTABLE") == retries + lost

    # Each read begins at level 0 again: it takes as many attempts as before.
    for number, page in enumerate(written):
        before = count(device, "PAGES_RETRIED")
        if told.of(page).lost:
            with pytest.raises(MediaError, match="UNRECOVERED_READ_ERROR"):
                stream.read_blocks(first + number, 1)
        else:
            assert np.array_equal(stream.read_blocks(first + number, 1), page)
        assert count(device, "PAGES_RETRIED") - before == told.of(page).retries


def test_new_pages_are_read_at_the_first_level(link, device, seed):
    """Old and new ones by turns: what is wrong in the new ones is what level 0 gets wrong."""
    stream = device.stream("activations")
    first = stream.append(content(8, seed)).extents[0].lba
    stream.flush()
    link.pass_time(DAY)
    new = content(8, seed + 1)
    second = stream.append(new).extents[0].lba
    stream.flush()
    # One bit in three pages; at the last level some three in each.
    model = replace(RETENTION, seed=seed, fresh=8e-5)
    expected = {
        data_of(held, place): wrong_bits(model, place, 8 * G.raw_page_bytes, 0, 8e-5).tolist()
        for place, held in link.raw_pages().items()
    }
    link.set_errors(model, keep=True)
    for number in range(8):
        with suppress(MediaError):
            stream.read_blocks(first + number, 1)
        link.take_flips()
        assert np.array_equal(stream.read_blocks(second + number, 1), new[number])
        assert [int(flip["bit"]) for flip in link.take_flips()] == expected[new[number].tobytes()]
    assert count(device, "PAGES_RETRIED") > 0


def test_retries_among_all_other_work(link, device, seed):
    """Old pages are read while others are appended, read and erased: nothing waits for ever, all is right."""
    random = np.random.default_rng(seed)
    kept, other = device.stream("weights"), device.stream("activations")
    old = content(12, seed)
    stored = kept.append(old)
    kept.flush()
    told = foretell_losses(link, seed, least=0, most=0)
    link.set_errors(told.model)
    link.pass_time(DAY)
    rounds = 6
    for number in range(rounds):
        new = content(int(random.integers(1, 10)), seed + number)
        reads = [kept.read_async(stored) for _ in range(2)]
        append = other.append_async(new)
        reads += [kept.read_async(stored)]
        assert np.array_equal(other.read(append.result()), new)
        reset = other.reset_async() if number % 2 else None
        for read in reads:
            assert np.array_equal(read.result(), old)
        if reset:
            reset.result()
    assert count(device, "PAGES_RETRIED") == 3 * rounds * told.retries(old) > 0


def test_a_recovery_reads_old_pages(link, seed):
    """Identities that can be read at a lower level only."""
    written = content(10, seed)
    with open_device(link=link, node=SINGLE_NODE) as device:
        first = device.stream("trained").append(written).extents[0].lba
        device.stream("trained").flush()
        told = foretell_losses(link, seed, least=0, most=0)
    link.set_errors(told.model)
    link.pass_time(DAY)
    link.power_cycle()
    with open_device(link=link, node=SINGLE_NODE, recover=True) as device:
        assert np.array_equal(device.stream("trained").read_blocks(first, len(written)), written.ravel())
        assert count(device, "PAGES_RESCUED") > 0


ADAM = Adam(0.01)
PARAMETERS = 6 * (G.planes * PAGE // 4 // 3)  # tiles of three arrays: three rows of two channels


@pytest.fixture
def trainer(link: RtlLink) -> Iterator[Device]:
    with open_device(link=link, node=UPDATE_NODE.refusing_nothing) as opened:
        yield opened


@dataclass
class Training:
    """State on the dies, whose pages all differ, and what it must be."""

    device: Device
    noise: np.random.Generator

    def __post_init__(self) -> None:
        self.arrays = [np.abs(self._vector()) for _ in range(3)]
        self.state = self.device.optimizer_state([TensorGroup(OptimizerCode.ADAM, ((PARAMETERS,),))])
        self.state.initialise(*([[array]] for array in self.arrays))

    def step(self) -> None:
        gradient, t = self._vector(), self.state.current.updates + 1
        self.state.update([[gradient]], [ADAM.constants(t)])
        self.state.commit()
        w, m, v = self.arrays
        w, after = ADAM.step(w, gradient, {"m": m, "v": v}, t)
        self.arrays = [w, after["m"], after["v"]]

    def check(self) -> None:
        for which, expected in zip((Input.W, Input.M, Input.V), self.arrays, strict=True):
            assert self.state.read(which)[0][0].tobytes() == expected.tobytes(), which.name

    def _vector(self) -> np.ndarray:
        return self.noise.standard_normal(PARAMETERS).astype(np.float32)


def test_steps_from_state_that_only_a_read_can_get(link, trainer, seed):
    """The dies cannot, at level 0. It is renewed, and then training goes on as if nothing had been."""
    training = Training(trainer, np.random.default_rng(seed))
    link.set_errors(foretell_losses(link, seed, least=0, most=0).model)
    link.pass_time(DAY)
    training.step()
    assert training.state.renewals == 1 and count(trainer, "PAGES_RESCUED") > 0
    training.check()
    training.step()
    assert training.state.renewals == 1, "what was written a moment ago"
    training.check()
    link.power_cycle()
    trainer.recover()
    training.state = trainer.optimizer_state(training.state.groups, recovered=True)
    training.check()


def test_state_that_no_level_saves_is_lost(link, trainer, seed):
    """A step says so, and leaves all as it was: with better cells it can be taken."""
    training = Training(trainer, np.random.default_rng(seed))
    link.set_errors(foretell_losses(link, seed, least=1, most=2).model)
    link.pass_time(DAY)
    before = training.state.current
    with pytest.raises(StateLost, match=r"UNRECOVERED_READ_ERROR .* pages are lost of . of tensor 0"):
        training.step()
    assert training.state.current == before and training.state.renewals == 0
    link.set_errors(None)
    training.check()
    training.step()
    training.check()


def test_a_die_that_hangs_ends_its_retries(link, device, seed):
    stream = device.stream("activations")
    written = content(8, seed)
    first = stream.append(written).extents[0].lba
    stream.flush()
    told = foretell_losses(link, seed, least=0, most=0)
    link.set_errors(told.model)
    link.pass_time(DAY)
    link.hang_die(1, 0)
    for number, page in enumerate(written):
        if number % 2:
            with pytest.raises(MediaError, match="UNRECOVERED_READ_ERROR"):
                stream.read_blocks(first + number, 1)
        else:
            assert np.array_equal(stream.read_blocks(first + number, 1), page)
