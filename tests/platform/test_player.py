"""Iterations on a platform: overlap, the tensor buffer, nodes, and what bounds them."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.models import FmsRates, IdealModel, SsdModel
from flashtrain.platform.nodes import Node, Platform, sharing_platform
from flashtrain.platform.player import play_iteration
from flashtrain.platform.report import run_iteration
from flashtrain.platform.tasks import Part, Side
from flashtrain.platform.timeline_figure import draw_timeline
from flashtrain.platform.timeline_trace import write_trace
from flashtrain.platform.workloads import TrafficChoices, behemoth_workload, workload_sequence
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import Adam
from flashtrain.training.sequence import UpdatePlace, training_sequence
from flashtrain.writing import OutputError

GPT = behemoth_workload("gpt 1x1")
SEQUENCE = workload_sequence(GPT)
MODELS = {model.name: model for model in (IdealModel(), FmsRates(), SsdModel())}


def seconds(model, sequence=SEQUENCE, **choices):
    return play_iteration(sequence, sharing_platform(model, **choices)).seconds


def test_ideal_storage_leaves_the_compute_time():
    timeline = play_iteration(SEQUENCE, sharing_platform(IdealModel()))
    assert timeline.computing == pytest.approx(GPT.total_flops / 840e12, rel=1e-6)
    # The weights of the first layer come over the link, and the last gradient goes.
    assert timeline.stall == pytest.approx(2 * GPT.weight_bytes / 100e9, rel=1e-3)


def test_ideal_is_fastest_and_ssds_are_slowest():
    ideal, fms, ssd = (seconds(MODELS[name]) for name in ("ideal", "fms-rates", "ssd"))
    assert ideal < fms < ssd


def test_no_iteration_is_faster_than_its_bounds():
    for model in MODELS.values():
        report = run_iteration(SEQUENCE, sharing_platform(model))
        assert all(share <= 1 + 1e-9 for share in report.use().values())
        assert report.use()["core"] == pytest.approx(1 - report.stall_share)
        assert sum(report.timeline.stalls.values()) == pytest.approx(report.timeline.stall, rel=0.01)


def test_with_few_activations_the_fms_is_nearly_ideal():
    sequence = workload_sequence(GPT.with_phi(0.02))
    assert seconds(FmsRates(), sequence) < 1.08 * seconds(IdealModel(), sequence)


def test_all_that_is_appended_crosses_the_storage():
    timeline = play_iteration(SEQUENCE, sharing_platform(FmsRates()))
    stored = pytest.approx(GPT.phi * GPT.total_activation_bytes, rel=1e-4)
    assert timeline.bytes("storage append") == stored
    assert timeline.bytes("weight storage read") == pytest.approx(2 * GPT.total_weight_bytes)
    assert timeline.bytes("weight storage append") == pytest.approx(GPT.total_weight_bytes)


def test_the_buffer_is_never_overfull_and_empty_at_the_end():
    platform = sharing_platform(SsdModel())
    timeline = play_iteration(SEQUENCE, platform)
    assert 0 <= min(level.bytes for level in timeline.levels)
    assert max(level.bytes for level in timeline.levels) <= platform.activation.buffer_bytes
    for side in Side:
        last = [level for level in timeline.levels if level.side == side.value][-1]
        assert last.bytes == pytest.approx(0, abs=1)


def test_a_larger_buffer_helps():
    node = Node(storage=FmsRates())
    times = [
        play_iteration(SEQUENCE, Platform(replace(node, buffer_bytes=size), node)).seconds
        for size in (12e9, 16e9, 64e9)
    ]
    # Beyond some size it lets reads go ahead of appends that are more urgent, which costs a little.
    assert times[1] < 0.9 * times[0]
    assert times[2] < 1.05 * times[1]


def test_a_buffer_that_is_too_small_is_named():
    node = Node(buffer_bytes=4e9)
    with pytest.raises(PlatformError, match=r"needs .* GB of the activation node's tensor buffer"):
        play_iteration(SEQUENCE, Platform(node, Node()))


def test_a_storage_that_is_too_small_is_named():
    sequence = workload_sequence(behemoth_workload("gpt 2x4").with_phi(0.5))
    with pytest.raises(PlatformError, match="gpt 2x4 stores 2,783 GB on each activation node; expected"):
        play_iteration(sequence, sharing_platform(FmsRates()))


def test_nodes_share_the_batch():
    one, four = seconds(SsdModel(), nodes=1), seconds(SsdModel(), nodes=4)
    assert four < one
    with pytest.raises(PlatformError, match="3 activation nodes for 8 of 'micro_batch'"):
        seconds(SsdModel(), nodes=3)
    with pytest.raises(PlatformError, match="activation_nodes is 0"):
        seconds(SsdModel(), nodes=0)


def test_weight_nodes_share_the_weights():
    sequence = workload_sequence(GPT, TrafficChoices(state_bytes_per_parameter=12))
    one, two = (seconds(FmsRates(), sequence, weight_nodes=n) for n in (1, 2))
    assert two < one


def test_updates_on_the_dies():
    sequence = training_sequence(mlp(), 32, Adam())
    timeline = play_iteration(sequence, sharing_platform(FmsRates()))
    gradients = sum(t.spec.bytes for t in sequence.tensors if t.name.startswith("gradient/"))
    assert timeline.bytes("weight storage update") == gradients
    with pytest.raises(PlatformError, match="has no index 'micro_batch'"):
        play_iteration(sequence, sharing_platform(FmsRates(), nodes=2))


def test_steps_without_flops_take_the_time_of_the_storage():
    sequence = training_sequence(mlp(), 32, Adam(), UpdatePlace.CORE)
    for model in MODELS.values():
        report = run_iteration(sequence, sharing_platform(model))
        assert report.timeline.computing == 0
        assert report.seconds > 0
        assert "updates after the last step" in report.text()
    with pytest.raises(PlatformError, match="an iteration of mlp takes no time"):
        run_iteration(replace(sequence, iteration=()), sharing_platform(FmsRates()))


def test_ssds_cannot_update_on_dies():
    with pytest.raises(PlatformError, match="cannot serve a request of kind update"):
        play_iteration(training_sequence(mlp(), 32, Adam()), sharing_platform(SsdModel()))


def test_cores_do_one_step_at_a_time():
    timeline = play_iteration(SEQUENCE, sharing_platform(FmsRates()))
    for part in (Part.CORE, Part.WEIGHTS_IN, Part.GRADIENTS_OUT):
        spans = sorted((i.start, i.end) for i in timeline.on(part))
        assert all(end <= start + 1e-12 for (_, end), (start, _) in pairwise(spans))


def test_figure_and_trace(tmp_path):
    report = run_iteration(SEQUENCE, sharing_platform(FmsRates()))
    draw_timeline(report.timeline, tmp_path / "timeline.png", "gpt 1x1")
    assert (tmp_path / "timeline.png").stat().st_size > 10_000
    write_trace(report.timeline, tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "b", "e", "C"}
    assert sum(e["ph"] == "b" for e in events) == sum(e["ph"] == "e" for e in events) > 200
    (tmp_path / "x.png").mkdir()
    for write in (draw_timeline, write_trace):
        with pytest.raises(OutputError, match="is a folder"):
            write(report.timeline, tmp_path / "x.png")
