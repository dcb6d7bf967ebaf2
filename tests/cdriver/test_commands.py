"""Commands of the C driver on the functional Link: data, zones, several in flight, counters."""

import numpy as np
import pytest

from flashtrain.host import FunctionalLink
from flashtrain.spec import Port, Status, ZoneAction, ZoneState, preset
from flashtrain.spec.presets import PRESETS
from flashtrain.spec.registers import Counter
from flashtrain.spec.streams import NODES

from .driver import CDriver, DriverError, Error, Request

BLOCK = preset("tiny").geometry.page_bytes
HOST, CORE = Port.HOST, Port.CORE


def refused(do, error=Error.STATUS, status=0):
    with pytest.raises(DriverError) as raised:
        do()
    assert (raised.value.error, raised.value.status) == (error, status)


def content(random, blocks):
    return random.integers(0, 256, blocks * BLOCK, np.uint8)


@pytest.mark.parametrize("name", PRESETS)
def test_properties_and_zones_of_every_preset(name):
    config = preset(name)
    g = config.geometry
    for node in NODES.values():
        driver = CDriver(FunctionalLink(config, 16 << 20), node)
        info = driver.info
        for field in ("channels", "dies", "planes", "zones", "spare_blocks", "pages", "page_bytes",
                      "zone_capacity", "zone_size", "superpage"):  # fmt: skip
            assert getattr(info, field) == getattr(g, field), field
        for field in ("commands", "max_blocks", "max_open", "max_active"):
            assert getattr(info, field) == getattr(config, field), field
        assert info.clock_mhz == config.timing.clock_mhz
        for nsid, zones in node.zones(g.zones).items():
            assert driver.get("ft_zones", nsid) == len(zones)


def test_append_write_and_read(driver, seed):
    random = np.random.default_rng(seed)
    first, second, third = content(random, 3), content(random, 2), content(random, 1)
    assert driver.append(HOST, 1, 1, first) == driver.info.zone_size
    assert driver.append(HOST, 1, 1, second) == driver.info.zone_size + 3
    driver.do("ft_write", HOST, 1, driver.info.zone_size + 5, driver.put(third), 1)
    expected = np.concatenate([first, second, third])
    assert np.array_equal(driver.read(CORE, 1, driver.info.zone_size, 6), expected)
    driver.do("ft_flush", HOST, 1)
    assert driver.get("ft_counter", Counter.PAGES_APPENDED) == 6
    refused(lambda: driver.read(CORE, 1, driver.info.zone_size + 6, 1), status=Status.UNWRITTEN_BLOCK)
    refused(lambda: driver.read(HOST, 1, driver.info.zone_size, 1), status=Status.ACCESS_DENIED)
    refused(
        lambda: driver.do("ft_write", HOST, 1, driver.info.zone_size, driver.data, 1),
        status=Status.ZONE_INVALID_WRITE,
    )


def test_zones(driver):
    data = np.zeros(BLOCK, np.uint8)
    driver.append(CORE, 3, 0, data)
    driver.do("ft_zone_manage", CORE, 3, 1, ZoneAction.OPEN)
    assert [zone.state for zone in driver.report(CORE, 3)] == [
        ZoneState.IMPLICITLY_OPEN, ZoneState.EXPLICITLY_OPEN,
    ]  # fmt: skip
    driver.do("ft_zone_manage", CORE, 3, 1, ZoneAction.CLOSE)
    driver.do("ft_zone_manage", CORE, 3, 0, ZoneAction.FINISH)
    full, _ = driver.report(CORE, 3)
    assert (full.state, full.room, full.capacity) == (ZoneState.FULL, 0, driver.info.zone_capacity)
    refused(lambda: driver.append(CORE, 3, 0, data), status=Status.ZONE_IS_FULL)
    driver.do("ft_zone_reset", CORE, 3, 0)
    driver.do("ft_zone_retire", CORE, 3, 1, ZoneState.OFFLINE)
    assert [zone.state for zone in driver.report(CORE, 3)] == [ZoneState.EMPTY, ZoneState.OFFLINE]
    refused(lambda: driver.append(CORE, 3, 1, data), status=Status.ZONE_IS_OFFLINE)
    refused(lambda: driver.do("ft_zone_retire", CORE, 3, 0, ZoneState.FULL), status=Status.INVALID_FIELD)


