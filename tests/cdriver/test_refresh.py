"""Refreshes of old data that the power has cut: both drivers end them in the same way."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.host.recovery.journal_record import ZoneCopy
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import UPDATE_NODE, Retention
from tests.host.counted_link import CountedLink, PowerCut

from .both_drivers import BLOCK, recover_twice
from .driver import CDriver, DriverError, Error

CONFIG = preset("tiny")
DATA = (np.arange(11 * BLOCK) // 3).astype(np.uint8)
TRAINED = UPDATE_NODE.named("trained").nsid


def interrupted(pinned: bool) -> Iterator[tuple[int, CountedLink]]:
    """Every second number of commands of a refresh, and the link whose power has failed there."""
    for cut in count(pinned, 2):
        link = CountedLink(CONFIG, 1 << 18)
        device = open_device(link=link, node=UPDATE_NODE)
        stream = device.state_stream("trained")
        stream.append(DATA)
        if pinned:
            stream.pin()
        link.pass_time(Retention.YEARS.limit)
        link.left = cut
        with suppress(PowerCut):
            device.refresh()
            return
        link.left = None
        link.power_cycle()
        yield cut, link


@pytest.mark.parametrize("pinned", [False, True])
def test_the_power_may_fail_at_any_command(pinned):
    ends = 0
    for cut, link in interrupted(pinned):
        link.left = cut % 7 * 6
        with suppress(PowerCut, DriverError):
            CDriver(link, command_polls=20, state_polls=20).recover()
        link.left = None
        link.power_cycle()
        driver, device = recover_twice(link)
        record = device.recovered.record
        ends += record is not None and record.copy is not None
        assert np.array_equal(driver.read(Port.CORE, TRAINED, 0, 11), DATA), cut
        if pinned:
            with pytest.raises(DriverError) as raised:
                driver.do("ft_stream_reset", Port.CORE, TRAINED)
            assert raised.value.error is Error.STATUS
    assert ends > 3


def test_a_refresh_that_cannot_end():
    """A page of both zones cannot be read: the spare zone keeps the content, and a recovery tries again."""
    tried = 0
    for _, link in interrupted(pinned=False):
        for zone in link._flash.zones:
            if len(zone) > 4 and zone[3] and zone[3].owner.nsid == TRAINED:
                zone[3] = zone[3]._replace(owner=None)
        driver = CDriver(link)
        refreshing = driver.recover().refreshing
        link.power_cycle()
        device = open_device(link=link, node=UPDATE_NODE, recover=True)
        copy = device._journal.copy
        assert refreshing == (copy is not None)
        if copy is not None:
            assert copy.whole
            blocks = device.stream("trained").read_blocks(device.stream("trained").zone_size + 4, 7)
            assert np.array_equal(blocks.reshape(-1), DATA[4 * BLOCK :])
            tried += 1
    assert tried


def test_a_refresh_of_other_zones_is_foreign():
    link = FunctionalLink(CONFIG, 1 << 18)
    with open_device(link=link, node=UPDATE_NODE) as device:
        device._journal.begin_copy(ZoneCopy(0, 5))  # of two streams
    link.power_cycle()
    with pytest.raises(DriverError) as raised:
        CDriver(link).recover()
    assert raised.value.error is Error.FOREIGN_CONTENT
