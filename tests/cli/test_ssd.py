"""`flashtrain ssd`."""

import json

import pytest

from flashtrain.cli import ssd
from flashtrain.cli.main import main

BENCH = ["ssd", "bench", "--quick", "--preset", "small", "--over-provisioning", "0.3"]


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{1000 * n} 0 {8 * n} 8 {n % 2}\n" for n in range(64)), encoding="utf-8")
    return path


def test_replay(trace, capsys):
    assert main(["ssd", "replay", str(trace), "--count", "4"]) == 0
    text = capsys.readouterr().out
    assert "64 commands on 4 of behemoth_ssd: 514.0 GB, 16 channels x 2 dies, 7% over-provisioning" in text
    assert "write amplification  1.000" in text and "erases               0 blocks" in text


def test_replay_for_machines(trace, capsys):
    arguments = ["ssd", "replay", str(trace), "--preset", "small", "--over-provisioning", "0.3", "--json"]
    assert main([*arguments, "--fill", "all", "--depth", "8"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["latency_seconds"]["write"]["p50"] > 1e-6
    assert document["counts"]["written"] == 32 and document["counts"]["senses"] > 0


def test_bench(capsys, monkeypatch):
    monkeypatch.setattr(ssd, "QUICK_COMMANDS", 30)
    assert main([*BENCH, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert all(row["met"] for rows in document.values() for row in rows)
    assert {row["drives"] for row in document["bandwidths"]} == {1, 4}


def test_bench_of_a_data_sheet(capsys, monkeypatch):
    """The published values of a drive, and an exit code that says whether the model has them."""
    assert main(["ssd", "bench", "--sheet", "samsung-pm9a3"]) == 0
    text = capsys.readouterr().out
    assert (
        "Samsung PM9A3 7.68 TB (U.2), PCIe 4.0 x4: 7.20 GB/s one way" in text and "[1] heise online" in text
    )
    assert text.count("%") > 8
    monkeypatch.setattr(ssd.SheetPoint, "tolerance", 0.0)
    assert main(["ssd", "bench", "--sheet", "samsung-pm9a3", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["sheets"].values()
    assert {point["key"] for point in found} == {"read_gb", "write_gb", "read_iops", "write_iops"}


def test_a_drive_of_a_data_sheet(trace, capsys):
    assert main(["ssd", "replay", str(trace), "--drive", "micron-9550", "--count", "4"]) == 0
    assert "64 commands on 4 of micron-9550" in capsys.readouterr().out
    assert main(["io", "--rw=read", "--bs=4k", "--size=64k", "--drive", "micron-9550", "--count", "1"]) == 0
    assert "READ" in capsys.readouterr().out.upper()


def test_bench_fails_above_a_bound(capsys, monkeypatch):
    monkeypatch.setattr(ssd.BandwidthRow, "met", False)
    monkeypatch.setattr(ssd, "QUICK_COMMANDS", 30)
    assert main(BENCH) == 1
    assert "too much" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "tiny"], "geometry.channels is 2; expected at least 4"),
        (["--preset", "small"], "ssd.over_provisioning is 0.07; expected at least 0.231: 32 superblocks"),
        (["--format", "fio"], "a.txt:1: '0 0 0 8 0'; expected 'fio version 2 iolog'"),
    ],
)
def test_a_mistake_is_one_line(trace, capsys, arguments, message):
    assert main(["ssd", "replay", str(trace), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert message in err and err.startswith("flashtrain ssd: ")
