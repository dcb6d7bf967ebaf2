"""The comparison of points: errors, tolerances, the row of results and the figure."""

import pytest

from flashtrain.perf.measurement import BenchmarkError
from flashtrain.perf.model_error.comparison import Compared, compare, measurement, worst
from flashtrain.perf.model_error.point import Observation, Point, Quantity, Role, Run
from flashtrain.perf.model_error.runs import RUNS
from flashtrain.perf.model_error.scatter import draw_scatter
from flashtrain.perf.model_error.workloads.appends import Appends
from flashtrain.perf.model_error.workloads.small_reads import SmallReads
from flashtrain.writing import OutputError

APPENDS = Run("small", "append", Appends(4096, 1, 4096), Role.CALIBRATION)
READS = Run("small", "reads", SmallReads(1, 1, 4096, beside_appends=False), Role.HELD_OUT)
NAMES = ("rtl", "model")


def bandwidth(value: float, reference: float = 2.0) -> Compared:
    return Compared(Point(APPENDS, Quantity.BANDWIDTH), reference, value)


@pytest.mark.parametrize(
    ("quantity", "tolerance"),
    [
        (Quantity.BANDWIDTH, 0.01), (Quantity.UPDATES, 0.01), (Quantity.P50, 0.05), (Quantity.P99, 0.05),
        (Quantity.CYCLES, 0.02),
    ],
)  # fmt: skip
def test_a_point_is_met_up_to_its_tolerance_on_both_sides(quantity, tolerance):
    point = Point(READS, quantity)
    for sign in (-1, 1):
        near = Compared(point, 100.0, 100.0 * (1 + sign * tolerance * 0.99))
        assert near.met and near.error == pytest.approx(sign * tolerance * 0.99)
        assert not Compared(point, 100.0, 100.0 * (1 + sign * tolerance * 1.01)).met


def test_the_points_of_a_run():
    values = {Quantity.P50: 10.0, Quantity.P99: 20.0}
    found = compare(READS, Observation(values, 5, 0.1), Observation({**values, Quantity.P99: 21.0}, 6, 0.1))
    assert [(each.point.name, round(each.error, 9)) for each in found] == [
        ("small/reads/p50", 0.0), ("small/reads/p99", 0.05),
    ]  # fmt: skip
    with pytest.raises(BenchmarkError, match="small/reads gave p50; expected p50, p99"):
        compare(READS, Observation(values, 5, 0.1), Observation({Quantity.P50: 10.0}, 6, 0.1))


def test_the_row_is_the_worst_error_of_a_bandwidth():
    latency = Compared(Point(READS, Quantity.P99), 10.0, 10.4)
    measured = measurement([bandwidth(1.99), bandwidth(2.01, 2.0), latency], 123, NAMES)
    assert (measured.value, measured.bound) == (pytest.approx(99.5), 100)
    assert measured.met and measured.cycles == 123
    assert "3 points of model against rtl, 1 of them held out" in measured.note
    assert "worst p99 +4.000% (small/reads/p99)" in measured.note
    measured = measurement([bandwidth(1.9), latency], 123, NAMES)
    assert measured.value == pytest.approx(95) and not measured.met
    assert "missed: small/append -5.00%" in measured.note


def test_a_missed_latency_leaves_the_value_and_misses_the_goal():
    measured = measurement([bandwidth(2.0), Compared(Point(READS, Quantity.P99), 10.0, 11.0)], 1, NAMES)
    assert measured.value == 100 and not measured.met


def test_no_points():
    assert worst([]) is None
    with pytest.raises(BenchmarkError, match="no points"):
        measurement([], 0, NAMES)


def test_the_figure(tmp_path):
    points = [Compared(point, 3.0, 3.01 if number % 2 else 4.0)
              for number, point in enumerate(point for run in RUNS[::4] for point in run.points)]  # fmt: skip
    draw_scatter(points, tmp_path / "a.png", NAMES)
    draw_scatter([bandwidth(2.0)], tmp_path / "b.png", NAMES)
    for name in ("a.png", "b.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OutputError, match="expected a figure"):
        draw_scatter(points, tmp_path, NAMES)
