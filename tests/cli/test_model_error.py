"""`flashtrain bench model_error` on Links that are functional models with a clock."""

import json
from dataclasses import replace

import pytest

from flashtrain.cli import model_error, rtl_results
from flashtrain.cli.links import LINKS
from flashtrain.cli.main import main
from flashtrain.cli.rtl_results import RtlResults
from flashtrain.perf.model_error.point import Observation, Quantity
from flashtrain.perf.model_error.runs import RUNS
from flashtrain.perf.model_error.workloads.appends import Appends
from flashtrain.reading import InputError
from tests.perf.counting_link import CountingLink

RUN = RUNS[0]


@pytest.fixture
def opened(monkeypatch):
    """The configurations that were opened, by the names of the Links; `slower` of `model` can be set."""
    opened: dict[str, list[str]] = {"rtl": [], "model": []}
    slower = {"rtl": 1, "model": 1}

    def factory(name):
        def make(config, memory_bytes):
            opened[name].append(config.name)
            return CountingLink(config, memory_bytes, slower[name])

        return make

    for name in opened:
        monkeypatch.setitem(LINKS, name, replace(LINKS[name], factory=factory(name)))
    opened["slower"] = slower  # pyright: ignore
    return opened


@pytest.fixture
def bench(tmp_path):
    def run(*options: str) -> int:
        files = ["--output", str(tmp_path / "results.json"), "--rtl-results", str(tmp_path / "rtl.json")]
        return main(["bench", "model_error", "--jobs", "1", *files, *options])

    return run


def test_a_whole_configuration(opened, bench, tmp_path, monkeypatch, capsys):
    few = [run for run in RUNS if run.configuration == "own_tlc"][:3]
    monkeypatch.setattr(model_error, "RUNS", few)
    assert bench() == 0
    (result,) = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (result["name"], result["configuration"], result["link"]) == ("model_error", "all", "model")
    assert (result["share"], result["met"]) == (1.0, True)
    documents = json.loads((tmp_path / "model_error-all.json").read_text(encoding="utf-8"))
    assert [one["point"] for one in documents] == [run.name for run in few]
    assert {one["error"] for one in documents} == {0.0}
    assert {one["role"] for one in documents} == {"calibration", "held_out"}
    assert (tmp_path / "model_error-all.png").exists()
    output = capsys.readouterr()
    assert "own_tlc/append_16k_d4" in output.out and "tolerance" in output.out
    assert len(opened["rtl"]) == len(opened["model"]) == 3
    # The second time the RTL's values are in the file.
    assert bench() == 0
    assert (len(opened["rtl"]), len(opened["model"])) == (3, 6)


def test_a_missed_point_is_exit_code_1(opened, bench, tmp_path, capsys):
    opened["slower"]["model"] = 2
    assert bench("--points", "own_tlc/append_16k*") == 1
    output = capsys.readouterr()
    assert "goals missed: model_error on all" in output.err
    assert "-50.000%" in output.out
    # A part of the points is no result of the row.
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8")) == []
    assert (tmp_path / "model_error-points.json").exists()


def test_a_run_that_fails_is_named_and_leaves_the_others(opened, bench, tmp_path, monkeypatch, capsys):
    first, second = [run for run in RUNS if run.configuration == "own_tlc"][:2]
    too_small = replace(first, workload=Appends(100, 4, 1000))
    monkeypatch.setattr(model_error, "RUNS", [too_small, second])
    assert bench() == 1
    output = capsys.readouterr()
    assert f"{first.name} on rtl: size is 100; expected a multiple of 16384" in output.err
    assert second.name in output.out
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--points", "small/nothing"], "no point matches 'small/nothing'; the first one is 'small/append_4"),
        (["--preset", "tiny"], "model_error has no points on 'tiny'; it has them on small, small_ecc"),
    ],
)
def test_a_mistake_is_one_line(options, message, opened, bench, capsys):
    assert bench(*options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert opened["rtl"] == []


def test_points_are_of_one_row_alone(capsys):
    assert main(["bench", "model_error", "append_erased", "--points", "*"]) == 2
    assert "--points is of model_error alone" in capsys.readouterr().err


def test_a_file_of_something_else_is_found_first(opened, bench, tmp_path, capsys):
    (tmp_path / "rtl.json").write_text("[]", encoding="utf-8")
    assert bench() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path / 'rtl.json'}: expected results of the RTL" in line


def test_stored_values_hold_for_the_same_sources_and_parameters(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "rtl.json"
    values = dict.fromkeys(RUN.workload.quantities, 1.5)
    RtlResults(path).put(RUN, Observation(values, 7, 0.25))
    found = RtlResults(path).get(RUN)
    assert found is not None
    assert (found.values, found.cycles, found.seconds) == (values, 7, 0.25)
    assert RtlResults(path).get(replace(RUN, workload=Appends(4096, 2, 1 << 20))) is None
    monkeypatch.setattr(rtl_results, "sources_key", lambda: "another")
    assert RtlResults(path).get(RUN) is None


def test_the_key_is_of_the_sources():
    names = {file.name for package in rtl_results.source_packages() for file in rtl_results.files_of(package)}
    assert {"controller.py", "config.py", "dispatcher.py", "window.py", "rtl_link.py"} <= names
    assert "model_speed.py" not in names


@pytest.mark.parametrize(
    "text", ["", "[]", "{1}", '{"a": 1}', '{"a": {"values": {"no": 1}, "cycles": 1, "seconds": 0.1}}']
)
def test_another_file_is_refused(text, tmp_path):
    path = tmp_path / "rtl.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        InputError, match=r"rtl\.json: (not JSON|expected results of the RTL for model_error)"
    ):
        RtlResults(path)


def test_quick_is_the_small_preset():
    assert {run.configuration for run in model_error.runs_for("all", None, quick=True)} == {"small"}
    assert len(model_error.runs_for("all", None, quick=False)) == len(RUNS)
    (run,) = model_error.runs_for("all", "small/small_reads_d1/p99", quick=False)
    assert [point.quantity for point in run.points] == [Quantity.P50, Quantity.P99]
