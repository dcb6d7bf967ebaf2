"""The benchmarks on the RTL, preset `tiny`: values that are possible, and mistakes that are found."""

import json
from contextlib import contextmanager

import numpy as np
import pytest

from flashtrain.cli.bench_table import QUICK_TABLE, TABLE, Row, UnknownBenchmark, rows_for
from flashtrain.cli.benchmarks import ADAM, ALL_BENCHMARKS, SYSTEM_BENCHMARKS
from flashtrain.cli.main import main
from flashtrain.host import FunctionalLink, open_device
from flashtrain.perf.append import append_erased
from flashtrain.perf.commands import command_interval, command_time_read, command_time_write, read_random
from flashtrain.perf.latency import STAGES, Milestone, append_latency
from flashtrain.perf.measurement import BenchmarkError
from flashtrain.perf.mixed import IN_FLIGHT, Mix, mixed
from flashtrain.perf.observed_speed import wave_speed
from flashtrain.perf.one_channel import OCOWFC, Reads, bus_share
from flashtrain.perf.progress import run_until
from flashtrain.perf.read import read_sequential
from flashtrain.perf.read_bound import read_bound
from flashtrain.perf.read_latency import read_latency_p99
from flashtrain.perf.speed import simulation_speed
from flashtrain.perf.sustained import append_sustained, sustained_bound
from flashtrain.perf.update import update, update_muon
from flashtrain.perf.update_bounds import on_dies
from flashtrain.perf.update_comparison import compare, update_energy_ratio, update_speedup
from flashtrain.perf.update_lanes import ControllerLanes, UpdatedTile
from flashtrain.perf.update_places import HostLink
from flashtrain.perf.usage import Snapshot
from flashtrain.perf.use_recorder import UseRecorder
from flashtrain.perf.wear import wear_spread
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.array import ArrayTrace, DeviceTraceWindow
from flashtrain.sim.trace.milestones import TraceRecorder
from flashtrain.sim.trace.window import NoTrace
from flashtrain.sim.update_lane.update_lane import update_lanes
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE

TINY = preset("tiny")


@contextmanager
def tiny(**options):
    with open_device(TINY, RtlLink, **options) as device:
        yield device


def recorded(device) -> UseRecorder:
    return UseRecorder(device, DeviceTraceWindow(device.link))


def test_append_erased_is_near_its_bound():
    with tiny() as device:
        measured = append_erased(device, ArrayTrace(device.link), quick=True)
    assert measured.bound == pytest.approx(TINY.program_bytes_per_second / 1e9)
    assert 0.8 < measured.value / measured.bound <= 1


def test_read_sequential_is_near_its_bound():
    with tiny() as device:
        measured = read_sequential(device, ArrayTrace(device.link), quick=True)
    assert measured.bound == pytest.approx(read_bound(TINY).bytes_per_second / 1e9)
    assert 0.9 < measured.value / measured.bound < 1 and measured.met


def test_append_latency_is_the_sum_of_its_stages():
    with tiny() as device:
        measured = append_latency(device, TraceRecorder(device.link), quick=True)
    total, stages = measured.note.split(" cycles: ")
    cycles = [int(stage.rsplit(" ", 1)[1]) for stage in stages.split(", ") if stage[-1].isdigit()]
    assert len(cycles) == len(STAGES) == len(Milestone) - 1
    assert sum(cycles) == int(total)
    assert measured.value == pytest.approx(int(total) / TINY.timing.clock_mhz * 1e3)
    # The entry, and the page at the width of the data port, have to come from memory at least.
    assert int(total) > 8 + TINY.page_beats


def test_append_sustained_erases_as_often_as_it_programs():
    with tiny() as device:
        recorder = recorded(device)
        measured = append_sustained(device, recorder, quick=True)
    # 2 dies, 6 page sets of 1 KiB in 6 * 4 us + 10 us.
    assert measured.bound == pytest.approx(2 * 6 * 1024 / 34e-6 / 1e9) == sustained_bound(TINY) / 1e9
    assert 0.7 < measured.value / measured.bound < 1
    assert recorder.use.array["erases"] > 0.2
    assert sum(recorder.use.array.values()) == pytest.approx(1)
    assert sum(recorder.use.bus.values()) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("reads", [1, 3])
