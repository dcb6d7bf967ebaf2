"""What a read tells of its pages: as many corrected bits and retries as the twin of the errors says."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from flashtrain.host import Device, FunctionalLink, StoredArray, open_device
from flashtrain.numerics.page_randomizer import without_key
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.nand.errors import Ageing, ErrorModel, read_of
from flashtrain.spec import Completion, Opcode
from flashtrain.spec.streams import SINGLE_NODE

CONFIG = TINY_FULL
G = CONFIG.geometry
BLOCKS = CONFIG.max_blocks
DAY = 86_400
FRESH = ErrorModel(fresh=7e-4, transient=0.0)
"""Three wrong bits in a page, the same at each sense."""
RETENTION = ErrorModel(retention=Ageing(1.1e-2, wear_exponent=0.0, exponent=1.0), transient=0.0)
"""A page that is a day old has 48 wrong bits, 6 at the lowest level; 9 can be corrected."""


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG) as opened:
        yield opened


@pytest.fixture
def device(link: RtlLink) -> Iterator[Device]:
    with open_device(link=link, node=SINGLE_NODE.refusing_nothing) as opened:
        yield opened


def content(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (BLOCKS, G.page_bytes), np.uint8)


@dataclass(frozen=True)
class Told:
    """Of each page, in order; of one that is lost nothing counts."""

    corrected: list[int]
    retries: list[int]
    lost: list[bool]


def foretell(link: RtlLink, model: ErrorModel, written: np.ndarray, days: float = 0.0) -> Told:
    """What reads of pages of that age tell."""
    found = {
        without_key(G, held, place.page, place.plane)[: G.page_bytes]: read_of(CONFIG, model, place, days)
        for place, held in link.raw_pages().items()
    }
    reads = [found[page.tobytes()] for page in written]
    retries = [0 if read.lost else read.retries for read in reads]
    return Told([read.wrong for read in reads], retries, [read.lost for read in reads])


def check(device: Device, stored: StoredArray, told: Told) -> None:
    health = device.stream("activations").health(stored)
    assert health.corrected.tolist() == told.corrected
    assert health.retries.tolist() == told.retries
    assert health.lost.tolist() == told.lost


def sound_runs(lost: list[bool]) -> list[slice]:
    """Consecutive pages that are not lost."""
    ends = [-1, *(number for number, one in enumerate(lost) if one), len(lost)]
    return [slice(before + 1, after) for before, after in pairwise(ends) if after > before + 1]


def test_each_page_tells_its_corrected_bits(link, device, raw_of, seed):
    """And a command those of the page with the most."""
    stream = device.stream("activations")
    written = content(seed)
    stored = stream.append(written)
    stream.flush()
    models = (replace(FRESH, seed=1000 * seed + attempt) for attempt in range(200))
    tales = ((model, foretell(link, model, written)) for model in models)
    model, told = next((model, told) for model, told in tales if not any(told.retries) and not any(told.lost))
    link.set_errors(model)
    assert len(set(told.corrected)) > 3
    check(device, stored, told)
    raw = raw_of(device)
    answer = raw.answer(Opcode.READ, slba=stored.lba, nlb=BLOCKS - 1)
    assert answer.ok and answer.result == Completion.corrected.put(max(told.corrected))
    assert np.array_equal(raw.data.reshape(written.shape), written)


def test_each_page_tells_its_retries(link, device, raw_of, seed):
    """Old pages; some are lost, which is an error of the command with all of them, and its result is 0."""
    stream = device.stream("activations")
    written = content(seed)
    stored = stream.append(written)
    stream.flush()
    models = (replace(RETENTION, seed=1000 * seed + attempt) for attempt in range(200))
    tales = ((model, foretell(link, model, written, days=1.0)) for model in models)
    model, told = next((model, told) for model, told in tales if 2 <= sum(told.lost) <= 6)
    link.set_errors(model)
    link.pass_time(DAY)
    assert max(told.retries) > 1
    check(device, stored, told)
    raw = raw_of(device)
    answer = raw.answer(Opcode.READ, slba=stored.lba, nlb=BLOCKS - 1)
    assert not answer.ok and answer.result == 0
    # Alone those between two that are lost are right.
    pages = max(sound_runs(told.lost), key=lambda run: run.stop - run.start)
    answer = raw.answer(Opcode.READ, slba=stored.lba + pages.start, nlb=pages.stop - pages.start - 1)
    assert answer.ok and answer.result == (
        Completion.corrected.put(max(told.corrected[pages]))
        | Completion.retries.put(max(told.retries[pages]))
    )


def test_the_functional_link_has_no_errors(seed):
    with FunctionalLink(CONFIG) as link, open_device(link=link, node=SINGLE_NODE) as device:
        stored = device.stream("activations").append(content(seed))
        check(device, stored, Told([0] * BLOCKS, [0] * BLOCKS, [False] * BLOCKS))
