"""Recovery after a loss of power on the functional Link: what is kept, what is dropped, what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import (
    DeviceClosed,
    DeviceEnabled,
    DeviceHang,
    ForeignContent,
    FunctionalLink,
    HostError,
    JournalDamaged,
    Link,
    StateMissing,
    StreamFull,
    TensorGroup,
    open_device,
    raw_entry,
)
from flashtrain.host.device import STATE_STREAMS
from flashtrain.host.functional.pages import Page
from flashtrain.host.functional.zones import StreamZones
from flashtrain.host.queues.command_errors import (
    CommandError,
    InvalidZoneTransition,
    MediaError,
    StreamPinned,
    ZoneReadOnly,
)
from flashtrain.host.recovery.journal_record import Record, RecordFormat, StreamEntry
from flashtrain.spec import (
    ConfigError,
    Geometry,
    NodeTable,
    Opcode,
    Port,
    Status,
    ZoneAction,
    ZoneState,
    preset,
)
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import ACTIVATION_NODE, SINGLE_NODE, UPDATE_NODE
from flashtrain.training.optimizers import SGD

TINY = preset("tiny")
BLOCK = TINY.geometry.page_bytes
NO_JOURNAL = NodeTable("no journal", tuple(s for s in UPDATE_NODE.streams if s is not UPDATE_NODE.journal))
GROUP = TensorGroup(OptimizerCode.SGD, ((900,),))
EMPTY, RETIRED = ZoneState.EMPTY, (ZoneState.READ_ONLY, ZoneState.OFFLINE)
JOURNAL = UPDATE_NODE.named("journal").nsid


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def blocks(count, first=0):
    """An array of so many blocks."""
    return (np.arange(count * BLOCK // 4, dtype=np.uint32) + first).astype(np.uint32)


def cycle(device):
    device.link.power_cycle()
    return device.recover()


def journal_zones(link):
    """Physical zones that hold records, the newest last."""
    found = [z for z in link._flash.zones if z and z[0].owner and z[0].owner.nsid == JOURNAL]
    return sorted(found, key=lambda zone: zone[0].owner.sequence)


def in_order(device):
    device.shutdown()
    return device.recover()


def records(link):
    """Those that the journal's newest zone holds."""
    zones = journal_zones(link)
    return len(zones[-1]) if zones else 0


def test_what_is_kept(device):
    host, core = device.stream("inputs", Port.HOST), device.stream("trained")
    kept = [
        (host, host.append(blocks(30))),
        (core, core.append(blocks(3, 9))),
        (host, host.append(blocks(1))),
    ]
    before = [stream.read(stored) for stream, stored in kept[1:2]]
    device.stream("activations").append(blocks(5))
    wear = device.zone_wear()
    report = cycle(device)
    assert (report.stream("inputs").zones, report.stream("inputs").blocks) == (2, 31)
    assert (report.stream("trained").zones, report.stream("trained").blocks) == (1, 3)
    assert [stream.name for stream in report.streams] == ["inputs", "trained", *STATE_STREAMS]
    assert (report.erased, report.records, report.clean, report.cycles) == (13, 0, False, 0)
    assert np.array_equal(device.stream("inputs").read(kept[0][1]), blocks(30))
    assert np.array_equal(device.stream("inputs").read(kept[2][1]), blocks(1))
    assert np.array_equal(core.read(kept[1][1]), before[0])
    assert all(zone.state is ZoneState.EMPTY for zone in device.stream("activations").report())
    # Those that were not kept were erased once more, the others were not.
    assert sum(device.zone_wear()) == sum(wear) + 13


def test_zones_take_no_more_after_a_loss_of_power(device):
    stream = device.stream("trained")
    stream.append(blocks(3))
    cycle(device)
    assert [zone.state for zone in stream.report()] == [ZoneState.FULL, ZoneState.EMPTY]
    with pytest.raises(MediaError):
        stream.read_blocks(3, 1)  # it may have been written
    assert stream.append(blocks(2)).lba == stream.zone_size


