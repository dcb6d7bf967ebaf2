"""`--image` of the commands, and training that goes on from one."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.host import open_device
from flashtrain.spec.streams import UPDATE_NODE

FUNCTIONAL = ["--link", "functional"]


@pytest.fixture
def image(tmp_path):
    return tmp_path / "flash.img"


def test_training_goes_on_to_the_same_bits(image, tmp_path, capsys):
    """A run of fewer iterations leaves what a kill behind its last commit leaves."""
    train = [
        "train",
        *FUNCTIONAL,
        "--batch",
        "16",
        "--image",
        str(image),
        "--output",
        str(tmp_path),
        "--json",
    ]
    for iterations, begin in ((2, 0), (5, 2), (5, 5)):
        assert main([*train, "--iterations", str(iterations), "--resume"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["bit_exact"] is True and document["begin"] == begin
        assert document["iterations"] == iterations and len(document["losses"]) == iterations - begin
    assert main([*train[:-1], "--iterations", "6", "--resume"]) == 0
    text = capsys.readouterr().out
    assert "mlp: 6 iterations, 5 of them before, loss" in text
    assert "the same to the last bit, weights and losses from iteration 6 on" in text
    assert main([*train, "--iterations", "7", "--resume", "--seed", "1"]) == 2
    assert "the state is that of a run with seed 0; expected seed 1" in capsys.readouterr().err
    assert main([*train, "--iterations", "7", "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["begin"] == 6
    assert main([*train, "--iterations", "7"]) == 2
    assert f"--image {image}: the file exists; expected a new one" in capsys.readouterr().err


def test_a_run_that_goes_on_may_have_nothing_to_trace(image, tmp_path, capsys):
    train = ["train", "--link", "model", "--preset", "small", "--batch", "16", "--image", str(image)]
    train += ["--output", str(tmp_path), "--resume"]
    for iterations, traced in ((5, True), (6, False)):
        assert main([*train, "--iterations", str(iterations)]) == 0
        assert ("trace.json" in capsys.readouterr().out) is traced
        assert (tmp_path / "trace.json").exists() is (tmp_path / "timeline.png").exists() is traced


def test_a_run_over_its_wear_budget_ends_and_goes_on(image, tmp_path, capsys):
    config = tmp_path / "short_zones.toml"  # erased in a few steps
    config.write_text('base = "small"\nmax_blocks = 32\n[geometry]\npages = 2\n', encoding="utf-8")
    train = ["train", "--link", "model", "--config", str(config), "--batch", "16", "--image", str(image)]
    train += ["--output", str(tmp_path), "--resume", "--iterations", "6", "--wear-budget"]
    assert main([*train, "365:refuse"]) == 2
    assert "days; the budget asks for 365 days" in capsys.readouterr().err
    assert main([*train, "365"]) == 0
    output = capsys.readouterr()
    assert output.err.count("# warning: ") == 1 and "asks for 365 days" in output.err
    assert "the same to the last bit, weights and losses from iteration" in output.out


@pytest.mark.parametrize("options", [["--resume"], ["--resume", "--image", "new.img", "--update", "core"]])
def test_resume_needs_weights_in_an_image(options, tmp_path, capsys):
    assert main(["train", *FUNCTIONAL, "--output", str(tmp_path / "none"), *options]) == 2
    assert "it needs --image and --update die" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_other_commands_leave_an_image(image, tmp_path, capsys):
    sequence, trace = str(tmp_path / "mlp.json"), str(tmp_path / "mlp.log")
    assert main(["sequence", "generate", sequence, "--batch", "16"]) == 0
    replay = ["sequence", "replay", sequence, "--iterations", "1", "--block-trace", trace]
    io = ["io", "--rw=append", "--bs=16k", "--size=64k"]
    for command in (replay, ["trace", "replay", trace], io):
        assert main([*command, *FUNCTIONAL, "--image", str(image)]) == 0
        assert image.stat().st_size > 1 << 20
        assert main([*command, *FUNCTIONAL, "--image", str(image)]) == 2
        assert "expected a new one" in capsys.readouterr().err
        image.unlink()
    assert main([*io, "--link", "model", "--image", str(image), "--sweep", "iodepth=1,2"]) == 2
    assert "expected no --image" in capsys.readouterr().err


def test_an_image_of_a_command_opens(image, tmp_path):
    arguments = ["--iterations", "1", "--batch", "16", "--output", str(tmp_path)]
    assert main(["train", *FUNCTIONAL, "--image", str(image), *arguments]) == 0
    with open_device(image=image, node=UPDATE_NODE) as device:
        assert {one.name for one in device.recovered.streams if one.blocks} >= {"inputs"}


def test_a_mistake_is_one_line(image, tmp_path, capsys):
    image.write_bytes(b"no image")
    assert main(["train", *FUNCTIONAL, "--image", str(image), "--resume", "--output", str(tmp_path)]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("#")]
    assert line.startswith(f"flashtrain train: {image}: begins with b'no image'; expected b'FLASHIMG'")
    assert image.read_bytes() == b"no image"
