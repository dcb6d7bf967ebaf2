"""`train`, `io` and `serve` over the serial line of a simulated board, with the independent SDR part."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import pytest

from flashtrain.cli.main import main
from flashtrain.host import serial
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN
from flashtrain.sim.board.simulation import BoardSimulation
from flashtrain.spec import config_text
from tests.sim.board.board import CHIP_BOARD
from tests.sim.board.chip_board import SECONDS, simulated

STEPS = 2
"""The loss of the second one is that of weights which the first one has stored."""
PAGE_BYTES = CHIP_BOARD.config.geometry.page_bytes


@pytest.fixture
def board(monkeypatch, tmp_path) -> Iterator[BoardSimulation]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(serial, "SerialLink", partial(serial.SerialLink, timeout=SECONDS))
    (tmp_path / "board.toml").write_text(config_text(CHIP_BOARD.config), encoding="utf-8")
    with simulated() as simulation:
        yield simulation


def options(board: BoardSimulation) -> list[str]:
    return ["--config", "board.toml", "--link", f"serial:{board.terminal}", "--format"]


def test_training(board, tmp_path, capsys, request):
    """A narrow network learns the digits, with the losses of the functional Link."""
    steps = max(STEPS, request.config.getoption("--long") // 10)
    (tmp_path / "net.py").write_text(
        "from flashtrain.training.networks import mlp\n\nNETWORK = mlp(hidden=4)\n", encoding="utf-8"
    )
    training = ["train", "net.py:NETWORK", "--update", "core", "--optimizer", "sgd", "--batch", "4"]
    training += ["--iterations", str(steps), "--evaluate", "1000"]

    def losses(*device: str) -> list[float]:
        assert main([*training, *device, "--output", "out"]) == 0
        return json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["losses"]

    expected = losses("--config", "board.toml", "--link", "functional")
    assert len(set(expected)) == steps
    before = board.cycles
    capsys.readouterr()
    assert losses(*options(board)) == expected
    out = capsys.readouterr().out
    assert "compared with plain NumPy: the same to the last bit" in out
    found = re.search(r"([0-9,]+) cycles of the board's clock \(([0-9.]+) ms\)", out)
    assert found is not None
    cycles = int(found[1].replace(",", ""))
    assert 0 < cycles < board.cycles - before
    assert float(found[2]) == pytest.approx(cycles / CHIP_BOARD.clock_hz * 1e3, abs=0.01)


def test_io(board, capsys):
    job = ["--rw", "write", "--bs", "1k", "--size", "2k", "--verify", "crc32c"]
    assert main(["io", *options(board), *job]) == 0
    out = capsys.readouterr().out
    assert "write: IOPS=" in out and "crc32c, 4 logical blocks read, all as written" in out


def test_serve(board):
    """A host of NVMe over TCP stores a block on the part, and reads it."""
    command = [sys.executable, "-m", "flashtrain.cli.main", "serve", *options(board), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"listening on 127.0.0.1:(\d+)", line):
                break
        else:
            raise AssertionError(f"the command does not serve: {lines}")
        content = bytes(range(256)) * (PAGE_BYTES // 256)
        with Host(("127.0.0.1", int(found[1])), DEFAULT_NQN) as host:
            host.write(1, 0, content)
            assert host.read(1, 0, 1) == content
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait(SECONDS)
        process.stderr.close()
