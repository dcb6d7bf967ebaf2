"""The campaign of `flashtrain powercut`: it cuts where it says, and it finds what is wrong."""

import json
import os
import time
from contextlib import nullcontext
from random import Random
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from flashtrain.cli.main import main
from flashtrain.host import CodedStream, Device, DeviceHang, FunctionalLink, open_device
from flashtrain.host.recovery.journal import Journal
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut import Campaign, Cut, Lost, NoSuchCycle, Tally
from flashtrain.stress.powercut import campaign as campaigns
from flashtrain.stress.powercut.failing_link import FailingLink, PowerFailed
from flashtrain.stress.powercut.scenario import Scenario
from flashtrain.stress.powercut.under_way import judge_below, judge_encoded
from flashtrain.stress.workload import node_of

TINY = preset("tiny")


class Clock(FunctionalLink):
    """A Link of which only time matters: it raises its interrupt at some cycles."""

    def __init__(self, interrupts: list[int]) -> None:
        super().__init__(TINY, 1 << 18)
        self.now, self.interrupts = 0, interrupts

    @property
    def cycles(self) -> int:
        return self.now

    def read_register(self, address: int) -> int:
        self.now += 5
        return 0

    def run(self, cycles: int) -> None:
        self.now += cycles

    def wait(self, max_cycles: int | None = None) -> bool:
        end = self.now + (max_cycles or 10_000)
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
        times.append(link.cycles)
        link.time = link.cycles + random.randint(1, 40)

    link.on_time, link.time = next_time, 20
    link.run(90)
    assert link.cycles == 90 and times[0] == 20
    assert link.wait() and link.cycles == 100
    assert link.wait(1000) and link.cycles == 250
    with pytest.raises(DeviceHang):
        link.wait(500)
    assert 750 <= link.cycles < 800 and max(np.diff(times)) <= 40
    link.time = link.cycles + 3
    before = len(times)
    link.read_register(0)
    assert len(times) > before  # a register access takes cycles, too


def test_a_link_that_fails():
    link = FailingLink(Clock([100]))
    link.time = 70
    with pytest.raises(PowerFailed):
        link.wait()
    assert link.cycles == 70 and link.time is None
    assert link.wait() and link.cycles == 100


def campaign(seed: int, **options: int) -> Campaign:
    return Campaign(TINY, RtlLink, seed, **{"iterations": 4, "gap": 30_000} | options)


def test_nothing_is_lost(seed: int, request: pytest.FixtureRequest):
    cuts = request.config.getoption("--long") or 12
    tally = campaign(seed, gap=30_000 if cuts < 100 else 1000).run(cuts)
    survival = tally.survival
    print(tally)
    assert tally.cuts == cuts == survival.before + survival.after + survival.none
    assert survival.before and survival.tensors and survival.recovery_cycles > cuts * 10_000
    assert survival.torn and survival.blocks
    assert cuts < 100 or (survival.slightly and survival.half_erased)


def test_what_is_lost_is_found(monkeypatch: pytest.MonkeyPatch):
    """Planted: commits are not recorded. The cut that finds it can be seen again."""
    monkeypatch.setattr(Journal, "commit", lambda self, *args, **kwargs: self._append())
    with pytest.raises(Lost, match=r"run 0, cycle \d+: Lost: the state") as found:
        campaign(1).run(12)
    cut = found.value.cut
    assert cut is not None and str(found.value).startswith(f"run {cut.run}, cycle {cut.cycle}: ")
    with pytest.raises(Lost, match="the state"):
        campaign(1).cut_once(cut.run, cut.cycle)


def test_a_clock_that_never_comes():
    with pytest.raises(NoSuchCycle, match="run 0 of this seed ends before cycle 100000000"):
        campaign(1, iterations=1).cut_once(0, 100_000_000)


def test_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    arguments = ["powercut", "--cuts", "3", "--iterations", "2"]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cuts"] == 3 and document["lost"] is None and document["seed"] == 1
    assert document["compared"] > 0
    assert main([*arguments, "--again", "0", "330000"]) == 0
    assert "nothing is lost" in capsys.readouterr().out
    monkeypatch.setattr(Journal, "commit", lambda self, *args, **kwargs: self._append())
    assert main(["powercut", "--again", "0", "700000"]) == 1
    said = capsys.readouterr().out
    assert "LOST: " in said and said.rstrip().endswith("--again 0 700000")


def test_a_cut_with_nothing_to_compare_fails(capsys: pytest.CaptureFixture[str]):
    """Long before anything is stored."""
    assert main(["powercut", "--iterations", "1", "--again", "0", "5000"]) == 1
    output = capsys.readouterr()
    assert "NOTHING COMPARED" in output.err and output.out == ""


def test_a_campaign_with_nothing_to_compare_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Campaign, "run", lambda self, cuts, progress: Tally(cuts=3, runs=1))
    assert main(["powercut", "--cuts", "3", "--json"]) == 1
    output = capsys.readouterr()
    assert "NOTHING COMPARED" in output.err and json.loads(output.out)["compared"] == 0


