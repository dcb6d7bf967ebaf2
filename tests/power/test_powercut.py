"""The campaign of `flashtrain powercut`: it cuts where it says, and it finds what is wrong."""

import json
from random import Random

import numpy as np
import pytest

from flashtrain.attack.powercut import Campaign, Cut, Lost, NoSuchClock
from flashtrain.attack.powercut.failing_link import FailingLink, PowerFailed
from flashtrain.attack.powercut.under_way import judge_below
from flashtrain.cli.main import main
from flashtrain.host import DeviceHang, FunctionalLink, open_device
from flashtrain.host.journal import Journal
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import UPDATE_NODE

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
    assert survival.torn and survival.blocks
    assert cuts < 100 or (survival.slightly and survival.half_erased)


def test_what_is_lost_is_found(monkeypatch: pytest.MonkeyPatch):
    """Planted: commits are not recorded. The cut that finds it can be seen again."""
    monkeypatch.setattr(Journal, "commit", lambda self, nsid, source, updates: self._append())
    with pytest.raises(Lost, match=r"run 0, clock \d+: Lost: the state") as found:
        campaign(1).run(12)
    cut = found.value.cut
    assert cut is not None and str(found.value).startswith(f"run {cut.run}, clock {cut.clock}: ")
    with pytest.raises(Lost, match="the state"):
        campaign(1).cut_once(cut.run, cut.clock)


def test_a_clock_that_never_comes():
    with pytest.raises(NoSuchClock, match="run 0 of this seed ends before clock 100000000"):
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
    said = capsys.readouterr().out
    assert "LOST: " in said and said.rstrip().endswith("--again 0 700000")


def test_what_is_lost_is_named_in_the_command_that_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def lose(self: Campaign, cuts: int, progress: object) -> None:
        raise Lost("run 3, clock 4711: gone", Cut(3, 4711))

    monkeypatch.setattr(Campaign, "run", lose)
    assert main(["powercut", "--preset", "tiny_ecc", "--seed", "5"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "LOST: run 3, clock 4711: gone",
        "see it again: flashtrain powercut --preset tiny_ecc --seed 5 --iterations 12 --again 3 4711",
    ]


@pytest.mark.parametrize("arguments", [["--again", "0", "-1"], ["--again", "-1", "5"], ["--cuts", "0"]])
def test_numbers_that_make_no_sense(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        main(["powercut", *arguments])
    assert "expected an integer of at least" in capsys.readouterr().err


def test_a_clock_past_the_end_is_a_mistake_in_the_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def cut_once(self: Campaign, run: int, clock: int) -> None:
        raise NoSuchClock("run 0 of this seed ends before clock 9")

    monkeypatch.setattr(Campaign, "cut_once", cut_once)
    assert main(["powercut", "--again", "0", "9"]) == 2
    assert "flashtrain powercut: run 0 of this seed ends before clock 9" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["tiny", "tiny_ecc"])
def test_blocks_below_the_write_pointer(name: str, seed: int):
    """Each is just what was appended, or refused; with ones for zeros only where there is no code."""
    random = np.random.default_rng(seed)
    arrays = [random.integers(0, 256, size, np.uint8) for size in (700, 3000, 512)]
    arrays[2][0] = 0x7E
    with (
        FunctionalLink(preset(name), 1 << 18) as link,
        open_device(link=link, node=UPDATE_NODE) as device,
    ):
        stream = device.stream("inputs", Port.HOST)
        for array in arrays:
            stream.append(array)
        reader, coded = device.stream("inputs"), link.config.code is not None
        found = judge_below(reader, arrays, coded)
        assert (found.blocks, found.refused, found.spoilt) == (9, 0, 0)
        with pytest.raises(Lost, match="block 8 holds what nobody has appended"):
            judge_below(reader, arrays[:2], coded)
        pages = next(zone.pages for zone in link._flash.zones if zone.pages)
        first, last = pages[0], pages[8]
        assert first is not None and last is not None
        pages[0] = first._replace(owner=None)
        assert judge_below(reader, arrays, coded).refused == 1
        pages[8] = last._replace(data=bytes([0xFF, *last.data[1:]]))
        if coded:
            with pytest.raises(Lost, match="block 8"):
                judge_below(reader, arrays, coded)
        else:
            found = judge_below(reader, arrays, coded)
            assert (found.blocks, found.refused, found.spoilt) == (9, 1, 1)
        pages[8] = last._replace(data=bytes([0x3F, *last.data[1:]]))
        with pytest.raises(Lost, match="block 8"):
            judge_below(reader, arrays, coded)
