"""Kills of processes with an image: nothing acknowledged is lost, and what is lost is found."""

import json
from pathlib import Path

import pytest

from flashtrain.cli.main import main
from flashtrain.host import FunctionalLink
from flashtrain.host.image import FlashImage
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.streams import STORE_NODE
from flashtrain.stress.kills import CatalogLedger, KillCampaign, StateLedger, StreamLedger
from flashtrain.stress.powercut.lost import Lost

TINY = preset("tiny")


def campaign(path: Path, links=(FunctionalLink,), **options) -> KillCampaign:
    return KillCampaign(TINY, links, path / "flash.img", seed=1, **options)


@pytest.mark.parametrize(
    ("links", "kills"), [((FunctionalLink,), 6), ((RtlLink,), 3), ((FunctionalLink, RtlLink), 3)],
    ids=["functional", "rtl", "both"],
)  # fmt: skip
def test_nothing_is_lost(tmp_path, links, kills):
    tally = campaign(tmp_path, links).run(kills)
    assert tally.kills == kills and tally.shutdowns >= 1
    assert tally.acknowledged and tally.compared


def test_a_catalogue_is_whole(tmp_path):
    tally = campaign(tmp_path, node=STORE_NODE, ledgers=(CatalogLedger,)).run(5)
    assert tally.under_way and tally.compared


def test_what_never_reaches_the_file_is_found(tmp_path, monkeypatch):
    """A planted fault: pages of data are in the memory of a process alone."""
    program = FlashImage.program

    def forgetful(self, runs, *rest):
        if kept := [run for run in runs if run.number % 5]:
            program(self, kept, *rest)

    monkeypatch.setattr(FlashImage, "program", forgetful)
    with pytest.raises(Lost):
        campaign(tmp_path, ledgers=(StreamLedger, StateLedger)).run(40)


def test_the_command(tmp_path, capsys):
    image = tmp_path / "kept.img"
    assert main(["kill", "--kills", "2", "--image", str(image), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["lost"] is None and document["kills"] == 2 and image.exists()
    assert main(["kill", "--kills", "2", "--image", str(image)]) == 2
    assert "the file exists; expected a new one" in capsys.readouterr().err
