# amaranth: UnusedElaboratable=no
"""The update lane in Verilator: bit for bit the reference, and clock by clock what its parts promise."""

from dataclasses import replace
from itertools import cycle, product
from math import ceil

import numpy as np
import pytest

from flashtrain.host.state.state_stream import TileStep
from flashtrain.host.state.tiling import TileLayout
from flashtrain.numerics import copy_of, gradients_in, statistics, update
from flashtrain.numerics.state_format import StepRounding, random_bits, random_halves
from flashtrain.rtl.die.update_unit import UpdateUnit
from flashtrain.rtl.export.systemverilog import lint
from flashtrain.rtl.update_lane import UpdateLane
from flashtrain.sim.update_lane.update_lane import LaneError, RtlUpdateLane
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.state_format import PLACE_BITS, PLAIN, Rounding, StateFormat, StateFormats
from flashtrain.spec.update import Tile, UpdateStatistics
from flashtrain.training.optimizers import OPTIMIZERS, SGD, Adam, AdamW, Momentum
from tests.rounded_state import NARROW, copied, has, put_tile_arrays
from tests.rtl.elaborated import elaborated

TINY = replace(preset("tiny"), fp8_state=True)
ROUNDED = (
    (StateFormats(moments=StateFormat.BF16), Rounding.NEAREST),
    (StateFormats(moments=StateFormat.BF16), Rounding.STOCHASTIC),
    (StateFormats(StateFormat.BF16, StateFormat.BF16), Rounding.STOCHASTIC),
    (StateFormats(StateFormat.SPLIT, StateFormat.BF16), Rounding.STOCHASTIC),
)
CASES = [
    *product(
        (Adam(), AdamW(), Momentum(), SGD()),
        (GradientFormat.FP32, GradientFormat.BF16),
        (CopyFormat.NONE, CopyFormat.BF16),
    ),
    *(
        (optimizer, GradientFormat.BF16, copy, *how)
        for optimizer, copy in ((Adam(), CopyFormat.BF16), (Momentum(), CopyFormat.NONE))
        for how in ROUNDED
    ),
]


class Cycles:
    """Cycles of a tile by the data sheets of lane, sequencer and unit, counted from the reset on.

    The unit's clock rises with every `divider`-th bus clock in which the updater is busy; it takes a
    parameter with every `interval`-th rise since the step began. What is on its way moves on with those.
    """

    def __init__(self) -> None:
        self._unit, self._divider = UpdateUnit(TINY.update_interval), TINY.update_divider
        self._busy = 0  # bus cycles in which the updater was busy
        self._rises = 0  # of them of this step

    def begin(self) -> int:
        self._rises = 0
        return 1 + 4 * 8

    def tile(self, tile: Tile, code) -> int:
        arrays = tile.arrays + (tile.formats.weight is StateFormat.SPLIT)  # of numbers or halves
        first = self._first_taken(arrays)
        unit, interval, divider = self._unit, self._unit.interval, self._divider
        last = first + (tile.parameters - 1) * interval * divider
        on_its_way = interval * ceil(self._stages / interval)
        written = last + unit.latency[code] * divider + arrays + 1
        busy = max(last + on_its_way * divider + 1, written)
        self._rises += (self._busy + busy) // divider - self._busy // divider
        self._busy += busy
        page_set = tile.geometry.page_set_bytes // 8
        gradients, copies = (
            ceil(tile.parameters * form.bytes / 8) for form in (tile.gradient_format, tile.copy_format)
        )
        return 1 + gradients + page_set + busy + 2 + page_set + copies

    @property
    def _stages(self) -> int:
        schedule = self._unit.schedule
        return max(schedule.squares[1] + schedule.timing.multiply_add, *self._unit.latency.values())

    def _first_taken(self, arrays: int) -> int:
        """The clock of the updater, from 1 on, in which the unit takes the first parameter."""

        def rises(clock: int) -> bool:
            return (self._busy + clock) % self._divider == 0

        def rises_before(clock: int) -> int:
            return self._rises + (self._busy + clock - 1) // self._divider - self._busy // self._divider

        clock = arrays + 3
        clock += rises(clock - 1)
        while not (rises(clock) and rises_before(clock) % self._unit.interval == 0):
            clock += 1
        return clock


