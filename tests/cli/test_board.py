"""`bringup`, `io`, `train` and `serve` with a board behind a terminal."""

import os
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.cli.main import main
from flashtrain.host import FunctionalLink
from flashtrain.spec import config_text
from flashtrain.spec.boards import ULX3S
from flashtrain.spec.presets import SMALL, TINY
from flashtrain.spec.registers import NandInterface
from tests.chip.onfi_chip import Facts, OnfiChip
from tests.chip.port_link import PortLink
from tests.host.serial.bridge_model import BridgeModel, Served

BUFFER_BYTES = 1 << 18
PORT = replace(TINY, name="port", command_port=True)


@contextmanager
def terminal(link):
    """The path of the terminal of a board with this device."""
    master, slave = os.openpty()
    try:
        with Served(BridgeModel(link), master):
            yield os.ttyname(slave)
    finally:
        os.close(master)
        os.close(slave)


@pytest.fixture
def files(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for config in (PORT, SMALL):
        (tmp_path / f"{config.name}.toml").write_text(config_text(config), encoding="utf-8")


def test_bringup(files, capsys):
    g = PORT.geometry
    facts = Facts(
        page_bytes=g.page_bytes, spare_bytes=g.spare_bytes, pages=g.pages, blocks=g.blocks * g.planes,
        plane_bits=1,
    )  # fmt: skip
    device = PortLink(PORT, BUFFER_BYTES)
    device.chips = [[OnfiChip(facts)], [OnfiChip(present=False)]]
    with terminal(device) as path:
        assert main(["bringup", "--config", "port.toml", "--link", f"serial:{path}"]) == 1
    out = capsys.readouterr().out
    assert "channel 0 die 0  FLASHTRAIN  TESTED" in out
    assert "ChipMissing: the chip of channel 1, die 0 does not answer" in out


def test_page(capsys):
    """The recorded output of docs/board.md."""
    page = Path("docs/board.md").read_text(encoding="utf-8")
    (recorded,) = re.findall(r"<!-- recorded: flashtrain bringup -->\n```\n(.*?)```", page, re.DOTALL)
    g = ULX3S.config.geometry
    facts = Facts(
        maker="WINBOND", model="W29N01HV", page_bytes=g.page_bytes, spare_bytes=g.spare_bytes,
        pages=g.pages, blocks=g.blocks,
    )  # fmt: skip
    device = PortLink(ULX3S.config, ULX3S.buffer_bytes)
    device.chips = [[OnfiChip(facts)]]
    with terminal(device) as path:
        assert main(["bringup", "--link", f"serial:{path}"]) == 0
    assert capsys.readouterr().out == recorded
    assert device.interface == 5 | 1 << NandInterface.sdr.low


def test_io_and_training(files, capsys):
    """A run without `--format` finds what the one before has left."""
    with FunctionalLink(SMALL, BUFFER_BYTES) as device, terminal(device) as path:
        board = ["--config", "small.toml", "--link", f"serial:{path}"]
        job = ["--rw", "write", "--bs", "16k", "--size", "64k", "--iodepth", "2"]
        assert main(["io", *board, "--format", *job]) == 0
        train = ["train", *board, "--network", "mlp", "--iterations", "2", "--update", "core"]
        assert main([*train, "--format"]) == 0
        assert main(["train", *board, "--iterations", "2"]) == 2
        assert "expected --update core" in capsys.readouterr().err


def test_refused_links(capsys):
    for text in ("serial:", "serial", "other"):
        with pytest.raises(SystemExit):
            main(["io", "--link", text])
        assert "choose from functional, model, rtl, or serial:PATH" in capsys.readouterr().err
    assert main(["bringup", "--link", "serial:/dev/nothing"]) == 2
    assert "/dev/nothing: No such file" in capsys.readouterr().err
    assert main(["io", "--link", "functional", "--format"]) == 2
    assert "--format is for a board" in capsys.readouterr().err
