"""The points of `model_error`: which there are, and that their workloads run."""

from collections import Counter
from functools import partial

import pytest

from flashtrain.host import FunctionalLink
from flashtrain.perf.codec.contents import Contents
from flashtrain.perf.measurement import BenchmarkError
from flashtrain.perf.model_error.observe import observe
from flashtrain.perf.model_error.point import Quantity, Role, Run
from flashtrain.perf.model_error.runs import FILES, RUNS, configurations
from flashtrain.perf.model_error.workloads.appends import Appends, FlushedAppends, ZoneAfterZone
from flashtrain.perf.model_error.workloads.coded import (
    KEPT,
    CodedAppends,
    CodedAppendsAndReads,
    CodedReads,
)
from flashtrain.perf.model_error.workloads.reads import AppendsAndReads, Reads
from flashtrain.perf.model_error.workloads.sequences import Training
from flashtrain.perf.model_error.workloads.small_reads import SmallReads
from flashtrain.perf.model_error.workloads.steps import OptimizerStep
from flashtrain.perf.model_error.workloads.window import Window
from flashtrain.perf.update_case import Case
from flashtrain.spec import preset
from flashtrain.spec.optimizer import GradientFormat, OptimizerCode
from flashtrain.spec.streams import Codec
from flashtrain.training.optimizers import Adam
from flashtrain.training.sequence import UpdatePlace

from .counting_link import CountingLink

MEMORY_BYTES = 8 << 20
TINY = preset("tiny")


def test_the_points_cover_the_presets_and_are_held_out_by_turns():
    points = [point for run in RUNS for point in run.points]
    assert len(points) >= 40
    assert len({point.name for point in points}) == len(points)
    assert {run.configuration for run in RUNS} == {
        "small", "small_ecc", "tiny_codec", "small_codec", "behemoth", "behemoth_wide", "behemoth_ecc",
        "behemoth_codec", "optimstore", *FILES,
    }  # fmt: skip
    for name, config in configurations().items():
        assert config.name == name
        roles = Counter(run.role for run in RUNS if run.configuration == name)
        assert roles[Role.CALIBRATION] - roles[Role.HELD_OUT] in (0, 1)


def test_the_points_cover_sizes_depths_optimizers_and_formats():
    workloads = [run.workload for run in RUNS]
    appends = [each for each in workloads if isinstance(each, Appends)]
    assert (min(each.size for each in appends), max(each.size for each in appends)) == (4 << 10, 64 << 20)
    assert {1, 32} <= {each.depth for each in appends}
    reads = [each for each in workloads if isinstance(each, Reads)]
    assert {each.random for each in reads} == {True, False}
    cases = [each.case for each in workloads if isinstance(each, OptimizerStep)]
    assert {case.code for case in cases} == set(OptimizerCode) - {OptimizerCode.LINEAR}
    assert {case.gradient for case in cases} == set(GradientFormat)
    assert {quantity for each in workloads for quantity in each.quantities} == set(Quantity)


@pytest.mark.parametrize(
    "workload",
    [
        Appends(1024, 3, 8192),
        Appends(512, 1, 4096, "trained"),
        FlushedAppends(1536, 3),
        ZoneAfterZone(3, 2048, 2),
        Reads(1024, 4, 16384, 4096),
        Reads(1024, 4, 16384, 4096, random=True),
        AppendsAndReads(3, 512, 4, 5, 4096),
        SmallReads(2, 30, 4096, beside_appends=False),
        SmallReads(2, 30, 4096, beside_appends=True),
        OptimizerStep(Case(Adam()), 2),
    ],
    ids=repr,
)
def test_a_workload_gives_its_quantities(workload):
    run = Run("tiny", "title", workload, Role.HELD_OUT)
    observation = observe(run, TINY, CountingLink, MEMORY_BYTES)
    assert list(observation.values) == list(workload.quantities)
    assert all(value > 0 for value in observation.values.values())
    assert observation.cycles > 0
    again = observe(run, TINY, CountingLink, MEMORY_BYTES)
    assert (again.values, again.cycles) == (observation.values, observation.cycles)


