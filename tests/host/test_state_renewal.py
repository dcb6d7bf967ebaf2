"""Optimizer state that the dies cannot read any more: it is renewed if a READ still can.

Here generations are told to be old: their updates fail, and their pages count as read again.
"""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import (
    FunctionalLink,
    GenerationPinned,
    StateLost,
    StreamFull,
    TensorGroup,
    UpdatePending,
    open_device,
)
from flashtrain.host.functional.executor import Executor
from flashtrain.host.queues.command_errors import MediaError, ZoneReadOnly
from flashtrain.host.state.optimizer_state import ATTEMPTS
from flashtrain.spec import NodeTable, Opcode, Persistency, Port, Status, ZoneState
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.presets import TINY
from flashtrain.spec.registers import ChannelCounter, channel_counter_register
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.flash_optimizer import FlashOptimizer
from flashtrain.training.optimizers import SGD, Adam

ADAM = Adam(0.01)
SHAPES = ((30, 20), (7,), (893,))  # in two zones of `tiny`
GROUPS = [TensorGroup(OptimizerCode.ADAM, SHAPES), TensorGroup(OptimizerCode.SGD, ((50,), (3,)))]
NAMES = ("state_a", "state_b", "trained")


class AgeingLink(FunctionalLink):
    """Generations in `old` can be read at lower levels only, by NSID and number; `asked`: commands so far."""

    def __init__(self):
        super().__init__(TINY, 1 << 18)
        self.old: set[tuple[int, int]] = set()
        self.fails = 0  # programs of so many updates
        self.retried = 0
        self.asked: list[Opcode] = []

    def _channel_counter(self, address):
        retried = address == channel_counter_register(ChannelCounter.PAGES_RETRIED)
        return self.retried if retried else super()._channel_counter(address)


@pytest.fixture
def link(monkeypatch):
    opened = AgeingLink()
    update, read, execute = Executor._update, Executor._read, Executor._execute

    def failing_update(self, request, content, index, source):
        status, result = update(self, request, content, index, source)
        if not status and (request.source, source.generation) in opened.old:
            return Status.WRITE_FAULT, 0
        if not status and opened.fails:
            opened.fails -= 1
            return Status.WRITE_FAULT, 0
        return status, result

    def counting_read(self, request, content, index, offset):
        opened.retried += (request.nsid, content.generation) in opened.old
        return read(self, request, content, index, offset)

    def noted(self, request, content):
        opened.asked.append(Opcode(request.opcode))
        return execute(self, request, content)

    monkeypatch.setattr(Executor, "_update", failing_update)
    monkeypatch.setattr(Executor, "_read", counting_read)
    monkeypatch.setattr(Executor, "_execute", noted)
    with opened:
        yield opened


@pytest.fixture
def given(seed):
    random = np.random.default_rng(seed)

    def tensors():
        return [
            [np.asarray(random.standard_normal(shape), np.float32) for shape in group.shapes]
            for group in GROUPS
        ]

    return tensors(), tensors()


def initialised(device, given, streams=NAMES[:2]):
    state = device.optimizer_state(GROUPS, streams)
    state.initialise(given[0])
    return state


def age(link, device, state):
    link.old.add((device.stream(state.current.stream).nsid, state.current.number))


def step(state, given):
    state.update(given[1], [ADAM.constants(1), SGD(0.5).constants(1)])


def read_all(state):
    adam_only = [state.read_group(array, 0) for array in (Input.M, Input.V)]
    return [tensor.tobytes() for group in (*state.read(Input.W), *adam_only) for tensor in group]


@pytest.fixture
def expected(given):
    """All state after one step, as a device without errors computes it."""
    with open_device("tiny", node=UPDATE_NODE) as device:
        state = initialised(device, given)
        step(state, given)
        state.commit()
        return read_all(state)


def test_a_step_that_would_be_stuck(link, device, given, expected):
    state = initialised(device, given)
    age(link, device, state)
    step(state, given)
    assert state.renewals == 1
    renewed = state.current
    assert (renewed.stream, renewed.updates) == ("state_b", 0)
    assert state.commit().updates == 1 and state.current.stream == "state_a"
    assert read_all(state) == expected
    step(state, given)
    assert state.renewals == 1


