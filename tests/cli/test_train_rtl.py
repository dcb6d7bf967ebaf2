"""`flashtrain train` through the RTL: a short run, with its figures and its trace."""

import json

from flashtrain.cli.main import main


def test_training_through_the_rtl(tmp_path, capsys):
    arguments = ["train", "--link", "rtl", "--iterations", "3", "--batch", "32", "--output", str(tmp_path)]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bit_exact"] is True
    usage = document["usage"]
    # Every tensor went through the controller; the accuracies on the way are read, too.
    stored = sum(stream["stored_bytes"] for stream in document["streams"].values())
    assert usage["appended_bytes"] == stored
    assert usage["read_bytes"] >= sum(stream["read_bytes"] for stream in document["streams"].values())
    assert 0 < usage["write_amplification"] <= 1
    # Commands overlap: the sum of their latencies may exceed the clocks.
    assert document["clocks"] > 0 and usage["counters"]["APPEND_LATENCY"] > 0

    trace = json.loads((tmp_path / "trace.json").read_text())
    names = {event["name"] for event in trace["traceEvents"]}
    assert {"program", "transfer in", "burst", "doorbell", "interrupt"} <= names
    assert (tmp_path / "timeline.png").stat().st_size > 10_000
