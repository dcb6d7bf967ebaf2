"""The catalogue under power failures: at random commands, at random cycles of the RTL, and the command."""

import json
from collections.abc import Mapping
from itertools import count
from random import Random
from typing import Any

import pytest

from flashtrain.cli.main import main
from flashtrain.host import Catalog, open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.streams import STORE_NODE
from flashtrain.stress.powercut import Campaign, CatalogScenario, Lost
from flashtrain.stress.powercut.catalog_oracle import CatalogOracle
from flashtrain.stress.powercut.failing_link import PowerFailed
from flashtrain.stress.powercut.survival import Survival
from tests.stress.powercut.test_functional_power import FailingLink

CUTS = {"tiny": 24, "tiny_ecc": 6}
MOST_BYTES = 20 * 512


def survive(name: str, seed: int, cuts: int) -> tuple[Survival, CatalogOracle]:
    """Changes of a catalogue, each row of them ended by a loss of power; some fail in recoveries, too."""
    random = Random(seed)
    link = FailingLink(random, preset(name))
    oracle, survival = CatalogOracle(random, MOST_BYTES), Survival()
    device = open_device(link=link, node=STORE_NODE)
    for _ in range(cuts):
        link.left = random.randrange(20, 120)
        with pytest.raises(PowerFailed):
            for _ in count():
                oracle.step(device.catalog)
        while True:
            link.power_cycle()
            link.left = random.randrange(80) if random.random() < 0.3 else -1
            try:
                if random.random() < 0.5:
                    device.recover()
                else:
                    device = open_device(link=link, node=STORE_NODE, recover=True)
                break
            except PowerFailed:
                survival.again += 1
        link.left = -1
        oracle.check(device.catalog, survival)
    return survival, oracle


@pytest.mark.parametrize("name", CUTS)
def test_power_failures_at_random_commands(name: str, seed: int, request: pytest.FixtureRequest):
    survival, oracle = survive(name, seed, request.config.getoption("--long") or CUTS[name])
    print(survival, oracle.steps, "operations,", oracle.refused, "refused")
    assert survival.before and survival.after and oracle.steps > 100


def _one_by_one(self: Catalog, arrays: Mapping[str, Any]) -> None:
    for name, array in arrays.items():
        self[name] = array


def _copied(self: Catalog, old: str, new: str) -> None:
    self[new] = self[old]
    del self[old]


@pytest.mark.parametrize(("method", "planted"), [("update", _one_by_one), ("rename", _copied)])
def test_a_change_in_parts_is_found(method: str, planted: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Catalog, method, planted)
    with pytest.raises(Lost, match=r"the catalogue has .* expected .* or "):
        survive("tiny", 1, 60)


def test_nothing_is_lost_on_the_rtl(seed: int, request: pytest.FixtureRequest):
    cuts = request.config.getoption("--long") or 8
    tally = Campaign(preset("tiny"), RtlLink, seed, iterations=3, scenario=CatalogScenario).run(cuts)
    print(tally)
    assert tally.cuts == cuts == tally.survival.before + tally.survival.after
    assert tally.survival.tensors and tally.survival.torn


def test_command(capsys: pytest.CaptureFixture[str]):
    assert main(["powercut", "--catalog", "--cuts", "3", "--iterations", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cuts"] == 3 and document["survival"]["tensors"]
