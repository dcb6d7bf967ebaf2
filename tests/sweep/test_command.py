"""`flashtrain sweep`: the command from its file to its table."""

import csv
import json
import re
from pathlib import Path

import pytest

from flashtrain.cli import sweep
from flashtrain.cli.benchmarks import BENCHMARKS
from flashtrain.cli.links import LINKS
from flashtrain.cli.main import main
from flashtrain.cli.sweep_workloads import WORKLOADS
from flashtrain.native.user_cache import user_cache
from flashtrain.spec import FlashtrainError, preset
from flashtrain.sweep.columns import config_from
from flashtrain.sweep.point import Workload

EXAMPLE = Path(__file__).parents[2] / "examples" / "dies_per_channel.toml"
BOUNDS = 'presets = ["tiny"]\nworkloads = ["device_bounds"]\nproduct.commands = [8, 16, 32]\n'


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.toml"
    path.write_text(BOUNDS, encoding="utf-8")
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def test_results_lie_in_build_unless_told_otherwise(file, capsys):
    assert main(["sweep", str(file), "--jobs", "1"]) == 0
    output = capsys.readouterr()
    assert output.out == "build/sweeps/mine.csv: 3 of 3 points, 3 of them now\n"
    assert output.err.splitlines() == [
        f"# {file}: 3 points, 0 complete, 3 to do",
        "# 0 of 3 points",
    ]
    assert [row["config.commands"] for row in rows(Path("build/sweeps/mine.csv"))] == ["8", "16", "32"]