def test_mixed(reads):
    with tiny(queue_entries=IN_FLIGHT + 1) as device:
        recorder = recorded(device)
        measured = mixed(device, recorder, reads, quick=True)
    assert measured.bound == pytest.approx(Mix(reads).bound(TINY) / 1e9, rel=0.05)
    assert 0 < measured.value < measured.bound
    assert recorder.use.array["programs"] > 0 and recorder.use.array["senses"] > 0
    appended, read = (float(side.split(" GB/s")[0].split()[-1]) for side in measured.note.split(";"))
    assert appended + read == pytest.approx(measured.value, abs=2e-3)
    assert read / appended == pytest.approx(reads, rel=0.5)


def test_the_bound_of_a_mix():
    """On `small` a die programs in 100 us, senses in 3 us: arrays bound 1:1 and buses 1:3.

    Cycles of 15, tCHZ 18, tWHR 48. A page has 2,056 beats, and its share of 82 for a status of its set. One
    that is read is selected by 4 cycles, and its share of a sense is one. One appended has 7 cycles.
    """
    read, append = 4 * 15 + 18 + 15 / 4, 7 * 15
    cycles = 4 * (2056 + 82 / 4) + append + 3 * read
    assert Mix(3).bus_cycles(preset("small")) == pytest.approx(cycles)
    assert Mix(3).bound(preset("small")) == pytest.approx(4 * 4 * 4096 * 600e6 / cycles)
    assert Mix(1).bound(preset("small")) == pytest.approx(8 * 2 * 16384 / 103e-6)
    assert 72e9 < Mix(1).bound(preset("behemoth")) < Mix(3).bound(preset("behemoth")) < 74e9


def test_read_latency():
    with tiny() as device:
        measured = read_latency_p99(device, ArrayTrace(device.link), quick=True)
    # Sense and transfer of a page set of 1 KiB, twice: 2 * (1 us + 0.853 us).
    assert measured.bound == pytest.approx(3.71, abs=0.01)
    # A read takes tR and the transfer of a page at least.
    assert measured.value > 1 + 0.427
    assert "60 reads" in measured.note


def test_command_times():
    with tiny(queue_entries=1024) as device:
        writes = command_time_write(device, ArrayTrace(device.link), quick=True)
    with tiny(queue_entries=1024) as device:
        reads = command_time_read(device, ArrayTrace(device.link), quick=True)
    # No faster than the data port, which is too narrow for 0.1 us.
    assert writes.bound is reads.bound is None
    assert TINY.page_beats / TINY.timing.clock_mhz * 0.99 < writes.value < reads.value < 10


def test_random_reads():
    with tiny(queue_entries=1024) as device:
        measured = read_random(device, ArrayTrace(device.link), quick=True)
    # A channel has one die, so nothing hides its sense, which the bound leaves out.
    assert measured.bound == pytest.approx(read_bound(TINY).single_pages_per_second / 1e6)
    assert 0.3 < measured.value / measured.bound <= 1


def test_simulation_speed_moves_data_on_every_channel():
    with tiny() as device:
        recorder = recorded(device)
        measured = simulation_speed(device, recorder, quick=True)
    assert measured.value > 1000 and measured.met is None
    assert "per CPU second; at rest" in measured.note
    assert sum(recorder.use.bus.values()) == pytest.approx(1, abs=0.02)


@pytest.mark.long
@pytest.mark.parametrize("reads", Reads)
def test_one_channel_fills_its_bus(reads):
    with open_device(OCOWFC, RtlLink, queue_entries=256) as device:
        measured = bus_share(device, ArrayTrace(device.link), reads, quick=True)
    assert measured.met and 97 <= measured.value < 100


def test_command_interval():
    with tiny(queue_entries=1024) as device:
        measured = command_interval(device, quick=True)
    # A 64-byte entry takes 8 beats of the 64-bit queue port.
    assert 8 <= measured.value <= 16


def test_update_on_the_dies():
    with tiny(node=UPDATE_NODE) as device:
        measured = update(device, ArrayTrace(device.link), ADAM, quick=True)
    # 2 dies, 85 parameters each in 1 us + 4 us.
    assert measured.bound == pytest.approx(34.0) == on_dies(TINY, ADAM.tile(TINY))[0] / 1e6
    assert 0.5 < measured.value / measured.bound <= 1


