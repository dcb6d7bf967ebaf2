"""Notes and pins in the journal: what a loss of power leaves of them, on the functional Link."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import (
    AccessDenied,
    ForeignGeneration,
    JournalMissing,
    NoteTooLong,
    TensorGroup,
)
from flashtrain.spec import Port
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import SGD

GROUP = TensorGroup(OptimizerCode.SGD, ((900,),))
JOURNAL = UPDATE_NODE.named("journal").nsid


@pytest.fixture
def state(device):
    made = device.optimizer_state([GROUP])
    made.initialise([[np.arange(900, dtype=np.float32)]])
    return made


def cycle(device):
    device.link.power_cycle()
    return device.recover()


def recovered(device):
    """The state after a loss of power."""
    cycle(device)
    return device.optimizer_state([GROUP], recovered=True)


def update(state):
    state.update([[np.ones(900, np.float32)]], [SGD(0.5).constants(1)])


def weights(state, generation=None):
    return state.read(Input.W, generation)[0][0]


def journal_pages(link):
    """The pages of the newest zone of the journal."""
    zones = (z for z in link._flash.zones if z and z[0].owner)
    own = [z for z in zones if z[0].owner.nsid == JOURNAL]
    return max(own, key=lambda zone: zone[0].owner.sequence)


def test_a_commit_and_its_note_are_one(device, state, seed):
    random = np.random.default_rng(seed)
    note = random.bytes(int(random.integers(1, 3000)))
    update(state)
    state.commit(note)
    update(state)
    with pytest.raises(NoteTooLong, match=r"have 100000 bytes; expected at most 7\d+, the room of a journal"):
        state.commit(bytes(100_000))
    state = recovered(device)
    assert state.note() == note and state.current.updates == 1
    for number in range(40):  # over several zones of the journal
        update(state)
        state.commit(note := random.bytes(int(random.integers(0, 3000))))
        if number % 7 == 0:
            state = recovered(device)
        assert state.note() == note
    state.initialise([[np.ones(900, np.float32)]], note=b"again")
    assert recovered(device).note() == b"again"


def test_a_first_generation_whose_note_is_too_long(device, state):
    """It leaves the generation that was there. The notes of streams that it replaces do not count."""
    room = device._journal.note_bytes
    with pytest.raises(NoteTooLong):
        state.initialise([[np.ones(900, np.float32)]], note=bytes(room + 1))
    assert np.array_equal(weights(state), np.arange(900)) and state.note() == b""
    for _ in range(2):
        state.initialise([[np.ones(900, np.float32)]], note=bytes(room))
    assert recovered(device).note() == bytes(room)


def test_pins_and_their_notes(device, state):
    """One record for commit, pin and release; training goes on beside a pin."""
    first = weights(state)
    state.pin()
    update(state)
    second = state.commit(b"two", pin=True)
    state = recovered(device)
    one, two = sorted(state.pinned, key=lambda one: one.updates)
    assert state.current == two and (two.stream, two.updates) == (second.stream, 1)
    assert np.array_equal(weights(state, one), first) and state.note(one) == b"" and state.note() == b"two"
    update(state)
    with pytest.raises(ForeignGeneration, match="is not pinned"):
        state.commit(release=replace(second, number=99))
    state.commit(b"three", release=one)
    assert state.pinned == (two,)
    update(state)
    state.commit(b"four", pin=True, release=two)
    for _ in range(2):
        (four,) = state.pinned
        assert state.current == four and state.note(four) == b"four"
        state = recovered(device)
    state.release(state.pinned[0])
    assert not recovered(device).pinned


def test_notes_of_streams(device, link):
    trained, host = device.stream("trained"), device.stream("trained", Port.HOST)
    assert trained.note == b""
    trained.annotate(b"where")
    trained.annotate(b"there")
    cycle(device)
    assert trained.note == host.note == b"there"
    with pytest.raises(AccessDenied):
        host.annotate(b"no")
    with pytest.raises(JournalMissing, match="stream 'activations', whose node does not record it"):
        device.stream("activations").annotate(b"no")
    trained.reset()
    assert trained.note == b""
    cycle(device)
    assert trained.note == b""


@pytest.mark.parametrize("missing", range(4))
def test_a_record_of_several_blocks_may_be_torn_anywhere(device, link, missing):
    trained = device.stream("trained")
    trained.annotate(b"before")
    trained.annotate(bytes(1800))
    pages = journal_pages(link)
    pages[-1 - missing] = pages[-1 - missing]._replace(owner=None)
    cycle(device)
    assert trained.note == b"before"
    trained.annotate(b"after")
    cycle(device)
    assert trained.note == b"after"
