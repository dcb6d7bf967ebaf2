"""When a step elsewhere is done with its chunks, by hand."""

import numpy as np
import pytest

from flashtrain.host.state.tiling import TileLayout
from flashtrain.perf.update_lanes import ControllerLanes, UpdatedTile
from flashtrain.perf.update_places import ChunkWork, HostLink
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.update import Tile
from flashtrain.training.optimizers import Adam

GEOMETRY = preset("tiny").geometry
ADAM = Adam()
TILE = Tile.of(GEOMETRY, ADAM.code, GradientFormat.FP32, CopyFormat.NONE)
TILES = GEOMETRY.channels * GEOMETRY.dies


class FixedLane:
    """Sets the bytes of a tile to those of its gradients, in a fixed time."""

    def begin(self, step):
        self.code = step.constants.code
        return 50

    def update(self, tile, gradients):
        return UpdatedTile(np.full(tile.size, gradients.flat[0]), np.zeros(0, np.uint8), 1000)


def chunk(random):
    """Work on the chunks of a device, and one of them."""
    layout = TileLayout(TILE, TILES * TILE.parameters)
    state = np.abs(random.normal(0, 0.02, (3, layout.parameters))).astype(np.float32)
    gradients = random.normal(0, 0.01, layout.parameters).astype(np.float32)
    return ChunkWork(layout, ADAM.constants(1), gradients, clock_hz=1e9), layout.state_pages(state)


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def test_tiles_pass_the_lanes_in_turn(random):
    """Two tiles of a chunk; the second chunk waits for the first, the third for nothing."""
    work, pages = chunk(random)
    for lanes, each in ((1, 2000), (2, 1000), (3, 1000)):
        step = ControllerLanes(tuple(FixedLane() for _ in range(lanes))).begin(work, 100)
        assert step.update(120, pages) == 150 + each
        if lanes < 3:
            assert step.update(120, pages) == 150 + 2 * each
        assert step.update(50_000, pages) == 50_000 + each
        rate = lanes * TILE.parameters * 1e9 / 1000 / 1e6
        assert f"{lanes} update lanes are RTL" in step.computing and f"{rate:,.1f} M/s" in step.computing


def test_what_lanes_can_do_at_most():
    """A tile of 1024 bytes in and out by words of 8, and 20 cycles for each of 85 parameters."""
    lanes = ControllerLanes((FixedLane(), FixedLane()))
    rate = 2 * 85 * 600e6 / (2 * 128 + 85 * 20)
    assert lanes.limits(preset("tiny"), TILE) == {"update lanes": pytest.approx(rate)}


def test_every_tile_meets_its_gradients(random):
    work, pages = chunk(random)
    lane = FixedLane()
    ControllerLanes((lane,)).begin(work, 0).update(0, pages)
    assert lane.code is ADAM.code
    first = work.layout.gradient_pages(work.gradients)[:, 0, :, 0]
    assert (pages == first[:, None, :, None]).all()


def test_chunks_cross_a_link_there_and_back(random):
    work, pages = chunk(random)
    link = HostLink(bytes_per_second=1e9, latency_seconds=1e-6, parameters_per_second=1e8)
    step = link.begin(work, 0)
    expected = work.updated(pages)
    count, state = work.layout.parameters, pages.nbytes
    first = (state + 4 * count) + 1000 + 10 * count + state + 1000
    assert step.update(0, pages) == pytest.approx(first)
    assert np.array_equal(pages, expected)
    # The link there is the busiest.
    assert step.update(0, pages) == pytest.approx(first + state + 4 * count)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ControllerLanes(()), r"controller\.lanes is \(\); expected 1 or more"),
        (lambda: HostLink(bytes_per_second=0), r"link\.bytes_per_second is 0; expected more than 0"),
    ],
)
def test_impossible_places(make, name):
    with pytest.raises(ConfigError, match=name):
        make()