@pytest.mark.parametrize("cuts", [1, 4, 12])
def test_few_cuts_spread_over_the_run(cuts: int, monkeypatch: pytest.MonkeyPatch):
    """One in each slice, or for what a slice aims at just after it: on a Link of which only time matters."""
    length, times = 120_000, []

    class Appends(Scenario):
        on_append = staticmethod(lambda: None)

        def run(self, device: Device) -> None:
            while link.cycles < length:
                if link.cycles % 7000 < 1000:
                    self.on_append()
                link.run(1000)

    class Run(campaigns._Run):
        def _cut(self, device: Device) -> None:
            times.append(self._link.cycles)
            self._tally.cuts += 1
            self._plan()

        def __init__(self, *arguments: Any) -> None:
            nonlocal link
            super().__init__(*arguments)
            link = self._link

    link = Mock()
    monkeypatch.setattr(campaigns, "_Run", Run)
    monkeypatch.setattr(campaigns, "open_device", lambda link, node: nullcontext())
    clock = lambda config, memory_bytes: Clock([])  # noqa: E731
    tally = Campaign(TINY, clock, 1, scenario=lambda seed, iterations: Appends()).run(cuts)
    assert (tally.cuts, tally.runs) == (cuts, 1) and len(times) == cuts
    programmed = 4 * TINY.timing.cycles("tprog")
    for number, cycle in enumerate(times):
        assert number * length / cuts <= cycle <= (number + 1) * length / cuts + programmed


def test_more_cuts_than_a_run_has_room_for(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[int, int]] = []

    class Counted:
        def __init__(self, campaign: Campaign, tally: Tally, progress: object) -> None:
            self._tally = tally

        def rehearse(self) -> int:
            return 10_500

        def cut_often(self, cuts: int, length: int) -> None:
            asked.append((cuts, length))
            self._tally.cuts += cuts

    monkeypatch.setattr(campaigns, "_Run", Counted)
    tally = Campaign(TINY, RtlLink, 1, gap=1000).run(25)
    assert asked == [(10, 10_500), (10, 10_500), (5, 10_500)] and tally.runs == 3


def test_an_interrupted_campaign_ends_its_judges(monkeypatch: pytest.MonkeyPatch):
    """It raises what interrupted it, and leaves no process behind."""
    scenario = Mock(run=Mock(side_effect=KeyboardInterrupt))
    clock = lambda config, memory_bytes: Clock([])  # noqa: E731
    run = campaigns._Run(
        Campaign(TINY, clock, 1, scenario=lambda seed, iterations: scenario), Tally(), lambda tally: None
    )
    answer, said = os.pipe()
    process = os.fork()
    if not process:
        time.sleep(60)
        os._exit(0)
    os.close(said)
    run._judges.append(campaigns._Judge(process, answer, Cut(0, 1)))
    monkeypatch.setattr(campaigns, "open_device", lambda link, node: nullcontext())
    with pytest.raises(KeyboardInterrupt):
        run.cut_often(1, 1000)
    assert not run._judges
    with pytest.raises(ChildProcessError):
        os.waitpid(process, 0)


def test_what_is_lost_is_named_in_the_command_that_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def lose(self: Campaign, cuts: int, progress: object) -> None:
        raise Lost("run 3, cycle 4711: gone", Cut(3, 4711))

    monkeypatch.setattr(Campaign, "run", lose)
    assert main(["powercut", "--preset", "tiny_ecc", "--seed", "5"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "LOST: run 3, cycle 4711: gone",
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
        raise NoSuchCycle("run 0 of this seed ends before cycle 9")

    monkeypatch.setattr(Campaign, "cut_once", cut_once)
    assert main(["powercut", "--again", "0", "9"]) == 2
    assert "flashtrain powercut: run 0 of this seed ends before cycle 9" in capsys.readouterr().err


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
        pages = next(zone for zone in link._flash.zones if zone)
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


def test_appends_of_unknown_length_below_a_write_pointer(seed: int):
    """They are whole and known, or refused."""
    random, config = np.random.default_rng(seed), preset("tiny_codec")
    arrays = [random.standard_normal(size).astype(np.float32) for size in (700, 100, 300)]
    arrays.append(random.integers(0, 256, 900, np.uint8))
    other = arrays[0].copy()
    other.view(np.uint32)[5] ^= 1
    with FunctionalLink(config, 1 << 18) as link, open_device(link=link, node=node_of(config)) as device:
        stored = [device.stream("inputs", Port.HOST).append(array) for array in arrays]
        reader = device.stream("inputs")
        assert isinstance(reader, CodedStream)
        found = judge_encoded(reader, arrays)
        assert (found.blocks, found.refused, found.spoilt) == (sum(one.blocks for one in stored), 0, 0)
        with pytest.raises(Lost, match="block 0 begins an append that nobody has made"):
            judge_encoded(reader, [other, *arrays[1:]])
        with pytest.raises(Lost, match=f"block {stored[1].lba} begins"):
            judge_encoded(reader, [arrays[0], *arrays[2:]])  # a shortest one is tried, known or not
        pages = next(zone for zone in link._flash.zones if zone)
        first, last = pages[0], pages[stored[0].blocks - 1]
        assert first is not None and last is not None
        for damaged in (last._replace(owner=None), last._replace(data=bytes([0xFF, *last.data[1:]]))):
            pages[stored[0].blocks - 1] = damaged
            assert judge_encoded(reader, arrays).refused == stored[0].blocks
