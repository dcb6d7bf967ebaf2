"""`flashtrain fuzz` as a user meets it."""

import json

import pytest

from flashtrain.cli import main as cli
from flashtrain.host.functional.checks import Checker
from flashtrain.spec import PRESETS
from flashtrain.stress.fuzz import Fuzz, Tally

RUN = ("fuzz", "--commands", "300", "--seed", "4")


def test_a_good_device(capsys):
    assert cli.main(RUN) == 0
    text = capsys.readouterr().out
    assert "all answered as they must be (functional" in text
    assert "SUCCESS" in text and "ZONE_APPEND" in text and "bits flipped" in text


def test_as_one_document(capsys):
    assert cli.main((*RUN, "--json")) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["right"] and document["commands"] >= 300
    assert sum(document["statuses"].values()) == document["commands"]


def test_the_same_seed_says_the_same(capsys):
    documents = []
    for _ in range(2):
        assert cli.main((*RUN, "--json")) == 0
        document = json.loads(capsys.readouterr().out)
        del document["seconds"]
        documents.append(document)
    assert documents[0] == documents[1]


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "tiny"])
def test_any_preset(preset, capsys):
    assert cli.main((*RUN, "--preset", preset)) == 0


def test_a_scene_before_the_first(capsys):
    with pytest.raises(SystemExit) as left:
        cli.main((*RUN, "--scene", "-3"))
    assert left.value.code == 2
    assert "--scene: expected an integer of at least 0, got '-3'" in capsys.readouterr().err


@pytest.fixture
def broken_device(monkeypatch):
    """It lets every port do everything."""
    monkeypatch.setattr(Checker, "_allowed", lambda self, port, request: True)


def test_a_broken_device(broken_device, capsys):
    assert cli.main(RUN) == 1
    text = capsys.readouterr().out
    assert "WRONG: seed 4, scene 0" in text and "expected ACCESS_DENIED" in text and "(rule 4: " in text
    assert "It takes no more than:" in text
    assert "flashtrain fuzz --link functional --preset tiny --seed 4 --commands 300 --scene 0" in text


def test_a_broken_device_as_one_document(broken_device, capsys):
    assert cli.main((*RUN, "--json")) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["right"] is False and "ACCESS_DENIED" in document["found"]


def test_a_campaign_that_judged_nothing_fails(monkeypatch, capsys):
    """All its commands were in batches that could not be judged."""
    monkeypatch.setattr(Fuzz, "run", lambda *_: Tally(commands=20, unjudged=20))
    assert cli.main((*RUN, "--json")) == 1
    output = capsys.readouterr()
    assert "NOTHING JUDGED" in output.err and json.loads(output.out)["judged"] == 0