def used_bytes(tile: Tile) -> int:
    """Bytes of a tile that are of its parameters, in whole words."""
    numbers, scaled = tile.array_bytes(tile.arrays - 1), tile.formats.of(tile.arrays - 1) is StateFormat.FP8
    return -(-tile.scale_bytes(tile.arrays - 1).stop // 4) * 4 if scaled else numbers.stop


class Step:
    """A step of tiles that lie on one channel, each with gradients of its own."""

    def __init__(
        self, random, optimizer, gradient: GradientFormat, copy: CopyFormat, formats=PLAIN,
        rounding=Rounding.NEAREST, scale: float = 1.0, values=None,
    ):  # fmt: skip
        self._random, self._scale = random, scale
        self._values = values or self._of_a_training
        geometry = replace(TINY.geometry, channels=1)
        self.tile = Tile.of(geometry, optimizer.code, gradient, copy, formats)
        self.constants = optimizer.constants(2)
        self.rounding = StepRounding(rounding, int(random.integers(1 << 48)))
        self.to_lane = TileStep(self.tile, self.constants, self.rounding)

    def _of_a_training(self, random, shape):
        *state, values = random.normal(0, 0.02, shape).astype(np.float32)
        return *np.abs(state), np.float32(self._scale) * values

    def run(self, lane: RtlUpdateLane):
        """Through a tile; its gradients and the cycles."""
        count = self.tile.parameters
        *state, values = self._values(self._random, (self.tile.arrays + 1, count))
        gradients = gradients_in(self.tile.gradient_format, values)
        layout = TileLayout(self.tile, count)
        pages = layout.state_pages(state)
        # Words of a page set that are of no parameter stay as they are.
        words, used = pages[0, :, 0].copy().reshape(-1), used_bytes(self.tile)
        words[used:] = 0xA5
        place = int(self._random.integers(1 << PLACE_BITS))
        updated = lane.update(words, layout.gradient_pages(gradients)[0, :, 0], place)
        arrays = [
            layout.state_array(number, pages[:, layout.planes_of(number)])
            for number in range(self.tile.arrays)
        ]
        new = update(self.constants, gradients, *arrays)
        bits = random_bits(self.rounding.key, np.uint64(place), count)
        is_random = self.rounding.rounding is Rounding.STOCHASTIC
        arrays = (new.w, new.m, new.v)[: self.tile.arrays]
        halves = [random_halves(bits, number) if is_random else None for number in range(len(arrays))]
        expected = words.copy()
        stored = put_tile_arrays(self.tile, expected, arrays, halves)
        assert np.array_equal(updated.tile, expected)
        copies = copy_of(copied(self.tile.formats.weight, stored[0]), self.tile.copy_format)
        if copies is None:
            assert updated.copies.size == 0
        else:
            assert np.array_equal(updated.copies[: copies.nbytes], copies.view(np.uint8))
        return gradients, updated.cycles


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


@pytest.fixture
def open_lane(seed):
    lanes = []

    def open_one(**how) -> RtlUpdateLane:
        lanes.append(RtlUpdateLane(TINY, seed=seed, **how))
        return lanes[-1]

    yield open_one
    for lane in lanes:
        lane.close()


def test_values_and_cycles(open_lane, random):
    """Steps in any order on one lane, three tiles each."""
    lane, expected = open_lane(latency=0), Cycles()
    for number in random.permutation(len(CASES)):
        step = Step(random, *CASES[number])
        assert lane.begin(step.to_lane) == expected.begin()
        for _ in range(3):
            _gradients, cycles = step.run(lane)
            assert cycles == expected.tile(step.tile, step.constants.code), CASES[number]


def test_the_tensor_buffer_takes_its_time(open_lane, random):
    step = Step(random, *CASES[0])
    at_once, later = open_lane(latency=0), open_lane(latency=60)
    assert later.begin(step.to_lane) == at_once.begin(step.to_lane) + 60
    assert step.run(later)[1] == step.run(at_once)[1] + 2 * 60


@pytest.mark.parametrize("busy_percent", [10, 80])
def test_a_busy_tensor_buffer(open_lane, random, busy_percent):
    """Words come and go irregularly, on both sides: nothing is lost, and the unit is as fast as before."""
    lane, expected = open_lane(latency=0, busy_percent=busy_percent), Cycles()
    for number in random.choice(len(CASES), 6):
        step = Step(random, *CASES[number])
        lane.begin(step.to_lane)
        expected.begin()
        gradients = []
        for _ in range(2):
            tile_gradients, cycles = step.run(lane)
            gradients.append(tile_gradients)
            assert cycles > expected.tile(step.tile, step.constants.code)
        check_statistics(lane, gradients)


@pytest.mark.parametrize("scale", [1.0, np.inf])
def test_statistics_are_of_the_step(open_lane, random, scale):
    lane = open_lane()
    for _ in range(2):
        step = Step(random, Adam(), GradientFormat.FP32, CopyFormat.NONE, scale=scale)
        lane.begin(step.to_lane)
        check_statistics(lane, [step.run(lane)[0] for _ in range(2)])


_EDGES = np.array([
    0, 1, 0x7FFFFF, 0x800000,  # zero, the subnormals at both ends, the least normal number
    0x3F800000, 0x3F808000,  # 1, and half a unit of BF16 above it
    0x7F7FFFFF, 0x7F800000, 0x7FC00000,  # the largest number, infinity, the NaN of operations
    0x7F7F7FFF, 0x7F7F8000, 0x7FA00000,  # at the overflow of BF16; a signalling NaN
], np.uint32)  # fmt: skip
EDGES = np.concatenate([_EDGES, _EDGES | 0x80000000, _EDGES[1:] - 1, _EDGES[:-1] + 1]).astype(np.uint32)


def any_values(random, shape):
    """A third each: any bits; numbers of any size; numbers at which something changes, and neighbours."""
    bits = random.integers(0, 1 << 32, shape, np.uint64).astype(np.uint32)
    sizes = np.ldexp(random.normal(size=shape), random.integers(-60, 10, shape)).astype(np.float32)
    choice = random.integers(0, 3, shape)
    return np.choose(choice, [bits, sizes.view(np.uint32), random.choice(EDGES, shape)]).view(np.float32)


FORMATS = [
    *((formats, rounding) for formats in NARROW for rounding in Rounding),
    (PLAIN, Rounding.NEAREST),
]


@pytest.mark.parametrize(("formats", "rounding"), FORMATS)
def test_any_values(open_lane, random, request, formats, rounding):
    """The optimizers of training runs in turn; with `--long N` of so many parameters."""
    lane, left = open_lane(latency=0), max(600, request.config.getoption("--long"))
    optimizers = cycle(each for each in OPTIMIZERS.values() if has(each.code, formats))
    while left > 0:
        # Gradients have at most as many pages as the state, which of SGD is the weight alone.
        wide = formats.weight is not StateFormat.BF16
        widest = GradientFormat.FP32 if wide else GradientFormat.BF16
        gradient = (GradientFormat.BF16, GradientFormat.FP16, widest)[random.integers(3)]
        copy = (CopyFormat.NONE, CopyFormat.BF16)[random.integers(2)]
        step = Step(random, next(optimizers), gradient, copy, formats, rounding, values=any_values)
        lane.begin(step.to_lane)
        for _ in range(5):
            step.run(lane)
            left -= step.tile.parameters


def check_statistics(lane, gradients):
    s = UpdateStatistics
    found = int.from_bytes(lane.statistics(), "little")
    # Each tile begins with the first sum.
    filled = [np.pad(tile, (0, -len(tile) % len(s.squares))) for tile in gradients]
    expected = statistics(np.concatenate(filled))
    assert s.tiles.get(found) == len(gradients)
    assert (s.nans.get(found), s.infinities.get(found)) == (expected.nans, expected.infinities)
    assert s.largest.get(found) == int(expected.largest.view(np.uint32))
    squares = [int(square.view(np.uint32)) for square in expected.squares]
    assert [field.get(found) for field in s.squares] == squares


def test_orders_that_cannot_be_done(open_lane, random):
    lane, step = open_lane(), Step(random, *CASES[0])
    tile, gradients = (np.zeros(size, np.uint8) for size in (TINY.geometry.page_set_bytes, 512))
    with pytest.raises(LaneError, match="a tile before a step"):
        lane.update(tile, gradients)
    lane.begin(step.to_lane)
    with pytest.raises(ConfigError, match=r"tile\.nbytes is 512; expected 1024"):
        lane.update(gradients, gradients)
    with pytest.raises(LaneError, match=r"TILE with 129 words in and 128 out was not done"):
        lane.update(tile, gradients[:8])
    with pytest.raises(ConfigError, match=r"lane\.busy_percent is 100"):
        open_lane(busy_percent=100)


@pytest.mark.parametrize("name", ["tiny", "tiny_ecc"])
def test_cells_that_err_make_no_difference(name):
    assert UpdateLane(preset(name)).config.code is None
    assert UpdateLane(preset(name)).config.geometry == preset(name).geometry


def test_lint():
    lint(elaborated(lambda: UpdateLane(TINY), "update_lane", TINY), "update_lane")
