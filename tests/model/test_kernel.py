"""The kernel by itself: whole rows against all channels, its queues, and the events that its work takes."""

import numpy as np
import pytest
from numpy.typing import NDArray

from flashtrain.host import DeviceHang
from flashtrain.model.command import COMMAND, Flag, Job
from flashtrain.model.kernel import Kernel
from flashtrain.spec import FmsConfig, Port, preset

DEPTH = 3
ZONE_ERASES = 12
"""Its number among the counters of the kernel (`FrontEndCount`)."""


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


@pytest.mark.parametrize(("job", "most"), [(Job.APPEND, 10), (Job.READ, 6)])
def test_the_events_of_a_row(job, most):
    """No wake-up that decides nothing has come in."""
    rows = 40 * 256
    assert (
        events(preset("behemoth"), whole_rows=True, job=job, offsets=np.arange(40) * 256, blocks=256)
        < most * rows
    )


def test_the_events_of_a_random_read():
    config, count = preset("behemoth"), 4000
    offsets = np.random.default_rng(5).integers(0, config.geometry.zone_capacity, count)
    assert events(config, whole_rows=False, job=Job.READ, offsets=offsets, blocks=1) < 12 * count


def events(
    config: FmsConfig,
    *,
    whole_rows: bool,
    job: Job,
    offsets: NDArray[np.int64],
    blocks: int,
    depth: int = 128,
) -> int:
    """Events of commands of so many blocks or rows each, `depth` in flight."""
    kernel = Kernel(config, whole_rows)
    kernel.run(kernel.enable(erased=True, recovers=False))
    kernel.set_queue_size(Port.CORE, depth + 1)
    entries = np.zeros(len(offsets), COMMAND)
    entries["port"], entries["stream"], entries["last_page"] = Port.CORE, 1, config.geometry.planes - 1
    entries["job"], entries["offset"], entries["blocks"] = job, offsets, blocks
    before = kernel.events
    kernel.play(entries, depth)
    taken = kernel.events - before
    kernel.close()
    return taken


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


@pytest.mark.parametrize("name", ["tiny", "small"])
def test_times_do_not_depend_on_the_steps_of_the_caller(name):
    """The kernel gives the same times, however far each run goes: of appends, and of reads beside them."""
    config, random = preset(name), np.random.default_rng(3)
    g, steps = config.geometry, random.integers(1, 5000, 4000)
    entries = np.zeros(60, COMMAND)
    entries["port"], entries["last_page"], entries["id"] = Port.CORE, g.planes - 1, np.arange(60)
    entries["job"][:20], entries["blocks"], entries["offset"][:20] = Job.APPEND, 1, np.arange(20)
    entries["job"][20:], entries["offset"][20:] = Job.READ, random.integers(0, 18, 40)
    entries["blocks"][20:] = random.integers(1, 4, 40)
    entries["flags"][10:20] = Flag.NON_VOLATILE
    times = []
    for lengths in ([1 << 24], steps):
        kernel = Kernel(config)
        kernel.run(kernel.enable(erased=True, recovers=False))
        kernel.set_queue_size(Port.CORE, 65)
        kernel.submit(Port.CORE, entries)
        for length in lengths:
            kernel.run(kernel.now + int(length))
        times.append(kernel.take_completed()["time"].tolist())
        kernel.close()
    assert len(times[0]) == 60 and times[0] == times[1]


def test_no_zone_is_erased_before_a_recovery_ends():
    """A zone that is released twice meanwhile is erased once, and not while it is written again."""
    config = preset("tiny")
    zones = config.geometry.zones
    kernel = Kernel(config)
    kernel.run(kernel.enable(erased=False, recovers=True))
    kernel.set_queue_size(Port.CORE, 64)
    releases = np.zeros(zones, COMMAND)
    releases["port"], releases["job"], releases["count"] = Port.CORE, Job.RELEASE_ZONE, np.arange(zones)
    for _ in range(2):
        kernel.play(releases, DEPTH)
        kernel.run(kernel.now + 1_000_000)
    assert kernel.count(ZONE_ERASES) == 0 and not kernel.idle
    end, appends = np.zeros(1, COMMAND), np.zeros(zones, COMMAND)
    end["port"], end["job"] = Port.CORE, Job.END_RECOVERY
    appends["port"], appends["job"], appends["stream"] = Port.CORE, Job.APPEND, 1
    appends["zone"], appends["blocks"], appends["flags"] = np.arange(zones), 3, Flag.NON_VOLATILE
    appends["last_page"] = config.geometry.planes - 1
    kernel.play(np.concatenate([end, appends]), DEPTH)
    kernel.run(kernel.now + 1_000_000)
    assert kernel.count(ZONE_ERASES) == zones and kernel.idle
    kernel.close()


def test_commands_that_are_never_answered_are_named():
    """No zone is erased during a recovery: an append waits, and what follows it."""
    config = preset("tiny")
    kernel = Kernel(config)
    kernel.run(kernel.enable(erased=False, recovers=True))
    kernel.set_queue_size(Port.CORE, 4)
    commands = np.zeros(3, COMMAND)
    commands["port"], commands["id"] = Port.CORE, [7, 8, 9]
    commands["job"][0], commands["blocks"][0] = Job.APPEND, 1
    with pytest.raises(DeviceHang, match="command 7 waits for an erased zone; command 8 waits for its turn"):
        kernel.play(commands, 3)
    assert "9 waits for" in kernel.standings(str)
    kernel.close()