def test_both_commands_of_muon():
    with tiny(node=UPDATE_NODE) as device:
        measured = update_muon(device, ArrayTrace(device.link), quick=True)
    # Each takes a parameter in 5 cycles of the units of 2 dies, one after the other.
    assert measured.bound == pytest.approx(30.0)
    assert 0.5 < measured.value / measured.bound <= 1
    assert "momentum and weights" in measured.note and not measured.met


@pytest.mark.parametrize("place", [HostLink(), HostLink(bytes_per_second=5e7)], ids=lambda place: place.where)
def test_update_on_the_host(place):
    """A slow link bounds a step on the host: 12 + 4 bytes per parameter across it."""
    with tiny(node=UPDATE_NODE) as device:
        measured = update_speedup(device, ArrayTrace(device.link), ADAM, place, quick=True)
    slow = place.bytes_per_second < 1e9
    # Programs of `tiny` are too short for tiles to follow each other without a gap.
    assert measured.value > (4 if slow else 0.5)
    assert place.where in measured.note


def test_update_in_the_controller():
    """Fewer lanes than the dies' arrays need bound the step; a step on the dies is measured once."""
    with update_lanes(TINY) as lanes, tiny(node=UPDATE_NODE) as device:
        both, one = ControllerLanes(lanes), ControllerLanes(lanes[:1])
        found = compare(device, ArrayTrace(device.link), ADAM, [both, one], quick=True)
    assert list(found.elsewhere) == [both, one] and len(lanes) == 2
    # To the clock what tests/rtl/update_lane expects: 2,902 of a tile, and 8 more of the first of each lane.
    # They are told as the mean of the 16 tiles.
    cycles, parameters = 2902, ADAM.tile(TINY).parameters
    for lane, run in found.elsewhere.items():
        mean = cycles + 8 * len(lane.lanes) / 16
        assert f"takes {mean:,.0f} cycles for" in run.computing
    limit = parameters * TINY.timing.clock_hz / cycles
    # The slope is that of 4 programs on each die, which come in pairs: the lane itself never waits.
    assert 0.85 < found.elsewhere[one].parameters_per_second / limit <= 1.01
    # Programs of `tiny` are too short for tiles on the dies to follow each other without a gap.
    assert found.speedup(one) > 1.2 * found.speedup(both) > 0.6


class IdleLane:
    """Leaves tiles as they are."""

    def begin(self, step):
        return 0

    def update(self, tile, gradients):
        return UpdatedTile(tile, gradients[:0], 1)


def test_a_step_elsewhere_has_to_be_right():
    place = ControllerLanes((IdleLane(),))
    with (
        tiny(node=UPDATE_NODE) as device,
        pytest.raises(BenchmarkError, match="chunk 0 of the step"),
    ):
        compare(device, ArrayTrace(device.link), ADAM, [place], quick=True)


def test_update_energy():
    with tiny(node=UPDATE_NODE) as device:
        measured = update_energy_ratio(device, ArrayTrace(device.link), ADAM, HostLink(), quick=True)
    assert measured.value > 1
    assert "array" in measured.note and "link" in measured.note
    # With these constants the published ratio is out of reach or in it, and the note says which.
    assert ("not reached: the arrays take" in measured.note) == (measured.value < 3.6)


@pytest.mark.long
@pytest.mark.parametrize(("name", "share"), [("update_adam", 0.97), ("update_sgd", 0.9)])
def test_a_step_of_optimstore(name, share, tmp_path):
    file = tmp_path / "results.json"
    assert main(["bench", name, "--preset", "optimstore", "--quick", "--output", str(file)]) == 0
    (result,) = json.loads(file.read_text(encoding="utf-8"))
    assert result["met"] and share <= result["share"] <= 1


def test_a_device_that_does_not_go_on():
    with tiny() as device, pytest.raises(BenchmarkError, match="is 0 after 2000 cycles; expected 1"):
        run_until(device, lambda _: 0, 1, step=100, most_cycles=2000)


def test_a_link_without_a_trace():
    with open_device(TINY, FunctionalLink) as device, pytest.raises(NoTrace, match="FunctionalLink"):
        TraceRecorder(device.link)


