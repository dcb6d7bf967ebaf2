"""Small optimizer state: its generations lie behind each other, and an erase is paid once for many steps."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import ForeignGeneration, FunctionalLink, TensorGroup, open_device
from flashtrain.host.state import generation_places
from flashtrain.host.state.optimizer_state import OptimizerState
from flashtrain.spec import preset
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.state_format import Rounding, StateFormat, StateFormats
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import Adam

ADAM = Adam(0.01)
NAMES = ("state_a", "state_b", "state_c")
TINY, SMALL = preset("tiny"), preset("small")
BF16, FP8 = StateFormat.BF16, StateFormat.FP8


def link_of(config):
    return FunctionalLink(config, 1 << 21)


def opened(link, **options):
    return open_device(link=link, node=UPDATE_NODE, **options)


def parameters_of(config, pages):
    """The parameters of a state that takes so many pages of each die, the last one in part."""
    g = config.geometry
    row = g.page_set_bytes // 12 * g.channels
    return (pages - 1) * g.dies * row + row // 2


class Training:
    """Steps of Adam on the dies, beside those of NumPy."""

    def __init__(self, device, size, draw, **group):
        self.random = np.random.default_rng(draw)
        self.w = self.random.standard_normal(size).astype(np.float32)
        self.group = TensorGroup(OptimizerCode.ADAM, ((size,),), **group)
        self.arrays = ADAM.initial_state(self.w)
        self.steps = 0
        self.state = device.optimizer_state([self.group])
        self.state.initialise([[self.w]])

    def update(self):
        """An update that is neither committed nor skipped; returns what NumPy makes of it."""
        gradient = self.random.standard_normal(self.w.shape).astype(np.float32)
        self.state.update([[gradient]], [ADAM.constants(self.steps + 1)])
        return ADAM.step(self.w, gradient, self.arrays, self.steps + 1)

    def step(self, **options):
        w, arrays = self.update()
        generation = self.state.commit(**options)
        self.w, self.arrays, self.steps = w, arrays, self.steps + 1
        return generation

    def check(self, state=None):
        state = self.state if state is None else state
        assert state.current.updates == self.steps
        for array, expected in ((Input.W, self.w), (Input.M, self.arrays["m"]), (Input.V, self.arrays["v"])):
            assert state.read(array)[0][0].tobytes() == expected.tobytes()


def resets(device):
    return sum(device.state_stream(name).generation for name in NAMES)


@pytest.mark.parametrize("config", [TINY, SMALL], ids=lambda config: config.name)
def test_a_stream_is_reset_when_its_zone_is_full(config, seed):
    with opened(link_of(config)) as device:
        training = Training(device, parameters_of(config, 1), seed)
        places = config.geometry.pages  # of a state of one page in a zone
        for number in range(1, 2 * places + 3):
            generation = training.step()
            assert (generation.stream, generation.page) == (NAMES[number % 2], number // 2 % places)
            if number % 5 == 0 or generation.page in (0, places - 1):
                training.check()
        assert resets(device) == 2


def test_erases_of_a_state_of_a_sixteenth_of_a_zone(seed):
    """One in sixteen steps, where a larger state has one in each."""
    with opened(link_of(SMALL)) as device:
        training = Training(device, parameters_of(SMALL, SMALL.geometry.pages // 16), seed)
        steps = 64
        before = sum(device.zone_wear())
        for _ in range(steps):
            training.step()
        training.check()
        assert resets(device) == steps // 16
        journal = 2  # its records of 64 steps fill no zone
        assert sum(device.zone_wear()) - before <= steps // 16 + journal


@pytest.mark.parametrize("pages", [3, 4, 6])
def test_states_of_half_a_zone_and_more(pages, seed):
    """Two places in a zone of six pages, or one: then every step resets the source."""
    with opened(link_of(TINY)) as device:
        training = Training(device, parameters_of(TINY, pages), seed)
        for _ in range(8):
            training.step()
            training.check()
        assert resets(device) == (4 if pages == 3 else 8)


def test_skips_take_places_and_no_reset(seed):
    with opened(link_of(TINY)) as device:
        training = Training(device, parameters_of(TINY, 1), seed)
        training.step()
        for _ in range(4):
            training.update()
            training.state.skip()
            training.check()
        assert resets(device) == 0
        training.update()
        training.state.skip()  # the sixth page: no room is left behind it
        assert resets(device) == 1
        training.check()
        training.step()
        training.check()


def test_pins_renewals_and_reverts_between_steps(seed):
    with opened(link_of(TINY)) as device:
        training = Training(device, parameters_of(TINY, 2), seed)
        state = training.state
        training.step()
        pinned, kept = training.step(pin=True), (training.w, training.arrays, training.steps)
        for number in range(7):
            training.step()
            if number == 3:
                assert state.renew().page == state.current.page
            training.check()
        assert state.read(Input.W, pinned)[0][0].tobytes() == kept[0].tobytes()
        copy = state.revert(pinned)
        training.w, training.arrays, training.steps = kept
        training.check()
        assert copy.stream != pinned.stream
        state.release(pinned)  # which has room behind it
        for _ in range(5):
            training.step()
            training.check()


def test_padding_up_to_all_dies(seed):
    """A row on the first die alone gets one of zeros on the second, which leaves results as they are."""
    with opened(link_of(SMALL)) as device:
        training = Training(device, 100, seed)
        state, g = training.state, SMALL.geometry
        assert state.rows(0) == g.dies
        training.step()
        training.step()
        training.check()
        assert state.current.page == 1
        rows = state.locate_rows(0, range(1, g.dies))
        assert not device.stream(state.current.stream).read(rows)[:, : g.planes - 1].any()
        assert state.statistics[0][g.channels].largest == 0


@pytest.mark.parametrize("orderly", [True, False])
def test_recovery_finds_the_place(orderly, seed):
    """After an orderly end generations follow behind the last one; after a loss of power its zone is full."""
    link = link_of(TINY)
    device = opened(link)
    training = Training(device, parameters_of(TINY, 1), seed)
    for _ in range(5):
        training.step()
    training.update()
    if orderly:
        training.state.skip()
        device.shutdown()
        device.recover()
    else:
        link.power_cycle()
        device = opened(link, recover=True)
    training.state = device.optimizer_state([training.group], recovered=True)
    assert (training.state.current.stream, training.state.current.page) == ("state_b", 2)
    training.check()
    assert training.step().page == 0
    assert training.step().page == (3 if orderly else 0)
    training.check()


def test_state_of_an_earlier_version(seed, monkeypatch):
    """It has no padding and begins at page 0. It goes on so, until it is initialised anew."""
    link = link_of(SMALL)
    device = opened(link)
    with monkeypatch.context() as earlier:
        earlier.setattr(generation_places, "fits_twice", lambda *_: False)
        training = Training(device, 100, seed)
        training.step()
        assert training.state.rows(0) == 1
    device.shutdown()
    device.recover()
    training.state = state = device.optimizer_state([training.group], recovered=True)
    for _ in range(4):
        assert training.step().page == 0
        training.check()
    assert state.rows(0) == 1
    again = Training(device, 100, seed)
    again.step()
    assert again.step().page == 1


def test_another_user_of_the_streams(seed):
    """What that one has dropped without a reset is noticed."""
    with opened(link_of(TINY)) as device:
        training = Training(device, parameters_of(TINY, 1), seed)
        generation = training.step()
        other = device.optimizer_state([training.group], recovered=True)
        gradient = np.ones_like(training.w)
        for step in (2, 3):
            other.update([[gradient]], [ADAM.constants(step)])
            other.commit()
        with pytest.raises(ForeignGeneration, match="dropped by another user of stream 'state_b'"):
            training.state.read(Input.W, generation)
        with pytest.raises(ForeignGeneration, match="dropped by another user"):
            training.update()


def test_a_zone_is_left_when_it_is_old(seed):
    """A zone is as old as its first page; after a twentieth of the class it takes no more generations."""
    link = link_of(TINY)
    with opened(link) as device:
        training = Training(device, parameters_of(TINY, 1), seed)
        filling = device.state_stream("state_a").table.retention.filling
        training.step()
        link.pass_time(filling - 1)
        assert training.step().page == 1 and resets(device) == 0
        link.pass_time(1)
        assert training.step().page == 1 and resets(device) == 1
        assert training.step().page == 0
        training.check()


@pytest.mark.parametrize(
    "formats", [StateFormats(moments=BF16), StateFormats(BF16, BF16), StateFormats(BF16, FP8)]
)
def test_random_bits_do_not_depend_on_the_place(formats, seed):
    """Steps from page to page, and the same steps each from page 0."""
    group = {"formats": formats, "rounding": Rounding.STOCHASTIC, "seed": seed}
    config = replace(SMALL, fp8_state=True)
    found = []
    for leave in (False, True):
        with opened(link_of(config)) as device:
            training = Training(device, parameters_of(SMALL, 2), seed, **group)
            for _ in range(5):
                training.step()
                if leave:
                    refill(training.state)
            found.append([training.state.read(array)[0][0].tobytes() for array in Input if array in STORED])
            assert training.state.current.page == (0 if leave else 2)
    assert found[0] == found[1]


STORED = (Input.W, Input.M, Input.V)


def refill(state: OptimizerState) -> None:
    """The same state at page 0 of its streams."""
    arrays = [state.read(array) for array in STORED]
    updates = state.current.updates
    state.initialise(*arrays, updates=updates)