def test_a_renewal_changes_nothing_but_the_place(link, device, given):
    state = initialised(device, given)
    before, old = read_all(state), state.current
    new = state.renew()
    assert new == state.current != old and (new.stream, new.updates) == ("state_b", 0)
    assert read_all(state) == before
    assert all(zone.state is ZoneState.EMPTY for zone in device.stream("state_a").report())

    def rooms_left():
        reports = (device.stream(name).report() for name in NAMES[:2])
        return [[zone.room for zone in report] for report in reports]

    rooms = rooms_left()
    state.renew()
    assert read_all(state) == before
    assert rooms[::-1] == rooms_left()


def test_state_that_is_as_new_is_not_renewed(link, device, given, expected):
    """It is the programs that fail: the controller has no trouble with the state."""
    state = initialised(device, given)
    link.fails = ATTEMPTS - 1
    appends = link.asked.count(Opcode.WRITE)
    step(state, given)
    state.commit()
    assert state.renewals == 0 and link.asked.count(Opcode.WRITE) == appends
    assert read_all(state) == expected


def test_one_failure_is_no_reason_to_read_the_state(link, device, given):
    state = initialised(device, given)
    link.fails, link.asked = 1, []
    step(state, given)
    assert Opcode.READ not in link.asked


def test_a_report_tells_of_a_renewal(link, device):
    w = np.ones(60, np.float32)
    flash = FlashOptimizer([w], SGD(0.5), device)
    assert not flash.step([np.ones(60, np.float32)]).renewed
    age(link, device, flash._state)
    assert flash.step([np.ones(60, np.float32)]).renewed
    assert np.array_equal(w, np.zeros(60, np.float32)) and flash.steps == 2
    age(link, device, flash._state)
    assert flash.step([np.full(60, np.inf, np.float32)]).renewed, "also of a step that was skipped"
    assert flash.step([np.ones(60, np.float32)], max_norm=1.0).renewed is False


def lose(device, stream, *blocks):
    """These blocks of a stream are gone, counted without the gaps between zones."""
    capacity, first = device.config.geometry.zone_capacity, device._zones[device.stream(stream).nsid].start
    for number in blocks:
        zone, offset = divmod(number, capacity)
        for physical in device.link._flash.zones:
            page = physical[offset] if offset < len(physical) else None
            if page is not None and page.owner is not None and page.owner.zone == first + zone:
                physical[offset] = page._replace(owner=None)


def test_state_that_is_lost_is_named(link, device, given):
    g = device.config.geometry
    state = initialised(device, given)
    age(link, device, state)
    before, pages = state.current, g.channels * g.planes
    # The second row of channel 0: parameters 170 to 254 of the first group, w and some of m.
    lose(device, "state_a", pages)
    with pytest.raises(StateLost, match=r"READ of 1 blocks .* 'state_a' .* UNRECOVERED_READ_ERROR") as caught:
        step(state, given)
    assert isinstance(caught.value, MediaError)
    assert caught.value.lost == ("W of tensor 0 of group 0", "M of tensor 0 of group 0")
    assert str(caught.value).endswith("are lost of W of tensor 0 of group 0, M of tensor 0 of group 0")
    last = state._placed[1].first_row * pages
    lose(device, "state_a", pages + g.channels, last, last + 1, last + g.channels)
    with pytest.raises(StateLost, match=r"V of tensor 0 of group 0, W .* and 2 more") as caught:
        step(state, given)
    assert set(caught.value.lost[-3:]) == {
        "W of tensor 0 of group 1", "W of tensor 1 of group 1", "the padding of group 1"
    }  # fmt: skip
    assert state.current == before and state.renewals == 0
    with pytest.raises(StateLost):
        state.renew()
    assert state.current == before
    assert all(zone.state is ZoneState.EMPTY for zone in device.stream("state_b").report())


def test_a_renewal_that_cannot_be_written(link, device, given):
    state = initialised(device, given)
    age(link, device, state)
    device.stream("state_b").retire_zone(1, ZoneState.READ_ONLY)
    before, content = state.current, read_all(state)
    with pytest.raises(ZoneReadOnly):
        state.renew()
    assert state.current == before and read_all(state) == content


def test_renewal_beside_an_update(device, given):
    state = initialised(device, given)
    step(state, given)
    with pytest.raises(UpdatePending, match="renewal while an update is neither"):
        state.renew()
    state.skip()
    state.renew()


