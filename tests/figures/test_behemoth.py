"""Behemoth's figures: values by hand, and the direction in which each assumption works."""

import pytest

from flashtrain.figures.behemoth_endurance import BehemothEndurance
from flashtrain.figures.behemoth_memory_cost import BehemothMemoryCost
from flashtrain.figures.behemoth_requirement import BehemothRequirement
from flashtrain.figures.behemoth_runs import Runs
from flashtrain.figures.behemoth_throughput import BehemothThroughput
from flashtrain.figures.figure import sensitivities
from flashtrain.platform.workloads import WORKLOADS


def result(figure, changed=None):
    return figure.content(figure.values(changed or {})).comparisons


def test_memory_cost():
    (cost,) = result(BehemothMemoryCost())
    assert cost.ours == pytest.approx(5120 / 1404)
    assert cost.reached


def test_requirement():
    demand, append, read = result(BehemothRequirement())
    workload = WORKLOADS["gpt 2x4"]
    forward = workload.total_flops / 3 / 840e12
    assert demand.ours == pytest.approx(0.12 * workload.total_activation_bytes / forward / 1e9)
    assert append.ours == pytest.approx(39.38, abs=0.01)
    assert read.ours == pytest.approx(70.41, abs=0.01)
    assert (demand.reached, append.reached, read.reached) == (True, False, True)
    assert append.why
    for enough in ({"dies": 4}, {"tprog_us": 77}):
        assert result(BehemothRequirement(), enough)[1].reached


def test_throughput():
    runs = Runs(BehemothThroughput().defaults())
    # SSDs append at 11.3 GB/s a forward pass of 49; with fewer activations nothing bounds the core.
    assert 1.8 < runs.speedup("gpt 1x1") < 2.05
    assert runs.changed(phi_gpt=0.01).speedup("gpt 1x1") < 1.1
    assert runs.changed(firmware_cores=8).speedup("gpt 1x1") < 1.1
    assert runs.seconds("t5 1x1", "ideal") < runs.seconds("t5 1x1", "fms") < runs.seconds("t5 1x1", "ssd")


def test_endurance():
    figure = BehemothEndurance()
    years = figure.headline(figure.defaults())
    assert years > 5
    assert figure.headline(figure.values({"pe_cycles": 2e5})) == pytest.approx(years / 10)
    assert figure.headline(figure.values({"duty": 0.5})) == pytest.approx(2 * years)


def test_sensitivities_are_sorted():
    figure = BehemothMemoryCost()
    found = sensitivities(figure, figure.defaults())
    assert [each.span for each in found] == sorted((each.span for each in found), reverse=True)
    assert {each.assumption.name for each in found} == set(figure.defaults())
