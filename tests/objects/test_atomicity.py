"""A client that dies, a server that stops, a device that loses its power: between any two commands.

Every object is then old or new, and whole.
"""

import errno
import random
import time

import pytest

from flashtrain.objects.filesystem import FlashFileSystem
from tests.nvme.helpers import Served, served
from tests.objects.cuts import Cut, Killed, kill
from tests.objects.helpers import LEASE, connect_after_kill
from tests.objects.model import Change, Objects, content, random_change


def patient(fs: FlashFileSystem, change: Change) -> None:
    """Make a change, once the claims of clients that are gone have ended."""
    for _ in range(50):
        try:
            return change.run(fs)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EBUSY):
                raise
            time.sleep(LEASE)
    raise AssertionError(f"there is no room for ever: {change.text}")


@pytest.fixture
def cut(monkeypatch) -> Cut:
    return Cut(monkeypatch)


def run(seed: int, cut: Cut, target: Served, changes: int, power: bool) -> int:
    """Random changes, half of them cut; how many were."""
    rng = random.Random(seed)
    model: Objects = {}
    fs, cuts = connect_after_kill(target), 0
    for _ in range(changes):
        change = random_change(rng, model, 6000)
        if rng.random() < 0.5:
            patient(fs, change)
            model = change.after
            continue
        act = (lambda: target.run(target.target.lose_power())) if power else kill
        cut.arm(rng.randrange(1, rng.choice([6, 12, 30])), act, behind=rng.random() < 0.5)
        made = False
        try:
            change.run(fs)
            made = True
        except (Killed, OSError):
            pass
        cuts += cut.disarm()
        late = connect_after_kill(target)
        found = content(late)
        assert found in ([change.after] if made else [model, change.after]), change.text
        model = found
        if power:
            assert content(fs) == model  # the client goes on with another connection
            late.close()
        else:
            fs._ended.detach()  # a process that is killed releases nothing
            fs = late
    fs.close()
    return cuts


def test_a_client_that_dies(seed, cut):
    with served("tiny", node="objects") as target:
        assert run(seed, cut, target, 80, power=False) > 5


def test_a_device_that_loses_its_power(seed, cut):
    with served("tiny", node="objects") as target:
        assert run(seed, cut, target, 80, power=True) > 5
