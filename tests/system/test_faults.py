"""The campaign of `flashtrain faults`: training on cells that forget bits and blocks that break."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.cli.main import main
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.nand.errors import Wear, even
from flashtrain.spec import ConfigError, config_text, preset
from flashtrain.stress.faults import Campaign, Spoilt, Tally
from flashtrain.stress.faults.conditions import Conditions

TINY = preset("tiny")


def test_training_on_cells_that_forget(
    seed: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("flashtrain.stress.faults.campaign.RUNS_PER_PROCESS", 1)  # so there are two batches
    runs = request.config.getoption("--long") or 3
    tally = Campaign(TINY_FULL, seed, iterations=3).run(runs)
    print(tally)
    assert tally.runs == runs
    assert 0 < tally.corrected <= tally.wrong_bits


def test_too_many_errors_are_found(monkeypatch: pytest.MonkeyPatch):
    """More than the code corrects: the run does not end well, and nothing wrong is returned."""
    monkeypatch.setattr(
        Conditions, "random", lambda random, iterations, geometry: Conditions(even(4e-3, 1), 0.0)
    )
    with pytest.raises(Spoilt, match=r"run 3: .*Conditions"):
        Campaign(TINY_FULL, 1, iterations=3).run_once(3)


def hanging(rate: float):
    """In the place of `Conditions.hanging`."""
    return lambda self, random: replace(self, errors=replace(self.errors, hang=Wear(rate, exponent=0.0)))


def test_a_die_that_hangs_ends_a_run(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Conditions, "hanging", hanging(0.05))
    tally = Campaign(TINY_FULL, seed, iterations=3, hangs=True).run_once(0)
    assert tally.ended == 1 and tally.hung >= 1


def test_without_a_lost_die_no_error_is_excused(monkeypatch: pytest.MonkeyPatch):
    too_many = Conditions(even(4e-3, 1), 0.0)
    monkeypatch.setattr(Conditions, "random", lambda random, iterations, geometry: too_many)
    monkeypatch.setattr(Conditions, "hanging", hanging(0.0))
    with pytest.raises(Spoilt, match=r"run 3: MediaError: .* of stream '.*Conditions"):
        Campaign(TINY_FULL, 1, iterations=3, hangs=True).run_once(3)


@pytest.mark.parametrize("tally", [Tally(runs=2, losses=8), Tally(runs=2, wrong_bits=7, ended=2)])
def test_runs_that_tried_nothing_fail(
    tally: Tally, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """No fault occurred, or all runs ended before their first loss."""
    monkeypatch.setattr(Campaign, "run", lambda *_: tally)
    assert main(["faults", "--runs", "2", "--json"]) == 1
    output = capsys.readouterr()
    assert "NOTHING TRIED" in output.err and json.loads(output.out)["judged"] is False


def test_what_a_reader_sees(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(Campaign, "run", lambda *_: Tally(runs=2, losses=16, wrong_bits=1234, corrected=7))
    assert main(["faults", "--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("all the same as plain NumPy to the last bit")
    assert lines[1] == "wrong bits      1,234 sensed; the channels corrected 7 of them, in 0 pages"
    assert all(len(line) <= 110 for line in lines)


def test_a_device_without_a_code():
    with pytest.raises(ConfigError, match="code_strength"):
        Campaign(TINY, 1)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "tiny_full.toml"
    file.write_text(config_text(TINY_FULL), encoding="utf-8")
    assert main(["faults", "--config", str(file), "--runs", "1", "--iterations", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["runs"] == 1 and document["spoilt"] is None and document["cycles"] > 100_000


def test_a_spoilt_run_can_be_seen_again(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    def spoilt(*_: object) -> None:
        raise Spoilt(7, "weights differ")

    monkeypatch.setattr(Campaign, "run", spoilt)
    assert main(["faults", "--seed", "5", "--hangs"]) == 1
    printed = capsys.readouterr().out
    assert "SPOILT: run 7: weights differ" in printed
    assert all(option in printed for option in ("--seed 5", "--run 7", "--hangs"))
