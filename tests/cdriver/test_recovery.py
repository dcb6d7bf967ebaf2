"""Both drivers recover the same content from the same flash, and leave the same flash behind."""

from contextlib import suppress

import numpy as np
import pytest

from flashtrain.host import CommandError, Device, FunctionalLink, StreamFull, TensorGroup, open_device
from flashtrain.spec import NodeTable, Port, Status, ZoneState, preset
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import SGD

from .both_drivers import BLOCK, PLACES, ZONE_SIZE, Model, random_action, recover_twice
from .driver import CDriver, DriverError, Error

TINY = preset("tiny")
NO_JOURNAL = NodeTable("no journal", tuple(s for s in UPDATE_NODE.streams if s is not UPDATE_NODE.journal))
GROUP = TensorGroup(OptimizerCode.SGD, ((900,),))


def new_link():
    return FunctionalLink(TINY, 1 << 18)


def test_random_commands_and_losses_of_power(seed):
    random = np.random.default_rng(seed)
    link, model = new_link(), Model()
    driver = CDriver(link)
    driver.do("ft_format", True)
    for _ in range(25):
        for _ in range(int(random.integers(1, 25))):
            random_action(random, driver, model)
        model.compare(driver)
        notes = {nsid: driver.entry(nsid)[1] for nsid in (1, 3)}
        if random.integers(2):
            driver.do("ft_shutdown")
        link.power_cycle()
        model.reset(2)
        driver, device = recover_twice(link)
        model.compare(driver, device)
        names = {nsid: name for *_, nsid, name in PLACES}
        for nsid, note in notes.items():
            assert driver.entry(nsid)[1] == note == device.stream(names[nsid], Port.CORE).note


def python_history(random, device: Device):
    """Work of the Python driver: appends, resets, state with updates, pins, notes; returns the weights."""
    state = device.optimizer_state([GROUP])
    state.initialise([[np.arange(900, dtype=np.float32)]])

    def step():
        state.update([[np.ones(900, np.float32)]], [SGD(0.5).constants(1)])

    for _ in range(int(random.integers(1, 9))):
        name, port = [("inputs", Port.HOST), ("trained", Port.CORE)][random.integers(2)]
        stream, kind = device.stream(name, port), random.integers(6)
        with suppress(StreamFull, CommandError):
            if kind == 0:
                stream.reset()
            elif kind == 1:
                step()
                state.commit()
            elif kind == 2:
                stream.annotate(random.bytes(20))
            elif kind == 3:
                stream.retire_zone(1, ZoneState.READ_ONLY)
            elif kind == 4:
                device.link.pass_time(int(random.integers(1, 100_000)))
            else:
                stream.append(random.integers(0, 256, 3 * BLOCK, np.uint8))
    weights = state.read(Input.W)[0][0]
    if random.integers(2):
        device.state_stream("trained").pin(b"kept")
    if random.integers(2):
        step()  # an update that is not committed
    return weights


def test_histories_of_the_python_driver(seed):
    random = np.random.default_rng(seed)
    for _ in range(12):
        link = new_link()
        device = open_device(link=link, node=UPDATE_NODE)
        weights = python_history(random, device)
        if random.integers(2):
            device.shutdown()
        link.power_cycle()
        driver, twin = recover_twice(link)
        for table in UPDATE_NODE.streams:
            if table.persistency and table is not UPDATE_NODE.journal:
                entry, note = driver.entry(table.nsid)
                expected = twin._journal.entry(table.nsid)
                assert (entry.generation, entry.commit, entry.updates, entry.pinned, note) == (
                    expected.generation, expected.commit, expected.updates, expected.pinned, expected.note,
                )  # fmt: skip
        driver.do("ft_shutdown")
        again = open_device(link=link, node=UPDATE_NODE, recover=True)
        assert again.recovered.clean
        attached = again.optimizer_state([GROUP], recovered=True)
        assert np.array_equal(attached.read(Input.W)[0][0], weights)


