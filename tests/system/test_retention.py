"""Ages on every Link: old data are refused or refreshed, as configured, and ages outlast a loss of power."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import DataExpired, Device, FunctionalLink, Link, OldZone, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.nand.errors import Ageing, ErrorModel
from flashtrain.spec import NodeTable, Opcode, Port, Status, ZoneState, preset
from flashtrain.spec.registers import Register
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE, Expired, Retention
from flashtrain.stress.powercut.failing_link import FailingLink, PowerFailed

MINUTES, DAYS, YEARS = (which.limit for which in Retention)
TINY = preset("tiny")
WIDE = NodeTable("wide", tuple(s for s in SINGLE_NODE.streams if s.persistency))
"""With more than two zones for each stream of arrays."""
STRICT = NodeTable("strict", tuple(replace(s, expired=Expired.REFUSE) for s in UPDATE_NODE.streams))


def pass_time(link: Link, seconds: float) -> None:
    assert isinstance(link, FunctionalLink | RtlLink)
    link.pass_time(seconds)


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def blocks(random, device: Device, count: int) -> np.ndarray:
    return random.integers(0, 256, (count, device.config.geometry.page_bytes), np.uint8)


def empty_zones(device: Device, stream: str) -> int:
    return [zone.state for zone in device.stream(stream).report()].count(ZoneState.EMPTY)


def test_old_data_are_refused_to_the_second(link, device, raw, random):
    stream = device.stream("activations")
    data = blocks(random, device, 3)
    stored = stream.append(data)
    stream.flush()
    pass_time(link, MINUTES - 1)
    assert np.array_equal(stream.read(stored), data)
    pass_time(link, 1)
    raw.data[:] = 0xA5
    assert raw.status(Opcode.READ, slba=stored.lba, nlb=2) == Status.DATA_EXPIRED
    assert (raw.data == 0xA5).all(), "nothing of it"
    assert raw.status(Opcode.READ, slba=stored.lba + 3) == Status.UNWRITTEN_BLOCK
    with pytest.raises(DataExpired, match=r"READ of 3 blocks at LBA 0x0 of stream 'activations'.*\(0x2c0\)"):
        stream.read(stored)
    zone = stream.report()[0]
    assert zone.finish_recommended and not zone.reset_recommended and zone.time == 0
    stream.finish_zone(0)
    zone = stream.report()[0]
    assert zone.reset_recommended and not zone.finish_recommended and zone.time == 0
    link.write_register(Register.TIME, MINUTES - 1)  # the clock was wrong
    assert np.array_equal(stream.read(stored), data)
    link.write_register(Register.TIME, (1 << 32) - 5)  # quite wrong: before the data
    assert np.array_equal(stream.read(stored), data)


def test_an_update_from_old_state_is_refused(link, raw_of):
    """Nothing is appended then, and the destination is not uncommitted."""
    with open_device(link=link, node=STRICT) as device:
        g, raw = link.config.geometry, raw_of(device)
        tile = g.channels * g.planes
        device.stream("state_a").append(np.zeros((tile, g.page_bytes), np.uint8))
        raw.status(Opcode.SET_CONSTANTS, "state_b")
        pass_time(link, DAYS)
        source = next(s.nsid for s in STRICT.streams if s.name == "state_a")
        fields = {"source": source, "rows": 1, "pages": 1, "nlb": g.channels - 1}
        assert raw.status(Opcode.UPDATE, "state_b", **fields) == Status.DATA_EXPIRED
        assert device.stream("state_b").report()[0].state is ZoneState.EMPTY
        link.write_register(Register.TIME, DAYS - 1)
        assert raw.status(Opcode.UPDATE, "state_b", **fields) == Status.SUCCESS


def test_refreshed_data_are_new_where_they_were(link, random):
    with open_device(link=link, node=WIDE) as device:
        capacity = link.config.geometry.zone_capacity
        stream = device.stream("trained")
        most = min(capacity, 200)
        parts = [blocks(random, device, count) for count in (most, 7, 2)]
        stored = [stream.append(parts[0])]
        stream.finish_zone(0)
        stored.append(stream.append(parts[1]))
        pass_time(link, YEARS)
        assert device.ages() == {"trained": YEARS}
        report = device.refresh()
        assert report.zones == (OldZone("trained", 0, most), OldZone("trained", 1, 7))
        assert device.ages()["trained"] == 0
        stored.append(stream.append(parts[2]))
        assert stored[2].lba == stored[1].lba + 7
        for one, part in zip(stored, parts, strict=True):
            assert np.array_equal(stream.read(one), part)
        assert not device.refresh().zones


def test_ages_outlast_a_loss_of_power(link, random):
    with open_device(link=link, node=WIDE) as device:
        data = blocks(random, device, 3)
        stored = device.stream("inputs", Port.HOST).append(data)
        pass_time(link, 1000)
        device.stream("trained").reset()
        device.stream("trained").append(data)
        pass_time(link, 500)
        link.power_cycle()
    pass_time(link, 50)
    with open_device(link=link, node=WIDE, recover=True) as device:
        assert (device.ages()["inputs"], device.ages()["trained"]) == (1550, 550)
        pass_time(link, YEARS // 2)
        assert {zone.stream for zone in device.refresh().zones} == {"inputs", "trained"}
        assert np.array_equal(device.stream("inputs").read(stored), data)
        link.power_cycle()
    with open_device(link=link, node=WIDE, recover=True) as device:
        assert device.ages()["inputs"] == 0
        assert np.array_equal(device.stream("inputs").read(stored), data)


# On the RTL only.


@pytest.fixture
def rtl() -> Iterator[RtlLink]:
    with RtlLink(TINY) as opened:
        yield opened


def test_cells_are_young_after_a_refresh(rtl, random):
    """Old cells have wrong bits, which nobody corrects here; a refresh in time keeps the data."""
    with open_device(link=rtl, node=WIDE) as device:
        stream = device.stream("trained")
        data = blocks(random, device, 20)
        stored = stream.append(data)
        pass_time(rtl, YEARS // 2)
        rtl.set_errors(ErrorModel())
        assert not device.refresh().left
        rtl.set_errors(ErrorModel(retention=Ageing(1e-3, wear_exponent=0.0, exponent=4.0)))
        pass_time(rtl, 3600)
        assert np.array_equal(stream.read(stored), data)
        assert not rtl.flipped_bits().any()
        pass_time(rtl, YEARS)
        with suppress(MediaError):
            stream.read(stored)
        assert rtl.flipped_bits().any()


@pytest.mark.parametrize("part", range(4))
def test_the_power_fails_during_a_refresh(random, part):
    """At any clock of it, and once more in the recovery."""
    with RtlLink(TINY) as rtl:
        link = FailingLink(rtl)
        device = open_device(link=link, node=WIDE)
        stream = device.stream("inputs", Port.HOST)
        data = [blocks(random, device, count) for count in (9, 5)]
        stored = [stream.append(data[0])]
        stream.finish_zone(0)
        stored.append(stream.append(data[1]))
        empty = empty_zones(device, "inputs")
        rtl.pass_time(YEARS)
        quarter = 30_000  # it takes some 118,000 cycles, and so does a recovery
        link.time = rtl.cycles + quarter * part + int(random.integers(quarter))
        with suppress(PowerFailed):
            device.refresh()
        for span in (120_000, None):
            link.power_cycle()
            link.time = None if span is None else rtl.cycles + int(random.integers(span))
            with suppress(PowerFailed):
                device = open_device(link=link, node=WIDE, recover=True)
        for one, part_of in zip(stored, data, strict=True):
            assert np.array_equal(device.stream("inputs").read(one), part_of)
        assert empty_zones(device, "inputs") == empty
        device.refresh()
        assert device.ages()["inputs"] == 0
        device.close()
