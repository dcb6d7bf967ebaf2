"""Jobs for the tests: cheap workloads, and a record of who ran which point."""

import os
import time
from pathlib import Path

from flashtrain.spec import FlashtrainError
from flashtrain.sweep.file import load_sweep
from flashtrain.sweep.point import Outcome, Point, Workload, carry_out

FAILING = 3
"""Value of `write_sets` with which the job `picky` fails."""


def capacity(point: Point) -> dict[str, int]:
    return {"capacity": point.config.geometry.capacity_bytes}


def picky(point: Point) -> dict[str, int]:
    if point.config.write_sets == FAILING:
        raise FlashtrainError("three page sets\nare one too many")
    return {"sets": point.config.write_sets}


WORKLOADS = {
    "capacity": Workload("bytes of the device", capacity),
    "picky": Workload("fails with three page sets", picky, links=("functional", "rtl")),
}
LINKS = ("functional", "rtl")


def run(point: Point) -> Outcome:
    return carry_out(WORKLOADS[point.workload], point)


def run_recorded(folder: Path, seconds: float, point: Point) -> Outcome:
    """The same in at least `seconds`; a file in `folder` has a line for each job of a process."""
    time.sleep(seconds)
    with open(folder / f"{os.getpid()}.jobs", "a", encoding="utf-8") as file:
        file.write(f"{point.key}\n")
    return run(point)


def recorded(folder: Path) -> dict[int, list[str]]:
    """Keys of the points that each process ran."""
    return {int(file.stem): file.read_text(encoding="utf-8").split() for file in folder.glob("*.jobs")}


def points_of(folder: Path, text: str) -> list[Point]:
    """The points of a sweep file with this text."""
    path = folder / "sweep.toml"
    path.write_text(text, encoding="utf-8")
    return load_sweep(path, WORKLOADS, LINKS)


def many_points(folder: Path, count: int) -> list[Point]:
    """`count` points, at most 4092, that differ in a number of polls."""
    polls = list(range(4, 4 + count))
    return points_of(
        folder, f'presets = ["tiny"]\nworkloads = ["capacity"]\n[product]\nlate_polls = {polls}\n'
    )
