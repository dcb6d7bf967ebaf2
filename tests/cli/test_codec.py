"""`flashtrain codec`."""

import json
from pathlib import Path

import numpy as np
import pytest

from flashtrain.cli import codec
from flashtrain.cli.main import main
from flashtrain.perf.codec.alternatives import ALTERNATIVES

OWN = Path(__file__).parents[2] / "examples" / "networks" / "own_network.py"
FEW = ["codec", "ratios", "--iterations", "1", "--batch", "64", "--network", "mlp"]


@pytest.fixture
def file(tmp_path, seed):
    random = np.random.default_rng(seed)
    arrays = {"x": random.standard_normal((64, 128)).astype(np.float32), "y": np.zeros(4096, ">f4")}
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    return path


def test_networks(capsys):
    assert main([*FEW, "--network", "convnet"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("bytes of FP32 per byte in each code; pages of 4096 bytes\n\nmlp ")
    assert "\nconvnet " in text and text.count("\nall ") == 2 and text.count("\nall, masks raw") == 2
    assert "relu.positive" not in text, "masks have no row of their own"


def test_a_network_of_the_user(capsys):
    network = f"{OWN}:NETWORK"
    assert main(["codec", "ratios", "--iterations", "1", "--batch", "32", "--network", network]) == 0
    text = capsys.readouterr().out
    assert "\nown " in text and "\ngelu1.x " in text and "dropout" not in text
    assert main(["codec", "ratios", "--network", "none"]) == 2
    assert "network 'none': expected one of mlp, wide" in capsys.readouterr().err


def test_for_machines(file, capsys, monkeypatch):
    monkeypatch.setattr(codec, "ZSTD", False)
    assert main(["codec", "ratios", "--file", str(file), "--page-bytes", "512", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["page_bytes"] == 512 and document["zstd"] is False
    (source,) = document["sources"]
    x, y = source["tensors"]
    assert source["source"] == "a.npz" and source["raw_bytes"] == 0 and len(source["totals"]) == 1
    assert (
        x["name"] == "x" and x["bytes"] == 32_768 and x["zeros"] == 0 and 2.5 < x["ratios"]["ROUND16"] < 2.9
    )
    assert y["zeros"] == 1 and y["ratios"]["ROUND16"] >= y["ratios"]["WINDOW32"] > 10
    assert y["pages"]["WINDOW32"]["modes"].keys() == {"WINDOW", "MASK"}


def test_a_missing_package_is_named(file, capsys, monkeypatch):
    """With the package its column is there; without it one line says so."""
    monkeypatch.setattr(codec, "ZSTD", False)
    assert main(["codec", "ratios", "--file", str(file)]) == 0
    text = capsys.readouterr().out
    assert (
        text.endswith("\n\nzstd: left out, the package zstandard is not installed\n") and "zstd  " not in text
    )
    monkeypatch.setattr(codec, "ZSTD", True)
    monkeypatch.setitem(ALTERNATIVES, "zstd", lambda array: array.nbytes // 8)
    assert main(["codec", "ratios", "--file", str(file)]) == 0
    text = capsys.readouterr().out
    assert "not installed" not in text and " zstd " in text and " 8.00 " in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"text", "has no header of a .npy file of version 1 or 2"),
        (b"", "has no header of a .npy file of version 1 or 2"),
        (b"PK\x03\x04 cut", "has no end of a .npz file"),
        ({"x": np.zeros(3)}, "array x has dtype float64; expected float32"),
        ({"x": np.zeros((2, 0), np.float32)}, "array x of shape (2, 0) is empty"),
        (
            {"x": np.array([object()])},
            "array x: has Python objects, which would be unpickled; expected numbers",
        ),
        ({}, "no array in the file"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, capsys, content, message):
    path = tmp_path / "a.npz"
    if isinstance(content, dict):
        np.savez(path, **content)
    elif content is not None:
        path.write_bytes(content)
    assert main(["codec", "ratios", "--file", str(path)]) == 2
    out, err = capsys.readouterr()
    assert err == f"flashtrain codec: {path}: {message}\n", out


def test_one_array(tmp_path, capsys):
    np.save(tmp_path / "one.npy", np.arange(2048, dtype=np.float32).reshape(2, -1).T)
    assert main(["codec", "ratios", "--file", str(tmp_path / "one.npy")]) == 0
    assert "\none  " in capsys.readouterr().out


def test_a_batch_that_is_too_large(capsys):
    assert main([*FEW[:4], "--network", "mlp", "--batch", "5000"]) == 2
    assert "batch size must be 1 to 1438, got 5000" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--iterations", "--batch"])
def test_arrays_of_files_take_no_training(file, capsys, option):
    assert main(["codec", "ratios", "--file", str(file), option, "3"]) == 2
    out, err = capsys.readouterr()
    assert err == f"flashtrain codec: {option}: expected with --network only, got it with --file\n", out


def test_against_bf16(capsys):
    """Twice the bytes of the same pages in FP32; masks are no tensors of BF16."""
    ratios = []
    for against in ("FP32", "BF16"):
        assert main([*FEW, "--against", against, "--json"]) == 0
        (source,) = json.loads(capsys.readouterr().out)["sources"]
        ratios.append(source["totals"][0]["ratios"])
    assert ratios[0]["ROUND16"] == 2 * ratios[1]["ROUND16"] and ratios[1]["BF16"] == 1
    assert main([*FEW, "--against", "BF16"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("bytes of BF16 per byte") and "WINDOW16" in text and "WINDOW32" not in text


def test_scaled(capsys):
    arguments = ["codec", "scaled", *FEW[2:]]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "without zeros at most 1.138 of E4M3, 1.320 of E5M2" in text and "\nmlp " in text
    assert main([*arguments, "--json"]) == 0
    (source,) = json.loads(capsys.readouterr().out)["sources"]
    assert source["formats"]["E4M3"]["bytes"] == source["formats"]["E5M2"]["bytes"]
