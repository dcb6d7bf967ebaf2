"""`--trace` and `--waves` of train, sequence replay, io and bench: files, windows, iterations, mistakes."""

import argparse
import json
from pathlib import Path

import pytest

from flashtrain.cli.main import main
from flashtrain.cli.trace_options import Moment, Window, _iterations, _window

TINY = ("--preset", "tiny")
MODEL = (*TINY, "--link", "model")
JOB = ("io", "--rw=append", "--bs=1k", "--size=16k", "--iodepth=4", "--name=weights")
SMALL = ("--preset", "small", "--link", "model")
BATCH = ("--network", "mlp", "--batch", "8")


@pytest.fixture(scope="module")
def sequence(tmp_path_factory):
    path = tmp_path_factory.mktemp("sequence") / "mlp.json"
    assert main(["sequence", "generate", str(path), "--batch", "8", "--update", "core"]) == 0
    return str(path)


def document(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    return content, [event for event in content["traceEvents"] if event["ph"] == "X"]


def test_windows():
    assert _window("10us:1.5ms") == Window(Moment(10, 1e-6), Moment(1.5, 1e-3))
    assert _window("10us:1.5ms").cycles(600) == (6000, 900_000)
    assert _window(":2000").cycles(600) == (0, 2000)
    assert _window("7ns:").cycles(600) == (4, None)
    assert (_iterations("3"), _iterations("3:5")) == ((3, 3), (3, 5))


@pytest.mark.parametrize(
    "text", ["", "5", "5:4", "5us:5us", "1us:2000", "a:b", "1.5:2", "1h:2h", "1:2:3", "-1:2"]
)
def test_windows_with_a_mistake(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"expected .*got"):
        _window(text)


@pytest.mark.parametrize("text", ["", "0", "3:2", "1:", "a", "-1"])
def test_iterations_with_a_mistake(text):
    with pytest.raises(argparse.ArgumentTypeError, match="expected N or N:M from 1 on"):
        _iterations(text)


def test_io_on_the_model(tmp_path, capsys):
    """Commands with the names of their jobs, dies, counters; no flows, for the model has no seams."""
    path = tmp_path / "new" / "io.json"
    assert main([*JOB, *MODEL, "--trace", str(path)]) == 0
    assert f"{path}: 16 commands, 0 flows" in capsys.readouterr().out
    content, slices = document(path)
    names = {event["name"] for event in slices}
    assert {"zone_append weights offset 0", "program"} <= names
    assert sum(name.startswith("zone_append weights offset ") for name in names) == 16
    appends = [event for event in slices if event["name"].startswith("zone_append")]
    assert {event["args"]["status"] for event in appends} == {"SUCCESS"}
    assert {event["args"]["stream"] for event in appends} == {"activations"}
    counters = {event["name"] for event in content["traceEvents"] if event["ph"] == "C"}
    assert {"commands in flight, core", "dies busy", "NAND data in, GB/s"} <= counters
    most = max(
        event["args"]["value"]
        for event in content["traceEvents"]
        if event["ph"] == "C" and event["name"] == "commands in flight, core"
    )
    assert most == 4
    assert content["otherData"]["truncated"] is False


def test_a_window_of_io(tmp_path):
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    assert main([*JOB, *MODEL, "--trace", str(whole)]) == 0
    assert main([*JOB, *MODEL, "--trace", str(part), "--trace-window", "3000:6000"]) == 0
    begin = document(whole)[0]["otherData"]["window_cycles"][0]
    content, slices = document(part)
    assert content["otherData"]["window_cycles"] == [begin + 3000, begin + 6000]
    wanted = [
        event for event in document(whole)[1]
        if event["args"]["cycle"] < begin + 6000
        and event["args"]["cycle"] + event["args"]["cycles"] >= begin + 3000
    ]  # fmt: skip

    def programs(events):
        return {(event["pid"], event["tid"], event["ts"]) for event in events if event["name"] == "program"}

    assert programs(slices) and {time for *_, time in programs(slices)} <= {t for *_, t in programs(wanted)}


def test_iterations_of_a_sequence(sequence, tmp_path):
    """Tensors by their names; iterations as slices."""
    path = tmp_path / "trace.json"
    arguments = ["sequence", "replay", sequence, "--iterations", "4", *SMALL, "--trace", str(path)]
    assert main([*arguments, "--trace-iteration", "2:3"]) == 0
    slices = document(path)[1]
    iterations = [event for event in slices if event["name"].startswith("iteration")]
    assert [event["name"] for event in iterations] == ["iteration 2", "iteration 3"]
    assert iterations[0]["ts"] + iterations[0]["dur"] == pytest.approx(iterations[1]["ts"])
    labels = {event["args"].get("label") for event in slices}
    tensors = {tensor["name"] for tensor in json.loads(Path(sequence).read_text(encoding="utf-8"))["tensors"]}
    assert len(tensors & labels) > 5


def test_train_traces_the_iteration_in_the_middle_by_itself(tmp_path, capsys):
    folder = tmp_path / "run"
    arguments = ["train", *BATCH, "--iterations", "3", "--update", "core", *SMALL]
    assert main([*arguments, "--output", str(folder)]) == 0
    slices = document(folder / "trace.json")[1]
    assert [event["name"] for event in slices if event["name"].startswith("iteration")] == ["iteration 2"]
    assert (folder / "timeline.png").stat().st_size > 10_000
    assert "truncated" not in capsys.readouterr().out


MISTAKES = [
    (
        [*JOB, *TINY, "--link", "functional", "--trace", "a.json"],
        "--trace shows time, and link functional has none",
    ),
    ([*JOB, *MODEL, "--waves", "a.vcd"], "--waves shows signals of the RTL, and link model has none"),
    ([*JOB, *TINY, "--waves", "a.wav"], "expected a file that ends with .vcd or .fst"),
    ([*JOB, *MODEL, "--trace-window", "1us:2us"], "--trace-window is of a trace: add --trace FILE"),
    ([*JOB, *TINY, "--waves-window", "1us:2us"], "--waves-window is of waves: add --waves FILE"),
    ([*JOB, *TINY, "--trace", "a.json", "--waves", "a.vcd"], "--trace and --waves exclude each other"),
    ([*JOB, *MODEL, "--sweep", "iodepth=1,2", "--trace", "a.json"], "leave out --sweep"),
    (
        ["train", "--iterations", "3", *SMALL, "--trace", "a.json", "--trace-iteration", "3:4"],
        "has 3 iterations",
    ),
    (["train", *SMALL, "--trace", "a.json", "--trace-iteration", "1", "--trace-window", "1:2"], "exclude"),
    (["bench", "append_erased", "read_sequential", "--trace", "a.json"], "of one benchmark on one device"),
    (["bench", "metadata_bytes", "--preset", "tiny", "--trace", "a.json"], "of one benchmark on one device"),
    ([*JOB, *MODEL, "--trace", "a.json", "--trace-window", "9s:"], "the window begins at cycle"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(arguments, message, tmp_path, capsys, monkeypatch):
    """One line, and exit code 2."""
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("flashtrain ")]
    assert message in line


def test_a_mistake_in_a_window(capsys):
    with pytest.raises(SystemExit) as stop:
        main([*JOB, *MODEL, "--trace", "a.json", "--trace-window", "2us:1us"])
    assert stop.value.code == 2
    assert "expected a begin before the end, got '2us:1us'" in capsys.readouterr().err


def test_io_on_the_rtl(tmp_path, capsys):
    """Flows from every append to its programs; waves of the same run have the cycles of the trace."""
    trace, waves = tmp_path / "io.json", tmp_path / "io.vcd"
    assert main([*JOB, *TINY, "--trace", str(trace)]) == 0
    content, slices = document(trace)
    flows = [event for event in content["traceEvents"] if event["ph"] in "stf"]
    programs = [event for event in slices if event["name"] == "program"]
    assert programs and all("weights offset" in event["args"]["serves"] for event in programs)
    ends = {(e["pid"], e["tid"], e["ts"]) for e in flows if e["ph"] == "f"}
    assert ends == {(e["pid"], e["tid"], e["ts"]) for e in programs}
    begins = [(e["pid"], e["tid"], e["ts"]) for e in flows if e["ph"] == "s"]
    commands = [e for e in slices if e["name"].startswith("zone_append weights")]
    for pid, tid, ts in begins:
        own = [
            e for e in commands if (e["pid"], e["tid"]) == (pid, tid) and e["ts"] <= ts <= e["ts"] + e["dur"]
        ]
        assert len(own) == 1
    begin, end = content["otherData"]["window_cycles"]
    capsys.readouterr()
    assert main([*JOB, *TINY, "--waves", str(waves), "--waves-window", "1000:1200"]) == 0
    assert f"{waves}: 200 cycles of waves" in capsys.readouterr().out
    first = next(line for line in waves.read_text(encoding="utf-8").splitlines() if line.startswith("#"))
    mhz = content["otherData"]["clock_mhz"]
    assert int(first[1:]) == (begin + 1000) * 1_000_000 // mhz and begin + 1000 < end
