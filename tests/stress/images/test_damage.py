"""Damaged images: a device returns what is right or an error, an inspection a report or a message."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.host import FunctionalLink
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.stress.images import DamageCampaign


@pytest.mark.parametrize("name", ["tiny", "tiny_ecc"])
def test_nothing_is_wrong(name, tmp_path, seed):
    tally = DamageCampaign(preset(name), (FunctionalLink, ModelLink), tmp_path, seed).run(25)
    assert not tally.faults, tally.faults[0]
    assert tally.images == 25 and tally.opened > 5 and tally.right > 5 * tally.opened


@pytest.mark.long
def test_nothing_is_wrong_in_many(tmp_path, seed):
    for links, images in (((FunctionalLink, ModelLink), 5000), ((RtlLink,), 100)):
        tally = DamageCampaign(preset("tiny"), links, tmp_path, seed).run(images)
        assert not tally.faults, tally.faults[0]


def test_wrong_bytes_are_found(tmp_path, monkeypatch):
    """A planted fault: no checksum of cells is ever wrong."""

    class Always(int):
        def __eq__(self, other):
            return True

        def __ne__(self, other):
            return False

        __hash__ = int.__hash__

    monkeypatch.setattr("flashtrain.host.functional.stored_flash.crc32", lambda cells: Always(0))
    tally = DamageCampaign(preset("tiny"), (FunctionalLink,), tmp_path, 1).run(1, first=6)
    assert tally.wrong and any("other bytes than were stored" in fault for fault in tally.faults)


def test_the_command(capsys):
    assert main(["damage", "--images", "3", "--first", "7", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["images"] == 3 and document["faults"] == []
