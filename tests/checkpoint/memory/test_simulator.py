"""The simulator of a node: invariants on random workloads, and small cases by hand."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from flashtrain.checkpoint.memory.backing_store import BackingStore
from flashtrain.checkpoint.memory.checkpoint_waiting import CheckpointWaiting
from flashtrain.checkpoint.memory.errors import JobError, JobTooLarge
from flashtrain.checkpoint.memory.footprint import Footprint
from flashtrain.checkpoint.memory.job import Job, Wait
from flashtrain.checkpoint.memory.keep_resident import KeepResident
from flashtrain.checkpoint.memory.node import Node
from flashtrain.checkpoint.memory.one_after_the_other import OneAfterTheOther
from flashtrain.checkpoint.memory.report import Activity
from flashtrain.checkpoint.memory.simulator import simulate
from flashtrain.checkpoint.memory.swap import Swap
from flashtrain.checkpoint.memory.workload import with_waits

MB = 10**6
DISK = BackingStore("disk", 100 * MB, 200 * MB, 20 * MB, 10_000 * MB, write_amplification=2.0)
DUPLEX = replace(DISK, name="duplex", full_duplex=True)
DIES = replace(DUPLEX, name="dies", state_on_dies=True)
STORES = (DISK, DUPLEX, DIES)
FREEING = (CheckpointWaiting(), CheckpointWaiting(0.0))
POLICIES = (KeepResident(), OneAfterTheOther(), Swap(), *FREEING)
JOB = Job("a", Footprint(100 * MB, 50 * MB, 100 * MB, 10 * MB), 1000, 0.5, batch_bytes=MB)


def held(job, store):
    return job.footprint.total_bytes - (job.footprint.optimizer_bytes if store.state_on_dies else 0)


def saved(job, store):
    return 0 if store.state_on_dies else job.footprint.state_bytes


def random_case(random):
    """Jobs of random sizes, priorities, arrivals and waits; a node that has room for some of them."""
    jobs = []
    for number in range(random.integers(2, 7)):
        dataset, weights, optimizer, buffers = (int(n) * MB for n in random.integers(1, 200, 4))
        job = Job(
            f"job {number}", Footprint(dataset, weights, optimizer, buffers), int(random.integers(1, 400)),
            float(random.uniform(0.1, 2)), batch_bytes=int(random.integers(0, min(dataset, 5 * MB))),
            priority=int(random.integers(0, 3)), arrival_seconds=float(random.choice([0, 0, 50, 200])),
        )  # fmt: skip
        if random.random() < 0.7:
            job = with_waits(job, random.uniform(0, 0.6), random.uniform(1, 60), random.random(), random)
        jobs.append(job)
    store = STORES[random.integers(len(STORES))]
    sizes = sorted(held(job, store) for job in jobs)
    pinned = sum(job.footprint.buffer_bytes for job in jobs)
    least = max(sizes[-1], pinned + sizes[-1])
    dram = int(random.uniform(least, max(least, sum(sizes))))
    return Node(
        dram, int(random.integers(1, 4)), store, float(random.uniform(2, 60)),
        aging_seconds=float(random.uniform(50, 500)), chunk_bytes=int(random.integers(5, 60)) * MB,
    ), jobs  # fmt: skip


def check(node, jobs, policy, report):
    """All that holds for any policy."""
    by_name = {job.name: job for job in jobs}
    assert report.jobs.keys() == by_name.keys()
    levels = report.dram_levels()
    assert max(size for _, size in levels) == report.peak_bytes <= node.dram_bytes
    assert levels[-1][1] == 0
    computing = [span for span in report.spans if span.activity is Activity.COMPUTING]
    for name, job in by_name.items():
        own, found = [span for span in report.spans if span.job == name], report.jobs[name]
        assert found.iterations == job.iterations
        assert found.computing_seconds == pytest.approx(job.compute_seconds)
        spent = sum(span.end - span.start for span in own if span.activity is Activity.COMPUTING)
        assert spent == pytest.approx(job.compute_seconds)
        least = job.arrival_seconds + job.compute_seconds + job.wait_seconds
        assert least <= found.completion_seconds * (1 + 1e-9)
        assert own[0].start >= job.arrival_seconds
        for before, after in pairwise(own):
            assert before.end == pytest.approx(after.start)
        check_resident(report, job, node, own)
    for accelerator in range(node.accelerators):
        mine = sorted((s.start, s.end) for s in computing if s.accelerator == accelerator)
        for (_, end), (start, _) in pairwise(mine):
            assert start >= end - 1e-9
    assert {span.accelerator for span in computing} <= set(range(node.accelerators))
    total = sum(job.compute_seconds for job in jobs) / node.accelerators
    assert report.seconds >= total * (1 - 1e-9)
    assert report.written_bytes == sum(each.bytes for each in report.checkpoints)
    assert report.pe_cycles == pytest.approx(
        report.written_bytes * node.store.write_amplification / node.store.capacity_bytes
    )
    if not policy.demand_paged:
        for each in report.checkpoints:
            assert each.bytes in (0, saved(by_name[each.job], node.store))


def check_resident(report, job, node, spans):
    """A job computes only with its state, its buffers, and the samples that a quantum reads."""
    own = [(level.time, level.bytes) for level in report.levels if level.job == job.name]
    dataset = job.footprint.dataset_bytes
    for span in spans:
        if span.activity is Activity.COMPUTING:
            before = [size for time, size in own if time <= span.start]
            during = [size for time, size in own if span.start < time < span.end]
            seconds = min(span.end - span.start, node.quantum_seconds)
            samples = int(seconds / job.iteration_seconds + 1e-6) * job.batch_bytes
            needed = held(job, node.store) - dataset + min(dataset, samples)
            assert min([before[-1], *during]) >= needed


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_invariants_on_random_workloads(policy, seed):
    random = np.random.default_rng(seed)
    for _ in range(25):
        node, jobs = random_case(random)
        if policy.needs_all_resident:
            node = replace(node, dram_bytes=sum(held(job, node.store) for job in jobs))
        report = simulate(node, jobs, policy)
        check(node, jobs, policy, report)
        assert simulate(node, jobs, policy) == report


def test_one_job_takes_its_load_and_its_iterations():
    node = Node(260 * MB, 1, DISK, 10)
    for policy in POLICIES:
        report = simulate(node, [JOB], policy)
        # The data set is read at 200 MB/s, and a new state is made in memory.
        assert report.seconds == pytest.approx(0.5 + 500)
        assert report.peak_bytes == 260 * MB
        assert (report.written_bytes, report.read_bytes) == (0, 100 * MB)
        assert report.stall_seconds == pytest.approx(0.5)


def test_a_switch_by_hand():
    """Two jobs in the memory of one: each switch writes a state and reads a job, in turns on one lane."""
    jobs = [replace(JOB, name=name, iterations=40, batch_bytes=100 * MB) for name in "ab"]
    report = simulate(Node(260 * MB, 1, DISK, 10, chunk_bytes=50 * MB), jobs, CheckpointWaiting())
    write, read, load = 1.5, 1.25, 0.5
    # a, b, a, b: the first switch loads b's data set only, and the last finds the memory of a free.
    seconds = load + 10 + (write + load) + 10 + (write + read) + 10 + read + 10
    assert report.seconds == pytest.approx(seconds, abs=0.01)
    assert [(each.job, each.bytes) for each in report.checkpoints] == [("a", 150 * MB), ("b", 150 * MB)]
    duplex = simulate(Node(260 * MB, 1, DUPLEX, 10, chunk_bytes=10 * MB), jobs, CheckpointWaiting())
    assert duplex.seconds < report.seconds
    dies = simulate(Node(160 * MB, 1, DIES, 10), jobs, CheckpointWaiting())
    assert dies.written_bytes == 0 < dies.read_bytes


def test_a_restore_ends_before_its_job_is_due():
    """Three jobs on one accelerator and memory for two: every move is hidden but the first load."""
    jobs = [replace(JOB, name=name) for name in "abc"]
    node = Node(2 * 260 * MB, 1, DISK, 30)
    ahead, on_demand = simulate(node, jobs, CheckpointWaiting()), simulate(node, jobs, CheckpointWaiting(0.0))
    assert ahead.seconds == pytest.approx(1500.5)
    assert ahead.stall_seconds == pytest.approx(0.5)
    assert on_demand.written_bytes <= ahead.written_bytes


def test_the_memory_of_a_planned_wait_is_freed_and_restored_in_time():
    wait = Wait(500, 100.0)
    jobs = [replace(JOB, name="a", waits=(wait,)), replace(JOB, name="b", arrival_seconds=240.0)]
    node = Node(260 * MB, 1, DISK, 1000)
    report = simulate(node, jobs, CheckpointWaiting())
    roomier = replace(node, dram_bytes=300 * MB)
    assert report.seconds < simulate(node, jobs, OneAfterTheOther()).seconds
    assert report.seconds < simulate(roomier, jobs, Swap()).seconds
    assert report.seconds < 1000.5 + 0.5 + 10
    waits = [s for s in report.spans if s.job == "a" and s.activity in (Activity.SAVING, Activity.FREED)]
    assert waits[0].start == pytest.approx(250.5)


def test_a_wait_that_is_not_planned_is_restored_on_demand():
    jobs = [
        replace(JOB, name="a", waits=(Wait(500, 100.0, planned=False),)),
        replace(JOB, name="b", iterations=300, arrival_seconds=240.0),
    ]
    node = Node(260 * MB, 1, DISK, 1000)
    late = simulate(node, jobs, CheckpointWaiting())
    assert late.jobs["a"].completion_seconds >= 250.5 + 100 + 250


def starving_case(dram, quantum_seconds):
    """A job of low priority beside three that never wait."""
    jobs = [replace(JOB, name=f"high {n}", priority=2, iterations=4000) for n in range(3)]
    jobs.append(replace(JOB, name="low", iterations=200))
    return Node(int(dram * MB), 1, DISK, quantum_seconds, aging_seconds=100.0), jobs


@pytest.mark.parametrize("policy", FREEING, ids=["ahead", "on demand"])
def test_no_job_starves(policy, seed):
    """Turns of a job of low priority come by age."""
    random = np.random.default_rng(seed)
    # In the first two, restores of other jobs are in the way, and idle accelerators for a moment.
    cases = [
        (462.91008615761615, 49.72956945562337),
        (618, 14.6),
        *((random.uniform(260, 700), random.uniform(10, 60)) for _ in range(2)),
    ]
    for dram, quantum_seconds in cases:
        node, jobs = starving_case(dram, quantum_seconds)
        low = simulate(node, jobs, policy).jobs["low"]
        # Two levels of priority by age, then a turn of each job and the moves of its memory.
        longest = 2 * 100 + 4 * (quantum_seconds + 4)
        assert low.longest_ready_seconds <= longest
        turns = 100 / quantum_seconds + 1
        assert low.completion_seconds <= turns * (longest + quantum_seconds)


def test_a_large_job_is_not_overtaken_for_ever():
    """Two small jobs at a time fit beside each other, but none beside the large one."""
    small = replace(JOB, footprint=Footprint(0, 40 * MB, 50 * MB, 10 * MB), batch_bytes=0, iterations=4000)
    jobs = [replace(small, name=f"small {n}", arrival_seconds=7.0 * n) for n in range(4)]
    jobs.append(replace(JOB, name="large", arrival_seconds=20.0, iterations=100))
    node = Node(300 * MB, 2, DISK, 20)
    for policy in FREEING:
        large = simulate(node, jobs, policy).jobs["large"]
        # As many quanta as five jobs take on two accelerators, two more, and those that run then.
        assert large.longest_ready_seconds <= (5 / 2 + 2 + 1) * 20 + 5


def test_a_higher_priority_preempts_at_the_end_of_an_iteration():
    jobs = [replace(JOB, name="low"), replace(JOB, name="high", priority=1, arrival_seconds=100.2)]
    report = simulate(Node(520 * MB, 1, DISK, 1000), jobs, CheckpointWaiting())
    first = next(span for span in report.spans if span.job == "high" and span.activity is Activity.COMPUTING)
    assert 100.7 <= first.start <= 101.2
    assert report.jobs["high"].completion_seconds == pytest.approx(first.start + 500)


@pytest.mark.parametrize(
    ("policy", "dram"),
    [(CheckpointWaiting(), 259), (OneAfterTheOther(), 259), (KeepResident(), 519), (Swap(), 269)],
)
def test_a_memory_that_is_too_small(policy, dram):
    jobs = [JOB, replace(JOB, name="b")]
    with pytest.raises(JobTooLarge, match=rf"{policy.name}: .* needs {dram + 1}000000 bytes of DRAM"):
        simulate(Node(dram * MB, 1, DISK, 10), jobs, policy)
    assert simulate(Node((dram + 1) * MB, 1, DISK, 10), jobs, policy).peak_bytes <= (dram + 1) * MB


def test_swap_keeps_pinned_buffers_and_moves_pages_only():
    jobs = [replace(JOB, name=name) for name in "ab"]
    report = simulate(Node(400 * MB, 1, DISK, 50), jobs, Swap())
    both = {
        level.job: [each.bytes for each in report.levels if each.job == level.job] for level in report.levels
    }
    assert all(min(sizes[10:-1]) >= 10 * MB for sizes in both.values())
    assert report.stall_seconds > simulate(
        Node(400 * MB, 1, DISK, 50), jobs, CheckpointWaiting()
    ).stall_seconds  # fmt: skip


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Footprint(-1, 0, 0, 0), "dataset_bytes is -1"),
        (lambda: Footprint(0, 0, 0, 0), "a footprint of 0 bytes"),
        (lambda: replace(JOB, iterations=0), "0 iterations"),
        (lambda: replace(JOB, iteration_seconds=0.0), "an iteration of 0.0 s"),
        (lambda: replace(JOB, batch_bytes=101 * MB), "batch_bytes is 101000000"),
        (lambda: replace(JOB, arrival_seconds=-1.0), "arrival at -1.0 s"),
        (lambda: replace(JOB, waits=(Wait(3, 1.0), Wait(2, 1.0))), r"waits before iterations \[3, 2\]"),
        (lambda: replace(JOB, waits=(Wait(3, 0.0),)), "a wait of no length"),
        (lambda: replace(DISK, read_bytes_per_second=0), "read_bytes_per_second is 0"),
        (lambda: replace(DISK, write_amplification=0.5), "write_amplification is 0.5"),
        (lambda: Node(0, 1, DISK, 1.0), "dram_bytes is 0"),
        (lambda: Node(1, 1, DISK, 0.0), "quantum_seconds is 0.0"),
        (lambda: simulate(Node(MB, 1, DISK, 1.0), [JOB, JOB], Swap()), "expected distinct names"),
    ],
)  # fmt: skip
def test_mistakes(make, message):
    with pytest.raises(JobError, match=message):
        make()