def test_zones_take_more_after_an_orderly_end(device):
    stream = device.stream("trained")
    first = stream.append(blocks(3))
    for turn in range(30):  # more than a zone of the journal holds
        pending = device.stream("activations").append_async(blocks(1))
        device.shutdown()
        assert pending.done
        report = cycle(device) if turn % 2 else device.recover()
        assert report.clean
        zones = stream.report()
        assert (zones[0].state, zones[0].write_pointer) == (ZoneState.CLOSED, 3)
        assert zones[1].state is ZoneState.EMPTY
        assert np.array_equal(stream.read(first), blocks(3))
    assert stream.append(blocks(2)).lba == 3
    assert not cycle(device).clean
    assert np.array_equal(stream.read(first), blocks(3))


def test_a_clean_record_is_trusted_only_where_it_is_true(device, link):
    stream = device.stream("trained")
    stream.append(blocks(3))
    device.shutdown()
    zone = next(zone for zone in link._flash.zones if zone and zone[0].owner.nsid == 3)
    zone[3] = zone[2]
    device.recover()
    assert stream.report()[0].state is ZoneState.FULL


def test_pages_beyond_a_hole_are_kept(device, link):
    """Dies program on their own: an append may be acknowledged while one before it is not."""
    stream = device.stream("trained")
    stored = [stream.append(blocks(1, i)) for i in range(7)]
    zone = next(zone for zone in link._flash.zones if zone and zone[0].owner.nsid == 3)
    for hole in (0, 5):
        zone[hole] = Page(bytes(BLOCK), None, False)
    assert cycle(device).stream("trained").blocks == 7
    for i, one in enumerate(stored):
        if i in (0, 5):
            with pytest.raises(MediaError):
                stream.read(one)
        else:
            assert np.array_equal(stream.read(one), blocks(1, i))


def test_resets_are_kept(device):
    one, other = device.stream("trained"), device.stream("inputs", Port.HOST)
    one.append(blocks(2))
    other.append(blocks(2))
    one.reset()
    other.manage_all(ZoneAction.RESET)
    report = cycle(device)
    assert [report.stream(name).generation for name in ("trained", "inputs")] == [1, 1]
    assert [report.stream(name).blocks for name in ("trained", "inputs")] == [0, 0]
    stored = one.append(blocks(1))
    cycle(device)
    assert stored.lba == 0 and np.array_equal(one.read(stored), blocks(1))


def test_zone_resets_are_kept(device, link, monkeypatch):
    stream = device.stream("trained")
    stream.append(blocks(24))
    second = stream.append(blocks(3, 5))
    # The erase of what was reset has not come yet when the power fails.
    monkeypatch.setattr(link._flash, "erase", lambda zone, but: set())
    stream.reset_zone(0)
    monkeypatch.undo()
    assert cycle(device).stream("trained").blocks == 3
    assert np.array_equal(stream.read(second), blocks(3, 5))
    assert stream.report()[0].state is ZoneState.EMPTY
    third = stream.append(blocks(2))
    cycle(device)
    assert third.lba == 0 and np.array_equal(stream.read(third), blocks(2))


def test_zone_resets_of_what_is_empty_or_retired_are_not_recorded(device):
    stream = device.stream("trained")
    stored = stream.append(blocks(2))
    stream.retire_zone(0, ZoneState.READ_ONLY)
    before = records(device.link)
    for _ in range(2):
        stream.reset_zone(1)
    with pytest.raises(InvalidZoneTransition):
        stream.reset_zone(0)
    assert records(device.link) == before == 1
    cycle(device)
    assert np.array_equal(stream.read(stored), blocks(2))


def states(device, name="trained", port=Port.CORE):
    return [zone.state for zone in device.stream(name, port).report()]


