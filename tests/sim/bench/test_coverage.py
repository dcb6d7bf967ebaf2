"""Test plan and functional coverage."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.coverage import Coverage, Plan, PlanError, load, merge, table
from flashtrain.spec import Status

PAGE = """
# A plan

| Points | Values | Benches | What |
|---|---|---|---|
| `read` | success, access_denied | first, second | |
| `close.set` | full, room | first | why |
| `rare` | once | - | never required |
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    page = tmp_path / "plan.md"
    page.write_text(PAGE, encoding="utf-8")
    return Plan.read(page)


def test_points_and_who_must_hit_them(plan: Plan) -> None:
    assert set(plan.points) == {
        "read.success", "read.access_denied", "close.set.full", "close.set.room", "rare.once",
    }  # fmt: skip
    assert plan.required("first") == set(plan.points) - {"rare.once"}
    assert plan.required("second") == {"read.success", "read.access_denied"}
    assert plan.required("-") == set()


def test_missed_points_are_named(plan: Plan) -> None:
    plan.check("second", ["read.success", "read.access_denied"])
    with pytest.raises(PlanError, match=r"second did not hit 1 points: read\.access_denied"):
        plan.check("second", ["read.success", "close.set.full"])


def test_a_point_that_is_not_planned_is_an_error(plan: Plan, tmp_path: Path) -> None:
    coverage = Coverage(plan, tmp_path / "hits.json")
    with pytest.raises(PlanError, match=r"no point read\.zone_is_full"):
        coverage.hit("read", Status.ZONE_IS_FULL)


def test_hits_add_up_over_tests_and_runs(plan: Plan, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    for _ in range(2):  # two tests of one run
        coverage = Coverage(plan, first)
        coverage.hit("read", Status.SUCCESS)
        coverage.save()
    assert load(first) == {"read.success": 2}
    coverage = Coverage(plan, second)
    coverage.hit("read", "success")
    coverage.hit("close.set", "room")
    coverage.save()
    hits = merge([first, second])
    assert hits == {"read.success": 3, "close.set.room": 1}
    lines = table(plan, hits)
    assert lines[1].split() == ["close.set", "1", "2", "1", "full"]
    assert lines[3].split() == ["read", "1", "2", "3", "access_denied"]
    assert lines[-1].split() == ["all", "2", "5", "4"]


@pytest.mark.parametrize("text", ["no rows", PAGE + "| `read` | success | first | again |\n"])
def test_bad_plans(tmp_path: Path, text: str) -> None:
    page = tmp_path / "plan.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError):
        Plan.read(page)


def test_the_plan_of_the_controller() -> None:
    plan = Plan.read(Path(__file__).parents[3] / "docs" / "verification.md")
    assert len(plan.points) > 200
    benches = {bench for names in plan.points.values() for bench in names}
    folder = Path(__file__).parents[2] / "rtl" / "controller"
    assert all((folder / f"{bench}_bench.py").is_file() for bench in benches), benches
