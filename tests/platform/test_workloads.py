"""Behemoth's workloads: the closed form against the published totals, and their sequences."""

import pytest

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.workloads import WORKLOADS, TrafficChoices, behemoth_workload, workload_sequence
from flashtrain.platform.workloads.behemoth import published
from flashtrain.spec import preset
from flashtrain.training.sequence import StreamRole, load_sequence, save_sequence, summarise
from flashtrain.training.sequence.loops import with_times
from flashtrain.training.sequence.steps import Compute


@pytest.mark.parametrize("name", WORKLOADS)
def test_published_totals(name):
    workload, totals = WORKLOADS[name], published(name)
    # The published weights of GPT have an embedding besides, 1.2 GB.
    assert workload.total_weight_bytes / 1e9 == pytest.approx(totals.weights_gb, rel=0.012)
    # One published value, 4.42 PFLOP of row 1x2, is no multiple of the others.
    tolerance = 0.035 if name == "gpt 1x2" else 0.006
    assert workload.total_flops / 1e15 == pytest.approx(totals.pflop, rel=tolerance)
    assert workload.total_activation_bytes / 1e9 == pytest.approx(totals.activations_gb, rel=0.0065)


@pytest.mark.parametrize("name", ["gpt 1x1", "gpt 2x4", "t5 2x1"])
def test_the_sequence_moves_and_computes_what_the_workload_has(name):
    workload = WORKLOADS[name]
    sequence = workload_sequence(workload)
    traffic = summarise(sequence, sequence.iteration, preset("behemoth"))
    activations, weights = traffic[StreamRole.ACTIVATIONS], traffic[StreamRole.WEIGHTS]
    expected = pytest.approx(workload.phi * workload.total_activation_bytes, rel=1e-6)
    assert activations.appended_bytes == activations.read_bytes == expected
    assert weights.read_bytes == 2 * weights.appended_bytes == 2 * workload.total_weight_bytes
    steps = with_times(sequence.iteration, sequence.counts)
    flops = sum(step.flops * times for step, times in steps if isinstance(step, Compute))
    assert flops == pytest.approx(workload.total_flops, rel=1e-6)


def test_optimizer_state_is_read_and_appended():
    workload = WORKLOADS["gpt 1x1"]
    sequence = workload_sequence(workload, TrafficChoices(state_bytes_per_parameter=12))
    weights = summarise(sequence, sequence.iteration, preset("behemoth"))[StreamRole.WEIGHTS]
    assert weights.appended_bytes == 14 * workload.parameters * workload.layers


def test_the_file_is_small(tmp_path):
    sequence = workload_sequence(WORKLOADS["gpt 2x4"])
    save_sequence(sequence, tmp_path / "gpt.json")
    assert (tmp_path / "gpt.json").stat().st_size < 8000
    assert load_sequence(tmp_path / "gpt.json") == sequence
    assert sequence.iteration_steps > 6000


def test_mistakes():
    with pytest.raises(PlatformError, match="no workload 'gpt 3x3'; expected one of gpt 1x1"):
        behemoth_workload("gpt 3x3")
    with pytest.raises(PlatformError, match="phi is 2; expected more than 0, at most 1"):
        WORKLOADS["gpt 1x1"].with_phi(2)
    with pytest.raises(PlatformError, match="the divisor is 0"):
        WORKLOADS["gpt 1x1"].shrunk(0)
    with pytest.raises(PlatformError, match="state_bytes_per_parameter is -1"):
        TrafficChoices(state_bytes_per_parameter=-1)
