"""`flashtrain powercut --checkpoints`: nothing is lost, and what is lost is found."""

import json
from itertools import count

import pytest

from flashtrain.cli.main import main
from flashtrain.host import open_device
from flashtrain.host.recovery.journal import Journal
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut import Campaign, CheckpointScenario, Lost
from flashtrain.stress.powercut.failing_link import FailingLink, PowerFailed
from flashtrain.stress.powercut.survival import Survival

TINY = preset("tiny")


def campaign(seed: int) -> Campaign:
    return Campaign(TINY, RtlLink, seed, iterations=8, gap=1000, scenario=CheckpointScenario)


def test_no_checkpoint_is_lost(seed: int, request: pytest.FixtureRequest):
    """On the RTL, some of them in recoveries."""
    cuts = request.config.getoption("--long") or 12
    tally = campaign(seed).run(cuts)
    survival = tally.survival
    print(tally)
    assert tally.cuts == cuts == survival.before + survival.after + survival.none
    assert survival.checkpoints and survival.torn


@pytest.mark.parametrize("seed_of_run", range(12))
def test_a_run_without_a_cut(seed_of_run: int):
    """Its checkpoints survive a loss of power at the end."""
    with ModelLink(TINY, 1 << 18) as link, open_device(link=link, node=UPDATE_NODE) as device:
        scenario, survival = CheckpointScenario(seed_of_run, 15), Survival()
        scenario.run(device)
        link.power_cycle()
        device.recover()
        scenario.judge(device, survival)
    assert survival.checkpoints and survival.after == 1


def test_a_note_apart_from_its_commit_is_found(monkeypatch: pytest.MonkeyPatch):
    """Planted: the pin's note is recorded after the commit, in a record of its own."""
    whole = Journal.commit

    def late(self: Journal, nsid: int, updates: int, note: bytes = b"", *others: object, **more: object):
        whole(self, nsid, updates, b"", *others, **more)
        return self.annotate(nsid, note)

    monkeypatch.setattr(Journal, "commit", late)
    with pytest.raises(Lost, match="'step 1'"):
        for cycle in count(245_000, 1_000):
            scenario = CheckpointScenario(1, 2)
            with (
                FailingLink(ModelLink(TINY, 1 << 18)) as link,
                open_device(link=link, node=UPDATE_NODE) as device,
            ):
                link.time = cycle
                with pytest.raises(PowerFailed):
                    scenario.run(device)
                link.power_cycle()
                device.recover()
                scenario.judge(device, Survival())


def test_command(capsys: pytest.CaptureFixture[str]):
    assert main(["powercut", "--checkpoints", "--cuts", "3", "--iterations", "12", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cuts"] == 3 and document["compared"] >= document["survival"]["checkpoints"] > 0