@pytest.mark.parametrize("end", [cycle, in_order], ids=["power failed", "in order"])
@pytest.mark.parametrize("state", RETIRED)
@pytest.mark.parametrize("name", ["trained", "weights"])
def test_zones_stay_retired(device, end, state, name):
    """With what they held, if that is not volatile; also those that are empty; and again and again."""
    stream = device.stream(name)
    stored = stream.append(blocks(2))
    for zone in (0, stream.zones - 1):
        stream.retire_zone(zone, state)
    others = [EMPTY] * (stream.zones - 2)
    for _ in range(3):
        assert end(device).retired == 2
        assert states(device, name) == [state, *others, state]
        if state is ZoneState.READ_ONLY and name == "trained":
            assert np.array_equal(stream.read(stored), blocks(2))
        else:
            with pytest.raises(CommandError):
                stream.read(stored)
    with pytest.raises(StreamFull):
        stream.append(blocks(len(others) * stream.zone_capacity + 1))
    stream.reset()
    end(device)
    assert states(device, name) == [state, *others, state]
    assert device.stream("inputs", Port.HOST).append(blocks(1)).lba == 0
    device.format()
    assert states(device, name) == [EMPTY] * stream.zones


def test_read_only_may_become_offline(device):
    stream = device.stream("trained")
    for state in RETIRED:
        stream.retire_zone(1, state)
        cycle(device)
        assert states(device) == [EMPTY, state]
    with pytest.raises(InvalidZoneTransition):
        stream.retire_zone(1, ZoneState.READ_ONLY)
    cycle(device)
    assert states(device) == [EMPTY, ZoneState.OFFLINE]


def test_a_retired_zone_is_recorded_once(device):
    stream = device.stream("trained")
    stream.append(blocks(1))
    stream.report()
    assert records(device.link) == 0
    for number, zone in enumerate((1, 0), 1):
        stream.retire_zone(zone, ZoneState.READ_ONLY)
        for _ in range(3):
            stream.report()
            stream.report(1)
        assert records(device.link) == number


@pytest.fixture
def failing(monkeypatch):
    """Called with a zone of stream `trained`: its programs fail from now on, for good."""
    original, bad = StreamZones.append, set()

    def append(self, index, offset, count):
        status = original(self, index, offset, count)
        if status or (self._settings.first, index) not in bad:
            return status
        self.zones[index].state = ZoneState.READ_ONLY
        return Status.WRITE_FAULT

    def fail(device, zone):
        bad.add((device._zones[device.stream("trained").nsid].start, zone))

    monkeypatch.setattr(StreamZones, "append", append)
    return fail


@pytest.mark.parametrize("how", ["append", "write", "found later"])
def test_a_zone_whose_programs_failed_stays_read_only(device, failing, how):
    stream = device.stream("trained")
    stored = stream.append(blocks(2))
    failing(device, 0)
    if how == "append":
        pending = stream.append_async(blocks(1))
        with pytest.raises(MediaError, match="WRITE_FAULT"):
            pending.result()
    elif how == "write":
        with pytest.raises(MediaError, match="WRITE_FAULT"):
            stream.write(2, blocks(1))
    else:  # as in a raw command, or when the result of an append was not looked at
        stream.append_async(blocks(1))
        device.wait()
        stream.report()
    cycle(device)
    assert states(device)[0] is ZoneState.READ_ONLY
    assert np.array_equal(stream.read(stored), blocks(2))
    assert stream.append(blocks(1)).lba // stream.zone_size == 1


def test_a_retirement_that_nobody_was_told_of_is_forgotten(device, failing):
    """It will be noticed again."""
    stream = device.stream("trained")
    failing(device, 0)
    stream.append_async(blocks(1))
    cycle(device)
    assert states(device)[0] is not ZoneState.READ_ONLY


def test_an_error_is_told_though_the_device_was_disabled_meanwhile(device, failing):
    failing(device, 0)
    pending = device.stream("trained").append_async(blocks(1))
    device.wait()
    device.disable()
    with pytest.raises(MediaError, match="WRITE_FAULT"):
        pending.result()


