"""The benchmarks on the RTL, preset `tiny`: values that are possible, and mistakes that are found."""

import json
from contextlib import contextmanager

import pytest

from flashtrain.cli.benchmarks import ADAM, BENCHMARKS
from flashtrain.cli.main import main
from flashtrain.host import FunctionalLink, open_device
from flashtrain.perf.append import append_erased
from flashtrain.perf.commands import command_interval
from flashtrain.perf.latency import STAGES, Milestone, append_latency
from flashtrain.perf.measurement import BenchmarkError
from flashtrain.perf.progress import run_until
from flashtrain.perf.read import read_sequential
from flashtrain.perf.update import bound, update
from flashtrain.perf.update_comparison import compare, update_energy_ratio, update_speedup
from flashtrain.perf.update_places import ControllerUnits, HostLink
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.sim.trace_array import ArrayTrace
from flashtrain.sim.trace_milestones import TraceRecorder
from flashtrain.sim.trace_window import NoTrace
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE

TINY = preset("tiny")


@contextmanager
def tiny(**options):
    with open_device(TINY, RtlLink, **options) as device:
        yield device


def test_append_erased_is_near_its_bound():
    with tiny() as device:
        measured = append_erased(device, quick=True)
    assert measured.bound == pytest.approx(TINY.program_bytes_per_second / 1e9)
    assert 0.8 < measured.value / measured.bound <= 1


def test_read_sequential_is_below_the_channel_bound():
    with tiny() as device:
        measured = read_sequential(device, quick=True)
    assert measured.bound == pytest.approx(2.4)
    assert 0.1 < measured.value / measured.bound < 1


def test_append_latency_is_the_sum_of_its_stages():
    with tiny() as device:
        measured = append_latency(device, TraceRecorder(device.link), quick=True)
    total, stages = measured.note.split(" clocks: ")
    clocks = [int(stage.rsplit(" ", 1)[1]) for stage in stages.split(", ") if stage[-1].isdigit()]
    assert len(clocks) == len(STAGES) == len(Milestone) - 1
    assert sum(clocks) == int(total)
    assert measured.value == pytest.approx(int(total) / TINY.timing.clock_mhz * 1e3)
    # The entry, and the page at the width of the data port, have to come from memory at least.
    assert int(total) > 8 + TINY.page_beats


def test_command_interval():
    with tiny(queue_entries=1024) as device:
        measured = command_interval(device, quick=True)
    # A 64-byte entry takes 8 beats of the 64-bit queue port.
    assert 8 <= measured.value <= 16


def test_update_on_the_dies():
    with tiny(node=UPDATE_NODE) as device:
        measured = update(device, ArrayTrace(device.link), ADAM, quick=True)
    # 2 dies, 85 parameters each in 1 us + 4 us.
    assert measured.bound == pytest.approx(34.0) == bound(TINY, ADAM.tile(TINY)) / 1e6
    assert 0.5 < measured.value / measured.bound <= 1


@pytest.mark.parametrize(
    "place",
    [ControllerUnits.of(TINY), HostLink(), HostLink(bytes_per_second=5e7)],
    ids=lambda place: place.where,
)
def test_update_elsewhere(place):
    """A slow link bounds a step on the host: 12 + 4 bytes per parameter across it."""
    with tiny(node=UPDATE_NODE) as device:
        measured = update_speedup(device, ArrayTrace(device.link), ADAM, place, quick=True)
    slow = isinstance(place, HostLink) and place.bytes_per_second < 1e9
    # Programs of `tiny` are too short for tiles to follow each other without a gap.
    assert measured.value > (4 if slow else 0.5)
    assert place.where in measured.note


def test_computing_in_the_controller_takes_time():
    """Units that are slower than the dies' arrays bound the step; a step on the dies is measured once."""
    fast, slow = ControllerUnits.of(TINY), ControllerUnits(units=1, interval=40, divider=4)
    with tiny(node=UPDATE_NODE) as device:
        found = compare(device, ArrayTrace(device.link), ADAM, [fast, slow], quick=True)
    assert list(found.elsewhere) == [fast, slow]
    limit = TINY.timing.clock_hz / slow.clocks(1)
    assert 0.8 < found.elsewhere[slow].parameters_per_second / limit <= 1.01
    assert found.elsewhere[fast].parameters_per_second > 2 * limit
    assert found.speedup(slow) > 2 * found.speedup(fast)


def test_update_energy():
    with tiny(node=UPDATE_NODE) as device:
        measured = update_energy_ratio(device, ArrayTrace(device.link), ADAM, HostLink(), quick=True)
    assert measured.value > 1
    assert "array" in measured.note and "link" in measured.note


def test_a_device_that_does_not_go_on():
    with tiny() as device, pytest.raises(BenchmarkError, match="is 0 after 2000 clocks; expected 1"):
        run_until(device, lambda _: 0, 1, step=100, patience=2000)


def test_a_link_without_a_trace():
    with open_device(TINY, FunctionalLink) as device, pytest.raises(NoTrace, match="FunctionalLink"):
        TraceRecorder(device.link)


def test_the_command(tmp_path, capsys):
    file = tmp_path / "out" / "results.json"
    names = ["append_latency", "command_interval"]
    assert main(["bench", *names, "--preset", "tiny", "--quick", "--output", str(file)]) == 0
    results = json.loads(file.read_text())
    assert [result["name"] for result in results] == names
    assert all((result["preset"], result["link"]) == ("tiny", "rtl") for result in results)
    assert set(results[0]) == {
        "name", "preset", "link", "value", "unit", "bound", "share", "clocks", "seconds", "note",
    }  # fmt: skip
    text = capsys.readouterr().out
    assert "append_latency" in text and "decode, check, reserve" in text


def test_a_value_above_its_bound_is_exit_code_1(tmp_path, capsys, monkeypatch):
    from flashtrain.perf import commands

    monkeypatch.setattr(commands, "MOST_CLOCKS", 4)
    file = tmp_path / "results.json"
    assert main(["bench", "command_interval", "--preset", "tiny", "--quick", "--output", str(file)]) == 1
    assert "command_interval: " in capsys.readouterr().err
    assert json.loads(file.read_text())[0]["share"] > 1


def test_the_names_are_those_of_the_results():
    assert list(BENCHMARKS) == [
        "append_erased", "read_sequential", "append_latency", "command_interval", "simulation_speed",
        "update_adam", "update_adam_bf16", "update_momentum", "update_sgd",
        "update_speedup_host", "update_speedup_controller", "update_energy_ratio",
    ]  # fmt: skip