def test_a_pinned_stream_is_left_alone(driver, link):
    driver.append(CORE, 3, 0, np.ones(BLOCK, np.uint8))
    driver.do("ft_pin", CORE, 3, True)
    refused(lambda: driver.do("ft_stream_reset", CORE, 3), status=Status.NAMESPACE_WRITE_PROTECTED)
    refused(lambda: driver.do("ft_zone_reset", CORE, 3, 0), status=Status.NAMESPACE_WRITE_PROTECTED)
    link.power_cycle()
    driver = CDriver(link)
    driver.recover()
    assert driver.entry(3)[0].pinned
    refused(lambda: driver.do("ft_stream_reset", CORE, 3), status=Status.NAMESPACE_WRITE_PROTECTED)
    assert driver.read(HOST, 3, 0, 1).all()
    driver.do("ft_pin", CORE, 3, False)
    driver.do("ft_stream_reset", CORE, 3)
    assert driver.entry(3)[0].generation == 1


def test_refused_changes_are_taken_back(driver, link):
    """The host may not reset the stream; a port without the right makes no record either."""
    driver.append(CORE, 3, 0, np.ones(BLOCK, np.uint8))
    refused(lambda: driver.do("ft_stream_reset", HOST, 3), status=Status.ACCESS_DENIED)
    refused(lambda: driver.do("ft_pin", HOST, 3, True), status=Status.ACCESS_DENIED)
    refused(lambda: driver.commit(CORE, 6, 5, note=b"no update"), status=Status.INVALID_FIELD)
    assert driver.entry(6)[1] == b"" and not driver.entry(6)[0].commit
    link.power_cycle()
    driver = CDriver(link)
    driver.recover()
    assert (driver.entry(3)[0].generation, driver.entry(6)[0].commit) == (0, 0)
    assert driver.read(CORE, 3, 0, 1).all()


def test_several_in_flight(driver, seed):
    """Both ports, more commands than entries, and every order of polls."""
    random = np.random.default_rng(seed)
    data = content(random, 60)
    driver.put(data)
    waiting, addresses = [], {}
    for number in range(60):
        request, port, nsid = Request(), *((HOST, 1), (CORE, 2))[number % 2]
        at = driver.data + number * BLOCK
        zone = number // 2 // 24
        while True:
            try:
                driver.do("ft_submit_append", request, port, nsid, zone, at, 1)
                break
            except DriverError as error:
                assert error.error is Error.BUSY
                driver.do("ft_poll")
        waiting.append((number, nsid, request))
        if random.integers(3) == 0:
            driver.do("ft_wait", waiting[random.integers(len(waiting))][2])
    driver.do("ft_drain")
    for number, nsid, request in waiting:
        assert request.done and not request.error
        addresses[nsid, request.result] = number
    assert len(addresses) == 60
    for (nsid, lba), number in addresses.items():
        expected = data[number * BLOCK : (number + 1) * BLOCK]
        assert np.array_equal(driver.read(CORE, nsid, lba, 1), expected)


def test_a_full_queue_is_busy(link):
    driver = CDriver(link, queue_entries=3)
    driver.do("ft_format", True)
    requests = [Request() for _ in range(3)]
    for request in requests[:2]:
        driver.do("ft_submit_flush", request, HOST, 1)
    # The device has answered both, but the driver has not polled: it still counts their entries.
    refused(lambda: driver.do("ft_submit_flush", requests[2], HOST, 1), Error.BUSY)
    driver.do("ft_submit_flush", requests[2], CORE, 3)
    driver.do("ft_poll")
    assert all(request.done for request in requests)
    driver.do("ft_submit_flush", requests[0], HOST, 1)
    driver.do("ft_disable")
    assert (requests[0].done, requests[0].error) == (True, Error.DISABLED)


def test_a_failed_request_has_its_status(driver):
    request = Request()
    driver.do("ft_submit_read", request, CORE, 1, 0, driver.data, 1)
    refused(lambda: driver.do("ft_wait", request), status=Status.UNWRITTEN_BLOCK)
    assert (request.done, request.error, request.status) == (True, Error.STATUS, Status.UNWRITTEN_BLOCK)
