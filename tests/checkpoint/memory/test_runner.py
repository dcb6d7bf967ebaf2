"""Real trainings that share a tensor buffer: the results of each alone, bit for bit, on every Link."""

import numpy as np
import pytest

from flashtrain.checkpoint.memory.buffer_size import memory_bytes_for
from flashtrain.checkpoint.memory.checkpoint_waiting import CheckpointWaiting
from flashtrain.checkpoint.memory.errors import JobError, JobTooLarge, RegionInUse
from flashtrain.checkpoint.memory.keep_resident import KeepResident
from flashtrain.checkpoint.memory.managed_training import ManagedTraining
from flashtrain.checkpoint.memory.memory_pool import MemoryPool
from flashtrain.checkpoint.memory.one_after_the_other import OneAfterTheOther
from flashtrain.checkpoint.memory.runner import JobRunner
from flashtrain.checkpoint.memory.swap import Swap
from flashtrain.host import FunctionalLink, open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.training.data import digits
from flashtrain.training.networks import convnet, mlp
from flashtrain.training.optimizers import Adam, AdamW, Momentum
from flashtrain.training.reference import train_reference

ENTRIES = 16
CASES = [(FunctionalLink, "tiny", 4), (FunctionalLink, "small", 64), (RtlLink, "tiny", 4)]


@pytest.fixture(scope="module")
def data():
    return digits()


def trainings(data, hidden, count=2):
    """Jobs of equal size, and the same trainings alone."""
    jobs, alone = [], []
    for number, optimizer in enumerate((Adam(), AdamW(0.005), Adam(0.03))[:count]):
        iterations = 20 - 3 * number
        jobs.append(ManagedTraining(f"job {number}", mlp(hidden), data, optimizer, 64, iterations, number))
        alone.append(train_reference(mlp(hidden), data, optimizer, 64, iterations, number))
    return jobs, alone


def opened(link, name, held):
    return open_device(
        name, link, memory_bytes=memory_bytes_for(preset(name), held, ENTRIES), queue_entries=ENTRIES
    )


@pytest.mark.parametrize(
    ("link", "name", "hidden"), CASES, ids=["functional-tiny", "functional-small", "rtl-tiny"]
)
def test_two_trainings_in_the_memory_of_one(data, link, name, hidden):
    jobs, alone = trainings(data, hidden)
    size = jobs[0].layout.nbytes
    with opened(link, name, int(1.1 * size)) as device:
        assert size <= device.buffer_free_bytes < 2 * size
        free, pool = device.buffer_free_bytes, MemoryPool(device)
        report = JobRunner(pool, jobs, CheckpointWaiting(), 4).run()
        assert device.buffer_free_bytes == free
        timed = device.cycles > 0
    for job, expected in zip(jobs, alone, strict=True):
        assert job.log.equals(expected)
    # Five quanta of each, in turns: a job is saved after all but its last one.
    assert report.saves == report.restores == 8
    assert report.saved_bytes == report.restored_bytes == 8 * size
    assert report.peak_bytes == size
    assert (report.save_cycles > 0, report.restore_cycles > 0) == (timed, timed)
    if name == "tiny":
        assert report.zones_reset > 0  # the copies that were read back are dead


def test_three_trainings_of_different_sizes(data, seed):
    random = np.random.default_rng(seed)
    networks = (mlp(16), convnet(8), mlp(40))
    optimizers = (Momentum(), Adam(), Adam(0.002))
    jobs = [
        ManagedTraining(f"job {n}", networks[n], data, optimizers[n], 32, int(random.integers(5, 20)), n)
        for n in range(3)
    ]
    sizes = [job.layout.nbytes for job in jobs]
    for _ in range(3):
        room = int(random.uniform(1.1 * max(sizes), sum(sizes)))
        with opened(FunctionalLink, "small", room) as device:
            pool = MemoryPool(device)
            again = [ManagedTraining(j.name, networks[n], data, optimizers[n], 32, j.iterations, n)
                     for n, j in enumerate(jobs)]  # fmt: skip
            report = JobRunner(pool, again, CheckpointWaiting(), int(random.integers(1, 6))).run()
        assert report.peak_bytes <= room + 4096
        for n, job in enumerate(again):
            expected = train_reference(networks[n], data, optimizers[n], 32, job.iterations, n)
            assert job.log.equals(expected)


@pytest.mark.parametrize(("policy", "room"), [(KeepResident(), 2.2), (OneAfterTheOther(), 1.1)])
def test_policies_that_save_nothing(data, policy, room):
    jobs, alone = trainings(data, 64)
    with opened(FunctionalLink, "small", int(room * jobs[0].layout.nbytes)) as device:
        report = JobRunner(MemoryPool(device), jobs, policy, 4).run()
    assert (report.saves, report.restores, report.saved_bytes) == (0, 0, 0)
    assert report.peak_bytes == int(room) * jobs[0].layout.nbytes
    assert all(job.log.equals(expected) for job, expected in zip(jobs, alone, strict=True))


@pytest.mark.parametrize(("policy", "room"), [(KeepResident(), 1.1), (CheckpointWaiting(), 0.9)])
def test_a_memory_that_is_too_small(data, policy, room):
    jobs, _ = trainings(data, 64)
    size = jobs[0].layout.nbytes
    with opened(FunctionalLink, "small", int(room * size) // 4096 * 4096) as device:
        runner = JobRunner(MemoryPool(device), jobs, policy, 4)
        with pytest.raises(JobTooLarge, match=rf"job job \d needs {size} bytes; \d+ of the tensor buffer's"):
            runner.run()


def test_a_view_that_is_alive_keeps_the_memory(data):
    (job,), _ = trainings(data, 4, 1)
    with open_device("tiny") as device:
        pool = MemoryPool(device)
        assert pool.restore(job)
        view = pool.arrays(job)["loader"]
        with pytest.raises(RegionInUse, match="job job 0: a view of its arrays is alive"):
            pool.save(job)
        del view


def test_a_saved_job_survives_a_loss_of_power(data):
    """The stream is non-volatile: its bytes are those of the job, whatever happens to the tensor buffer."""
    (job,), _ = trainings(data, 4, 1)
    link = FunctionalLink(preset("tiny"), 1 << 18)
    with open_device(link=link, factory=True) as device:
        pool = MemoryPool(device)
        pool.restore(job)
        arrays = pool.arrays(job)
        job.step(arrays)
        content = {name: array.copy() for name, array in arrays.items()}
        del arrays
        pool.save(job)
        link.power_cycle()
        device.recover()
        pool.restore(job)
        assert all(np.array_equal(array, content[name]) for name, array in pool.arrays(job).items())


@pytest.mark.parametrize(
    ("policy", "quantum_iterations", "names", "message"),
    [
        (Swap(), 4, "ab", "policy swap pages on demand"),
        (CheckpointWaiting(), 0, "ab", "a quantum of 0 iterations"),
        (CheckpointWaiting(), 4, "aa", "expected distinct names"),
    ],
)
def test_mistakes(data, policy, quantum_iterations, names, message):
    jobs = [ManagedTraining(name, mlp(4), data, Adam(), 64, 5, 1) for name in names]
    with open_device("tiny") as device, pytest.raises(JobError, match=message):
        JobRunner(MemoryPool(device), jobs, policy, quantum_iterations)
