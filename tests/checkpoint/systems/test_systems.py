"""Systems of checkpoints: values by hand, rules as published, and what must hold for all."""

from dataclasses import replace
from math import ceil

import pytest

from flashtrain.checkpoint.errors import CheckpointPolicyError
from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.checkpoint.systems import (
    Accelerator,
    AppendState,
    AsyncSave,
    ByteCheckpoint,
    CheckFreq,
    Checkmate,
    FileSave,
    Gemini,
    GoCkpt,
    PCcheck,
    PinAndCopy,
    PinState,
    TrainingJob,
    job_of,
)

GB = 10**9
JOB = TrainingJob(12 * GB, 4 * GB + 1000, 1000, iteration_seconds=2.0, update_seconds=0.5)
PIN = PinState(1e-6, 100e-6, 0.0, append_rate=10 * GB, read_rate=20 * GB)
SYSTEMS = [
    FileSave(12 * GB, 1 * GB, 2 * GB),
    AsyncSave(12 * GB, 1 * GB, 2 * GB),
    CheckFreq(4 * GB, 1 * GB, 2 * GB),
    PCcheck(12 * GB, 2 * GB, 2 * GB, concurrent=4),
    Gemini(10 * GB, 0.1),
    AppendState(4 * GB, 20 * GB, 20 * GB),
    PIN,
    PinAndCopy(PIN, 20 * GB, 0.25),
    ByteCheckpoint(24 * GB, 2 * GB, 2 * GB),
    GoCkpt(4 * GB, 2 * GB, 2 * GB, 100 * GB),
    Checkmate(1 * GB, 14 * GB),
]
FILE, ASYNC, CHECKFREQ, PCCHECK, GEMINI, APPEND, _, COPY, BYTE_CHECKPOINT, GOCKPT, CHECKMATE = SYSTEMS
NAMES = [system.name for system in SYSTEMS]


def test_stalls_by_hand():
    assert FILE.stall_seconds(JOB, 1) == FILE.stall_seconds(JOB, 50) == pytest.approx(1 + 12)
    # A second for the copy, and the part of the 12 s of the file that five iterations do not cover.
    assert ASYNC.stall_seconds(JOB, 5) == pytest.approx(1 + 2)
    assert ASYNC.stall_seconds(JOB, 6) == pytest.approx(1)
    # The snapshot of 3 s overlaps 1.5 s of forward and backward pass.
    assert CHECKFREQ.stall_seconds(JOB, 5) == pytest.approx(1.5 + 2)
    assert CHECKFREQ.stall_seconds(JOB, 6) == pytest.approx(1.5)
    assert BYTE_CHECKPOINT.stall_seconds(JOB, 2) == pytest.approx(0.5 + 2)
    assert BYTE_CHECKPOINT.stall_seconds(JOB, 3) == pytest.approx(0.5)
    # The copy of 1 s is hidden; a checkpoint every 6 s is all that the drive writes.
    assert PCCHECK.stall_seconds(JOB, 1) == pytest.approx(4)
    assert PCCHECK.stall_seconds(JOB, 3) == 0
    assert GEMINI.stall_seconds(JOB, 5) == pytest.approx(2)
    assert APPEND.stall_seconds(JOB, 1) == pytest.approx(1.5)
    assert PIN.stall_seconds(JOB, 1) == pytest.approx(1e-6 + 1000 / 10e9)
    # Weights of 4 GB take 0.2 s, or 0.267 s beside the copy, which lasts 2.4 s of an iteration of 2 s.
    assert COPY.stall_seconds(JOB, 1) == pytest.approx(PIN.stall_seconds(JOB, 1) + 0.2 / 3)
    assert COPY.stall_seconds(JOB, 3) == pytest.approx(PIN.stall_seconds(JOB, 3) + 0.2 / 3 * 1.2)


def test_a_copy_over_several_iterations():
    """Gradients have 4 GB and take 1 s, updates 0.5 s, forward passes 0.5 s and all passes 1.5 s."""
    # In two iterations 3 s of passes hide the copy of 3 s, and the update half of the gradients: 0.5 s.
    assert GOCKPT.steps(JOB, 1) == 1 and GOCKPT.steps(JOB, 50) == 2
    assert GOCKPT.stall_seconds(JOB, 1) == pytest.approx(1.5 + 4)
    assert GOCKPT.stall_seconds(JOB, 2) == pytest.approx(0 + 2)
    assert GOCKPT.stall_seconds(JOB, 3) == 0
    assert GOCKPT.gradient_bytes(JOB, 3) == pytest.approx(2 * GB)
    # Over a slow link gradients of FP32 cost more than further iterations hide.
    slow = replace(GOCKPT, copy_rate=1 * GB)
    assert slow.steps(JOB, 50) == 1
    assert slow.stall_seconds(JOB, 50) == pytest.approx(12 - 1.5)
    # Gradients of 1 to 4 blocks of 5 take 0.4 to 1.6 s at 2 GB/s. Update and forward pass hide 1 s of each.
    # The forward passes have 1.3 s of them, and 7.5 s of passes hide these and the copy of 6 s.
    between = replace(GOCKPT, copy_rate=2 * GB)
    assert between.steps(JOB, 50) == 5
    assert between.stall_seconds(JOB, 50) == pytest.approx(0.2 + 0.6)


def test_a_shadow():
    """Gradients of 4 GB at 1 GB/s take two iterations, updates of 28 GB at 14 GB/s one."""
    assert JOB.gradient_bytes == 4 * GB and JOB.update_bytes == 28 * GB
    assert CHECKMATE.nodes(JOB) == 2
    assert CHECKMATE.nodes(replace(JOB, iteration_seconds=0.9)) == 5
    assert CHECKMATE.stall_seconds(JOB, 1) == 0 and CHECKMATE.spacing(JOB, 50) == 1
    assert CHECKMATE.lost_seconds(JOB, 50) == pytest.approx(1 + (4 + 2) / 2 + 12)


