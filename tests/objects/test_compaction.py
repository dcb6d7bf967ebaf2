"""The log of names moves to the next zone: cut at each of its commands."""

import time

import pytest

from flashtrain.objects import names
from tests.nvme.helpers import served
from tests.objects.cuts import Cut, Killed, kill
from tests.objects.helpers import LEASE, connect_after_kill
from tests.objects.model import content


@pytest.mark.parametrize("power", [False, True], ids=["a client dies", "the power fails"])
def test_a_cut_at_each_command(monkeypatch, power):
    """The client dies behind a command, or the power fails in front of it.

    The folder is there or not, all else is there, and the names go on.
    """
    cut, made = Cut(monkeypatch), []
    with served("tiny", node="objects") as target:
        fs = connect_after_kill(target)
        fs.pipe("objects/x", b"x" * 1000)
        for command in range(1, 40):
            epoch = fs.store.names.epoch
            while fs.store.names._fits(fs.store.names._log, [bytes(1024)]):
                fs.touch("objects/x", truncate=False)
            assert fs.store.names.epoch == epoch
            act = (lambda: target.run(target.target.lose_power())) if power else kill
            cut.arm(command, act, behind=not power)
            try:
                fs.mkdir(f"objects/{command}")
            except (Killed, ConnectionError):
                pass
            happened = cut.disarm()
            if power:
                fs.close()
            fs._ended.detach()  # else the collector closes it, in a thread of the target as well
            fs = connect_after_kill(target)
            fs.ls("objects")
            time.sleep(LEASE)
            assert content(fs) == {"objects/x": b"x" * 1000}
            made.append(fs.isdir(f"objects/{command}"))
            if not happened:
                break
            if made[-1]:
                fs.rmdir(f"objects/{command}")
        assert made[-1] and not all(made)
        assert fs.ls("objects", detail=False) == [f"objects/{command}", "objects/x"]
        fs.close()


def test_a_power_failure_in_each_of_many_compactions(monkeypatch):
    """Each spoils a zone; there is always another one."""
    cut = Cut(monkeypatch)
    with served("tiny", node="objects") as target:
        fs = connect_after_kill(target)
        for turn in range(12):
            fs.pipe("objects/x", bytes([turn]))
            while fs.store.names._fits(fs.store.names._log, [bytes(1024)]):
                fs.touch("objects/x", truncate=False)
            cut.arm(4, lambda: target.run(target.target.lose_power()), behind=True)
            try:
                fs.touch("objects/x", truncate=False)
            except OSError:
                pass
            cut.disarm()
            assert fs.cat("objects/x") == bytes([turn])
            time.sleep(0.01)
        fs.close()


def test_a_log_in_a_long_zone(monkeypatch):
    """It is compacted long before its zone is full, but not again and again when there are many names."""
    with served("small", node="objects") as target:
        fs = connect_after_kill(target)
        monkeypatch.setattr(names, "MOST_LOG_BYTES", 40 << 10)
        for _ in range(30):
            fs.touch("objects/x", truncate=not fs.exists("objects/x"))
        assert 4 <= fs.store.names.epoch <= 9
        monkeypatch.setattr(names, "MOST_LOG_BYTES", 0)
        before = fs.store.names.epoch
        for _ in range(12):
            fs.touch("objects/x", truncate=False)
        assert 3 <= fs.store.names.epoch - before <= 4
        fs.close()
