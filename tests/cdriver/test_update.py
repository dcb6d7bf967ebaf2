"""Optimizer steps by the C driver: the same bits as those of the Python driver, and the same journal."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, TensorGroup, open_device
from flashtrain.numerics import Constants
from flashtrain.numerics.state_format import step_key
from flashtrain.spec import ConfigError, Port, Status, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input, OptimizerCode
from flashtrain.spec.state_format import Rounding, StateFormat, StateFormats
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.spec.update import Tile as SpecTile
from flashtrain.training.optimizers import Adam

from .driver import CDriver, DriverError, Error, Request
from .library import Commit, Statistics, Step, Tile

TINY = replace(preset("tiny"), fp8_state=True)
CORE = Port.CORE
A, B, C = 5, 6, 7
PARAMETERS = 700
GROUP = TensorGroup(OptimizerCode.ADAM, ((PARAMETERS,),), GradientFormat.FP16, CopyFormat.BF16)
BF16, FP8, SPLIT = StateFormat.BF16, StateFormat.FP8, StateFormat.SPLIT
NARROW = [
    replace(GROUP, formats=StateFormats(moments=BF16)),
    replace(GROUP, formats=StateFormats(moments=BF16), rounding=Rounding.STOCHASTIC, seed=3),
    replace(GROUP, formats=StateFormats(BF16, BF16), rounding=Rounding.STOCHASTIC, seed=(1 << 64) - 1),
    replace(GROUP, formats=StateFormats(BF16)),
    replace(GROUP, formats=StateFormats(moments=FP8)),
    replace(GROUP, formats=StateFormats(BF16, FP8), rounding=Rounding.STOCHASTIC, seed=4),
    replace(GROUP, formats=StateFormats(SPLIT, BF16), rounding=Rounding.STOCHASTIC, seed=5),
]


def gradients(step):
    return np.random.default_rng(step).standard_normal(PARAMETERS).astype(np.float16)


def weights():
    return np.random.default_rng(99).standard_normal(PARAMETERS).astype(np.float32)


class State:
    """Optimizer state that the C driver keeps, in the layout of the Python driver.

    ring: generations lie behind each other; a stream is reset when it has no room for another one.
    """

    def __init__(self, driver: CDriver, group: TensorGroup = GROUP, ring: bool = False) -> None:
        self.driver, self.group, self.ring = driver, group, ring
        self.parameters = group.shapes[0][0]
        self.layout = group.layout(TINY.geometry)
        self.current, self.next, self.updates = A, B, 0
        self.page = dict.fromkeys((A, B, C), 0)  # where the last generation of each stream begins
        self.taken = dict.fromkeys((A, B, C), 0)
        self.tile = Tile()

    def has_room(self, nsid: int) -> bool:
        return self.ring and self.taken[nsid] + self.layout.rows <= TINY.geometry.pages

    @staticmethod
    def adam(step: int) -> Constants:
        return Adam(0.01).constants(step)

    def initialise(self):
        zeros = np.zeros(self.parameters, np.float32)
        for row in self.layout.state_pages([weights()[: self.parameters], zeros, zeros]):
            self.driver.append(CORE, self.current, 0, row)
        self.taken[self.current] = self.layout.rows
        self.driver.do("ft_declare_committed", self.current, Commit())

    def step(self, note=b"", **fields):
        """An update with its commit; returns the copies and the statistics."""
        driver, layout, group = self.driver, self.layout, self.group
        self.updates += 1
        constants = self.adam(self.updates).words
        key = step_key(group.seed, self.updates, 0) if group.rounding else 0
        source, page = self.page[self.current], self.taken[self.next]
        step = Step(group.code, group.gradient_format, group.copy_format, group.formats.weight,
                    group.formats.moments, group.rounding, key, page,
                    (ctypes.c_uint32 * 8)(*map(int, constants)))  # fmt: skip
        driver.do("ft_tile_of", step, self.tile)
        assert self.tile.parameters == layout.tile.parameters
        assert (self.tile.gradient_pages, self.tile.copy_pages) == (
            layout.tile.gradient_pages, layout.tile.copy_pages,
        )  # fmt: skip
        driver.do("ft_set_constants", CORE, self.next, step, driver.data)
        pages = layout.gradient_pages(gradients(self.updates)[: self.parameters])
        address = driver.put(pages)
        rows = layout.rows
        # The first row alone, the others in flight together.
        lba, row_bytes = ctypes.c_uint64(), pages[0].nbytes
        row_blocks = TINY.geometry.channels * TINY.geometry.planes
        driver.do("ft_update", CORE, self.next, self.current, 0, source, self.tile, 1, address, lba)
        assert lba.value == page * row_blocks  # a row has all dies
        requests = [Request() for _ in range(rows - 1)]
        for row, request in enumerate(requests, 1):
            driver.do("ft_submit_update", request, CORE, self.next, self.current, 0, source + row, self.tile,
                      1, address + row * row_bytes)  # fmt: skip
        for row, request in enumerate(requests, 1):
            driver.do("ft_wait", request)
            assert request.result == (page + row) * row_blocks
        copied = driver.view(pages.nbytes // TINY.geometry.page_bytes).copy().reshape(pages.shape)
        copies = layout.copies(copied[:, : layout.tile.copy_pages])
        dies = TINY.geometry.channels * TINY.geometry.dies
        statistics = (Statistics * dies)()
        driver.do("ft_get_statistics", CORE, self.next, driver.data, statistics, dies)
        keep = self.has_room(self.current)
        commit = {"updates": self.updates, "page": page, "keep": keep, **fields}
        driver.commit(CORE, self.next, self.current, note, **commit)
        self.page[self.next], self.taken[self.next] = page, page + rows
        if not keep:
            self.taken[self.current] = 0
        self.current, self.next = self.next, self.current
        return copies, list(statistics)


def reference_of(group: TensorGroup):
    device = open_device(TINY, FunctionalLink, UPDATE_NODE, memory_bytes=1 << 18)
    state = device.optimizer_state([group], streams=("state_a", "state_b"))
    state.initialise([[weights()[: group.shapes[0][0]]]])
    return state


def bits(vector):
    return np.asarray(vector).view(np.uint16 if vector.itemsize == 2 else np.uint32)


@pytest.mark.parametrize("group", [GROUP, *NARROW])
def test_steps_have_the_bits_of_the_python_driver(driver, link, group):
    state, reference = State(driver, group), reference_of(group)
    state.initialise()
    for number in range(1, 5):
        copies, statistics = state.step()
        (expected,) = reference.update([[gradients(number)]], [State.adam(number)])
        reference.commit()
        assert np.array_equal(bits(copies), bits(expected[0]))
        for ours, theirs in zip(statistics, reference.statistics[0], strict=True):
            assert (ours.nans, ours.infinities) == (theirs.nans, theirs.infinities)
            assert ours.largest == int(theirs.largest.view(np.uint32))
            assert list(ours.squares) == [int(square.view(np.uint32)) for square in theirs.squares]
    link.power_cycle()
    with open_device(link=link, node=UPDATE_NODE, recover=True) as device:
        attached = device.optimizer_state([group], ("state_a", "state_b"), recovered=True)
        for array in (Input.W, Input.M, Input.V):
            ours, theirs = attached.read(array)[0][0], reference.read(array)[0][0]
            assert np.array_equal(bits(ours), bits(theirs))
        assert device._journal.entry(state.current).updates == 4


SMALL = replace(GROUP, shapes=((150,),))


@pytest.mark.parametrize("group", [SMALL, replace(NARROW[2], shapes=((150,),))], ids=["plain", "stochastic"])
def test_small_states_behind_each_other(driver, link, group):
    """As in the Python driver, to the place and to the bit; each stream is reset after six generations."""
    state, reference = State(driver, group, ring=True), reference_of(group)
    state.initialise()
    assert state.layout.rows == 1
    for number in range(1, 16):
        copies, _ = state.step()
        (expected,) = reference.update([[gradients(number)[:150]]], [State.adam(number)])
        current = reference.commit()
        assert np.array_equal(bits(copies), bits(expected[0]))
        assert state.page[state.current] == current.page == number // 2 % 6
        entry, _ = driver.entry(state.current)
        assert (entry.page, entry.generation, entry.updates) == (current.page, current.number, number)
    assert [driver.entry(nsid)[0].generation for nsid in (A, B)] == [1, 1]
    link.power_cycle()
    with open_device(link=link, node=UPDATE_NODE, recover=True) as device:
        attached = device.optimizer_state([group], ("state_a", "state_b"), recovered=True)
        assert attached.current.page == reference.current.page == 1
        for array in (Input.W, Input.M, Input.V):
            ours, theirs = attached.read(array)[0][0], reference.read(array)[0][0]
            assert np.array_equal(bits(ours), bits(theirs))
        attached.update([[gradients(16)[:150]]], [State.adam(16)])
        attached.commit()
        device.shutdown()
    reference.update([[gradients(16)[:150]]], [State.adam(16)])
    reference.commit()
    driver = CDriver(link)
    driver.recover()
    nsid, page = (A, 0) if attached.current.stream == "state_a" else (B, attached.current.page)
    entry, _ = driver.entry(nsid)
    assert (entry.updates, entry.page) == (16, attached.current.page)
    first = page * TINY.geometry.channels * TINY.geometry.planes
    w = state.layout.planes_of(0)
    stored = driver.read(CORE, nsid, first + w.start * 2, len(w) * 2)
    weight = state.layout.state_array(0, stored.reshape(1, len(w), 2, -1))
    assert np.array_equal(bits(weight), bits(reference.read(Input.W)[0][0]))


@pytest.mark.parametrize("code", OptimizerCode)
@pytest.mark.parametrize("weight", StateFormat)
@pytest.mark.parametrize("moments", StateFormat)
def test_tiles_are_those_of_the_contract(driver, code, weight, moments):
    """Of every optimizer in every format, or refused as there."""
    tile = Tile()
    step = Step(code, GradientFormat.BF16, CopyFormat.BF16, weight, moments)
    try:
        formats = StateFormats(weight, moments)
        expected = SpecTile.of(TINY.geometry, code, GradientFormat.BF16, CopyFormat.BF16, formats)
    except ConfigError:
        with pytest.raises(DriverError):
            driver.do("ft_tile_of", step, tile)
        return
    driver.do("ft_tile_of", step, tile)
    assert (tile.parameters, tile.gradient_pages, tile.copy_pages) == (
        expected.parameters, expected.gradient_pages, expected.copy_pages,
    )  # fmt: skip


def test_a_device_without_fp8_refuses_it():
    with FunctionalLink(preset("tiny"), 1 << 18) as link:
        driver = CDriver(link)
        step = Step(OptimizerCode.ADAM, GradientFormat.BF16, CopyFormat.BF16, BF16, FP8)
        with pytest.raises(DriverError) as raised:
            driver.do("ft_tile_of", step, Tile())
        assert raised.value.error is Error.ARGUMENT


def test_an_update_without_commit_is_dropped(driver, link):
    state = State(driver)
    state.initialise()
    state.step(b"first")
    before = driver.read(CORE, state.current, 0, 4)
    with pytest.raises(DriverError):
        driver.do("ft_commit", CORE, state.next, state.current, Commit())  # nothing was updated
    step = Step(GROUP.code, GROUP.gradient_format, GROUP.copy_format)
    driver.do("ft_set_constants", CORE, state.next, step, driver.data)
    driver.do("ft_update", CORE, state.next, state.current, 0, 0, state.tile, 1, driver.data, None)
    with pytest.raises(DriverError) as raised:
        driver.read(CORE, state.next, 0, 1)
    assert raised.value.status == Status.NAMESPACE_NOT_READY
    link.power_cycle()
    driver = CDriver(link)
    report = driver.recover()
    assert report.blocks[state.next - 1] == 0
    entry, note = driver.entry(state.current)
    assert (entry.updates, note) == (1, b"first")
    assert np.array_equal(driver.read(CORE, state.current, 0, 4), before)


def test_a_pinned_generation_is_kept_and_released(driver, link):
    state = State(driver)
    state.initialise()
    state.step(b"pinned", pin=True)
    kept = driver.read(CORE, B, 0, 4)
    state.next = C
    state.step(b"next")  # the source is pinned, and stays
    assert np.array_equal(driver.read(CORE, B, 0, 4), kept)
    link.power_cycle()
    driver = state.driver = CDriver(link)
    driver.recover()
    assert [driver.entry(nsid)[1] for nsid in (A, B, C)] == [b"", b"pinned", b"next"]
    assert np.array_equal(driver.read(CORE, B, 0, 4), kept)
    state.next = A
    state.step(b"last", release=B)
    link.power_cycle()
    driver = CDriver(link)
    report = driver.recover()
    assert [report.blocks[nsid - 1] > 0 for nsid in (A, B, C)] == [True, False, False]
    assert not driver.entry(B)[0].pinned and driver.entry(A)[1] == b"last"


def test_a_note_that_is_too_long_changes_nothing(driver):
    state = State(driver)
    state.initialise()
    with pytest.raises(DriverError) as raised:
        state.step(bytes(257))
    assert raised.value.error is Error.NOTE_TOO_LONG
    assert (driver.entry(A)[0].commit, driver.entry(B)[0].commit) == (1, 0)
    driver.commit(CORE, B, A, updates=1)
    assert driver.entry(B)[0].updates == 1
