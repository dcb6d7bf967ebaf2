"""The simulated flash memory system behind the seam of the platform: rates, zones, erases, updates."""

from math import inf

import pytest

from flashtrain.perf.read_bound import read_bound
from flashtrain.perf.update_bounds import on_dies
from flashtrain.platform.errors import PlatformError
from flashtrain.platform.flash_commands import FlashCommands
from flashtrain.platform.flash_step import simulated_step
from flashtrain.platform.fms import FmsModel, Window
from flashtrain.platform.models import FmsRates, append_bound, update_bound
from flashtrain.platform.nodes import sharing_platform
from flashtrain.platform.player import play_iteration
from flashtrain.platform.storage import Kind, Request, Resource
from flashtrain.platform.timeline_figure import draw_timeline
from flashtrain.platform.timeline_trace import trace_document
from flashtrain.platform.workloads import behemoth_workload, workload_sequence
from flashtrain.platform.zone_ring import Extent, ZoneRing
from flashtrain.spec import preset
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.update import CopyFormat, GradientFormat, Tile
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import Adam
from flashtrain.training.sequence import training_sequence

BEHEMOTH, TINY = preset("behemoth"), preset("tiny")
ZONE = BEHEMOTH.geometry.zone_capacity * BEHEMOTH.geometry.page_bytes


def tensors(kind, count, size, stream="activations"):
    return [Request(kind, size, stream, f"{stream} {number}") for number in range(count)]


def times(model, requests, stored=(), written=(), beside=()):
    """The times at which requests complete that are all submitted at time 0."""
    storage, found = model.new_storage(beside), {}
    storage.prepare(stored, written)
    for request in requests:
        storage.submit(0.0, request)
    while storage.busy:
        time, done = storage.advance(inf)
        found |= dict.fromkeys(done, time)
    return [found[request] for request in requests]


def test_appends_reach_the_bound_with_and_without_erases():
    requests = tensors(Kind.APPEND, 10, ZONE)
    sustained = 10 * ZONE / times(FmsModel(), requests, written=requests)[-1]
    assert sustained == pytest.approx(append_bound(BEHEMOTH), rel=0.01)
    assert sustained < append_bound(BEHEMOTH)
    assert 10 * ZONE / times(FmsModel(), requests)[-1] == pytest.approx(41.94e9, rel=0.001)


def test_reads_go_to_what_is_stored():
    requests = tensors(Kind.READ, 4, ZONE)
    seconds = times(FmsModel(), requests, stored=requests)
    assert seconds == sorted(seconds)
    assert 0.99 < 4 * ZONE / seconds[-1] / read_bound(BEHEMOTH).bytes_per_second < 1
    with pytest.raises(PlatformError, match="a read of 'activations 0'; expected a tensor that was appended"):
        times(FmsModel(), requests)