def test_too_few_streams_beside_a_pinned_generation(link, device, given, expected):
    """The renewed generation would take the place of the next one."""
    state = initialised(device, given)
    pinned = state.pin()
    age(link, device, state)
    for attempt in (state.renew, lambda: step(state, given)):
        with pytest.raises(GenerationPinned, match="'state_a' is pinned; a generation beside the"):
            attempt()
    assert state.current == pinned and state.renewals == 0
    state.release(pinned)
    step(state, given)
    state.commit()
    assert read_all(state) == expected


@pytest.mark.parametrize("cut", [False, True])
def test_a_third_stream_beside_a_pinned_generation(link, device, given, expected, cut):
    state = initialised(device, given, NAMES)
    before, pinned = read_all(state), state.pin()
    age(link, device, state)
    state.renew()
    assert state.current.stream == "state_b" and state.pinned == (pinned,)
    if cut:
        link.power_cycle()
        device.recover()
        state = device.optimizer_state(GROUPS, NAMES, recovered=True)
        (pinned,) = state.pinned
        assert (state.current.stream, pinned.stream) == ("state_b", "state_a")
    assert state.read(Input.W, pinned)[0][0].tobytes() == given[0][0][0].tobytes()
    assert read_all(state) == before
    step(state, given)
    assert state.commit().stream == "trained"
    assert read_all(state) == expected
    state.release(pinned)
    state.renew()
    assert read_all(state) == expected


@pytest.mark.parametrize("journal", [True, False])
@pytest.mark.parametrize("persistency", Persistency)
def test_any_kind_of_stream(link, given, expected, persistency, journal):
    streams = (
        replace(one, persistency=persistency) if one.name in NAMES else one
        for one in UPDATE_NODE.streams
        if journal or one is not UPDATE_NODE.journal
    )
    with open_device(link=link, node=NodeTable("other", tuple(streams))) as device:
        state = initialised(device, given)
        link.asked = []
        age(link, device, state)
        step(state, given)
        state.commit()
        assert read_all(state) == expected and state.renewals == 1
        assert (Opcode.FLUSH in link.asked) == (persistency is Persistency.VOLATILE)


def test_a_renewed_generation_outlasts_a_loss_of_power(link, device, given):
    state = initialised(device, given)
    before = read_all(state)
    state.renew()
    link.power_cycle()
    device.recover()
    state = device.optimizer_state(GROUPS, recovered=True)
    assert (state.current.stream, state.current.updates) == ("state_b", 0)
    assert read_all(state) == before


class PowerFailed(Exception):
    pass


def test_power_fails_after_any_command_of_a_renewal(link, given, expected, monkeypatch):
    """The generation is the old one or the renewed one, and a step can be taken from it."""
    execute, left = Executor._execute, [-1]

    def failing(self, request, content):
        if left[0] == 0:
            raise PowerFailed
        left[0] -= 1
        return execute(self, request, content)

    monkeypatch.setattr(Executor, "_execute", failing)
    found = []
    for commands in range(1000):
        with open_device(link=link, node=UPDATE_NODE) as device:
            state = initialised(device, given)
            before = read_all(state)
            left[0] = commands
            try:
                state.renew()
                break
            except PowerFailed:
                left[0] = -1
            link.power_cycle()
            device.recover()
            state = device.optimizer_state(GROUPS, recovered=True)
            assert read_all(state) == before and state.current.updates == 0
            found.append(state.current.stream)
            step(state, given)
            state.commit()
            assert read_all(state) == expected
    assert found == sorted(found) and set(found) == {"state_a", "state_b"}


def test_a_renewal_needs_room_in_the_tensor_buffer(link, device, given):
    state = initialised(device, given)
    before = read_all(state)
    taken = device.buffer(device.buffer_free_bytes, np.uint8)
    with pytest.raises(MemoryError):
        state.renew()
    del taken
    assert read_all(state) == before
    state.renew()
    assert read_all(state) == before


def test_an_attached_state_leaves_what_is_empty_alone(link, device, given):
    state = initialised(device, given)
    with pytest.raises(StreamFull):
        device.stream("inputs", Port.HOST).append(np.zeros(1 << 20, np.uint8))
    link.power_cycle()
    device.recover()
    link.asked = []
    state = device.optimizer_state(GROUPS, recovered=True)
    assert Opcode.STREAM_RESET not in link.asked and state.current.stream == "state_a"