def test_without_a_journal_retired_zones_are_forgotten(link):
    with open_device(link=link, node=NO_JOURNAL) as device:
        stream = device.stream("trained")
        stored = stream.append(blocks(1))
        stream.retire_zone(0, ZoneState.READ_ONLY)
        cycle(device)
        assert states(device) == [ZoneState.FULL, EMPTY]
        assert np.array_equal(stream.read(stored), blocks(1))


def test_zones_are_retired_though_the_journal_takes_no_more(device):
    for zone in (0, 1):
        device.stream("journal", Port.HOST).retire_zone(zone, ZoneState.READ_ONLY)
    device.stream("trained").retire_zone(0, ZoneState.OFFLINE)
    assert states(device) == [ZoneState.OFFLINE, EMPTY]
    cycle(device)
    assert states(device) == [EMPTY, EMPTY]
    assert not set(RETIRED) & set(states(device, "journal", Port.HOST))


def test_without_a_journal(link):
    with open_device(link=link, node=NO_JOURNAL) as device:
        stream = device.stream("trained")
        stored = stream.append(blocks(3))
        cycle(device)
        assert np.array_equal(stream.read(stored), blocks(3))
        stream.reset()
        stored = stream.append(blocks(1, 4))
        for _ in range(2):
            report = cycle(device)
            assert (report.stream("trained").generation, report.stream("trained").blocks) == (1, 1)
            assert np.array_equal(stream.read(stored), blocks(1, 4))
        device.shutdown()
        assert not device.recover().clean
        state = device.optimizer_state([GROUP])
        state.initialise([[np.ones(900, np.float32)]])
        state.update([[np.ones(900, np.float32)]], [SGD(1.0).constants(1)])
        state.commit()
        assert cycle(device).stream("state_b").blocks == 0
        with pytest.raises(StateMissing):
            device.optimizer_state([GROUP], recovered=True)


def test_the_journal_wraps_around(device, link):
    stream, stored = device.stream("trained"), None
    for number in range(1, 120):
        stream.reset()
        if number % 7 == 0:
            stored = stream.append(blocks(1, number))
            report = cycle(device)
            assert report.stream("trained").generation == number and report.records == 1
            assert np.array_equal(stream.read(stored), blocks(1, number))
    assert len(journal_zones(link)) == 2


def test_erases_are_not_forgotten(device):
    """Zones that hold nothing cannot tell how often they were erased; others tell how often at least."""
    stream = device.stream("activations")
    for number in range(5):
        for _ in range(40):
            stream.reset()
            stream.append(blocks(1))
        before = device.zone_wear()
        cycle(device)
        after = device.zone_wear()
        assert number == 0 or min(before) > 0
        assert 0.9 * sum(before) <= sum(after) <= sum(before) + 3 * TINY.geometry.zones, number


def test_the_last_record_may_be_torn(device, link):
    stream = device.stream("trained")
    stream.reset()
    stream.append(blocks(1))
    stream.reset()
    (zone,) = journal_zones(link)
    zone[-1] = zone[-1]._replace(owner=None)
    report = cycle(device)
    # As if the second reset had not been begun; its zone was erased all the same.
    assert (report.stream("trained").generation, report.records) == (1, 1)
    stream.reset()
    assert cycle(device).stream("trained").generation == 2


def test_the_only_record_may_be_torn(device, link):
    stream = device.stream("trained")
    stored = stream.append(blocks(1))
    device.stream("inputs", Port.HOST).reset()
    (zone,) = journal_zones(link)
    zone[0] = zone[0]._replace(owner=None)
    assert cycle(device).records == 0
    assert np.array_equal(stream.read(stored), blocks(1))


HEAD, CONTENT = range(18), range(18, 100)


def spoil(zone, index, part=CONTENT):
    """A page whose identity is whole: a byte in `part` of its data has a one in place of a zero."""
    page = zone[index]
    byte = next(byte for byte in part if not page.data[byte] & 0x80)
    data = bytearray(page.data)
    data[byte] |= 0x80
    zone[index] = page._replace(data=bytes(data))