@pytest.mark.parametrize("orderly", [True, False], ids=["orderly end", "loss of power"])
def test_zones_out_of_service_and_pages_that_vanish(orderly):
    """A zone out of service outlives resets; lost pages are media errors, and their blocks take no more."""
    link, data = new_link(), np.arange(5 * BLOCK, dtype=np.uint32).astype(np.uint8)
    driver = CDriver(link)
    driver.do("ft_format", True)
    driver.append(Port.CORE, 3, 0, data)
    driver.do("ft_zone_retire", Port.CORE, 3, 0, ZoneState.READ_ONLY)
    for zone, blocks in ((0, 5), (1, 4)):
        driver.append(Port.HOST, 1, zone, data[: blocks * BLOCK])
    for _ in range(2):
        driver.do("ft_stream_reset", Port.CORE, 3)
        if orderly:
            driver.do("ft_shutdown")
        link.power_cycle()
        driver, _ = recover_twice(link)
        assert driver.report(Port.CORE, 3)[0].state == ZoneState.READ_ONLY
        assert np.array_equal(driver.read(Port.CORE, 3, 0, 5), data)
    driver.append(Port.CORE, 3, 1, data[:BLOCK])
    if orderly:
        driver.do("ft_shutdown")
    for zone in link._flash.zones:
        if zone and zone[0] is not None and zone[0].owner.nsid == 1:
            zone[3] = None
        if zone and zone[0] is not None and zone[0].owner.nsid == 3 and len(zone) == 1:
            zone[0] = None
    link.power_cycle()
    driver, _ = recover_twice(link)
    found = [(zone.state, zone.written) for zone in driver.report(Port.HOST, 1)[:2]]
    assert found == [(ZoneState.FULL, 5), (ZoneState.FULL, 4 if orderly else 3)]
    without_pages = driver.report(Port.CORE, 3)[1]
    vanished = (ZoneState.FULL, 1) if orderly else (ZoneState.EMPTY, 0)
    assert (without_pages.state, without_pages.written) == vanished
    for lba in (3, ZONE_SIZE + 3):
        with pytest.raises(DriverError) as raised:
            driver.read(Port.CORE, 1, lba, 1)
        assert raised.value.status == Status.UNRECOVERED_READ_ERROR


def torn(link, owner):
    """The newest page of the journal as an interrupted program leaves it."""
    newest = max(
        (zone for zone in link._flash.zones if zone and zone[0] and zone[0].owner.nsid == 8),
        key=lambda zone: zone[0].owner.sequence,
    )
    page = newest[-1]
    if owner:
        newest[-1] = page._replace(owner=None)
    else:
        newest[-1] = page._replace(data=bytes(byte | 0x80 for byte in page.data))


@pytest.mark.parametrize("owner", [True, False], ids=["without identity", "with spoilt data"])
def test_the_last_record_may_be_torn(owner):
    link = new_link()
    driver = CDriver(link)
    driver.do("ft_format", True)
    data = np.arange(4 * BLOCK, dtype=np.uint64).view(np.uint8)[: 4 * BLOCK]
    driver.do("ft_stream_reset", Port.HOST, 1)
    driver.append(Port.HOST, 1, 0, data)
    driver.do("ft_annotate", 3, b"note", 4)
    torn(link, owner)
    link.power_cycle()
    driver, _ = recover_twice(link)
    assert np.array_equal(driver.read(Port.CORE, 1, 0, 4), data)
    assert driver.entry(3)[1] == b""


def test_a_node_without_journal():
    link = new_link()
    driver = CDriver(link, NO_JOURNAL)
    driver.do("ft_format", False)
    data = np.arange(30 * BLOCK, dtype=np.uint32).astype(np.uint8)
    driver.append(Port.HOST, 1, 0, data[: 16 * BLOCK])
    driver.append(Port.HOST, 1, 1, data[: 5 * BLOCK])
    driver.do("ft_stream_reset", Port.CORE, 3)
    driver.do("ft_shutdown")
    link.power_cycle()
    driver, _ = recover_twice(link, NO_JOURNAL)
    assert np.array_equal(driver.read(Port.CORE, 1, ZONE_SIZE, 5), data[: 5 * BLOCK])
    with pytest.raises(DriverError) as raised:
        driver.entry(1)
    assert raised.value.error is Error.NO_JOURNAL


def test_a_device_of_several_dies(seed):
    """A zone of many superpages, whose write pointer is searched for."""
    random = np.random.default_rng(seed)
    link = FunctionalLink(preset("small"), 16 << 20)
    driver = CDriver(link)
    driver.do("ft_format", True)
    block = driver.info.page_bytes
    expected = []
    for blocks in (700, 1, 33, 500):
        data = random.integers(0, 256, blocks * block, np.uint8)
        expected.append((driver.append(Port.HOST, 1, 0, data), blocks, data))
    for clean in (True, False):
        if clean:
            driver.do("ft_shutdown")
        link.power_cycle()
        driver, _ = recover_twice(link)
        for lba, blocks, data in expected:
            assert np.array_equal(driver.read(Port.CORE, 1, lba, blocks), data)
    assert driver.report(Port.HOST, 1)[0].state == ZoneState.FULL