def test_updates_reach_the_bound_of_the_dies():
    requests = tensors(Kind.UPDATE, 4, ZONE // 4, "state")
    rate = ZONE / times(FmsModel(), requests, stored=requests)[-1]
    assert 0.97 < rate / update_bound(BEHEMOTH, OptimizerCode.ADAM) <= 1


def test_updates_behind_a_part_of_a_page_set():
    """Weights that end within a page set do not move the updates behind them off its boundary."""
    row = BEHEMOTH.geometry.channels * BEHEMOTH.geometry.page_bytes
    requests = tensors(Kind.UPDATE, 4, ZONE // 16, "state")
    aligned, shifted = (
        times(FmsModel(), requests, stored=[Request(Kind.READ, rows * row, "state", "weights")])
        for rows in (BEHEMOTH.geometry.planes, 1)
    )
    assert shifted == aligned


@pytest.mark.parametrize("gradient", GradientFormat)
def test_a_step_fills_a_zone(gradient):
    tile = Tile.of(BEHEMOTH.geometry, OptimizerCode.ADAM, gradient, CopyFormat.NONE)
    rate = simulated_step(BEHEMOTH, OptimizerCode.ADAM, gradient)
    assert 0.99 < rate / on_dies(BEHEMOTH, tile).parameters_per_second <= 1


def test_resources_beside_the_storage_bound_it():
    requests = tensors(Kind.APPEND, 1, ZONE)
    slow = Resource("tensor buffer", {Kind.APPEND: 1 / 10e9})
    assert ZONE / times(FmsModel(), requests, beside=[slow])[-1] == pytest.approx(10e9, rel=0.03)


def test_kinds_and_streams_are_served_together():
    reads, appends = tensors(Kind.READ, 2, ZONE), tensors(Kind.APPEND, 2, ZONE, "weights")
    seconds = times(FmsModel(), [*reads, *appends], stored=reads)
    alone = times(FmsModel(), reads, stored=reads)[-1]
    assert alone < seconds[1] < seconds[3] < 3 * alone


def test_sizes_are_rounded_up_to_rows():
    commands = FlashCommands(BEHEMOTH, OptimizerCode.ADAM)
    assert commands.row_bytes == 64 * 4096
    for size, rows in ((1, 1), (commands.row_bytes, 1), (commands.row_bytes + 1, 2)):
        assert commands.rows(Request(Kind.APPEND, size, "a")) == rows
    # A tile of Adam has 2730 parameters, and the page sets of all channels are one step.
    assert commands.rows(Request(Kind.UPDATE, 4 * 2730 * 64, "state")) == 8
    assert commands.rows(Request(Kind.UPDATE, 4 * 2730 * 64 + 4, "state")) == 16


def test_zones_are_filled_found_and_reset():
    ring = ZoneRing(zones=3, rows=10)
    assert ring.place("a", "x", 14) == ([Extent(0, 0, 10), Extent(1, 0, 4)], [])
    assert ring.place("b", "y", 5) == ([Extent(2, 0, 5)], [])
    assert ring.find("x", 12) == [Extent(0, 0, 10), Extent(1, 0, 2)]
    with pytest.raises(PlatformError, match="no zone is left for stream 'b'"):
        ring.place("b", "z", 6)
    assert ring.place("a", "x", 6) == ([Extent(1, 4, 6)], [])
    assert ring.place("a", "w", 1) == ([Extent(0, 0, 1)], [0])


def test_whole_rows_begin_at_their_multiples():
    ring = ZoneRing(zones=2, rows=8)
    assert ring.place("a", "x", 1) == ([Extent(0, 0, 1)], [])
    assert ring.place("a", "y", 8, whole=4) == ([Extent(0, 4, 4), Extent(1, 0, 4)], [])
    assert ring.place("a", "z", 1) == ([Extent(1, 4, 1)], [])


def test_a_full_device_reuses_its_zones():
    size = TINY.geometry.zone_capacity * TINY.geometry.page_bytes
    requests = tensors(Kind.APPEND, 2, size) * (2 * TINY.geometry.zones)
    model = FmsModel(TINY)
    storage = model.new_storage(())
    storage.prepare((), ())
    now = 0.0
    for number, request in enumerate(requests):
        storage.submit(now, Request(Kind.APPEND, size, "activations", request.tensor))
        now, done = storage.advance(inf)
        assert len(done) == 1, number
    bound = append_bound(TINY)
    assert 0.3 * bound < len(requests) * size / now < bound


def test_an_iteration_with_a_window(tmp_path):
    sequence = workload_sequence(behemoth_workload("gpt 1x1").shrunk(64))
    window = Window(0.02, 0.021)
    timeline = play_iteration(sequence, sharing_platform(FmsModel(window=window)))
    rates = play_iteration(sequence, sharing_platform(FmsRates())).seconds
    assert timeline.seconds == pytest.approx(rates, rel=0.1)
    assert {each.track for each in timeline.operations} >= {"storage bus", "storage die 0", "storage die 1"}
    assert {each.name for each in timeline.operations} >= {"program", "data in"}
    assert all(each.end >= window.begin and each.start <= window.end for each in timeline.operations)
    draw_timeline(timeline, tmp_path / "t.png")
    events = trace_document(timeline)["traceEvents"]
    assert sum(event["pid"] == 2 and event["ph"] == "X" for event in events) == len(timeline.operations)


def test_updates_of_an_iteration():
    timeline = play_iteration(training_sequence(mlp(), 32, Adam()), sharing_platform(FmsModel()))
    assert timeline.bytes("weight storage update") > 0


def test_mistakes():
    with pytest.raises(PlatformError, match="fms: depth is 0; expected at least 1"):
        FmsModel(depth=0)
    for begin, end in ((-1, 0), (1, 1), (0, 0.2)):
        with pytest.raises(PlatformError, match=r"expected 0 <= BEGIN < END, at most 0\.1 s"):
            Window(begin, end)
