"""`flashtrain bench`: the file of results, goals, and what is done before the first benchmark. No device."""

import json

import pytest

from flashtrain.cli import bench
from flashtrain.cli.bench_results import ResultsFile
from flashtrain.cli.main import main
from flashtrain.perf.measurement import Cost, Measurement, Result
from flashtrain.writing import OutputError


def result(name: str, configuration: str = "tiny", value: float = 1.0, **options) -> Result:
    measured = Measurement(value=value, unit="GB/s", cycles=10, note="", **options)
    return Result.of(name, configuration, "rtl", Cost(1.0, 0), measured)


@pytest.fixture
def measured(monkeypatch):
    """The results of the rows that are asked for, in the place of measurements."""
    results: dict[str, Result] = {}

    def results_of(rows, configurations, settings, console):
        return ((number, results[row.benchmark]) for number, row in enumerate(rows))

    monkeypatch.setattr(bench, "results_of", results_of)
    return results


def values(file) -> dict[tuple[str, str], float]:
    return {
        (one["name"], one["configuration"]): one["value"]
        for one in json.loads(file.read_text(encoding="utf-8"))
    }


def test_one_row_keeps_the_others(measured, tmp_path):
    file = tmp_path / "results.json"
    for name in ("mixed_1_1", "append_erased"):
        measured[name] = result(name)
        assert main(["bench", name, "--preset", "tiny", "--output", str(file)]) == 0
    measured["mixed_1_1"] = result("mixed_1_1", value=2.0)
    assert main(["bench", "mixed_1_1", "--preset", "tiny", "--output", str(file)]) == 0
    assert values(file) == {("append_erased", "tiny"): 1.0, ("mixed_1_1", "tiny"): 2.0}
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_results_are_in_the_order_of_the_table(tmp_path):
    file = ResultsFile(tmp_path / "results.json")
    for name, configuration in (("wear_spread", "tiny"), ("mixed_1_1", "own"), ("append_erased", "small")):
        file.add(result(name, configuration))
    rows = [("append_erased", "small"), ("wear_spread", "tiny"), ("mixed_1_1", "own")]
    assert list(values(file.path)) == rows


def test_quick_results_do_not_replace_the_others(measured, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    measured["append_erased"] = result("append_erased")
    assert main(["bench", "append_erased", "--preset", "tiny"]) == 0
    measured["append_erased"] = result("append_erased", value=3.0)
    assert main(["bench", "append_erased", "--preset", "tiny", "--quick"]) == 0
    assert values(tmp_path / bench.DEFAULT_FILE) == {("append_erased", "tiny"): 1.0}
    assert values(tmp_path / bench.QUICK_FILE) == {("append_erased", "tiny"): 3.0}


def test_files_of_older_versions_are_read(tmp_path):
    """They call a configuration a preset, and cycles clocks."""
    path = tmp_path / "results.json"
    path.write_text(
        '[{"name": "read_sequential", "preset": "small", "link": "rtl", "value": 4, "clocks": 7}]',
        encoding="utf-8",
    )
    ResultsFile(path).add(result("append_erased"))
    by_name = {one["name"]: one for one in json.loads(path.read_text(encoding="utf-8"))}
    assert by_name["append_erased"]["cycles"] == 10
    assert by_name["read_sequential"] == {
        "name": "read_sequential", "configuration": "small", "link": "rtl", "value": 4, "cycles": 7,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"name": "append_erased"}]', "\x00"])
def test_another_file_is_not_overwritten(text, measured, tmp_path, capsys):
    file = tmp_path / "thesis.json"
    file.write_text(text, encoding="utf-8")
    assert main(["bench", "append_erased", "--preset", "tiny", "--output", str(file)]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"flashtrain bench: {file}: ")
    assert file.read_text(encoding="utf-8") == text


def test_a_file_that_cannot_be_written_is_found_before_the_first_benchmark(measured, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["bench", "append_erased", "--preset", "tiny", "--output", "/proc/results.json"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("flashtrain bench: argument --output: /proc: cannot be written: ")
    with pytest.raises(OutputError):
        ResultsFile(bench.Path("/proc/results.json"))


def test_a_missed_goal_is_told_and_fails_if_strict(measured, tmp_path, capsys):
    measured["append_erased"] = result("append_erased", asked="99% of the bound", met=False)
    arguments = ["bench", "append_erased", "--preset", "tiny", "--output", str(tmp_path / "results.json")]
    assert main(arguments) == 0
    assert "goals missed: append_erased on tiny" in capsys.readouterr().err
    assert main([*arguments, "--strict"]) == 1
    measured["append_erased"] = result("append_erased", asked="99% of the bound", met=True)
    assert main([*arguments, "--strict"]) == 0
    assert "missed" not in capsys.readouterr().err.splitlines()[-1]
