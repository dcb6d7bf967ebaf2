"""`flashtrain bringup`: its table, its document and its exit codes."""

import json
from dataclasses import replace

import pytest

from flashtrain.cli import bringup
from flashtrain.cli.main import main
from flashtrain.spec import config_text, load_config
from flashtrain.spec.presets import TINY
from tests.chip.onfi_chip import Facts, OnfiChip
from tests.chip.port_link import PortLink

CONFIG = replace(TINY, name="board", command_port=True)
G = CONFIG.geometry
FACTS = Facts(
    page_bytes=G.page_bytes, spare_bytes=G.spare_bytes, pages=G.pages, blocks=G.blocks * G.planes,
    plane_bits=1,
)  # fmt: skip


@pytest.fixture
def chips(monkeypatch, tmp_path):
    """The chips of the two channels of the file `board.toml`, behind the Link `rtl`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "board.toml").write_text(config_text(CONFIG), encoding="utf-8")
    chips = [OnfiChip(FACTS), OnfiChip(FACTS)]

    def make(config, memory_bytes):
        link = PortLink(config, memory_bytes)
        link.chips = [[chip] for chip in chips]
        return link

    kind = bringup.LINKS["rtl"]
    monkeypatch.setitem(bringup.LINKS, "rtl", replace(kind, factory=make))
    return chips


def test_good_chips(chips, capsys):
    assert main(["bringup", "--config", "board.toml", "--fastest", "2"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("channel")]
    assert [row[:8] for row in rows] == [
        ["channel", str(channel), "die", "0", "FLASHTRAIN", "TESTED", "SDR", "mode"] for channel in (0, 1)
    ]
    assert all(row[8:] == ["2", "timing", "mode"] for row in rows)


def test_a_missing_chip(chips, capsys):
    chips[1] = OnfiChip(present=False)
    assert main(["bringup", "--config", "board.toml", "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["chips"]
    assert first["error"] is None and first["mode"] == 5
    assert first["parameter_page"]["page_bytes"] == G.page_bytes
    assert second["error"][0] == "ChipMissing" and second["parameter_page"] is None
    assert main(["bringup", "--config", "board.toml"]) == 1
    assert "ChipMissing: the chip of channel 1, die 0 does not answer" in capsys.readouterr().out


def test_probe(chips, capsys):
    """The file fits the chips, and keeps what they do not state."""
    others = replace(FACTS, page_bytes=2048, spare_bytes=128, pages=64, blocks=400, tr_us=25, tbers_us=3000)
    chips[:] = [OnfiChip(others), OnfiChip(others)]
    assert main(["bringup", "--config", "board.toml", "--probe", "probed.toml"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "probed.toml"
    found = load_config("probed.toml")
    geometry = replace(G, page_bytes=2048, spare_bytes=128, pages=64, blocks=200)
    assert (found.geometry, found.name) == (geometry, "board")
    times = {name: getattr(found.timing, name).ns for name in ("tr", "tprog", "tbers", "twc")}
    assert times == {"tr": 25e3, "tprog": others.tprog_us * 1e3, "tbers": 3e6, "twc": CONFIG.timing.twc.ns}
    chips[:] = [OnfiChip(others), OnfiChip(others)]
    assert main(["bringup", "--config", "probed.toml"]) == 0


def test_probe_of_luns(chips, capsys):
    """Each is a die, and the file has nothing that they exclude."""
    facts = replace(FACTS, luns=2)
    chips[:] = [OnfiChip(facts), OnfiChip(facts)]
    assert main(["bringup", "--config", "board.toml", "--probe", "probed.toml"]) == 0
    found = load_config("probed.toml")
    assert (found.geometry.dies, found.chips.luns, found.chip_enables) == (2, 2, 1)
    assert not found.chips.update and not found.chips.suspended_read
    chips[:] = [OnfiChip(facts), OnfiChip(facts)]
    assert main(["bringup", "--config", "probed.toml"]) == 0


@pytest.mark.parametrize(
    ("second", "text"),
    [
        (OnfiChip(present=False), "ChipMissing: the chip of channel 1, die 0 does not answer"),
        (OnfiChip(replace(FACTS, pages=9)), "WrongChip: the chips state different parameter pages"),
    ],
)
def test_no_probe_of_these(chips, capsys, tmp_path, second, text):
    chips[1] = second
    assert main(["bringup", "--config", "board.toml", "--probe", "probed.toml"]) == 1
    assert text in capsys.readouterr().out and not (tmp_path / "probed.toml").exists()


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (
            replace(FACTS, luns=3),
            "WrongChip: FLASHTRAIN TESTED has 3 LUNs behind a CE_n; expected 1, 2, 4 or 8",
        ),
        (
            replace(FACTS, page_bytes=3000),
            "ConfigError: geometry.page_bytes is 3000; expected a power of two",
        ),
    ],
)
def test_no_controller_for_these(chips, capsys, tmp_path, facts, text):
    chips[:] = [OnfiChip(facts), OnfiChip(facts)]
    assert main(["bringup", "--config", "board.toml", "--probe", "probed.toml"]) == 1
    assert text in capsys.readouterr().out and not (tmp_path / "probed.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--preset", "tiny", "--link", "functional"], "'tiny' has no command port; expected command_port"),
        (["--config", "board.toml", "--link", "functional"], "FunctionalLink has no pins for a command port"),
        (["--config", "board.toml", "--fastest", "6"], "invalid choice: 6"),
        (["--config", "board.toml", "--probe", "."], "expected a file"),
    ],
)
def test_what_cannot_be_is_one_line(chips, capsys, arguments, text):
    try:
        code = main(["bringup", *arguments])
    except SystemExit as end:
        code = end.code
    error = capsys.readouterr().err
    assert code == 2 and text in error and "Traceback" not in error
