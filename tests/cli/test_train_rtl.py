"""`flashtrain train` through the RTL: a short run, with its figures and its trace."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.spec import preset


def train(folder, capsys, *arguments):
    """The document of a run through the RTL that has to be bit-exact."""
    assert main(["train", "--link", "rtl", "--output", str(folder), "--json", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bit_exact"] is True
    return document


@pytest.mark.early
@pytest.mark.parametrize("place", ["die", "core"])
def test_training_through_the_rtl(place, tmp_path, capsys):
    document = train(tmp_path, capsys, "--update", place, "--iterations", "3", "--batch", "32")
    usage, geometry = document["usage"], preset("small").geometry
    counters, channels = usage["counters"], usage["channel_counters"]
    # Every tensor went through the controller; the accuracies on the way are read, too.
    stored = sum(stream["stored_bytes"] for stream in document["streams"].values())
    assert usage["appended_bytes"] == stored
    assert usage["read_bytes"] >= sum(stream["read_bytes"] for stream in document["streams"].values())
    # Pages of the journal are programmed and not counted as appended.
    assert 0 < usage["programmed_per_appended"] <= 1.1
    assert usage["write_amplification"] in (None, usage["programmed_per_appended"])
    # The cells stand 50,000 times the device's bytes, or 40 times as many if they are forgotten soon.
    days = usage["days_of_endurance"]
    zones = geometry.channels * geometry.dies * geometry.zones
    fills = channels["PAGES_PROGRAMMED"] / (geometry.zones * geometry.zone_capacity)
    cycles = max(fills, channels["ERASES"] / zones)
    assert days["years"] == pytest.approx(50_000 / cycles * usage["seconds"] / 86_400)
    assert days["minutes"] == pytest.approx(40 * days["years"])
    # Commands overlap: the sum of their latencies may exceed the cycles.
    assert document["cycles"] > 0 and counters["APPEND_LATENCY"] > 0
    sent, updates = counters["PAGES_APPENDED"] * geometry.page_bytes - stored, document["updates"]
    if place == "core":
        assert sent == 0 and updates is None
    else:
        assert sent >= updates["gradient_bytes"] == 3 * 4 * 4810
        assert channels["PAGES_PROGRAMMED"] >= updates["tiles"] * geometry.planes
        assert 0 < updates["cycles"] < document["cycles"]
        assert 0 < updates["share_of_bound"] < 1

    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    names = {event["name"] for event in trace["traceEvents"]}
    assert {"program", "transfer in", "burst", "doorbell", "interrupt"} <= names
    assert (tmp_path / "timeline.png").stat().st_size > 10_000


def test_state_that_fills_its_streams(tmp_path, capsys):
    """On `tiny`: the last row of the last zone, too, while inputs wrap. Then the other places of a step."""
    arguments = ("--preset", "tiny", "--network", "convnet", "--batch", "8", "--iterations", "12")
    document = train(tmp_path, capsys, *arguments, "--compare-places")
    bound, on_dies, *elsewhere = document["places"].values()
    assert 0 < on_dies <= bound and len(elsewhere) == 2 and all(0 < rate < bound for rate in elsewhere)
    assert document["streams"]["inputs"]["zone_resets"] > 0
    assert document["streams"]["activations"]["stream_resets"] == 12
    assert (document["updates"]["tiles"], document["updates"]["skips"]) == (12 * 24, 0)
