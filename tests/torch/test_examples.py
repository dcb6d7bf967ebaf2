"""The examples in PyTorch, on smaller networks: both trainings agree, and memory is saved."""

import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from threading import Timer

import pytest

from tests.torch.ranks.pool import run

EXAMPLES = Path(__file__).parents[2] / "examples" / "pytorch"


def output(name: str, monkeypatch, capsys, **smaller: int) -> str:
    """What an example prints in two steps on the functional model."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for constant, value in smaller.items():
        monkeypatch.setattr(module, constant, value)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "functional", "2"])
    module.main()
    return capsys.readouterr().out


def check(text: str) -> None:
    losses = re.findall(r"^ +\d+ +(\d+\.\d+) +(\d+\.\d+)$", text, re.MULTILINE)
    assert len(losses) == 2
    # The optimizers' steps may differ by a unit in the last place.
    assert all(float(a) == pytest.approx(float(b), abs=1e-4) for a, b in losses)
    (without, with_flash) = re.findall(r"^activations, at most +([\d,]+) +([\d,]+)$", text, re.MULTILINE)[0]
    assert int(with_flash.replace(",", "")) < int(without.replace(",", ""))


def test_gpt(monkeypatch, capsys):
    check(output("gpt", monkeypatch, capsys, WIDTH=64, LAYERS=2, BATCH=32))


def test_images(monkeypatch, capsys):
    if find_spec("torchvision") is None:
        pytest.skip("needs torchvision")
    check(output("images", monkeypatch, capsys, BATCH=16))


def ranks(rank, count, folder, steps):
    """What the example of several ranks prints on this rank, on a smaller network."""
    sys.path.insert(0, str(EXAMPLES))
    said = io.StringIO()
    with redirect_stdout(said):
        gpt, example = importlib.import_module("gpt"), importlib.import_module("ranks")
        gpt.WIDTH, gpt.LAYERS = 32, 2
        example.train(steps, folder)
    return said.getvalue()


def test_ranks(tmp_path):
    """From the beginning, and again from the step before the last one."""
    found = [run(2, ranks, str(tmp_path), steps) for steps in (2, 3)]
    assert all(silent == "" for _, silent in found)
    rows = [re.findall(r"^ +(\d+) +(\d+\.\d+) +(\d+\.\d+)$", said, re.MULTILINE) for said, _ in found]
    assert [[step for step, *_ in part] for part in rows] == [["1", "2"], ["3"]]
    assert all(float(a) == pytest.approx(float(b), abs=1e-4) for part in rows for _, a, b in part)
    assert all(said.endswith("model.pt has the weights of all ranks: True\n") for said, _ in found)


@pytest.mark.long
def test_ranks_that_torchrun_starts_again(tmp_path):
    """A worker is killed behind a step; the run goes on with a step behind it."""
    torchrun = Path(sys.executable).with_name("torchrun")
    options = ["--nproc-per-node", "2", "--max-restarts", "1", str(EXAMPLES / "ranks.py")]
    rows, killed, line = [], 0, ""
    with subprocess.Popen(
        [str(torchrun), *options, "6", "--images", str(tmp_path)], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"},
    ) as process:  # fmt: skip
        limit = Timer(120, process.terminate)
        limit.start()
        for line in process.stdout or ():
            if row := re.match(r" +(\d+) +(\d+\.\d+) +(\d+\.\d+)$", line):
                rows.append((killed, *row.groups()))
            if not killed and len(rows) == 3:
                task = Path(f"/proc/{process.pid}/task/{process.pid}/children")
                os.kill(int(task.read_text(encoding="ascii").split()[-1]), signal.SIGKILL)
                killed = 1
    limit.cancel()
    print(*rows, sep="\n")
    assert process.returncode == 0 and line == "model.pt has the weights of all ranks: True\n"
    steps = [int(step) for _, step, *_ in rows]
    assert set(steps) == set(range(1, 7)) and 3 < len(steps) <= 7 and steps[3] in (4, 5)
    assert all(float(a) == pytest.approx(float(b), abs=1e-4) for *_, a, b in rows)


def test_the_recorded_output_of_ranks():
    recorded = (EXAMPLES / "ranks.txt").read_text(encoding="utf-8")
    assert re.match(r"1,026,279 parameters\n\nstep  in memory  on flash\n", recorded)
    assert len(re.findall(r"^ +\d+ +(\d+\.\d+) +\1$", recorded, re.MULTILINE)) == 10
    assert recorded.endswith("model.pt has the weights of all ranks: True\n")


@pytest.mark.parametrize("name", ["gpt", "images"])
def test_the_recorded_output_is_of_the_example(name):
    """Its lines are those that the example prints; the numbers depend on versions of Python and PyTorch."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    recorded = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8")
    rows = re.findall(r'^        \("([a-z ,]+)", ', source, re.MULTILINE)
    assert rows and all(f"\n{row} " in recorded for row in rows)
    assert "cycles simulated" in recorded
