"""Sweeps on this machine: nothing is lost and nothing repeated, whatever ends them."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from flashtrain.stress.workers import worker_pool
from flashtrain.sweep.errors import SweepStopped
from flashtrain.sweep.journal import HEADER, Journal
from flashtrain.sweep.point import Point
from flashtrain.sweep.pools import LocalPool, SerialPool
from flashtrain.sweep.run import run_sweep
from tests.sweep.jobs import many_points, points_of, recorded, run, run_recorded

ROOT = Path(__file__).parents[2]


class Interrupted(Exception):
    pass


def test_an_interrupted_sweep_goes_on(tmp_path):
    points = many_points(tmp_path, 6)
    ran: list[Point] = []

    def record(point: Point):
        ran.append(point)
        if len(ran) == 4:
            raise Interrupted
        return run(point)

    path = tmp_path / "a.journal"
    with Journal(path) as journal, pytest.raises(Interrupted):
        run_sweep(points, journal, SerialPool(), record, lambda tally: None)
    with Journal(path) as journal:
        tally = run_sweep(points, journal, SerialPool(), record, lambda tally: None)
        assert set(journal.outcomes) == {point.key for point in points}
    assert (tally.kept, tally.done) == (3, 3)
    assert ran == [*points[:4], *points[3:]]


def test_a_point_that_fails_is_tried_again(tmp_path):
    text = 'presets = ["tiny"]\nworkloads = ["picky"]\nlinks = ["rtl"]\nproduct.write_sets = [2, 3, 4]\n'
    points = points_of(tmp_path, text)
    for kept in (0, 2):
        with Journal(tmp_path / "a.journal") as journal:
            tally = run_sweep(points, journal, SerialPool(), run, lambda tally: None)
        assert (tally.kept, tally.done, len(tally.failed)) == (kept, 2 - kept, 1)
        assert tally.failed[0].error == "FlashtrainError: three page sets are one too many"
        assert str(tally) == "2 of 3 points, 1 failed"


def test_a_worker_that_ends_abruptly(tmp_path):
    """The sweep stops, and goes on with the points that are left."""
    points = many_points(tmp_path, 8)
    with Journal(tmp_path / "a.journal") as journal:
        with pytest.raises(SweepStopped, match="ended abruptly"), worker_pool(1) as executor:

            def kill(tally):
                if tally.done == 2:
                    os.kill(next(iter(recorded(tmp_path))), signal.SIGKILL)

            run_sweep(points, journal, LocalPool(executor), partial(run_recorded, tmp_path, 0.05), kill)
        kept = set(journal.outcomes)
        run_sweep(points, journal, SerialPool(), partial(run_recorded, tmp_path, 0), lambda tally: None)
        assert set(journal.outcomes) == {point.key for point in points}
    assert kept and not kept & set(recorded(tmp_path)[os.getpid()])


SCRIPT = """
from functools import partial
from pathlib import Path
from flashtrain.stress.workers import worker_pool
from flashtrain.sweep.journal import Journal
from flashtrain.sweep.pools import LocalPool
from flashtrain.sweep.run import run_sweep
from tests.sweep.jobs import many_points, run_recorded

if __name__ == "__main__":
    folder = Path({folder!r})
    with Journal(folder / "a.journal") as journal, worker_pool(1) as executor:
        run = partial(run_recorded, folder, 0.05)
        run_sweep(many_points(folder, 40), journal, LocalPool(executor), run, lambda tally: None)
"""


def test_kill_9(tmp_path):
    """The journal has what was complete; the worker of the killed command ends with it."""
    script, path = tmp_path / "script.py", tmp_path / "a.journal"
    script.write_text(SCRIPT.format(folder=str(tmp_path)), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    process = subprocess.Popen([sys.executable, script], env=environment)
    try:
        _wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") > 3)
    finally:
        process.kill()
        process.wait()
    (worker,) = recorded(tmp_path)
    _wait_for(lambda: not _is_running(worker))
    points = many_points(tmp_path, 40)
    with Journal(path) as journal:
        kept = set(journal.outcomes)
        tally = run_sweep(
            points, journal, SerialPool(), partial(run_recorded, tmp_path, 0), lambda tally: None
        )
    again = recorded(tmp_path)[os.getpid()]
    assert 3 <= tally.kept < 40 and not kept & set(again)
    keys = [json.loads(line)["key"] for line in path.read_bytes().removeprefix(HEADER).splitlines()]
    assert sorted(keys) == sorted(point.key for point in points)


def _wait_for(condition, seconds: float = 30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)


def _is_running(pid: int) -> bool:
    """A process that nobody has waited for does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
