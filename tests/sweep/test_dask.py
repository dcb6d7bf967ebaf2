"""Sweeps on a Dask cluster: a scheduler in this process, and two worker processes of which one is killed."""

import csv
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from distributed import LocalCluster

from flashtrain.cli.main import main
from flashtrain.sweep.dask_pool import DaskPool
from flashtrain.sweep.errors import SweepError, SweepStopped
from flashtrain.sweep.journal import HEADER, Journal
from flashtrain.sweep.run import run_sweep
from tests.sweep.jobs import many_points, recorded, run_recorded

ROOT = Path(__file__).parents[2]
WORKER = "import sys; from distributed.cli.dask_worker import main; main(sys.argv[1:])"


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """Address of a scheduler with two workers of one thread each."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    with LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster:
        address = cluster.scheduler_address
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", WORKER, address, "--no-nanny", "--no-dashboard", "--nthreads", "1"],
                cwd=tmp_path_factory.mktemp("worker"), env=environment, stderr=subprocess.DEVNULL,
            )
            for _ in range(2)
        ]  # fmt: skip
        try:
            cluster.wait_for_workers(2)
            yield address
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def test_a_command_on_the_cluster(scheduler, tmp_path, capsys):
    file, output = tmp_path / "a.toml", tmp_path / "a.csv"
    file.write_text(
        'presets = ["tiny"]\nworkloads = ["device_bounds"]\nproduct.geometry.dies = [1, 2, 4]\n',
        encoding="utf-8",
    )
    assert main(["sweep", str(file), "--scheduler", scheduler, "--output", str(output), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["points"], document["done"], document["failed"]) == (3, 3, {})
    with open(output, encoding="utf-8") as table:
        assert [row["config.geometry.dies"] for row in csv.DictReader(table)] == ["1", "2", "4"]


def test_a_worker_is_killed_on_the_way(scheduler, tmp_path):
    """Nothing is lost or there twice. Only jobs of the killed worker run again, and none in the journal."""
    points, killed, complete = many_points(tmp_path, 60), [], set()
    path = tmp_path / "a.journal"

    def kill(tally):
        if tally.done >= 10 and len(recorded(tmp_path)) == 2 and not killed:
            killed.append(min(recorded(tmp_path)))
            os.kill(killed[0], signal.SIGKILL)
            complete.update(keys_in(path))

    with Journal(path) as journal, DaskPool(scheduler) as pool:
        tally = run_sweep(points, journal, pool, partial(run_recorded, tmp_path, 0.02), kill)
    assert (tally.kept, tally.done, tally.failed) == (0, 60, []) and killed
    assert sorted(keys_in(path)) == sorted(point.key for point in points)
    by_process = recorded(tmp_path)
    runs = Counter(key for ran in by_process.values() for key in ran)
    again = {key for key, count in runs.items() if count > 1}
    assert again <= set(by_process[killed[0]]) - complete and max(runs.values()) <= 2


def keys_in(path):
    return [json.loads(line)["key"] for line in path.read_bytes().removeprefix(HEADER).splitlines()]


def test_the_scheduler_ends_on_the_way(tmp_path):
    """The sweep ends, and the journal has what was complete."""
    path = tmp_path / "a.journal"
    with LocalCluster(1, processes=False, dashboard_address=None, silence_logs=50) as cluster:
        with Journal(path) as journal, DaskPool(cluster.scheduler_address) as pool:
            with pytest.raises(SweepStopped, match="the scheduler is gone"):
                run_sweep(many_points(tmp_path, 60), journal, pool, partial(run_recorded, tmp_path, 0.02),
                          lambda tally: cluster.close() if tally.done == 5 else None)  # fmt: skip
    assert 5 <= len(keys_in(path)) < 60


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr("flashtrain.sweep.dask_pool.SECONDS_TO_CONNECT", 0.2)
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        with pytest.raises(SweepError, match="expected a Dask scheduler, tcp://HOST:PORT"):
            DaskPool(address)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SweepError, match="--scheduler needs Dask; expected the extra 'sweep'"):
        DaskPool("tcp://127.0.0.1:9")