def test_losses_by_hand():
    assert FILE.lost_seconds(JOB, 10) == pytest.approx(10 + 0 + 6)
    assert ASYNC.lost_seconds(JOB, 10) == pytest.approx(10 + 12 + 6)
    assert CHECKFREQ.lost_seconds(JOB, 10) == pytest.approx(10 + 3 + 12 + 6)
    # Every third iteration one checkpoint is under way, every second one four are, for 24 s.
    assert PCCHECK.lost_seconds(JOB, 3) == pytest.approx(3 + 1 + 6 + 6)
    assert PCCHECK.lost_seconds(JOB, 2) == pytest.approx(2 + 1 + 24 + 6)
    # The second block of two, half a repeated update and the file.
    assert GOCKPT.lost_seconds(JOB, 10) == pytest.approx(10 + 1.5 + 0.14 + 6 + 6)
    assert GEMINI.lost_seconds(JOB, 10) == pytest.approx(10 + 12 + 1.2)
    assert PIN.lost_seconds(JOB, 1) == pytest.approx(1 + 100e-6 + (4e9 + 1000) / 20e9)
    # Only every second pin can be copied.
    assert COPY.spacing(JOB, 1) == 2
    assert COPY.lost_seconds(JOB, 1) == pytest.approx(2 + 2.4 + 0.6)
    assert PIN.load_bytes(JOB) == JOB.weight_bytes
    assert {system.load_bytes(JOB) for system in SYSTEMS if system is not PIN} == {JOB.state_bytes}


def test_a_record_that_training_waits_for():
    waiting = replace(PIN, record_exposed=1.0)
    assert waiting.stall_seconds(JOB, 1) - PIN.stall_seconds(JOB, 1) == pytest.approx(100e-6)
    assert waiting.durable_seconds(JOB, 1) == 0


@pytest.mark.parametrize("interval", [1, 2, 3, 7, 100])
def test_the_posters_rule(interval):
    """T_ckpt / (T_ckpt + k t)."""
    assert FILE.overhead(JOB, interval) == pytest.approx(13 / (13 + 2 * interval))


@pytest.mark.parametrize("slowdown", [1.01, 1.03, 1.5])
@pytest.mark.parametrize("concurrent", [1, 2, 4])
def test_pcchecks_rule(slowdown, concurrent):
    """f >= T_w / (N q t), as published, where the copy is hidden."""
    system = replace(PCCHECK, concurrent=concurrent)
    job = replace(JOB, iteration_seconds=0.013, update_seconds=0.0)
    fast = replace(system, copy_rate=1e30)
    published = ceil(fast.write_seconds(job) / (concurrent * slowdown * job.iteration_seconds))
    assert fast.least_interval(job, 1 - 1 / slowdown) == published


@pytest.mark.parametrize("system", SYSTEMS, ids=NAMES)
@pytest.mark.parametrize("bound", [0.001, 0.03, 0.035, 0.5])
def test_least_interval_is_the_first_that_keeps_the_bound(system, bound):
    least = system.least_interval(JOB, bound)
    assert system.overhead(JOB, least) <= bound
    assert least == 1 or system.overhead(JOB, least - 1) > bound


@pytest.mark.parametrize("system", SYSTEMS, ids=NAMES)
def test_longer_intervals_stall_less(system):
    overheads = [system.overhead(JOB, interval) for interval in range(1, 60)]
    assert overheads == sorted(overheads, reverse=True)
    stalls = [system.stall_seconds(JOB, interval) for interval in range(1, 60)]
    if system is not COPY:  # of a short interval only some pins are copied
        assert stalls == sorted(stalls, reverse=True)
    assert system.survives


def test_job():
    model = MODELS["vgg11"]
    job = job_of(model, Accelerator(1e13, 0.5, 1e12))
    assert job.update_seconds == pytest.approx(28 * 132_863_336 / 1e12)
    assert job.iteration_seconds == pytest.approx(256 * 45_481_132_032 / 5e12 + job.update_seconds)
    assert job.state_bytes == 12 * 132_863_336
    measured = job_of(model, Accelerator(1e13, 0.5, 1e12), 0.5, measured_seconds=0.8)
    assert measured.iteration_seconds == pytest.approx((0.8 - job.update_seconds) / 2 + job.update_seconds)
    with pytest.raises(CheckpointPolicyError, match="in an iteration of 0"):
        job_of(model, Accelerator(1e13, 0.5, 1e12), measured_seconds=0.003)
    half = job_of(model, Accelerator(1e13, 0.5, 1e12), batch_scale=0.5)
    assert half.frozen_seconds == pytest.approx(job.frozen_seconds / 2)
    assert (
        MODELS["resnet50"].buffer_bytes == job_of(MODELS["resnet50"], Accelerator(1, 1, 1)).buffer_bytes > 0
    )


def test_mistakes():
    with pytest.raises(CheckpointPolicyError, match="a bound of 1 on the overhead; expected a share"):
        FILE.least_interval(JOB, 1)
    with pytest.raises(CheckpointPolicyError, match="file: no interval keeps an overhead of 1e-15"):
        FILE.least_interval(JOB, 1e-15)
    with pytest.raises(CheckpointPolicyError, match="an interval of 0 iterations; expected at least 1"):
        FILE.overhead(JOB, 0)
    with pytest.raises(CheckpointPolicyError, match="an update of 2 s in an iteration of 2 s"):
        replace(JOB, update_seconds=2.0)
