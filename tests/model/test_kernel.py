"""The kernel by itself: whole rows against all channels, queues of events, and what it refuses."""

import numpy as np
import pytest

from flashtrain.model.command import COMMAND, Job
from flashtrain.model.kernel import Kernel
from flashtrain.spec import FmsConfig, Port, preset

DEPTH = 3


def play(config: FmsConfig, job: Job, rows: int, commands: int, whole_rows: bool) -> int:
    """Cycles of so many sequential commands of whole rows each, the reads after appends."""
    g = config.geometry
    kernel = Kernel(config, whole_rows)
    kernel.run(kernel.enable(erased=True, recovers=False))
    kernel.set_queue_size(Port.CORE, DEPTH + 1)
    unit = 1 if whole_rows else g.channels
    entries = np.zeros(commands, COMMAND)
    entries["port"], entries["stream"], entries["last_page"] = Port.CORE, 1, g.planes - 1
    entries["blocks"], entries["offset"] = rows * unit, np.arange(commands) * rows * unit
    entries["job"] = Job.APPEND
    begin, end = 0, kernel.play(entries, DEPTH)
    if job is Job.READ:
        kernel.run(begin := end + 2_000_000)  # programs have ended
        entries["job"] = Job.READ
        end = kernel.play(entries, DEPTH)
    kernel.close()
    return end - begin


@pytest.mark.parametrize("name", ["small", "behemoth", "small_ecc", "optimstore"])
@pytest.mark.parametrize("job", [Job.APPEND, Job.READ])
def test_one_channel_stands_for_all(name, job):
    config = preset(name)
    rows = 4 * config.geometry.planes
    alone, together = (play(config, job, rows, 6, whole_rows) for whole_rows in (True, False))
    assert alone == pytest.approx(together, rel=0.002)


def test_commands_are_answered_in_every_order_of_ports():
    """Both ports submit at once; a completion queue that is full holds back its own port only."""
    config = preset("tiny")
    kernel = Kernel(config)
    kernel.run(kernel.enable(erased=True, recovers=False))
    kernel.set_queue_size(Port.HOST, 2)
    kernel.set_queue_size(Port.CORE, 9)
    entries = np.zeros(8, COMMAND)
    entries["job"], entries["id"] = Job.ANSWER, np.arange(8)
    for port in Port:
        entries["port"] = port
        kernel.submit(port, entries.copy())
    kernel.run(kernel.now + 100_000)
    done = kernel.take_completed()
    assert [len(done[done["port"] == port]) for port in Port] == [1, 8]
    kernel.consume(Port.HOST, 1)
    kernel.run(kernel.now + 100_000)
    assert kernel.take_completed()["id"].tolist() == [1]
    kernel.close()


def test_times_do_not_depend_on_the_steps_of_the_caller():
    """The queue of events gives the same times, however far each run goes."""
    config, steps = preset("tiny"), np.random.default_rng(3).integers(1, 5000, 2000)
    times = []
    for lengths in ([1 << 24], steps):
        kernel = Kernel(config)
        kernel.run(kernel.enable(erased=True, recovers=False))
        kernel.set_queue_size(Port.CORE, 65)
        entries = np.zeros(20, COMMAND)
        g = config.geometry
        entries["port"], entries["job"], entries["last_page"] = Port.CORE, Job.APPEND, g.planes - 1
        entries["id"], entries["blocks"] = np.arange(20), 1
        entries["offset"] = np.arange(20)
        kernel.submit(Port.CORE, entries)
        for length in lengths:
            kernel.run(kernel.now + int(length))
        times.append(kernel.take_completed()["time"].tolist())
        kernel.close()
    assert len(times[0]) == 20 and times[0] == times[1]
