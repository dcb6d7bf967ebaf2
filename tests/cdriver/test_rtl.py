"""The C driver on the RTL: a life of a device, with losses of power and both drivers."""

from collections.abc import Iterator
from contextlib import suppress
from random import Random

import numpy as np
import pytest

from flashtrain.host import RegisterError, open_device
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Port, Status, ZoneState, preset
from flashtrain.spec.bad_blocks import marked_pages
from flashtrain.spec.optimizer import Input
from flashtrain.spec.registers import Counter
from flashtrain.spec.streams import UPDATE_NODE

from .driver import CDriver, DriverError, Error, Request
from .test_update import GROUP, State, bits, gradients, weights

HOST, CORE = Port.HOST, Port.CORE


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(preset("tiny"), 8 << 20) as opened:
        yield opened


def content(driver, blocks, seed=1):
    return np.random.default_rng(seed).integers(0, 256, blocks * driver.info.page_bytes, np.uint8)


@pytest.mark.parametrize("name", ["tiny", "small"])
def test_appends_and_reads_in_flight_on_both_ports(name):
    with RtlLink(preset(name), 8 << 20) as link:
        append_and_read(link)


def append_and_read(link):
    driver = CDriver(link)
    driver.do("ft_format", True)
    data, blocks, block = content(driver, 32), 32, driver.info.page_bytes
    driver.put(data)
    appends = [Request() for _ in range(4)]
    for number, request in enumerate(appends):
        port, nsid = ((HOST, 1), (CORE, 2))[number % 2]
        at = driver.data + number * 8 * block
        driver.do("ft_submit_append", request, port, nsid, number // 2, at, 8)
    assert not all(request.done for request in appends)
    driver.do("ft_drain")
    driver.view(blocks, blocks)[:] = 0
    reads = [Request() for _ in range(4)]
    for number, (request, append) in enumerate(zip(reads, appends, strict=True)):
        at = driver.data + (blocks + number * 8) * block
        driver.do("ft_submit_read", request, CORE, 1 + number % 2, append.result, at, 8)
    for request in reads:
        driver.do("ft_wait", request)
    assert np.array_equal(driver.view(blocks, blocks), data)
    assert driver.get("ft_counter", Counter.APPENDS) == driver.get("ft_counter", Counter.READS) == 4
    driver.do("ft_stream_reset", CORE, 2)
    with pytest.raises(DriverError) as raised:
        driver.read(CORE, 2, 0, 1)
    assert raised.value.status == Status.UNWRITTEN_BLOCK
    driver.do("ft_disable")


def test_recovery_between_both_drivers(link):
    driver = CDriver(link)
    driver.do("ft_format", True)
    data = content(driver, 13)
    driver.append(HOST, 1, 0, data)
    driver.append(CORE, 3, 0, data)
    driver.do("ft_stream_reset", CORE, 3)
    driver.append(CORE, 3, 1, data[: 2 * driver.info.page_bytes])
    driver.do("ft_annotate", 3, b"a note", 6)
    driver.append(CORE, 2, 0, data)
    link.power_cycle()

    driver = CDriver(link)
    report = driver.recover()
    assert (report.clean, list(report.blocks)) == (False, [13, 0, 2, 0, 0, 0, 0, 0])
    assert np.array_equal(driver.read(CORE, 1, 0, 13), data)
    assert driver.entry(3)[1] == b"a note"
    assert [zone.state for zone in driver.report(HOST, 1)][:2] == [ZoneState.FULL, ZoneState.EMPTY]
    driver.append(HOST, 1, 1, data)
    driver.do("ft_shutdown")

    with open_device(link=link, node=UPDATE_NODE, recover=True) as device:
        assert device.recovered.clean
        assert device.recovered.stream("inputs").blocks == 26
        assert device.stream("trained").note == b"a note"
        inputs = device.stream("inputs")
        assert np.array_equal(inputs.read_blocks(driver.info.zone_size, 13), data)
        device.stream("inputs", HOST).append(data[: 5 * driver.info.page_bytes])
        link.power_cycle()

    driver = CDriver(link)
    assert driver.recover().blocks[0] == 31
    after = driver.read(CORE, 1, driver.info.zone_size + 13, 5)
    assert np.array_equal(after, data[: len(after)])


def test_a_format_erases(link):
    driver = CDriver(link)
    driver.do("ft_format", True)
    driver.append(HOST, 1, 0, content(driver, 3))
    driver.do("ft_format", False)
    link.power_cycle()
    driver = CDriver(link)
    assert not any(driver.recover().blocks)


def test_steps_on_the_dies(link):
    driver = CDriver(link)
    driver.do("ft_format", True)
    state = State(driver)
    state.initialise()
    state.step()
    state.step(b"two steps")
    link.power_cycle()
    driver = CDriver(link)
    driver.recover()
    assert driver.entry(state.current)[1] == b"two steps"
    driver.do("ft_shutdown")
    with open_device(link=link, node=UPDATE_NODE, recover=True) as device:
        recovered = device.optimizer_state([GROUP], ("state_a", "state_b"), recovered=True)
        ours = recovered.read(Input.W)[0][0]
    with open_device("tiny", node=UPDATE_NODE) as device:
        reference = device.optimizer_state([GROUP], streams=("state_a", "state_b"))
        reference.initialise([[weights()]])
        for number in (1, 2):
            reference.update([[gradients(number)]], [state.adam(number)])
            reference.commit()
        assert np.array_equal(bits(ours), bits(reference.read(Input.W)[0][0]))


def test_a_hanging_die_ends_in_a_timeout(link):
    """Later the controller gives the die up, and its zone is read-only."""
    driver = CDriver(link, pause_cycles=100, command_polls=20)
    driver.do("ft_format", True)
    link.hang_die(0, 0)
    with pytest.raises(DriverError) as raised:
        driver.append(HOST, 1, 0, content(driver, 4))
    assert raised.value.error is Error.TIMEOUT
    for _ in range(100):
        link.run(100_000)
        with suppress(DriverError):
            driver.do("ft_drain")
            break
    assert driver.report(HOST, 1)[0].state == ZoneState.READ_ONLY


def recover_at_last(link, cut_after):
    """A recovery during which the power fails once more, at one of its pauses, unless it ends before."""
    driver = CDriver(link, command_polls=100, state_polls=100)
    pauses, run = iter(range(cut_after)), link.run

    def pause(cycles):
        if next(pauses, None) is None:
            link.power_cycle()
        run(cycles)

    link.run = pause
    with suppress(DriverError, RegisterError):
        driver.recover()
    link.run = run
    link.power_cycle()


def test_acknowledged_appends_survive_cuts_at_random_cycles(link, seed):
    random = np.random.default_rng(seed)
    driver, kept = CDriver(link), {}
    driver.do("ft_format", True)
    for _ in range(10):
        data = random.integers(0, 256, 24 * driver.info.page_bytes, np.uint8)
        driver.put(data)
        requests = [Request() for _ in range(12)]
        reset = random.integers(3) == 0 or not driver.report(HOST, 1)[0].room
        if reset:
            driver.do("ft_stream_reset", HOST, 1)
            kept.clear()
        for number, request in enumerate(requests):
            at = driver.data + 2 * number * driver.info.page_bytes
            driver.do("ft_submit_append", request, HOST, 1, 0, at, 2)
        link.run(int(random.integers(1, 15_000)))
        driver.do("ft_poll")
        for number, request in enumerate(requests):
            if request.done and not request.error:
                kept[request.result] = data.reshape(12, -1)[number]
        link.power_cycle()
        recover_at_last(link, cut_after=int(random.integers(1, 500)))
        driver = CDriver(link)
        driver.recover()
        for lba, expected in kept.items():
            assert np.array_equal(driver.read(CORE, 1, lba, 2), expected)


def test_bad_blocks_and_both_drivers(seed):
    """Marked blocks, and blocks whose erases fail; the arrays raise an error if a marked one is touched."""
    random = Random(seed)
    with RtlLink(TINY_FULL, 8 << 20) as link:
        g = link.config.geometry
        places = [(channel, 0, plane) for plane in range(g.planes) for channel in range(g.channels)]
        marked = [(*place, random.randrange(g.blocks)) for place in places]
        for where in marked:
            link.mark_block(*where, page=random.choice(marked_pages(g.pages)), whole=random.random() < 0.5)
        for number, place in enumerate(places):
            link.break_block(*place, number // 2)  # of the zones that are allocated first
        driver = CDriver(link)
        driver.do("ft_format", False)
        assert [one[:4] for one in driver.bad_blocks()] == sorted(
            marked, key=lambda one: (one[3], one[2::-1])
        )
        bad, data = driver.bad_blocks(), content(driver, 13)
        driver.append(HOST, 1, 0, data)
        link.power_cycle()

        with open_device(link=link, node=UPDATE_NODE, recover=True) as device:
            assert list(device.bad_blocks) == bad
            assert np.array_equal(device.stream("inputs").read_blocks(0, 13), data)
            device.stream("trained").append(data)
            spares = device.recovered.spares
            device.shutdown()

        driver = CDriver(link)
        report = driver.recover()
        assert (report.clean, report.bad) == (True, len(marked))
        assert report.spares >= spares > 0
        assert np.array_equal(driver.read(CORE, 1, 0, 13), data)
        assert np.array_equal(driver.read(CORE, 3, 0, 13), data)