def test_a_damaged_record_is_found():
    """With a code no record is damaged because its program was interrupted."""
    with (
        FunctionalLink(preset("tiny_ecc"), 1 << 18) as link,
        open_device(link=link, node=UPDATE_NODE) as device,
    ):
        stream = device.stream("trained")
        stream.reset()
        stream.reset()
        (zone,) = journal_zones(link)
        zone[0] = Page(bytes(BLOCK), zone[0].owner, False)
        assert cycle(device).stream("trained").generation == 2  # an older one does not matter
        spoil(journal_zones(link)[-1], -1)
        content = [list(physical) for physical in link._flash.zones]
        with pytest.raises(
            JournalDamaged, match=r"block 0 of physical zone \d+ is damaged; .* Device.format"
        ):
            cycle(device)
        assert content == [list(physical) for physical in link._flash.zones]
        with pytest.raises(DeviceClosed):
            stream.append(blocks(1))
        device.format()
        assert np.array_equal(stream.read(stream.append(blocks(1))), blocks(1))


@pytest.mark.parametrize("part", [HEAD, CONTENT], ids=["head", "content"])
def test_without_a_code_the_last_record_may_be_torn_though_it_has_an_identity(device, link, part):
    stream = device.stream("trained")
    stream.reset()
    stream.reset()
    (zone,) = journal_zones(link)
    spoil(zone, -1, part)
    for _ in range(2):
        report = cycle(device)
        # As if the second reset had not been begun; its zone was erased all the same.
        assert (report.stream("trained").generation, report.records) == (1, 1)
    stream.reset()
    stored = stream.append(blocks(2))
    assert cycle(device).stream("trained").generation == 2
    assert np.array_equal(stream.read(stored), blocks(2))


def test_a_record_that_was_acknowledged_is_not_torn(device, link):
    stream = device.stream("trained")
    for _ in range(3):
        stream.reset()
    (zone,) = journal_zones(link)
    spoil(zone, -1)
    spoil(zone, -2)
    with pytest.raises(JournalDamaged, match="block 1 of"):
        cycle(device)


def test_a_reset_that_is_refused_is_not_recorded(device):
    stream = device.state_stream("trained")
    stored = stream.append(blocks(1))
    stream.pin()
    with pytest.raises(StreamPinned):
        stream.reset()
    with pytest.raises(StreamPinned):
        stream.reset_zone(0)
    assert cycle(device).records == 1, "the pin's"
    with pytest.raises(StreamPinned):
        stream.reset()
    stream.release()
    # Pinned without the driver's knowledge: it corrects the record.
    pin = raw_entry(opcode=Opcode.GENERATION, nsid=stream.nsid, action=GenerationAction.PIN)
    assert device.submit_raw(Port.CORE, pin).ok
    with pytest.raises(StreamPinned):
        stream.reset()
    assert cycle(device).stream("trained").generation == 0
    assert np.array_equal(stream.read(stored), blocks(1))


def test_generations_are_learnt_from_the_device_after_raw_commands(device):
    stream = device.stream("trained")
    stream.reset()
    device.submit_raw(Port.CORE, raw_entry(opcode=Opcode.STREAM_RESET, nsid=stream.nsid))
    stored = stream.append(blocks(1))
    device.stream("inputs", Port.HOST).reset()
    assert cycle(device).stream("trained").generation == 2
    assert np.array_equal(stream.read(stored), blocks(1))


def test_an_asynchronous_reset_waits_for_its_record(device):
    stream = device.stream("trained")
    stream.append(blocks(5))
    pendings = [stream.reset_async(), stream.append_async(blocks(1)), stream.reset_async()]
    stored = stream.append(blocks(2))
    assert device.wait(pendings)[1].lba == 0
    assert stored.lba == 0 and cycle(device).stream("trained").generation == 2
    assert np.array_equal(stream.read(stored), blocks(2))


