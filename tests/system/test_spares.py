"""Bad blocks of a device with spares: nobody sees them while the spares last, also after a loss of power."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from flashtrain.host import Device, FunctionalLink, open_device
from flashtrain.host.conformance import compare_links
from flashtrain.host.queues.command_errors import CommandError
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.nand.errors import ErrorModel, Wear
from flashtrain.spec import Opcode, Port, Status
from flashtrain.spec.identity import PageIdentity, RestoreAction, is_identity
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE

CONFIG = TINY_FULL
G = CONFIG.geometry
PLACES = [(c, d, p) for d in range(G.dies) for p in range(G.planes) for c in range(G.channels)]
"""Channel, die, plane, in the order of blocks."""

AnyLink = FunctionalLink | RtlLink


@pytest.fixture(params=[FunctionalLink, RtlLink], ids=["functional", "rtl"])
def link(request) -> Iterator[AnyLink]:
    with request.param(CONFIG, 8 << 20) as opened:
        yield opened


@pytest.fixture
def rtl() -> Iterator[RtlLink]:
    with RtlLink(CONFIG, 8 << 20) as opened:
        yield opened


def total(device: Device, counter: str) -> int:
    return sum(channel[counter] for channel in device.channel_counters())


def content(random: np.random.Generator, blocks: int) -> np.ndarray:
    return random.integers(0, 256, blocks * G.page_bytes, np.uint8)


def break_blocks(link: AnyLink, random: Random) -> set[tuple[int, int, int, int]]:
    """In each place as many as there are spares, of zones or spares."""
    bad = {(*place, block) for place in PLACES for block in random.sample(range(G.blocks), G.spare_blocks)}
    for place in bad:
        link.break_block(*place)
    return bad


def test_all_zones_can_be_used_while_spares_last(link, seed):
    bad = break_blocks(link, Random(seed))
    random = np.random.default_rng(seed)
    with open_device(link=link, node=SINGLE_NODE) as device:
        link.run(60 * CONFIG.timing.cycles("tbers"))
        assert total(device, "BLOCKS_REPLACED") == sum(block < G.zones for *_, block in bad)
        for fill in range(2):
            kept = []
            for stream in SINGLE_NODE.streams:
                if stream.name == "journal":
                    continue
                port = Port.HOST if stream.name in ("inputs", "samples") else Port.CORE
                opened = device.stream(stream.name, port)
                array = content(random, opened.zones * G.zone_capacity)
                kept.append((device.stream(stream.name), opened, opened.append(array), array))
            for reader, writer, stored, array in kept:
                assert np.array_equal(reader.read(stored), array), (fill, reader)
                writer.reset()
        assert total(device, "BLOCKS_REPLACED") >= sum(block < G.zones for *_, block in bad)


def test_what_lies_in_spares_survives(link, seed):
    break_blocks(link, Random(seed))
    random = np.random.default_rng(seed)
    with open_device(link=link, node=UPDATE_NODE) as device:
        trained, kept, spares = device.stream("trained"), [], 0
        for turn in range(8):
            if turn % 4 == 3:
                trained.reset()
                kept = []
            array = content(random, int(random.integers(1, 12)))
            kept.append((trained.append(array), array))
            trained.append_async(content(random, 3))
            link.run(int(random.integers(1, 4 * CONFIG.timing.cycles("tbers"))))
            link.power_cycle()
            report = device.recover()
            spares += report.spares
            for stored, expected in kept:
                assert np.array_equal(trained.read(stored), expected), turn
            if all(zone.room == 0 for zone in trained.report()):
                trained.reset()
                kept = []
        assert spares > 0


def test_an_orderly_end_leaves_zones_that_take_more(link, seed):
    """If each of their blocks has a page; else nobody knows which of them are bad."""
    break_blocks(link, Random(seed))
    random = np.random.default_rng(seed)
    with open_device(link=link, node=UPDATE_NODE) as device:
        trained, kept = device.stream("trained"), []
        for blocks in (G.superpage, 2, 5):
            array = content(random, blocks)
            kept.append((trained.append(array), array))
            device.shutdown()
            link.power_cycle()
            assert device.recover().clean
        assert [stored.extents[0].lba for stored, _ in kept] == [0, G.superpage, G.superpage + 2]
        for stored, array in kept:
            assert np.array_equal(trained.read(stored), array)


def test_a_zone_is_given_up_without_spares(rtl):
    """As without spares: it is the zone that is lost, not what lies in the others."""
    for zone in range(G.spare_blocks + 1):
        rtl.break_block(1, 0, 1, zone)
    with open_device(link=rtl, node=SINGLE_NODE) as device:
        rtl.run(60 * CONFIG.timing.cycles("tbers"))
        assert total(device, "BLOCKS_REPLACED") == G.spare_blocks
        wear = device.zone_wear()
        assert wear == [1] * G.spare_blocks + [0] + [1] * (G.zones - G.spare_blocks - 1)
        # The zone's erase, a single one for each plane up to the bad one, and none without a spare.
        assert total(device, "FAILURES") == 2 * (G.spare_blocks + 1)
        stream = device.stream("activations", Port.CORE)
        array = content(np.random.default_rng(1), stream.zones * G.zone_capacity)
        assert np.array_equal(stream.read(stream.append(array)), array)


def test_a_worn_device_lives_as_long_as_its_spares(rtl, seed):
    """Erases fail as the model says, and some of them again; nobody notices."""
    rtl.set_errors(ErrorModel(seed=seed, erase_failure=Wear(0.08, exponent=0.0)))
    random = np.random.default_rng(seed)
    with open_device(link=rtl, node=SINGLE_NODE) as device:
        stream = device.stream("activations", Port.CORE)
        for _ in range(60):
            array = content(random, stream.zones * G.zone_capacity)
            assert np.array_equal(stream.read(stream.append(array)), array)
            stream.reset()
            if total(device, "BLOCKS_REPLACED") >= 3:
                break
        assert total(device, "BLOCKS_REPLACED") > 0
        assert total(device, "FAILURES") >= 2 * total(device, "BLOCKS_REPLACED")


@pytest.mark.parametrize("recovering", [False, True])
def test_both_links_agree(rtl, recovering, seed):
    with FunctionalLink(CONFIG, len(rtl.memory)) as model:
        statuses = compare_links(CONFIG, seed, 400, model, rtl, recovering=recovering)
    print(statuses)
    assert sum(statuses.values()) == 400 and statuses["SUCCESS"] > 40


def test_what_restore_and_inspect_may_name(link, raw_of):
    with open_device(link=link, node=UPDATE_NODE) as device:
        device.stream("trained").append(content(np.random.default_rng(3), 4))
        device.disable()
        device.begin_recovery()
        raw = raw_of(device)

        def restore(**fields: int) -> Status | int:
            return raw.status(Opcode.RESTORE, "trained", Port.HOST, **fields)

        def status_of_inspect(zone: int) -> Status | int:
            fields = {"psdt": 1, "address": raw.address, "length": G.page_bytes}
            return raw.status(Opcode.INSPECT, "trained", Port.HOST, slba=zone * G.zone_size, **fields)

        def inspect(zone: int) -> bytes:
            raw.data[:] = 0x55
            assert status_of_inspect(zone) == Status.SUCCESS
            return bytes(raw.data[: G.page_bytes])

        last = {
            "channel": G.channels - 1,
            "die": G.dies - 1,
            "plane": G.planes - 1,
            "spare": 1,
            "physical": G.blocks - 1,
        }
        assert restore(action=RestoreAction.BLOCK, **last) == Status.SUCCESS
        for name, value in (
            *last.items(),
            ("channel", 128),
            ("die", 128),
            ("plane", 254),
            ("spare", 1 << 15),
        ):
            wrong = last | {name: value + 1}
            assert restore(action=RestoreAction.BLOCK, **wrong) == Status.INVALID_FIELD, wrong
        for action, limit in ((RestoreAction.PHYSICAL, G.blocks), (RestoreAction.ZONE, G.zones)):
            fields = {"action": action, "slba": 1, "restored_state": 14}
            assert restore(physical=limit, **fields) == Status.INVALID_FIELD
        assert status_of_inspect(G.blocks) == Status.LBA_OUT_OF_RANGE
        (zone,) = [z for z in range(G.zones) if is_identity(inspect(z)[-PageIdentity.BYTES :])]
        page, empty = inspect(zone), inspect(G.zones)
        assert page != empty == inspect(G.blocks - 1)
        assert restore(action=RestoreAction.BLOCK, physical=zone) == Status.SUCCESS
        assert inspect(zone) == empty
        assert restore(action=RestoreAction.BLOCK, physical=3, spare=1) == Status.SUCCESS
        assert inspect(3) == empty
        for block in G.spares:
            assert restore(action=RestoreAction.PHYSICAL, physical=block) == Status.SUCCESS
        with pytest.raises(CommandError):
            device.stream("trained").append(content(np.random.default_rng(3), 1))
