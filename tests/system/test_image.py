"""An image through the RTL: the same cells as of the functional model, and what stays of the arrays."""

import resource
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, ImageError, MediaError, TensorGroup, open_device
from flashtrain.host.image import open_image
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Port
from flashtrain.spec.image import ImageLayout, PageState
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE

CONFIG = TINY_FULL
G = CONFIG.geometry


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "flash.img"


@contextmanager
def opened(link, path: Path, **options):
    with open_device(CONFIG, link, UPDATE_NODE, 1 << 20, image=path, **options) as device:
        yield device


def pages_of(path: Path) -> dict[tuple[int, int], bytes]:
    with closing(open_image(path, CONFIG)) as image:
        assert not list(image.damaged_pages())
        return {
            (number, page.number): image.cells(number, page.number)
            for number in range(image.layout.block_count)
            for page in image.pages(number)
            if page.record.state == PageState.WHOLE
        }


def some(random, pages: float) -> np.ndarray:
    return random.integers(0, 256, int(pages * G.page_bytes), dtype=np.uint8)


def test_cells_are_the_same_through_both_links(tmp_path, seed):
    """Bit for bit, with code and randomizer: appends of three streams, a reset, and an update on the dies."""
    found = []
    for link in (FunctionalLink, RtlLink):
        random = np.random.default_rng(seed)
        with opened(link, tmp_path / f"{link.__name__}.img") as device:
            device.stream("inputs", Port.HOST).append(some(random, 5))
            trained = device.stream("trained")
            trained.append(some(random, 9))
            trained.reset()
            trained.append(some(random, 2.5))
            state = device.optimizer_state([TensorGroup(OptimizerCode.ADAM, ((40,),))])
            state.initialise([[random.standard_normal(40).astype(np.float32)]])
            device.shutdown()
        found.append(pages_of(tmp_path / f"{link.__name__}.img"))
    assert found[0].keys() == found[1].keys() and len(found[0]) > 8
    assert found[0] == found[1]


def test_from_link_to_link_and_back(path, seed):
    """Zones that an orderly end leaves open take more, in the order of their pages."""
    random, kept = np.random.default_rng(seed), []
    for link in (FunctionalLink, RtlLink, FunctionalLink, RtlLink):
        with opened(link, path) as device:
            stream = device.stream("trained")
            for stored, array in kept:
                assert np.array_equal(stream.read(stored), array)
            if kept:
                blocks = sum(stored.blocks for stored, _ in kept)
                assert device.recovered.clean and stream.report()[0].room == G.zone_capacity - blocks
            array = some(random, 2.5)
            kept.append((stream.append(array), array))
            device.shutdown()


def test_an_update_goes_on_through_the_other_link(path, seed):
    random = np.random.default_rng(seed)
    group = [TensorGroup(OptimizerCode.ADAM, ((40,),))]
    weights = random.standard_normal(40).astype(np.float32)
    with opened(RtlLink, path) as device:
        device.optimizer_state(group).initialise([[weights]])
    with opened(FunctionalLink, path) as device:
        state = device.optimizer_state(group, recovered=True)
        assert state.read(Input.W)[0][0].tobytes() == weights.tobytes()


def test_what_is_wrong_with_the_arrays_stays(path):
    with RtlLink(CONFIG, 1 << 20) as link:
        link.use_image(open_image(path, CONFIG))
        link.break_block(0, 0, 1, 4)
        link.mark_block(1, 0, 0, 3)
        link.hang_die(1, 0)
        before = link.erase_counts()
    with RtlLink(CONFIG, 1 << 20) as link:
        image = open_image(path, CONFIG)
        assert image.hung_dies() == [(1, 0)]
        link.use_image(image)
        link.mend_dies()
        assert image.hung_dies() == []
        with open_device(link=link) as device:
            assert [bad.block for bad in device.bad_blocks] == [3]
            assert (link.erase_counts() != before).sum() == before.size - 1
    with FunctionalLink(CONFIG, 1 << 20) as link:
        link.use_image(open_image(path, CONFIG))
        with open_device(link=link, recover=True) as device:
            assert [bad.block for bad in device.bad_blocks] == [3]


def test_a_page_that_was_cut_short_is_torn(path):
    """A loss of power within the simulation leaves in the image what it leaves in the cells."""
    with RtlLink(CONFIG, 1 << 20) as link:
        link.use_image(open_image(path, CONFIG))
        device = open_device(link=link)
        device.stream("trained").append_async(np.ones(G.page_bytes * 4, np.uint8))
        while link.take_cuts().size == 0:
            link.run(CONFIG.timing.cycles("tprog") // 3)
            link.power_cycle()
            device = open_device(link=link, recover=True)
            device.stream("trained").append_async(np.ones(G.page_bytes * 4, np.uint8))
        cells = link.raw_pages()
    with closing(open_image(path, CONFIG)) as image:
        for number in range(image.layout.block_count):
            for page in image.pages(number):
                place = (*image.place(number), page.number, image.block(number).erases)
                assert cells.pop(place) == image.cells(number, page.number)
        assert not cells


@pytest.mark.parametrize(("wrong", "lost"), [(4, False), (60, True)])
def test_bits_that_have_changed_in_the_file(path, wrong, lost):
    """The code corrects them, or the page is a media error."""
    array = np.full(2 * G.superpage * G.page_bytes, 7, np.uint8)
    with opened(RtlLink, path) as device:
        before = device.link.raw_pages()
        stored = device.stream("trained").append(array)
        new = device.link.raw_pages().keys() - before.keys()
        place = next(place for place in new if place.page == 0)
    layout = ImageLayout(G)
    with path.open("r+b") as file:
        at = layout.cells(layout.block(*place[:4]), place.page)
        file.seek(at)
        content = np.frombuffer(file.read(wrong), np.uint8)
        file.seek(at)
        file.write((content ^ 1).tobytes())
    with opened(RtlLink, path) as device:
        if lost:
            with pytest.raises(MediaError):
                device.stream("trained").read(stored)
        else:
            assert np.array_equal(device.stream("trained").read(stored), array)


def test_a_full_disk(path):
    """The append that finds no room fails, and what was there stays."""
    array = np.ones(G.page_bytes, np.uint8)
    with opened(RtlLink, path) as device:
        stored = device.stream("trained").append(array)
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    full = pytest.raises(ImageError, match=r"flash\.img: File too large; what it holds stays valid")
    with full, opened(RtlLink, path) as device:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ImageLayout(G).cells_at, hard))
        try:
            device.stream("trained").append(array)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    with opened(RtlLink, path) as device:
        assert np.array_equal(device.stream("trained").read(stored), array)