def test_what_waits_for_a_record_is_lost_when_the_device_is_disabled(device, link, monkeypatch):
    stream = device.stream("trained")
    monkeypatch.setattr(link, "_work", lambda: None)
    pendings = [stream.reset_async(), stream.append_async(blocks(1))]
    with pytest.raises(DeviceHang, match="ZONE_APPEND by HOST, STREAM_RESET by CORE, ZONE_APPEND by CORE"):
        pendings[0].result()
    device.disable()
    for pending in pendings:
        with pytest.raises(DeviceClosed):
            pending.result()


def test_a_reset_whose_record_fails_is_not_carried_out(device):
    stream = device.stream("trained")
    stored = stream.append(blocks(1))
    for zone in (0, 1):
        device.stream("journal", Port.HOST).retire_zone(zone, ZoneState.READ_ONLY)
    with pytest.raises(ZoneReadOnly, match=r"STREAM_RESET .* ZONE_IS_READ_ONLY"):
        stream.reset_async().result()
    assert np.array_equal(stream.read(stored), blocks(1))


def test_the_newest_record_stays_if_the_next_one_has_no_zone(link, device):
    """The journal's other zone was retired: nothing changes any more, and the loss of power loses nothing."""
    device.stream("journal", Port.HOST).retire_zone(1, ZoneState.READ_ONLY)
    stream, resets = device.stream("trained"), 0
    with pytest.raises(ZoneReadOnly):
        while True:
            stored = stream.append(blocks(1, first=resets))
            stream.reset()
            resets += 1
    for _ in range(3):
        with pytest.raises(ZoneReadOnly):
            stream.reset()
    assert resets > 3
    link.power_cycle()
    device.recover()
    assert np.array_equal(device.stream("trained").read(stored), blocks(1, first=resets))


# Optimizer state.


@pytest.fixture
def state(device, random):
    made = device.optimizer_state([GROUP])
    made.initialise([[random.standard_normal(900).astype(np.float32)]])
    return made


def update(state):
    state.update([[np.ones(900, np.float32)]], [SGD(0.5).constants(1)])


def recovered(device):
    cycle(device)
    return device.optimizer_state([GROUP], recovered=True)


def weights(state, generation=None):
    return state.read(Input.W, generation)[0][0]


def test_a_commit_is_kept(device, state):
    for updates in range(1, 5):
        update(state)
        state.commit()
        expected = weights(state)
        state = recovered(device)
        assert state.current.updates == updates and not state.pinned
        assert np.array_equal(weights(state), expected)


def test_an_update_without_a_commit_is_dropped(device, state):
    expected = weights(state)
    update(state)
    state = recovered(device)
    assert device.recovered.stream("state_b").blocks == 0
    assert np.array_equal(weights(state), expected) and state.current.updates == 0
    update(state)
    state.skip()
    update(state)
    state.commit()
    assert np.array_equal(weights(recovered(device)), expected - np.float32(0.5))


def test_what_was_pinned_is_pinned_again(device, state):
    old = weights(state)
    state.pin()
    update(state)
    state.commit()
    new = weights(state)
    state = recovered(device)
    (pinned,) = state.pinned
    assert np.array_equal(weights(state), new) and np.array_equal(weights(state, pinned), old)
    state.release(pinned)
    state = recovered(device)
    assert not state.pinned and np.array_equal(weights(state), new)


def test_state_that_is_not_whole_is_missing(device, link):
    with pytest.raises(StateMissing, match="'state_b', stream 'state_c' hold no committed state"):
        recovered(device)
    device.stream("state_a").append(blocks(24))
    with pytest.raises(StateMissing):
        recovered(device)
    device.optimizer_state([GROUP]).initialise([[np.ones(900, np.float32)]])
    cycle(device)
    larger = TensorGroup(OptimizerCode.SGD, ((20_000,),))
    with pytest.raises(StateMissing):
        device.optimizer_state([replace(larger, shapes=((5000,),))], recovered=True)


# What is refused.