def test_the_command(tmp_path, capsys):
    file = tmp_path / "out" / "results.json"
    names = ["append_latency", "command_interval"]
    assert main(["bench", *names, "--preset", "tiny", "--quick", "--output", str(file)]) == 0
    results = json.loads(file.read_text(encoding="utf-8"))
    assert [result["name"] for result in results] == names
    assert all((result["configuration"], result["link"]) == ("tiny", "rtl") for result in results)
    assert set(results[0]) == {
        "name", "configuration", "link", "value", "unit", "bound", "share", "asked", "met", "cycles",
        "seconds", "bytes", "note", "use",
    }  # fmt: skip
    text = capsys.readouterr().out
    assert "append_latency" in text and "decode, check, reserve" in text


def test_figures_are_written_beside_the_results(tmp_path):
    file = tmp_path / "results.json"
    names = ["append_erased", "metadata_bytes", "buffer_bytes"]
    assert main(["bench", *names, "--preset", "tiny", "--quick", "--output", str(file)]) == 0
    appended, metadata, buffers = json.loads(file.read_text(encoding="utf-8"))
    assert appended["use"]["array"]["programs"] > 0.9 and appended["bytes"] > 8 * 4 * 512
    assert metadata["value"] > 0 and metadata["use"] is None and metadata["link"] == "-"
    # 2 channels: 3 page sets of 2 pages of 512 bytes, and 2 pages for reads.
    assert buffers["value"] == 2 * (3 * 2 + 2) * 512
    for name in ("append_erased-tiny.png", "time.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_wear_spread():
    with tiny() as device:
        measured = wear_spread(device, device.link.erase_counts, quick=True)
        counts = device.link.erase_counts()
        erases = [channel["ERASES"] for channel in device.channel_counters()]
    # The controller has counted the same; of each zone a block is on every plane of every die.
    g = TINY.geometry
    assert [int(of_channel.sum()) for of_channel in counts] == [g.planes * count for count in erases]
    assert all(np.array_equal(counts[0, 0, 0], of_plane) for of_plane in counts.reshape(-1, g.blocks))
    assert measured.value == counts.max() - counts.min() < 20


ALONE = (
    "wave_speed", "update_adam_w16_s8", "read_small",
    "pcie_append", "pcie_read", "pcie_command_time_write", "pcie_command_time_read",
    "pcie_latency_write", "pcie_latency_read",
)  # fmt: skip
"""Rows for which alone a device would be built."""

OWN = (
    "append_erased", "append_sustained", "read_sequential", "mixed_1_1", "mixed_1_3", "read_latency_p99",
    "append_latency", "command_interval", "command_time_write", "command_time_read", "read_random",
    "simulation_speed", "update_adam", "update_muon", "update_speedup_host", "update_speedup_controller",
    "update_energy_ratio", "wear_spread",
)  # fmt: skip
"""Benchmarks that the tests above run on `tiny`, with more that they expect."""


@pytest.mark.early
def test_the_quick_table(tmp_path, request):
    """In short runs without rows that have a test of their own, or for which alone a device is built."""
    file, long = tmp_path / "results.json", request.config.getoption("--long")
    rows = [
        row
        for row in QUICK_TABLE
        if long or (row.configuration in ("small", "tiny") and row.benchmark not in ALONE + OWN)
    ]
    names = dict.fromkeys(row.benchmark for row in rows)
    code = main(["bench", "--quick", *names, "--output", str(file)])
    results = json.loads(file.read_text(encoding="utf-8"))
    assert [Row(result["name"], result["configuration"]) for result in results] == rows
    above = {r["name"] for r in results if r["share"] is not None and r["share"] > 1 + 1e-9}
    assert not above and code == 0


def test_waves_are_written_in_half_of_the_work():
    """One window, in which as many bytes are appended as before it."""
    windows = []

    @contextmanager
    def waves():
        before = Snapshot.of(device)
        yield
        windows.append(Snapshot.of(device).since(before))

    with tiny() as device:
        begin = Snapshot.of(device)
        measured = wave_speed(device, waves)
        whole = Snapshot.of(device).since(begin)
    (window,) = windows
    assert 0 < 2 * window.appended_bytes == whole.appended_bytes
    assert 0 < 2 * window.read_bytes == whole.read_bytes
    assert 0 < measured.cycles <= whole.cycles and measured.value > 0


def test_a_value_above_its_bound_is_exit_code_1(tmp_path, capsys, monkeypatch):
    from flashtrain.perf import commands

    monkeypatch.setattr(commands, "MOST_CYCLES", 4)
    file = tmp_path / "results.json"
    assert main(["bench", "command_interval", "--preset", "tiny", "--quick", "--output", str(file)]) == 1
    assert "command_interval on tiny: " in capsys.readouterr().err
    assert json.loads(file.read_text(encoding="utf-8"))[0]["share"] > 1


def test_the_rows_of_the_table():
    full_scale = [
        "append_erased", "append_sustained", "read_sequential", "mixed_1_1", "mixed_1_3", "read_latency_p99",
        "append_erased", "update_adam", "command_time_write", "command_time_read",
        "read_random", "ocowfc_single_page", "ocowfc_cached", "append_sdr", "read_sdr",
        "metadata_bytes", "buffer_bytes", "simulation_speed",
    ]  # fmt: skip
    assert [row.benchmark for row in TABLE[: len(full_scale)]] == full_scale
    presets = dict.fromkeys(row.configuration for row in TABLE)
    assert list(presets) == [
        "behemoth", "behemoth_wide", "ocowfc", "sdr_slc", "behemoth_codec", "small", "optimstore",
        "g9_slc", "g9_drive", "tiny", "all",
    ]  # fmt: skip
    assert [row.benchmark for row in TABLE if row.configuration == "behemoth_codec"] == [
        "append_codec", "append_codec_relu", "append_codec_random", "read_codec",
    ]  # fmt: skip
    assert [row.benchmark for row in TABLE if row.configuration == "small"] == [
        "append_erased", "read_sequential", "read_small", "append_latency", "command_interval",
        "simulation_speed",
        "update_adam", "update_adam_bf16", "update_adam_w32_s16", "update_adam_w16_s16",
        "update_adam_w16x16_s16", "update_adam_w16_s8", "update_momentum", "update_sgd", "update_muon",
        "update_speedup_host", "update_speedup_controller", "update_energy_ratio", "recovery_time",
        "training_iteration", "training_overlap",
        "checkpoint_pin", "checkpoint_stall", "checkpoint_copy_out", "checkpoint_append",
        "trace_speed", "image_speed", "serve_throughput", "serve_iops",
        "offload_speed", "offload_speed_codec", "checkpoint_load_speed", "dataset_speed",
        "dataset_speed_shuffled", "die_step_speed", "pcie_append", "pcie_read",
        "pcie_latency_write", "pcie_latency_read",
    ]  # fmt: skip
    assert [row.benchmark for row in TABLE if row.configuration == "optimstore"] == [
        "append_erased", "read_sequential", "metadata_bytes", "buffer_bytes",
        "update_adam", "update_adam_bf16", "update_adam_w32_s16", "update_adam_w16_s16",
        "update_adam_w16x16_s16", "update_adam_w16_s8", "update_momentum", "update_sgd",
        "update_speedup_host", "update_speedup_pcie4", "update_speedup_controller", "update_energy_ratio",
    ]  # fmt: skip
    assert {row.benchmark for row in TABLE} == {row.benchmark for row in QUICK_TABLE} == set(ALL_BENCHMARKS)
    on_rtl = {row.configuration for row in QUICK_TABLE if row.benchmark not in SYSTEM_BENCHMARKS}
    assert not on_rtl & {"behemoth", "behemoth_wide", "optimstore", "g9_slc", "g9_drive"}


def test_rows_that_are_asked_for():
    assert rows_for([], None, quick=False) == list(TABLE)
    assert rows_for(["append_erased"], None, quick=False) == [
        Row("append_erased", preset)
        for preset in ("behemoth", "behemoth_wide", "small", "optimstore", "g9_slc", "g9_drive")
    ]
    assert rows_for(["mixed_1_1"], "tiny", quick=False) == [Row("mixed_1_1", "tiny")]
    assert {row.configuration for row in rows_for([], "ocowfc", quick=True)} == {"ocowfc"}
    with pytest.raises(UnknownBenchmark, match="no benchmark 'appends'; expected some of append_erased, "):
        rows_for(["appends"], None, quick=False)