def test_a_longer_list_runs_what_is_new(file, capsys):
    assert main(["sweep", str(file), "--jobs", "1"]) == 0
    file.write_text(BOUNDS.replace("32]", "32, 64]"), encoding="utf-8")
    assert main(["sweep", str(file), "--jobs", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert (document["points"], document["kept"], document["done"]) == (4, 3, 1)
    assert main(["sweep", str(file), "--jobs", "1", "--fresh"]) == 0
    assert "4 of 4 points, 4 of them now" in capsys.readouterr().out


def test_processes(file, capsys):
    assert main(["sweep", str(file), "--jobs", "2"]) == 0
    assert "3 of 3 points" in capsys.readouterr().out


def test_a_dry_run_writes_nothing(file, capsys, tmp_path):
    assert main(["sweep", str(file), "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "device_bounds on tiny",
        "device_bounds on tiny-commands16",
        "device_bounds on tiny-commands32",
        "3 points",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_the_workloads_are_listed(capsys):
    assert main(["sweep", "--workloads"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in WORKLOADS)


def test_a_point_that_fails_has_its_error_in_its_row(file, capsys, monkeypatch):
    def fail(point):
        raise FlashtrainError("the die is tired")

    monkeypatch.setitem(WORKLOADS, "device_bounds", Workload("fails", fail))
    assert main(["sweep", str(file), "--jobs", "1"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert "flashtrain sweep: device_bounds on tiny: FlashtrainError: the die is tired" in errors
    table = rows(Path("build/sweeps/mine.csv"))
    assert {row["error"] for row in table} == {"FlashtrainError: the die is tired"}


def test_other_code_is_reported(file, capsys, monkeypatch):
    assert main(["sweep", str(file), "--jobs", "1"]) == 0
    monkeypatch.setattr(sweep, "source_digest", lambda: "other")
    assert main(["sweep", str(file), "--jobs", "1"]) == 0
    assert "3 points were measured by other code (column source)" in capsys.readouterr().err


MISTAKES = [
    ((), "expected a sweep file, or --workloads"),
    (("gone.toml",), "gone.toml: cannot be read: No such file or directory"),
    (("mine.toml", "--output", "a.txt"), "a.txt: the suffix is '.txt'; expected .csv or .parquet"),
    (("mine.toml", "--output", "/proc/a.csv"), "/proc: cannot be written: "),
    (("mine.toml", "--jobs", "0"), "--jobs: expected an integer of at least 1"),
    (("mine.toml", "--scheduler", "nowhere"), "--scheduler nowhere: "),
    (("alone.toml", "--jobs", "2"), "alone.toml: simulation_speed measures real time; expected --jobs 1"),
    (("bad.toml",), "bad.toml: unknown key product.geometry.dice; expected one of channels, dies"),
    (("small.toml",), "geometry.blocks is 8; expected at least two zones for each of 8 streams"),
    (("link.toml",), "link.toml: links has 'model'; expected rtl for wear_spread"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, message, file, capsys, tmp_path):
    (tmp_path / "bad.toml").write_text(BOUNDS + "product.geometry.dice = [6]\n", encoding="utf-8")
    text = 'presets = ["tiny"]\nlinks = ["rtl"]\nworkloads = ["simulation_speed"]\n'
    (tmp_path / "alone.toml").write_text(text, encoding="utf-8")
    (tmp_path / "link.toml").write_text(
        text.replace("rtl", "model").replace("simulation_speed", "wear_spread"), encoding="utf-8"
    )
    text = text.replace("simulation_speed", "update_adam") + "product.geometry.blocks = [8]\n"
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    try:
        code = main(["sweep", *arguments])
    except SystemExit as leaving:
        code = leaving.code
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("# ")]
    assert code == 2 and len(lines) == 1 and message in lines[0], lines


def test_points_use_the_cache_of_the_command(tmp_path, monkeypatch):
    found = []

    def measure(point):
        found.append(user_cache().folder)
        return {}

    monkeypatch.setitem(WORKLOADS, "device_bounds", Workload("looks", measure))
    (tmp_path / "a.toml").write_text(BOUNDS, encoding="utf-8")
    before = user_cache()
    where = ["--output", str(tmp_path / "a.csv"), "--cache-dir", str(tmp_path / "cache")]
    assert main(["sweep", str(tmp_path / "a.toml"), "--jobs", "1", *where]) == 0
    assert found == [tmp_path / "cache"] * 3
    assert user_cache() is before


def test_the_example_has_the_bounds_of_every_device(tmp_path, capsys):
    output = tmp_path / "dies.csv"
    assert main(["sweep", str(EXAMPLE), "--output", str(output), "--jobs", "1"]) == 0
    table = rows(output)
    assert len(table) == 64
    adam = [row for row in table if (row["option.optimizer"], row["option.link_gbs"]) == ("adam", "3.6")]
    dies = [int(row["config.geometry.dies"]) for row in adam]
    ratios = [float(row["result.host.time_ratio"]) for row in adam]
    assert dies == [1, 2, 4, 8] and ratios == sorted(ratios)
    assert [row["result.dies.bound_by"] for row in adam] == ["arrays"] * 3 + ["buses"]
    assert [row["config.name"] for row in adam][2] == "optimstore"
    page = (EXAMPLE.parents[1] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    assert all(documented(row) in page for row in adam)


def documented(row: dict[str, str]) -> str:
    """The line of docs/sweeps.md for a row."""
    places = [
        f"{float(row[f'result.{place}.parameters_per_second']) / 1e6:,.0f}, {row[f'result.{place}.bound_by']}"
        for place in ("dies", "controller", "host")
    ]
    ratios = [f"{float(row[f'result.host.{ratio}']):.2f}" for ratio in ("time_ratio", "energy_ratio")]
    return f"| {' | '.join([row['config.geometry.dies'], *places, *ratios])} |"


@pytest.mark.parametrize("link", ["functional", "model"])
def test_a_training_run_is_replayed(link, tmp_path, capsys):
    file, output = tmp_path / "a.toml", tmp_path / "a.csv"
    file.write_text(
        f'presets = ["small"]\nworkloads = ["replay"]\nlinks = ["{link}"]\n'
        '[options.replay]\nbatch = [16]\niterations = [1]\nupdate = ["die", "core"]\n',
        encoding="utf-8",
    )
    assert main(["sweep", str(file), "--output", str(output), "--jobs", "1"]) == 0
    die, core = rows(output)
    assert int(die["result.read_bytes"]) < int(core["result.read_bytes"])
    assert (die["result.cycles"] != "") == (link == "model")


def test_the_file_of_the_page(tmp_path):
    page = (EXAMPLE.parents[1] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.toml").write_text(block, encoding="utf-8")
    points = sweep.load_sweep(tmp_path / "page.toml", WORKLOADS, tuple(LINKS))
    assert len(points) == 2 * 2 * 3 * (2 * 2 + 1)
    rows = re.findall(r"^\| `(\w+)` \| ", page, re.MULTILINE)
    assert {name for name in WORKLOADS if name not in BENCHMARKS} <= set(rows)


@pytest.mark.parametrize(
    ("name", "points"), [("dies_on_rtl", 3 * 4), ("sca_on_model", 3 * 2 * 3), ("ready_busy", 2 * 2 * 2)]
)
def test_the_other_examples_can_be_run(name, points):
    assert len(sweep.load_sweep(EXAMPLE.with_name(f"{name}.toml"), WORKLOADS, tuple(LINKS))) == points


def test_commands_beside_the_data_read_faster(tmp_path):
    """Of the example, which docs/channels.md has, the reads of two presets."""
    text = EXAMPLE.with_name("sca_on_model.toml").read_text(encoding="utf-8").replace('"g9_slc", ', "")
    text = re.sub("^workloads = .*$", 'workloads = ["read_sequential"]', text, flags=re.MULTILINE)
    file, output = tmp_path / "a.toml", tmp_path / "a.csv"
    file.write_text(text, encoding="utf-8")
    assert main(["sweep", str(file), "--output", str(output), "--jobs", "1"]) == 0
    page = (EXAMPLE.parents[1] / "docs" / "channels.md").read_text(encoding="utf-8")
    measured = rows(output)
    assert len(measured) == 2 * 2
    for row in measured:
        raw = preset(row["base"]).channel_bytes_per_second / 1e9
        value, bound = float(row["result.value"]), float(row["result.bound"])
        assert f"| {value:.3f}, {value / raw:.1%}; {bound:.3f} |".replace("%", " %") in page
        assert value > 0.95 * raw or row["config.chips.sca"] == "false"


def test_the_configuration_is_whole_in_a_row(tmp_path):
    """From the points of a dry run, which have their types."""
    (point, *_) = sweep.load_sweep(EXAMPLE, WORKLOADS, ())
    assert config_from(point.columns) == point.config
    assert point.config.geometry.channels == preset("optimstore").geometry.channels


def test_iterations_of_the_platform(tmp_path):
    file, output = tmp_path / "a.toml", tmp_path / "a.csv"
    file.write_text(
        'presets = ["behemoth"]\nworkloads = ["platform"]\n'
        '[options.platform]\niteration = ["t5 1x1"]\nstorage = ["fms", "ideal"]\nphi = [0.04]\n',
        encoding="utf-8",
    )
    assert main(["sweep", str(file), "--output", str(output), "--jobs", "1"]) == 0
    flash, ideal = rows(output)
    assert float(flash["result.seconds"]) > float(ideal["result.seconds"])
    assert flash["option.iteration"] == "t5 1x1"


def test_conventional_drives(tmp_path, capsys):
    file, output = tmp_path / "a.toml", tmp_path / "a.csv"
    file.write_text(
        'presets = ["small"]\nworkloads = ["ssd_bandwidth"]\n'
        "[options.ssd_bandwidth]\nfirmware_cores = [1, 4]\ncommands = [4]\n"
        "write_ns = [20000]\nover_provisioning = [0.25]\n",
        encoding="utf-8",
    )
    assert main(["sweep", str(file), "--output", str(output), "--jobs", "1"]) == 0
    serial, four = rows(output)
    assert serial["result.sequential_write.bound_by"] == "firmware"
    for name in ("sequential_write", "sequential_read", "random_read_one_page"):
        for row in (serial, four):
            value = float(row[f"result.{name}.bytes_per_second"])
            assert 0 < value <= float(row[f"result.{name}.bound"]) * (1 + 1e-9)
    file.write_text(file.read_text(encoding="utf-8").replace("small", "tiny"), encoding="utf-8")
    assert main(["sweep", str(file), "--output", str(output)]) == 2
    assert "tiny: ssd_bandwidth: geometry.channels is 2; expected at least 4" in capsys.readouterr().err