def test_what_cannot_be_recovered(device, link):
    with pytest.raises(DeviceEnabled, match="expected one whose power failed, or disabled"):
        device.recover()
    with pytest.raises(ConfigError, match="recover is True; expected False for a Link made here"):
        open_device("tiny", recover=True)
    with pytest.raises(HostError, match="FunctionalLink cannot switch the power"):
        Link.power_cycle(link)
    device.stream("inputs", Port.HOST).append(blocks(30))
    device.stream("trained").append(blocks(2))
    link.power_cycle()
    with pytest.raises(ForeignContent, match=r"is zone \d+ of namespace 3; node 'activation' has {'inputs'"):
        open_device(link=link, node=ACTIVATION_NODE, recover=True)
    with open_device(link=link, node=UPDATE_NODE, recover=True) as other:
        assert other.recovered.stream("inputs").blocks == 30


def test_a_journal_that_is_too_small():
    geometry = Geometry(1, 1, 1, blocks=256, pages=4, page_bytes=512, spare_bytes=32)
    config = replace(TINY, geometry=geometry, max_blocks=4)
    with pytest.raises(
        ConfigError, match=r"blocks of a zone of stream 'journal', .* is 4; expected at least the 8"
    ):
        open_device(config)


def test_records_of_several_blocks(seed):
    """And many zones, and a superpage of one page."""
    geometry = Geometry(1, 1, 1, blocks=100, pages=16, page_bytes=512, spare_bytes=32)
    config = replace(TINY, geometry=geometry)
    assert RecordFormat(geometry).least_blocks == 4
    random = np.random.default_rng(seed)
    with FunctionalLink(config, 1 << 16) as link, open_device(link=link, node=SINGLE_NODE) as device:
        stream = device.stream("trained")
        for generation in range(1, 20):
            stream.reset()
            arrays = [random.integers(0, 256, 512 * int(random.integers(1, 40)), np.uint8) for _ in range(4)]
            stored = [stream.append(array) for array in arrays]
            if generation % 3 == 0:
                device.shutdown()
            assert cycle(device).stream("trained").generation == generation
            for one, array in zip(stored, arrays, strict=True):
                assert np.array_equal(stream.read(one), array)


@pytest.mark.parametrize("notes", [[], [3], [0, 5000, 17]], ids=str)
def test_bytes_of_a_record(seed, notes):
    geometry = TINY.geometry
    form, random = RecordFormat(geometry), np.random.default_rng(seed)
    numbers = lambda bits: tuple(int(n) for n in random.integers(0, 1 << bits, geometry.zones))  # noqa: E731
    streams = {}
    for nsid in range(1, 9):
        note = random.bytes(notes[nsid - 1]) if nsid <= len(notes) else b""
        *fields, page = (int(n) for n in random.integers(0, 1 << 16, 4))
        streams[nsid] = StreamEntry(*fields, bool(random.integers(2)), note, page)
    last = geometry.zones - 1
    retired = {0: ZoneState.OFFLINE, 7: ZoneState.READ_ONLY, 8: ZoneState.OFFLINE, last: ZoneState.READ_ONLY}
    record = Record(
        7, streams, numbers(32), numbers(32), numbers(31), frozenset({1, last}), clean=True, retired=retired
    )
    packed = form.pack(record)
    count = form.blocks(record)
    assert packed.shape == (count, BLOCK) and form.parse(packed) == record
    assert form.note_bytes(count) >= sum(notes) > form.note_bytes(count - 1)
    assert [form.place(block) for block in packed] == [(7, position, count) for position in range(count)]
    packed[:, -16:] = 1  # where an INSPECT puts the identity
    assert form.parse(packed) == record
    assert count == 1 or form.parse(packed[:-1]) is form.parse(packed[1:]) is None
    for byte in random.integers(0, BLOCK - 16, 20):
        damaged = packed.copy()
        damaged[int(random.integers(count)), byte] ^= 1 << int(random.integers(0, 8))
        assert form.parse(damaged) is None
