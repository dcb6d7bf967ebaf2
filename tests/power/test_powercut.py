"""The campaign of `flashtrain powercut`: it cuts where it says, and it finds what is wrong."""

import json
from random import Random

import numpy as np
import pytest

from flashtrain.attack.powercut import Campaign, Lost
from flashtrain.attack.powercut.failing_link import FailingLink, PowerFailed
from flashtrain.cli.main import main
from flashtrain.host import DeviceHang, FunctionalLink
from flashtrain.host.journal import Journal
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.spec import preset

TINY = preset("tiny")


class Clock(FunctionalLink):
    """A Link of which only time matters: it raises its interrupt at some clocks."""

    def __init__(self, interrupts: list[int]) -> None:
        super().__init__(TINY, 1 << 18)
        self.now, self.interrupts = 0, interrupts

    @property
    def clocks(self) -> int:
        return self.now

    def read_register(self, address: int) -> int:
        self.now += 5
        return 0

    def run(self, clocks: int) -> None:
        self.now += clocks

    def wait(self, max_clocks: int | None = None) -> bool:
        end = self.now + (max_clocks or 10_000)
        if self.interrupts and self.interrupts[0] <= end:
            self.now = max(self.now, self.interrupts.pop(0))
            return True
        self.now = end
        raise DeviceHang("no interrupt")


def test_a_link_fails_on_time():
    random = Random(3)
    link = FailingLink(Clock([100, 250, 9_000]))
    times = []

    def next_time() -> None:
        times.append(link.clocks)
        link.time = link.clocks + random.randint(1, 40)

    link.on_time, link.time = next_time, 20
    link.run(90)
    assert link.clocks == 90 and times[0] == 20
    assert link.wait() and link.clocks == 100
    assert link.wait(1000) and link.clocks == 250
    with pytest.raises(DeviceHang):
        link.wait(500)
    assert 750 <= link.clocks < 800 and max(np.diff(times)) <= 40
    link.time = link.clocks + 3
    before = len(times)
    link.read_register(0)
    assert len(times) > before  # a register access takes clocks, too


def test_a_link_that_fails():
    link = FailingLink(Clock([100]))
    link.time = 70
    with pytest.raises(PowerFailed):
        link.wait()
    assert link.clocks == 70 and link.time is None
    assert link.wait() and link.clocks == 100


def campaign(seed: int, **options: int) -> Campaign:
    return Campaign(TINY, RtlLink, seed, **{"iterations": 4, "gap": 30_000} | options)


def test_nothing_is_lost(seed: int, request: pytest.FixtureRequest):
    cuts = request.config.getoption("--long") or 12
    tally = campaign(seed, gap=30_000 if cuts < 100 else 1000).run(cuts)
    survival = tally.survival
    print(tally)
    assert tally.cuts == cuts == survival.before + survival.after + survival.none
    assert survival.before and survival.tensors and survival.recovery_clocks > cuts * 10_000


def test_what_is_lost_is_found(monkeypatch: pytest.MonkeyPatch):
    """Planted: commits are not recorded. The cut that finds it can be seen again."""
    monkeypatch.setattr(Journal, "commit", lambda self, nsid, source, updates: self._append())
    with pytest.raises(Lost, match=r"run 0, clock \d+: Lost: the state") as found:
        campaign(1).run(12)
    clock = int(str(found.value).split("clock ")[1].split(":")[0])
    with pytest.raises(Lost, match="the state"):
        campaign(1).cut_once(0, clock)


def test_a_clock_that_never_comes():
    with pytest.raises(Lost, match="run 0 has no clock"):
        campaign(1, iterations=1).cut_once(0, 100_000_000)


def test_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    arguments = ["powercut", "--cuts", "3", "--gap", "60000", "--iterations", "2"]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cuts"] == 3 and document["lost"] is None and document["seed"] == 1
    assert main([*arguments, "--again", "0", "90000"]) == 0
    assert "all is there" in capsys.readouterr().out
    monkeypatch.setattr(Journal, "commit", lambda self, nsid, source, updates: self._append())
    assert main(["powercut", "--again", "0", "700000"]) == 1
    assert "LOST: " in capsys.readouterr().out