@pytest.mark.parametrize("codec", [Codec.WINDOW16, Codec.ROUND16])
@pytest.mark.parametrize(
    "workload",
    [
        partial(CodedAppends, Contents.RANDOM, 1024, 2, appends=3),
        partial(CodedAppends, Contents.DENSE, 1024, 2, appends=3, stream=KEPT),
        partial(CodedReads, Contents.DENSE, 1024, 2, reads=5, stored=3),
        partial(CodedAppendsAndReads, Contents.RELU, 1024, 2, appends=3, reads=2, stored=2),
    ],
    ids=str,
)
def test_a_coded_workload_gives_its_bandwidth(workload, codec):
    run = Run("tiny_codec", "title", workload(codec=codec), Role.HELD_OUT)
    values = observe(run, preset("tiny_codec"), CountingLink, MEMORY_BYTES).values
    assert list(values) == [Quantity.BANDWIDTH] and values[Quantity.BANDWIDTH] > 0


@pytest.mark.parametrize("replayed", [True, False])
def test_a_training_sequence(replayed):
    run = Run("small", "title", Training("mlp", 1, UpdatePlace.CORE, replayed), Role.HELD_OUT)
    assert observe(run, preset("small"), CountingLink, MEMORY_BYTES).values[Quantity.CYCLES] > 0


def test_a_training_with_a_codec():
    run = Run("small_codec", "title", Training("mlp", 1, codec=Codec.WINDOW32), Role.HELD_OUT)
    (stream,) = (stream for stream in run.workload.node.streams if stream.codec is not Codec.RAW)
    assert stream.name == "activations" and stream.codec is Codec.WINDOW32


def test_a_rate_is_half_on_a_link_of_half_the_speed():
    run = Run("tiny", "title", Appends(1024, 3, 8192), Role.HELD_OUT)
    once = observe(run, TINY, CountingLink, MEMORY_BYTES)
    twice = observe(run, TINY, lambda *arguments: CountingLink(*arguments, slower=2), MEMORY_BYTES)
    assert twice.values[Quantity.BANDWIDTH] == pytest.approx(once.values[Quantity.BANDWIDTH] / 2)


def test_a_link_without_time_is_refused():
    run = Run("tiny", "title", Appends(1024, 3, 8192), Role.HELD_OUT)
    with pytest.raises(BenchmarkError, match="FunctionalLink has no time"):
        observe(run, TINY, FunctionalLink, MEMORY_BYTES)


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        (Appends(100, 1, 1000), "size is 100; expected a multiple of 512 bytes on 'tiny'"),
        (Reads(512, 1, 512, 1 << 20), "stored is 2048 blocks; expected a zone's 24 at most"),
    ],
)
def test_a_workload_that_does_not_fit(workload, message):
    with pytest.raises(BenchmarkError, match=message):
        observe(Run("tiny", "title", workload, Role.HELD_OUT), TINY, CountingLink, MEMORY_BYTES)


def test_points_are_named_after_their_quantity_only_where_there_are_several():
    run = Run("tiny", "one", SmallReads(1, 1, 512, beside_appends=False), Role.HELD_OUT)
    assert [point.name for point in run.points] == ["tiny/one/p50", "tiny/one/p99"]
    run = Run("tiny", "two", Appends(512, 1, 512), Role.HELD_OUT)
    assert [point.name for point in run.points] == ["tiny/two"]


class _Operation:
    def __init__(self, done_at: int) -> None:
        self.done_at = done_at
        self.answered = False

    def result(self) -> None:
        assert self.answered


class _Device:
    """Time passes only in waits, to the end of the earliest operation."""

    def __init__(self) -> None:
        self.cycles = 0
        self.most = 0

    def wait_any(self, operations: list[_Operation]) -> None:
        self.most = max(self.most, len(operations))
        self.cycles = max(self.cycles, min(each.done_at for each in operations))
        for each in operations:
            each.answered = each.done_at <= self.cycles


def test_a_window_keeps_as_many_in_flight_as_its_depth():
    device = _Device()
    window = Window(device, 2)  # pyright: ignore[reportArgumentType]
    for cycles in (50, 10, 10, 40):
        window.submit(lambda cycles=cycles: _Operation(device.cycles + cycles))  # pyright: ignore
    window.drain()
    # The first is slow, and the others pass it one after the other.
    assert window.latencies == [10, 10, 50, 40]
    assert (device.most, device.cycles) == (2, 60)
